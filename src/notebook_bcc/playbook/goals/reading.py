"""A goal as a row of parts: every piece of it is a known word, a column, a value, a number, or unknown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from notebook_bcc.playbook.goals.table import GoalColumn, GoalTable, Value
from notebook_bcc.playbook.goals.tokens import Token, joined, tokens_of
from notebook_bcc.playbook.goals.vocabulary import FAMILIES, PHRASES, WordKind

_LONGEST: Final = 12
# Words of one or two letters stand in any sentence: as a name only their exact spelling counts.
_TOO_SHORT: Final = 3
_CLOSE: Final = 0.86
_CLOSE_LENGTH: Final = 6
_ENDINGS: Final = ("ing", "al", "ed", "er", "es", "s", "e", "d")


@dataclass(frozen=True, slots=True)
class Said:
    """One part of a goal. `columns` are those a column or value may stand for, `values` what a value stands for in
    each of them."""

    part: WordKind
    text: str
    meaning: str = ""
    number: float = 0.0
    columns: tuple[str, ...] = ()
    values: Mapping[str, tuple[Value, ...]] | None = None

    @property
    def column(self) -> str:
        return self.columns[0]


@dataclass(frozen=True, slots=True)
class Named:
    """A column or a value under one of the spellings it may have."""

    columns: tuple[str, ...]
    values: Mapping[str, tuple[Value, ...]] | None = None


class GoalReader:
    """Reads goals about one table."""

    def __init__(self, table: GoalTable) -> None:
        self._table = table
        self._exact = {_letters(tokens_of(column.name)): column.name for column in reversed(table.columns)}
        self._columns = _by_form(table.columns)
        self._values = _by_value(table.columns)
        self._entities = frozenset(table.words)

    def read(self, goal: str) -> list[Said]:
        """The parts of a goal, in their order; the longest that fits at each place."""
        tokens = tokens_of(goal)
        said: list[Said] = []
        at = 0
        while at < len(tokens):
            length, part = self._next(tokens, at, said)
            said.append(part)
            at += length
        return said

    def _next(self, tokens: Sequence[Token], at: int, said: Sequence[Said]) -> tuple[int, Said]:
        for length in range(min(_LONGEST, len(tokens) - at), 0, -1):
            part = self._whole(tokens[at : at + length], said)
            if part is not None:
                return length, part
        return 1, self._alone(tokens[at])

    def _whole(self, piece: Sequence[Token], said: Sequence[Said]) -> Said | None:
        """What exactly these tokens say together."""
        text = "".join(each.text if each.is_wide else f" {each.text}" for each in piece).strip()
        key, phrase = "".join(each.key for each in piece), PHRASES.get(" ".join(each.key for each in piece))
        quoted = all(each.quoted for each in piece)
        column = self._column(_letters(piece), key, quoted=quoted, is_word=phrase is not None)
        value = self._value(text, key, said, is_word=phrase is not None and not quoted)
        if len(piece) == 1 and (number := piece[0].number) is not None and not quoted:
            return Said(WordKind.NUMBER, text, number=number)
        if value is not None and (column is None or _is_after(value, said)):
            return Said(WordKind.VALUE, text, columns=value.columns, values=value.values)
        if column is not None and phrase is not None and not quoted:
            return self._word_or_column(text, phrase, column)
        if column is not None:
            return Said(WordKind.COLUMN, text, columns=column.columns)
        if phrase is not None:
            return Said(phrase[0], text, meaning=phrase[1])
        return Said(WordKind.ENTITY, text) if key in self._entities else None

    def _word_or_column(self, text: str, phrase: tuple[WordKind, str], column: Named) -> Said:
        """A column that is called like a word of the language is meant where the word does nothing, or names rows."""
        idle = (WordKind.ENTITY, WordKind.ROWS)
        return (
            Said(WordKind.COLUMN, text, columns=column.columns) if phrase[0] in idle else Said(WordKind.UNKNOWN, text)
        )

    def _column(self, letters: str, key: str, *, quoted: bool, is_word: bool) -> Named | None:
        exact = self._exact.get(letters)
        if exact is not None and (quoted or len(key) >= _TOO_SHORT or not key.isascii() or not is_word):
            return Named((exact,))
        if key.isascii() and len(key) < _TOO_SHORT:
            return None
        found = self._columns.get(key)
        return Named(found) if found is not None else None

    def _value(self, text: str, key: str, said: Sequence[Said], *, is_word: bool) -> Named | None:
        found = self._values.get(key)
        if found is None:
            return None
        after = _is_after(found, said)
        if key.isascii() and (len(key) < _TOO_SHORT or is_word):
            # A letter, or a word such as "other": a value only where its column stands before it.
            exact = any(text == str(value).strip() for values in (found.values or {}).values() for value in values)
            return found if after and (exact or is_word) else None
        return found if after or not is_word else None

    def _alone(self, token: Token) -> Said:
        """One token that nothing stands for: a column in another form or nearly spelt so, or an unknown word."""
        stem = _stem(token.key)
        by_stem = {
            name
            for form, names in self._columns.items()
            for name in names
            if stem and _stem(form) == stem and not _is_cut(token.key, joined(name))
        }
        if len(by_stem) == 1 and len(stem) >= 4:
            return Said(WordKind.COLUMN, token.text, columns=tuple(by_stem))
        close = _close(token.key, self._columns)
        if close is not None:
            return Said(WordKind.COLUMN, token.text, columns=close)
        return Said(WordKind.UNKNOWN, token.text)


def _letters(piece: Sequence[Token]) -> str:
    """The tokens as they are written, without what stands between them."""
    return "".join(each.text for each in piece)


def _is_after(value: Named, said: Sequence[Said]) -> bool:
    """Whether the column of a value stands just before it."""
    before = next((one for one in reversed(said) if one.part not in (WordKind.IS, WordKind.NOT, WordKind.FILLER)), None)
    return before is not None and before.part is WordKind.COLUMN and before.column in value.columns


def _by_form(columns: Sequence[GoalColumn]) -> dict[str, tuple[str, ...]]:
    """The columns under every form of their names; the name itself before a plural of another one."""
    found: dict[str, tuple[str, ...]] = {}
    for forms in (lambda key: (key,), _plurals):
        grown: dict[str, list[str]] = {}
        for column in columns:
            for form in forms(joined(column.name)):
                grown.setdefault(form, []).append(column.name)
        found = {**{form: tuple(dict.fromkeys(names)) for form, names in grown.items()}, **found}
    return found


def _plurals(key: str) -> Iterator[str]:
    if not key.isascii():
        return
    yield f"{key}s"
    yield f"{key}es"
    if key.endswith("y"):
        yield f"{key[:-1]}ies"
    if key.endswith("ies"):
        yield f"{key[:-3]}y"
    if key.endswith("s") and len(key) > _TOO_SHORT:
        yield key[:-1]


def _by_value(columns: Sequence[GoalColumn]) -> dict[str, Named]:
    """The values of categories under every word for them, with all columns that have such a value."""
    spelt: dict[str, dict[str, dict[Value, None]]] = {}
    for column in columns:
        for value in column.values:
            for form in _forms_of_value(value, column):
                spelt.setdefault(form, {}).setdefault(column.name, {})[value] = None
    return {
        form: Named(tuple(by_column), {name: tuple(values) for name, values in by_column.items()})
        for form, by_column in spelt.items()
    }


def _forms_of_value(value: Value, column: GoalColumn) -> Iterator[str]:
    # Numbers and truth values are named together with their column, never by themselves.
    if not isinstance(value, str) or not (key := joined(value)):
        return
    yield key
    if key.isascii() and len(key) >= _TOO_SHORT:
        yield f"{key}s"
    keys = {joined(str(each)) for each in column.values}
    family = next((each for each in FAMILIES if len(column.values) == column.distinct and _belong(keys, each)), ())
    for kind in family:
        if key in kind:
            yield from kind - {key}


def _belong(keys: set[str], family: Sequence[frozenset[str]]) -> bool:
    """Whether all values are words of this family, and not two of them words for the same."""
    return (
        1 < len(keys) <= len(family)
        and all(sum(key in kind for key in keys) <= 1 for kind in family)
        and all(any(key in kind for kind in family) for key in keys)
    )


def _stem(key: str) -> str:
    if not key.isascii() or not key.isalpha():
        return ""
    ending = next((one for one in _ENDINGS if key.endswith(one) and len(key) - len(one) >= 4), "")
    return key.removesuffix(ending) if ending else key


def _is_cut(key: str, form: str) -> bool:
    """Whether a word is the beginning of a name and no word itself: `pric`, but not `churn` of `churned`."""
    return form.startswith(key) and form.removeprefix(key) not in ("", "s", "d", "ed", "er", "ing", "al")


def _close(key: str, forms: Mapping[str, tuple[str, ...]]) -> tuple[str, ...] | None:
    """The one column whose name is nearly spelt like this."""
    if len(key) < _CLOSE_LENGTH or not key.isascii() or not key.isalpha():
        return None
    near = {
        names
        for form, names in forms.items()
        if len(form) >= _CLOSE_LENGTH and form[0] == key[0] and SequenceMatcher(None, key, form).ratio() >= _CLOSE
        if not any(_is_cut(key, joined(name)) for name in names)
    }
    return next(iter(near)) if len(near) == 1 and len(next(iter(near))) == 1 else None


def unknown_words(said: Sequence[Said]) -> list[str]:
    """The words that nothing stands for, each once."""
    return list(dict.fromkeys(one.text for one in said if one.part is WordKind.UNKNOWN))
