"""The copy of a run's notebook on a real Jupyter Server: kept up to date, and never over a person's edit."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kernel.servers import Server, free_port
from kernel.servers import stock as stock
from notebook_bcc.errors import NotebookFailed, RunRefused, SettingsInvalid
from notebook_bcc.kernel.contents import StoredNotebook
from notebook_bcc.kernel.jupyter_server.contents import ServerContents
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.server_copy import (
    CopyRecord,
    ServerCopy,
    keep_copy_record,
    notebook_path,
    read_copy_record,
    want_copy,
)
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.ipynb import write_notebook
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.specs import LocalKernelSpec
from notebook_bcc.protocol.vocabulary import CellType

pytestmark = pytest.mark.anyio

OUTPUTS: tuple[dict[str, Any], ...] = (
    {"output_type": "stream", "name": "stdout", "text": "one\ntwo\n"},
    {"output_type": "execute_result", "data": {"text/plain": "3"}, "metadata": {}, "execution_count": 1},
)


class Copying:
    """A run's folder and its copy on the server; `write` is what a saver does."""

    def __init__(self, path: Path, server: Server, contents: ServerContents | None = None) -> None:
        path.mkdir(exist_ok=True)
        self.folder = RunFolder(path)
        self.server = server
        self.contents = contents or ServerContents(server.url, token=server.token)
        self.warnings: list[str] = []
        self.copy = self.taken_up()

    def taken_up(self, *, notebook: str = "", replaces: bool = False) -> ServerCopy:
        """The copy as another process of the same run finds it."""
        name = notebook or f"{self.folder.run_id}.ipynb"
        record = read_copy_record(self.folder) or CopyRecord(name, replaces)
        return ServerCopy(self.folder, record, self.contents, warn=self.warnings.append)

    async def write(self, *sources: str) -> None:
        document = Document()
        for number, source in enumerate(sources):
            cell = Cell(id=f"c{number}", type=CellType.CODE, source=source, outputs=OUTPUTS, execution_count=number + 1)
            document = document.with_cell(cell)
        write_notebook(self.folder.notebook, document)
        await self.copy.write()

    @property
    def root(self) -> Path:
        return self.server.root

    def sources(self, name: str = "") -> list[str]:
        """What the server has, read from its disk."""
        found = json.loads((self.root / (name or f"{self.folder.run_id}.ipynb")).read_text(encoding="utf-8"))
        return ["".join(cell["source"]) for cell in found["cells"]]

    def edit(self, source: str, name: str = "") -> None:
        """A person saves the notebook with one more cell."""
        path = self.root / (name or f"{self.folder.run_id}.ipynb")
        found = json.loads(path.read_text(encoding="utf-8"))
        added = {"cell_type": "markdown", "id": "mine", "metadata": {}, "source": source}
        path.write_text(json.dumps(found | {"cells": [*found["cells"], added]}), encoding="utf-8")


@pytest.fixture
async def copying(tmp_path: Path, stock: Server) -> AsyncIterator[Copying]:
    found = Copying(tmp_path / f"run-{tmp_path.name}", stock)
    yield found
    await found.copy.close()


async def test_each_write_brings_the_copy_up_to_the_notebook(copying: Copying) -> None:
    await copying.write("a = 1")
    assert copying.sources() == ["a = 1"]
    await copying.write("a = 1", "print(a)\nprint('é')")
    assert copying.sources() == ["a = 1", "print(a)\nprint('é')"]
    copying.copy = copying.taken_up()
    await copying.write("b")
    assert copying.sources() == ["b"]
    assert copying.copy.place == f"{copying.folder.run_id}.ipynb ({copying.server.url})"
    assert copying.warnings == []


async def test_what_the_server_has_is_valid_and_whole_and_trusted_by_nobody_yet(copying: Copying) -> None:
    await copying.write("a = 1")
    found = copying.server.ask("GET", f"api/contents/{copying.folder.run_id}.ipynb")
    assert [output["output_type"] for output in found["content"]["cells"][0]["outputs"]] == ["stream", "execute_result"]
    assert found["content"]["cells"][0]["metadata"]["trusted"] is False
    assert "message" not in found


@pytest.mark.parametrize("restarted", [False, True])
async def test_after_a_persons_edit_the_copy_goes_on_beside_it(copying: Copying, restarted: bool) -> None:
    await copying.write("a = 1")
    copying.edit("Mine.")
    if restarted:
        copying.copy = copying.taken_up()
    await copying.write("a = 2")
    run = copying.folder.run_id
    assert copying.sources() == ["a = 1", "Mine."]
    assert copying.sources(f"{run}-{run}.ipynb") == ["a = 2"]
    (warning,) = copying.warnings
    assert f"{run}.ipynb on {copying.server.url} was edited since this run wrote it" in warning
    assert warning.endswith(f"kept as {run}-{run}.ipynb")
    await copying.write("a = 3")
    copying.edit("Mine too.", f"{run}-{run}.ipynb")
    await copying.write("a = 4")
    assert copying.sources(f"{run}-{run}.ipynb") == ["a = 3", "Mine too."]
    assert copying.sources(f"{run}-{run}-2.ipynb") == ["a = 4"]
    assert len(copying.warnings) == 2


async def test_a_notebook_that_was_there_before_the_run_stays_as_it_is(copying: Copying) -> None:
    name = f"{copying.folder.run_id}.ipynb"
    await copying.write("of another run")
    copying.folder.server_copy.unlink()
    copying.copy = copying.taken_up()
    await copying.write("a = 1")
    assert copying.sources() == ["of another run"]
    assert copying.sources(f"{copying.folder.run_id}-{name}") == ["a = 1"]
    assert "was there before this run" in copying.warnings[0]


async def test_a_notebook_that_was_there_is_replaced_where_that_is_wanted_and_only_once(copying: Copying) -> None:
    await copying.write("of another run")
    copying.folder.server_copy.unlink()
    copying.copy = copying.taken_up(replaces=True)
    await copying.write("a = 1")
    assert copying.sources() == ["a = 1"]
    copying.edit("Mine.")
    await copying.write("a = 2")
    assert copying.sources() == ["a = 1", "Mine."]


async def test_a_blank_notebook_that_a_person_has_made_is_filled(copying: Copying) -> None:
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "x",
        "metadata": {},
        "source": [],
        "outputs": [],
        "execution_count": None,
    }
    blank = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (copying.root / f"{copying.folder.run_id}.ipynb").write_text(json.dumps(blank), encoding="utf-8")
    await copying.write("a = 1")
    assert (copying.sources(), copying.warnings) == (["a = 1"], [])


async def test_a_file_that_is_no_notebook_is_left_alone(copying: Copying) -> None:
    path = copying.root / f"{copying.folder.run_id}.ipynb"
    path.write_text("not a notebook", encoding="utf-8")
    await copying.write("a = 1")
    assert path.read_text(encoding="utf-8") == "not a notebook"
    assert copying.sources(f"{copying.folder.run_id}-{path.name}") == ["a = 1"]
    assert len(copying.warnings) == 1


async def test_a_notebook_that_a_person_has_deleted_is_written_again(copying: Copying) -> None:
    await copying.write("a = 1")
    (copying.root / f"{copying.folder.run_id}.ipynb").unlink()
    await copying.write("a = 2")
    assert (copying.sources(), copying.warnings) == (["a = 2"], [])


async def test_another_time_or_another_layout_is_no_edit(copying: Copying) -> None:
    path = copying.root / f"{copying.folder.run_id}.ipynb"
    await copying.write("a = 1\nb = 2")
    os.utime(path, (time.time() + 5, time.time() + 5))
    await copying.write("a = 2\nb = 2")
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
    await copying.write("a = 3\nb = 2")
    assert (copying.sources(), copying.warnings) == (["a = 3\nb = 2"], [])


class WithoutHash(ServerContents):
    """As a server before 2.11 answers."""

    async def look(self, path: str) -> StoredNotebook | None:
        found = await super().look(path)
        return StoredNotebook(found.last_modified) if found is not None else None


async def test_where_a_server_has_no_hashes_the_time_tells_an_edit(tmp_path: Path, stock: Server) -> None:
    old = Copying(tmp_path / f"run-{tmp_path.name}", stock, WithoutHash(stock.url, token=stock.token))
    await old.write("a = 1")
    await old.write("a = 2")
    assert (old.sources(), old.warnings) == (["a = 2"], [])
    old.edit("Mine.")
    await old.write("a = 3")
    assert old.sources() == ["a = 2", "Mine."]
    assert len(old.warnings) == 1
    await old.copy.close()


class Losing(ServerContents):
    """Everything arrives, and the first answer is lost on its way back."""

    lost = False

    async def write(self, path: str, content: dict[str, Any]) -> StoredNotebook:
        stored = await super().write(path, content)
        if not self.lost:
            self.lost = True
            raise NotebookFailed(path=path, reason="the answer was lost")
        return stored


@pytest.mark.parametrize("restarted", [False, True])
async def test_a_write_whose_answer_was_lost_is_not_taken_for_a_persons_edit(
    tmp_path: Path, stock: Server, restarted: bool
) -> None:
    losing = Copying(tmp_path / f"run-{tmp_path.name}", stock, Losing(stock.url, token=stock.token))
    await losing.write("a = 1")
    assert "the answer was lost" in losing.warnings.pop()
    if restarted:
        losing.copy = losing.taken_up()
    await losing.write("a = 2")
    assert (losing.sources(), losing.warnings) == (["a = 2"], [])
    await losing.copy.close()


async def test_a_write_that_is_cancelled_ends_before_the_next_begins(copying: Copying) -> None:
    await copying.write("a = 1")
    for number in range(20):
        writing = asyncio.create_task(copying.write(f"a = {number}", "x" * 200_000))
        for _ in range(number):
            await asyncio.sleep(0)
        writing.cancel()
        await asyncio.wait([writing])
    await copying.write("the last")
    await copying.copy.close()
    assert (copying.sources(), copying.warnings) == (["the last"], [])


async def test_a_server_that_is_away_is_told_once_and_nothing_is_lost(tmp_path: Path, stock: Server) -> None:
    nobody = ServerContents(f"http://127.0.0.1:{free_port()}", token="t")
    away = Copying(tmp_path / f"run-{tmp_path.name}", stock, nobody)
    await away.write("a = 1")
    await away.write("a = 2")
    (warning,) = away.warnings
    assert "cannot be reached" in warning
    assert str(away.folder.notebook) in warning
    assert away.copy.place == ""
    away.contents = ServerContents(stock.url, token=stock.token)
    away.copy = away.taken_up()
    await away.write("a = 3")
    assert away.sources() == ["a = 3"]
    await away.copy.close()


async def test_a_wrong_token_and_a_missing_folder_are_told_in_the_servers_words(tmp_path: Path, stock: Server) -> None:
    stranger = Copying(tmp_path / f"run-{tmp_path.name}", stock, ServerContents(stock.url, token="wrong"))
    await stranger.write("a = 1")
    assert "refused the token" in stranger.warnings[0]
    await stranger.copy.close()
    lost = Copying(tmp_path / "run-lost", stock)
    lost.copy = lost.taken_up(notebook="no/such/folder.ipynb")
    await lost.write("a = 1")
    assert "notebook no/such/folder.ipynb: the Jupyter server at" in lost.warnings[0]
    await lost.copy.close()


async def test_what_is_known_of_one_server_says_nothing_of_another(copying: Copying) -> None:
    await copying.write("a = 1")
    known = read_copy_record(copying.folder)
    assert known is not None
    keep_copy_record(copying.folder, CopyRecord(**{**_fields(known), "url": "http://127.0.0.1:1"}))
    copying.copy = copying.taken_up()
    assert copying.copy.place == ""


def _fields(record: CopyRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in CopyRecord.__slots__}


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("notebook-123", "notebook-123.ipynb"),
        ("/team/房价.ipynb", "team/房价.ipynb"),
        (" a b/c.v2 ", "a b/c.v2.ipynb"),
    ],
)
def test_a_notebook_id_is_a_path_on_the_server(said: str, path: str) -> None:
    assert notebook_path(said) == path


@pytest.mark.parametrize("said", ["", "/", "../up", "a/../../b", "a\nb"])
def test_a_notebook_id_that_is_no_path_there_is_refused(said: str) -> None:
    with pytest.raises(SettingsInvalid, match="NOTEBOOK_ID"):
        notebook_path(said)


def test_a_kernel_of_our_own_process_has_no_server_to_keep_a_notebook(tmp_path: Path) -> None:
    with pytest.raises(RunRefused, match="give --kernel-url as well"):
        want_copy(RunFolder(tmp_path), LocalKernelSpec(), "a.ipynb")
    assert list(tmp_path.iterdir()) == []
