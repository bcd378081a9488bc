"""A process that a cell forks is not the kernel: it prints into its cell, and leaves when that ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from kernel.conftest import stream_text
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local.kernel import LocalKernel

Text = Callable[[Execution], str]

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

# The parent waits for the child and tells how it ended; the rest of the cell is the child's.
FORK = """
import os, sys
print('before')
pid = os.fork()
if pid:
    print('parent', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
else:
    print('child')
"""


async def check_that_cells_run_once(kernel: LocalKernel) -> None:
    await kernel.execute("runs = 0")
    for number in range(1, 4):
        done = await kernel.execute(f"runs += 1\nprint('cell {number}', runs)\nruns", time_limit=30)
        assert stream_text(done, "stdout") == f"cell {number} {number}\n"
        assert [output["data"]["text/plain"] for output in done.outputs if "data" in output] == [str(number)]
        assert done.variables.updated == {"runs": number}


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("os._exit(3)", 3),
        ("sys.exit(4)", 4),
        ("sys.exit()", 0),
        ("exit()", 0),
        ("sys.exit('enough')", 1),
        ("raise ValueError('of the child')", 1),
        ("os.abort()", -6),
        ("pass", 0),
        ("print('more', end='')", 0),
        ("await asyncio.sleep(0)", 1),
    ],
)
async def test_however_a_child_ends_its_cell_has_what_it_printed_and_later_cells_run_once(
    kernel: LocalKernel, stdout: Text, end: str, status: int
) -> None:
    done = await kernel.execute(f"import asyncio\n{FORK}    {end}", time_limit=30)
    more = "more" if "more" in end else ""
    assert stdout(done) == f"before\nchild\n{more}parent {status}\n"
    assert done.error is None
    assert [output for output in done.outputs if output["output_type"] != "stream"] == []
    await check_that_cells_run_once(kernel)


async def test_an_error_of_a_child_is_text_of_the_cell(kernel: LocalKernel, stderr: Text) -> None:
    done = await kernel.execute(f"{FORK}    raise ValueError('of the child')", time_limit=30)
    assert stderr(done).count("Traceback") == 1
    assert stderr(done).endswith("ValueError\x1b[39m: of the child\n")
    assert done.error is None


async def test_what_a_child_displays_is_text_of_the_cell(kernel: LocalKernel, stdout: Text, stderr: Text) -> None:
    shown = "    display([1, 2])\n    display({'text/html': 'x'}, raw=True)\n'a value' if pid == 0 else None"
    done = await kernel.execute(f"{FORK}{shown}", time_limit=30)
    html = "[text/html of a forked process left out]"
    assert stdout(done) == f"before\nchild\n[1, 2]\n{html}\n'a value'\nparent 0\n"
    assert "attempted to send" not in stderr(done)
    assert [output for output in done.outputs if output["output_type"] != "stream"] == []


async def test_a_child_of_a_cell_that_awaits_leaves_at_its_end(kernel: LocalKernel, stdout: Text) -> None:
    done = await kernel.execute(f"import asyncio\nawait asyncio.sleep(0.01)\n{FORK}", time_limit=30)
    assert stdout(done) == "before\nchild\nparent 0\n"
    await check_that_cells_run_once(kernel)


async def test_a_child_may_run_a_loop_of_its_own(kernel: LocalKernel, stdout: Text) -> None:
    cell = f"import asyncio\n{FORK}    asyncio.run(asyncio.sleep(0.01, print('slept')))"
    assert stdout(await kernel.execute(cell, time_limit=30)) == "before\nchild\nslept\nparent 0\n"


async def test_a_child_of_a_child_leaves_too(kernel: LocalKernel, stdout: Text) -> None:
    inner = "    inner = os.fork()\n    if inner: os.waitpid(inner, 0)\n    print('both' if inner else 'inner')"
    done = await kernel.execute(f"{FORK}{inner}", time_limit=30)
    assert stdout(done) == "before\nchild\ninner\nboth\nparent 0\n"
    await check_that_cells_run_once(kernel)


async def test_processes_of_a_pool_work_and_print(kernel: LocalKernel, stdout: Text) -> None:
    cell = """
import multiprocessing
def work(n):
    print('work', n)
    return n * n
with multiprocessing.get_context('fork').Pool(2) as pool:
    squares = pool.map(work, range(4))
one = multiprocessing.get_context('fork').Process(target=print, args=('of a process',))
one.start()
one.join()
print('squares', squares)
"""
    for _ in range(2):
        done = await kernel.execute(cell, time_limit=30)
        assert done.error is None
        assert sorted(stdout(done).splitlines()) == [
            "of a process",
            "squares [0, 1, 4, 9]",
            *(f"work {n}" for n in range(4)),
        ]
    await check_that_cells_run_once(kernel)


async def test_all_that_a_child_prints_arrives(kernel: LocalKernel, stdout: Text) -> None:
    cell = f"{FORK}    for n in range(1_000): print(n, '数据' * 300, flush=n % 2 == 0)"
    lines = stdout(await kernel.execute(cell, time_limit=30)).splitlines()
    assert lines[2:-1] == [f"{n} {'数据' * 300}" for n in range(1_000)]


async def test_a_child_that_outlives_its_cell_leaves_later_cells_alone(kernel: LocalKernel, stdout: Text) -> None:
    begin = (
        "import os\nhere, there = os.pipe()\npid = os.fork()\nif pid == 0:\n    os.read(here, 1)\n    print('child')"
    )
    assert stdout(await kernel.execute(begin, time_limit=30)) == ""
    await check_that_cells_run_once(kernel)
    end = "os.write(there, b'x')\nprint('parent', os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    assert stdout(await kernel.execute(end, time_limit=30)) == "child\nparent 0\n"
    await check_that_cells_run_once(kernel)


async def test_a_cell_that_waits_for_its_child_can_be_interrupted(kernel: LocalKernel) -> None:
    done = await kernel.execute(f"{FORK}    import time\n    time.sleep(600)", time_limit=2)
    assert done.error is not None
    assert done.error.name == "CellTimeout"
    await check_that_cells_run_once(kernel)


async def fork_often(forks: int) -> None:
    kernel = LocalKernel()
    await kernel.start()
    try:
        for _ in range(forks):
            done = await kernel.execute(FORK, time_limit=30)
            assert stream_text(done, "stdout") == "before\nchild\nparent 0\n"
            assert done.error is None
        await check_that_cells_run_once(kernel)
    finally:
        await kernel.close()


async def test_forks_in_many_cells_never_hang() -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(fork_often(10))


@pytest.mark.slow
async def test_forks_in_many_kernels_never_hang() -> None:
    for _ in range(20):
        await fork_often(5)
