"""The parts of a goal into a question. Every part must have its place in it; where one has none, it is declined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from notebook_bcc.playbook.goals.conditions import with_conditions
from notebook_bcc.playbook.goals.question import Condition, Declined, Measure, TableQuestion
from notebook_bcc.playbook.goals.reading import Said, unknown_words
from notebook_bcc.playbook.goals.table import GoalTable
from notebook_bcc.playbook.goals.tokens import joined, tokens_of
from notebook_bcc.playbook.goals.vocabulary import WordKind

Piece = Said | Condition
_IDLE: Final = frozenset(
    {
        WordKind.FILLER,
        WordKind.ROWS,
        WordKind.ENTITY,
        WordKind.AND,
        WordKind.IS,
        WordKind.WHO,
        WordKind.HOW_MUCH,
        WordKind.AMONG,
        WordKind.HOW_MANY,
    }
)
_ASKING: Final = frozenset(
    {
        WordKind.MEASURE,
        WordKind.SHARE,
        WordKind.RATE,
        WordKind.MISSING,
        WordKind.DISTINCT,
        WordKind.CORRELATION,
        WordKind.SUPERLATIVE,
    }
)
_ORDERS: Final[dict[str, Literal["highest", "lowest"]]] = {"max": "highest", "min": "lowest"}
_MOST_TOP: Final = 100
_UNCLEAR: Final = Declined("unclear")
_PERCENT: Final = ("%", "percent")


def question_of(said: Sequence[Said], table: GoalTable) -> TableQuestion | Declined:
    """The question that these parts ask, or why it is not clear."""
    if table.cut:
        return Declined("too large")
    if words := unknown_words(said):
        return Declined("words", tuple(words))
    if percents := _percents(said):
        # Whether a column holds 10 % as 10 or as 0.1 is not known here.
        return Declined("words", percents)
    doubtful = next((one for one in said if one.part is WordKind.COLUMN and len(one.columns) > 1), None)
    if doubtful is not None:
        return Declined("ambiguous", (doubtful.text, *doubtful.columns))
    if (column := _shared_entity(said, table)) is not None:
        return Declined("rows", (column,))
    pieces = with_conditions(said, table)
    if isinstance(pieces, Declined):
        return pieces
    conditions = [one for one in pieces if isinstance(one, Condition)]
    if len({one.column for one in conditions if one.operator == "in"}) < sum(
        one.operator == "in" for one in conditions
    ):
        return _UNCLEAR
    if any(_is_everything(one, table) for one in conditions):
        return _UNCLEAR
    return _Parser(list(pieces), table).question()


@dataclass(slots=True)
class _Parser:
    """Takes the parts of one question apart; what is left over at the end must be idle words."""

    pieces: list[Piece]
    table: GoalTable
    top: int = 0
    order: Literal["", "highest", "lowest"] = ""
    group: tuple[str, ...] = ()

    def question(self) -> TableQuestion | Declined:
        self._take_top()
        if not self._take_groups() or not self._take_which():
            return _UNCLEAR
        found = self._asked()
        if isinstance(found, Declined):
            return found
        if any(isinstance(one, Said) and one.part not in _IDLE for one in self.pieces):
            return _UNCLEAR
        return found

    def _parts(self, *parts: WordKind) -> list[Said]:
        return [one for one in self.pieces if isinstance(one, Said) and one.part in parts]

    def _remove(self, *taken: Piece) -> None:
        gone = [id(one) for one in taken]
        self.pieces = [one for one in self.pieces if id(one) not in gone]

    def _following(self, piece: Piece, *, over: frozenset[WordKind] = frozenset({WordKind.FILLER})) -> Piece | None:
        """The next piece that says something."""
        at = next(index for index, one in enumerate(self.pieces) if one is piece)
        rest = self.pieces[at + 1 :]
        return next((one for one in rest if not (isinstance(one, Said) and one.part in over)), None)

    def _take_top(self) -> None:
        """`top 5`, `5 highest`, `最高的 3 个`."""
        for one in self._parts(WordKind.NUMBER):
            at = next(index for index, each in enumerate(self.pieces) if each is one)
            near = [self.pieces[each] for each in (at - 1, at + 1) if 0 <= each < len(self.pieces)]
            marks = [
                each for each in near if isinstance(each, Said) and each.part in (WordKind.TOP, WordKind.SUPERLATIVE)
            ]
            whole = one.number == int(one.number) and 1 <= one.number <= _MOST_TOP
            if len(marks) == 1 and whole and not self.top:
                self.top, self.order = int(one.number), _ORDERS[marks[0].meaning]
                self._remove(one, *marks)

    def _take_groups(self) -> bool:
        """`by region`, `for each region and year`, `各地区`; False where nothing follows."""
        for one in self._parts(WordKind.GROUP, WordKind.DISTINCT):
            after = self._following(one)
            is_column = isinstance(after, Said) and after.part is WordKind.COLUMN
            if one.part is WordKind.DISTINCT:
                if is_column and not self._parts(WordKind.HOW_MANY) and self._parts(WordKind.MEASURE, WordKind.SHARE):
                    self._group_by(one, after)
            elif self.top and not self.group and self._ranked_before(one):
                self._remove(one)
            elif not is_column:
                return False
            else:
                self._group_by(one, after)
        return True

    def _ranked_before(self, by: Said) -> bool:
        """Whether a column or rows stand before `by`: what is ranked, as in `top 5 regions by total sales`."""
        at = next(index for index, one in enumerate(self.pieces) if one is by)
        before = [
            one for one in self.pieces[:at] if isinstance(one, Said) and one.part in (WordKind.COLUMN, WordKind.ROWS)
        ]
        if len(before) != 1:
            return False
        if before[0].part is WordKind.COLUMN:
            self.group = (before[0].column,)
        self._remove(before[0])
        return True

    def _group_by(self, by: Said, first: Piece | None) -> None:
        columns: list[Said] = []
        after = first
        while isinstance(after, Said) and after.part is WordKind.COLUMN:
            columns.append(after)
            joint = self._following(after)
            after = self._following(joint) if isinstance(joint, Said) and joint.part is WordKind.AND else None
            if (
                isinstance(after, Said)
                and after.part is WordKind.COLUMN
                and self.table.column(after.column).distinct > 100
            ):
                break
        self.group = (*self.group, *(one.column for one in columns))
        self._remove(by, *columns)

    def _take_which(self) -> bool:
        """`which region has the highest ...`; `which` without a column and a superlative is not understood."""
        for one in self._parts(WordKind.WHICH):
            after = self._following(one)
            best = self._parts(WordKind.SUPERLATIVE)
            if after is None and len(best) == 1:
                # 平均销量最高的地区是哪个
                after = self._following(best[0])
            if not (isinstance(after, Said) and after.part is WordKind.COLUMN) or self.group:
                return False
            if len(best) == 1:
                self.order, self.top = _ORDERS[best[0].meaning], self.top or 1
            elif not self.top:
                return False
            self.group = (after.column,)
            self._remove(one, after)
            self._take_best(best)
        return True

    def _take_best(self, best: Sequence[Said]) -> None:
        """The superlative has done its work where a measure or rows are counted; else it is the measure."""
        counted = self._parts(
            WordKind.MEASURE, WordKind.SHARE, WordKind.RATE, WordKind.HOW_MANY, WordKind.ROWS, WordKind.ENTITY
        )
        if counted:
            self._remove(*best)

    def _asked(self) -> TableQuestion | Declined:
        conditions = tuple(one for one in self.pieces if isinstance(one, Condition))
        kinds = {one.part for one in self._parts(*_ASKING)}
        if WordKind.CORRELATION in kinds:
            return self._correlation(conditions)
        if kinds & {WordKind.SHARE, WordKind.RATE}:
            return self._share(conditions)
        columns = self._parts(WordKind.COLUMN)
        names = tuple(dict.fromkeys(one.column for one in columns))
        if WordKind.MISSING in kinds or (WordKind.DISTINCT in kinds and self._parts(WordKind.HOW_MANY)):
            measure: Measure = "missing" if WordKind.MISSING in kinds else "distinct"
            self._remove(*columns, *self._parts(WordKind.MISSING, WordKind.DISTINCT))
            return TableQuestion((measure,), names, conditions, group=self.group) if len(names) == 1 else _UNCLEAR
        if kinds & {WordKind.MEASURE, WordKind.SUPERLATIVE} or (
            self.top and columns and not self._parts(WordKind.HOW_MANY)
        ):
            return self._measured(columns, names, conditions)
        counts = self._parts(WordKind.HOW_MANY) or (
            self._parts(WordKind.HOW_MUCH, WordKind.WHICH) and self._counts_rows()
        )
        numbers = [name for name in self.group if self.table.column(name).kind == "number"]
        if self.top and not counts and numbers:
            # "Top 3 customers by fee" asks for rows, not for the fees that most rows have.
            return _UNCLEAR
        if (counts or (self.top and self._counts_rows())) and not columns:
            order = self.order if self.group else ""
            return TableQuestion(("count",), (), conditions, group=self.group, top=self.top, order=order)
        return _UNCLEAR

    def _counts_rows(self) -> bool:
        return bool(self._parts(WordKind.ROWS, WordKind.ENTITY))

    def _correlation(self, conditions: tuple[Condition, ...]) -> TableQuestion | Declined:
        columns = self._parts(WordKind.COLUMN)
        names = tuple(dict.fromkeys(one.column for one in columns))
        self._remove(*columns, *self._parts(WordKind.CORRELATION, WordKind.BETWEEN))
        if len(names) != 2 or self.group or self.top:
            return _UNCLEAR
        return self._numeric(names) or TableQuestion(("correlation",), names, conditions)

    def _measured(
        self, columns: Sequence[Said], names: tuple[str, ...], conditions: tuple[Condition, ...]
    ) -> TableQuestion | Declined:
        said = self._parts(WordKind.MEASURE)
        best = self._parts(WordKind.SUPERLATIVE)
        measures = tuple(dict.fromkeys(one.meaning for one in said or best))
        counted = [self._following(one) for one in self._parts(WordKind.HOW_MANY)]
        self._remove(*said, *columns, *best)
        if (said and best and not self.group) or any(one not in columns for one in counted):
            return _UNCLEAR
        if not names:
            return Declined("no column")
        if (doubt := self._numeric(names)) is not None:
            return doubt
        if self.group and (self.top or self.order) and not said:
            # "Which store has the lowest revenue?" may mean a sum, a mean or a single row.
            return _UNCLEAR
        values_only = not measures and not self.group
        if not measures:
            measures = ("max" if self.order == "highest" else "min",)
        if len(names) > 1 and (len(measures) > 1 or self.group or self.top):
            return _UNCLEAR
        if self.top and len(measures) > 1:
            return _UNCLEAR
        if self.top and not self.group and not values_only:
            return _UNCLEAR
        known: tuple[Measure, ...] = measures  # type: ignore[assignment]  # the vocabulary has no others
        return TableQuestion(known, names, conditions, (), self.group, self.top, self.order, values_only)

    def _numeric(self, names: Sequence[str]) -> Declined | None:
        wrong = [name for name in names if self.table.column(name).kind != "number"]
        return Declined("no numbers", tuple(wrong)) if wrong else None

    def _share(self, conditions: tuple[Condition, ...]) -> TableQuestion | Declined:
        base, event = _split(self.pieces, conditions, self.table)
        self._remove(*self._parts(WordKind.SHARE, WordKind.RATE), *conditions)
        if self.top or self._parts(WordKind.COLUMN, WordKind.MEASURE):
            return _UNCLEAR
        if not event and not (self.group and not base):
            return _UNCLEAR
        return TableQuestion(("share",), (), base, event, self.group)


def _percents(said: Sequence[Said]) -> tuple[str, ...]:
    """`10 %`: a sign after a number belongs to it, and asks for no share."""
    return tuple(
        f"{number.text} {sign.text}"
        for number, sign in pairwise(said)
        if number.part is WordKind.NUMBER and sign.part is WordKind.SHARE and sign.text.casefold() in _PERCENT
    )


def _split(
    pieces: Sequence[Piece], conditions: tuple[Condition, ...], table: GoalTable
) -> tuple[tuple[Condition, ...], tuple[Condition, ...]]:
    """The rows that a share is of, and those that it counts; two empty ones where that is not clear."""
    rate = next((at for at, one in enumerate(pieces) if isinstance(one, Said) and one.part is WordKind.RATE), None)
    if rate is not None:
        event = pieces[rate - 1] if rate else None
        if not isinstance(event, Condition):
            return (), ()
        return tuple(one for one in conditions if one is not event), (event,)
    if len(conditions) < 2:
        return (), conditions
    cut = _among(pieces) or _verb(pieces, conditions, table)
    before = tuple(one for one in pieces[:cut] if isinstance(one, Condition))
    after = tuple(one for one in pieces[cut:] if isinstance(one, Condition))
    return (before, after) if cut is not None and before and after else ((), ())


def _among(pieces: Sequence[Piece]) -> int | None:
    """Where the rows end that a share is of: `女性乘客中 | 幸存的比例`, `of female passengers | survived`."""
    parts = [one.part if isinstance(one, Said) else None for one in pieces]
    begun = next((at for at, one in enumerate(pieces) if isinstance(one, Condition)), len(pieces))
    if WordKind.AMONG in parts:
        return len(parts) - 1 - parts[::-1].index(WordKind.AMONG)
    return next(
        (at for at in range(begun, len(parts)) if parts[at] in (WordKind.ROWS, WordKind.ENTITY, WordKind.WHO)), None
    )


def _verb(pieces: Sequence[Piece], conditions: tuple[Condition, ...], table: GoalTable) -> int | None:
    """Where `of women survived` has its verb: the last of two conditions, and the only one of yes and no."""
    says_yes = [table.column(one.column).positive is not None for one in conditions]
    asks_first = isinstance(pieces[0], Said) and not any(isinstance(one, Condition) for one in pieces[:2])
    if says_yes != [False, True] or not asks_first:
        return None
    return next(at for at, one in enumerate(pieces) if one is conditions[-1])


def _is_everything(condition: Condition, table: GoalTable) -> bool:
    """Whether all values of a column are named: women and men are all rows, or are to be told apart."""
    return condition.operator == "in" and 1 < len(condition.values) == table.column(condition.column).distinct


def _shared_entity(said: Sequence[Said], table: GoalTable) -> str | None:
    """A column that says several rows may be one of the things the goal counts: `customer_id` that repeats."""
    nouns = {joined(one.text).removesuffix("s") for one in said if one.part is WordKind.ENTITY}
    for column in table.columns:
        words = {token.key.removesuffix("s") for token in tokens_of(column.name)} | {joined(column.name)}
        is_key = column.distinct == table.rows and not column.missing
        if (
            nouns & words
            and not is_key
            and column.name not in {one.column for one in said if one.part is WordKind.COLUMN}
        ):
            return column.name
    return None
