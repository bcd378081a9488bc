"""Output of every kind from a real kernel: nothing lost, nothing in the wrong place, nothing without bounds."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Callable
from typing import Any

import pytest

from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.outputs import OutputLimits

pytestmark = pytest.mark.anyio
Text = Callable[[Execution], str]
MEGABYTE = 1_000_000


@pytest.mark.parametrize(("lines", "flush"), [(20_000, False), (20_000, True), (100_000, False)])
async def test_not_one_printed_line_is_lost(kernel: LocalKernel, stdout: Text, lines: int, flush: bool) -> None:
    execution = await kernel.execute(f"for i in range({lines}): print('line', i, flush={flush})")
    assert stdout(execution) == "".join(f"line {i}\n" for i in range(lines))
    assert execution.dropped_bytes == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_not_one_of_100_000_flushed_lines_is_lost(kernel: LocalKernel, stdout: Text) -> None:
    execution = await kernel.execute("for i in range(100_000): print('line', i, flush=True)")
    assert stdout(execution) == "".join(f"line {i}\n" for i in range(100_000))


async def test_no_line_is_lost_while_the_reader_is_busy_elsewhere(kernel: LocalKernel, stdout: Text) -> None:
    running = asyncio.create_task(kernel.execute("for i in range(5_000): print('line', i, flush=True)"))
    for _ in range(20):
        # As an engine does that writes a large file: the loop is held up, on purpose.
        sum(range(2_000_000))
        await asyncio.sleep(0)
    execution = await running
    assert stdout(execution) == "".join(f"line {i}\n" for i in range(5_000))


async def test_50_megabytes_are_cut_in_the_middle_and_it_shows(kernel: LocalKernel, stdout: Text) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    execution = await kernel.execute(
        "print('the beginning')\nfor i in range(50): print('x' * 999_999)\nprint('the end')"
    )
    text = stdout(execution)
    assert execution.succeeded
    assert text.startswith("the beginning\n")
    assert text.endswith("the end\n")
    assert len(text) < 10.1 * MEGABYTE
    kept = len(text) - len(_marker(text))
    assert kept + execution.dropped_bytes == 50 * MEGABYTE + len("the beginning\nthe end\n")
    assert f"{execution.dropped_bytes:,} bytes of output cut here" in text
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 120 * MEGABYTE


def _marker(text: str) -> str:
    start = text.index("\n[...")
    return text[start : text.index("...]\n", start) + len("...]\n")]


async def test_an_endless_print_is_bounded_and_can_be_stopped() -> None:
    kernel = LocalKernel(output_limits=OutputLimits(cell=MEGABYTE))
    await kernel.start()
    try:
        execution = await kernel.execute("print('first')\nwhile True: print('y' * 1000)", time_limit=2)
        assert execution.error is not None
        assert execution.error.name == "CellTimeout"
        stream, *rest = execution.outputs
        assert stream["text"].startswith("first\n")
        assert len(stream["text"]) < 1.2 * MEGABYTE
        assert execution.dropped_bytes > 0
        assert rest[-1]["output_type"] == "error"
        assert (await kernel.execute("1")).succeeded
    finally:
        await kernel.close()


async def test_binary_output_is_kept_whole(kernel: LocalKernel) -> None:
    execution = await kernel.execute(
        "import base64, os\nfrom IPython.display import Image, display\n"
        "raw = b'\\x89PNG\\r\\n\\x1a\\n' + os.urandom(300_000)\ndisplay(Image(data=raw, format='png'))\nlen(raw)"
    )
    display, result = execution.outputs
    assert display["output_type"] == "display_data"
    assert len(display["data"]["image/png"].strip()) == 4 * ((300_008 + 2) // 3)
    assert result["data"]["text/plain"] == "300008"


async def test_a_display_over_its_limit_is_replaced_by_a_note() -> None:
    kernel = LocalKernel(output_limits=OutputLimits(binary=1_000, text=2_000))
    await kernel.start()
    try:
        execution = await kernel.execute(
            "display({'image/png': 'A' * 1001, 'text/html': 'b' * 2001, 'text/plain': 'small'}, raw=True)"
        )
    finally:
        await kernel.close()
    assert execution.outputs[0]["data"] == {
        "image/png": "[image/png of 1,001 bytes left out: the limit is 1,000]",
        "text/html": "[text/html of 2,001 bytes left out: the limit is 2,000]",
        "text/plain": "small",
    }
    assert execution.dropped_bytes == 3_002


async def test_a_display_is_updated_where_it_stands(kernel: LocalKernel) -> None:
    execution = await kernel.execute(
        "handle = display('first', display_id='d')\nprint('between')\nhandle.update('second')\n"
        "from IPython.display import update_display\nupdate_display('third', display_id='d')"
    )
    assert [output["output_type"] for output in execution.outputs] == ["display_data", "stream"]
    assert execution.outputs[0]["data"]["text/plain"] == "'third'"
    assert "transient" not in execution.outputs[0]


async def test_an_update_of_an_earlier_cells_display_is_reported_as_late() -> None:
    late: list[tuple[int | None, dict[str, Any]]] = []
    kernel = LocalKernel(on_late_output=lambda count, output: late.append((count, output)))
    await kernel.start()
    try:
        await kernel.execute("handle = display('first', display_id=True)")
        execution = await kernel.execute("handle.update('second')\nprint('own')")
    finally:
        await kernel.close()
    assert [output["output_type"] for output in execution.outputs] == ["stream"]
    assert [(count, output["data"]["text/plain"]) for count, output in late] == [(1, "'second'")]


async def test_cleared_output_is_gone(kernel: LocalKernel, stdout: Text) -> None:
    execution = await kernel.execute(
        "from IPython.display import clear_output\nimport sys\n"
        "print('one')\nclear_output()\nprint('two')\nclear_output(wait=True)\nprint('three')\nclear_output(wait=True)"
    )
    assert stdout(execution) == "three\n"


async def test_a_progress_bar_keeps_its_last_state(kernel: LocalKernel, stdout: Text, stderr: Text) -> None:
    execution = await kernel.execute(
        "import sys\nfor i in range(101): print(f'\\r{i:3}% done', end='', flush=i % 10 == 0)\nprint()\n"
        "print('abc\\b\\bX')\nprint('windows\\r\\nline')\n"
        "for i in range(3): print(f'\\rstep {i}', end='', file=sys.stderr)"
    )
    assert stdout(execution) == "100% done\naXc\nwindows\nline\n"
    assert stderr(execution) == "step 2"


async def test_colours_are_kept(kernel: LocalKernel, stdout: Text) -> None:
    execution = await kernel.execute("print('\\x1b[31mred\\x1b[0m plain')")
    assert stdout(execution) == "\x1b[31mred\x1b[0m plain\n"


async def test_streams_keep_their_order(kernel: LocalKernel) -> None:
    execution = await kernel.execute(
        "import sys\nprint('a'); print('b')\nsys.stdout.flush()\nprint('c', file=sys.stderr, flush=True)\nprint('d')"
    )
    assert [(output["name"], output["text"]) for output in execution.outputs] == [
        ("stdout", "a\nb\n"),
        ("stderr", "c\n"),
        ("stdout", "d\n"),
    ]


async def test_text_written_below_python_belongs_to_its_cell(kernel: LocalKernel, stdout: Text, stderr: Text) -> None:
    sources = {
        "import os; os.write(1, b'from the descriptor\\n')": "from the descriptor\n",
        "import subprocess; subprocess.run(['echo', 'child'])": "child\n",
        "subprocess.run(['echo', 'given'], stdout=__import__('sys').stdout)": "given\n",
        "os.system('echo system')": "system\n",
        "print('a', flush=True); os.write(1, b'b\\n'); 1/0": "a\nb\n",
    }
    for round_number in range(10):
        for source, text in sources.items():
            execution = await kernel.execute(source)
            assert stdout(execution) == text, (round_number, source)
    assert stderr(await kernel.execute("os.write(2, b'below')")) == "below"


async def test_much_text_written_below_python_arrives_whole(kernel: LocalKernel, stdout: Text) -> None:
    execution = await kernel.execute(
        "import subprocess, sys\nsubprocess.run([sys.executable, '-c', \"print('数据' * 100_000)\"])"
    )
    assert stdout(execution) == "数据" * 100_000 + "\n"


async def test_bytes_that_are_no_text_do_no_harm(kernel: LocalKernel, stdout: Text) -> None:
    execution = await kernel.execute("import os; n = os.write(1, b'before \\xff\\xfe after\\n')")
    assert stdout(execution) == "before \ufffd\ufffd after\n"
    lone = await kernel.execute("print('lone \\udc80 surrogate'); s = 'lone \\ud800'")
    assert "surrogate" in stdout(lone)
    assert lone.variables.updated == {"s": "lone ?"}


async def test_chinese_text_is_kept_everywhere(kernel: LocalKernel, stdout: Text) -> None:
    execution = await kernel.execute("变量 = '中文数据'\nprint(变量)\nraise ValueError('坏了')")
    assert stdout(execution) == "中文数据\n"
    assert execution.variables.updated == {"变量": "中文数据"}
    assert execution.error is not None
    assert execution.error.message == "坏了"


async def test_a_cell_that_closes_stdout_closes_it_for_itself_only(kernel: LocalKernel, stdout: Text) -> None:
    closing = await kernel.execute("import sys\nprint('before')\nsys.stdout.close()\nx = 1")
    assert closing.variables.updated == {"x": 1}
    assert stdout(await kernel.execute("print('after')")) == "after\n"
    await kernel.execute("import os\nos.close(1)")
    assert stdout(await kernel.execute("print('still')")) == "still\n"


async def test_a_huge_traceback_is_cut_and_it_shows(kernel: LocalKernel) -> None:
    execution = await kernel.execute("raise ValueError('long ' * 1_000_000)")
    assert execution.error is not None
    assert execution.error.name == "ValueError"
    assert len(execution.error.message) < 300_000
    assert "characters cut" in execution.error.message
    assert sum(map(len, execution.error.traceback)) < 300_000
    deep = await kernel.execute("def f(n): return f(n + 1)\nf(0)")
    assert deep.error is not None
    assert deep.error.name == "RecursionError"


async def test_a_threads_late_text_is_not_in_another_cells_output() -> None:
    late: list[tuple[int | None, dict[str, Any]]] = []
    arrived = asyncio.Event()

    def on_late_output(count: int | None, output: dict[str, Any]) -> None:
        late.append((count, output))
        arrived.set()

    kernel = LocalKernel(on_late_output=on_late_output)
    await kernel.start()
    try:
        await kernel.execute(
            "import threading\ngo = threading.Event()\n"
            "def late():\n    go.wait(60)\n    print('late text', flush=True)\n"
            "thread = threading.Thread(target=late)\nthread.start()"
        )
        execution = await kernel.execute("go.set()\nthread.join()\nprint('own text')")
        await asyncio.wait_for(arrived.wait(), 30)
    finally:
        await kernel.close()
    assert [output["text"] for output in execution.outputs] == ["own text\n"]
    assert [(count, output["text"]) for count, output in late] == [(1, "late text\n")]
