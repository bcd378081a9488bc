"""One question to a server and what came back, kept as it was: the evidence of every row."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from notebook_bcc.planners.remote.failures import needs_of

# JSON as it goes over the wire; the kit must be able to write and to look at what no model of ours would accept.
Json = dict[str, Any]

CONFLICT = 409
"""What a server answers that cannot judge this: it does not know the place, or lacks evidence."""

_SHOWN = 240
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\s]+")


@dataclass(frozen=True, slots=True)
class BodyChunk:
    """So many bytes of the body, read so many seconds after the question went out."""

    seconds: float
    size: int


@dataclass(frozen=True)
class Exchange:
    """A request and its answer. `status` 0: there was none, and `failure` says why. Secrets are taken out before."""

    method: str
    path: str
    sent: bytes = field(default=b"", repr=False)
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes = b""
    arrivals: tuple[BodyChunk, ...] = ()
    failure: str = ""
    connection: str = ""
    """The client's end of the connection: the same one twice means that it was kept open."""

    @property
    def kind(self) -> str:
        """The media type, lower case, without its parameters; empty where none was said."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @functools.cached_property
    def decoded(self) -> Any:  # Any: whatever the server sent
        """The body as JSON. Raises ValueError for what is none: not UTF-8, not JSON, or nested too deep."""
        try:
            found = json.loads(self.body.decode())
            # Half a character, which JSON can escape and clients refuse: UnicodeEncodeError is a ValueError.
            json.dumps(found, ensure_ascii=False).encode()
            return found
        except RecursionError as error:
            raise ValueError("nested too deep") from error

    @property
    def object(self) -> Json | None:
        """The JSON object in the body, whatever the status; None where there is none."""
        try:
            found = self.decoded
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    @property
    def needs(self) -> tuple[str, ...]:
        """The variables that a refusal names as missing; empty: this is none, or names none."""
        return needs_of(self.body) if self.status == CONFLICT else ()

    @property
    def problem(self) -> str:
        """Why this is not an answer with a JSON object; empty where it is one."""
        if self.failure:
            return self.failure
        if not 200 <= self.status <= 299:
            return f"HTTP {self.status}"
        if self.object is not None:
            return ""
        return "the body is empty" if not self.body.strip() else "the body is not a JSON object"

    @property
    def request_text(self) -> str:
        """The request whole; whoever shows it to a person cuts it with `shortened`."""
        body = f" {_text(self.sent)}" if self.sent else ""
        return f"{self.method} {self.path}{body}"

    @property
    def answer_text(self) -> str:
        if not self.status:
            return f"no answer: {self.failure}"
        broken = f" (then: {self.failure})" if self.failure else ""
        return f"HTTP {self.status} {self.kind or 'no content type'}: {_text(self.body) or 'nothing'}{broken}"


def shortened(text: bytes | str, limit: int = _SHOWN) -> str:
    """Bytes from outside on one line, cut in the middle with a mark that says how much is missing."""
    if isinstance(text, bytes):
        head, tail = text[: limit * 8], text[-limit * 4 :]
        text = text.decode(errors="backslashreplace") if len(text) < limit * 8 else _two_ends(head, tail, len(text))
    line = _UNSEEN.sub(" ", text).strip()
    if len(line) <= limit:
        return line
    kept = limit // 2
    return f"{line[:kept]} [... {len(line) - 2 * kept} characters ...] {line[-kept:]}"


def _text(body: bytes) -> str:
    return body.decode(errors="backslashreplace").strip()


def _two_ends(head: bytes, tail: bytes, size: int) -> str:
    """The ends of a long body; the middle stands for itself as its length, so that it is not decoded to be dropped."""
    middle = max(0, size - len(head) - len(tail))
    return (
        head.decode(errors="backslashreplace") + "." * min(middle, 9_999_999) + tail.decode(errors="backslashreplace")
    )
