"""What a running cell has printed: what a reader would see of it, seldom enough for a journal."""

from __future__ import annotations

from notebook_bcc.engine.actions.partial_outputs import PartialOutputs
from notebook_bcc.protocol.cells import Output


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def printed(text: str) -> Output:
    return {"output_type": "stream", "name": "stdout", "text": text}


def recorded(partial: PartialOutputs, clock: Clock, text: str, *, seconds: float, tick: float = 0.1) -> list[str]:
    """A cell that prints the text at every tick, for so long; what was written down of it."""
    found: list[str] = []
    for number in range(int(seconds / tick)):
        clock.now += tick
        partial.note("cell", printed(text.format(number=number)))
        if (record := partial.taken()) is not None:
            found.append(record.outputs[0]["text"])
    return found


def test_of_a_progress_bar_only_the_last_state_is_written_down() -> None:
    clock = Clock()
    partial = PartialOutputs("action", timer=clock)
    found = recorded(partial, clock, "\r{number} " + "x" * 100, seconds=15)
    assert len(found) == 15
    assert all(len(text) < 120 and "\r" not in text for text in found)


def test_a_bar_that_looks_the_same_is_written_down_once() -> None:
    clock = Clock()
    partial = PartialOutputs("action", timer=clock)
    assert len(recorded(partial, clock, "\r" + "x" * 100, seconds=15)) == 1


def test_lines_come_once_and_in_order() -> None:
    clock = Clock()
    partial = PartialOutputs("action", timer=clock)
    text = "".join(recorded(partial, clock, "line {number}\n", seconds=10))
    lines = text.splitlines()
    assert lines == [f"line {number}" for number in range(len(lines))]


def test_a_cell_that_prints_much_writes_no_more_than_some_kilobytes_a_second() -> None:
    clock = Clock()
    partial = PartialOutputs("action", timer=clock)
    found = recorded(partial, clock, ("y" * 99 + "\n") * 1000, seconds=60)
    assert sum(map(len, found)) <= 60 * 2_000 + 20_000


def test_the_longer_a_cell_runs_the_less_often_is_it_written_down() -> None:
    clock = Clock()
    partial = PartialOutputs("action", timer=clock)
    hour = len(recorded(partial, clock, "\r{number}", seconds=3600, tick=0.5))
    assert hour < 600
    assert len(recorded(partial, clock, "\r{number}", seconds=3600, tick=0.5)) < 80
    assert len(recorded(partial, clock, "\r{number}", seconds=3600, tick=0.5)) < 50


def test_the_first_words_of_a_cell_come_after_a_second() -> None:
    clock = Clock()
    partial = PartialOutputs("action", timer=clock)
    partial.note("cell", printed("begun\n"))
    assert partial.taken() is None
    clock.now += 1.0
    record = partial.taken()
    assert record is not None
    assert record.outputs[0]["text"] == "begun\n"
    assert partial.taken() is None
