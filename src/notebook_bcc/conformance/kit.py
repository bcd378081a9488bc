"""All checks as data, and the run of them against one server."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import httpx2

from notebook_bcc.conformance import checks_http as http
from notebook_bcc.conformance import checks_planning as planning
from notebook_bcc.conformance import checks_position as position
from notebook_bcc.conformance import checks_requests as requests
from notebook_bcc.conformance import checks_stream as stream
from notebook_bcc.conformance import checks_v1 as v1
from notebook_bcc.conformance.caller import Caller, KitLimits
from notebook_bcc.conformance.check import Check, Finding, Report, ReportRow
from notebook_bcc.conformance.check_context import CheckContext
from notebook_bcc.conformance.evidence import Evidence
from notebook_bcc.errors import PlannerUnreachable, SettingsInvalid

DEFAULT_GOAL: Final = "Make a small table of numbers and describe it."

_RULES = "protocol/messages.md#rules-for-every-message"
_REQUEST = "protocol/messages.md#request"
_PLANNING = "protocol/messages.md#planning-response"
_GENERATING = "protocol/messages.md#generating-response"
_V1 = "protocol/messages.md#the-first-dialect-v1"
_FILTER = "protocol/observation.md#context-filter"
_CONTEXT = "protocol/observation.md#context"
_CURRENT = "protocol/observation.md#location"
_CORE = "protocol/state-machine.md#core-17-rows"
_MACHINE = "protocol/state-machine.md#in-an-observation"
_ELEVEN = "protocol/actions.md#the-eleven"
_WIRE = "remote-planner.md#what-goes-over-the-wire"
_STREAM = "remote-planner.md#reading-a-stream"
_FAULTS = "remote-planner.md#what-can-go-wrong"
_ALIKE = "server.md#stateless-and-yet-never-planned-twice"
_STATUSES = "server.md#statuses"
_SECURITY = "server.md#security"
_HEALTH = "endpoints/health.md#get-health"
_FALLBACK = "endpoints/generate.md#post-generate"
_MISSING = "endpoints/planning.md#a-missing-field"
_CANNOT = "endpoints/planning.md#a-question-that-cannot-be-answered"


Look = Callable[[CheckContext], Awaitable[Finding]]


def _required(id: str, title: str, section: str, look: Look) -> Check[CheckContext]:
    return Check(id, title, section, "required", look)


def _recommended(id: str, title: str, section: str, look: Look) -> Check[CheckContext]:
    return Check(id, title, section, "recommended", look)


# The order is that of the report. The last ones look back at every exchange of those before.
CHECKS: Final[tuple[Check[CheckContext], ...]] = (
    _required("start", "a judgement when nothing has begun", _PLANNING, planning.start),
    _required("plan-valid", "plans have unique ids and at least one stage", _PLANNING, planning.plan_valid),
    _required("workflow-ends", "a whole workflow comes to its end", _CORE, planning.workflow_ends),
    _required(
        "judgement-form", "each judgement is a JSON object of the right types", _PLANNING, planning.judgement_form
    ),
    _required("verdict-boolean", "targetAchieved is true or false", _PLANNING, planning.verdict_boolean),
    _recommended("transition-whole", "transition has both its verdicts", _PLANNING, position.transition_whole),
    _required("canonical-spelling", "one spelling is written", _RULES, planning.canonical_spelling),
    _required("context-filter", "context_filter is well-formed", _FILTER, planning.context_filter),
    _required("navigation", "next_stage_id and next_step_id are in the plan", _PLANNING, planning.navigation),
    _required("feedback", "behavior_feedback is read, also without success", _REQUEST, planning.feedback_accepted),
    _recommended("feedback-errors", "reported errors do not count as achieved", _REQUEST, planning.feedback_errors),
    _recommended("stateless", "the observation alone decides the answer", _ALIKE, planning.stateless),
    _recommended("unknown-position", "an unknown place is judged, or 409", _CANNOT, position.unknown_position),
    _recommended("missing-evidence", "missing variables are no fault, or 409", _CANNOT, position.missing_evidence),
    _recommended("location-only", "a question without context is no fault, or 409", _CANNOT, position.location_only),
    _recommended("behavior-names", "a behavior is found whatever it is called", _CURRENT, position.behavior_names),
    _recommended("rejection", "a rejection is read, in a new question", _REQUEST, position.rejection),
    _required("required-fields", "a missing field gets 422 with its path", _MISSING, requests.required_fields),
    _required("invalid-json", "a body that is no JSON object gets 4xx", _STATUSES, requests.invalid_json),
    _recommended("refusals-json", "refusals are JSON", _STATUSES, requests.refusals_json),
    _required("unknown-fields", "unknown fields are accepted", _RULES, requests.unknown_fields),
    _required("old-spellings", "old spellings are read", _RULES, requests.old_spellings),
    _required("old-forms", "completed items may be bare ids", _REQUEST, requests.old_forms),
    _required("progress-texts", "section and workflow progress may be texts", _CONTEXT, requests.progress_texts),
    _required("upper-case", "state names are read in upper case", _MACHINE, requests.upper_case),
    _recommended("nulls", "a null at an optional field is absent", _RULES, requests.nulls),
    _required("big-request", "a request of 1 MiB is answered", _REQUEST, requests.big_request),
    _required("concurrent", "several questions at once are answered", _REQUEST, requests.concurrent),
    _required("stream-lines", "NDJSON: one JSON object a line", _GENERATING, stream.stream_lines),
    _required("stream-wrapped", 'each line is {"action": {...}}', _GENERATING, stream.stream_wrapped),
    _required("stream-utf8", "the stream is UTF-8", _GENERATING, stream.stream_utf8),
    _required("stream-type", "the stream's content type is one clients read", _STREAM, stream.stream_type),
    _recommended("stream-newline", "the last line ends with a newline", _GENERATING, stream.stream_newline),
    _recommended("stream-flushed", "each line is flushed", _GENERATING, stream.stream_flushed),
    _required("stream-false", 'stream: false gives {"actions": [...]}', _GENERATING, stream.stream_false),
    _required("actions-there", "a step with work left gets actions", _GENERATING, stream.actions_there),
    _required("actions-formed", "actions have their required fields", _ELEVEN, stream.actions_formed),
    _required("exec-cells", "exec names a cell that was added", _ELEVEN, stream.exec_cells),
    _required("end-phase", "end_phase names the current step", _ELEVEN, stream.end_phase),
    _recommended("next-event", "next_event names an event of the table", _ELEVEN, stream.next_event),
    _recommended("generate", "/generate is the fallback of /generating", _FALLBACK, stream.generate_fallback),
    _recommended("repeated-planning", "a repeated request_id is judged alike", _ALIKE, stream.repeated_planning),
    _recommended("repeated-generating", "and generates the same actions", _ALIKE, stream.repeated_generating),
    _recommended("same-after-stop", "the same bytes later are answered the same", _ALIKE, position.same_after_stop),
    _required("v1-actions-post", "v1: POST /v1/actions", _V1, v1.actions_post),
    _required("v1-actions-get", "v1: GET /v1/actions", _V1, v1.actions_get),
    _required("v1-reflection", "v1: POST /v1/reflection", _V1, v1.reflection),
    _recommended("v1-whole", "v1: answers have all five parts", _V1, v1.whole),
    _recommended("health", "GET /health answers", _HEALTH, http.health),
    _recommended("methods", "GET and HEAD at /planning get 405", _STATUSES, http.methods),
    _recommended("token-wanted", "without the token there is no answer", _SECURITY, http.token_wanted),
    _recommended("keep-alive", "connections are kept open", _WIRE, http.keep_alive),
    _required("no-redirect", "no answer is a redirect", _WIRE, http.no_redirect),
    _required("no-compression", "no answer is compressed unasked", _WIRE, http.no_compression),
    _required("no-broken-connection", "every answer comes whole", _FAULTS, http.no_broken_connection),
    _required("no-server-error", "no answer is a 5xx", _FAULTS, http.no_server_error),
)


async def run_kit(
    url: str,
    *,
    token: str | None = None,
    only: Sequence[str] = (),
    goal: str = DEFAULT_GOAL,
    limits: KitLimits | None = None,
    evidence: Evidence | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
    on_row: Callable[[ReportRow], None] | None = None,
) -> Report:
    """Every check, or those named, against the server; `on_row` hears of each row at once.

    With `evidence` the workflow is driven with its kernel: what the server wants executed is executed.

    Raises SettingsInvalid for an address, token or id that makes no sense, PlannerUnreachable where nothing answers.
    """
    chosen = _chosen(only)
    begun = time.monotonic()
    caller = Caller(url, token=token, limits=limits, transport=transport)
    try:
        await _reach(caller)
        context = CheckContext(caller, run_id=f"conform-{secrets.token_hex(4)}", goal=goal, evidence=evidence)
        rows: list[ReportRow] = []
        for check in chosen:
            row = ReportRow.of(check, await check.look(context))
            rows.append(row)
            if on_row is not None:
                on_row(row)
        return Report(
            server=caller.name,
            rows=tuple(rows),
            requests=len(caller.exchanges),
            seconds=round(time.monotonic() - begun, 3),
        )
    finally:
        await caller.close()


def _chosen(only: Sequence[str]) -> list[Check[CheckContext]]:
    known = {check.id for check in CHECKS}
    unknown = [name for name in only if name not in known]
    if unknown:
        raise SettingsInvalid(f"there is no check {unknown[0]!r}; there are: {', '.join(check.id for check in CHECKS)}")
    return [check for check in CHECKS if not only or check.id in only]


async def _reach(caller: Caller) -> None:
    """Any answer at all will do."""
    exchange = await caller.send("GET", "/health")
    if not exchange.status:
        raise PlannerUnreachable(planner=caller.name, reason=exchange.failure)
