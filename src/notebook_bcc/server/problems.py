"""What the service says instead of an answer: `{"error": {"code", "message", "problems": [{"path", "problem"}]}}`.

A 409 holds one field more: `known` (the stages that there are, each with its steps) or `needs` (names of variables).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from starlette.responses import Response

from notebook_bcc.errors import (
    BccError,
    EvidenceMissing,
    MessageInvalid,
    PlannerUnreachable,
    PositionUnknown,
    RequestRefused,
)

# A message with a thousand faults is told the first few of them, and how many there are.
_MOST_PROBLEMS = 20
_LONGEST_PATH = 300
_LONGEST_TEXT = 2000


class Problem(Exception):
    """A refusal or a failure. Raised by an endpoint, it becomes the response."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        problems: Sequence[tuple[str, str]] = (),
        headers: Mapping[str, str] | None = None,
        facts: Mapping[str, object] | None = None,
    ) -> None:
        """`facts` are further fields of the error, such as what a planner knows."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.problems = problems
        self.headers = headers
        self.facts = facts or {}

    def response(self) -> Response:
        """In ASCII only, so that no text from the request can make it invalid."""
        shown = [
            {"path": path[:_LONGEST_PATH], "problem": problem[:_LONGEST_TEXT]}
            for path, problem in self.problems[:_MOST_PROBLEMS]
        ]
        more = len(self.problems) - len(shown)
        message = f"{self.message} ({more} more problems are not listed)" if more > 0 else self.message
        error = {"code": self.code, "message": message[:_LONGEST_TEXT], "problems": shown, **self.facts}
        body = json.dumps({"error": error}, separators=(",", ":"))
        return Response(body, self.status, self.headers, "application/json")


def invalid(error: MessageInvalid) -> Problem:
    """422: the body is JSON, and not the message that is wanted."""
    return Problem(422, "invalid_message", f"{error.what} is not valid.", problems=error.problems)


def failed(failure: BccError | OSError) -> Problem:
    """409 for a question that the planner cannot answer, 503 where trying again may help, 504 where it took too long,
    502 for an answer that is none."""
    match failure:
        case RequestRefused():
            return _conflict(failure)
        case PlannerUnreachable(retry_after=None):
            return Problem(503, "planner_unreachable", str(failure))
        case PlannerUnreachable(retry_after=float() | int() as seconds):
            return Problem(503, "planner_unreachable", str(failure), headers=retry_after(seconds))
        case TimeoutError():
            return Problem(504, "planner_too_slow", str(failure))
        case OSError():
            return Problem(503, "interrupted", f"There is no answer: {failure}.", headers=retry_after(1))
        case _:
            return Problem(502, "planner_failed", str(failure))


def _conflict(refusal: RequestRefused) -> Problem:
    """409: the request is well-formed, and does not go together with what the planner knows."""
    match refusal:
        case PositionUnknown():
            field = "stage_id" if refusal.step_id is None else "step_id"
            problems = [(f"observation.location.current.{field}", "is not known here")]
            facts: Mapping[str, object] = {"known": {"stages": refusal.known}}
            return Problem(409, "unknown_position", str(refusal), problems=problems, facts=facts)
        case EvidenceMissing():
            problems = [(f"observation.context.variables.{name}", "is required") for name in refusal.needs]
            facts = {"needs": refusal.needs}
            return Problem(409, "missing_evidence", str(refusal), problems=problems, facts=facts)
        case _:
            return Problem(409, "request_refused", str(refusal))


def retry_after(seconds: float) -> Mapping[str, str]:
    """The header that says when to come back; whole seconds, rounded up."""
    return {"retry-after": str(max(0, math.ceil(seconds)))}
