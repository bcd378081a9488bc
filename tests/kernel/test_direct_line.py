"""Requests and replies take the direct line where they can, the sockets where they cannot, and arrive either way."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from notebook_bcc.kernel.direct_line import DirectLine
from notebook_bcc.kernel.far_end import BETWEEN, LARGEST
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local import LocalKernel

Text = Callable[[Execution], str]

pytestmark = pytest.mark.anyio

# In the kernel: the end of the line there.
END = "get_ipython().kernel.shell_channel_thread.manager.get_subshell_to_shell_channel_socket(None)"
COUNTS = f"end = {END}\nprint(end.taken, end.answered)"


async def counts(kernel: LocalKernel, stdout: Text) -> tuple[int, int]:
    taken, answered = stdout(await kernel.execute(COUNTS)).split()
    return int(taken), int(answered)


async def test_a_kernel_of_ours_is_spoken_to_directly(kernel: LocalKernel, stdout: Text) -> None:
    taken, answered = await counts(kernel, stdout)
    for number in range(3):
        assert stdout(await kernel.execute(f"print({number})")) == f"{number}\n"
    assert await counts(kernel, stdout) == (taken + 4, answered + 4)


async def test_cells_and_replies_of_any_size_arrive(kernel: LocalKernel, stdout: Text) -> None:
    taken, answered = await counts(kernel, stdout)
    sizes = (1_000, LARGEST - 2_000, LARGEST, LARGEST + 1, 4 * LARGEST)
    for size in sizes:
        assert stdout(await kernel.execute(f"text = '{'x' * size}'\nprint(len(text))")) == f"{size}\n"
    many = f"for n in range({LARGEST // 5_000 + 1}):\n    globals()[f'name_{{n}}'] = str(n % 10) * 5_000\n"
    done = await kernel.execute(many)
    assert done.error is None
    assert done.variables.updated["name_7"] == "7" * 5_000
    # Three cells were too large for the line, and one reply.
    assert await counts(kernel, stdout) == (taken + 4, answered + 6)


async def test_any_text_of_a_cell_arrives_as_it_is(kernel: LocalKernel, stdout: Text) -> None:
    for text in ("a\n\nb", "a\u2028b", "数据", "\t\x01", "<IDS|MSG>", "\\n", '"'):
        done = await kernel.execute(f"text = r'''{text}'''\nprint(ascii(text))")
        assert stdout(done) == f"{text!a}\n"


async def test_the_loop_of_a_window_toolkit_ends_the_line_and_nothing_else(kernel: LocalKernel, stdout: Text) -> None:
    await kernel.execute(f"end = {END}")
    assert (await kernel.execute("%gui asyncio")).error is None
    for _ in range(2):
        assert stdout(await kernel.execute("print(end.is_open)")) == "False\n"


async def test_a_line_that_a_cell_cuts_is_done_without(kernel: LocalKernel, stdout: Text) -> None:
    await kernel.execute(f"end = {END}")
    for number in range(3):
        assert stdout(await kernel.execute(f"end.close()\nprint({number})")) == f"{number}\n"


async def test_a_cell_that_awaits_can_be_interrupted(kernel: LocalKernel, stdout: Text) -> None:
    done = await kernel.execute("import asyncio\nawait asyncio.sleep(60)", time_limit=0.5)
    assert done.error is not None
    assert done.error.name == "CellTimeout"
    assert stdout(await kernel.execute("print(1)")) == "1\n"


async def test_context_variables_live_from_cell_to_cell_whichever_way_they_come(
    kernel: LocalKernel, stdout: Text
) -> None:
    large = "#" * LARGEST
    await kernel.execute("import contextvars\nwho = contextvars.ContextVar('who', default='nobody')\nwho.set('first')")
    assert stdout(await kernel.execute(f"print(who.get())\nwho.set('second')\n{large}")) == "first\n"
    assert stdout(await kernel.execute("print(who.get())")) == "second\n"


async def test_a_forked_child_sends_nothing(kernel: LocalKernel, stdout: Text) -> None:
    cell = f"""
import os
end = {END}
child = os.fork()
if child == 0:
    end._send([b"from the child"])
    os._exit(0)
os.waitpid(child, 0)
print("parent")
"""
    assert stdout(await kernel.execute(cell)) == "parent\n"
    assert stdout(await kernel.execute("print(1)")) == "1\n"


async def test_an_ipykernel_of_another_make_is_left_as_it_is(kernel: LocalKernel, stdout: Text) -> None:
    cell = """
import sys
from types import SimpleNamespace
answer = sys.modules["_notebook_bcc_far_end"].answer_directly
for thread in (None, SimpleNamespace(), SimpleNamespace(manager=SimpleNamespace())):
    other = SimpleNamespace(shell_channel_thread=thread)
    answer(other, "/nowhere/line", b"name")
    print(vars(other) == {"shell_channel_thread": thread})
answer(get_ipython().kernel, "/nowhere/line", b"name")
"""
    assert stdout(await kernel.execute(cell)) == "True\n" * 3
    assert stdout(await kernel.execute("print(1)")) == "1\n"


@dataclass(frozen=True)
class Ends:
    line: DirectLine
    other: socket.socket
    taken: list[list[bytes]]


@pytest.fixture
async def ends(tmp_path: Path) -> AsyncIterator[Ends]:
    taken: list[list[bytes]] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as other:
        other.settimeout(10)
        line = DirectLine(tmp_path, lambda frames: taken.append(list(frames)))
        yield Ends(line, other, taken)
        line.close()


async def test_messages_go_whole_or_not_at_all(ends: Ends) -> None:
    line, other = ends.line, ends.other
    assert not line.send([b"too early"])
    other.connect(line.path)
    line.open()
    assert line.send([b"a", b"", b"b"])
    assert other.recv(LARGEST).split(BETWEEN) == [b"a", b"", b"b"]
    assert line.send([b"x" * LARGEST])
    assert not line.send([b"x" * LARGEST, b"more"])
    assert len(other.recv(2 * LARGEST)) == LARGEST
    sent = 0
    while line.send([b"x" * LARGEST]):
        sent += 1
    assert sent >= 1
    assert [len(other.recv(2 * LARGEST)) for _ in range(sent)] == [LARGEST] * sent
    assert line.send([b"room again"])


async def test_whoever_hangs_up_is_noticed(ends: Ends) -> None:
    line, other, taken = ends.line, ends.other, ends.taken
    other.connect(line.path)
    line.open()
    other.send(b"last\nwords")
    other.close()
    assert not line.send([b"nobody there"])
    assert line.drain() == 1
    assert not line.is_open
    assert taken == [[b"last", b"words"]]
    assert line.drain() == 0


async def test_where_nobody_comes_there_is_no_line(ends: Ends) -> None:
    line, other = ends.line, ends.other
    line.open()
    assert not line.is_open
    with pytest.raises(OSError, match="refused"):
        other.connect(line.path)


async def test_a_folder_with_too_long_a_name_has_no_line(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    line = DirectLine(folder, lambda frames: None)
    assert line.path == ""
    line.open()
    assert not line.is_open


async def test_a_kernel_without_a_line_runs_cells_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stdout: Text
) -> None:
    folder = tmp_path / ("long" * 40)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    kernel = LocalKernel()
    await kernel.start()
    try:
        cell = f"print(type({END}).__name__)"
        assert stdout(await kernel.execute(cell)) == "Socket\n"
    finally:
        await kernel.close()
