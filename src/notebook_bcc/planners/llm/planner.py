"""A planner with a language model: the model writes, a guide (the playbook) keeps it honest and stands behind it.

The guide gives the plan, what each behavior promises, the rules that verify it, and what is done when the model is not
up to it. The model writes the content of behaviors, repairs cells, and says what it thinks of the result; whether a
behavior reached its goal is decided by what exists in the kernel and by the guide's rules, never by the model's word.

It keeps no memory of the run beside what was spent: the attempt that a request is about, and what was wrong with the
last one, travel in the run's own variables.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerBudgetSpent, PlannerFailed, PlannerUnreachable
from notebook_bcc.planners.interface import ActionData, Generated, Planner, StreamWarning
from notebook_bcc.planners.llm import answers
from notebook_bcc.planners.llm.answers import Judgement, Piece
from notebook_bcc.planners.llm.asking import Asker
from notebook_bcc.planners.llm.budget import Budget, Spent
from notebook_bcc.planners.llm.chat import ChatMessage, Usage
from notebook_bcc.planners.llm.evidence import (
    ACTION_PREFIX,
    Attempt,
    attempt_of,
    expected_of,
    is_written_in,
    language_of,
    parts_of,
)
from notebook_bcc.planners.llm.exchange import Exchange, cut
from notebook_bcc.planners.llm.frame import Frame, frame_of, is_heading
from notebook_bcc.planners.llm.progress import Round, code_shape, stuck
from notebook_bcc.planners.llm.prompt import build_prompt
from notebook_bcc.planners.llm.prompt_files import Language, PromptFiles
from notebook_bcc.planners.llm.scanner import Scanner
from notebook_bcc.planners.llm.share import Share
from notebook_bcc.planners.questions import Question, question_of
from notebook_bcc.protocol.messages import (
    BehaviorInfo,
    ContextUpdate,
    PlanningResponse,
    ProgressUpdate,
    Request,
    ResponseMetadata,
    TransitionAdvice,
)
from notebook_bcc.protocol.vocabulary import Level

Fallback = Literal["playbook", "stop"]
_T = TypeVar("_T")

_REMEMBERED: Final = 64
# Of an answer that cannot be used: so much of it is shown to the model again.
_LONGEST_AGAIN: Final = 2_000
_UNREACHED: Final = "it could not be reached"
_NOTES: Final = {
    "en": "*The model did not manage this part ({reason}); it is done by the playbook.*",
    "zh": "*模型没能完成这一部分（{reason}），改由剧本完成。*",
}
_AGAIN: Final = {
    "en": "This answer cannot be used: {reason}. Answer again, with JSON only, in the form that was asked for.",
    "zh": "这个回答不能使用：{reason}。请只用 JSON、按要求的格式重新回答。",
}


@dataclass(frozen=True, slots=True)
class LlmLimits:
    """How far the model is let go. `tries` is how often it may attempt one behavior before the guide does it."""

    tries: int = 2
    repairs: int = 2
    patience: int = 3
    prompt_tokens: int = 4_000
    answer_tokens: int = 1_500
    judge_tokens: int = 200


class LlmPlanner:
    """Judges and writes with models, between the rails of a guide."""

    def __init__(
        self,
        *,
        guide: Planner,
        generating: Asker,
        planning: Asker | None,
        prompts: PromptFiles,
        share: Share = "schema",
        fallback: Fallback = "playbook",
        limits: LlmLimits | None = None,
        language: Language = "en",
        suggest: bool = True,
    ) -> None:
        """Without `planning` the guide judges alone. `suggest` shows the model what the guide would write."""
        self._guide = guide
        self._generating = generating
        self._planning = planning
        self._prompts = prompts
        self._share: Share = share
        self._fallback = fallback
        self._limits = limits or LlmLimits()
        self._language: Language = language
        self._suggest = suggest
        self._answered: OrderedDict[str, PlanningResponse] = OrderedDict()
        self._generated: OrderedDict[str, tuple[Generated, ...]] = OrderedDict()
        self._rounds: OrderedDict[str, tuple[Round, ...]] = OrderedDict()
        self._given_up: OrderedDict[str, str] = OrderedDict()
        self._unreached = 0

    @property
    def name(self) -> str:
        return f"llm {self._generating.model.name}"

    def allow(self, budget: Budget, spent: Spent) -> None:
        """What the run may spend in all and what it had spent. Both models share it."""
        self._generating.account.allow(budget, spent)

    def taken_exchanges(self) -> Sequence[Exchange]:
        """What was said since this was last asked."""
        return self._generating.account.taken()

    async def plan(self, request: Request) -> PlanningResponse:
        """The guide's judgement; after a behavior also the model's, which cannot overrule what is missing."""
        key = request.options.request_id
        if key is not None and key in self._answered:
            return self._answered[key]
        answer = await self._guide.plan(request)
        if question_of(request) is Question.FEEDBACK and answer.metadata.question is None:
            answer = await self._after_behavior(request, answer)
        if key is not None:
            _remember(self._answered, key, answer)
        return answer

    async def generate(self, request: Request, *, spare: bool = False) -> AsyncIterator[Generated]:
        """The model's actions, each when its object is closed. The spare answer is the guide's.

        An answer that cannot be used is asked for once more, then the guide writes. A stream that breaks after its
        first action ends there, with a warning: what is missing is seen in the kernel, and tried again.
        Raises PlannerBudgetSpent when nothing is left to ask with.
        """
        key = request.options.request_id
        if key is not None and key in self._generated:
            for item in self._generated[key]:
                yield item
            return
        items: list[Generated] = []
        async with contextlib.aclosing(self._generate(request, spare=spare)) as source:
            async for item in source:
                items.append(item)
                yield item
        if key is not None:
            _remember(self._generated, key, tuple(items))

    async def _generate(self, request: Request, *, spare: bool) -> AsyncGenerator[Generated, None]:
        attempt = attempt_of(request)
        if spare and (known := self._given_up.get(request.options.request_id or "")):
            # The answers were no answers: asking for the spare one costs as much and brings the same.
            raise PlannerAnswerInvalid(planner=self.name, reason=known)
        reason = self._gives_way(request, attempt, spare=spare)
        if reason and self._fallback == "stop":
            raise self._gave_up(request, reason)
        if reason:
            async for item in self._guided(request, reason, attempt):
                yield item
            return
        frame = await self._frame(request)
        if frame.is_all:
            for item in (*frame.before, *frame.after):
                yield item
            return
        parts = parts_of(
            request,
            share=self._share,
            tokens=self._limits.prompt_tokens,
            problems=attempt.problems,
            # With `none` nothing is suggested: a template is filled in with what the data holds.
            suggestion=frame.contents if self._suggest and self._share != "none" else (),
        )
        language = language_of(request, self._language)
        messages = build_prompt(self._prompts.of("generate", language), parts)
        for _ in range(2):
            writing = _Writing(language)
            waiting = frame.before if attempt.number == 1 else ()
            async for item in self._written(request, messages, writing):
                # Not before the model has something to say: until then the whole answer may be asked for again.
                for heading in waiting:
                    yield heading
                waiting = ()
                yield item
            if writing.pieces:
                for change in frame.after:
                    yield change
                self._unreached = 0
                self._note(request, writing.code)
                return
            if writing.final:
                break
            again = _AGAIN[language].format(reason=writing.reason)
            said = cut(writing.text, longest=_LONGEST_AGAIN, tail=_LONGEST_AGAIN // 4) or "(nothing)"
            messages = [*messages, ChatMessage("assistant", said), ChatMessage("user", again)]
        if self._fallback == "stop":
            raise self._gave_up(request, writing.reason)
        async for item in self._guided(request, writing.reason, attempt):
            yield item

    async def repair(self, request: Request) -> str | None:
        """The model's source for a failed cell; None when it repeats itself, or has nothing."""
        wanted = request.options.repair
        if wanted is None or wanted.attempt > self._limits.repairs:
            return None
        key = f"{wanted.cell_id} repair"
        rounds = (*self._rounds.get(key, ()), Round(code=wanted.source, error=f"{wanted.error_name}: {wanted.error}"))
        _remember(self._rounds, key, rounds)
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
            return await self._guide.repair(request)
        code = answers.code_of(text)
        return None if code is None or code.strip() == wanted.source.strip() else code

    async def close(self) -> None:
        await self._guide.close()
        await self._generating.model.close()
        if self._planning is not None:
            await self._planning.model.close()

    async def _after_behavior(self, request: Request, answer: PlanningResponse) -> PlanningResponse:
        """Evidence first: the guide has looked at errors, missing outputs and its rules."""
        attempt = attempt_of(request)
        problems = _problems(request, answer)
        opinion = await self._opinion(request, problems) if self._planning is not None else None
        by_model = attempt.number <= self._limits.tries
        if not problems and by_model and self._repeats(request):
            problems = ("The code is that of an earlier behavior, which was asked for something else.",)
        if not problems or not by_model:
            return _with_focus(answer, opinion, disagrees=opinion is not None and not opinion.achieved)
        if opinion is not None and opinion.achieved:
            problems = (*problems, "The goal was said to be reached; it is not.")
        return _once_more(request, Attempt(number=attempt.number + 1, problems=problems), opinion)

    async def _opinion(self, request: Request, problems: Sequence[str]) -> Judgement | None:
        assert self._planning is not None
        if self._unreached >= self._limits.patience:
            return None
        parts = parts_of(request, share=self._share, tokens=self._limits.prompt_tokens, problems=problems)
        messages = build_prompt(self._prompts.of("judge", language_of(request, self._language)), parts)
        # A judge that cannot be asked changes nothing: the evidence decides anyway.
        with contextlib.suppress(PlannerFailed):
            text = await self._planning.ask(
                "judge",
                messages,
                schema=answers.JUDGE,
                max_tokens=self._limits.judge_tokens,
                request_id=request.options.request_id,
            )
            return answers.judgement_of(text)
        return None

    def _repeats(self, request: Request) -> bool:
        """Whether a behavior that promised nothing ran the code of another one. Where something was promised, what
        exists is evidence enough."""
        rounds = self._rounds.get(_behavior(request), ())
        if expected_of(request) or not rounds or not rounds[-1].code:
            return False
        newest = code_shape(rounds[-1].code)
        others = (one for key, kept in self._rounds.items() if key != _behavior(request) for one in kept)
        return any(code_shape(one.code) == newest for one in others)

    def _gives_way(self, request: Request, attempt: Attempt, *, spare: bool) -> str:
        """Why the guide writes this time; empty: the model does."""
        if spare and self._fallback == "playbook":
            self._unreached += 1
            return _UNREACHED
        if self._unreached >= self._limits.patience:
            # Waiting for every retry of every behavior would take longer than the work.
            return _UNREACHED
        rounds = self._rounds.get(_behavior(request), ())
        # Where the guide may not write, a person who resumes the run wants the model to try again.
        if attempt.number > self._limits.tries and (rounds or self._fallback == "playbook"):
            return attempt.problems[-1] if attempt.problems else "too many attempts"
        failed = [Round(code=one.code, error="; ".join(attempt.problems)) for one in rounds]
        found = stuck(failed, patience=self._limits.patience)
        return str(found) if found is not None else ""

    async def _frame(self, request: Request) -> Frame:
        """What the guide would write. Nothing when it cannot: then the model has to do without."""
        with contextlib.suppress(PlannerFailed):
            return frame_of([item async for item in self._guide.generate(request)])
        return Frame()

    async def _guided(self, request: Request, reason: str, attempt: Attempt) -> AsyncIterator[Generated]:
        """The guide's content, with a line for the reader that says so."""
        note = _NOTES[language_of(request, self._language)].format(reason=_reader(reason))
        said = False
        yield StreamWarning(f"the model gave way to {self._guide.name}: {reason}")
        async for item in self._guide.generate(request):
            heading = is_heading(item)
            if heading and attempt.number > 1:
                # An attempt before this one has begun the chapter.
                continue
            if not heading and not said:
                said = True
                yield ActionData({"action": "add", "shot_type": "dialogue", "content": note})
            yield item

    async def _written(
        self, request: Request, messages: Sequence[ChatMessage], writing: _Writing
    ) -> AsyncIterator[Generated]:
        """One answer of the model. `writing` says how it went."""
        scanner = Scanner()
        text: list[str] = []
        stream = self._generating.stream(
            "generate",
            messages,
            schema=answers.GENERATE,
            max_tokens=self._limits.answer_tokens,
            request_id=request.options.request_id,
        )
        try:
            # Closed here and now: an answer that is given up is counted before anything else is asked.
            async with contextlib.aclosing(stream) as pieces:
                async for piece in pieces:
                    if isinstance(piece, Usage):
                        if piece.finish == "length":
                            writing.reason = "the answer was cut at its limit of tokens"
                        continue
                    text.append(piece)
                    for found in scanner.feed(piece):
                        for item in writing.take(answers.piece_of(found)):
                            yield item
            for found in scanner.finish():
                for item in writing.take(answers.piece_of(found)):
                    yield item
        except PlannerUnreachable as error:
            if not writing.pieces:
                # Worth a retry, which is the engine's business; the last one is the spare answer.
                raise
            yield StreamWarning(str(error))
        except PlannerBudgetSpent:
            # Nothing was asked. A budget ends the run, whoever could go on: more of it is a person's decision.
            raise
        except PlannerFailed as error:
            if self._fallback == "stop" and not writing.pieces:
                raise self._gave_up(request, _said(error)) from error
            writing.reason, writing.final = _said(error), True
            if writing.pieces:
                yield StreamWarning(str(error))
        writing.text = "".join(text)
        writing.reason = writing.reason or "it holds no action"

    def _gave_up(self, request: Request, reason: str) -> PlannerAnswerInvalid:
        _remember(self._given_up, request.options.request_id or "", reason)
        return PlannerAnswerInvalid(planner=self.name, reason=reason)

    def _note(self, request: Request, code: str) -> None:
        key = _behavior(request)
        _remember(self._rounds, key, (*self._rounds.get(key, ()), Round(code=code)))


class _Writing:
    """How one answer of the model goes."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self.pieces = 0
        self.code = ""
        self.text = ""
        self.reason = ""
        self.final = False

    def take(self, piece: Piece | str) -> list[Generated]:
        if not isinstance(piece, str) and not piece.code and not is_written_in(piece.text, self._language):
            piece = "a text is not in the language of the notebook"
        if isinstance(piece, str):
            self.reason = piece
            return [StreamWarning(piece)] if self.pieces else []
        if self.pieces >= answers.MOST_ACTIONS:
            return []
        self.pieces += 1
        self.code += piece.code
        return [ActionData(dict(action)) for action in piece.actions]


def _problems(request: Request, answer: PlanningResponse) -> tuple[str, ...]:
    """What the evidence says against a behavior. A guide that goes on has looked at it and found nothing."""
    following = (answer.behavior.id if answer.behavior is not None else None) or ""
    goes_on = answer.transition.continue_behaviors and not following.endswith(".recovery")
    if answer.target_achieved or (goes_on and following != _behavior(request)):
        return ()
    feedback = request.behavior_feedback
    found = [f"{one.action}: {one.error}" for one in feedback.errors] if feedback is not None else []
    if feedback is not None and feedback.missing_outputs:
        found.append(f"missing outputs: {', '.join(feedback.missing_outputs)}")
    return tuple(found) or (answer.metadata.reason or "the goal was not reached",)


def _once_more(request: Request, attempt: Attempt, opinion: Judgement | None) -> PlanningResponse:
    """The same behavior again, under its name, with what it promised and what went wrong."""
    goals = request.observation.location.goals
    behavior = _behavior(request)
    focus = opinion.focus if opinion is not None else ""
    progress = ProgressUpdate(
        level=Level.BEHAVIORS,
        focus=focus or None,
        goal=goals.behavior or None,
        expected_outputs=expected_of(request) or None,
    )
    return PlanningResponse(
        transition=TransitionAdvice(continue_behaviors=True),
        context_update=ContextUpdate(variables=attempt.told(behavior), progress_update=progress),
        behavior=BehaviorInfo(id=behavior or None, target=goals.behavior),
        metadata=ResponseMetadata(reason="; ".join(attempt.problems)),
    )


def _with_focus(answer: PlanningResponse, opinion: Judgement | None, *, disagrees: bool) -> PlanningResponse:
    """The guide's answer with the model's focus where the guide has none; a doubt of the model is kept as a remark."""
    if opinion is None:
        return answer
    if disagrees and opinion.reason and answer.metadata.reason is None:
        remark = f"verified; the model doubts it: {opinion.reason}"
        answer = answer.model_copy(update={"metadata": answer.metadata.model_copy(update={"reason": remark})})
    goes_on = answer.transition.continue_behaviors
    updates = answer.context_update.progress_updates
    if not goes_on or not opinion.focus or any(one.level is Level.BEHAVIORS and one.focus for one in updates):
        return answer
    kept = [one for one in updates if one.level is not Level.BEHAVIORS]
    behavior = next((one for one in updates if one.level is Level.BEHAVIORS), ProgressUpdate(level=Level.BEHAVIORS))
    changed = (*kept, behavior.model_copy(update={"focus": opinion.focus}))
    update = answer.context_update.model_copy(update={"progress_update": changed})
    return answer.model_copy(update={"context_update": update})


def _behavior(request: Request) -> str:
    feedback = request.behavior_feedback
    ended = feedback.behavior_id if feedback is not None else None
    return ended or request.observation.location.current.behavior_id or ""


def _said(error: PlannerFailed) -> str:
    """What went wrong, without the name of the planner before it."""
    return error.reason if isinstance(error, PlannerAnswerInvalid) else str(error)


def _reader(reason: str) -> str:
    """A reason that can stand in a line of Markdown; what it quotes stays in the journal."""
    line = ACTION_PREFIX.sub("", " ".join(reason.split()))
    return line.split(":")[0][:120].replace("*", "") or "no answer"


def _remember(kept: OrderedDict[str, _T], key: str, value: _T) -> None:
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > _REMEMBERED:
        kept.popitem(last=False)
