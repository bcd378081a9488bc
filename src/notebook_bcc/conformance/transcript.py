"""What the kit saw while it drove a workflow: every question with its answer, and what was wrong on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from notebook_bcc.conformance.exchange import Exchange, Json
from notebook_bcc.conformance.stream import Stream
from notebook_bcc.protocol.messages import PlanningResponse
from notebook_bcc.protocol.workflow import Workflow

Question = Literal["start", "stage", "step", "feedback", "step_end", "stage_end"]
Area = Literal["judgement", "plan", "filter", "actions", "cells", "navigation"]


@dataclass(frozen=True, slots=True)
class Judged:
    """A question to /planning. `answer` is None where the server gave none that can be read."""

    question: Question
    request: Json
    exchange: Exchange
    answer: PlanningResponse | None


@dataclass(frozen=True, slots=True)
class Generated:
    """A question to /generating, and its stream."""

    request: Json
    stream: Stream


@dataclass(frozen=True, slots=True)
class Note:
    """Something wrong, and the exchange that shows it."""

    area: Area
    text: str
    exchange: Exchange


@dataclass(slots=True)
class Transcript:
    """Filled while the workflow is driven; read by the checks afterwards."""

    plan: Workflow | None = None
    plan_of: Literal["server", "kit", "nobody"] = "nobody"
    judged: list[Judged] = field(default_factory=list)
    generated: list[Generated] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    stopped: str = ""
    """Why the workflow did not reach its end; empty: it did."""
    last: Exchange | None = None
    turns: int = 0

    def notes_of(self, area: Area) -> list[Note]:
        return [note for note in self.notes if note.area == area]

    def first(self, question: Question) -> Judged | None:
        """The first such question that was answered; among those at a step, one with work left."""
        answered = [each for each in self.judged if each.question == question and each.answer is not None]
        if question == "step":
            answered = [each for each in answered if each.answer is not None and not each.answer.target_achieved]
        return answered[0] if answered else None

    @property
    def richest(self) -> Generated | None:
        """The question for a behavior that brought the most actions."""
        answered = [each for each in self.generated if 200 <= each.stream.exchange.status <= 299]
        return max(answered, key=lambda each: len(each.stream.actions), default=None)
