"""A planner with a language model: the model writes, a base planner (the playbook) keeps it honest.

The base planner gives the plan, what each behavior promises, the rules that verify it, and what is done when the
model is not up to it. The model writes the content of behaviors, repairs cells, and says what it thinks of the
result; whether a behavior reached its goal is decided by what exists in the kernel and by the base planner's rules,
never by the model's word.

It keeps nothing that the run needs beside what was spent: the attempt that a request is about, and what was wrong with
the last one, travel in the run's own variables.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerFailed
from notebook_bcc.llm import answers
from notebook_bcc.llm.author import Author
from notebook_bcc.llm.client import Asker
from notebook_bcc.llm.fallback import fallback_actions
from notebook_bcc.llm.frame import Frame, frame_of
from notebook_bcc.llm.guard.guard import objection
from notebook_bcc.llm.guard.guardrails import DividesWork, guardrails_of, is_open
from notebook_bcc.llm.judge import Judge, follows_open
from notebook_bcc.llm.limits import Fallback, LlmLimits, Share
from notebook_bcc.llm.memory import PlannerMemory
from notebook_bcc.llm.progress import Round, stuck
from notebook_bcc.llm.prompt.evidence import Attempt, attempt_of, language_of, parts_of
from notebook_bcc.llm.prompt.files import PromptFiles
from notebook_bcc.llm.prompt.parts import build_prompt
from notebook_bcc.llm.proposals import with_columns, with_proposals
from notebook_bcc.llm.verdicts import (
    behavior_of,
    damaged,
    given_up,
    once_more,
    problems_of,
    shows_figure,
    with_focus,
)
from notebook_bcc.planners.interface import Generated, Planner
from notebook_bcc.planners.model_exchange import ModelExchange
from notebook_bcc.planners.planning_question import PlanningQuestion, question_of
from notebook_bcc.protocol.limits import Budget, Spent, limit_reached
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import Language

_UNREACHED: Final = "it could not be reached"


class LlmPlanner:
    """Judges and writes with models, between the guardrails of a base planner."""

    def __init__(
        self,
        *,
        base: Planner,
        generating: Asker,
        planning: Asker | None,
        prompts: PromptFiles,
        share: Share = "schema",
        fallback: Fallback = "playbook",
        limits: LlmLimits | None = None,
        language: Language = "en",
        suggest: bool = True,
        images: bool = False,
    ) -> None:
        """Without `planning` the base planner judges alone. `suggest` shows the model what that one would write. With
        `images` figures go along as pictures, where all values may be told."""
        self._base = base
        self._generating = generating
        self._prompts = prompts
        self._share: Share = share
        self._fallback = fallback
        self._limits = limits or LlmLimits()
        self._language: Language = language
        self._judge: Judge | None = None
        if planning is not None:
            self._judge = Judge(
                asker=planning,
                base=base,
                prompts=prompts,
                share=share,
                language=language,
                prompt_tokens=self._limits.prompt_tokens,
                answer_tokens=self._limits.judge_tokens,
                images=images,
            )
        self._memory = PlannerMemory()
        self._author = Author(
            asker=generating,
            base=base,
            prompts=prompts,
            share=share,
            limits=self._limits,
            language=language,
            suggest=suggest,
            images=images,
            memory=self._memory,
        )

    @property
    def name(self) -> str:
        return self._author.name

    def allow(self, budget: Budget, spent: Spent) -> None:
        """What the run may spend in all and what it had spent. Both models share it."""
        self._generating.account.allow(budget, spent)

    def taken_exchanges(self) -> Sequence[ModelExchange]:
        """What was said since this was last asked."""
        return self._generating.account.taken()

    async def plan(self, request: Request) -> PlanningResponse:
        """The base planner's judgement; after a behavior also the model's, which cannot overrule what is missing."""
        key = request.options.request_id
        if (known := self._memory.answered.get(key)) is not None:
            return known
        answer = with_columns(request, await self._base.plan(request))
        ended = question_of(request) is PlanningQuestion.FEEDBACK and answer.metadata.question is None
        if ended and is_open(self._base, request):
            answer = await self._after_behavior(request, answer)
        if key is not None:
            self._memory.answered.put(key, answer)
        return answer

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """The model's actions, each when its object is closed. The fallback answer is the base planner's.

        An answer that cannot be used is asked for once more, then the base planner writes. A stream that breaks after
        its first action ends there, with a warning: what is missing is seen in the kernel, and tried again.
        Raises PlannerBudgetSpent when nothing is left to ask with.
        """
        key = request.options.request_id
        if (known := self._memory.generated.get(key)) is not None:
            for item in known:
                yield item
            return
        items: list[Generated] = []
        async with contextlib.aclosing(self._generate(request, fallback=fallback)) as source:
            async for item in source:
                items.append(item)
                yield item
        if key is not None:
            self._memory.generated.put(key, tuple(items))

    async def _generate(self, request: Request, *, fallback: bool) -> AsyncGenerator[Generated, None]:
        if not is_open(self._base, request):
            async for item in self._base.generate(request):
                yield item
            return
        attempt = attempt_of(request)
        if fallback and (known := self._memory.given_up.get(request.options.request_id or "")):
            # The answers were no answers: asking for the fallback one costs as much and brings the same.
            raise PlannerAnswerInvalid(planner=self.name, reason=known)
        reason = self._gives_way(request, attempt, fallback=fallback)
        if reason and self._fallback == "stop":
            self._give_up(request, reason)
            raise PlannerAnswerInvalid(planner=self.name, reason=reason)
        if reason:
            async for item in self._by_base(request, reason, attempt):
                yield item
            return
        frame = await self._frame(request)
        if frame.is_all:
            for item in (*frame.before, *frame.after):
                yield item
            return
        if self._author.is_in_vain(request, frame):
            async for item in self._base.generate(request):
                yield item
            return
        try:
            async with contextlib.aclosing(self._author.write(request, frame, attempt)) as written:
                async for item in written:
                    yield item
            return
        except PlannerAnswerInvalid as error:
            if self._fallback == "stop":
                self._give_up(request, error.reason)
                raise
            reason = error.reason
        async for item in self._by_base(request, reason, attempt):
            yield item

    async def repair(self, request: Request) -> str | None:
        """The model's source for a failed cell; None when it repeats itself, or has nothing."""
        wanted = request.options.repair
        if wanted is None or wanted.attempt > self._limits.repairs or not is_open(self._base, request):
            return None
        key = f"{wanted.cell_id} repair"
        tried = Round(code=wanted.source, error=f"{wanted.error_name}: {wanted.error}")
        rounds = self._memory.note(key, tried)
        if stuck(rounds, patience=self._limits.patience) is not None:
            return None
        parts = parts_of(request, share=self._share, tokens=self._limits.prompt_tokens, repair=wanted)
        messages = build_prompt(self._prompts.of("repair", language_of(request, self._language)), parts)
        try:
            text = await self._generating.ask(
                "repair",
                messages,
                schema=answers.REPAIR,
                max_tokens=self._limits.answer_tokens,
                request_id=request.options.request_id,
            )
        except PlannerFailed:
            return await self._base.repair(request)
        code = answers.code_of(text)
        if code is None or code.strip() == wanted.source.strip():
            return None
        earlier = [wanted.source, *(one.code for one in self._memory.rounds(behavior_of(request)))]
        guardrails = guardrails_of(self._base, request, await self._frame(request), earlier=earlier)
        return None if objection(code, guardrails) else code

    async def close(self) -> None:
        await self._base.close()
        await self._generating.model.close()
        if self._judge is not None:
            await self._judge.asker.model.close()

    async def _after_behavior(self, request: Request, answer: PlanningResponse) -> PlanningResponse:
        """Evidence first: the base planner has looked at errors, missing outputs and its rules."""
        attempt = attempt_of(request)
        if name := damaged(self._memory.found.pop(behavior_of(request)) or {}, request):
            # The cells were read before they ran, and one got through all the same.
            return given_up(name)
        by_model = attempt.number <= self._limits.tries
        problems = problems_of(request, answer)
        if not problems and by_model:
            problems = await self._shortcomings(request)
        proposes = not problems and follows_open(self._base, request, answer)
        opinion = None
        if self._judge is not None and self._memory.unreached < self._limits.patience:
            opinion = await self._judge.opinion(request, problems, proposes=proposes)
        if not problems or not by_model:
            if opinion is not None and isinstance(self._base, DividesWork):
                answer = with_proposals(request, answer, opinion, self._base, next_is_open=proposes)
            return with_focus(answer, opinion, disagrees=opinion is not None and not opinion.achieved)
        if opinion is not None and opinion.achieved:
            problems = (*problems, "The goal was said to be reached; it is not.")
        return once_more(request, Attempt(number=attempt.number + 1, problems=problems), opinion)

    async def _shortcomings(self, request: Request) -> tuple[str, ...]:
        """What is wrong with the model's work that no promise and no rule of the base planner covers."""
        rounds = self._memory.rounds(behavior_of(request))
        if rounds and rounds[-1].error:
            return (rounds[-1].error,)
        if self._memory.repeats(request):
            return ("The code is that of an earlier behavior, which was asked for something else.",)
        if (await self._frame(request)).draws and not shows_figure(request):
            return ("No figure was shown: draw it, and end with plt.show().",)
        return ()

    def _gives_way(self, request: Request, attempt: Attempt, *, fallback: bool) -> str:
        """Why the base planner writes this time; empty: the model does."""
        if fallback and self._fallback == "playbook":
            self._memory.unreached += 1
            account = self._generating.account
            return str(limit_reached(account.spent, account.budget) or _UNREACHED)
        if self._memory.unreached >= self._limits.patience:
            # Waiting for every retry of every behavior would take longer than the work.
            return _UNREACHED
        rounds = self._memory.rounds(behavior_of(request))
        # Where the base planner may not write, a person who resumes the run wants the model to try again.
        if attempt.number > self._limits.tries and (rounds or self._fallback == "playbook"):
            return attempt.problems[-1] if attempt.problems else "too many attempts"
        failed = [Round(code=one.code, error=one.error or "; ".join(attempt.problems)) for one in rounds]
        found = stuck(failed, patience=self._limits.patience)
        return str(found) if found is not None else ""

    async def _frame(self, request: Request) -> Frame:
        """What the base planner would write. Nothing when it cannot: then the model has to do without."""
        with contextlib.suppress(PlannerFailed):
            return frame_of([item async for item in self._base.generate(request)])
        return Frame()

    def _by_base(self, request: Request, reason: str, attempt: Attempt) -> AsyncGenerator[Generated, None]:
        language = language_of(request, self._language)
        return fallback_actions(self._base, request, reason=reason, language=language, begun=attempt.number > 1)

    def _give_up(self, request: Request, reason: str) -> None:
        self._memory.given_up.put(request.options.request_id or "", reason)
