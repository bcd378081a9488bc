"""Which task a goal asks for, by the words that a playbook gives for each of its tasks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from notebook_bcc.playbook.goals.tokens import Token, spaced, tokens_of
from notebook_bcc.playbook.goals.vocabulary import PHRASES, WordKind

# What makes a question of a text, whatever it asks for.
_WORDS: Final = "what whats which who whose whom when where why how do does did can ? ？"
_PHRASES: Final = ("is there", "are there", "is the", "are the")
_FIRST: Final = frozenset(("is", "are", "was", "were", "has", "have", "will", "should"))
_CHINESE: Final = "什么 哪 谁 为什么 为何 如何 怎么 怎样 多少 几 是否 吗 有没有 能否"
_QUESTION: Final = frozenset(spaced(one) for one in (*_WORDS.split(), *_PHRASES, *_CHINESE.split()))
_ASKING: Final = frozenset(
    {WordKind.MEASURE, WordKind.SHARE, WordKind.HOW_MANY, WordKind.CORRELATION, WordKind.TOP, WordKind.MISSING}
)
_IDLE: Final = frozenset(
    {
        WordKind.FILLER,
        WordKind.AND,
        WordKind.IS,
        WordKind.WHO,
        WordKind.WHICH,
        WordKind.ROWS,
        WordKind.ENTITY,
        WordKind.GROUP,
    }
)
_MEASURES: Final = frozenset(
    {WordKind.MEASURE, WordKind.SHARE, WordKind.HOW_MANY, WordKind.CORRELATION, WordKind.MISSING}
)
# Where no column is named by an option, these ask for something too: "highest price", "unique regions".
_ALONE: Final = frozenset({WordKind.SUPERLATIVE, WordKind.RATE, WordKind.DISTINCT, WordKind.COMPARE})
_BEYOND: Final = frozenset({WordKind.CORRELATION, WordKind.MISSING})
# Behind these stands what a prediction is made from.
_SOURCES: Final = ("from", "using", "based on", "given", "根据", "利用", "通过", "基于")
_LONGEST: Final = 8


@dataclass(frozen=True, slots=True)
class TaskWords:
    """A task of a playbook: words that ask for it, words that may stand beside them, and words for more than it does.

    `alone`: words that ask for it only where no column was named beside the goal: there they would be part of a title.
    `asks`: any question that asks for no other task is one for it. `about`: it is about a column, which the goal names.
    """

    name: str
    words: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    asks: bool = False
    about: str = ""


def is_question(goal: str, *, alone: bool = False) -> bool:
    """Whether the text has a question mark, a question word, or a word that only a question about a table has."""
    tokens = tokens_of(goal)
    pieces = [piece for _, piece in _placed(tokens)]
    asking = _ASKING | _ALONE if alone else _ASKING
    begins = bool(tokens) and tokens[0].key in _FIRST
    return begins or any(_key(piece) in _QUESTION or _part(piece) in asking for piece in pieces)


def task_of(goal: str, tasks: Sequence[TaskWords], *, alone: bool = False) -> TaskWords | None:
    """The task whose words come first in the goal; a longer phrase before a shorter one. None: it is a title.

    `alone`: no column was named beside the goal, so that it must say itself what is wanted. A measure before the words
    makes a question of it: "the average impact" asks for no impact. A task that is about no column is only meant where
    nothing else is said.
    """
    tokens = tokens_of(goal)
    asks = next((one for one in tasks if one.asks), None)
    measured = min((at for at, piece in _placed(tokens) if _part(piece) in _MEASURES), default=len(tokens))
    found = [
        (at, -length, order, task)
        for order, task in enumerate(tasks)
        if not task.asks
        for at, length in _places(tokens, task.words)
        if at <= measured
    ]
    meant = (task for *_, task in sorted(found, key=lambda each: each[:3]) if task.about or not rest_of(goal, task))
    if (task := next(meant, None)) is not None:
        return task
    words = (*asks.words, *(asks.alone if alone else ())) if asks is not None else ()
    is_meant = bool(found) or any(_places(tokens, words))
    return asks if is_meant or is_question(goal, alone=alone) else None


def rest_of(goal: str, task: TaskWords) -> list[str]:
    """What a goal says beside the words of its task and words that say nothing."""
    tokens = tokens_of(goal)
    known = [*task.words, *task.beside]
    rest: list[str] = []
    at = 0
    while at < len(tokens):
        lengths = [length for place, length in _places(tokens[at : at + _LONGEST], known) if place == 0]
        idle = [length for length in range(1, _LONGEST + 1) if _is_idle(tokens[at : at + length])]
        step = max([*lengths, *idle], default=0)
        if not step:
            rest.append(tokens[at].text)
        at += step or 1
    return rest


def beyond_of(goal: str, task: TaskWords) -> list[str]:
    """What the goal asks for that the task does not do: its words, or a measure that is a question of its own."""
    tokens = tokens_of(goal)
    more: list[Sequence[Token]] = [tokens[at : at + length] for at, length in sorted(_places(tokens, task.beyond))]
    more += [piece for _, piece in _placed(tokens) if _part(piece) in _BEYOND]
    return list(dict.fromkeys(" ".join(each.text for each in piece) for piece in more))


def after_words(goal: str, task: TaskWords) -> str:
    """What stands behind the first word of the task, up to what it shall be taken from."""
    tokens = tokens_of(goal)
    places = sorted(_places(tokens, task.words))
    rest = tokens[places[0][0] + places[0][1] :] if places else tokens
    ends = sorted(at for at, _ in _places(rest, _SOURCES))
    return " ".join(each.text for each in (rest[: ends[0]] if ends else rest))


def _key(piece: Sequence[Token]) -> str:
    return " ".join(each.key for each in piece)


def _part(piece: Sequence[Token]) -> WordKind | None:
    """What these tokens do together in a question, if they are a phrase that is known."""
    meaning = PHRASES.get(_key(piece))
    return meaning[0] if meaning is not None else None


def _is_idle(piece: Sequence[Token]) -> bool:
    return _part(piece) in _IDLE


def _places(tokens: Sequence[Token], phrases: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where phrases stand among the tokens: place and length. A phrase that ends in `*` may go on: `predict*`."""
    for phrase in phrases:
        begun = phrase.endswith("*")
        keys = [token.key for token in tokens_of(phrase.removesuffix("*"))]
        for at in range(len(tokens) - len(keys) + 1 if keys else 0):
            piece = [token.key for token in tokens[at : at + len(keys)]]
            if piece == keys or (begun and piece[:-1] == keys[:-1] and piece[-1].startswith(keys[-1])):
                yield at, len(keys)


def _placed(tokens: Sequence[Token]) -> Iterator[tuple[int, Sequence[Token]]]:
    """Every run of tokens that may be a phrase, with its place."""
    for at in range(len(tokens)):
        for length in range(1, min(_LONGEST, len(tokens) - at) + 1):
            yield at, tokens[at : at + length]
