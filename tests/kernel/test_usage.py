"""A kernel that takes more than it may is ended with all that it has started, and it is said which limit that was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from notebook_bcc.errors import KernelDied
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.local.usage import ProcessFamily, ResourceLimits, disk, exceeded, exceeded_on_disk, memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")

# Its child stays when it is ended, and belongs to nobody then.
PARENT = """
import os, signal
os.fork()
print(flush=True)
signal.pause()
"""
HUNGRY = "import os\nhog = bytearray(os.urandom(1 << 20)) * 300\nwhile True: pass"
FORKING = """
import os, signal
for _ in range(60):
    if not os.fork():
        signal.pause()
signal.pause()
"""
WRITING = "while True:\n    with open('more', 'ab') as file:\n        file.write(b'x' * 1_000_000)"


def test_what_nobody_limits_is_not_exceeded() -> None:
    assert not ResourceLimits()
    assert exceeded(ResourceLimits(), [os.getpid()]) == ""
    assert exceeded_on_disk(ResourceLimits(), Path.cwd()) == ""


def test_a_family_holds_what_has_lost_its_parents_and_ends_as_a_whole() -> None:
    with subprocess.Popen([sys.executable, "-S", "-c", PARENT], stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        for _ in range(2):
            started.stdout.readline()
        family = ProcessFamily(started.pid)
        (child,) = set(family.members()) - {started.pid}
        said = exceeded(ResourceLimits(processes=1), family.members())
        started.kill()
        started.wait()
        assert family.members() == [child]
        family.kill()
        # Ended when its end of the pipe is closed.
        assert started.stdout.read() == b""
    assert said == "it had 2 processes, and --max-processes allows 1"
    assert family.members() == []


def test_memory_is_what_processes_have_in_memory() -> None:
    assert memory([os.getpid()]) > 1_000_000
    assert exceeded(ResourceLimits(memory_bytes=1_000_000), [os.getpid()]).endswith("--max-memory allows 1.0 MB")
    assert memory([]) == 0


def test_a_folder_is_measured_with_all_below_it_and_links_count_as_links(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "deep" / "er" / "file").write_bytes(b"x" * 1_000_000)
    (tmp_path / "link").symlink_to(sys.executable)

    assert 1_000_000 <= disk(tmp_path) < 1_100_000
    assert "held 1.0 MB" in exceeded_on_disk(ResourceLimits(disk_bytes=500_000), tmp_path)
    assert disk(tmp_path / "nowhere") == 0


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("cell", "limits", "said"),
    [
        (HUNGRY, ResourceLimits(memory_bytes=250_000_000), "--max-memory allows 250.0 MB"),
        (FORKING, ResourceLimits(processes=30), "--max-processes allows 30"),
        (WRITING, ResourceLimits(disk_bytes=50_000_000), "--max-disk allows 50.0 MB"),
    ],
    ids=["memory", "processes", "disk"],
)
async def test_a_cell_that_takes_too_much_ends_with_its_kernel_and_says_which_limit(
    tmp_path: Path, cell: str, limits: ResourceLimits, said: str
) -> None:
    kernel = LocalKernel(cwd=tmp_path, limits=limits)
    try:
        await kernel.start()
        assert (await kernel.execute("1 + 1")).error is None
        with pytest.raises(KernelDied) as caught:
            await kernel.execute(cell, time_limit=60)
    finally:
        await kernel.close()
    assert "it was ended: " in str(caught.value)
    assert said in str(caught.value)
