"""Whether what a run tells is what its kernel holds: every number and comparative of its texts has a variable, and
agrees with it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import MessageInvalid
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import INPUTS, ActionCompleted
from notebook_bcc.playbook.templates.comparatives import COMPARATIVE
from notebook_bcc.playbook.templates.environment import Kind, Templates
from notebook_bcc.protocol.cells import BARS, Cell, NumberNote
from notebook_bcc.protocol.vocabulary import CellType

# Any, throughout: variables of the kernel, which may be whatever JSON can hold.
# A digit inside a word (`x2`, `F1`, `column_1`) is part of a name.
NUMBER: Final = re.compile(r"(?<![\w.])[-−]?\d+(?:,\d{3}(?!\d))*(?:\.\d+)?(?![\w])(?:[ \u00a0]?%)?")
IN_WORDS: Final = re.compile(
    r"\b(?:half|twice|thrice|double|triple|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|hundred|thousand|"
    r"million|thirds?|quarters?|fifths?|tenths?)\b|一半|[一二三四五六七八九十百千万]{1,5}分之[一二三四五六七八九十百千万]{1,5}|"
    r"[两二三四五六七八九十百千万]{1,5}(?:个|组|次|行|列|种|倍|成|份|类|折)",
    re.IGNORECASE,
)
_JSON: Final = str | int | float | list | dict
_ALMOST: Final = 1e-9
# Zeros at the end may be digits that do not count, as in 26,900 for 26,869, but only so far.
_MOST_OFF: Final = 5e-3


@dataclass(frozen=True, slots=True)
class NumberProblem:
    """A number or comparative that has no source, or says something else than its source."""

    place: str
    text: str
    problem: str
    sentence: str = ""

    def __str__(self) -> str:
        return f"{self.place}: {self.text!r} {self.problem}" + (f" [{self.sentence}]" if self.sentence else "")


@dataclass(slots=True)
class NumbersChecked:
    """What was found in the texts of a run."""

    texts: int = 0
    numbers: int = 0
    comparatives: int = 0
    problems: tuple[NumberProblem, ...] = ()


def check_numbers(entries: Iterable[Entry], *, constants: Mapping[str, str]) -> NumbersChecked:
    """Each text of a run against what the kernel held when it was written.

    `constants` are phrases whose numbers and comparatives speak of no variable, each with the reason.
    """
    state, found = RunState(), NumbersChecked()
    for entry in entries:
        if isinstance(entry.record, ActionCompleted):
            for change in entry.record.cells:
                if change.added is CellType.MARKDOWN and change.source:
                    cell = Cell(change.cell_id, change.added, change.source, metadata=change.metadata or {})
                    _check_text(cell, facts_now(state), constants, found)
        state = reduce(state, entry)
    return found


def facts_now(state: RunState) -> dict[str, Any]:
    """What a template may read, as the run knows it now."""
    given = state.planner_context.variables.get(INPUTS)
    return {"v": state.variables, "inputs": given if isinstance(given, dict) else {}, "goal": state.goal}


def check_text(cell: Cell, facts: Mapping[str, Any], *, constants: Mapping[str, str]) -> NumbersChecked:
    """One text against these facts."""
    found = NumbersChecked()
    _check_text(cell, facts, constants, found)
    return found


def unknown_numbers(text: str, known: Iterable[Any], *, constants: Mapping[str, str]) -> list[str]:
    """The numbers of a text that has no notes, such as a line of a terminal, which none of these values explains."""
    fixed = _fixed(text, constants)
    values = list(_leaves(list(known)))
    return [
        token[0]
        for token in NUMBER.finditer(text)
        if not _inside(token.span(), fixed) and not any(_agrees(token[0], value) for value in values)
    ]


def _check_text(cell: Cell, facts: Mapping[str, Any], constants: Mapping[str, str], found: NumbersChecked) -> None:
    found.texts += 1
    text = cell.source
    noted = [(note.start, note.end) for note in cell.numbers]
    fixed = _fixed(text, constants)
    problems: list[NumberProblem] = []
    for token in NUMBER.finditer(text):
        found.numbers += 1
        if not _inside(token.span(), (*noted, *fixed)):
            problems.append(_problem(cell, token, "has no source"))
    for token in IN_WORDS.finditer(text):
        found.numbers += 1
        if not _inside(token.span(), (*noted, *fixed)):
            problems.append(_problem(cell, token, "is a number in words without a source"))
    for token in COMPARATIVE.finditer(text):
        found.comparatives += 1
        if not _inside(token.span(), (*noted, *fixed)):
            problems.append(_problem(cell, token, "compares without a source"))
    for note in cell.numbers:
        problem = _note_problem(note, cell, facts)
        if problem:
            problems.append(NumberProblem(cell.id, note.text, f"{problem} ({note.variable})"))
    found.problems += tuple(problems)


def _note_problem(note: NumberNote, cell: Cell, facts: Mapping[str, Any]) -> str:
    values = _values(note.variable, facts)
    if all(value is None for value in values):
        return "speaks of a variable that is not there"
    if note.text == BARS and not note.end:
        shown = [[bar.label, bar.length, bar.value] for bar in cell.bars]
        return "" if values == [shown] else "are not those of the variable"
    if cell.source[note.start : note.end] != note.text:
        return "is not where its note says"
    leaves = [*_leaves(values), *_counts(values, note.text)]
    off = [token for token in NUMBER.findall(note.text) if not any(_agrees(token, leaf) for leaf in leaves)]
    return f"differs: the kernel has {_short(values)}" if off else ""


def _values(variable: str, facts: Mapping[str, Any]) -> list[Any]:
    """What the variables of a note hold; None for one that is not there."""
    # What is said of a question comes from its words.
    expression = "inputs.goal, goal" if variable.startswith("asked") else variable
    try:
        found = Templates().read(f"[{expression}]", kind=Kind.RULE, at="the note").value(facts)
    except MessageInvalid:
        return []
    return [value if isinstance(value, _JSON) else None for value in found]


def _leaves(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            for name, each in value.items():
                yield str(name)
                yield from _leaves(each)
        case list() | tuple():
            for each in value:
                yield from _leaves(each)
        case _:
            yield value


def _counts(values: list[Any], text: str) -> Iterator[int]:
    """How many there are, and how many more than are named: what a list of names tells beside them."""
    for value in values:
        if isinstance(value, list | dict):
            yield len(value) - (0 if "等" in text else text.count("`") // 2)


def _agrees(shown: str, value: Any) -> bool:
    """Whether the number shown is the value, rounded to the digits that are shown."""
    if isinstance(value, str):
        return _digits(shown) in value.replace("−", "-")
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return False
    digits = _digits(shown).replace(",", "")
    wanted = float(value) * (100 if shown.endswith("%") else 1)
    return abs(float(digits) - wanted) <= _room(digits, value) + _ALMOST * abs(wanted)


def _room(digits: str, value: float) -> float:
    """How far a rounded number may be off: half of its last digit that counts. A whole number is told exactly."""
    decimals = len(digits.partition(".")[2])
    if decimals:
        return 0.5 * 10.0**-decimals
    if isinstance(value, int):
        return 0.0
    zeros = len(digits) - len(digits.rstrip("0")) if digits.strip("-0") else 0
    return max(0.5, min(0.5 * 10.0**zeros, _MOST_OFF * abs(value)))


def _digits(shown: str) -> str:
    return shown.replace("−", "-").removesuffix("%").strip()


def _fixed(text: str, constants: Mapping[str, str]) -> list[tuple[int, int]]:
    lowered = text.lower()
    return [
        (found.start(), found.end())
        for phrase in constants
        for found in re.finditer(re.escape(phrase.lower()), lowered)
    ]


def _inside(span: tuple[int, int], spans: Iterable[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in spans)


def _problem(cell: Cell, token: re.Match[str], problem: str) -> NumberProblem:
    before, after = cell.source[: token.start()][-60:], cell.source[token.end() :][:60]
    return NumberProblem(cell.id, token[0], problem, f"{before}«{token[0]}»{after}".replace("\n", " "))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 120 else f"{text[:117]}..."
