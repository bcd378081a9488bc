"""A cell's outputs, gathered as they arrive into what a notebook keeps: merged, updated, and within limits.

Text beyond the limit is cut in the middle and the cut is visible; what is held in memory never exceeds the limits by
more than one message, however much arrives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from notebook_bcc.kernel.interface import CellError
from notebook_bcc.kernel.local.wire import Content
from notebook_bcc.kernel.terminal import Line
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.progress import is_progress

_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class OutputLimits:
    """In bytes of UTF-8. `cell`: all outputs of one cell together, half from its beginning and half from its end;
    `text` and `binary`: one item of one display or result, replaced by a note when larger; `traceback`: one error."""

    cell: int = 10_000_000
    text: int = 10_000_000
    binary: int = 20_000_000
    traceback: int = 200_000


@dataclass(slots=True)
class _Piece:
    """Stream text (`name` set) or one other output; `size` in bytes."""

    size: int
    name: str = ""
    text: str = ""
    output: Output = field(default_factory=dict)
    display_id: str | None = None


class OutputCollector:
    """Takes the messages of one cell; `outputs` is nbformat's list of them at any moment."""

    def __init__(self, limits: OutputLimits) -> None:
        self._limits = limits
        # What an output costs besides its text, so that a million empty ones are bounded too.
        self._overhead = limits.cell // 30_000
        self._stream = ""
        self._line = Line()
        self._open: list[str] = []
        self._open_size = 0
        self._clear_first = False
        self._reset()

    @property
    def dropped_bytes(self) -> int:
        return self._cut_bytes + self._replaced_bytes

    def add(self, kind: str, content: Content) -> Output | None:
        """Take one message of a cell; returns it as a nbformat output, None when it is none (such as clear_output).

        An update of a display that this cell does not have is returned all the same: its owner is an earlier cell.
        """
        if kind == "stream":
            return self._add_stream(content.get("name", "stdout"), content.get("text", ""))
        if kind == "clear_output":
            self._clear(wait=bool(content.get("wait")))
            return None
        output = self._as_output(kind, content)
        if output is None:
            return None
        if is_progress(output):
            # Seen while the cell runs, and kept nowhere.
            return output
        display_id = content.get("transient", {}).get("display_id")
        if display_id is not None:
            self._update(display_id, output)
        if kind != "update_display_data":
            self._before_output()
            self._close_stream()
            self._store(_Piece(size=_size(output), output=output, display_id=display_id))
        return output

    @classmethod
    def convert(cls, kind: str, content: Content) -> Output | None:
        """One message on its own as a nbformat output, within the default limits."""
        return cls(OutputLimits()).add(kind, content)

    def holds_display(self, display_id: str) -> bool:
        return any(piece.display_id == display_id for piece in self._pieces())

    def replace_error(self, error: CellError) -> None:
        """Make `error` the cell's error, in place of the one the kernel sent if it did."""
        output = error_output(error)
        for piece in self._pieces():
            if piece.output.get("output_type") == "error":
                piece.output = output
                return
        self._close_stream()
        self._store(_Piece(size=_size(output), output=output))

    def outputs(self) -> tuple[Output, ...]:
        """What a notebook keeps, so far."""
        self._commit_open()
        open_text = self._line.peek()
        pieces = [*self._head]
        if self._cut_bytes:
            name = self._tail[0].name if self._tail else self._stream
            note = f"\n[... {self._cut_bytes:,} bytes of output cut here: the limit is {self._limits.cell:,} ...]\n"
            pieces.append(_Piece(size=0, name=name or "stdout", text=note))
        pieces += self._tail
        if open_text:
            pieces.append(_Piece(size=0, name=self._stream, text=open_text))
        return tuple(_merge(pieces))

    def _add_stream(self, name: str, text: str) -> Output:
        self._before_output()
        if name != self._stream:
            self._close_stream()
            self._stream = name
        finished = self._line.write(text)
        if finished:
            self._open.append(finished)
            self._open_size += len(finished)
            if self._open_size > min(_CHUNK, self._limits.cell):
                self._commit_open()
        return {"output_type": "stream", "name": name, "text": text}

    def _as_output(self, kind: str, content: Content) -> Output | None:
        if kind in ("display_data", "update_display_data"):
            return {"output_type": "display_data", **self._bundle(content)}
        if kind == "execute_result":
            count = content.get("execution_count")
            return {"output_type": "execute_result", **self._bundle(content), "execution_count": count}
        if kind == "error":
            return error_output(read_error(content, self._limits))
        return None

    def _bundle(self, content: Content) -> Content:
        data = {mime: self._within(mime, value) for mime, value in content.get("data", {}).items()}
        return {"data": data, "metadata": content.get("metadata", {})}

    def _within(self, mime: str, value: Any) -> Any:
        binary = not mime.startswith("text/") and mime.partition("/")[0] in ("image", "audio", "video", "application")
        limit = self._limits.binary if binary and isinstance(value, str) else self._limits.text
        size = _value_size(value)
        if size <= limit:
            return value
        self._replaced_bytes += size
        note = f"[{mime} of {size:,} bytes left out: the limit is {limit:,}]"
        return note if isinstance(value, str) else {"notebook_bcc": note}

    def _update(self, display_id: str, output: Output) -> None:
        changed = {"data": output.get("data", {}), "metadata": output.get("metadata", {})}
        size = _size(output)
        for piece in self._head:
            if piece.display_id == display_id:
                self._head_room -= size - piece.size
                piece.output, piece.size = {**piece.output, **changed}, size
        for piece in self._tail:
            if piece.display_id == display_id:
                self._tail_weight += size - piece.size
                piece.output, piece.size = {**piece.output, **changed}, size
        self._trim_head()
        self._trim_tail()

    def _clear(self, *, wait: bool) -> None:
        if wait:
            self._clear_first = True
        else:
            self._reset()

    def _before_output(self) -> None:
        if self._clear_first:
            self._reset()

    def _reset(self) -> None:
        self._head: list[_Piece] = []
        self._tail: deque[_Piece] = deque()
        self._head_room = self._limits.cell - self._limits.cell // 2
        self._tail_weight = 0
        self._cut_bytes = 0
        self._replaced_bytes = 0
        self._clear_first = False
        self._line.close()
        self._open, self._open_size, self._stream = [], 0, ""

    def _close_stream(self) -> None:
        if self._stream:
            self._open.append(self._line.close())
            self._commit_open()
            self._stream = ""

    def _commit_open(self) -> None:
        text = "".join(self._open)
        self._open, self._open_size = [], 0
        if text:
            self._store(_Piece(size=text_size(text), name=self._stream, text=text))

    def _store(self, piece: _Piece) -> None:
        weight = piece.size + self._overhead
        if not self._tail and weight <= self._head_room:
            self._head_room -= weight
            self._head.append(piece)
            return
        if piece.name and not self._tail and self._head_room:
            first, rest = split_text(piece.text, self._head_room)
            self._head.append(_Piece(size=text_size(first), name=piece.name, text=first))
            piece = _Piece(size=text_size(rest), name=piece.name, text=rest)
        self._head_room = 0
        self._tail.append(piece)
        self._tail_weight += piece.size + self._overhead
        self._trim_tail()

    def _trim_head(self) -> None:
        """Pass on what has no room there any more, as a display has grown."""
        while self._head_room < 0:
            newest = self._head.pop()
            self._head_room += newest.size + self._overhead
            if self._cut_bytes:
                # It stands before the cut, the tail behind it.
                self._cut_bytes += newest.size
            else:
                self._tail.appendleft(newest)
                self._tail_weight += newest.size + self._overhead

    def _trim_tail(self) -> None:
        room = self._limits.cell // 2
        while (excess := self._tail_weight - room) > 0:
            oldest = self._tail[0]
            if oldest.name and excess < oldest.size:
                # A character that straddles the limit is cut away whole.
                _, kept = split_text(oldest.text, excess + 3 if not oldest.text.isascii() else excess)
                self._tail[0] = _Piece(size=text_size(kept), name=oldest.name, text=kept)
                self._count_cut(oldest.size - self._tail[0].size)
            elif len(self._tail) == 1:
                # The newest output is never cut away: it has been held to its own limit already.
                return
            else:
                self._tail.popleft()
                self._count_cut(oldest.size)
                self._tail_weight -= self._overhead

    def _count_cut(self, size: int) -> None:
        self._cut_bytes += size
        self._tail_weight -= size

    def _pieces(self) -> Iterable[_Piece]:
        yield from self._head
        yield from self._tail


def read_error(content: Content, limits: OutputLimits) -> CellError:
    """An error as the kernel reports it, its message and traceback held to the limit."""
    lines = content.get("traceback") or []
    return CellError(
        name=str(content.get("ename", "")),
        message=_shorten(str(content.get("evalue", "")), limits.traceback),
        traceback=tuple(_shorten("\n".join(lines), limits.traceback).split("\n"))
        if _long(lines, limits)
        else tuple(lines),
    )


def error_output(error: CellError) -> Output:
    return {
        "output_type": "error",
        "ename": error.name,
        "evalue": error.message,
        "traceback": list(error.traceback),
    }


def text_size(text: str) -> int:
    """Bytes of UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def split_text(text: str, at: int) -> tuple[str, str]:
    """The text in two, the first of at most `at` bytes; no character is torn."""
    if text.isascii():
        return text[:at], text[at:]
    first = text.encode("utf-8", "surrogatepass")[:at].decode("utf-8", "ignore")
    return first, text[len(first) :]


def _long(lines: list[str], limits: OutputLimits) -> bool:
    return sum(map(len, lines)) > limits.traceback


def _shorten(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half:,} characters cut ...]\n{text[len(text) - half :]}"


def _size(output: Output) -> int:
    if output["output_type"] == "error":
        return text_size(output["evalue"]) + sum(map(text_size, output["traceback"]))
    return sum(map(_value_size, output["data"].values()))


def _value_size(value: Any) -> int:
    return text_size(value) if isinstance(value, str) else len(orjson.dumps(value, default=str))


def _merge(pieces: Iterable[_Piece]) -> Iterable[Output]:
    """nbformat's outputs: consecutive text of one stream is one output."""
    name, texts = "", list[str]()
    for piece in pieces:
        if piece.name and not piece.text:
            # Cut between two characters: nothing of it is left on this side.
            continue
        if piece.name != name and texts:
            yield {"output_type": "stream", "name": name, "text": "".join(texts)}
            texts = []
        name = piece.name
        if name:
            texts.append(piece.text)
        else:
            yield piece.output
    if texts:
        yield {"output_type": "stream", "name": name, "text": "".join(texts)}
