"""Values in cells: whatever a table holds, it stays a value."""

from __future__ import annotations

import ast
import math
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.templates.environment import Kind, Template, Templates
from notebook_bcc.playbook.templates.values import WIDTH

TEMPLATES = Templates()
NASTY = [
    '"); import os',
    "'''",
    '"""',
    "\\",
    "\\'",
    "{x}",
    "{{ x }}",
    "#% if",
    "\n",
    "\r\n",
    "\x00",
    "\u2028",
    "é漢🎈",
    "",
]
TEXTS = st.text(max_size=40) | st.sampled_from(NASTY) | st.lists(st.sampled_from(NASTY), max_size=4).map("".join)
SCALARS = TEXTS | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.booleans() | st.none()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(TEXTS | st.integers(), inner, max_size=12),
    max_leaves=60,
)


def cell(source: str) -> Template:
    return TEMPLATES.read(source, kind=Kind.CELL, at="cells/test.py")


def render(source: str, **variables: Any) -> str:
    return cell(source).render({"v": variables, "lang": "en"})


PLAIN, WRAPPED = cell("x = {{ v.x }}"), cell("if True:\n    call(1, key={{ v.x | wrapped }})")
IN_STRINGS = [cell(f"x = {mark}before {{{{ v.x }}}} after{mark}") for mark in ("'", '"', "'''", '"""')]
IN_FORMATTED = [cell(f"x = f{mark}{{y}} {{{{ v.x }}}}{{y!r}}{mark}") for mark in ("'", '"', '"""')]
SHAPE = cell(
    "#% for name in v.names\n"
    "table[{{ name }}] = table.pop({{ name }}, 'is {{ name }}')  # about {{ name }}\n"
    "#% endfor\n"
    "def f(a={{ v.x }}):\n"
    "    return [{{ v.x }}, f'{a} {{ v.x }}']\n"
)


@given(VALUES)
@example(["a" * 30, "b" * 30, "c" * 60])
@example({"a" * 50: ["b" * 50, {"c": ["d" * 90, "e"]}]})
def test_a_value_in_code_is_its_literal(value: Any) -> None:
    for template in (PLAIN, WRAPPED):
        tree = ast.parse(template.render({"v": {"x": value}, "lang": "en"}))
        node = next(each for each in ast.walk(tree) if isinstance(each, ast.Assign | ast.keyword))
        assert ast.literal_eval(node.value) == value


@given(TEXTS)
def test_a_text_inside_a_string_stays_inside_it(text: str) -> None:
    for template in IN_STRINGS:
        tree = ast.parse(template.render({"v": {"x": text}, "lang": "en"}))
        (statement,) = tree.body
        assert isinstance(statement, ast.Assign)
        assert ast.literal_eval(statement.value) == f"before {text} after"


@given(TEXTS)
def test_a_text_inside_an_f_string_is_never_evaluated(text: str) -> None:
    for template in IN_FORMATTED:
        names: dict[str, Any] = {"y": "seen"}
        exec(template.render({"v": {"x": text}, "lang": "en"}), names)
        assert names["x"] == f"seen {text}'seen'"


class _Shape(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant(value="value")


@given(st.lists(TEXTS, min_size=3, max_size=3), TEXTS)
def test_no_name_of_a_column_changes_the_shape_of_a_cell(names: list[str], other: str) -> None:
    facts = {"v": {"names": names, "x": other}, "lang": "en"}
    usual = {"v": {"names": ["a", "b", "c"], "x": "d"}, "lang": "en"}
    found, expected = (ast.dump(_Shape().visit(ast.parse(SHAPE.render(each)))) for each in (facts, usual))
    assert found == expected


@given(st.lists(st.text(max_size=30), min_size=1, max_size=60))
@example(["\U000e0001" * 20 + ",,", "a" * 30])
def test_a_long_list_is_wrapped_to_the_width_with_its_indentation(names: list[str]) -> None:
    lines = render("if True:\n    table = table.drop(columns={{ v.x }})", x=names).split("\n")
    if len(lines) > 2:
        # A single long name cannot be broken.
        assert all(len(line) <= WIDTH or len(ast.literal_eval(f"[{line.strip()}]")) == 1 for line in lines[2:-1])
        assert lines[1] == "    table = table.drop(columns=["
        assert lines[-1] == "    ])"
        assert all(line.startswith("        ") and line.endswith(",") for line in lines[2:-1])


def test_literals_look_like_formatted_code() -> None:
    assert render("x = {{ v.x }}", x=["a", 'b"c', "d'e", 1, 2.5, True, None]) == (
        'x = ["a", \'b"c\', "d\'e", 1, 2.5, True, None]'
    )
    assert render("x = {{ (1,) }}, {{ (1, 2) }}, {{ v.x }}", x={"a": {"b": []}}) == 'x = (1,), (1, 2), {"a": {"b": []}}'
    assert render("x = {{ v.x | wrapped }}", x=["a", "b"]) == 'x = [\n    "a",\n    "b",\n]'
    pairs = {f"a long name of a column {number}": number for number in range(5)}
    assert render("x = {{ v.x }}", x=pairs).split("\n")[1] == '    "a long name of a column 0": 0,'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_without_a_literal_are_made(value: float) -> None:
    made = eval(render("{{ v.x }}", x=value))
    assert made == value or (math.isnan(made) and math.isnan(value))


def test_a_negative_number_keeps_its_meaning() -> None:
    assert eval(render("{{ v.x }} ** 2", x=-3)) == 9
    assert eval(render("{{ v.x }}.real - {{ v.x }}", x=-3)) == 0


def test_an_identifier_stands_bare_and_nothing_else_does() -> None:
    assert render("{{ v.x | name }} = df_{{ v.x | name }}", x="table") == "table = df_table"
    for wrong in ("a b", "class", "1a", "a;b", "", 5, ["a"]):
        with pytest.raises(MessageInvalid, match=r"line 1.*is not a name"):
            render("{{ v.x | name }} = 1", x=wrong)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = f{{ v.x }}", "joined to a name"),
        ("x{{ v.x }} = 1", "joined to a name"),
        ("x = {{ v.x }}e5", "joined to a name"),
        ("x = 5\\{{ v.x }}", "joined to a name"),
        ("x = r'{{ v.x }}'", "raw string"),
        ("x = Rb'{{ v.x }}'", "raw string"),
        ("x = '\\{{ v.x }}'", "behind a backslash"),
        ("x = f'{ {{ v.x }} }'", "braces of an f-string"),
        ("x = f'''{{ '{{' }}{y:{{ v.x }} }'''", "braces of an f-string"),
    ],
)
def test_a_value_that_would_join_what_stands_beside_it_is_refused(source: str, reason: str) -> None:
    with pytest.raises(MessageInvalid, match=reason):
        render(source, x="abc")


def test_blank_lines_are_tidied() -> None:
    source = "\n\na = 1\n#% if false\nb = 2\n#% endif\n\n\n\n\n    \nc = 3\n\n\n"
    assert render(source) == "a = 1\n\n\nc = 3"


def test_statements_may_stand_on_lines_of_their_own() -> None:
    source = "def f():\n    #% for n in v.x\n    a = {{ n }}\n    #% endfor\n    return a  # {# gone #}done"
    assert render(source, x=[1, 2]) == "def f():\n    a = 1\n    a = 2\n    return a  # done"


def test_what_has_no_literal_is_refused_with_its_file() -> None:
    with pytest.raises(MessageInvalid, match=r"cells/test\.py.*a LoopContext cannot be written"):
        render("#% for x in v.x\n{{ loop }}\n#% endfor", x=[1])
    deep: list[Any] = []
    for _ in range(50):
        deep = [deep]
    with pytest.raises(MessageInvalid, match="more than 20 levels"):
        render("{{ v.x }}", x=deep)
