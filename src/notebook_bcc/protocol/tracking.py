"""What was promised and what was produced, at each level."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar

from pydantic import Field, model_validator

from notebook_bcc.protocol.message import Message


class OutputTracking(Message):
    """The variables a level expects, is building, and has produced and verified."""

    expected: tuple[str, ...] = ()
    produced: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()


class Artifact(Message):
    """A variable that was promoted to a named, versioned product: `<base>@<version>`."""

    artifact_id: str
    variable_name: str
    description: str = ""
    source: str | None = None
    parent: str | None = None
    created_at: str | None = None


class Promotion(Message):
    """The wish to promote a temporary variable."""

    variable: str = Field(min_length=1)
    artifact_id: str = Field(pattern=r"^[^@]+@[^@]+$")
    description: str = ""

    @property
    def variable_name(self) -> str:
        """The name the artifact has in the kernel: `df_imputed@iter3` is `df_imputed_iter3`."""
        return self.artifact_id.replace("@", "_")


class OutputsProduced(Message):
    """What a completed item left behind."""

    variables: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    key_findings: tuple[str, ...] = ()


class Condensed(Message):
    """How much of a completed item was left out: the texts in `actions_taken`, the variables produced."""

    actions: int = 0
    outputs: int = 0


class CompletedItem(Message):
    """A completed stage, step or behavior. A bare id, as older peers send it, is read as well.

    One that is long past may be `condensed`: its ids, what became of it, and how much there was to say.
    """

    stage_id: str | None = None
    step_id: str | None = None
    behavior_id: str | None = None
    goal: str = ""
    actions_taken: tuple[str, ...] = ()
    outputs_produced: OutputsProduced = Field(default_factory=OutputsProduced)
    achieved: bool | None = None
    missing_outputs: tuple[str, ...] = ()
    id: str | None = None
    condensed: Condensed | None = None

    @model_validator(mode="before")
    @classmethod
    def _bare_id(cls, value: Any) -> Any:  # Any: not validated yet
        return {"id": value} if isinstance(value, str) else value

    @property
    def key(self) -> str:
        return self.behavior_id or self.step_id or self.stage_id or self.id or ""


class CondensedItem(CompletedItem):
    """A completed item of which only the ids, the result and the counts are written."""

    unwritten: ClassVar[frozenset[str]] = frozenset({"goal", "actions_taken", "outputs_produced"})


def condensed(item: CompletedItem) -> CompletedItem:
    """The item without its texts and outputs, and with their number; one that is condensed already stays as it is."""
    return item if item.condensed is not None else _condensed(item)


# An item is condensed in every observation from some time on: hundreds of them in a long step.
@lru_cache(maxsize=1_024)
def _condensed(item: CompletedItem) -> CompletedItem:
    counts = Condensed(actions=len(item.actions_taken), outputs=len(item.outputs_produced.variables))
    return CondensedItem(
        stage_id=item.stage_id,
        step_id=item.step_id,
        behavior_id=item.behavior_id,
        id=item.id,
        achieved=item.achieved,
        missing_outputs=item.missing_outputs,
        condensed=counts,
    )
