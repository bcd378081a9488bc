"""A template is data: nothing it says can run Python or reach an object's insides."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.templates.environment import Kind, Templates

TEMPLATES = Templates()
FACTS: dict[str, Any] = {
    "v": {"x": "text", "n": 3, "items": ["a", "b"], "map": {"a": 1}, "many": list(range(1000)), "nothing": None},
    "inputs": {},
    "lang": "en",
}


def render(source: str, kind: Kind = Kind.CELL) -> str:
    return TEMPLATES.read(source, kind=kind, at="cells/bad.py").render(FACTS)


REFUSED = {
    "a call": ("{{ v.x() }}", "nothing can be called"),
    "a method": ("{{ v.x.upper() }}", "nothing can be called"),
    "a format string": ("{{ '{0.__class__}'.format(v) }}", "nothing can be called"),
    "range": ("{% for i in range(10) %}{% endfor %}", "nothing can be called"),
    "lipsum": ("{{ lipsum() }}", "nothing can be called"),
    "a namespace": ("{% set ns = namespace(a=1) %}", "nothing can be called"),
    "assigning into a namespace": ("{% set v.x = 1 %}", "namespaces|not allowed"),
    "cycler": ("{{ cycler }}", "nothing is called 'cycler'"),
    "self": ("{{ self }}", "nothing is called 'self'"),
    "a name with an underscore": ("{% set _x = 1 %}", "do not begin with '_'"),
    "overwriting what is known": ("{% set v = 1 %}", "choose another name"),
    "import": ("{% import 'x' as y %}", "not allowed"),
    "from import": ("{% from 'x' import y %}", "not allowed"),
    "include": ("{% include 'x' %}", "not allowed"),
    "extends": ("{% extends 'x' %}", "not allowed"),
    "block": ("{% block x %}{% endblock %}", "not allowed"),
    "macro": ("{% macro x() %}{% endmacro %}", "not allowed"),
    "call block": ("{% call v.x() %}{% endcall %}", "not allowed"),
    "filter block": ("{% filter upper %}{% endfilter %}", "not allowed"),
    "set block": ("{% set x %}a{% endset %}", "not allowed"),
    "with": ("{% with a = 1 %}{% endwith %}", "not allowed"),
    "autoescape": ("{% autoescape true %}{% endautoescape %}", "not allowed"),
    "do": ("{% do v.items.append(1) %}", "unknown tag"),
    "a recursive loop": ("{% for a in v.items recursive %}{{ loop(a) }}{% endfor %}", "recursive|called"),
    "power": ("{{ 9 ** 9 }}", r"'\*\*' is not allowed"),
    "remainder": ("{{ '%999999999s' % 'x' }}", "'%' is not allowed"),
    "a text many times": ("{{ 'a' * 999999999 }}", "needs two numbers"),
    "a list many times": ("{{ [0] * 999999999 }}", "needs two numbers"),
    "an unknown filter": ("{{ v.items | map }}", "no filter 'map'; did you mean 'max'"),
    "attr": ("{{ v | attr('x') }}", "no filter 'attr'"),
    "an inner filter": ("{{ v.items | pprint }}", "no filter"),
    "an unknown test": ("{{ v.x is callable }}", "no test 'callable'"),
    "options by the dozen": ("{{ v.items | join(*v.items) }}", "one by one"),
    "too many loops": (
        "{% for a in v.items %}{% for b in v.items %}{% for c in v.items %}{% for d in v.items %}{% endfor %}"
        "{% endfor %}{% endfor %}{% endfor %}",
        "more than 3 loops",
    ),
    "a long output": ("{% for a in v.many %}{% for b in v.many %}aaa{% endfor %}{% endfor %}", "longer than"),
    "a sum that doubles": ("{% set a = 'aaaa' %}" + "{% set a = a + a %}" * 60, "more than 100000"),
    "a list that doubles": ("{% set a = [1, 2] %}" + "{% set a = a + a %}" * 60, "more than 100000"),
    "a number that grows": ("{% set a = 99 %}" + "{% set a = a * a %}" * 60, "too large"),
    "many decimals": ("{{ 1 | num(999999) }}", "decimals"),
    "deep brackets": ("{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}", "deep|recursion"),
    "deep lists": ("{{ " + "[" * 3000 + "]" * 3000 + " }}", "deep|recursion"),
    "a long sum": ("{{ 1" + " + 1" * 20_000 + " }}", "deep|recursion"),
    "a huge file": ("a" * 100_001, "more than 100000 characters"),
    "the character of holes": ("a\x000\x00", "NUL"),
    "division by nothing": ("{{ 1 / 0 }}", "division by zero"),
    "a loop through a text": ("{% for a in v.x %}{% endfor %}", "a list or a mapping"),
    "what does not exist": ("{{ v.nope }}", "no 'nope' here"),
    "a part of what does not exist": ("{{ v.nope.more }}", "no 'nope' here"),
    "a rule about what does not exist": ("{% if v.nope > 1 %}{% endif %}", "no 'nope' here"),
}
INSIDES = [
    *(f"v.{name}" for name in ("__class__", "__init__", "keys", "items.append", "x.upper", "x.__class__", "x.format")),
    *(
        "v['__class__']",
        "v.n.real",
        "v.n['__add__']",
        "v.items['sort']",
        "lang.__class__.__mro__",
        "v.nothing.__class__",
    ),
]


@pytest.mark.parametrize(("source", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_in_the_language_is_refused_with_its_line(source: str, reason: str) -> None:
    with pytest.raises(MessageInvalid, match=reason) as caught:
        render(source)
    assert caught.value.what == "cells/bad.py"


@pytest.mark.parametrize("inside", INSIDES)
def test_no_attribute_of_a_python_object_can_be_reached(inside: str) -> None:
    if inside == "v.items.append":
        assert render("{{ v.items }}") == '["a", "b"]'
    with pytest.raises(MessageInvalid, match="here"):
        render(f"{{{{ {inside} }}}}" if inside != "v.keys" else "{{ v.keys }}")
    rule = TEMPLATES.read(inside, kind=Kind.RULE, at="rule")
    assert rule.value(FACTS) is None


def test_a_loop_tells_where_it_is_and_nothing_more() -> None:
    source = "{% for a in v.items %}{{ loop.index }}{{ ' ' if loop.first else '' }}{{ loop.last }} {% endfor %}"
    assert render(source, Kind.PROSE) == "1 False 2True"
    with pytest.raises(MessageInvalid, match="here"):
        render("{% for a in v.items %}{{ loop.undefined }}{% endfor %}")


def test_an_error_names_the_line_it_happened_on() -> None:
    with pytest.raises(MessageInvalid, match=r"cells/bad\.py, line 3: there is no 'nope' here"):
        render("a\nb\n{{ v.nope }}\nc")
    with pytest.raises(MessageInvalid, match="line 12"):
        TEMPLATES.read("a\nb\n{{ }}", kind=Kind.PROSE, at="stages/x.yaml", line=10)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("v.nope", None),
        ("v.nope.more[3].less", None),
        ("v.nope > 3 or v.nope < 3 or v.nope == 3 or 3 >= v.nope", False),
        ("v.nope + 1 > 0", False),
        ("-v.nope > 0", False),
        ("v.nope | length", 0),
        ("v.nope | default(7)", 7),
        ("v.nope | max > 3", False),
        ("'a' in v.nope", False),
        ("not v.nope", True),
        ("v.nope is defined", False),
        ("v.nothing is defined and v.nothing is none", True),
        ("v.n > 2 and 'a' in v.items and 'c' not in v.items", True),
        ("v.items[0] ~ v.items[-1]", "ab"),
        ("v.items[:1] + ['c']", ["a", "c"]),
        ("v.map['a'] + v.map.a", 2),
        ("v.n // 2 + v.n / 2 - 1 * 2", 0.5),
        ("1 if v.x == 'text' else 2", 1),
        ("'x' in v", True),
        ("v.items | sort(reverse=true) | first", "b"),
        ("{'a': 1} | items", [("a", 1)]),
        ("v.many | select_in([3, 5, 5000]) | sum", 8),
        ("['a', 'b', 'a'] | unique | reject_in(['b'])", ["a"]),
        ("[[1, 'b'], [2, 'a']] | sort(by=1) | first | first", 2),
        ("v.n is number and v.x is string and v.items is sequence and v.map is mapping and v.n is odd", True),
        ("-2.6 | abs | round | num", "3"),
    ],
)
def test_rules_know_what_exists_and_take_the_rest_as_empty(rule: str, value: object) -> None:
    assert TEMPLATES.read(rule, kind=Kind.RULE, at="rule").value(FACTS) == value


def test_a_rule_that_compares_what_cannot_be_compared_is_an_error() -> None:
    with pytest.raises(MessageInvalid, match="line 4"):
        TEMPLATES.read("v.x > 3", kind=Kind.RULE, at="rule", line=4).holds(FACTS)


def test_a_text_tells_which_variables_it_reads() -> None:
    reads = TEMPLATES.read("{{ v.a }}\n{{ v['b'].c }}{% if 'd' in v %}{% endif %}", kind=Kind.PROSE, at="x").reads
    assert (reads.variables, reads.whole) == ((("a", 1), ("b", 2), ("d", 2)), False)
    for source in ("{{ v }}", "{% for n in v.a %}{{ v[n] }}{% endfor %}", "{{ v | length }}"):
        assert TEMPLATES.read(source, kind=Kind.PROSE, at="x").reads.whole


def test_a_rule_uses_a_condition_by_its_name() -> None:
    many = TEMPLATES.read("v.rows > 2", kind=Kind.RULE, at="rule")
    rule = TEMPLATES.read("many or v.x", kind=Kind.RULE, at="rule", conditions={"many": many, "other": many})
    assert [rule.holds({"v": {"rows": rows}}) for rows in (2, 3)] == [False, True]
    assert (sorted(rule.reads.names), list(rule.conditions)) == (["rows", "x"], ["many"])
    # What does not exist is neither more nor less than anything, here as well.
    assert not rule.holds({"v": {}})
