"""How variables are shown, in this process: the kernel runs the same code."""

from __future__ import annotations

import collections
import datetime
import decimal
import enum
import json
import pathlib
import time
from typing import Any

import pytest

from notebook_bcc.kernel.inside.probe import Namespace, ProbeReply, Values, encode, summary


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    HIGH = 3


class Evil(BaseException):
    pass


class Hostile:
    def __getattribute__(self, name: str) -> Any:
        raise Evil(name)

    def __len__(self) -> int:
        raise Evil("len")

    def __repr__(self) -> str:
        raise Evil("repr")

    def __eq__(self, other: object) -> bool:
        raise Evil("eq")

    def __hash__(self) -> int:
        raise Evil("hash")

    shape = property(lambda self: 1 / 0)


class LyingShape:
    shape = ("many", "few")


class HostileDict(dict[Any, Any]):
    def items(self) -> Any:
        raise Evil("items")

    def __len__(self) -> int:
        raise Evil("len")


class HostileText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise Evil("str")


class Inventive:
    """Has any attribute that is asked for, and remembers that it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        self.asked.append(name)
        return lambda: None


class Squarish:
    shape = (3, 4)


@pytest.fixture
def values() -> Values:
    return Values(max_items=100, max_chars=2_000)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, None),
        (True, True),
        (5, 5),
        (2.5, 2.5),
        ("text", "text"),
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        (2**63 - 1, 2**63 - 1),
        (2**63, "9223372036854775808"),
        (-(2**63) - 1, "-9223372036854775809"),
        (10**100_000, "int(332193 bits)"),
        ([1, "a", None, [2.0]], [1, "a", None, [2.0]]),
        ((1, 2), [1, 2]),
        ({3, 1, 2}, [1, 2, 3]),
        ({"a": {"b": [float("nan")]}}, {"a": {"b": ["NaN"]}}),
        ({1: "one", None: "none", 2.5: "f", False: "no"}, {"1": "one", "null": "none", "2.5": "f", "false": "no"}),
        ({(1, 2): "tuple"}, "dict(1)"),
        (collections.OrderedDict(a=1), {"a": 1}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (Colour.RED, "Colour.RED"),
        (Level.HIGH, "Level.HIGH"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (decimal.Decimal("1.50"), "1.50"),
        (pathlib.PurePosixPath("/a/b"), "/a/b"),
        (3 + 4j, "(3+4j)"),
        (range(5), "range(0, 5)"),
        (b"bytes", "bytes(5)"),
        ("x" * 2_001, "str(2001)"),
        (list(range(101)), "list(101)"),
        ({i: i for i in range(500)}, "dict(500)"),
        ([Squarish()], ["Squarish(3×4)"]),
        (Squarish(), "Squarish(3×4)"),
        (LyingShape(), "LyingShape"),
        (Hostile(), "Hostile"),
        (HostileDict(a=1), {"a": 1}),
        (HostileText("fine"), "fine"),
        ([Hostile()], ["Hostile"]),
        (object(), "object"),
        (iter([]), "list_iterator"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_is_shown_so(values: Values, value: Any, shown: Any) -> None:
    assert values.show(value) == shown
    json.loads(encode(values.show(value)))


def test_a_container_in_itself_is_shown_by_its_type(values: Values) -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert values.show(endless) == "list(1)"


def test_asking_does_not_change_an_object_that_invents_attributes(values: Values) -> None:
    inventive = Inventive()
    assert values.show(inventive) == "Inventive"
    assert summary(inventive) == "Inventive"
    assert inventive.asked == []


def test_an_interrupt_is_not_swallowed(values: Values) -> None:
    class Interrupting:
        @property
        def shape(self) -> Any:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        values.show(Interrupting())


def namespace(names: dict[str, Any]) -> Namespace:
    return Namespace(names, max_items=100, max_chars=2_000, max_summary=200)


def test_hostile_objects_can_be_listed_again_and_again() -> None:
    names: dict[str, Any] = {}
    space = namespace(names)
    names["evil"] = Hostile()
    assert space.changes()["updated"] == {"evil": "Hostile"}
    assert space.changes()["updated"] == {}
    names["evil"] = Hostile()
    assert space.changes()["removed"] == []


def test_names_that_were_there_are_hidden_until_the_user_takes_them() -> None:
    exit_object = object()
    names: dict[str, Any] = {"exit": exit_object, "In": [], "get_ipython": print}
    space = namespace(names)
    assert space.changes() == {"updated": {}, "removed": []}
    names["exit"] = 5
    assert space.changes()["updated"] == {"exit": 5}
    names["In"] = ["new list"]
    assert space.changes()["updated"] == {}


def test_modules_functions_and_classes_are_not_variables() -> None:
    names: dict[str, Any] = {}
    space = namespace(names)
    names.update(m=json, f=encode, c=Colour, b=len, method="".join, lam=lambda: 0, _private=1, x=1)
    assert space.changes()["updated"] == {"x": 1}


def test_a_variable_rebound_to_a_function_is_gone() -> None:
    names: dict[str, Any] = {}
    space = namespace(names)
    names["x"] = 1
    space.changes()
    names["x"] = len
    assert space.changes() == {"updated": {}, "removed": ["x"]}


def test_a_rebound_object_of_the_same_size_is_a_change_and_a_scalar_of_the_same_value_none() -> None:
    names: dict[str, Any] = {}
    space = namespace(names)
    first, second = Squarish(), Squarish()
    names.update(frame=first, number=1)
    space.changes()
    names.update(frame=second, number=1)
    assert space.changes()["updated"] == {"frame": "Squarish(3×4)"}


def test_a_deleted_object_is_not_kept_alive() -> None:
    alive = []

    class Watched:
        def __del__(self) -> None:
            alive.append("deleted")

    names: dict[str, Any] = {}
    space = namespace(names)
    names["w"] = Watched()
    names["list"] = [Watched()]
    space.changes()
    names.clear()
    assert alive == ["deleted", "deleted"]


def test_a_thousand_scalars_that_did_not_change_cost_little() -> None:
    names: dict[str, Any] = {}
    space = namespace(names)
    names.update({f"v{i}": i * 1_000 for i in range(1_000)})
    space.changes()
    best = min(_seconds(space) for _ in range(20))
    listing = min(_seconds(namespace_of(names)) for _ in range(5))
    assert best < listing


def namespace_of(names: dict[str, Any]) -> Namespace:
    fresh: dict[str, Any] = {}
    space = namespace(fresh)
    fresh.update(names)
    return space


def _seconds(space: Namespace) -> float:
    start = time.perf_counter()
    space.changes()
    return time.perf_counter() - start


class Framelike:
    """As much of a data frame as summaries need."""

    def __init__(self, rows: list[int]) -> None:
        self.rows = rows

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.rows), 1)

    def head(self) -> Framelike:
        return Framelike(self.rows[:5])

    def tail(self, count: int) -> Framelike:
        return Framelike(self.rows[-count:])

    def describe(self) -> Framelike:
        return Framelike([min(self.rows), max(self.rows)])

    def to_string(self) -> str:
        return " ".join(map(str, self.rows))


@pytest.mark.parametrize(
    ("name", "strategy", "expected"),
    [
        ("frame", "shape_only", "Framelike(10×1)"),
        ("frame", "describe_only", "0 9"),
        ("frame", "head_only", "0 1 2 3 4"),
        ("frame", "last_2_only", "8 9"),
        ("items", "head_only", [0, 1, 2, 3, 4]),
        ("items", "last_3_only", [7, 8, 9]),
        ("items", "last_0_only", []),
        ("items", "last_50_only", list(range(10))),
        ("items", "describe_only", "list(10)"),
        ("mapping", "last_1_only", {"b": 2}),
        ("mapping", "head_only", {"a": 1, "b": 2}),
        ("number", "head_only", "int(3 bits)"),
        ("number", "last_x_only", "int(3 bits)"),
        ("number", "unknown", "int(3 bits)"),
        ("evil", "describe_only", "Hostile"),
        ("evil", "head_only", "Hostile"),
        ("evil", "last_3_only", "Hostile"),
    ],
)
def test_a_summary_by_strategy(name: str, strategy: str, expected: Any) -> None:
    names = {
        "frame": Framelike(list(range(10))),
        "items": list(range(10)),
        "mapping": {"a": 1, "b": 2},
        "number": 5,
        "evil": Hostile(),
    }
    assert namespace(names).summarize({name: strategy, "absent": strategy}) == {name: expected}


def test_a_long_summary_is_cut_and_it_shows() -> None:
    shown = namespace({"frame": Framelike(list(range(1_000)))}).summarize({"frame": "last_900_only"})["frame"]
    assert len(shown) < 260
    assert "characters cut" in shown


def test_an_answer_is_json_in_a_bundle_of_its_own_type() -> None:
    bundle = ProbeReply({"s": "lone \ud800"})._repr_mimebundle_()
    assert json.loads(bundle["application/vnd.notebook-bcc.probe+json"]) == {"s": "lone ?"}
