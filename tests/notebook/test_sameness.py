from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from notebook_bcc.notebook.sameness import differences, normalized


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
        ("Wall time: 12.3 µs", "Wall time: 9 ms"),
        ("100%|####| 10/10 [00:01<00:00, 8.23it/s]", "100%|####| 10/10 [00:00<00:00, 99.1it/s]"),
        ("id 5f0c2f0e-2d7b-4c9a-8f7e-0123456789ab", "id 11111111-2222-3333-4444-555555555555"),
        ("/tmp/ipykernel_123/456.py:1: UserWarning", "/tmp/ipykernel_9/7.py:1: UserWarning"),
        ("/runs/a/work/data.csv", "/tmp/copy/work/data.csv"),
        ("\x1b[31mred\x1b[0m", "red"),
    ],
)
def test_what_differs_between_any_two_executions_is_the_same(before: str, after: str) -> None:
    assert differences([stream(before)], [stream(after)], folders=["/runs/a/work", "/tmp/copy/work"]) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [("R2 0.991", "R2 0.992"), ("10 rows", "11 rows"), ("a\nb", "a"), ("a", "a\nb"), ("a\n", "a"), ("", "x")],
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


def test_numbers_without_a_unit_are_left_alone() -> None:
    assert normalized("shape (731, 16) mean 4504.35") == "shape (731, 16) mean 4504.35"
