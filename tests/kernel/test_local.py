"""What a cell gives back when all goes well, against a real kernel."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.errors import KernelDied
from notebook_bcc.kernel.inspection import VariableLimits
from notebook_bcc.kernel.interface import Execution, Kernel
from notebook_bcc.kernel.local.kernel import LocalKernel

pytestmark = pytest.mark.anyio
Text = Callable[[Execution], str]


async def test_a_kernel_says_who_it_is(kernel: LocalKernel) -> None:
    assert kernel.identity.language == "python"
    assert kernel.identity.name == "python3"
    assert kernel.identity.language_version.startswith("3.")
    assert kernel.identity.file_extension == ".py"
    implements: Kernel = kernel
    assert implements.is_alive


async def test_a_cell_brings_outputs_result_count_and_variables_in_one_execution(kernel: LocalKernel) -> None:
    execution = await kernel.execute("x = 20\nprint('hello')\nx + 1")
    assert execution.succeeded
    assert execution.execution_count == 1
    assert execution.outputs == (
        {"output_type": "stream", "name": "stdout", "text": "hello\n"},
        {"output_type": "execute_result", "data": {"text/plain": "21"}, "metadata": {}, "execution_count": 1},
    )
    assert execution.variables.updated == {"x": 20}
    assert execution.seconds > 0


async def test_only_changes_are_listed(kernel: LocalKernel) -> None:
    first = await kernel.execute("a = 1\nb = [1]\nimport math\ndef f(): pass\nclass C: pass\n_hidden = 1\nc = C()")
    assert first.variables.updated == {"a": 1, "b": [1], "c": "C"}
    second = await kernel.execute("b.append(2)")
    assert second.variables.updated == {"b": [1, 2]}
    third = await kernel.execute("del a")
    assert (third.variables.updated, third.variables.removed) == ({}, ("a",))
    fourth = await kernel.execute("2 + 2")
    assert (fourth.variables.updated, fourth.variables.removed) == ({}, ())


async def test_a_failing_cell_lists_what_it_changed_before_it_failed(kernel: LocalKernel) -> None:
    execution = await kernel.execute("before = 'kept'\nraise ValueError('no')\nafter = 1")
    assert execution.error is not None
    assert (execution.error.name, execution.error.message) == ("ValueError", "no")
    assert execution.error.traceback
    assert execution.variables.updated == {"before": "kept"}
    assert execution.outputs[-1]["output_type"] == "error"
    assert execution.outputs[-1]["ename"] == "ValueError"


async def test_a_syntax_error_is_the_cells_error(kernel: LocalKernel) -> None:
    execution = await kernel.execute("def (:")
    assert execution.error is not None
    assert execution.error.name == "SyntaxError"
    assert (await kernel.execute("1")).succeeded


async def test_an_empty_cell_is_nothing(kernel: LocalKernel) -> None:
    execution = await kernel.execute("")
    assert execution.succeeded
    assert execution.outputs == ()


async def test_looking_at_variables_leaves_no_trace(kernel: LocalKernel, stdout: Text) -> None:
    await kernel.execute("41 + 1")
    await kernel.execute("1 / 0")
    await kernel.summarize({"x": "shape_only"})
    execution = await kernel.execute(
        "import sys\nprint(_, sys.last_type.__name__, len(In))\n"
        "print([n for n in dir() if 'bcc' in n], [n for n in globals() if 'probe' in n])"
    )
    assert stdout(execution) == "42 ZeroDivisionError 4\n[] []\n"
    assert execution.execution_count == 3


async def test_frames_and_arrays_are_shown_by_type_and_size(kernel: LocalKernel) -> None:
    pytest.importorskip("pandas")
    execution = await kernel.execute(
        "import pandas as pd, numpy as np\n"
        "df = pd.DataFrame(np.zeros((1460, 79)))\ns = df[0]\na = np.zeros((3, 4))\n"
        "n = np.float64('nan')\ni = np.int64(3)\nb = np.bool_(True)\nt = pd.Timestamp('2026-01-02')\nz = np.array(5)\n"
        "big = list(range(10_000))\nd = dict.fromkeys(range(500))"
    )
    assert execution.variables.updated == {
        "df": "DataFrame(1460×79)",
        "s": "Series(1460)",
        "a": "ndarray(3×4)",
        "n": "NaN",
        "i": 3,
        "b": True,
        "t": "2026-01-02 00:00:00",
        "z": "ndarray",
        "big": "list(10000)",
        "d": "dict(500)",
    }
    changed = await kernel.execute("df = df.iloc[:10]\ns[0] = 1")
    assert changed.variables.updated["df"] == "DataFrame(10×79)"


async def test_summaries_are_computed_in_the_kernel(kernel: LocalKernel) -> None:
    pytest.importorskip("pandas")
    await kernel.execute(
        "import pandas as pd\ndf = pd.DataFrame({'v': range(100)})\nlog = [f'line {i}' for i in range(100)]"
    )
    wanted = {
        "df": "describe_only",
        "log": "last_3_only",
        "absent": "shape_only",
    }
    summaries = await kernel.summarize(wanted)
    assert set(summaries) == {"df", "log"}
    assert "mean" in summaries["df"]
    assert "49.5" in summaries["df"]
    assert summaries["log"] == ["line 97", "line 98", "line 99"]
    assert await kernel.summarize({"df": "shape_only"}) == {"df": "DataFrame(100×1)"}
    assert (await kernel.summarize({"df": "head_only"}))["df"].split()[-1] == "4"
    assert (await kernel.summarize({"df": "last_7_only"}))["df"].split()[2] == "93"
    assert await kernel.summarize({"log": "describe_only"}) == {"log": "list(100)"}


async def test_magics_and_shell_cells_run(kernel: LocalKernel, stdout: Text) -> None:
    assert "hello shell" in stdout(await kernel.execute("!echo hello shell"))
    assert stdout(await kernel.execute("%%bash\necho from bash")) == "from bash\n"
    timed = await kernel.execute("%%time\nq = 5")
    assert timed.succeeded
    assert timed.variables.updated == {"q": 5}
    reset = await kernel.execute("%reset -f")
    assert reset.variables.removed == ("q",)
    assert (await kernel.execute("q = 6")).variables.updated == {"q": 6}


async def test_a_cell_may_await(kernel: LocalKernel) -> None:
    execution = await kernel.execute("import asyncio\nawait asyncio.sleep(0)\nawaited = 'yes'\nawaited")
    assert execution.variables.updated == {"awaited": "yes"}
    assert execution.outputs[-1]["data"]["text/plain"] == "'yes'"


async def test_cells_and_replies_of_any_size_arrive(kernel: LocalKernel, stdout: Text) -> None:
    for size in (1_000, 65_536, 1_000_000):
        assert stdout(await kernel.execute(f"text = '{'x' * size}'\nprint(len(text))")) == f"{size}\n"
    done = await kernel.execute("for n in range(20): globals()[f'name_{n}'] = str(n % 10) * 5_000")
    assert done.variables.updated["name_7"] == "7" * 5_000


async def test_any_text_of_a_cell_arrives_as_it_is(kernel: LocalKernel, stdout: Text) -> None:
    for text in ("a\n\nb", "a\u2028b", "数据", "\t\x01", "<IDS|MSG>", "\\n", '"'):
        done = await kernel.execute(f"text = r'''{text}'''\nprint(ascii(text))")
        assert stdout(done) == f"{text!a}\n"


@pytest.mark.skipif(version("ipykernel").startswith("7.0."), reason="there each cell has a context of its own")
async def test_context_variables_live_from_cell_to_cell(kernel: LocalKernel, stdout: Text) -> None:
    await kernel.execute("import contextvars\nwho = contextvars.ContextVar('who', default='nobody')\nwho.set('first')")
    assert stdout(await kernel.execute("print(who.get())\nwho.set('second')")) == "first\n"
    assert stdout(await kernel.execute("print(who.get())")) == "second\n"


async def test_a_cell_may_choose_the_loop_of_a_window_toolkit(kernel: LocalKernel, stdout: Text) -> None:
    assert (await kernel.execute("%gui asyncio")).error is None
    assert stdout(await kernel.execute("print(1)")) == "1\n"


def touch(path: str) -> None:
    Path(path).touch()


async def test_a_kernel_runs_where_it_is_told_with_the_environment_it_is_given(tmp_path: Path, stdout: Text) -> None:
    kernel = LocalKernel(cwd=tmp_path, env={"NBCC_TEST_VARIABLE": "值"})
    await kernel.start()
    try:
        execution = await kernel.execute("import os\nprint(os.getcwd())\nprint(os.environ['NBCC_TEST_VARIABLE'])")
    finally:
        await kernel.close()
    assert stdout(execution) == f"{tmp_path}\n值\n"


async def test_two_kernels_at_once_are_strangers(kernel: LocalKernel) -> None:
    other = LocalKernel()
    await other.start()
    try:
        mine, theirs = await asyncio.gather(kernel.execute("x = 'mine'\nx"), other.execute("x = 'theirs'\nx"))
        assert mine.outputs[0]["data"]["text/plain"] == "'mine'"
        assert theirs.outputs[0]["data"]["text/plain"] == "'theirs'"
    finally:
        await other.close()


async def test_restart_gives_an_empty_namespace_in_another_process(kernel: LocalKernel) -> None:
    await kernel.execute("x = 1")
    before = kernel.pid
    await kernel.restart()
    assert kernel.pid != before
    execution = await kernel.execute("x")
    assert execution.error is not None
    assert execution.error.name == "NameError"
    assert execution.execution_count == 1


async def test_a_kernel_that_is_not_started_or_closed_says_so() -> None:
    kernel = LocalKernel()
    assert not kernel.is_alive
    with pytest.raises(KernelDied, match="not been started"):
        await kernel.execute("1")
    await kernel.start()
    await kernel.close()
    await kernel.close()
    assert not kernel.is_alive
    with pytest.raises(KernelDied, match="closed"):
        await kernel.execute("1")


async def test_without_the_lean_profile_a_cell_is_the_same() -> None:
    kernel = LocalKernel(lean=False)
    await kernel.start()
    try:
        execution = await kernel.execute("x = 1\nprint('a')\nx")
    finally:
        await kernel.close()
    assert [output["output_type"] for output in execution.outputs] == ["stream", "execute_result"]
    assert execution.variables.updated == {"x": 1}


async def test_the_lean_profile_shows_a_cell_nothing_else_than_the_usual_one(kernel: LocalKernel, stdout: Text) -> None:
    source = "import sys\nprint(sys.path, sys.argv[0], sys.argv[1], __name__)\nimport debugpy.server"
    usual = LocalKernel(lean=False)
    await usual.start()
    try:
        expected = await usual.execute(source)
    finally:
        await usual.close()
    execution = await kernel.execute(source)
    assert execution.succeeded
    assert stdout(execution) == stdout(expected)


async def test_limits_decide_what_is_shown_whole() -> None:
    kernel = LocalKernel(variable_limits=VariableLimits(items=3, chars=50))
    await kernel.start()
    try:
        execution = await kernel.execute("a = [1, 2, 3]\nb = [1, 2, 3, 4]\nc = 'x' * 51\nd = 'y' * 50")
    finally:
        await kernel.close()
    assert execution.variables.updated == {"a": [1, 2, 3], "b": "list(4)", "c": "str(51)", "d": "y" * 50}


async def test_a_thousand_cells_leave_few_names_behind(kernel: LocalKernel, stdout: Text) -> None:
    for number in range(150):
        await kernel.execute(f"x = {number}")
    execution = await kernel.execute("print(len(globals()) < 150, In[1], len(In))")
    assert stdout(execution) == "True x = 0 152\n"


async def test_what_arrives_is_seen_as_it_arrives(kernel: LocalKernel) -> None:
    pieces: list[dict[str, Any]] = []
    seen_before_the_end = asyncio.Event()

    def on_output(output: dict[str, Any]) -> None:
        pieces.append(output)
        seen_before_the_end.set()

    source = "import time\nprint('first', flush=True)\nwhile not go.exists(): time.sleep(0.01)\nprint('last')"
    await kernel.execute("import pathlib, tempfile\nfolder = tempfile.TemporaryDirectory()")
    path = (await kernel.execute("go = pathlib.Path(folder.name) / 'go'\nstr(go)")).outputs[0]["data"]["text/plain"]
    task = asyncio.create_task(kernel.execute(source, on_output=on_output))
    await asyncio.wait_for(seen_before_the_end.wait(), 30)
    assert not task.done()
    touch(path.strip("'"))
    execution = await task
    assert pieces[0] == {"output_type": "stream", "name": "stdout", "text": "first\n"}
    assert "".join(piece["text"] for piece in pieces) == execution.outputs[0]["text"] == "first\nlast\n"


async def test_an_exception_in_on_output_does_not_break_the_kernel(kernel: LocalKernel) -> None:
    reported: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context))

    def fail(output: dict[str, Any]) -> None:
        raise RuntimeError("the reader is broken")

    execution = await kernel.execute("print('still here')\n5", on_output=fail)
    assert [output["output_type"] for output in execution.outputs] == ["stream", "execute_result"]
    assert len(reported) == 2
    assert (await kernel.execute("1")).succeeded


ECHO = """
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Echo(Kernel):
    implementation, implementation_version, banner = "echo", "1", "Echo"
    language_info = {"name": "echo", "version": "0.1", "mimetype": "text/plain", "file_extension": ".echo"}

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False):
        self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": code})
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}

IPKernelApp.launch_instance(kernel_class=Echo)
"""


async def test_a_kernel_of_another_language_runs_cells_and_has_no_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stdout: Text
) -> None:
    spec = {"argv": [sys.executable, "-c", ECHO, "-f", "{connection_file}"], "display_name": "Echo", "language": "echo"}
    folder = tmp_path / "kernels" / "echo"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    kernel = LocalKernel(name="echo")
    await kernel.start()
    try:
        assert (kernel.identity.language, kernel.identity.display_name) == ("echo", "Echo")
        execution = await kernel.execute("say this")
        assert stdout(execution) == "say this"
        assert execution.variables.updated == {}
        assert await kernel.summarize({"x": "shape_only"}) == {}
    finally:
        await kernel.close()
