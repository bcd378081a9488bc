"""Texts that code has printed, with what may be a value of the data taken out. Pure.

Kept are numbers, names that are known (columns, variables), and words of a fixed list. Rows of tables, lists and quoted
texts go: they show data. A number in a sentence stays: it is taken for an aggregate, rounded when it is long enough to
be somebody's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from notebook_bcc.llm.prompt.sharing_words import AGGREGATES, CHINESE, WORDS

WITHHELD = "[withheld]"
_MOST_NAMES = 2_000
_LONG_NUMBER = 7
_CODE_LIKE = r"\d+(?:[-/:]\d+)+[\w.:+-]*|\d+(?:\.\d+){2,}[\w.]*"
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?%?(?!\w)|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?%?(?!\w)"
_WORD = r"[^\W\d_](?:[\w'’-]*\w)?|\w+"
# An escaped quotation mark opens nothing, nor does one of a pair before another: each would be looked at to the end.
_QUOTED = r"(?<!\\)'(?:[^'\\\n]|\\.)*'|(?<!\\)\"(?:[^\"\\\n]|\\.)*\"|`[^`\n]*`|“[^“”\n]*”|‘[^‘’\n]*’"
_MANY = re.compile(r"\[[^\[\]]*\]|\{[^{}]*\}|\([^()]*\)")
_ITEM = re.compile(rf"{_NUMBER}|{_QUOTED}|{_WORD}")
_GAP = re.compile(r"\t|\s{2,}|\s*\|\s*")
_FIELDS = re.compile(r"[^\s,;\t|]*(?:[,;\t|][^\s,;\t|]*){3,}")
_COUNTED = re.compile(r"^Name: (?:count|proportion)\b|^(?:count|proportion)$")
_ERROR_LINE = re.compile(
    r"^(?P<kind>(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration))(?::|$)"
)
_FEW_ITEMS = 3
_GONE = re.escape(WITHHELD)
# Fields that hang together are a row, and what is left of one tells of it.
_GLUED = re.compile(rf"(?:(?<!\S)(?:[^\s,;|]+[,;|])+)?{_GONE}(?:[,;|][^\s,;|]+)*")
_RUN = re.compile(rf"{_GONE}(?:[\s,;]*{_GONE})+")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The names that may be told, beside the fixed words."""

    names: frozenset[str]
    pattern: re.Pattern[str]

    def knows(self, text: str) -> bool:
        return text in self.names or text.casefold() in WORDS


def vocabulary(names: Collection[str]) -> Vocabulary:
    """A vocabulary with these names. The longest are found first: `body mass` before `body`."""
    kept = sorted({name for name in names if name.strip()}, key=lambda name: (-len(name), name))[:_MOST_NAMES]
    spelled = "|".join(re.escape(name) for name in [*kept, *sorted(CHINESE, key=len, reverse=True)])
    pattern = (
        rf"(?P<quoted>{_QUOTED})|(?<!\w)(?P<name>{spelled})(?!\w)"
        rf"|(?P<code>{_CODE_LIKE})|(?P<number>{_NUMBER})|(?P<word>{_WORD})"
    )
    return Vocabulary(names=frozenset(kept), pattern=re.compile(pattern))


def shared_effect(text: str, known: Vocabulary) -> str:
    """What may be told of a printed text. An error is told as `shared_error` tells it."""
    if is_error(text):
        return shared_error(text, known)
    lines = text.splitlines()
    counted = any(_COUNTED.match(line.strip()) for line in lines)
    kept: list[str] = []
    rows = 0
    for line in lines:
        if _shows_data(line, known, counted=counted):
            rows += 1
            continue
        if rows:
            kept.append(f"[{rows} rows withheld]")
            rows = 0
        kept.append(shared_line(line, known))
    if rows:
        kept.append(f"[{rows} rows withheld]")
    return "\n".join(kept)


def shared_error(text: str, known: Vocabulary) -> str:
    """The kind of an error and what may be told of its message. Tracebacks quote data and go whole."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    found = [(at, match) for at, line in enumerate(lines) if (match := _ERROR_LINE.match(line))]
    if not found:
        return WITHHELD
    at, match = found[-1]
    message = shared_line(lines[at][match.end() :], known)
    return f"{match['kind']}:{message}" if message.strip() else match["kind"]


def error_kind(text: str) -> str:
    """The kind of an error alone."""
    kinds = [match["kind"] for line in text.splitlines() if (match := _ERROR_LINE.match(line.strip()))]
    return kinds[-1] if kinds else "an error"


def is_error(text: str) -> bool:
    """Whether a printed text is the report of an error."""
    return "Traceback (most recent call last)" in text or any(
        _ERROR_LINE.match(line.strip()) for line in text.splitlines()[-3:]
    )


def shared_line(line: str, known: Vocabulary) -> str:
    """The line with everything taken out that is neither a number nor known."""
    line = _without_lists(line, known)
    shared = known.pattern.sub(lambda match: _shared(match, known), line)
    return _RUN.sub(WITHHELD, _GLUED.sub(WITHHELD, shared))


def any_of(secrets: Iterable[str]) -> re.Pattern[str] | None:
    """Finds any of these texts, the longest first; None: there is nothing to find."""
    found = sorted({one for one in secrets if one.strip()}, key=lambda one: (-len(one), one))
    return re.compile("|".join(rf"(?<!\w){re.escape(one)}(?!\w)" for one in found)) if found else None


def scrub(text: str, secrets: re.Pattern[str] | None) -> str:
    """A text of ours with these values of the data taken out."""
    return text if secrets is None else secrets.sub(WITHHELD, text)


def _shared(match: re.Match[str], known: Vocabulary) -> str:
    if match["name"]:
        return match[0]
    if match["number"]:
        return _number(match[0])
    if match["quoted"]:
        return match[0] if match[0][1:-1] in known.names else f"{match[0][0]}{WITHHELD}{match[0][-1]}"
    return match[0] if match["word"] and known.knows(match[0]) else WITHHELD


def _number(text: str) -> str:
    digits = text.rstrip("%").replace(",", "")
    return text if len(digits.partition(".")[0]) < _LONG_NUMBER else f"{float(digits):.4g}"


def _without_lists(line: str, known: Vocabulary) -> str:
    """Sequences of more than a few items show values, whatever the items are."""

    def shortened(match: re.Match[str]) -> str:
        items = _ITEM.findall(match[0])
        opening = match[0][0]
        few = _FEW_ITEMS if opening == "(" else 1
        named = [known.knows(one[1:-1]) for one in items if one[0] in "'\""]
        # A list of names, or numbers under names: nothing of a row.
        harmless = bool(named) and all(named) and (opening == "{" or len(named) == len(items))
        return match[0] if len(items) <= few or harmless else f"({len(items)} items)"

    while True:
        shorter = _MANY.sub(shortened, line)
        if shorter == line:
            break
        line = shorter
    # A list that goes on in the next line, or comes from the one before.
    opening = max(line.rfind("["), line.rfind("{"))
    if opening >= 0 and not re.search(r"[\]}]", line[opening:]):
        return f"{line[:opening]}{WITHHELD}"
    closing = next((at for at, sign in enumerate(line) if sign in "]}"), -1)
    return line[closing + 1 :] if closing >= 0 and not re.search(r"[\[{]", line[:closing]) else line


def _shows_data(line: str, known: Vocabulary, *, counted: bool) -> bool:
    """Whether a line is a row of a table that is not a row of aggregates."""
    stripped = line.strip()
    if _FIELDS.fullmatch(stripped):
        return True
    cells = [cell for cell in _GAP.split(stripped) if cell]
    if len(cells) < 2 or not any(re.match(r"[-+]?\d|NaN|None|True|False|NaT", cell) for cell in cells[1:]):
        return False
    label = cells[0]
    if label.casefold() in AGGREGATES or label in known.names or label.endswith(":"):
        return False
    return not (counted and len(cells) == 2)
