"""TeX formulas as MathML, which browsers draw without any script or font of ours.

The library that converts them guesses at what it does not know: an unknown command becomes its name, an unknown
environment a row, a missing argument nothing. A formula in which that shows is not drawn: `mathml` gives None, and its
source is shown instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape
from typing import Final
from xml.etree import ElementTree

from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element

from notebook_bcc.notebook.export.sanitising import safe_mathml

# The library recurses, and reads about 100 characters in a millisecond.
_MAX_LENGTH = 4000
_MAX_DEPTH = 30
# What other environments are to the library; the other known ones are its own.
_SAME: Final[Mapping[str, str]] = {
    **dict.fromkeys(["align", "aligned"], "align*"),
    **dict.fromkeys(["gather", "gather*", "gathered"], "matrix"),
}
_KNOWN = frozenset(["matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix"])
_KNOWN |= {"array", "cases", "split", "align*", "equation", "equation*"}
_ENVIRONMENT = re.compile(r"(\\(?:begin|end)\s*)\{([^{}]*)\}")
# Definitions could make much of little, and a comment ends the formula before its reader would.
_REFUSED = re.compile(r"\\(?:def|let|newcommand|newenvironment|Declare)|(?<!\\)%")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
# What is meant the library writes as numbers (`&#x0007B;`); left in a text these are what it made no sense of.
_MEANT = re.compile(r"&#x[0-9A-F]+;")
_UNREAD = re.compile(r"[\\{}$#^_&]")
_ARITIES = {"mfrac": 2, "msub": 2, "msup": 2, "munder": 2, "mover": 2, "mroot": 2, "msubsup": 3, "munderover": 3}
# The library's own errors have no common base, and what it does not expect ends in one of Python's.
_FAILURES = tuple(one for one in vars(exceptions).values() if isinstance(one, type) and issubclass(one, Exception))
_FAILURES += (LookupError, TypeError, ValueError, AttributeError, RuntimeError, StopIteration)


def mathml(source: str, *, display: bool) -> str | None:
    """The `<math>` element of a TeX formula, or None when it cannot be drawn as it is meant."""
    if len(source) > _MAX_LENGTH or _REFUSED.search(source) or _depth(source) > _MAX_DEPTH:
        return None
    if any(_SAME.get(name, name) not in _KNOWN for _, name in _ENVIRONMENT.findall(source)):
        return None
    known = _ENVIRONMENT.sub(lambda found: f"{found[1]}{{{_SAME.get(found[2], found[2])}}}", source)
    try:
        drawn = convert_to_element(known, display="block" if display else "inline")
        return safe_mathml(_written(drawn)) if _is_understood(drawn) else None
    except _FAILURES:
        return None


def _depth(source: str) -> int:
    """How deep its braces are nested; a large number when they do not match."""
    depth = deepest = 0
    for brace in _BRACE.findall(source):
        depth += {"{": 1, "}": -1}.get(brace, 0)
        deepest = max(deepest, depth)
        if depth < 0:
            break
    return _MAX_DEPTH + 1 if depth else deepest


def _is_understood(drawn: ElementTree.Element) -> bool:
    return not any(_is_guessed(element) for element in drawn.iter())


def _is_guessed(element: ElementTree.Element) -> bool:
    text = element.text or ""
    if len(element) != _ARITIES.get(element.tag, len(element)) or _UNREAD.search(_MEANT.sub("", text)):
        return True
    # An operator without a sign that is no invisible bracket; a line break outside of a table.
    return (element.tag == "mo" and not text and "fence" not in element.attrib) or "linebreak" in element.attrib


def _written(drawn: ElementTree.Element) -> str:
    for element in drawn.iter():
        element.text = unescape(element.text) if element.text else None
    return ElementTree.tostring(drawn, encoding="unicode")
