"""What the quick reader takes, the full check takes too, and makes the same of it."""

from __future__ import annotations

import copy
import json
import pickle
import random
import threading
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.deferred import DEEPEST, QuickReader
from notebook_bcc.protocol.messages import Options, Request

Json = dict[str, Any]  # Any: JSON, right or wrong

READER = QuickReader()
COMPLETED: Json = {
    "stage_id": "clean",
    "goal": "Lücken füllen \N{EN DASH} 缺失",
    "actions_taken": ["one", "two"],
    "outputs_produced": {
        "variables": ["a"],
        "artifacts": [{"artifact_id": "a@1", "variable_name": "a_1", "created_at": None}],
        "key_findings": [],
    },
    "achieved": True,
    "condensed": {"actions": 1, "outputs": 0},
}
LEVEL: Json = {
    "completed": [COMPLETED, {"id": "x"}],
    "current": "s",
    "iteration": 3,
    "remaining": ["t", "u"],
    "focus": "text",
    "current_outputs": {"expected": ["a"], "produced": [], "in_progress": ["b"]},
}
WHOLE: Json = {
    "observation": {
        "location": {
            "current": {"stage_id": "s", "step_id": None, "behavior_id": "b", "behavior_iteration": 2},
            "progress": {"stages": LEVEL, "steps": {}, "behaviors": None},
            "goals": {"workflow": "g", "stage": None},
        },
        "context": {
            "variables": {"a": 1, "b": 1.5, "c": {"d": [True, None, {"e": "f"}]}, "big": 2**70, "zero": -0.0},
            "toDoList": ["one"],
            "effects": {"current": ["text", {"type": "image"}], "history": []},
            "notebook": {"title": "t", "cell_count": 1, "cells": [{"id": "c", "outputs": [{"text": "x"}]}]},
            "FSM": {"state": "behavior_running", "history": [{"from": "idle", "event": "START_WORKFLOW"}]},
            "section_progress": {"current_section_number": 1, "all": ["a"]},
            "workflow_progress": 0.5,
        },
    },
    "behavior_feedback": {
        "behavior_id": "b",
        "actions_executed": 2,
        "errors": [{"action_id": "1", "action": "exec", "error": "e"}],
    },
    "options": {"stream": True, "request_id": "r", "run_id": "n", "attempt": 1},
}
REPAIR: Json = {"cell_id": "c", "source": "x", "error_name": "NameError", "error": "x", "traceback": ["line"]}
SMALLEST: Json = {"observation": {"location": {"current": {}, "progress": {}}}}
# Values that stand where another kind is wanted, or that JSON libraries read differently.
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 1e22, 1e300, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**30),
    *("", "1", "1.0", "true", "yes", "idle", "IDLE", "stage_running", "\x00", "\u2028", "😀", "x" * 300),
    *([], {}, [None], ["a"], [1], [[]], {"": 1}, {"a": None}, {"id": "x"}, [{"id": "x"}], ["a", 1], float("inf")),
    *([[[[[[[]]]]]]], {"a": {"a": {"a": {"a": {"a": {"a": {}}}}}}}, REPAIR, COMPLETED, LEVEL),
]
NAMES = [
    *("effect", "todo_list", "fsm", "current_stage_id", "step_index", "transition", "stream", "id", "goal", "unknown"),
    *("variables", "observation", "options", "state", "stage_id", "attempt", "repair", "condensed", "completed"),
]


def encoded(data: Any) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every member of every container: (container, its key)."""
    if not isinstance(data, dict | list):
        return []
    keys = list(data) if isinstance(data, dict) else list(range(len(data)))
    return [(data, key) for key in keys] + [found for key in keys for found in places(data[key])]


def changed(dice: random.Random) -> Json:
    """A request with a few things other than they should be."""
    data: Json = copy.deepcopy(dice.choice([WHOLE, WHOLE, SMALLEST]))
    for _ in range(dice.randrange(4)):
        found = places(data)
        if not found:
            break
        container, key = dice.choice(found)
        match dice.randrange(4):
            case 0:
                container[key] = copy.deepcopy(dice.choice(ODD))
            case 1:
                del container[key]
            case 2 if isinstance(container, dict):
                container[dice.choice(NAMES)] = container.pop(key)
            case _ if isinstance(container, dict):
                container[dice.choice(NAMES)] = copy.deepcopy(dice.choice(ODD))
    return data


def assert_alike(body: bytes) -> bool:
    """Whether it was taken; if so, the full check must have come to the same, down to the types of the values."""
    read = READER.read(body)
    if read is None:
        return False
    parsed = Request.parse(body)
    assert repr(read.options) == repr(parsed.options)
    assert repr(read) == repr(parsed)
    assert read == parsed
    assert read.to_json() == parsed.to_json()
    assert repr(read.model_dump(exclude_unset=True)) == repr(parsed.model_dump(exclude_unset=True))
    return True


@given(seed=st.integers(min_value=0, max_value=2**64))
@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_taken_is_what_the_full_check_makes_of_it(seed: int) -> None:
    assert_alike(encoded(changed(random.Random(seed))))


@given(seed=st.integers(min_value=0, max_value=2**64))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_bytes_that_are_damaged_are_taken_only_where_the_full_check_takes_them(seed: int) -> None:
    dice = random.Random(seed)
    body = bytearray(encoded(dice.choice([WHOLE, SMALLEST])))
    for _ in range(dice.randrange(1, 4)):
        at = dice.randrange(len(body))
        match dice.randrange(3):
            case 0:
                body[at] = dice.choice(b'{}[]",:0129eE+-.\\u\x00\x1f\x80\xc3\xff nNtf')
            case 1:
                del body[at : at + dice.randrange(1, 5)]
            case _:
                body[at:at] = body[dice.randrange(len(body)) :][: dice.randrange(1, 6)]
    assert_alike(bytes(body))


@given(number=st.one_of(st.floats(allow_nan=False), st.integers(), st.from_regex(r"-?(0|[1-9][0-9]{0,25})\Z")))
@settings(max_examples=300, deadline=None)
def test_numbers_are_read_alike(number: float | str) -> None:
    text = number if isinstance(number, str) else json.dumps(number)
    body = encoded(SMALLEST | {"options": {"x": 0}}).replace(b'"options": {"x": 0}', b'"options": {}')
    variables = f'"context": {{"variables": {{"n": {text}}}}}, "location"'
    assert_alike(body.replace(b'"location"', variables.encode()))


@pytest.mark.parametrize("data", [WHOLE, SMALLEST, {**SMALLEST, "options": {"repair": REPAIR}}])
def test_what_clients_send_is_taken(data: Json) -> None:
    assert assert_alike(encoded(data))


def test_what_we_write_ourselves_is_taken() -> None:
    assert assert_alike(Request.parse(WHOLE).to_json())


def test_a_repeated_name_counts_for_its_last_value() -> None:
    body = encoded(SMALLEST).replace(b'"current": {}', b'"current": {"stage_id": "a", "stage_id": "b"}')
    assert assert_alike(body)
    read = READER.read(body)
    assert read is not None
    assert read.observation.location.current.stage_id == "b"


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"observation": {}},
        {**SMALLEST, "x_new": 1},
        {"observation": {"location": {"current": {"step_index": "t"}, "progress": {}}}},
        {"observation": {"location": {"current": {"behavior_iteration": "1"}, "progress": {}}}},
        {"observation": {"location": {"current": {}, "progress": {}, "goals": None}}},
        [],
        None,
    ],
)
def test_what_only_the_full_check_can_judge_is_left_to_it(data: object) -> None:
    assert READER.read(encoded(data)) is None


def test_nothing_is_taken_that_is_deeper_than_said() -> None:
    def nested(depth: int) -> bytes:
        value = b"[" * depth + b"]" * depth
        return encoded(SMALLEST).replace(b'"location"', b'"context":{"variables":{"v":%b}},"location"' % value)

    taken = [depth for depth in range(1, DEEPEST) if READER.read(nested(depth)) is not None]
    assert taken == list(range(1, len(taken) + 1))
    # Values of any shape stand no deeper than this in our own messages, and these end before that.
    around = 16
    assert 3 < len(taken) <= DEEPEST - around


def read_whole() -> Request:
    read = READER.read(encoded(WHOLE))
    assert read is not None
    return read


def test_only_the_options_are_made_until_somebody_reads_more() -> None:
    read = read_whole()
    assert isinstance(read, Request)
    assert isinstance(read.options, Options)
    assert read.options.run_id == "n"
    assert type(read) is not Request
    assert read.observation.location.current.stage_id == "s"
    assert type(read) is Request


def test_whoever_holds_one_cannot_tell_it_from_a_parsed_one() -> None:
    parsed = Request.parse(WHOLE)
    assert parsed == read_whole()
    assert read_whole() == parsed
    assert copy.deepcopy(read_whole()) == parsed
    assert pickle.loads(pickle.dumps(read_whole())) == parsed
    assert read_whole().model_copy(update={"behavior_feedback": None}).behavior_feedback is None
    assert repr(read_whole()) == repr(parsed)
    assert dict(read_whole()) == dict(parsed)
    with pytest.raises(ValueError, match="frozen"):
        read_whole().options = Options()  # type: ignore[misc]  # what is tested
    with pytest.raises(AttributeError):
        read_whole().nothing  # type: ignore[attr-defined]  # noqa: B018  what is tested
    with pytest.raises(MessageInvalid):
        type(read_whole()).parse({})


def test_threads_that_read_at_the_same_time_read_the_same() -> None:
    for _ in range(50):
        read = read_whole()
        found: list[str] = []
        start = threading.Barrier(3)

        def look(read: Request = read, found: list[str] = found, start: threading.Barrier = start) -> None:
            start.wait()
            found.append(repr(read.observation))

        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 3
        assert len(set(found)) == 1
