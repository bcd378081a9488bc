"""The closed sets are the seeds' sets."""

from __future__ import annotations

import pytest

from notebook_bcc.protocol.vocabulary import CaseFree, Event, Level, ShotType, State, Strategy, TodoOperation


def test_there_are_fourteen_states_and_twenty_two_events() -> None:
    assert len(State) == 14
    assert len(Event) == 22


@pytest.mark.parametrize("kind", [State, Event, Level, ShotType, Strategy, TodoOperation])
def test_every_member_is_found_in_any_case(kind: type[CaseFree]) -> None:
    for member in kind:
        assert kind(member.value.upper()) is kind(member.value.lower()) is kind(member.value.title()) is member


@pytest.mark.parametrize("value", ["", "idle ", None, 3, ["idle"]])
def test_what_is_not_a_member_is_not_guessed(value: object) -> None:
    with pytest.raises(ValueError, match="is not a valid State"):
        State(value)  # type: ignore[arg-type]  # what a peer may send
