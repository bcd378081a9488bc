"""The quick way to a cell's names gives what Python's own tables give, and leaves nothing of the cell out."""

from __future__ import annotations

import ast
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.planners.code_names import CodeNames, read_code, table_names

NAMES = st.sampled_from(["a", "b", "c", "d", "len", "i"])
# Without a meaning of their own, so nobody asks for them.
BARE = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.arguments, ast.Module)


def _larger(expressions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def filled(form: str) -> st.SearchStrategy[str]:
        parts = {"n": NAMES, "m": NAMES, "x": expressions, "y": expressions, "z": expressions}
        used = {name: part for name, part in parts.items() if "{" + name + "}" in form}
        return st.fixed_dictionaries(used).map(lambda found: form.format(**found))

    forms = [
        "({x} + {y})", "{n}.attribute", "{n}[{x}]", "{n}({x}, key={y}, **{z})", "[{x} for {n} in {y}]",
        "{{{x} for {n}, *{m} in {y} if {z}}}", "{{{n}: {x} for {n} in {y} for {m} in {z}}}", "list({x} for {n} in {y})",
        "[{x} for {n}[{y}] in {z}]", "(lambda {n}, {m}={x}, *rest, o={y}, **more: {z})", "(lambda: {x})",
        "({n} := {x})", "({x} if {y} else {z})", "f'{{{x}:{{{y}}}}}'", "(not {x} and {y} < {z})", "[*{x}, {y}]",
        "[{x} for {n} in {n}]",
    ]  # fmt: skip
    return st.one_of(list(map(filled, forms)))


EXPRESSIONS = st.recursive(NAMES | st.just("1"), _larger, max_leaves=8)


@st.composite
def cells(draw: st.DrawFn) -> str:
    forms = [
        "{n} = {x}", "{n}, *{m} = {x}", "{n} += {x}", "{n}[{x}] += {y}", "{n}: {m} = {x}", "{n}: {m}", "{x}", "del {n}",
        "import {n}.{m}", "import {n} as {m}", "from {n} import {m}", "from {n} import {m} as {n}", "assert {x}, {y}",
        "for {n} in {x}:\n    {m} = {y}\nelse:\n    {n} += 1", "while {x}:\n    {n} = {y}\n    break",
        "if {x}:\n    {n} = {y}\nelif {n}:\n    {m} = 1", "with {x} as {n}, {y} as {m}:\n    {n}", "raise {x} from {y}",
        "def {n}({m}={x}):\n    global c\n    c = {y}", "class {n}({x}):\n    {m} = {y}", "pass",
        "try:\n    {x}\nexcept {y} as {n}:\n    {m} = {n}", "match {x}:\n    case [{n}, *{m}]:\n        {y}",
    ]  # fmt: skip
    chosen = draw(st.lists(st.sampled_from(forms), min_size=1, max_size=4))
    parts = st.fixed_dictionaries({"n": NAMES, "m": NAMES, "x": EXPRESSIONS, "y": EXPRESSIONS})
    return "\n".join(form.format(**draw(parts)) for form in chosen)


def _by_tables(source: str) -> CodeNames:
    read: set[str] = set()
    made: set[str] = set()
    for statement in ast.parse(source).body:
        found = table_names(statement, list(ast.walk(statement)), ast.unparse(statement))
        read |= found.read - made
        made |= found.made
    return CodeNames(read=frozenset(read - {"len", "list"}), made=frozenset(made))


@given(cells())
def test_the_names_of_any_cell_are_those_that_python_sees(source: str) -> None:
    try:
        compile(source, "<cell>", "exec")
    except SyntaxError:
        return
    assert read_code(source).names == _by_tables(source)


@given(cells())
def test_everything_in_a_cell_is_looked_at_once(source: str) -> None:
    try:
        compile(source, "<cell>", "exec")
    except SyntaxError:
        return
    expected = Counter(ast.dump(node) for node in ast.walk(ast.parse(source)) if not isinstance(node, BARE))
    found = Counter(ast.dump(node) for node in read_code(source).nodes if not isinstance(node, BARE))
    assert found == expected


@pytest.mark.parametrize(
    ("source", "read", "made"),
    [
        ("[y for y in y]", {"y"}, set()),
        ("[(y, z) for x in rows for y in x]", {"rows", "z"}, set()),
        ("sorted(rows, key=lambda row, by=order: row[by])", {"rows", "order"}, set()),
        ("[last := one for one in rows]", {"rows"}, {"last"}),
        # More than Python says, which is on the safe side: what is made is what may not be changed.
        ("f = lambda x: (y := x) + y", set(), {"f", "y"}),
        ("[one for table[key] in rows]", {"rows", "table", "key", "one"}, set()),
    ],
)
def test_names_inside_a_comprehension_or_a_lambda_are_its_own(source: str, read: set[str], made: set[str]) -> None:
    assert read_code(source).names == CodeNames(frozenset(read), frozenset(made))


def test_what_is_no_python_says_so() -> None:
    with pytest.raises(SyntaxError):
        read_code("a = = 1")


@pytest.mark.parametrize(
    "loop", ["[b for b in c]", "{b for b in c}", "{b: 1 for b in c}", "[[b for b in d] for d in c]"]
)
def test_what_a_comprehension_binds_is_its_own_on_every_python(loop: str) -> None:
    assert read_code(f"def f(x={loop}):\n    return x").names == CodeNames(read=frozenset("c"), made=frozenset("f"))
