"""Bytes of an answer to actions: what is held back, what is given out, and when it counts as broken."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.errors import PlannerAnswerInvalid, PlannerFailed, PlannerUnreachable, StreamBroken
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.planners.remote.stream import ActionReader, RemoteLimits
from notebook_bcc.protocol.dialects import actions_from_v1

ACTIONS = [{"action": "add", "content": text} for text in ("a", "Größe 漢字 \u2028\u0085", "c")]
LINES = [json.dumps({"action": action}, ensure_ascii=False).encode() + b"\n" for action in ACTIONS]


def reader(**limits: int) -> ActionReader:
    return ActionReader(planner="p", where="POST /generating", limits=RemoteLimits(**limits))


def read(used: ActionReader, *chunks: bytes, delimited: bool = True) -> tuple[list[Generated], PlannerFailed | None]:
    items: list[Generated] = []
    try:
        for chunk in chunks:
            items.extend(used.feed(chunk))
        for item in used.finish(delimited=delimited):
            items.append(item)  # noqa: PERF402  # what came before a failure counts
    except PlannerFailed as failure:
        return items, failure
    return items, None


def actions(items: list[Generated]) -> list[Any]:
    return [item.data for item in items if isinstance(item, ActionData)]


@given(st.lists(st.integers(0, 400), max_size=12))
def test_where_the_bytes_are_cut_changes_nothing(cuts: list[int]) -> None:
    whole = b"\n".join([LINES[0].strip(), b"", b"garbage", *[line.strip() for line in LINES[1:]]])
    edges = sorted({0, len(whole), *(min(cut, len(whole)) for cut in cuts)})
    items, failure = read(reader(), *[whole[a:b] for a, b in itertools.pairwise(edges)])
    assert failure is None
    assert actions(items) == ACTIONS
    assert len(items) == 4


def test_an_action_is_given_out_as_soon_as_its_line_ends() -> None:
    used = reader()
    assert list(used.feed(LINES[0][:-1])) == []
    assert actions(list(used.feed(b"\n"))) == [ACTIONS[0]]
    assert used.received == 1


def test_warnings_wait_for_the_first_action() -> None:
    used = reader()
    assert list(used.feed(b"garbage\n" * 150)) == []
    items = list(used.feed(LINES[0]))
    assert len(items) == 102
    assert items[100] == StreamWarning("POST /generating: 50 more lines were skipped")
    assert actions(items) == [ACTIONS[0]]


def test_a_stream_that_breaks_before_its_first_action_may_be_asked_for_again() -> None:
    used = reader()
    list(used.feed(b"garbage\n"))
    failure = used.broken("reset")
    assert isinstance(failure, PlannerUnreachable)
    assert "after 1 lines that are no actions" in str(failure)


def test_a_stream_that_breaks_after_it_says_how_far_it_came() -> None:
    used = reader()
    list(used.feed(b"".join(LINES)))
    failure = used.broken("reset")
    assert isinstance(failure, StreamBroken)
    assert failure.received == 3


@pytest.mark.parametrize("indent", [None, 2])
def test_an_answer_that_is_not_streamed_is_understood(indent: int | None) -> None:
    body = json.dumps({"behavior": {"id": "b"}, "actions": ACTIONS}, indent=indent).encode()
    for chunks in ([body], [body[i : i + 1] for i in range(len(body))]):
        items, failure = read(reader(), *chunks)
        assert failure is None
        assert items == [ActionData(action) for action in ACTIONS]


def test_wrapped_actions_are_unwrapped() -> None:
    body = json.dumps({"actions": [{"action": action} for action in ACTIONS]}).encode()
    assert actions(read(reader(), body)[0]) == ACTIONS


@pytest.mark.parametrize("body", [b"", b"\n\n  \n", b'{"actions": []}'])
def test_an_answer_without_actions_is_an_empty_behavior(body: bytes) -> None:
    assert read(reader(), body) == ([], None)


@pytest.mark.parametrize(
    ("body", "named"),
    [
        (b"garbage\nmore\n", "garbage"),
        (b"null", "null"),
        (b'{"error": "the model is asleep"}', "the model is asleep"),
        (b'{"actions": 5}', "actions"),
        (b"[" * 5000, "[["),
    ],
)
def test_an_answer_in_which_nothing_is_an_action_is_none(body: bytes, named: str) -> None:
    items, failure = read(reader(), body)
    assert items == []
    assert isinstance(failure, PlannerAnswerInvalid)
    assert named in str(failure)


def test_remarks_of_the_server_are_warnings_and_no_fault() -> None:
    items, failure = read(reader(), b'{"warning": "slow today"}\n')
    assert failure is None
    assert items == [StreamWarning("POST /generating: the server says: slow today")]
    items, failure = read(reader(), b'{"actions": [], "warnings": ["slow today"]}')
    assert (items, failure) == ([StreamWarning("POST /generating: the server says: slow today")], None)


def test_a_remark_between_actions_is_told_in_its_place_and_in_its_words() -> None:
    said = "Größe: an action was left out, " + "and why " * 100
    items, failure = read(reader(), LINES[0], json.dumps({"warning": said}).encode() + b"\n", LINES[1])
    assert failure is None
    assert actions(items) == ACTIONS[:2]
    assert items[1] == StreamWarning(f"POST /generating: the server says: {said}")


def test_a_remark_beside_the_actions_of_a_whole_answer_does_not_hide_them() -> None:
    whole = json.dumps({"warning": "slow", "actions": ACTIONS[:2]}).encode()
    items, failure = read(reader(), whole)
    assert failure is None
    assert actions(items) == ACTIONS[:2]


def test_an_endless_remark_is_cut() -> None:
    items, _ = read(reader(), b'{"warning": "' + b"x" * 100_000 + b'"}\n')
    [warning] = items
    assert isinstance(warning, StreamWarning)
    assert 2000 < len(warning.message) < 2100


def test_a_long_line_breaks_the_stream_and_keeps_what_came_before() -> None:
    items, failure = read(reader(line_bytes=200), LINES[0], LINES[1] + b"x" * 300)
    assert actions(items) == ACTIONS[:2]
    assert isinstance(failure, StreamBroken)
    assert failure.received == 2


def test_an_endless_stream_is_ended_at_the_limit() -> None:
    items, failure = read(reader(actions=5), *LINES * 100)
    assert len(items) == 5
    assert isinstance(failure, StreamBroken)
    assert "more than 5 actions" in str(failure)
    items, failure = read(reader(response_bytes=len(LINES[0]) * 2), *[LINES[0]] * 9)
    assert len(items) == 2
    assert isinstance(failure, StreamBroken)


def test_endless_garbage_is_ended_too() -> None:
    used = reader(line_bytes=1000)
    failure = read(used, *[b"x\n" * 100] * 100)[1]
    assert isinstance(failure, PlannerUnreachable)
    items, failure = read(reader(actions=50), LINES[0], *[b"x\n" * 100] * 100)
    assert len(items) == 50
    assert isinstance(failure, StreamBroken)


def test_blank_lines_keep_a_stream_alive_for_ever() -> None:
    items, failure = read(reader(line_bytes=500, response_bytes=10_000), *[b"\n"] * 5000, LINES[0])
    assert (actions(items), failure) == ([ACTIONS[0]], None)


def test_a_stream_that_ends_with_its_connection_may_have_lost_its_end() -> None:
    assert read(reader(), *LINES, delimited=False)[1] is None
    assert read(reader(), *LINES[:2], LINES[2].strip(), delimited=False)[1] is None
    items, failure = read(reader(), *LINES[:2], LINES[2][:9], delimited=False)
    assert actions(items) == ACTIONS[:2]
    assert isinstance(failure, StreamBroken)
    assert isinstance(read(reader(), delimited=False)[1], PlannerUnreachable)


def test_the_first_dialects_actions_become_ours() -> None:
    body = b'{"actions": [{"type": "execute_code", "content": "x = 1"}, {"type": "add_content", "content": "t"}]}'
    used = ActionReader(planner="p", where="w", limits=RemoteLimits(), translate=actions_from_v1)
    items, failure = read(used, body)
    assert failure is None
    assert [action["action"] for action in actions(items)] == ["add", "exec", "add"]
    assert used.received == 3


def test_what_nobody_should_read_is_taken_out() -> None:
    used = ActionReader(planner="p", where="w", limits=RemoteLimits(), hide=lambda text: text.replace("secret", "***"))
    items, _ = read(used, LINES[0], b"a secret\n")
    assert "secret" not in str(items)
    assert "***" in str(items)
