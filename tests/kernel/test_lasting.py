"""A local kernel outlives whoever uses it: taken up with its cell, or ended by itself, and its end told."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import tempfile
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest

from kernel.test_local_failures import Beginning, eventually, is_gone
from notebook_bcc.errors import KernelDied, KernelGone
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.supervisor.folders import Lifetime, runtime_root
from notebook_bcc.kernel.supervisor.left import KeptKernel, kept_kernels
from notebook_bcc.kernel.supervisor.notes import take_notes

pytestmark = pytest.mark.anyio
Text = Callable[[Execution], str]
PATIENCE = 60.0


class Place:
    """A folder for kernels that last; `kernel` makes one process's hold on one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "kernel"

    def kernel(self, *, idle: float = 300.0) -> LocalKernel:
        return LocalKernel(lifetime=Lifetime(idle=idle, folder=self.folder, run="a-run"))

    async def started(self, *, idle: float = 300.0) -> LocalKernel:
        kernel = self.kernel(idle=idle)
        await kernel.start()
        return kernel


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    with tempfile.TemporaryDirectory(prefix="t", dir="/tmp") as short:
        monkeypatch.setattr("tempfile.tempdir", short)
        yield Place(tmp_path)
        for one in await kept_kernels():
            os.kill(one.pid, signal.SIGKILL)
        await eventually(lambda: not runtime_root().exists() or not any(map(Path.is_dir, runtime_root().iterdir())))


def are_left(kept: list[KeptKernel], count: int) -> bool:
    return sum(one.left_at > 0 for one in kept) >= count


async def settled(condition: Callable[[list[KeptKernel]], bool]) -> None:
    """Wait until the kernels that are kept are as they should be."""
    async with asyncio.timeout(PATIENCE):
        while not condition(await kept_kernels()):  # noqa: ASYNC110 (what happens in another process has no event)
            await asyncio.sleep(0.02)


async def test_a_kernel_that_was_left_between_cells_is_taken_up_with_its_namespace(place: Place, stdout: Text) -> None:
    first = await place.started()
    await first.execute("x = 41")
    pid, session = first.pid, first.identity.session
    await first.detach()
    second = place.kernel()
    assert await second.attach(session, known=1, due="print(x + 1)") is False
    assert second.pid == pid
    execution = await second.execute("print(x + 1)")
    assert stdout(execution) == "42\n"
    assert (execution.execution_count, second.identity.session) == (2, session)
    await second.close()
    assert pid is not None
    assert is_gone(pid)


@pytest.mark.parametrize("ended", [True, False])
async def test_a_cell_under_way_is_followed_to_its_end_with_all_it_printed(
    place: Place, tmp_path: Path, stdout: Text, ended: bool
) -> None:
    first = await place.started()
    begun, go, done = Beginning(), tmp_path / "go", tmp_path / "done"
    source = (
        "import os, time\nprint('begun', flush=True)\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
        f"for i in range(5000): print('line', i)\nopen({str(done)!r}, 'a').write('x')\ny = 1"
    )
    task = asyncio.create_task(first.execute(source, on_output=begun))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    session = first.identity.session
    await first.detach()
    if ended:
        go.touch()
        await eventually(done.exists)
    second = place.kernel()
    assert await second.attach(session, known=0, due=source) is True
    go.touch()
    seen: list[str] = []
    execution = await asyncio.wait_for(
        second.execute(source, on_output=lambda output: seen.append(str(output.get("text")))), PATIENCE
    )
    whole = "begun\n" + "".join(f"line {i}\n" for i in range(5000))
    assert stdout(execution) == whole
    assert "".join(seen) == whole
    assert execution.variables.updated["y"] == 1
    assert done.read_text() == "x"
    assert (await second.execute("y")).execution_count == 2
    await second.close()


async def test_a_kernel_that_has_run_other_cells_is_not_taken_up_and_can_be_discarded(place: Place) -> None:
    first = await place.started()
    await first.execute("x = 1")
    pid, session = first.pid, first.identity.session
    await first.detach()
    second = place.kernel()
    with pytest.raises(KernelGone, match="a cell that is not known"):
        await second.attach(session, known=0, due="x = 2")
    assert pid is not None
    assert not is_gone(pid)
    assert await second.discard(session) is True
    assert is_gone(pid)
    assert await second.discard(session) is False
    with pytest.raises(KernelGone, match="the run is over"):
        await second.attach(session, known=1, due=None)


async def test_a_kernel_nobody_takes_up_ends_by_itself_with_all_it_started(place: Place, stdout: Text) -> None:
    first = await place.started(idle=0.5)
    source = "import subprocess\nprint(subprocess.Popen(['sleep', '600'], start_new_session=True).pid)"
    child = int(stdout(await first.execute(source)))
    pid, session = first.pid, first.identity.session
    assert pid is not None
    await first.detach()
    await eventually(lambda: is_gone(pid) and is_gone(child))
    with pytest.raises(KernelGone, match=r"nobody took it up within 0\.5 s"):
        await place.kernel().attach(session, known=1, due=None)


async def test_a_kernel_that_ran_nothing_is_not_kept(place: Place) -> None:
    first = await place.started()
    pid = first.pid
    assert pid is not None
    await first.detach()
    await eventually(lambda: is_gone(pid))


async def test_a_cell_left_alone_ends_by_its_own_limit(place: Place) -> None:
    first = await place.started()
    begun = Beginning()
    source = "import time\nprint('begun', flush=True)\ntime.sleep(600)"
    task = asyncio.create_task(first.execute(source, time_limit=1.5, on_output=begun))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    pid, session = first.pid, first.identity.session
    await first.detach()
    await settled(lambda kept: all(one.busy is None for one in kept))
    second = place.kernel()
    assert await second.attach(session, known=0, due=source) is True
    execution = await second.execute(source, time_limit=1.5)
    assert execution.error is not None
    assert (execution.error.name, second.pid) == ("CellTimeout", pid)
    assert execution.outputs[-1]["ename"] == "CellTimeout"
    await second.close()


async def test_a_cell_that_was_cancelled_is_interrupted_when_the_kernel_is_used_again(
    place: Place, stdout: Text
) -> None:
    kernel = await place.started()
    begun = Beginning()
    task = asyncio.create_task(kernel.execute("print('begun', flush=True)\nwhile True: pass", on_output=begun))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    assert stdout(await asyncio.wait_for(kernel.execute("print('usable')"), PATIENCE)) == "usable\n"
    await kernel.close()


async def test_a_kernel_ends_with_its_supervisor(place: Place) -> None:
    kernel = await place.started()
    begun = Beginning()
    task = asyncio.create_task(kernel.execute("print('begun', flush=True)\nwhile True: pass", on_output=begun))
    await begun.wait()
    assert kernel.pid is not None
    supervisor = psutil.Process(kernel.pid).parent()
    assert supervisor is not None
    supervisor.kill()
    with pytest.raises(KernelDied, match="its supervisor was ended"):
        await asyncio.wait_for(task, PATIENCE)
    await eventually(lambda: is_gone(supervisor.pid))
    await kernel.close()
    assert await kept_kernels() == []


async def test_the_end_of_a_kernel_that_was_left_is_told(place: Place) -> None:
    first = await place.started()
    await first.execute("x = 1")
    pid, session = first.pid, first.identity.session
    assert pid is not None
    await first.detach()
    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not list(runtime_root().glob("*/control")))
    with pytest.raises(KernelGone, match="exit code -9"):
        await place.kernel().attach(session, known=1, due=None)


async def test_of_more_than_four_kernels_the_one_left_first_ends(place: Place) -> None:
    kernels = [await place.started() for _ in range(5)]
    for kernel in kernels:
        await kernel.execute("x = 1")
    pids = [kernel.pid or 0 for kernel in kernels]
    for number, kernel in enumerate(kernels, start=1):
        await kernel.detach()
        await settled(functools.partial(are_left, count=min(number, 4)))
    await eventually(lambda: is_gone(pids[0]))
    assert not any(map(is_gone, pids[1:]))
    await settled(lambda kept: len(kept) == 4)
    (note,) = take_notes()
    assert note == "the kernel of run a-run was ended: more than 4 kernels were left; the oldest ends first"
    assert take_notes() == []


async def test_nobody_else_can_look_into_what_a_kernel_keeps(place: Place) -> None:
    kernel = await place.started()
    folder = Path(kernel.identity.session).parent
    for private in (runtime_root(), folder, place.folder):
        assert private.stat().st_mode & 0o777 == 0o700
    kept = [folder / "connection.json", folder / "state.json", *place.folder.iterdir()]
    assert [one.stat().st_mode & 0o777 for one in kept] == [0o600] * 3
    await kernel.close()
    assert not folder.exists()


async def test_a_kernel_says_what_it_takes_while_a_cell_runs(kernel: LocalKernel) -> None:
    begun = Beginning()
    source = "block = bytearray(200_000_000)\nprint('begun', flush=True)\nwhile True: pass"
    task = asyncio.create_task(kernel.execute(source, on_output=begun))
    await begun.wait()
    usage = await kernel.usage()
    assert 200_000_000 < usage.memory_bytes < 1_000_000_000
    assert usage.cpu_seconds > 0
    task.cancel()
    await asyncio.wait([task])
