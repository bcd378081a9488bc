"""One answer of a model as it is written: each piece is looked at before it goes out."""

from __future__ import annotations

from dataclasses import dataclass, field

from notebook_bcc.errors import PlannerFailed
from notebook_bcc.llm import answers
from notebook_bcc.llm.answers import Piece
from notebook_bcc.llm.guard.claims import left_out, unfounded, unheard
from notebook_bcc.llm.guard.guard import Guardrails, objection, with_made
from notebook_bcc.llm.prompt.evidence import is_written_in
from notebook_bcc.llm.prompt.sharing_text import WITHHELD
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.protocol.vocabulary import Language


@dataclass(frozen=True, slots=True)
class Demands:
    """What is asked of the pieces of an answer. `evidence` is all that the model was given, where its numbers are from.

    With `prose` only texts are wanted, and the numbers of `facts` have to be in them. With `code` a cell has to come,
    and texts before it wait for it: until then the whole answer may be asked for again. `files` are figures that the
    code has to save.
    """

    language: Language
    guardrails: Guardrails = field(default_factory=Guardrails)
    evidence: str = ""
    prose: bool = False
    facts: str = ""
    code: bool = False
    files: tuple[str, ...] = ()


class AnswerProgress:
    """How one answer goes. `reason` is what was wrong with it last, `refused` a cell that was not let through,
    `failure` what ended it for good: the same question would fare no better."""

    def __init__(self, demands: Demands) -> None:
        self._demands = demands
        self._guardrails = demands.guardrails
        self.pieces = 0
        self.code = ""
        self.text = ""
        self.reason = ""
        self.refused = ""
        self.failure: PlannerFailed | None = None
        self._waiting: list[Generated] = []
        self._said = ""

    def take(self, piece: Piece | str) -> list[Generated]:
        """What goes out for a piece. Behind a cell that was refused nothing does: it would rely on it."""
        if self.refused or self.pieces >= answers.MOST_ACTIONS:
            return []
        found = piece if isinstance(piece, str) else self._problem(piece)
        if isinstance(piece, str) or found:
            self.reason = found
            if not isinstance(piece, str) and piece.code:
                self.refused = found
            return [StreamWarning(found)] if self.pieces else []
        actions: list[Generated] = [ActionData(dict(action)) for action in piece.actions]
        if self._demands.prose or (self._demands.code and not piece.code and not self.code):
            self._waiting += actions
            self._said += f"{piece.text}\n"
            return []
        self.pieces += 1
        self.code += f"{piece.code}\n" if piece.code else ""
        if piece.code:
            self._guardrails = with_made(self._guardrails, piece.code)
        ready, self._waiting = [*self._waiting, *actions], []
        return ready

    def finish(self) -> list[Generated]:
        """What goes out when all is written: texts, if nothing else is wanted and they say what is to be said."""
        if not self._demands.prose or not self._waiting:
            return []
        if number := left_out(self._said, self._demands.facts):
            self.reason = f"the text leaves out {number}: tell all the facts"
            return []
        self.pieces += 1
        ready, self._waiting = self._waiting, []
        return ready

    @property
    def waits(self) -> bool:
        """Whether there are texts that wait for a cell."""
        return bool(self._waiting)

    def missing(self) -> str:
        """What is still wrong with an answer whose pieces all went out."""
        unsaved = [name for name in self._demands.files if name not in self.code]
        return f"the figure is not saved as {unsaved[0]}" if self.code and unsaved else ""

    def _problem(self, piece: Piece) -> str:
        if WITHHELD in piece.code or WITHHELD in piece.text:
            return f"{WITHHELD} stands for something you do not know: do without it"
        if piece.code:
            return "only text is asked for, no code" if self._demands.prose else objection(piece.code, self._guardrails)
        if not is_written_in(piece.text, self._demands.language):
            return "a text is not in the language of the notebook"
        if name := unheard(piece.text, self._demands.evidence):
            return f"there is no {name}: use only names that are given"
        number = unfounded(piece.text, self._demands.evidence)
        return f"the number {number} in a text was not told: use only numbers that are given" if number else ""
