"""Bytes of a streamed answer to actions and back, without I/O: one `{"action": {...}}` a line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import from_json

from notebook_bcc.errors import LineTooLong
from notebook_bcc.protocol.actions import ActionBase
from notebook_bcc.protocol.message import encoded
from notebook_bcc.protocol.messages import ActionLine

DEFAULT_LINE_LIMIT = 16 * 1024 * 1024
_EXCERPT = 120
_LONGEST_REMARK = 2000
_NAMES = frozenset({str})
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that holds no action. The lines after it are not affected."""

    number: int
    reason: str
    excerpt: str

    def __str__(self) -> str:
        return f"line {self.number} was skipped: {self.reason}: {self.excerpt!r}"


@dataclass(frozen=True, slots=True)
class Remark(BadLine):
    """A line `{"warning": "..."}`: something the server wants to be known. Not an action, and no fault."""

    message: str


Line = dict[str, Any] | BadLine


class LineDecoder:
    """Makes actions of bytes as they arrive, cut anywhere. Each byte is looked at once, whatever the chunks.

    A line ends at b"\\n" and nowhere else: U+2028, U+0085 and a bare carriage return may stand inside a JSON text.
    Never holds more than `limit` bytes. After LineTooLong the decoder is spent and says so again.
    """

    def __init__(self, *, limit: int = DEFAULT_LINE_LIMIT) -> None:
        self._limit = limit
        self._begun = bytearray()
        self._number = 0
        self._overrun = False

    def feed(self, chunk: bytes) -> list[Line]:
        """The actions and bad lines that end in this chunk.

        Raises LineTooLong. Where lines before the long one end in the same chunk, they are returned first and the
        next call raises: how the bytes were cut never decides what is lost.
        """
        if self._overrun:
            raise LineTooLong(limit=self._limit)
        lines: list[Line] = []
        *whole, tail = chunk.split(b"\n")
        for line in whole:
            if len(self._begun) + len(line) > self._limit:
                return self._stop(lines)
            self._read(self._take(line), lines)
        if len(self._begun) + len(tail) > self._limit:
            return self._stop(lines)
        self._begun += tail
        return lines

    def finish(self) -> list[Line]:
        """What the end of the stream completes: a last line without newline counts. Raises LineTooLong."""
        if self._overrun:
            raise LineTooLong(limit=self._limit)
        lines: list[Line] = []
        if self._begun:
            self._read(self._take(b""), lines)
        return lines

    def _take(self, rest: bytes) -> bytes:
        """A line with what earlier chunks began of it."""
        if not self._begun:
            return rest
        line = bytes(self._begun) + rest
        self._begun.clear()
        return line

    def _stop(self, lines: list[Line]) -> list[Line]:
        """The lines before the one that is too long, or the error when there are none."""
        self._overrun = True
        self._begun.clear()
        if not lines:
            raise LineTooLong(limit=self._limit)
        return lines

    def _read(self, line: bytes, lines: list[Line]) -> None:
        self._number += 1
        try:
            action = from_json(line)["action"]
        except (ValueError, KeyError, TypeError) as error:
            self._read_odd(line, lines, error)
            return
        if type(action) is dict:
            lines.append(action)
        else:
            reason = f"the value of 'action' is not an object but {_kind(action)}"
            lines.append(self._bad(line, reason))

    def _read_odd(self, line: bytes, lines: list[Line], error: Exception) -> None:
        """A line that is not what nearly every line is: blank, after a byte order mark, or bad."""
        if not line.strip():
            return
        if self._number == 1 and line.startswith(_BYTE_ORDER_MARK):
            self._number = 0
            self._read(line.removeprefix(_BYTE_ORDER_MARK), lines)
            return
        match error:
            case KeyError():
                found = from_json(line)
                said = found.get("warning")
                # A whole answer on one line may hold a remark as well; it is not one.
                if isinstance(said, str) and "actions" not in found:
                    lines.append(self._remark(line, said))
                    return
                reason = "the object has no key 'action'"
            case TypeError():
                reason = "not a JSON object"
            case _:
                reason = f"not JSON: {error}"
        lines.append(self._bad(line, reason))

    def _remark(self, line: bytes, said: str) -> Remark:
        bad = self._bad(line, "it is a remark")
        message = said if len(said) <= _LONGEST_REMARK else said[:_LONGEST_REMARK] + "..."
        return Remark(number=bad.number, reason=bad.reason, excerpt=bad.excerpt, message=message)

    def _bad(self, line: bytes, reason: str) -> BadLine:
        excerpt = line[: _EXCERPT * 4].decode(errors="replace").strip()
        cut = excerpt if len(excerpt) <= _EXCERPT else excerpt[:_EXCERPT] + "..."
        return BadLine(number=self._number, reason=reason, excerpt=cut)


def encode_line(action: ActionBase | Mapping[str, Any]) -> bytes:
    """One action as one line, newline included, ready to be flushed."""
    if isinstance(action, ActionBase) or _NAMES.issuperset(map(type, action)):
        return b'{"action":%b}\n' % encoded(action if isinstance(action, ActionBase | dict) else dict(action))
    return ActionLine(action=dict(action)).to_json() + b"\n"


def _kind(value: object) -> str:
    return "null" if value is None else type(value).__name__
