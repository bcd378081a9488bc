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
from typing import Any, Final, Literal, TypeVar

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerBudgetSpent, PlannerFailed, PlannerUnreachable
from notebook_bcc.planners.interface import ActionData, Generated, Planner, StreamWarning
from notebook_bcc.planners.llm import answers
from notebook_bcc.planners.llm.asking import Asker
from notebook_bcc.planners.llm.budget import Budget, Spent, limit_reached
from notebook_bcc.planners.llm.chat import ChatMessage, Usage
from notebook_bcc.planners.llm.evidence import (
    ACTION_PREFIX,
    OURS,
    Attempt,
    attempt_of,
    expected_of,
    facts_of,
    images_of,
    language_of,
    parts_of,
)
from notebook_bcc.planners.llm.exchange import Exchange, cut
from notebook_bcc.planners.llm.frame import Frame, frame_of, is_heading
from notebook_bcc.planners.llm.guard import objection
from notebook_bcc.planners.llm.judging import Judge, follows_open
from notebook_bcc.planners.llm.progress import Round, code_shape, stuck
from notebook_bcc.planners.llm.prompt import build_prompt, estimate_tokens
from notebook_bcc.planners.llm.prompt_files import Language, PromptFiles
from notebook_bcc.planners.llm.proposals import with_columns, with_proposals
from notebook_bcc.planners.llm.rails import DividesWork, is_open, rails_of
from notebook_bcc.planners.llm.scanner import Scanner
from notebook_bcc.planners.llm.share import Share, sharing
from notebook_bcc.planners.llm.verdicts import (
    behavior_of,
    damaged,
    given_up,
    once_more,
    problems_of,
    shows_figure,
    with_focus,
)
from notebook_bcc.planners.llm.writing import Demands, Writing
from notebook_bcc.planners.questions import Question, question_of
from notebook_bcc.protocol.messages import PlanningResponse, Request

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
    "en": "This answer cannot be used: {reason}. Write the whole answer again with that put right, as JSON only.",
    "zh": "这个回答不能使用：{reason}。请改正后只用 JSON 重新写出整个回答。",
}


@dataclass(frozen=True, slots=True)
class LlmLimits:
    """How far the model is let go. `tries` is how often it may attempt one behavior before the guide does it."""

    tries: int = 2
    repairs: int = 2
    patience: int = 3
    prompt_tokens: int = 4_000
    answer_tokens: int = 1_500
    text_tokens: int = 400
    judge_tokens: int = 200

    @classmethod
    def small(cls) -> LlmLimits:
        """For a model on this machine: what it reads and writes takes seconds, and long texts confuse it."""
        return cls(tries=1, repairs=1, prompt_tokens=1_600, answer_tokens=450, text_tokens=160, judge_tokens=120)


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
        images: bool = False,
    ) -> None:
        """Without `planning` the guide judges alone. `suggest` shows the model what the guide would write. With
        `images` figures go along as pictures, where all values may be told."""
        self._guide = guide
        self._generating = generating
        self._prompts = prompts
        self._share: Share = share
        self._fallback = fallback
        self._limits = limits or LlmLimits()
        self._language: Language = language
        self._suggest = suggest
        self._images = images
        self._judge: Judge | None = None
        if planning is not None:
            self._judge = Judge(
                asker=planning,
                guide=guide,
                prompts=prompts,
                share=share,
                language=language,
                prompt_tokens=self._limits.prompt_tokens,
                answer_tokens=self._limits.judge_tokens,
                images=images,
            )
        self._answered: OrderedDict[str, PlanningResponse] = OrderedDict()
        self._generated: OrderedDict[str, tuple[Generated, ...]] = OrderedDict()
        self._rounds: OrderedDict[str, tuple[Round, ...]] = OrderedDict()
        self._given_up: OrderedDict[str, str] = OrderedDict()
        self._found: OrderedDict[str, dict[str, Any]] = OrderedDict()  # Any: variables, as the kernel shows them
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
        answer = with_columns(request, await self._guide.plan(request))
        ended = question_of(request) is Question.FEEDBACK and answer.metadata.question is None
        if ended and is_open(self._guide, request):
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
        if not is_open(self._guide, request):
            async for item in self._guide.generate(request):
                yield item
            return
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
        if self._is_in_vain(request, frame):
            async for item in self._guide.generate(request):
                yield item
            return
        language = language_of(request, self._language)
        parts = parts_of(
            request,
            share=self._share,
            tokens=self._limits.prompt_tokens,
            problems=attempt.problems,
            frame=frame,
            suggest=self._suggest,
            language=language,
        )
        images = images_of(request, share=self._share) if self._images else ()
        messages = build_prompt(self._prompts.of("generate", language), parts, images=images)
        demands = self._demands(request, frame, language, messages)
        variables = request.observation.context.variables
        found = {name: value for name, value in variables.items() if name in demands.rails.kept and name not in OURS}
        _remember(self._found, behavior_of(request), found)
        for _ in range(2):
            writing = Writing(demands)
            waiting = frame.before if attempt.number == 1 else ()
            async for item in self._written(request, messages, writing, prose=demands.prose):
                # Not before the model has something to say: until then the whole answer may be asked for again.
                for heading in waiting:
                    yield heading
                waiting = ()
                yield item
            if writing.pieces:
                for change in frame.after:
                    yield change
                self._unreached = 0
                self._note(request, writing.code, writing.refused or writing.missing())
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
        if wanted is None or wanted.attempt > self._limits.repairs or not is_open(self._guide, request):
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
        if code is None or code.strip() == wanted.source.strip():
            return None
        earlier = [wanted.source, *(one.code for one in self._rounds.get(behavior_of(request), ()))]
        rails = rails_of(self._guide, request, await self._frame(request), earlier=earlier)
        return None if objection(code, rails) else code

    async def close(self) -> None:
        await self._guide.close()
        await self._generating.model.close()
        if self._judge is not None:
            await self._judge.asker.model.close()

    async def _after_behavior(self, request: Request, answer: PlanningResponse) -> PlanningResponse:
        """Evidence first: the guide has looked at errors, missing outputs and its rules."""
        attempt = attempt_of(request)
        if name := damaged(self._found.pop(behavior_of(request), {}), request):
            # The cells were read before they ran, and one got through all the same.
            return given_up(name)
        by_model = attempt.number <= self._limits.tries
        problems = problems_of(request, answer)
        if not problems and by_model:
            problems = await self._shortcomings(request)
        proposes = not problems and follows_open(self._guide, request, answer)
        opinion = None
        if self._judge is not None and self._unreached < self._limits.patience:
            opinion = await self._judge.opinion(request, problems, proposes=proposes)
        if not problems or not by_model:
            if opinion is not None and isinstance(self._guide, DividesWork):
                answer = with_proposals(request, answer, opinion, self._guide, next_is_open=proposes)
            return with_focus(answer, opinion, disagrees=opinion is not None and not opinion.achieved)
        if opinion is not None and opinion.achieved:
            problems = (*problems, "The goal was said to be reached; it is not.")
        return once_more(request, Attempt(number=attempt.number + 1, problems=problems), opinion)

    async def _shortcomings(self, request: Request) -> tuple[str, ...]:
        """What is wrong with the model's work that no promise and no rule of the guide covers."""
        rounds = self._rounds.get(behavior_of(request), ())
        if rounds and rounds[-1].error:
            return (rounds[-1].error,)
        if self._repeats(request):
            return ("The code is that of an earlier behavior, which was asked for something else.",)
        if (await self._frame(request)).draws and not shows_figure(request):
            return ("No figure was shown: draw it, and end with plt.show().",)
        return ()

    def _repeats(self, request: Request) -> bool:
        """Whether a behavior that promised nothing ran the code of another one. Where something was promised, what
        exists is evidence enough."""
        rounds = self._rounds.get(behavior_of(request), ())
        if expected_of(request) or not rounds or not rounds[-1].code:
            return False
        newest = code_shape(rounds[-1].code)
        others = (one for key, kept in self._rounds.items() if key != behavior_of(request) for one in kept)
        return any(code_shape(one.code) == newest for one in others)

    def _gives_way(self, request: Request, attempt: Attempt, *, spare: bool) -> str:
        """Why the guide writes this time; empty: the model does."""
        if spare and self._fallback == "playbook":
            self._unreached += 1
            account = self._generating.account
            return str(limit_reached(account.spent, account.budget) or _UNREACHED)
        if self._unreached >= self._limits.patience:
            # Waiting for every retry of every behavior would take longer than the work.
            return _UNREACHED
        rounds = self._rounds.get(behavior_of(request), ())
        # Where the guide may not write, a person who resumes the run wants the model to try again.
        if attempt.number > self._limits.tries and (rounds or self._fallback == "playbook"):
            return attempt.problems[-1] if attempt.problems else "too many attempts"
        failed = [Round(code=one.code, error=one.error or "; ".join(attempt.problems)) for one in rounds]
        found = stuck(failed, patience=self._limits.patience)
        return str(found) if found is not None else ""

    def _is_in_vain(self, request: Request, frame: Frame) -> bool:
        """Whether the model need not be asked: the part takes more than it may write, or tells of the data what it may
        not be told."""
        if sum(map(estimate_tokens, frame.contents)) > self._limits.answer_tokens:
            return True
        told = sharing(request, level=self._share)
        return frame.is_prose and (self._share == "none" or not facts_of(frame, told))

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

    def _demands(self, request: Request, frame: Frame, language: Language, messages: Sequence[ChatMessage]) -> Demands:
        earlier = [one.code for one in self._rounds.get(behavior_of(request), ())]
        return Demands(
            language=language,
            rails=rails_of(self._guide, request, frame, earlier=earlier),
            told="\n".join(one.content for one in messages if one.role == "user"),
            prose=frame.is_prose,
            facts="\n".join(facts_of(frame, sharing(request, level=self._share))) if frame.is_prose else "",
            code=bool(frame.cells),
            files=frame.files,
        )

    async def _written(
        self, request: Request, messages: Sequence[ChatMessage], writing: Writing, *, prose: bool
    ) -> AsyncIterator[Generated]:
        """One answer of the model. `writing` says how it went."""
        scanner = Scanner()
        text: list[str] = []
        stream = self._generating.stream(
            "generate",
            messages,
            schema=answers.generate_schema(prose=prose, longest=3 * self._limits.answer_tokens),
            max_tokens=self._limits.text_tokens if prose else self._limits.answer_tokens,
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
            for item in writing.finish():
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
        writing.reason = writing.reason or ("it holds no code" if writing.waits else "it holds no action")

    def _gave_up(self, request: Request, reason: str) -> PlannerAnswerInvalid:
        _remember(self._given_up, request.options.request_id or "", reason)
        return PlannerAnswerInvalid(planner=self.name, reason=reason)

    def _note(self, request: Request, code: str, problem: str) -> None:
        key = behavior_of(request)
        _remember(self._rounds, key, (*self._rounds.get(key, ()), Round(code=code, error=problem)))


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
