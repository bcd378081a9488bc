"""A cell's outputs: merged as Jupyter does it, and within limits."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.kernel.interface import CellError
from notebook_bcc.kernel.outputs import OutputCollector, OutputLimits, read_error, split_text, text_size

Message = tuple[str, dict[str, Any]]


def stream(text: str, name: str = "stdout") -> Message:
    return "stream", {"name": name, "text": text}


def display(text: str, display_id: str | None = None, kind: str = "display_data") -> Message:
    transient = {} if display_id is None else {"display_id": display_id}
    return kind, {"data": {"text/plain": text}, "metadata": {}, "transient": transient}


def collect(*messages: Message, limits: OutputLimits | None = None) -> OutputCollector:
    collector = OutputCollector(limits or OutputLimits())
    for kind, content in messages:
        collector.add(kind, content)
    return collector


def texts(collector: OutputCollector) -> list[str]:
    return [output.get("text") or output["data"]["text/plain"] for output in collector.outputs()]


def test_consecutive_text_of_one_stream_is_one_output() -> None:
    collector = collect(stream("a"), stream("b\n"), stream("err", "stderr"), stream("c"))
    assert collector.outputs() == (
        {"output_type": "stream", "name": "stdout", "text": "ab\n"},
        {"output_type": "stream", "name": "stderr", "text": "err"},
        {"output_type": "stream", "name": "stdout", "text": "c"},
    )


def test_a_display_parts_the_text_around_it() -> None:
    assert texts(collect(stream("a"), display("d"), stream("b"))) == ["a", "d", "b"]


def test_a_carriage_return_reaches_into_the_piece_before() -> None:
    assert texts(collect(stream("10%"), stream("\r20%"), stream("\r100%\ndone"))) == ["100%\ndone"]


def test_each_message_is_returned_as_it_is() -> None:
    collector = OutputCollector(OutputLimits())
    assert collector.add(*stream("\rx")) == {"output_type": "stream", "name": "stdout", "text": "\rx"}
    assert collector.add("clear_output", {"wait": False}) is None
    assert collector.add("comm_open", {}) is None
    result = collector.add("execute_result", {"data": {"text/plain": "5"}, "metadata": {}, "execution_count": 7})
    assert result == {
        "output_type": "execute_result",
        "data": {"text/plain": "5"},
        "metadata": {},
        "execution_count": 7,
    }


def test_a_display_is_updated_where_it_stands() -> None:
    collector = collect(display("one", "i"), stream("s"), display("two", "i", "update_display_data"))
    assert texts(collector) == ["two", "s"]
    assert collector.holds_display("i")
    assert not collector.holds_display("j")


def test_a_second_display_of_one_id_updates_the_first() -> None:
    assert texts(collect(display("one", "i"), display("two", "i"))) == ["two", "two"]


def test_clear_output_clears_at_once_or_with_the_next_output() -> None:
    assert texts(collect(stream("a"), ("clear_output", {"wait": False}))) == []
    assert texts(collect(stream("a"), ("clear_output", {"wait": True}))) == ["a"]
    assert texts(collect(stream("a"), ("clear_output", {"wait": True}), stream("b"))) == ["b"]
    assert texts(collect(display("a"), ("clear_output", {"wait": True}), display("b"))) == ["b"]


def test_text_over_the_limit_is_cut_in_the_middle_with_a_marker() -> None:
    collector = collect(*[stream(f"{i:09}\n") for i in range(1_000)], limits=OutputLimits(cell=200))
    (text,) = texts(collector)
    assert text.startswith("000000000\n")
    assert text.endswith("000000999\n")
    assert "[... 9,800 bytes of output cut here: the limit is 200 ...]" in text
    assert collector.dropped_bytes == 9_800


def test_the_last_outputs_are_kept_whatever_came_before() -> None:
    error = ("error", {"ename": "ValueError", "evalue": "no", "traceback": ["line"]})
    collector = collect(stream("x" * 10_000), error, limits=OutputLimits(cell=1_000))
    first, last = collector.outputs()
    assert last["ename"] == "ValueError"
    assert "bytes of output cut here" in first["text"]


def test_a_million_displays_are_bounded() -> None:
    collector = OutputCollector(OutputLimits(cell=300_000))
    for number in range(100_000):
        collector.add(*display(str(number)))
    assert len(collector.outputs()) < 60_000
    assert texts(collector)[0] == "0"
    assert texts(collector)[-1] == "99999"
    assert collector.dropped_bytes > 0


def test_alternating_streams_are_bounded() -> None:
    collector = OutputCollector(OutputLimits(cell=10_000))
    for number in range(20_000):
        collector.add(*stream(f"{number}\n", "stderr" if number % 2 else "stdout"))
    kept = sum(len(text) for text in texts(collector))
    assert kept < 10_200
    assert texts(collector)[-1] == "19999\n"


def update(text: str, display_id: str) -> Message:
    return display(text, display_id, "update_display_data")


def test_updates_of_displays_are_held_to_the_limit_with_a_marker() -> None:
    collector = collect(
        *[display("a", f"d{i}") for i in range(50)],
        *[update("b" * 900, f"d{i}") for i in range(50)],
        limits=OutputLimits(cell=1_000),
    )
    assert texts(collector) == ["\n[... 44,100 bytes of output cut here: the limit is 1,000 ...]\n", "b" * 900]
    assert collector.dropped_bytes == 44_100


def test_a_display_that_grows_cuts_what_is_in_the_middle() -> None:
    lines = [stream(f"{i:09}\n") for i in range(60)]
    collector = collect(display("a", "i"), *lines, update("b" * 50, "i"), limits=OutputLimits(cell=200))
    grown, text = texts(collector)
    assert grown == "b" * 50
    assert text.startswith(f"\n[... {collector.dropped_bytes} bytes of output cut here: the limit is 200 ...]\n")
    assert text.endswith("000000058\n000000059\n")


def test_a_display_that_shrinks_leaves_room() -> None:
    collector = collect(display("a" * 90, "i"), limits=OutputLimits(cell=200))
    for size in (10, 90, 5):
        collector.add(*update("b" * size, "i"))
    collector.add(*stream("c" * 190))
    assert texts(collector) == ["b" * 5, "c" * 190]
    assert collector.dropped_bytes == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60), st.sampled_from(["new", "update", "text"]))))
def test_whatever_is_updated_the_limit_holds_and_all_is_accounted_for(
    moves: list[tuple[int, int, str]],
) -> None:
    """The newest output alone may be larger than its half."""
    collector = OutputCollector(OutputLimits(cell=100))
    for number, size, kind in moves:
        match kind:
            case "new":
                collector.add(*display("n" * size, f"d{number}"))
            case "update":
                collector.add(*update("u" * size, f"d{number}"))
            case _:
                collector.add(*stream("t" * size + "\n"))
    kept = texts(collector)
    marked = any("bytes of output cut here" in text for text in kept)
    assert marked == bool(collector.dropped_bytes)
    total = sum(text.count("n") + text.count("u") + text.count("t") for text in kept if "cut here" not in text)
    assert total <= 50 + 60


def test_an_item_over_its_limit_is_replaced_by_a_note() -> None:
    content = {"data": {"image/png": "A" * 11, "text/plain": "p", "application/json": {"k": "v" * 20}}}
    (output,) = collect(("display_data", content), limits=OutputLimits(binary=10, text=15)).outputs()
    assert output["data"] == {
        "image/png": "[image/png of 11 bytes left out: the limit is 10]",
        "text/plain": "p",
        "application/json": {"notebook_bcc": "[application/json of 28 bytes left out: the limit is 15]"},
    }


def test_an_error_is_held_to_its_limit() -> None:
    content = {"ename": "E", "evalue": "m" * 300, "traceback": ["t" * 300, "end"]}
    error = read_error(content, OutputLimits(traceback=100))
    assert "200 characters cut" in error.message
    assert error.traceback[-1] == "end"
    assert sum(map(len, error.traceback)) < 200


def test_an_error_of_ours_takes_the_place_of_the_kernels() -> None:
    ours = CellError("CellTimeout", "too long", ("t",))
    collector = collect(stream("a"), ("error", {"ename": "KeyboardInterrupt", "evalue": "", "traceback": []}))
    collector.replace_error(ours)
    assert [output.get("ename") for output in collector.outputs()] == [None, "CellTimeout"]
    without = collect(stream("a"))
    without.replace_error(ours)
    assert [output.get("ename") for output in without.outputs()] == [None, "CellTimeout"]


def test_a_cut_before_the_first_character_leaves_no_empty_output() -> None:
    collector = collect(
        stream("x" * 49), stream("中", "stderr"), stream("y" * 60 + "\n"), limits=OutputLimits(cell=100)
    )
    assert all(texts(collector))
    assert collector.dropped_bytes


@given(st.lists(st.tuples(st.text("ab\n中", max_size=40), st.sampled_from(["stdout", "stderr"])), max_size=40))
def test_what_is_kept_and_what_is_dropped_is_all_there_was(pieces: list[tuple[str, str]]) -> None:
    limits = OutputLimits(cell=100)
    collector = collect(*[stream(text, name) for text, name in pieces], limits=limits)
    total = sum(text_size(text) for text, _ in pieces)
    kept = "".join(texts(collector))
    if not collector.dropped_bytes:
        assert text_size(kept) == total
        return
    start = kept.index("\n[...")
    end = kept.index("...]\n") + len("...]\n")
    assert text_size(kept[:start] + kept[end:]) + collector.dropped_bytes == total
    assert total > limits.cell - 4


@given(st.text("a中é", max_size=20), st.integers(0, 40))
def test_split_text_tears_no_character(text: str, at: int) -> None:
    first, rest = split_text(text, at)
    assert first + rest == text
    assert text_size(first) <= at or not first
