"""Output tracking by hand, as the observation's document shows it: expected, in progress, produced, promoted.

In a run all of this happens by itself; these are for clients that drive the protocol themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, overload

from notebook_bcc.compat.api_client import Feedback, State
from notebook_bcc.compat.service_apis import PlanningAPI
from notebook_bcc.errors import ActionRefused
from notebook_bcc.fsm.machine import StateMachine
from notebook_bcc.protocol.tracking import Promotion
from notebook_bcc.protocol.vocabulary import Event

_log = logging.getLogger(__name__)


def no_outputs() -> dict[str, list[str]]:
    """The `current_outputs` of a level at its start."""
    return {"expected": [], "produced": [], "in_progress": []}


@dataclass
class OutputTracking:
    """The outputs of a behavior and of its step, the artifacts, and the namespace that the variables live in."""

    namespace: MutableMapping[str, Any] = field(default_factory=dict)
    current_outputs: dict[str, list[str]] = field(default_factory=no_outputs)
    step_outputs: dict[str, list[str]] = field(default_factory=no_outputs)
    artifacts: list[dict[str, Any]] = field(default_factory=list)

    def complete_behavior(self, behavior_id: str, outputs: Mapping[str, Iterable[str]]) -> list[str]:
        """End a behavior: hand what it produced up to its step, and return what was expected and is missing.

        Missing outputs are logged and returned, not raised: the planner is told of them and judges. `behavior_id` is
        the source of the artifacts that have none yet.
        """
        produced = list(outputs["produced"])
        missing = [name for name in self.current_outputs["expected"] if name not in produced]
        for name in missing:
            _log.warning("behavior %s: the expected output %r was not produced", behavior_id, name)
        _extend(self.step_outputs["produced"], produced)
        for artifact in self.artifacts:
            artifact.setdefault("source", behavior_id)
        self.current_outputs = no_outputs()
        return missing

    def promote_temp_variable(self, temp_name: str, artifact_id: str, description: str = "") -> dict[str, Any]:
        """Give a temporary its lasting name, `df_imputed@iter3` as `df_imputed_iter3`, and return the artifact.

        The temporary is deleted, and every level that named it names the artifact's variable. Raises MessageInvalid for
        an id that is not `<base>@<version>` and ActionRefused for a name that does not exist; nothing is changed then.
        """
        wanted = Promotion.parse({"variable": temp_name, "artifact_id": artifact_id})
        if temp_name not in self.namespace:
            raise ActionRefused(f"variable {temp_name!r} does not exist, so {artifact_id!r} cannot be made of it")
        value = self.namespace[temp_name]
        self.namespace[wanted.variable_name] = value.copy() if callable(getattr(value, "copy", None)) else value
        artifact = {
            "artifact_id": artifact_id,
            "variable_name": wanted.variable_name,
            "description": description or f"Promoted from {temp_name}",
            "parent": temp_name,
            "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        }
        self.register_artifact(artifact)
        if wanted.variable_name != temp_name:
            del self.namespace[temp_name]
        for level in (self.current_outputs, self.step_outputs):
            level["in_progress"] = [name for name in level["in_progress"] if name != temp_name]
            level["produced"] = [wanted.variable_name if name == temp_name else name for name in level["produced"]]
        _extend(self.current_outputs["produced"], [wanted.variable_name])
        return artifact

    def rename_and_register_artifact(self, temp_name: str, artifact_id: str) -> dict[str, Any]:
        """The same, under the name that the end of a behavior uses."""
        return self.promote_temp_variable(temp_name, artifact_id)

    def register_artifact(self, artifact: dict[str, Any]) -> None:
        """Remember an artifact; a newer one of the same id takes its place."""
        others = [one for one in self.artifacts if one["artifact_id"] != artifact["artifact_id"]]
        self.artifacts = [*others, artifact]

    def cleanup_temporary_variables(self) -> None:
        """Forget what was in progress; what was produced stays."""
        self.current_outputs["in_progress"] = []


def promote_temp_variable(temp_name: str, artifact_id: str, *, tracking: OutputTracking) -> dict[str, Any]:
    """`OutputTracking.promote_temp_variable`, where the document's function has globals."""
    return tracking.promote_temp_variable(temp_name, artifact_id)


@overload
def complete_behavior(first: str, second: Mapping[str, Iterable[str]], /, *, tracking: OutputTracking) -> list[str]: ...
@overload
def complete_behavior(
    first: StateMachine, second: PlanningAPI, observation: State, /, *, behavior_feedback: Feedback
) -> dict[str, Any]: ...
def complete_behavior(
    first: Any,  # Any: two documents, two functions of one name; the overloads say which is which
    second: Any,
    observation: Any = None,
    /,
    *,
    tracking: OutputTracking | None = None,
    behavior_feedback: Feedback | None = None,
) -> Any:
    """End a behavior, as 000 (`behavior_id, outputs`) or as 004 (`state_machine, planning_api, observation`) shows it.

    The first is `OutputTracking.complete_behavior`. The second sends the feedback, moves the machine by the answer and
    returns that; nothing waits between answer and transition. Raises TypeError for anything else.
    """
    if isinstance(first, StateMachine):
        return _judged(first, second, observation, behavior_feedback)
    if tracking is None:
        raise TypeError("complete_behavior(behavior_id, outputs) needs tracking=OutputTracking(...)")
    return tracking.complete_behavior(first, second)


def filter_variables(
    var_list: Iterable[str], context_vars: Mapping[str, Any], effects: MutableMapping[str, list[str]]
) -> dict[str, Any]:
    """The variables that were asked for; one that does not exist is a WARN in `effects["current"]` and in the log."""
    filtered = {}
    for name in var_list:
        if name in context_vars:
            filtered[name] = context_vars[name]
        else:
            effects["current"].append(f"WARN: variable {name!r} was requested but does not exist")
            _log.warning("missing variable: %s", name)
    return filtered


def _judged(
    state_machine: StateMachine, planning_api: PlanningAPI, observation: State, feedback: Feedback | None
) -> dict[str, Any]:
    answer = planning_api.send_feedback(observation, feedback if feedback is not None else {})
    if answer["transition"]["continue_behaviors"]:
        state_machine.transition(Event.NEXT_BEHAVIOR)
    elif answer["targetAchieved"]:
        state_machine.transition(Event.COMPLETE_STEP)
    return answer


def _extend(names: list[str], more: Iterable[str]) -> None:
    names.extend(name for name in dict.fromkeys(more) if name not in names)
