"""Cells of plain Python begin sooner, and nothing else about any cell is different."""

from __future__ import annotations

import ast
import asyncio
import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from notebook_bcc.kernel.inside.beginning import begin_sooner, is_usual
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local.kernel import LocalKernel

Text = Callable[[Execution], str]

LINES = [
    "x = 1", "y = x %2", "%time x", "%%time", "!ls", "files = !ls", "magic = %pwd", "x?", "?x", "x??", "/len x",
    ",f a b", ";f a", ">>> x = 1", "... x", "...", "In [1]: x = 3", "   ...: x", "if x:", "    y = 2",
    "    %time y", "    ...", "", "   ", "# what?", "x = '?'", "text = '''", "%not a magic", "'''", "call(",
    "% 3", ")", "x = 10 \\", "% 3", "[..., 0]", "d = {", "...: 3", "}", "  # indented", "\tz = 1",
    "x = 'a\x0cb'", "y = 'a\u2028%b'", "\x0cx = 1", "x = 1\r", "a \\", "async def f(): pass", "await f()",
    "@decorator", "def g(): return 1", "return 3", "f'{x!r}'", "x ; y", "print(x);", "In [1]", "In[1]", "-1",
    "~x", "lambda: (yield)", "x: int = 1", "match x:", "    case _: pass", '"""', "x = %", "!",
]  # fmt: skip


# Most of what is drawn has to be Python, or nothing would be compared.
DRAWN = [*LINES, *["x = 1", "y = x %2", "# what?", "x = '?'", "print(x);", "f'{x!r}'", "", "In[1]", "[x, 0]"] * 30]


@settings(max_examples=500)
@given(st.lists(st.sampled_from(DRAWN), max_size=6).map("\n".join), st.sampled_from(["", "\n", "\n\n", " "]))
def test_what_python_takes_as_it_is_ipython_runs_as_it_is(lines: str, end: str) -> None:
    text = f"{lines}{end}" if end.endswith("\n") else f"{lines}{end}\n"
    if not is_usual(text):
        return
    try:
        compile(text, "<cell>", "exec")
    except (SyntaxError, ValueError):
        return
    assert TransformerManager().transform_cell(text) == text  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    "source", ["a = 1", "a = 1\nb = 2", "for i in range(3):\n    x = i % 2\n", "def f():\n    return 1\nf()"]
)
def test_plain_cells_take_the_short_way(source: str) -> None:
    assert is_usual(source if source.endswith("\n") else f"{source}\n")


def test_a_shell_of_another_make_is_left_as_it_is() -> None:
    shell = SimpleNamespace(compile=SimpleNamespace(ast_parse=ast.parse), transform_cell=str.upper)
    begin_sooner(shell)
    assert shell.transform_cell is str.upper
    assert shell.compile.ast_parse is ast.parse


pytestmark = pytest.mark.anyio


async def test_a_kernel_of_ours_takes_the_short_way(kernel: LocalKernel, stdout: Text) -> None:
    asked = "shell = get_ipython()\nprint(*(type(one.__self__).__name__ for one in ({})))"
    ways = "shell.transform_cell, shell.should_run_async, shell.compile.ast_parse"
    assert stdout(await kernel.execute(asked.format(ways))) == "Beginning Beginning Beginning\n"


async def test_an_ipykernel_of_another_make_is_left_as_it_is(kernel: LocalKernel, stdout: Text) -> None:
    # What a release may do: the thread is there, and its parts have other names.
    cell = """
import sys
from types import SimpleNamespace
shell = get_ipython()
begin = sys.modules["_notebook_bcc_beginning"].begin_sooner
names = ("compile", "transform_cell", "should_run_async", "run_cell_async", "prefilter_manager", "builtin_trap",
         "input_transformer_manager", "input_transformers_post")
other = SimpleNamespace(**{name: getattr(shell, name) for name in names})
other.kernel = SimpleNamespace(shell_channel_thread=SimpleNamespace(manager=SimpleNamespace()))
before = dict(vars(other)), dict(vars(shell.compile))
begin(other)
print(before == (dict(vars(other)), dict(vars(shell.compile))))
"""
    assert stdout(await kernel.execute(cell)) == "True\n"


async def test_transformers_that_somebody_adds_are_asked(kernel: LocalKernel, stdout: Text) -> None:
    adding = """
        def shout(lines):
            return [line.replace("whisper", "SHOUT") for line in lines]
        get_ipython().{where}.append(shout)
    """
    cell = "a = 'whisper'\nprint(a)"
    for where in ("input_transformers_cleanup", "input_transformers_post"):
        assert stdout(await kernel.execute(cell)) == "whisper\n"
        await kernel.execute("\n".join(line[8:] for line in adding.format(where=where).splitlines()))
        assert stdout(await kernel.execute(cell)) == "SHOUT\n"
        await kernel.execute(f"get_ipython().{where}.clear() if '{where}'.endswith('post') else None")
        await kernel.execute(f"get_ipython().{where}[:] = [one for one in get_ipython().{where} if one is not shout]")


async def test_ast_transformers_change_a_cell_once(kernel: LocalKernel, stdout: Text) -> None:
    await kernel.execute(
        "import ast\n"
        "class Doubling(ast.NodeTransformer):\n"
        "    def visit_Constant(self, node):\n"
        "        return ast.copy_location(ast.Constant(node.value * 2), node)\n"
        "get_ipython().ast_transformers.append(Doubling())\n"
    )
    cell = "a = 4\nprint(a)"
    assert [stdout(await kernel.execute(cell)) for _ in range(3)] == ["8\n"] * 3


async def test_a_cell_inside_a_cell_runs_as_ever(kernel: LocalKernel, stdout: Text) -> None:
    outer = "text = 'b = 5\\nprint(b)'\nfor _ in range(2):\n    get_ipython().run_cell(text)\nprint('outer')"
    assert stdout(await kernel.execute(outer)) == "5\n5\nouter\n"


async def test_a_single_line_may_call_without_brackets(kernel: LocalKernel, stdout: Text) -> None:
    assert "/" in (await kernel.execute("pwd")).outputs[0]["data"]["text/plain"]
    await kernel.execute("pwd = 'a variable'")
    assert stdout(await kernel.execute("print(pwd)")) == "a variable\n"
    shown = (await kernel.execute("pwd")).outputs
    assert shown[0]["data"]["text/plain"] == "'a variable'"
    left = await kernel.execute("exit")
    assert left.error is not None
    assert left.error.name == "SystemExit"
    await kernel.execute("%autocall 1")
    await kernel.execute("def double(text): print(text * 2)")
    said = stdout(await kernel.execute("double 'a'"))
    assert said.endswith("aa\n")
    assert said.count("double('a')") <= 2
    await kernel.execute("%autocall 2")
    said = stdout(await kernel.execute("pwd = double('b')"))
    assert said == "bb\n"


async def test_a_cell_awaits_where_it_says_so(kernel: LocalKernel, stdout: Text) -> None:
    cell = "import asyncio\nawait asyncio.sleep(0)\nprint('done')"
    assert stdout(await kernel.execute(cell)) == "done\n"
    named = await kernel.execute("awaiting = 'await'\nprint(awaiting)")
    assert stdout(named) == "await\n"


async def test_a_warning_of_the_compiler_is_given_once_and_names_the_cell(kernel: LocalKernel, stderr: Text) -> None:
    said = stderr(await kernel.execute("a = 1\nprint(a is 1)\n"))
    assert said.count("SyntaxWarning") == 1
    assert "<>" not in said


async def test_a_failing_cell_shows_its_own_lines(kernel: LocalKernel) -> None:
    first = await kernel.execute("def broken():\n    raise ValueError('here')  # of the first cell\n")
    assert first.succeeded
    second = await kernel.execute("a = 1\nbroken()\n")
    assert second.error is not None
    shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(second.error.traceback))
    assert "of the first cell" in shown
    assert "Cell In[1], line 2" in shown
    assert "Cell In[2], line 2" in shown


async def test_a_name_for_all_cells_is_kept(stdout: Text) -> None:
    kernel = LocalKernel(env={"IPYKERNEL_CELL_NAME": "the-cell.py"})
    await kernel.start()
    try:
        cell = "def f(): pass\nprint(f.__code__.co_filename)"
        assert stdout(await kernel.execute(cell)) == "the-cell.py\n"
    finally:
        await kernel.close()


async def test_what_is_parsed_but_cannot_be_compiled_is_the_cells_error(kernel: LocalKernel) -> None:
    execution = await kernel.execute("a = 1\nreturn a\n")
    assert execution.error is not None
    assert execution.error.name == "SyntaxError"
    assert (await kernel.execute("print(1)\nprint(2)")).succeeded


async def test_flags_of_the_future_hold_for_the_cells_that_follow(kernel: LocalKernel, stdout: Text) -> None:
    await kernel.execute("from __future__ import annotations\nx = 1")
    cell = "def f(a: missing):\n    return 1\nprint(f.__annotations__)"
    assert stdout(await kernel.execute(cell)) == "{'a': 'missing'}\n"


async def test_cells_that_are_sent_together_run_in_their_order(kernel: LocalKernel, stdout: Text) -> None:
    cells = [kernel.execute(f"import time\ntime.sleep(0.01)\nprint({number})") for number in range(5)]
    found = await asyncio.gather(*cells)
    assert [stdout(one) for one in found] == [f"{number}\n" for number in range(5)]
    assert [one.execution_count for one in found] == [1, 2, 3, 4, 5]
