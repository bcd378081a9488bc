"""The guide's content in the place of the model's, with a line for the reader that says so."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Final

from notebook_bcc.planners.interface import ActionData, Generated, Planner, StreamWarning
from notebook_bcc.planners.llm.evidence import ACTION_PREFIX
from notebook_bcc.planners.llm.frame import is_heading
from notebook_bcc.planners.llm.prompt_files import Language
from notebook_bcc.protocol.messages import Request

_NOTES: Final = {
    "en": "*The model did not manage this part ({reason}); it is done by the playbook.*",
    "zh": "*模型没能完成这一部分（{reason}），改由规则完成。*",
}


async def standing_in(
    guide: Planner, request: Request, *, reason: str, language: Language, begun: bool
) -> AsyncGenerator[Generated, None]:
    """What the guide writes. With `begun` an attempt before this one has begun the chapter: headings are left out."""
    note = _NOTES[language].format(reason=_for_readers(reason))
    said = False
    yield StreamWarning(f"the model gave way to {guide.name}: {reason}")
    async for item in guide.generate(request):
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
