"""What a base planner says about who writes, and between which guardrails a model's cells stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

from notebook_bcc.llm.frame import Frame
from notebook_bcc.llm.guard.guard import Guardrails, lent_by, plain_python
from notebook_bcc.llm.prompt.evidence import expected_of
from notebook_bcc.planners.code_names import code_names
from notebook_bcc.planners.interface import Planner
from notebook_bcc.protocol.messages import Request, StageStepsUpdate


@runtime_checkable
class DividesWork(Protocol):
    """A base planner that keeps some behaviors to itself. One that is not leaves everything to the model."""

    def is_open(self, request: Request) -> bool:
        """Whether a model may write the behavior that is asked for, or that the feedback is about."""
        ...

    def open_steps(self, request: Request) -> Mapping[str, str]:
        """The steps of the current stage that may be left out or added, with their goals: those that are all the
        model's, and neither done nor under way."""
        ...

    def other_steps(self, request: Request, *, skip: Sequence[str], add: Sequence[str]) -> StageStepsUpdate | str:
        """The steps of the current stage with these changes, or why they cannot be made."""
        ...

    @property
    def needed_names(self) -> frozenset[str]:
        """The names that the base planner's own cells and texts rely on."""
        ...


def is_open(base: Planner, request: Request) -> bool:
    """Whether the behavior of this request is the model's to write."""
    return base.is_open(request) if isinstance(base, DividesWork) else True


def guardrails_of(base: Planner, request: Request, frame: Frame, *, earlier: Sequence[str] = ()) -> Guardrails:
    """Between what the cells of this behavior stay. `earlier` is the code of attempts at it before."""
    promised = frozenset(expected_of(request))
    shown = frozenset(request.observation.context.variables)
    lent = lent_by(frame.cells)
    needed = base.needed_names if isinstance(base, DividesWork) else frozenset()
    made = frozenset(name for source in earlier for name in _made(source)) - needed
    guardrails = Guardrails(kept=(needed | shown) - promised - made, own=promised | made, lent=lent)
    if not isinstance(base, DividesWork):
        return guardrails
    readable = shown | lent.names | promised
    return replace(guardrails, readable=readable, known=needed | readable | made)


def _made(source: str) -> frozenset[str]:
    try:
        return code_names(plain_python(source)).made
    except SyntaxError:
        return frozenset()
