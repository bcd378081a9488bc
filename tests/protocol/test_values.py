"""Small values and helpers of the protocol, as tables: what each says, word for word."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, get_args

import pytest
from pydantic import Field, ValidationError

from notebook_bcc.errors import PlanInvalid
from notebook_bcc.protocol import vocabulary
from notebook_bcc.protocol.cells import Bar, Cell, replaced_probes
from notebook_bcc.protocol.dialects import actions_from_v1
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import INCLUDABLE, PlanningResponse
from notebook_bcc.protocol.plain import canonical_bytes, plain
from notebook_bcc.protocol.progress import PROGRESS_MIME, WorkProgress, is_progress, progress_of
from notebook_bcc.protocol.variables import summary_of
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.protocol.workflow import Stage, Step, Workflow, check_steps, check_workflow

# Every closed set whose members are not the member's own name.
SETS = {
    "State": "idle stage_running step_running behavior_running action_running action_completed behavior_completed "
    "step_completed stage_completed workflow_completed error cancelled workflow_update_pending step_update_pending",
    "Owner": "Planning Generating Client",
    "Level": "stages steps behaviors",
    "ShotType": "dialogue observation action",
    "CellType": "markdown code thinking",
    "TodoOperation": "add remove replace",
    "Strategy": "client_controlled server_controlled",
}


@pytest.mark.parametrize("name", SETS)
def test_a_closed_set_has_these_members_in_this_order(name: str) -> None:
    members: type[StrEnum] = getattr(vocabulary, name)
    assert [member.value for member in members] == SETS[name].split()


def test_an_event_is_written_as_it_is_named() -> None:
    assert all(event.value == event.name for event in vocabulary.Event)


def test_there_are_two_languages_and_two_dialects() -> None:
    assert get_args(vocabulary.Language) == ("en", "zh")
    assert get_args(vocabulary.Dialect) == ("v2", "v1")


def test_a_filter_may_ask_for_three_parts_beyond_the_documents() -> None:
    assert INCLUDABLE == ("fsm_history", "notebook", "sections")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"), ("é\ud800", "é?"), (None, None), (True, True), (False, False), (7, 7),
        (2**64 - 1, 2**64 - 1), (2**64, str(2**64)), (-(2**63), -(2**63)), (-(2**63) - 1, str(-(2**63) - 1)),
        (0.5, 0.5), (float("nan"), "nan"), (float("inf"), "inf"), ((1, 2), [1, 2]),
        ({1: {"a": None}}, {"1": {"a": None}}), (range(2), "range(0, 2)"),
    ],
)  # fmt: skip
def test_any_value_becomes_plain_json(value: Any, expected: Any) -> None:
    found = plain(value)
    assert found == expected
    assert type(found) is type(expected)
    assert canonical_bytes(found) is not None


def test_what_is_nested_without_end_is_cut() -> None:
    value: list[Any] = []
    value.append(value)
    assert plain(value, depth=2) == [["..."]]
    assert canonical_bytes({"b": 1, "a": [2]}) == b'{"a":[2],"b":1}'
    assert canonical_bytes({"a": object()}) is None


@pytest.mark.parametrize(
    ("value", "summary"),
    [([1, 2], "list(2)"), ((1,), "tuple(1)"), ({"a": 1}, "dict(1)"), ("abc", "str(3)"), (5, "int"), (None, "NoneType")],
)
def test_a_value_that_is_left_out_is_told_by_kind_and_size(value: Any, summary: str) -> None:
    assert summary_of(value) == summary


def test_a_progress_message_is_known_by_its_type_and_read_where_it_is_well_formed() -> None:
    data = {PROGRESS_MIME: {"what": "folds", "done": 2, "of": 5, "seconds_left": 3.5}}
    shown = {"output_type": "display_data", "data": data}
    assert progress_of(shown) == WorkProgress(what="folds", done=2, of=5, seconds_left=3.5)
    malformed = {"output_type": "display_data", "data": {PROGRESS_MIME: {"done": -1}}}
    assert is_progress(malformed)
    assert progress_of(malformed) is None
    for other in ({"output_type": "stream", "text": "x"}, {"output_type": "display_data", "data": {"text/plain": "x"}}):
        assert not is_progress(other)
        assert progress_of(other) is None


@pytest.mark.parametrize("field", ["done", "of", "seconds_left", "memory_bytes", "cpu_percent"])
def test_no_part_of_a_progress_message_is_negative(field: str) -> None:
    WorkProgress.model_validate({"what": "x", field: 0})
    with pytest.raises(ValidationError):
        WorkProgress.model_validate({"what": "x", field: -1})


@pytest.mark.parametrize("reached", [True, False])
def test_a_transition_is_written_whole_and_a_verdict_in_it_stays(reached: bool) -> None:
    answer = PlanningResponse(target_achieved=reached)
    assert answer.transition.target_achieved is None
    whole = answer.with_whole_transition()
    assert whole.transition.target_achieved is reached
    assert whole.with_whole_transition() is whole


def test_a_purpose_is_the_goal_or_else_the_description() -> None:
    for kind in (Step, Stage):
        assert kind.parse({"id": "a", "goal": "g", "description": "d"}).purpose == "g"
        assert kind.parse({"id": "a", "description": "d"}).purpose == "d"
        assert kind.parse({"id": "a"}).purpose == ""
        assert kind.parse({"id": "a"}).title == "a"
        assert kind.parse({"id": "a", "name": "n"}).title == "n"


def test_problems_of_a_plan_say_where_and_what() -> None:
    with pytest.raises(PlanInvalid) as nothing:
        check_workflow(Workflow(stages=()))
    assert list(nothing.value.problems) == [("stages", "a plan needs at least one stage")]
    twice = {"id": "a", "steps": [{"id": "s"}, {"id": "s"}]}
    asked = [{"name": "x", "kind": "value"}, {"name": "x", "kind": "value"}]
    with pytest.raises(PlanInvalid) as repeated:
        check_workflow(Workflow.parse({"stages": [twice, {"id": "a"}], "deliverables": asked}))
    assert list(repeated.value.problems) == [
        ("stages.1.id", "'a' is used twice"),
        ("deliverables.1.name", "'x' is used twice"),
        ("stages.0.steps.1.id", "'s' is used twice"),
    ]
    with pytest.raises(PlanInvalid) as empty:
        check_steps(())
    assert list(empty.value.problems) == [("steps", "a stage needs at least one step")]


def test_a_cell_that_is_named_is_run_and_code_that_comes_along_is_added_first() -> None:
    named = {"type": "execute_code", "codecell_id": "x", "content": "1"}
    assert actions_from_v1([named]) == [{"action": "exec", "codecell_id": "x", "content": "1"}]
    bare = {"type": "execute_code"}
    assert actions_from_v1([bare]) == [{"action": "exec"}]
    added, run = actions_from_v1([{"type": "execute_code", "code": "1", "need_output": False}])
    assert (added["action"], added["content"], added["shot_type"]) == ("add", "1", "action")
    assert (run["action"], run["codecell_id"], run["need_output"]) == ("exec", "lastAddedCellId", False)


@pytest.mark.parametrize("kind", [Limits, Policies])
def test_what_a_journal_holds_is_frozen_and_keeps_fields_of_later_versions(kind: type[Limits] | type[Policies]) -> None:
    value = kind.model_validate({"later": float("inf")})
    assert value.model_dump_json().endswith('"later":"Infinity"}')
    with pytest.raises(ValidationError):
        setattr(value, next(iter(kind.model_fields)), 1)


class _Inner(Message):
    numbers: tuple[int, ...] = ()
    word: str = ""


class _Outer(Message):
    inner: tuple[_Inner | int, ...] = ()
    named: dict[str, _Inner] = Field(default_factory=dict)


def test_a_null_counts_as_left_out_however_deep_it_stands() -> None:
    read = _Outer.parse({"inner": [{"word": None, "numbers": [1]}, 3], "named": {"a": {"word": None}}})
    assert read == _Outer(inner=(_Inner(numbers=(1,)), 3), named={"a": _Inner()})


def test_a_probe_is_named_by_a_text_alone() -> None:
    def cell(**extra: Any) -> Cell:
        return Cell(id="c", type=CellType.CODE, source="", metadata={"extra": extra})

    assert (cell(probe="outliers").probe, cell(probe="outliers").is_folded) == ("outliers", True)
    assert (cell(probe=3).probe, cell(probe=3).is_folded) == ("", False)
    assert (cell().probe, cell().is_folded) == ("", False)


def test_probes_are_replaced_by_either_name_of_the_key_and_what_is_no_name_is_skipped() -> None:
    assert replaced_probes({"replaces": ["a", "", 3, "b"]}) == ("a", "b")
    assert replaced_probes({"settles": ["a"]}) == ("a",)
    assert replaced_probes({"replaces": ["b"], "settles": ["a"]}) == ("b",)
    assert replaced_probes({"replaces": "a"}) == replaced_probes({}) == ()


def test_a_bar_is_read_only_where_it_is_whole() -> None:
    assert Bar.read(["a", 0.5, "50 %"]) == Bar("a", 0.5, "50 %")
    assert Bar.read(["a", 0, 3]) == Bar("a", 0.0, "3")
    for found in (None, [], ["a", 1], ["a", "1", "x"], ["a", 1.01, "x"], ["a", -0.01, "x"]):
        assert Bar.read(found) is None
