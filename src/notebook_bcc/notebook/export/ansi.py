"""Terminal text as HTML: colours become spans, everything else a terminal would do is done or left out."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import escape

# Colour sequences, other control sequences, operating-system commands (titles, links), two-character escapes.
_SEQUENCE = re.compile(r"\x1b\[([0-9;:]*)m|\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NAMES = ("black", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_CUBE = (0, 95, 135, 175, 215, 255)


@dataclass(frozen=True, slots=True)
class _Style:
    bold: bool = False
    italic: bool = False
    underline: bool = False
    front: str = ""
    back: str = ""


_PLAIN = _Style()


def plain_text(text: str) -> str:
    """The text without colours and control characters, overwritten lines left out."""
    return _CONTROL.sub("", _SEQUENCE.sub("", _overwritten(text)))


def ansi_html(text: str) -> str:
    """The text as safe HTML. The sixteen colours are classes (`ansi-red`), the others inline colours."""
    parts: list[str] = []
    style, position = _PLAIN, 0
    text = _overwritten(text)
    for found in _SEQUENCE.finditer(text):
        parts.append(_span(text[position : found.start()], style))
        position = found.end()
        if found[1] is not None:
            style = _changed(style, [int(code or 0) for code in re.split("[;:]", found[1][:200])])
    parts.append(_span(text[position:], style))
    return "".join(parts)


def _overwritten(text: str) -> str:
    """What is left on a terminal of lines with carriage returns: of a progress bar, its last state."""
    if "\r" not in text:
        return text
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines)


def _span(text: str, style: _Style) -> str:
    text = escape(_CONTROL.sub("", text))
    if not text or style == _PLAIN:
        return text
    classes = [name for name in ("bold", "italic", "underline") if getattr(style, name)]
    inline = []
    for colour, prefix, rule in ((style.front, "", "color"), (style.back, "bg-", "background-color")):
        if colour.startswith("#"):
            inline.append(f"{rule}:{colour}")
        elif colour:
            classes.append(f"{prefix}{colour}")
    names = f' class="{" ".join(f"ansi-{name}" for name in classes)}"' if classes else ""
    rules = f' style="{";".join(inline)}"' if inline else ""
    return f"<span{names}{rules}>{text}</span>"


def _changed(style: _Style, codes: list[int]) -> _Style:
    while codes:
        code = codes.pop(0)
        if code == 0:
            style = _PLAIN
        elif code in (1, 22):
            style = replace(style, bold=code == 1)
        elif code in (3, 23):
            style = replace(style, italic=code == 3)
        elif code in (4, 24):
            style = replace(style, underline=code == 4)
        elif code in (38, 48):
            colour = _extended(codes)
            style = replace(style, front=colour) if code == 38 else replace(style, back=colour)
        elif code in (39, 49):
            style = replace(style, front="") if code == 39 else replace(style, back="")
        elif (name := _named(code)) is not None:
            style = replace(style, back=name) if code // 10 in (4, 10) else replace(style, front=name)
    return style


def _named(code: int) -> str | None:
    if code // 10 in (3, 4) and code % 10 < 8:
        return _NAMES[code % 10]
    if code // 10 in (9, 10) and code % 10 < 8:
        return f"bright-{_NAMES[code % 10]}"
    return None


def _extended(codes: list[int]) -> str:
    """The colour of `5;n` (256 colours) or `2;r;g;b`, taken from the front of `codes`; empty when cut off."""
    kind = codes.pop(0) if codes else 0
    if kind == 5 and codes:
        return _indexed(min(codes.pop(0), 255))
    if kind == 2 and len(codes) >= 3:
        red, green, blue = (min(codes.pop(0), 255) for _ in range(3))
        return f"#{red:02x}{green:02x}{blue:02x}"
    codes.clear()
    return ""


def _indexed(number: int) -> str:
    if number < 8:
        return _NAMES[number]
    if number < 16:
        return f"bright-{_NAMES[number - 8]}"
    if number >= 232:
        grey = 8 + 10 * (number - 232)
        return f"#{grey:02x}{grey:02x}{grey:02x}"
    place = number - 16
    return f"#{_CUBE[place // 36]:02x}{_CUBE[place // 6 % 6]:02x}{_CUBE[place % 6]:02x}"
