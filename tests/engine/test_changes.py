"""Changes of a state: a field that there is not is refused, by the type checker and by the running program."""

from __future__ import annotations

import dataclasses
from typing import get_type_hints

import pytest

from notebook_bcc.engine.changes import BehaviorChanges, StateChanges, evolve
from notebook_bcc.engine.state import BehaviorState, RunState


@pytest.mark.parametrize(("changes", "of"), [(StateChanges, RunState), (BehaviorChanges, BehaviorState)])
def test_changes_have_the_names_and_types_of_the_fields(
    changes: type, of: type[RunState] | type[BehaviorState]
) -> None:
    types = get_type_hints(of)
    assert get_type_hints(changes) == {one.name: types[one.name] for one in dataclasses.fields(of)}
    assert not changes.__required_keys__  # type: ignore[attr-defined]


def test_a_field_that_there_is_not_is_refused() -> None:
    # mypy says so too: it complains about an ignore that ignores nothing.
    with pytest.raises(TypeError, match="RunState has no field command_seen"):
        evolve(RunState(), command_seen=1)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="BehaviorState has no field goal"):
        evolve(BehaviorState(), goal="other")  # type: ignore[call-overload]


def test_a_value_of_another_type_is_an_error_for_the_type_checker() -> None:
    evolve(RunState(), commands_seen="one")  # type: ignore[call-overload]
    changes: StateChanges = {"pause": True, "commands_seen": 1}
    changes["planner_context"] = None  # type: ignore[typeddict-item]


def test_the_value_before_stays_and_the_rest_is_the_same() -> None:
    before = RunState(run_id="run", commands_seen=1)
    made = evolve(before, commands_seen=2)
    assert (before.commands_seen, made.commands_seen) == (1, 2)
    assert made == dataclasses.replace(before, commands_seen=2)
    assert made.behavior is before.behavior
