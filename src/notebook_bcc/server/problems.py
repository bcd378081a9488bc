"""What the service says instead of an answer: `{"error": {"code", "message", "problems": [{"path", "problem"}]}}`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from starlette.responses import Response

from notebook_bcc.errors import BccError, MessageInvalid, PlannerUnreachable

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
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.problems = problems
        self.headers = headers

    def response(self) -> Response:
        """In ASCII only, so that no text from the request can make it invalid."""
        shown = [
            {"path": path[:_LONGEST_PATH], "problem": problem[:_LONGEST_TEXT]}
            for path, problem in self.problems[:_MOST_PROBLEMS]
        ]
        more = len(self.problems) - len(shown)
        message = f"{self.message} ({more} more problems are not listed)" if more > 0 else self.message
        error = {"code": self.code, "message": message[:_LONGEST_TEXT], "problems": shown}
        body = json.dumps({"error": error}, separators=(",", ":"))
        return Response(body, self.status, self.headers, "application/json")


def invalid(error: MessageInvalid) -> Problem:
    """422: the body is JSON, and not the message that is wanted."""
    return Problem(422, "invalid_message", f"{error.what} is not valid.", problems=error.problems)


def failed(failure: BccError | OSError) -> Problem:
    """503 where trying again may help, 504 where it took too long, 502 for an answer that is none."""
    match failure:
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


def retry_after(seconds: float) -> Mapping[str, str]:
    """The header that says when to come back; whole seconds, rounded up."""
    return {"retry-after": str(max(0, math.ceil(seconds)))}
