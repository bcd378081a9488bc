"""The table in the code, the one in our protocol page and the one in the seed are the same table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from notebook_bcc.fsm.machine import StateMachine, allowed_events, next_state
from notebook_bcc.fsm.table import ROW_OF, ROWS, TABLE, Group, Row
from notebook_bcc.protocol.vocabulary import Event, Owner, State
from seeds.pages import page

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "protocol" / "state-machine.md"

ParsedRow = tuple[str, str, str, str, str]


def parse_tables(text: str) -> Iterator[list[ParsedRow]]:
    """Yield the rows of every five-column transition table of a Markdown text, in order."""
    rows: list[ParsedRow] = []
    for line in [*text.splitlines(), ""]:
        cells = [re.sub(r"[*`]", "", cell).strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 5 and re.fullmatch(r"[A-Z_]+", cells[1]):
            rows.append((cells[0], cells[1], cells[2], cells[3], cells[4]))
        elif rows and not line.startswith("|"):
            yield rows
            rows = []


def page_tables() -> list[list[ParsedRow]]:
    return list(parse_tables(PAGE.read_text(encoding="utf-8")))


def seed_tables() -> list[list[ParsedRow]]:
    return list(parse_tables(page("004")))


@pytest.fixture(params=["protocol page", "seed 004"])
def written(request: pytest.FixtureRequest) -> list[list[ParsedRow]]:
    return page_tables() if request.param == "protocol page" else seed_tables()


def test_there_are_forty_five_rows_in_four_groups() -> None:
    assert [len(TABLE[group]) for group in Group] == [17, 7, 17, 4]
    assert len(ROWS) == 45


def test_no_pair_of_state_and_event_has_two_rows() -> None:
    assert len(ROW_OF) == len(ROWS)


def test_every_state_and_every_event_and_every_owner_is_used() -> None:
    assert {row.state for row in ROWS} | {row.next_state for row in ROWS} == set(State)
    assert {row.event for row in ROWS} == set(Event)
    assert {row.owner for row in ROWS} == set(Owner)


def test_every_state_can_be_reached_from_idle_and_can_return_to_it() -> None:
    def reach(start: State, arrows: set[tuple[State, State]]) -> set[State]:
        seen = {start}
        while more := {to for source, to in arrows if source in seen} - seen:
            seen |= more
        return seen

    forward = {(row.state, row.next_state) for row in ROWS}
    assert reach(State.IDLE, forward) == set(State)
    assert reach(State.IDLE, {(to, source) for source, to in forward}) == set(State)


def test_the_written_tables_have_the_rows_of_the_code_group_by_group_in_order(
    written: list[list[ParsedRow]],
) -> None:
    def head(row: Row) -> tuple[str, str, str, str]:
        return row.state.value, row.event.value, row.next_state.value, row.owner.value

    said = [[row[:4] for row in rows] for rows in written]
    coded = [[head(row) for row in TABLE[group]] for group in Group]
    assert said == coded, "where the page is behind the code, run: python docs/build_state_machine.py"


def test_the_written_core_table_calls_the_same_endpoints(written: list[list[ParsedRow]]) -> None:
    endpoints = [row[4].strip("-\N{EM DASH}") for row in written[0]]
    assert endpoints == [row.endpoint_or_note for row in TABLE[Group.CORE]]


@pytest.mark.parametrize("state", State)
def test_each_event_leads_from_a_state_where_the_written_table_says_and_nowhere_else(
    state: State, written: list[list[ParsedRow]]
) -> None:
    said = {(row[0], row[1]): row[2] for rows in written for row in rows}
    for event in Event:
        expected = said.get((state.value, event.value))
        assert next_state(state, event) == expected
        assert (event in allowed_events(state)) == (expected is not None)
        machine = StateMachine(state=state)
        assert machine.transition(event) == (expected is not None)
        assert machine.get_state() == (expected or state)
        assert (len(machine.history), len(machine.refused)) == ((0, 1) if expected is None else (1, 0))


def test_the_page_describes_every_state_and_every_event_once() -> None:
    described = re.findall(r"^\| `(\w+)` \| [^|]+ \|(?: (yes|no) \|)?$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [name for name, _ in described] == [*State, *Event]
    resting = {State.IDLE, State.ERROR, State.CANCELLED, State.WORKFLOW_COMPLETED}
    assert {name for name, running in described if running == "no"} == resting
