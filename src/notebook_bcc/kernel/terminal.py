"""Text as a terminal would leave it: carriage returns, backspaces and line erasing applied, colours kept."""

from __future__ import annotations

import re

_REWRITING = re.compile("[\r\b]|\x1b\\[[02]?K")
_ESCAPE = "\x1b\\[[0-9;?]*[ -/]*[@-~]"
_TOKEN = re.compile(f"{_ESCAPE}|.", re.DOTALL)
# A line longer than this is taken as finished: no progress bar is that long, and rewriting it would cost too much.
_LONGEST_LINE = 65_536


class Line:
    """The last, unfinished line of a stream, where the next piece of text may still write over what is there."""

    def __init__(self) -> None:
        self._text = ""
        # Where the next character goes; None at the end of the text.
        self._column: int | None = None

    def write(self, text: str) -> str:
        """Take in text; what is finished by it (whole lines) is returned, the rest stays open."""
        if self._column is None and not _REWRITING.search(text):
            whole = self._text + text
            end = len(whole) if len(whole) > _LONGEST_LINE else whole.rfind("\n") + 1
            self._text = whole[end:]
            return whole[:end]
        *finished, last = text.split("\n")
        done: list[str] = []
        for line in finished:
            # "\r\n" is a line's end, not the rewriting of a line.
            self._overwrite(line.removesuffix("\r"))
            done.append(self.close() + "\n")
        self._overwrite(last)
        if len(self._text) > _LONGEST_LINE:
            done.append(self.close())
        return "".join(done)

    def peek(self) -> str:
        """What is open."""
        return self._text

    def close(self) -> str:
        """What was open; the line starts anew."""
        text, self._text, self._column = self._text, "", None
        return text

    def _overwrite(self, text: str) -> None:
        for index, part in enumerate(text.split("\r")):
            if index:
                self._column = 0 if self._text else None
            if not part:
                continue
            plain = "\b" not in part and "\x1b" not in part and "\x1b" not in self._text
            if plain and self._column is None:
                self._text += part
            elif plain and self._column == 0:
                rest = self._text[len(part) :]
                self._text, self._column = part + rest, len(part) if rest else None
            else:
                self._write_cells(part)

    def _write_cells(self, part: str) -> None:
        """The slow way, for colours, backspaces and erasing: column by column."""
        cells, escapes = _cells(self._text)
        at = len(cells) if self._column is None else self._column
        for token in _TOKEN.findall(part):
            if token == "\b":
                at = max(0, at - 1)
            elif token in ("\x1b[K", "\x1b[0K"):
                del cells[at:]
            elif token == "\x1b[2K":
                cells.clear()
            elif len(token) > 1:
                escapes += token
            else:
                cells += [" "] * (at - len(cells))
                cells[at : at + 1] = [escapes + token]
                at, escapes = at + 1, ""
        self._text = "".join(cells) + escapes
        self._column = at if at != len(cells) else None


def _cells(text: str) -> tuple[list[str], str]:
    """What takes one column each, a character with the escapes before it; and the escapes at the end."""
    cells: list[str] = []
    escapes = ""
    for token in _TOKEN.findall(text):
        escapes += token
        if len(token) == 1:
            cells.append(escapes)
            escapes = ""
    return cells, escapes
