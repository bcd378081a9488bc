"""The base planner's content in the place of the model's, with a line for the reader that says so."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import Final

from notebook_bcc.llm.frame import is_heading
from notebook_bcc.llm.prompt.evidence import ACTION_PREFIX
from notebook_bcc.planners.interface import ActionData, Generated, Planner, StreamWarning
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.vocabulary import Language

_NOTES: Final = {
    "en": "*The model did not manage this part ({reason}); it is done by the playbook.*",
    "zh": "*模型没能完成这一部分（{reason}），改由规则完成。*",
}
# Reasons are written in English, for the journal; a Chinese reader is told their kind. The first that is found counts.
_CHINESE_REASONS: Final = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        (r"budget of .{0,200} is used up", "预算已用完"),
        (r"content filter|declined to answer", "模型拒绝回答"),
        (r"account has nothing left", "账户额度不足"),
        (r"could not be reached|gave no answer|no whole answer|broke off|^HTTP|^$", "没有得到模型的回答"),
        (r"limit of tokens|is too long", "回答太长"),
        (r"holds no (code|action)|is empty", "回答里没有可用的内容"),
        (r"is no Python", "代码有语法错误"),
        (r"no progress|too many attempts|code is that of an earlier", "多次尝试没有进展"),
        (r"only numbers that are given|tell all the facts|only names that are given", "文字与已知事实不符"),
        (r"language of the notebook", "文字不是笔记本的语言"),
        (r"figure", "没有画出要求的图"),
    )
)
_OTHER_CHINESE_REASON: Final = "回答不符合要求"


async def fallback_actions(
    base: Planner, request: Request, *, reason: str, language: Language, begun: bool
) -> AsyncGenerator[Generated, None]:
    """What the base planner writes. With `begun` an earlier attempt has begun the chapter: headings are left out."""
    why = _in_chinese(reason) if language == "zh" else _for_readers(reason)
    note = _NOTES[language].format(reason=why)
    said = False
    yield StreamWarning(f"the model gave way to {base.name}: {reason}")
    async for item in base.generate(request):
        heading = is_heading(item)
        if heading and begun:
            continue
        if not heading and not said:
            said = True
            yield ActionData({"action": "add", "shot_type": "dialogue", "content": note})
        yield item


def _for_readers(reason: str) -> str:
    """A reason that can stand in a line of Markdown; what it quotes stays in the journal."""
    line = ACTION_PREFIX.sub("", " ".join(reason.split()))
    return line.split(":")[0][:120].replace("*", "") or "no answer"


def _in_chinese(reason: str) -> str:
    found = (said for pattern, said in _CHINESE_REASONS if pattern.search(reason))
    return next(found, _OTHER_CHINESE_REASON)
