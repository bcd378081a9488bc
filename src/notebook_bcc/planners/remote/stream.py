"""The bytes of a streamed answer to what the engine takes, without I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from notebook_bcc.errors import LineTooLong, MessageInvalid, PlannerAnswerInvalid, PlannerUnreachable, StreamBroken
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.protocol.messages import GeneratingResponse
from notebook_bcc.protocol.ndjson import DEFAULT_LINE_LIMIT, BadLine, Line, LineDecoder, Remark

_MOST_HELD = 100

# Any: an action is looked at by the engine, not here.
Translation = Callable[[Sequence[Any]], list[Any]]


@dataclass(frozen=True, slots=True)
class RemoteLimits:
    """How much a server may send: bytes of one line, bytes of one answer, actions of one behavior."""

    line_bytes: int = DEFAULT_LINE_LIMIT
    response_bytes: int = 64 * 1024 * 1024
    actions: int = 10_000


class ActionReader:
    """Reads one answer. What is given out is counted in `received`, for whoever must say how far a stream came.

    Until the first action nothing is given out: a stream that fails before it may be asked for again, and its
    warnings would then be those of an answer that nobody used. A server that does not stream and answers
    `{"actions": [...]}`, on one line or many, is understood at its end; `document` is then the whole of it.
    """

    def __init__(
        self,
        *,
        planner: str,
        where: str,
        limits: RemoteLimits,
        translate: Translation | None = None,
        hide: Callable[[str], str] = str,
    ) -> None:
        """`where` names the request in messages, and `hide` takes out of them what nobody should read; `translate`
        makes our actions of another dialect's."""
        self.received = 0
        self._planner = planner
        self._where = where
        self._limits = limits
        self._translate = translate
        self._hide = hide
        self._decoder = LineDecoder(limit=limits.line_bytes)
        self._bytes = 0
        self._lines = 0
        self._kept = bytearray()
        self._held: list[BadLine] = []
        self._held_back = 0
        self._bad = 0
        self.document: bytes = b""

    def feed(self, chunk: bytes) -> Iterator[Generated]:
        """What ends in this chunk. Raises like `broken` when a limit is passed."""
        self._bytes += len(chunk)
        if self._bytes > self._limits.response_bytes:
            raise self.broken(f"the answer is longer than {self._limits.response_bytes} bytes")
        try:
            lines = self._decoder.feed(chunk)
        except LineTooLong as error:
            raise self.broken(f"a line is longer than {error.limit} bytes") from error
        return self._items(lines) if self.received else self._opening(chunk, lines)

    def finish(self, *, delimited: bool) -> Iterator[Generated]:
        """What the end completes. Raises like `broken`, and PlannerAnswerInvalid when nothing was an action.

        An answer that is not `delimited`, by its length or in chunks, ends where the connection does: whether the
        server had said all can be told from its last line only.
        """
        if not delimited and not self._bytes:
            raise self.broken("the connection was closed before the first line")
        try:
            lines = self._decoder.finish()
        except LineTooLong as error:
            raise self.broken(f"a line is longer than {error.limit} bytes") from error
        if self.received:
            if not delimited and lines and isinstance(lines[-1], BadLine):
                raise self.broken("the connection was closed in the middle of a line")
            yield from self._items(lines)
            return
        yield from self._opening(b"", lines)
        if not self.received:
            yield from self._whole() if self._bad else self._released()

    def broken(self, reason: str) -> PlannerUnreachable | StreamBroken:
        """The error for a stream that failed here. Before the first action the question may be asked again."""
        if self.received:
            return StreamBroken(planner=self._planner, received=self.received, reason=f"{self._where}: {reason}")
        skipped = f", after {self._bad} lines that are no actions" if self._bad else ""
        return PlannerUnreachable(planner=self._planner, reason=f"{self._where}: {reason}{skipped}")

    def _opening(self, chunk: bytes, lines: Sequence[Line]) -> Iterator[Generated]:
        """Hold everything back until there is an action."""
        if all(isinstance(line, BadLine) for line in lines):
            self._hold(chunk, lines)
            return
        self._kept.clear()
        yield from self._released()
        yield from self._items(lines)

    def _hold(self, chunk: bytes, lines: Sequence[Line]) -> None:
        for line in lines:
            if isinstance(line, BadLine):
                self._bad += not isinstance(line, Remark)
                self._held_back += 1
                if len(self._held) < _MOST_HELD:
                    self._held.append(line)
        # Blank lines keep a connection alive while the server thinks: there may be any number of them.
        if self._kept or not chunk.isspace():
            self._kept += chunk
        if len(self._kept) > self._limits.line_bytes:
            raise self.broken(f"there is no action in the first {self._limits.line_bytes} bytes")

    def _released(self) -> Iterator[Generated]:
        for line in self._held:
            yield self._skipped(line)
        if self._held_back > len(self._held):
            yield StreamWarning(f"{self._where}: {self._held_back - len(self._held)} more lines were skipped")

    def _items(self, lines: Iterable[Any]) -> Iterator[Generated]:
        most, translate = self._limits.actions, self._translate
        for line in lines:
            self._lines += 1
            if self._lines > most:
                raise self.broken(f"there are more than {most} actions")
            if isinstance(line, BadLine):
                yield self._skipped(line)
            elif translate is None:
                self.received += 1
                yield ActionData(line)
            else:
                for action in translate([line]):
                    self.received += 1
                    yield ActionData(action)

    def _skipped(self, line: BadLine) -> StreamWarning:
        said = f"the server says: {line.message}" if isinstance(line, Remark) else str(line)
        return StreamWarning(self._hide(f"{self._where}: {said}"))

    def _whole(self) -> Iterator[Generated]:
        """The actions of an answer that is one document."""
        nothing = f"there is no action in it: {self._held[0]}"
        try:
            answer = GeneratingResponse.parse(bytes(self._kept))
        except MessageInvalid as error:
            named = any(path for path, _ in error.problems)
            raise self._invalid(str(error) if named else nothing) from error
        if "actions" not in answer.model_fields_set:
            raise self._invalid(nothing)
        self.document = bytes(self._kept)
        for warning in _warnings(answer):
            yield StreamWarning(self._hide(f"{self._where}: the server says: {warning}"))
        yield from self._items(_unwrapped(action) for action in answer.actions)

    def _invalid(self, reason: str) -> PlannerAnswerInvalid:
        return PlannerAnswerInvalid(planner=self._planner, reason=self._hide(f"{self._where}: {reason}"))


def _warnings(answer: GeneratingResponse) -> list[str]:
    """The same remarks in an answer that is not streamed."""
    listed = (answer.model_extra or {}).get("warnings")
    return [one for one in listed if isinstance(one, str)][:_MOST_HELD] if isinstance(listed, list) else []


def _unwrapped(action: Any) -> Any:  # Any: not looked at yet
    return action["action"] if isinstance(action, dict) and isinstance(action.get("action"), dict) else action
