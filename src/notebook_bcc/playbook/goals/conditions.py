"""Which rows a goal speaks of: `sex is female`, `older` columns compared with numbers, values that stand alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from notebook_bcc.playbook.goals.question import Condition, Declined, Operator
from notebook_bcc.playbook.goals.reading import Said
from notebook_bcc.playbook.goals.table import GoalTable
from notebook_bcc.playbook.goals.vocabulary import WordKind

_LINKS: Final = frozenset({WordKind.IS, WordKind.NOT, WordKind.FILLER})
_COUNTING: Final = frozenset({WordKind.HOW_MANY, WordKind.SHARE, WordKind.RATE})
# A number right behind the name of a column is a value of it where the column has few.
_FEW: Final = 50

Piece = Said | Condition


def with_conditions(said: Sequence[Said], table: GoalTable) -> list[Piece] | Declined:
    """The parts with every condition in the place of the parts that state it, or what is not clear about one."""
    pieces: list[Piece] = []
    at = 0
    while at < len(said):
        one = said[at]
        found: tuple[Condition, int] | Declined | None = None
        if one.part is WordKind.COLUMN:
            found = _of_column(said, at, table)
        elif one.part is WordKind.VALUE:
            found = _of_value(said, at)
        elif one.part is WordKind.COMPARE:
            found = _of_number(said, at, table)
        if isinstance(found, Declined):
            return found
        if found is None:
            pieces.append(one)
            at += 1
            continue
        condition, at = found
        _add(pieces, condition)
    return _with_predicates(pieces, table)


def _of_column(said: Sequence[Said], at: int, table: GoalTable) -> tuple[Condition, int] | None:
    """`price is over 30`, `region is North`, `pclass 3`, `age between 20 and 30`, beginning with the column."""
    column = table.column(said[at].column)
    after = at + 1
    while after < len(said) and said[after].part in _LINKS:
        after += 1
    links = [one.part for one in said[at + 1 : after]]
    if after == len(said) or links.count(WordKind.NOT) > 1:
        return None
    negated, following = WordKind.NOT in links, said[after]
    if following.part is WordKind.VALUE and column.name in following.columns:
        values = (following.values or {})[column.name]
        return Condition(column.name, "not in" if negated else "in", values), after + 1
    if column.kind != "number":
        return None
    if following.part is WordKind.COMPARE and not negated and _is_number(said, after + 1):
        return Condition(column.name, _operator(following), (_plain(said[after + 1].number),)), after + 2
    first = after + (following.part is WordKind.BETWEEN)
    if not negated and _is_number(said, first, first + 2) and said[first + 1].part in _joints(following):
        return _range(column.name, said[first], said[first + 2]), first + 3
    stated = WordKind.IS in links or (not links and column.distinct <= _FEW)
    if following.part is WordKind.NUMBER and stated and not _ranks(said, after):
        return Condition(column.name, "not in" if negated else "in", (_plain(following.number),)), after + 1
    return None


def _joints(begun: Said) -> tuple[WordKind, ...]:
    """What stands between the ends of a range: `between 20 and 30`, `20 到 30`."""
    return (WordKind.AND, WordKind.UP_TO) if begun.part is WordKind.BETWEEN else (WordKind.UP_TO,)


def _of_value(said: Sequence[Said], at: int) -> tuple[Condition, int] | Declined:
    """`female passengers`, `North region`: a value by itself, with its column behind it or clear without."""
    one = said[at]
    after = said[at + 1] if at + 1 < len(said) else None
    named = after is not None and after.part is WordKind.COLUMN and after.column in one.columns
    if not named and len(one.columns) > 1:
        return Declined("ambiguous", (one.text, *one.columns))
    column = after.column if named and after is not None else one.column
    return Condition(column, "in", (one.values or {})[column]), at + (2 if named else 1)


def _of_number(said: Sequence[Said], at: int, table: GoalTable) -> tuple[Condition, int] | None:
    """`more than 3 rooms`: the column stands behind the number."""
    if not _is_number(said, at + 1) or at + 2 >= len(said) or said[at + 2].part is not WordKind.COLUMN:
        return None
    column = table.column(said[at + 2].column)
    if column.kind != "number":
        return None
    return Condition(column.name, _operator(said[at]), (_plain(said[at + 1].number),)), at + 3


def _add(pieces: list[Piece], condition: Condition) -> None:
    """One more condition; `not` before it turns it round, and two values of one column become one condition."""
    if pieces and isinstance(last := pieces[-1], Said) and last.part is WordKind.NOT and condition.operator == "in":
        pieces.pop()
        condition = Condition(condition.column, "not in", condition.values)
    before, joint = pieces[-2:] if len(pieces) >= 2 else (None, None)
    listed = isinstance(joint, Said) and joint.part in (WordKind.AND, WordKind.OR) and isinstance(before, Condition)
    if listed and isinstance(before, Condition) and _is_in(before, condition.column) and condition.operator == "in":
        pieces[-2:] = [Condition(condition.column, "in", (*before.values, *condition.values))]
    else:
        pieces.append(condition)


def _is_in(condition: Condition, column: str) -> bool:
    return (condition.column, condition.operator) == (column, "in")


def _with_predicates(pieces: Sequence[Piece], table: GoalTable) -> list[Piece]:
    """Columns of yes and no that say which rows are meant: `passengers who survived`, `churned customers`."""
    counts = any(isinstance(one, Said) and one.part in _COUNTING for one in pieces)
    found: list[Piece] = []
    for at, one in enumerate(pieces):
        if not isinstance(one, Said) or one.part is not WordKind.COLUMN:
            found.append(one)
            continue
        positive = table.column(one.column).positive
        before = _said_before(found)
        after = next((each for each in pieces[at + 1 :] if not _is_filler(each)), None)
        noun = isinstance(after, Said) and after.part in (WordKind.ENTITY, WordKind.ROWS)
        governed = before in (WordKind.GROUP, WordKind.DISTINCT, WordKind.MISSING, WordKind.WHICH, WordKind.MEASURE)
        if positive is None or governed or not (counts or noun or before in (WordKind.WHO, WordKind.NOT)):
            found.append(one)
            continue
        while found and _is_filler(found[-1]):
            found.pop()
        _add(found, Condition(one.column, "in", (positive,)))
    return found


def _said_before(pieces: Sequence[Piece]) -> WordKind | None:
    last = next((one for one in reversed(pieces) if not _is_filler(one)), None)
    return last.part if isinstance(last, Said) else None


def _is_filler(piece: Piece) -> bool:
    return isinstance(piece, Said) and piece.part in (WordKind.FILLER, WordKind.IS)


def _is_number(said: Sequence[Said], *places: int) -> bool:
    return all(place < len(said) and said[place].part is WordKind.NUMBER for place in places)


def _ranks(said: Sequence[Said], at: int) -> bool:
    """Whether a number says how many are wanted: `top 5`, `5 highest`."""
    near = [said[each] for each in (at - 1, at + 1) if 0 <= each < len(said)]
    return any(one.part in (WordKind.TOP, WordKind.SUPERLATIVE) for one in near)


def _range(column: str, low: Said, high: Said) -> Condition:
    return Condition(column, "between", (_plain(low.number), _plain(high.number)))


def _operator(said: Said) -> Operator:
    return said.meaning  # type: ignore[return-value]  # the vocabulary has no others


def _plain(number: float) -> int | float:
    return int(number) if number == int(number) else number
