"""Every number that a text writes is noted with the variable it came from, and so is every comparative."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.playbook.actions import write_out
from notebook_bcc.playbook.book import Action, Text
from notebook_bcc.playbook.facts import traced_facts
from notebook_bcc.playbook.templates.environment import Kind, Templates

# Any, throughout: facts and actions are JSON.


def noted(source: str, *, kind: Kind = Kind.PROSE, lang: str = "en", **variables: Any) -> list[tuple[str, str]]:
    """The words that are noted and what they came from; each stands where its note says."""
    facts = traced_facts({"v": variables, "lang": lang, "inputs": {"goal": "top 3"}, "asked": {}})
    written = Templates().read(source, kind=kind, at="text.md").written(facts)
    assert all(written.text[start:end] == text for text, _, start, end in written.notes)
    return [(text, variable) for text, variable, _, _ in written.notes]


@pytest.mark.parametrize(
    ("source", "text", "variable"),
    [
        ("{{ v.score.value | num }}", "0.5", "v.score.value"),
        ('{{ v.quantiles["0.05"] }}', "7", 'v.quantiles["0.05"]'),
        ("{{ v.pairs[1][0] | pct }}", "25.0 %", "v.pairs[1][0]"),
        ("{{ (v.high - v.low) | num }}", "2", "v.high - v.low"),
        ("{{ 100 * v.pairs[1][0] }}", "25", "100 * v.pairs[1][0]"),
        ("{{ (v.high - v.low) / v.low }}", "0.666667", "(v.high - v.low) / v.low"),
        ("{{ v.pairs | length }}", "2", "v.pairs | length"),
        ("{{ v.quantiles | values | max }}", "7", 'v.quantiles["0.05"]'),
        ("{% set wide = v.high - v.low %}it is {{ wide }}", "2", "v.high - v.low"),
        ("{{ v.when | code }}", "`2018-01-01`", "v.when"),
        ("{{ v.names | names(1) }}", "`x 1` and 2 more", "v.names"),
        ("{{ v.names[:2] | join(' + ') }}", "x 1 + y", "v.names[0], v.names[1]"),
        ("{{ ('--keep ' ~ v.names[0]) | code }}", "`--keep x 1`", "v.names[0]"),
        ("{{ inputs.goal }}", "top 3", "inputs.goal"),
    ],
)
def test_a_number_is_noted_with_its_variable(source: str, text: str, variable: str) -> None:
    facts: dict[str, Any] = {
        "score": {"value": 0.5}, "quantiles": {"0.05": 7}, "pairs": [[1], [0.25]], "high": 5, "low": 3,
        "when": "2018-01-01", "names": ["x 1", "y", "z"],
    }  # fmt: skip
    assert noted(source, **facts) == [(text, variable)]


def test_a_loop_names_the_item_that_it_is_at() -> None:
    found = noted(
        "{% for name, n in v.counts | items %}- {{ name }}: {{ n | num }}\n{% endfor %}", counts={"a": 1, "b": 2}
    )
    assert found == [("1", "v.counts.a"), ("2", "v.counts.b")]


def test_a_number_that_the_template_itself_writes_has_no_note() -> None:
    assert noted("95 % of {{ 100 }} rows") == []


def test_a_text_without_digits_is_not_noted() -> None:
    assert noted("{{ v.name | code }} and {{ v.other }}", name="price", other="rooms") == []


@pytest.mark.parametrize(
    ("source", "words", "variable"),
    [
        ("It is more than {{ v.a }}.", "more", "v.a"),
        ("{% if v.a < v.b %}It is larger.{% endif %}", "larger", "v.b, v.a"),
        ("Row 1. {% if v.a %}{{ v.b }} is twice as long.{% endif %} No {{ v.c }}.", "twice", "v.b, v.a"),
        ("{% if v.a %}{{ v.b }} is{% else %}{{ v.c }} was{% endif %} best.", "best", "v.b, v.c"),
        ('It is {{ "smaller" if v.a < v.b else "larger" }}.', "smaller", "v.a, v.b"),
        ("{% for one in v.many %}most is {{ one }}, {% endfor %}", "most", "v.many"),
        ("比{{ v.a }}更高。", "更高", "v.a"),
    ],
)
def test_a_comparative_is_noted_with_the_variables_of_its_sentence_and_its_choice(
    source: str, words: str, variable: str
) -> None:
    assert (words, variable) in noted(source, a=1, b=2, c=3, many=[4])


def test_a_comparative_that_speaks_of_no_variable_is_not_noted() -> None:
    assert noted("Averages are often better. {{ v.a }}", a="x") == []


def test_a_source_of_code_is_written_as_before() -> None:
    facts = traced_facts({"v": {"rows": 3, "name": "x 1", "limits": {"low": 0.5}}, "lang": "en", "inputs": {}})
    template = Templates().read(
        'a = {{ v.rows }}\nb = {{ v.limits }}["low"]\n"{{ v.name }}"', kind=Kind.CELL, at="c.py"
    )
    assert template.render(facts) == 'a = 3\nb = {"low": 0.5}["low"]\n"x 1"'


def test_an_action_carries_the_notes_and_names_the_item_by_its_place() -> None:
    text = Text({"en": Templates().read("**{{ item.mean | num }}** on average", kind=Kind.PROSE, at="text.md")})
    each = Templates().read("v.found", kind=Kind.RULE, at="stage.yaml")
    action = Action("observe", "stage.yaml", 1, text, each=each)
    facts = {"v": {"found": [{"mean": 7.25}, {"mean": 9}]}, "lang": "en"}
    first, second = write_out(action, facts, steps={}, stage_id="s")
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert first["metadata"]["extra"]["numbers"] == [
        {"text": "7.25", "variable": "v.found[0].mean", "start": 2, "end": 6}
    ]
    assert second["metadata"]["extra"]["numbers"][0]["variable"] == "v.found[1].mean"
