"""Code that was read while it was written is read as it would have been in one go."""

from __future__ import annotations

import ast
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notebook_bcc.planners.code_names import Code, read_code
from notebook_bcc.planners.growing_code import GrowingCode
from planners.test_code_names import cells

# What may make a line look like the beginning of a statement, or keep one from looking like it.
LINES = st.sampled_from(
    [
        "a = 1", "b = a + c", "a; b", "a = 1; b = 2; c", "if a:", "    b = 1", "  ", "", "else:", "elif b:", "    pass",
        "for i in a:", "    for j in b:", "        c = j", "try:", "except E as e:", "finally:", "with a as b:",
        "text = '''", "else: not code", "a = not code", "'''", '"""', "# else", "    # comment", "call(", "    a,",
        "a,", ")", "items = [", "]", "a = 1 + \\", "2", "@decorator", "def f(x=a):", "    return b", "class C(a):",
        "async def g():", "    await a", "match a:", "    case [b, *_]:", "elsewhere = a", "finally_ = b", "-a",
        "'doc'", "f'{a}'", "print(a)", "(a)", "[b]", "*a, b = c", "\tif a: b", "global a", "lambda: a", "x: int = a",
        "名 = a",
        "del a", "a\x0c", "\x0ca = 1", "a = 'b\u2028c'", "a = 1\r", "return", "a = = 1", "a\x00", "%matplotlib inline",
    ]
)  # fmt: skip
PREFIXES = st.lists(st.integers(0, 400), max_size=12)


def _shown(code: Code | None) -> tuple[object, list[str]] | None:
    return None if code is None else (code.names, [ast.dump(node) for node in code.nodes])


def _at_once(source: str) -> Code | None:
    try:
        return read_code(source)
    except (SyntaxError, ValueError):
        return None


def _grown(source: str, prefixes: list[int]) -> Code | None:
    growing = GrowingCode()
    for end in sorted(prefixes):
        growing.grow(source[:end])
    return _in_the_end(growing, source)


def _in_the_end(growing: GrowingCode, source: str) -> Code | None:
    try:
        return growing.read(source)
    except (SyntaxError, ValueError):
        return None


@settings(max_examples=400)
@given(st.lists(LINES, max_size=12).map("\n".join), PREFIXES)
def test_strange_lines_are_read_as_in_one_go(source: str, prefixes: list[int]) -> None:
    assert _shown(_grown(source, prefixes)) == _shown(_at_once(source))
    assert _shown(_grown(source, list(range(len(source))))) == _shown(_at_once(source))


@given(cells(), PREFIXES)
def test_cells_are_read_as_in_one_go(source: str, prefixes: list[int]) -> None:
    assert _shown(_grown(source, prefixes)) == _shown(_at_once(source))
    assert _shown(_grown(source, list(range(len(source))))) == _shown(_at_once(source))


@given(cells(), cells())
def test_a_cell_that_turns_out_to_be_another_is_read_as_it_is(shown: str, source: str) -> None:
    growing = GrowingCode()
    for end in range(len(shown)):
        growing.grow(shown[:end])
    for written in (source, shown):
        assert _shown(_in_the_end(growing, written)) == _shown(_at_once(written))


def test_an_error_is_told_with_its_line_in_the_whole_cell() -> None:
    source = "a = 1\nb = 2\nc = = 3"
    growing = GrowingCode()
    for end in range(len(source)):
        growing.grow(source[:end])
    with pytest.raises(SyntaxError) as caught:
        growing.read(source)
    assert caught.value.lineno == 3


@pytest.mark.parametrize("line", ["a(\n", "x = '''\n", "a = 1\n", "if a:\n", "a\n", "@a\n"])
def test_the_time_is_linear_in_the_text(line: str) -> None:
    def spent(size: int) -> float:
        source = line * (size // len(line))
        growing = GrowingCode()
        begin = time.process_time()
        for end in range(0, len(source), 4):
            growing.grow(source[:end])
        return time.process_time() - begin

    spent(1_000)
    # Sixteen times for sixteen times the text, with room for a busy machine; two hundred and more if it were not so.
    small, large = min(spent(1_500) for _ in range(5)), min(spent(24_000) for _ in range(2))
    assert large < 80 * small + 0.05
