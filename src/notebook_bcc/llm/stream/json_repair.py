"""JSON as models write it, read with few and harmless repairs.

They are made only to a text that cannot be read as it is: trailing commas go; `True`, `False` and `None` become JSON; a
backslash that begins no JSON escape stands for itself (`\\d`), and `\\'` is an apostrophe; half of a surrogate pair
becomes U+FFFD. Line breaks and other control characters may stand in a string as they are.
"""

from __future__ import annotations

import json
import re
from typing import Any

_LONE = re.compile(r"\\u[dD][89a-fA-F]")
# A string that does not end is one token: to look for others in it would take the square of the time.
_TOKEN = re.compile(
    r'(?P<text>"[^"\\]*(?:\\.[^"\\]*)*"?)|(?P<comma>,(?=[ \t\r\n]*[}\]]))|\b(?P<word>True|False|None)\b', re.DOTALL
)
_HEX = "[0-9a-fA-F]"
_ESCAPE = re.compile(
    rf"\\(?:(?P<pair>u[dD][89abAB]{_HEX}{{2}}\\u[dD][c-fC-F]{_HEX}{{2}})|(?P<lone>u[dD][89a-fA-F]{_HEX}{{2}})"
    rf"|(?P<known>[\"\\/bfnrt]|u{_HEX}{{4}})|(?P<mark>')|(?P<other>.))",
    re.DOTALL,
)
_WORDS = {"True": "true", "False": "false", "None": "null"}


def read_mended(text: str) -> Any:  # Any: JSON
    """The value that is this text, repaired where it must be. Raises ValueError, RecursionError."""
    if "\\u" in text and _LONE.search(text):
        return _repaired(text)
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return _repaired(text)


def _repaired(text: str) -> Any:  # Any: JSON
    return _DECODER.decode(_TOKEN.sub(_mended, text))


def _mended(token: re.Match[str]) -> str:
    if token["comma"]:
        return ""
    if token["word"]:
        return _WORDS[token["word"]]
    return _ESCAPE.sub(_mended_escape, token["text"]) if "\\" in token["text"] else token["text"]


def _mended_escape(escape: re.Match[str]) -> str:
    if escape["lone"]:
        return r"\ufffd"
    if escape["mark"]:
        return "'"
    if escape["other"] is not None:
        return rf"\\{escape['other']}"
    return escape[0]


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


# Not strict: models write line breaks into strings as they are.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant)
