from __future__ import annotations

import base64
import string
import struct
import time
from typing import Any
from uuid import UUID

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from notebook_bcc.notebook.sameness import differences


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def result(**data: Any) -> dict[str, Any]:
    mimes = {name.replace("__", "/"): value for name, value in data.items()}
    return {"output_type": "execute_result", "data": mimes, "metadata": {}, "execution_count": 1}


def png(width: int, height: int, *, body: bytes = b"") -> str:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    return base64.b64encode(head + b"\x08\x06\x00\x00\x00" + body).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<object at 0x7f3a12bc>", "<object at 0x7fffffff1234>"),
        ("took 1.53 s", "took 0.2 ms"),
        ("Wall time: 12.3 µs", "Wall time: 1min 9s"),
        (
            "CPU times: user 2 µs, sys: 1e+03 ns, total: 3 µs\nWall time: 5.01 µs",
            "CPU times: user 1min 2s, sys: 12 ms, total: 1min 2s\nWall time: 1h 2min 3s",
        ),
        (
            "1.23 ms ± 45.6 μs per loop (mean ± std. dev. of 7 runs, 1,000 loops each)",
            "980 ns ± 3 ns per loop (mean ± std. dev. of 7 runs, 1 loop each)",
        ),
        ("elapsed: 0:00:01.234567", "elapsed: 0:01:00.5"),
        ("Elapsed time: 3.21", "Elapsed time: 0.07"),
        ("Execution time (s): 3.21", "Execution time (s): 0.07"),
        ("--- 1.5 seconds ---", "--- 0.25 seconds ---"),
        ("Done in 1.2s.", "Done in 31 ms."),
        ("[CV] END C=1; total time=   0.1s", "[CV] END C=1; total time=   1.3s"),
        ("| elapsed:    0.1s finished", "| elapsed:  2.0min finished"),
        ("the overhead of testing was 0.000123 seconds.", "the overhead of testing was 0.1 seconds."),
        ("100%|####| 10/10 [00:01<00:00, 8.23it/s]", "100%|####| 10/10 [00:00<00:00, 99.1it/s]"),
        ("100%|####| 10/10 [00:01<00:00,  1.23s/it]", "100%|####| 10/10 [01:00:00<00:00, 99.1it/s]"),
        ("10it [00:01, 8.23it/s, loss=0.5]", "10it [00:02, ?it/s, loss=0.5]"),
        ("313/313 - 1s 2ms/step - loss: 0.5", "313/313 - 0s 900us/step - loss: 0.5"),
        ("/tmp/ipykernel_123/456.py:1: UserWarning", "/var/tmp/ipykernel_9/7.py:1: UserWarning"),
        ("saved to /tmp/tmpab12_x9z/model", "saved to /tmp/tmpzzzzzzz1/model"),
        ("/runs/a/work/data.csv", "/tmp/copy/work/data.csv"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_what_differs_between_any_two_executions_is_the_same(before: str, after: str) -> None:
    assert differences([stream(before)], [stream(after)], folders=["/runs/a/work", "/tmp/copy/work"]) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("R2 0.991", "R2 0.992"),
        ("10 rows", "11 rows"),
        ("a\nb", "a"),
        ("a", "a\nb"),
        ("a\n", "a"),
        ("", "x"),
        # Numbers of data in front of a unit, or of a line that begins like one.
        ("std   1.581139\nmin   1.0", "std   9.999999\nmin   1.0"),
        ("rows 10\nsecond 4", "rows 99\nsecond 4"),
        ("size 10\ns", "size 11\ns"),
        ("mean delay 10 s", "mean delay 99 s"),
        ("half of them in 30 min", "half of them in 90 min"),
        ("took\n10 s", "took\n11 s"),
        ("Total: 10 s", "Total: 11 s"),
        ("Runtime: 120 min", "Runtime: 121 min"),
        ("10it [00:01, 8.23it/s, loss=0.5]", "10it [00:01, 8.23it/s, loss=0.6]"),
        ("9/10 [00:01<00:00, 8.23it/s]", "8/10 [00:01<00:00, 8.23it/s]"),
        ("customer id=1234567890", "customer id=1234567891"),
        ("colour 0xff00ff", "colour 0xff00fe"),
        ("key 5f0c2f0e-2d7b-4c9a-8f7e-0123456789ab", "key 5f0c2f0e-2d7b-4c9a-8f7e-0123456789ac"),
    ],
)
def test_other_text_is_compared_exactly(before: str, after: str) -> None:
    (what,) = differences([stream(before)], [stream(after)])
    assert what.startswith("stdout differs")


def test_how_a_stream_was_cut_does_not_matter() -> None:
    before = [stream("a"), stream("warn", "stderr"), stream("b")]
    after = [stream("warn", "stderr"), stream("ab")]
    assert differences(before, after) == []


def test_lines_and_a_list_of_lines_are_the_same_text() -> None:
    before = [{"output_type": "stream", "name": "stdout", "text": ["a\n", "b"]}]
    assert differences(before, [stream("a\nb")]) == []


def test_a_new_error_is_named() -> None:
    now = [{"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}]
    assert differences([], now) == ["it now raises KeyError: 'x'"]
    assert differences(now, []) == ["it raised KeyError, now nothing"]
    assert differences(now, now) == []


def test_results_are_compared_type_by_type() -> None:
    assert differences([result(text__plain="1")], [result(text__plain="1")]) == []
    assert "differs" in differences([result(text__plain="1")], [result(text__plain="2")])[0]
    assert "types" in differences([result(text__plain="1")], [result(text__html="1")])[0]
    assert "displayed results" in differences([result(text__plain="1")], [])[0]


def test_pictures_are_compared_by_type_and_size() -> None:
    assert differences([result(image__png=png(3, 4))], [result(image__png=png(3, 4, body=b"other"))]) == []
    assert "3x4" in differences([result(image__png=png(3, 4))], [result(image__png=png(5, 4))])[0]


def test_ids_that_libraries_draw_for_one_page_do_not_matter() -> None:
    before = result(text__html='<table id="T_a1b2c3"><td class="T_a1b2c3">1</td></table>')
    after = result(text__html='<table id="T_ffff00"><td class="T_ffff00">1</td></table>')
    assert differences([before], [after]) == []
    changed = result(text__html='<table id="T_ffff00"><td class="T_ffff00">2</td></table>')
    assert differences([before], [changed])


def test_json_is_compared_whatever_the_order_of_its_keys() -> None:
    before = result(application__json={"a": 1, "b": 2})
    assert differences([before], [result(application__json={"b": 2, "a": 1})]) == []
    assert differences([before], [result(application__json={"a": 1})])


# Words, units and signs as outputs have them, without those that begin a phrase of elapsed time.
WORDS = [
    "min",
    "s",
    "second",
    "seconds",
    "ms",
    "max",
    "std",
    "in",
    "id=",
    "T_",
    "sk-",
    "total",
    "loss",
    "time",
    "rate",
    "it/s",
]
SIGNS = [
    " ",
    "  ",
    "\n",
    "\t",
    ": ",
    "=",
    ", ",
    "[",
    "]",
    "(",
    ")",
    "<",
    "|",
    "/",
    "-",
    "±",
    "%",
    "e",
    ".",
    "",
    "0x",
    "#",
    "id=",
]
NUMBERS = st.one_of(
    st.integers(0, 10**18).map(str), st.floats(0, 1e9).map(str), st.uuids().map(str), st.times().map(str)
)
PRINTED = st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(SIGNS), NUMBERS), min_size=1, max_size=12)


@given(parts=PRINTED, number=NUMBERS, more=PRINTED, data=st.data())
@settings(max_examples=300)
@example(parts=["std      "], number="1.581139", more=["\nmin      1.000000"], data=None)
def test_any_digit_of_any_number_counts(
    parts: list[str], number: str, more: list[str], data: st.DataObject | None
) -> None:
    before = "".join(["> ", *parts, number, *more])
    digits = [at for at, sign in enumerate(before) if sign in string.digits]
    at = data.draw(st.sampled_from(digits)) if data else before.index("5")
    after = f"{before[:at]}{(int(before[at]) + 1) % 10}{before[at + 1 :]}"
    for name in ("stdout", "stderr"):
        assert differences([stream(before, name)], [stream(after, name)])
    for mime in ("text__plain", "text__html", "text__markdown", "text__latex"):
        assert differences([result(**{mime: before})], [result(**{mime: after})])
    assert differences([result(application__json={"a": [before]})], [result(application__json={"a": [after]})])


@given(before=st.integers() | st.floats(allow_nan=False), after=st.integers() | st.floats(allow_nan=False))
def test_any_number_in_json_counts(before: float, after: float) -> None:
    shown = [result(application__json={"elapsed": number, "min": [number]}) for number in (before, after)]
    assert bool(differences(shown[:1], shown[1:])) is (before != after)


def test_a_picture_in_html_is_compared_as_a_picture() -> None:
    def page(picture: str, number: int) -> dict[str, Any]:
        return result(text__html=f'<p>{number}</p><img src="data:image/png;base64,{picture}">')

    assert differences([page(png(3, 4), 1)], [page(png(3, 4, body=b"other"), 1)]) == []
    assert "3x4" in differences([page(png(3, 4), 1)], [page(png(5, 4), 1)])[0]
    assert differences([page(png(3, 4), 1)], [page(png(3, 4), 2)])


@pytest.mark.parametrize("unit", ["iVBORw0KGgo/AAA+", "[00:00<", "/a", "7", " ", "took ", "\x1b["])
def test_a_long_output_is_compared_at_once(unit: str) -> None:
    start = time.thread_time()
    text = unit * (1_000_000 // len(unit))
    for mime in ("text__plain", "text__html"):
        assert differences([result(**{mime: f"{text} 1 x"})], [result(**{mime: f"{text} 2 x"})])
    # Every pattern once through four megabytes.
    assert time.thread_time() - start < 10


@pytest.mark.parametrize(
    "drawn",
    [
        '<div id="{uuid}" class="plot"></div><script>draw("{uuid}", 5)</script>',
        '<div id="map_{hex}"></div><script>map_{hex}.show(5)</script>',
        '<div id="sk-container-id-{count}"><label for="sk-estimator-id-{count}">5</label></div>',
    ],
)
def test_ids_of_plots_maps_and_diagrams_do_not_matter(drawn: str) -> None:
    before, after = (
        drawn.format_map({"uuid": one, "hex": one.hex, "count": one.int % 97})
        for one in (UUID(int=7**40), UUID(int=3**80))
    )
    assert differences([result(text__html=before)], [result(text__html=after)]) == []
    assert differences([result(text__html=before)], [result(text__html=after.replace("5)", "6)").replace(">5", ">6"))])


def test_an_id_in_a_table_is_data() -> None:
    before, after = (f"<td>{UUID(int=number)}</td><td>T_12345{number}</td>" for number in (1, 2))
    assert differences([result(text__html=before)], [result(text__html=after)])


def test_the_widget_of_a_progress_bar_is_the_same_whatever_its_model() -> None:
    view = "application/vnd.jupyter.widget-view+json"
    before, after = ({"output_type": "display_data", "data": {view: {"model_id": one * 32}}} for one in "ab")
    assert differences([before], [after]) == []
