"""The requests of a run, built from its state alone. One that goes out again has the bytes that it had. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from notebook_bcc.engine.changes import evolve
from notebook_bcc.engine.observation.bounds import bounded_observation, declared_variables
from notebook_bcc.engine.observation.context_filter import asked_variables, filter_observation
from notebook_bcc.engine.observation.observe import feedback, observe
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import EvidenceMissing, PlannerFailed
from notebook_bcc.journal.records import GeneratingAsked, PlanningAsked, Purpose
from notebook_bcc.protocol.messages import Options, RepairWanted, Request
from notebook_bcc.protocol.observation import Observation
from notebook_bcc.protocol.version import PROTOCOL_VERSION

_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request that is about to go out. `attempt` counts how often it did; `digest` names its bytes.

    `whole` is the observation before the context filter and before its bounds, `warnings` are what the filter found.
    `shown` are variables whose values go along because the planner could not judge without them.
    """

    request: Request
    attempt: int
    digest: str
    whole: Observation
    summaries: Mapping[str, Any]
    warnings: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    @property
    def request_id(self) -> str:
        return self.request.options.request_id or ""

    def sent(self, attempt: int) -> Request:
        """The request as a planner gets it for that time. On the wire the number is a header; the body stays as it
        was."""
        options = self.request.options.model_copy(update={"attempt": attempt})
        return self.request.model_copy(update={"options": options})


def planning_request(state: RunState, purpose: Purpose | None) -> Outgoing:
    """The question for a judgement. One that was asked and not answered is built again from what was known then."""
    pending = state.asked
    if pending is not None and state.asked_from is not None:
        again = _planning(
            state.asked_from, pending.purpose, pending.request_id, pending.attempt + 1, shown=pending.shown
        )
        if _is_same(again, pending):
            return again
    return _planning(state, purpose, _new_id(state), 1)


def with_evidence(state: RunState, purpose: Purpose, asked: Outgoing, failure: PlannerFailed) -> Outgoing | None:
    """The question once more, as a new one, with the values that the planner needs; None where there are none to add.

    `state` is the one that it was asked in.
    """
    if not isinstance(failure, EvidenceMissing):
        return None
    cut = asked.request.observation.context.variables_summarized or ()
    more = tuple(name for name in cut if name in failure.needs)
    if not more:
        return None
    # The state may not have counted the question yet.
    counted = state if asked.request_id != _new_id(state) else evolve(state, requests=state.requests + 1)
    return _planning(counted, purpose, _new_id(counted), 1, shown=(*asked.shown, *more))


def pending_stream(state: RunState) -> Outgoing | None:
    """The question for actions that was asked and not answered whole, as it was; None if there is none, or if it
    cannot be built again."""
    behavior = state.behavior
    pending = behavior.asked
    if pending is None or behavior.asked_from is None:
        return None
    again = _generating(behavior.asked_from, behavior.summaries, pending.request_id, pending.attempt + 1)
    return again if _is_same(again, pending) else None


def generating_request(state: RunState, summaries: Mapping[str, Any]) -> Outgoing:
    """A new question for actions. `summaries` are what the kernel computed for the context filter."""
    return _generating(state, summaries, _new_id(state), 1)


def _planning(
    state: RunState, purpose: Purpose | None, request_id: str, attempt: int, *, shown: tuple[str, ...] = ()
) -> Outgoing:
    declared = declared_variables(state)
    whole = observe(state, asked=declared)
    observation = bounded_observation(whole, state.planner_filter, whole=declared.union(shown))
    reported = feedback(state) if purpose == "feedback" else None
    options = _options(state, request_id)
    request = Request(observation=observation, behavior_feedback=reported, options=options)
    return Outgoing(request, attempt, _digest(request), whole, {}, shown=shown)


def _generating(state: RunState, summaries: Mapping[str, Any], request_id: str, attempt: int) -> Outgoing:
    wanted = state.filter
    whole = observe(state, asked=asked_variables(wanted) if wanted is not None else ())
    observation, warnings = (
        filter_observation(whole, wanted, summaries=summaries) if wanted is not None else (whole, ())
    )
    options = _options(state, request_id, stream=state.policies.stream)
    request = Request(observation=observation, options=options)
    return Outgoing(request, attempt, _digest(request), whole, summaries, warnings)


def repair_request(state: RunState, request_id: str, wanted: RepairWanted) -> Request:
    """The question for the source to run instead of a cell that failed."""
    return Request(observation=observe(state), options=_options(state, request_id, repair=wanted))


def _options(state: RunState, request_id: str, *, stream: bool = False, repair: RepairWanted | None = None) -> Options:
    return Options(
        stream=stream,
        request_id=request_id,
        run_id=state.run_id,
        attempt=1,
        repair=repair,
        protocol_version=PROTOCOL_VERSION,
    )


def _is_same(again: Outgoing, pending: PlanningAsked | GeneratingAsked) -> bool:
    """Whether the request is what went out: another version of this program may observe differently. Journals of
    format 2 do not tell."""
    return pending.digest in ("", again.digest)


def _digest(request: Request) -> str:
    return blake2b(request.to_json(), digest_size=_DIGEST_BYTES).hexdigest()


def _new_id(state: RunState) -> str:
    """Ids are counted, not drawn."""
    return f"{state.run_id}.{state.requests + 1}"
