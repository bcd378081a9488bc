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
    """The request to promote a variable. With `keep_name` it is registered and stays as it is in the kernel.

    `parent` is the artifact that it was made of; the parent of a renamed variable is its temporary.
    """

    variable: str = Field(min_length=1)
    artifact_id: str = Field(pattern=r"^[^@]+@[^@]+$")
    description: str = ""
    keep_name: bool | None = None
    parent: str | None = None

    @property
    def variable_name(self) -> str:
        """The name in the kernel: `df_imputed@iter3` is `df_imputed_iter3`, unless the variable keeps its own."""
        return self.variable if self.keep_name else self.artifact_id.replace("@", "_")


class OutputsTrackingSpec(Message):
    """What the next behavior promises: variables to make, names to validate, temporaries to promote."""

    expected_variables: tuple[str, ...] = ()
    validation_required: tuple[str, ...] = ()
    promotions: tuple[Promotion, ...] = ()


class OutputsProduced(Message):
    """What a completed item left behind. The last three are the planner's own words, absent where it said none."""

    variables: tuple[str, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    key_findings: tuple[str, ...] = ()
    modified_features: tuple[str, ...] | None = None
    validation: Any | None = None  # Any: a text, or whatever else the planner notes
    findings: Any | None = None  # Any: the same


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
    if item.condensed is not None:
        return item
    ids = (item.stage_id, item.step_id, item.behavior_id, item.id)
    counts = Condensed(actions=len(item.actions_taken), outputs=len(item.outputs_produced.variables))
    return _condensed(ids, item.achieved, item.missing_outputs, counts)


# An item is condensed in every observation from some time on: hundreds of them in a long step.
@lru_cache(maxsize=1_024)
def _condensed(
    ids: tuple[str | None, ...], achieved: bool | None, missing: tuple[str, ...], counts: Condensed
) -> CompletedItem:
    stage_id, step_id, behavior_id, bare_id = ids
    return CondensedItem(
        stage_id=stage_id,
        step_id=step_id,
        behavior_id=behavior_id,
        id=bare_id,
        achieved=achieved,
        missing_outputs=missing,
        condensed=counts,
    )
