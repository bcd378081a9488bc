import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import notebook_bcc
from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.atomic import remove_abandoned, replace_file
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.ipynb import NotebookWriter
from notebook_bcc.notebook.reading import read_notebook

SOURCE = Path(notebook_bcc.__file__).parents[1]
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX only")

WRITING_FOREVER = """
import sys
from pathlib import Path
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.ipynb import NotebookWriter
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType

document, writer, number = Document(), NotebookWriter(Path(sys.argv[1])), 0
while True:
    if number % 40 == 0:
        document = Document()
    number += 1
    document = document.with_cell(Cell(f"c{number}", CellType.MARKDOWN, "text\\n" * 2000))
    writer.write(document)
"""

FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from notebook_bcc.errors import NotebookFailed
from notebook_bcc.notebook.atomic import replace_file

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    replace_file(Path(sys.argv[1]), [b"x" * 6_000, b"x" * 60_000])
except NotebookFailed as error:
    sys.exit(str(error))
"""


def child(program: str, *arguments: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], env=environment, stderr=subprocess.PIPE, text=True
    )


@POSIX
def test_a_process_killed_while_writing_leaves_a_whole_notebook(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    chance = random.Random(7)
    for _ in range(8):
        path.unlink(missing_ok=True)
        process = child(WRITING_FOREVER, str(path))
        deadline = time.monotonic() + 60
        while not path.exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.001)
        # Some writes later, at a moment that differs from round to round.
        moment = time.monotonic() + chance.uniform(0, 0.06)
        while time.monotonic() < moment:
            read_notebook(path)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        read_notebook(path)


@POSIX
def test_a_full_disk_is_told_and_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    path.write_bytes(b"old")
    process = child(FULL_DISK, str(path))
    _, message = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "no room" in message
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["n.ipynb"]


def test_a_new_file_appears_whole_and_nothing_beside_it(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", [b"one", b"", b"two"])
    assert (tmp_path / "a").read_bytes() == b"onetwo"
    assert os.listdir(tmp_path) == ["a"]


@POSIX
def test_a_file_keeps_its_mode_and_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        replace_file(path, [b"1"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        replace_file(path, [b"2"])
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(before)


@POSIX
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    replace_file(tmp_path / "link", [b"new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotebookFailed, match="does not exist; create it"):
        replace_file(tmp_path / "no" / "n.ipynb", [b""])


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotebookFailed, match="this is a folder"):
        replace_file(tmp_path, [b""])
    assert os.listdir(tmp_path) == []


def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"")
    with pytest.raises(NotebookFailed, match="is not a folder"):
        replace_file(tmp_path / "a" / "n.ipynb", [b""])


@POSIX
def test_a_name_that_is_too_long_is_told_and_a_long_one_works(tmp_path: Path) -> None:
    with pytest.raises(NotebookFailed, match="too long"):
        replace_file(tmp_path / ("x" * 300), [b""])
    replace_file(tmp_path / ("x" * 250), [b""])
    assert os.listdir(tmp_path) == ["x" * 250]


@POSIX
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    (folder / "n.ipynb").write_bytes(b"old")
    folder.chmod(0o555)
    is_root = os.geteuid() == 0
    try:
        if is_root:
            os.seteuid(65534)  # root may write everywhere
        with pytest.raises(NotebookFailed, match="is not allowed"):
            replace_file(folder / "n.ipynb", [b"new"])
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)
    assert (folder / "n.ipynb").read_bytes() == b"old"


def test_a_writing_that_fails_midway_leaves_nothing(tmp_path: Path) -> None:
    def parts() -> list[bytes]:
        return [b"new", "not bytes"]  # type: ignore[list-item]

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(TypeError):
        replace_file(tmp_path / "a", parts())
    assert (tmp_path / "a").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_only_old_leftovers_of_the_same_file_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    names: list[str] = []

    def interrupted() -> list[bytes]:
        names.extend(os.listdir(tmp_path))
        return []

    class _Watching:
        def __iter__(self) -> "object":
            return iter(interrupted())

    replace_file(path, _Watching())  # type: ignore[arg-type]
    (temporary,) = names
    for name in (temporary, temporary.replace(".tmp", "2.tmp"), "other.tmp"):
        (tmp_path / name).write_bytes(b"half")
    os.utime(tmp_path / temporary, (0, 0))
    os.utime(tmp_path / "other.tmp", (0, 0))
    NotebookWriter(path).write(Document())
    assert sorted(os.listdir(tmp_path)) == sorted([temporary.replace(".tmp", "2.tmp"), "n.ipynb", "other.tmp"])
    remove_abandoned(tmp_path / "no" / "such")
