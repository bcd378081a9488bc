"""An action with `each` is written once for every item of a list, with the bars of that item."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.actions import write_out
from notebook_bcc.playbook.book import Action, Text
from notebook_bcc.playbook.templates.environment import Kind, Templates

# Any, throughout: facts and actions are JSON.


def rule(text: str) -> Any:
    return Templates().read(text, kind=Kind.RULE, at="stage.yaml")


def action(*, bars: str | None = None, each: str = "v.found") -> Action:
    text = Text({"en": Templates().read("{{ item.name }} leads", kind=Kind.PROSE, at="text.md")})
    drawn = rule(bars) if bars is not None else None
    return Action("observe", "stage.yaml", 1, text, options={"abstract": "learnt"}, each=rule(each), bars=drawn)


def written(one: Action, found: Any) -> Any:
    return write_out(one, {"v": {"found": found}, "lang": "en"}, steps={}, stage_id="s")


def test_each_item_has_a_cell_of_its_own_with_its_bars() -> None:
    found = [{"name": "a", "bars": [["x", 1.0, "7"]]}, {"name": "b", "bars": [["y", 0.5, "3"]]}]
    first, second = written(action(bars="item.bars"), found)
    assert (first["content"], second["content"]) == ("a leads", "b leads")
    assert first["shot_type"] == "observation"
    noted = [{"text": "bars", "variable": "v.found[0].bars"}]
    assert first["metadata"]["extra"] == {"abstract": "learnt", "bars": [["x", 1.0, "7"]], "numbers": noted}


@pytest.mark.parametrize("found", [[], None, "a text is no list"])
def test_nothing_is_written_where_there_are_no_items(found: Any) -> None:
    assert list(written(action(), found)) == []


@pytest.mark.parametrize("bars", [[["x", 2, "7"]], [["x", 1.0]], "x"])
def test_bars_that_cannot_be_drawn_are_an_error(bars: Any) -> None:
    with pytest.raises(MessageInvalid, match="length from 0 to 1"):
        written(action(bars="item.bars"), [{"name": "a", "bars": bars}])


def test_a_loop_of_a_template_may_call_its_value_item() -> None:
    template = Templates().read("{% for item in v.found %}{{ item }}{% endfor %}", kind=Kind.PROSE, at="text.md")
    assert "item" not in template.reads.facts
    assert template.render({"v": {"found": [1, 2]}, "lang": "en"}) == "12"
