"""Asks a model what it thinks of a behavior. What it says changes nothing that the evidence decides."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

from notebook_bcc.errors import PlannerFailed
from notebook_bcc.llm import answers
from notebook_bcc.llm.answers import Judgement
from notebook_bcc.llm.client import Asker
from notebook_bcc.llm.guard.guardrails import DividesWork, is_open
from notebook_bcc.llm.limits import Share
from notebook_bcc.llm.prompt.evidence import images_of, language_of, parts_of
from notebook_bcc.llm.prompt.files import PromptFiles
from notebook_bcc.llm.prompt.parts import build_prompt
from notebook_bcc.llm.proposals import refused_before
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import Language


@dataclass(frozen=True, slots=True)
class Judge:
    """A model that judges, and what it may be told."""

    asker: Asker
    base: Planner
    prompts: PromptFiles
    share: Share
    language: Language
    prompt_tokens: int
    answer_tokens: int
    images: bool

    async def opinion(self, request: Request, problems: Sequence[str], *, proposes: bool) -> Judgement | None:
        """What the model thinks; None: it cannot be asked, or said nothing usable. With `proposes` it may say which
        variables the next part shall see."""
        steps = self.base.open_steps(request) if isinstance(self.base, DividesWork) else {}
        language = language_of(request, self.language)
        parts = parts_of(
            request,
            share=self.share,
            tokens=self.prompt_tokens,
            problems=(*problems, *refused_before(request)),
            language=language,
            steps=steps,
        )
        images = images_of(request, share=self.share) if self.images else ()
        messages = build_prompt(self.prompts.of("judge", language), parts, images=images)
        # A judge that cannot be asked changes nothing: the evidence decides anyway.
        with contextlib.suppress(PlannerFailed):
            text = await self.asker.ask(
                "judge",
                messages,
                schema=answers.judge_schema(steps=list(steps), variables=proposes),
                max_tokens=self.answer_tokens,
                request_id=request.options.request_id,
            )
            return answers.judgement_of(text)
        return None


def follows_open(base: Planner, request: Request, answer: PlanningResponse) -> bool:
    """Whether a base planner's answer goes on to a behavior of the same step that a model writes."""
    following = answer.behavior.id if answer.behavior is not None else None
    if not answer.transition.continue_behaviors or following is None:
        return False
    location = request.observation.location
    current = location.current.model_copy(update={"behavior_id": following})
    observation = request.observation.model_copy(update={"location": location.model_copy(update={"current": current})})
    return is_open(base, request.model_copy(update={"observation": observation, "behavior_feedback": None}))
