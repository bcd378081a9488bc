"""The `state` of the documents' client as the request that goes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from notebook_bcc.compat.observing import Json, bare
from notebook_bcc.compat.values import unwrapped
from notebook_bcc.protocol.dialects import request_from_v1
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import BehaviorFeedback, Options, Request
from notebook_bcc.protocol.observation import Observation

MISSING_PROGRESS = (
    "Missing required 'progress_info' in state. New POMDP protocol requires hierarchical progress information."
)


def request_of(
    state: Observation | Json,
    *,
    stage_id: str | None,
    step_id: str | None,
    options: Options,
    behavior_feedback: BehaviorFeedback | Json | None = None,
) -> Request:
    """The request that tells a planner this state.

    A state is `{"progress_info": {current, progress, goals}, ...}` with the context beside it, or an observation. The
    ids given count, and stand in `current`. Raises ValueError without progress information, MessageInvalid for the
    rest.
    """
    location, context = _parts(state)
    current, progress = _plain(location.get("current")), _plain(location.get("progress"))
    if not isinstance(current, Mapping) or not isinstance(progress, Mapping):
        problem = f"{MISSING_PROGRESS} It needs 'current' and 'progress', and 'goals' where they are known"
        raise ValueError(problem)  # noqa: TRY004  # the documents promise a ValueError
    given = {"stage_id": stage_id, "step_id": step_id}
    position = {**current, **{name: one for name, one in given.items() if one is not None}}
    feedback = behavior_feedback.to_dict() if isinstance(behavior_feedback, BehaviorFeedback) else behavior_feedback
    data = {
        "observation": {
            "location": {**location, "current": position, "progress": progress},
            "context": unwrapped(context),
        },
        "behavior_feedback": None if feedback is None else dict(feedback),
        "options": options.to_dict(),
    }
    # Reads v2 as well, and drops the fields that were removed for good, which old states are full of.
    return request_from_v1(data)


def _parts(state: Observation | Json) -> tuple[Json, Json]:
    """Location and context of a state, whichever way it is written."""
    held = state.to_dict() if isinstance(state, Observation) else bare(state)
    name = "location" if "location" in held else "progress_info"
    location = _plain(held.get(name))
    if not isinstance(location, Mapping):
        raise ValueError(MISSING_PROGRESS)  # noqa: TRY004  # the documents promise a ValueError
    rest: dict[str, Any] = {key: value for key, value in held.items() if key != name}
    inner = _plain(rest.get("context"))
    return location, inner if isinstance(inner, Mapping) else rest


def _plain(value: Any) -> Any:  # Any: a model, decoded JSON, or nothing
    return value.to_dict() if isinstance(value, Message) else value
