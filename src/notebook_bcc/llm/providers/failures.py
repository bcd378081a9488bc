"""What goes wrong between us and a model's endpoint, as errors of ours. Used by all providers, knows no library."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

import httpx2

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerFailed, PlannerRefused, PlannerUnreachable
from notebook_bcc.llm.providers.names import Access, without_key
from notebook_bcc.planners.model_exchange import Finish, Usage
from notebook_bcc.planners.remote.failures import is_passing, one_line, reason_of, retry_after
from notebook_bcc.protocol.secret_variables import MODEL_KEYS

CONNECT_SECONDS: Final = 15.0
_CONFLICT = 409
# A limit that is lifted by paying, not by waiting.
_SPENT = ("insufficient_quota", "billing_hard_limit", "credit balance")
_FILTERED = ("content_filter", "content_policy", "content management policy", "responsibleai")
_BUSY = ("overloaded", "rate_limit", "server_error", "api_error", "timeout")


def refused_status(access: Access, status: int, headers: httpx2.Headers, message: str) -> PlannerFailed:
    """An HTTP status that is no answer. 529 is what an overloaded endpoint of Anthropic says."""
    name, said = str(access.model), _said(access, message)
    low = message.lower()
    if any(word in low for word in _FILTERED):
        return PlannerRefused(planner=name, reason=f"a content filter stopped it (HTTP {status}: {said})")
    if any(word in low for word in _SPENT):
        return PlannerAnswerInvalid(planner=name, reason=f"the account has nothing left (HTTP {status}: {said})")
    if is_passing(status) or status == _CONFLICT:
        wait = retry_after(headers, now=time.time())
        return PlannerUnreachable(planner=name, reason=f"HTTP {status}: {said}", retry_after=wait)
    return PlannerAnswerInvalid(planner=name, reason=f"HTTP {status}: {said}{_advice(access, status)}")


def failed_in_stream(access: Access, message: str) -> PlannerFailed:
    """An error that the endpoint reports in the middle of its answer."""
    name, said = str(access.model), _said(access, message)
    if any(word in message.lower() for word in _FILTERED):
        return PlannerRefused(planner=name, reason=f"a content filter stopped it: {said}")
    if any(word in message.lower() for word in _SPENT):
        return PlannerAnswerInvalid(planner=name, reason=f"the account has nothing left: {said}")
    return PlannerUnreachable(planner=name, reason=f"it broke off with an error: {said}")


def lost(access: Access, error: BaseException) -> PlannerUnreachable:
    """A failure below HTTP: of the connection, or of the time."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, httpx2.HTTPError):
        cause = cause.__cause__
    said = reason_of(cause, connect=CONNECT_SECONDS) if cause is not None else one_line(str(error))
    return PlannerUnreachable(planner=str(access.model), reason=without_key(said, access.key))


def too_slow(access: Access, seconds: float) -> PlannerUnreachable:
    return PlannerUnreachable(planner=str(access.model), reason=f"no whole answer within {seconds:g} s of waiting")


def ended_early(access: Access, received: int) -> PlannerUnreachable:
    reason = f"the stream ended before the answer did, after {received} characters"
    return PlannerUnreachable(planner=str(access.model), reason=reason)


def declined(access: Access, said: str) -> PlannerRefused:
    return PlannerRefused(planner=str(access.model), reason=_said(access, said))


def unreadable(access: Access, error: BaseException) -> PlannerAnswerInvalid:
    reason = f"what came is not of this protocol: {_said(access, str(error))}"
    return PlannerAnswerInvalid(planner=str(access.model), reason=reason)


def usage_of(
    access: Access, *, received: int, tokens: tuple[int | None, int | None], finish: Finish, schema: bool
) -> Usage:
    """The usage of an answer that ended. Raises PlannerAnswerInvalid when nothing came.

    Tokens that are no numbers were not counted.
    """
    if received == 0:
        reason = "an empty answer"
        if finish == "length":
            reason = "its tokens were used up before the first word; allow more"
        raise PlannerAnswerInvalid(planner=str(access.model), reason=reason)
    taken, given = (count if type(count) is int and count >= 0 else None for count in tokens)
    return Usage(input_tokens=taken, output_tokens=given, finish=finish, schema=schema)


def unwanted_options(status: int, message: str, sent: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Which of the options that were sent the endpoint does not know: those whose words stand in its complaint."""
    if status not in (400, 404, 422, 501):
        return []
    low = message.lower()
    return [option for option, words in sent.items() if any(word in low for word in words)]


def http_client(access: Access) -> httpx2.AsyncClient:
    """Proxies of the environment are for the way out, not for this machine. Redirects could carry the key elsewhere."""
    # Reading is bounded by the time of the whole answer; a silent model that thinks is no fault.
    timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
    return httpx2.AsyncClient(timeout=timeout, trust_env=not access.model.is_local, follow_redirects=False)


def plain_schema(schema: Any) -> Any:  # Any: a JSON schema
    """The schema without the bounds that hosted endpoints refuse; what they bound is checked when it arrives."""
    if isinstance(schema, Mapping):
        return {key: plain_schema(value) for key, value in schema.items() if key not in _UNSUPPORTED}
    return [plain_schema(each) for each in schema] if isinstance(schema, list | tuple) else schema


_UNSUPPORTED = frozenset({"minLength", "maxLength", "minItems", "maxItems", "uniqueItems", "minimum", "maximum"})


def _said(access: Access, message: str) -> str:
    return one_line(without_key(message, access.key)) or "without a word"


def _advice(access: Access, status: int) -> str:
    if status in (401, 403):
        return f" (check the key in {MODEL_KEYS[access.model.vendor]})"
    if status == 404:
        return f" (is {access.model.name!r} a model there, and is the address right? It often ends in /v1)"
    return ""
