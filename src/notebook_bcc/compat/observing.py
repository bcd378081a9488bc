"""Questions about an observation and a state machine, as the documents ask them: dicts or models in, dicts out."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from notebook_bcc.engine.observation.context_filter import filter_observation
from notebook_bcc.errors import MessageInvalid
from notebook_bcc.fsm.machine import StateMachine
from notebook_bcc.kernel.inside.probe import Namespace
from notebook_bcc.protocol.messages import ContextFilter, Options, Request
from notebook_bcc.protocol.observation import FsmView, Observation

# The size a summary may have; the same as in a kernel.
_SUMMARY_CHARS = 4_000

# Any: decoded JSON from outside, not looked at yet.
Json = Mapping[str, Any]


def prepare_generating_payload(
    observation: Observation | Json,
    context_filter: ContextFilter | Json | None = None,
    *,
    summaries: Mapping[str, Any] | None = None,
    stream: bool = True,
) -> dict[str, Any]:
    """The body of a Generating request: what the filter asks for of the observation, and the whole without one.

    A variable that is asked for and missing is a WARN in the effects of the payload; what was given stays as it is.
    `summaries` are those a kernel made; the others are made of the values in the observation. Raises MessageInvalid.
    """
    seen = observation if isinstance(observation, Observation) else Observation.parse(bare(observation))
    if context_filter is not None:
        wanted = context_filter if isinstance(context_filter, ContextFilter) else ContextFilter.parse(context_filter)
        made = {**_summaries(seen.context.variables, wanted), **(summaries or {})}
        seen, _ = filter_observation(seen, wanted, summaries=made)
    return Request(observation=seen, options=Options(stream=stream)).to_dict()


def get_transition_history(observation: Observation | Json) -> list[dict[str, Any]]:
    """The moves of the state machine that the observation tells, newest last. Raises MessageInvalid."""
    if isinstance(observation, Observation):
        view = observation.context.fsm
    else:
        context = bare(observation).get("context")
        if not isinstance(context, Mapping):
            raise MessageInvalid(what="Observation", problems=[("context", "is required")])
        machine = context.get("FSM")
        view = FsmView.parse(machine) if machine is not None else None
    return list(view.history) if view is not None else []


def visualize_state_machine(state_machine: StateMachine) -> str:
    """Write where the machine is to standard output, and return that text."""
    text = (
        f"Current State: {state_machine.get_state()}\n"
        f"Stage: {state_machine.stage_id}\n"
        f"Step: {state_machine.step_id}\n"
        f"Behavior: {state_machine.behavior_id} (iteration {state_machine.behavior_iteration})"
    )
    sys.stdout.write(text + "\n")
    return text


class Fields(dict[str, Any]):
    """A dict whose members are attributes too."""

    def __getattr__(self, name: str) -> Any:  # Any: decoded JSON
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"there is no {name!r} here") from None

    def __setattr__(self, name: str, value: Any) -> None:  # Any: decoded JSON
        self[name] = value


def plain_observation(observation: Observation | Json) -> Fields:
    """A copy to read by attribute and to change: `observation.context.effects.current.append(...)`, as 000 does.

    It is JSON still, so everything here takes it. Raises MessageInvalid.
    """
    seen = observation if isinstance(observation, Observation) else Observation.parse(bare(observation))
    fields = _with_attributes(seen.to_dict())
    assert isinstance(fields, Fields)
    return fields


def bare(observation: Json) -> Json:
    """The observation itself, also where it came as a whole request."""
    inner = observation.get("observation")
    return inner if isinstance(inner, Mapping) else observation


def _with_attributes(value: Any) -> Any:  # Any: decoded JSON
    if isinstance(value, dict):
        return Fields({name: _with_attributes(one) for name, one in value.items()})
    return [_with_attributes(one) for one in value] if isinstance(value, list) else value


def _summaries(variables: Mapping[str, Any], wanted: ContextFilter) -> dict[str, Any]:
    """Summaries of the values at hand. A text is one already: a type with its size, or short enough to be sent."""
    found = {name: how for name, how in wanted.variables_to_summarize.items() if name in variables}
    lengthy = {name: how for name, how in found.items() if not isinstance(variables[name], str)}
    values = Namespace(dict(variables), max_items=100, max_chars=2_000, max_summary=_SUMMARY_CHARS)
    return {name: variables[name] for name in found} | values.summarize(lengthy)
