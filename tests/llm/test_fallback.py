"""What the base planner writes in the model's place, and how the reader is told."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.llm.fallback import fallback_actions
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import ActionData, StreamWarning
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import Language

pytestmark = pytest.mark.anyio

CHAPTER = {"action": "new_chapter", "content": "Model"}
CELL = {"action": "add", "shot_type": "action", "content": "n = 3"}
REQUEST = Request.parse({"observation": {"location": {"current": {}, "progress": {}}}})
BASE = CallablePlanner(plan=lambda _: PlanningResponse(), generate=lambda _: [CHAPTER, CELL, CELL], name="the rules")


async def written(reason: str, *, language: Language = "en", begun: bool = False) -> tuple[list[Any], list[str]]:
    """The actions and the warnings. Any: JSON."""
    source = fallback_actions(BASE, REQUEST, reason=reason, language=language, begun=begun)
    items = [item async for item in source]
    warnings = [item.message for item in items if isinstance(item, StreamWarning)]
    return [item.data for item in items if isinstance(item, ActionData)], warnings


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "*The model did not manage this part (it holds no code); it is done by the playbook.*"),
        ("zh", "*模型没能完成这一部分（回答里没有可用的内容），改由规则完成。*"),
    ],
)
async def test_a_note_stands_once_behind_the_heading(language: Language, words: str) -> None:
    actions, warnings = await written("it holds no code", language=language)
    assert [one["content"] for one in actions] == ["Model", words, "n = 3", "n = 3"]
    assert warnings == ["the model gave way to the rules: it holds no code"]


async def test_a_chapter_that_was_begun_is_not_begun_again() -> None:
    actions, _ = await written("too many attempts", begun=True)
    assert CHAPTER not in actions


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("it said: *secret*", "it said"),
        ("two\n  lines", "two lines"),
        ("a *bold* reason", "a bold reason"),
        ("", "no answer"),
    ],
)
async def test_what_a_reason_quotes_stays_in_the_journal(reason: str, told: str) -> None:
    actions, _ = await written(reason)
    assert f"({told});" in actions[1]["content"]


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("the budget of 500 tokens is used up (512 spent)", "预算已用完"),
        ("it declined to answer: a content filter stopped it (HTTP 400: x)", "模型拒绝回答"),
        ("the account has nothing left: x", "账户额度不足"),
        ("it could not be reached", "没有得到模型的回答"),
        ("HTTP 503: busy", "没有得到模型的回答"),
        ("", "没有得到模型的回答"),
        ("the answer was cut at its limit of tokens", "回答太长"),
        ("it holds no action", "回答里没有可用的内容"),
        ("the code is no Python: invalid syntax", "代码有语法错误"),
        ("no progress: the same code 3 times in a row", "多次尝试没有进展"),
        ("the number 7 in a text was not told: use only numbers that are given", "文字与已知事实不符"),
        ("a text is not in the language of the notebook", "文字不是笔记本的语言"),
        ("No figure was shown: draw it, and end with plt.show().", "没有画出要求的图"),
        ("a cell calls a shell or an installer, which is not allowed", "回答不符合要求"),
    ],
)
async def test_a_chinese_note_tells_the_kind_of_reason_in_chinese(reason: str, told: str) -> None:
    actions, warnings = await written(reason, language="zh")
    assert f"（{told}）" in actions[1]["content"]
    assert warnings == [f"the model gave way to the rules: {reason}"]
