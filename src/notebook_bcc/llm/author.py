"""Writes one behavior with a model: the prompt, the answer as it comes, and once more when it cannot be used."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Final

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerBudgetSpent, PlannerFailed, PlannerUnreachable
from notebook_bcc.llm import answers
from notebook_bcc.llm.client import Asker
from notebook_bcc.llm.exchange import cut
from notebook_bcc.llm.frame import Frame
from notebook_bcc.llm.guard.guardrails import guardrails_of
from notebook_bcc.llm.limits import LlmLimits, Share
from notebook_bcc.llm.memory import PlannerMemory
from notebook_bcc.llm.progress import Round
from notebook_bcc.llm.prompt.evidence import OURS, Attempt, facts_of, images_of, language_of, parts_of
from notebook_bcc.llm.prompt.files import PromptFiles
from notebook_bcc.llm.prompt.parts import build_prompt, estimate_tokens
from notebook_bcc.llm.prompt.sharing import sharing
from notebook_bcc.llm.stream.scanner import Scanner
from notebook_bcc.llm.verdicts import behavior_of
from notebook_bcc.llm.writing import AnswerProgress, Demands
from notebook_bcc.planners.interface import Generated, Planner, StreamWarning
from notebook_bcc.planners.model_exchange import ChatMessage, Usage
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.vocabulary import Language

# Of an answer that cannot be used: so much of it is shown to the model again.
_LONGEST_AGAIN: Final = 2_000
_AGAIN: Final = {
    "en": "This answer cannot be used: {reason}. Write the whole answer again with that put right, as JSON only.",
    "zh": "这个回答不能使用：{reason}。请改正后只用 JSON 重新写出整个回答。",
}


@dataclass(frozen=True, slots=True)
class Author:
    """A model that writes, and what it may be told. `suggest` shows it what the base planner would write."""

    asker: Asker
    base: Planner
    prompts: PromptFiles
    share: Share
    limits: LlmLimits
    language: Language
    suggest: bool
    images: bool
    memory: PlannerMemory

    @property
    def name(self) -> str:
        return f"llm {self.asker.model.name}"

    def is_in_vain(self, request: Request, frame: Frame) -> bool:
        """Whether the model need not be asked: the part takes more than it may write, or tells of the data what it may
        not be told."""
        if sum(map(estimate_tokens, frame.contents)) > self.limits.answer_tokens:
            return True
        shared = sharing(request, level=self.share)
        return frame.is_prose and (self.share == "none" or not facts_of(frame, shared))

    async def write(self, request: Request, frame: Frame, attempt: Attempt) -> AsyncGenerator[Generated, None]:
        """The model's actions between those of the frame.

        Raises PlannerAnswerInvalid when it has nothing that can be used, also when asked once more; then nothing was
        given out. Raises PlannerUnreachable and PlannerBudgetSpent as the model's provider does.
        """
        language = language_of(request, self.language)
        messages = self._messages(request, frame, attempt, language)
        demands = self._demands(request, frame, language, messages)
        variables = request.observation.context.variables
        found = {
            name: value for name, value in variables.items() if name in demands.guardrails.kept and name not in OURS
        }
        self.memory.found.put(behavior_of(request), found)
        for _ in range(2):
            writing = AnswerProgress(demands)
            waiting = frame.before if attempt.number == 1 else ()
            async with contextlib.aclosing(self._written(request, messages, writing, prose=demands.prose)) as items:
                async for item in items:
                    # Not before the model has something to say: until then the whole answer may be asked for again.
                    for heading in waiting:
                        yield heading
                    waiting = ()
                    yield item
            if writing.pieces:
                for change in frame.after:
                    yield change
                self.memory.unreached = 0
                problem = writing.refused or writing.missing()
                self.memory.note(behavior_of(request), Round(code=writing.code, error=problem))
                return
            if writing.failure is not None:
                break
            again = _AGAIN[language].format(reason=writing.reason)
            said = cut(writing.text, longest=_LONGEST_AGAIN, tail=_LONGEST_AGAIN // 4) or "(nothing)"
            messages = [*messages, ChatMessage("assistant", said), ChatMessage("user", again)]
        raise PlannerAnswerInvalid(planner=self.name, reason=writing.reason) from writing.failure

    def _messages(self, request: Request, frame: Frame, attempt: Attempt, language: Language) -> Sequence[ChatMessage]:
        parts = parts_of(
            request,
            share=self.share,
            tokens=self.limits.prompt_tokens,
            problems=attempt.problems,
            frame=frame,
            suggest=self.suggest,
            language=language,
        )
        images = images_of(request, share=self.share) if self.images else ()
        return build_prompt(self.prompts.of("generate", language), parts, images=images)

    def _demands(self, request: Request, frame: Frame, language: Language, messages: Sequence[ChatMessage]) -> Demands:
        earlier = [one.code for one in self.memory.rounds(behavior_of(request))]
        return Demands(
            language=language,
            guardrails=guardrails_of(self.base, request, frame, earlier=earlier),
            evidence="\n".join(one.content for one in messages if one.role == "user"),
            prose=frame.is_prose,
            facts="\n".join(facts_of(frame, sharing(request, level=self.share))) if frame.is_prose else "",
            code=bool(frame.cells),
            files=frame.files,
        )

    async def _written(
        self, request: Request, messages: Sequence[ChatMessage], writing: AnswerProgress, *, prose: bool
    ) -> AsyncGenerator[Generated, None]:
        """One answer of the model. `writing` says how it went."""
        scanner = Scanner()
        text: list[str] = []
        stream = self.asker.stream(
            "generate",
            messages,
            schema=answers.generate_schema(prose=prose, longest=3 * self.limits.answer_tokens),
            max_tokens=self.limits.text_tokens if prose else self.limits.answer_tokens,
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
                # Worth a retry, which is the engine's business; the last one is the fallback answer.
                raise
            yield StreamWarning(str(error))
        except PlannerBudgetSpent:
            # Nothing was asked. A budget ends the run, whoever could go on: more of it is a person's decision.
            raise
        except PlannerFailed as error:
            writing.reason, writing.failure = _said(error), error
            if writing.pieces:
                yield StreamWarning(str(error))
        writing.text = "".join(text)
        writing.reason = writing.reason or ("it holds no code" if writing.waits else "it holds no action")


def _said(error: PlannerFailed) -> str:
    """What went wrong, without the name of the planner before it."""
    return error.reason if isinstance(error, PlannerAnswerInvalid) else str(error)
