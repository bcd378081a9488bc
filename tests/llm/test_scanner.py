"""The scanner: whatever the pieces, the same objects; never one that is not whole."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notebook_bcc.llm.stream.scanner import DEEPEST, BadObject, Scanned, Scanner

Json = dict[str, Any]  # Any: JSON

TEXTS = st.text(
    alphabet=st.one_of(st.characters(exclude_categories=["Cs"]), st.sampled_from('{}[]"\\,:\n`')), max_size=30
)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)
OBJECTS = st.dictionaries(TEXTS.filter(lambda key: key not in ("actions", "action")), VALUES, min_size=1, max_size=4)
# What code in a string is made of, where it looks like the end of an object.
CODE = st.lists(
    st.sampled_from(
        [
            'f"{x}"',
            '{"a": 1}',
            "{}",
            "}",
            "}}",
            '"',
            '"}',
            '\\"}',
            "\\",
            "\\\\",
            "'",
            "1}",
            " }",
            "[x]}",
            "null}",
            ", {",
            "\n",
            "é",
            " ",
        ]
    ),
    max_size=20,
).map("".join)
ACTIONS = st.lists(
    st.fixed_dictionaries({"action": CODE, "content": CODE}, optional={"n": st.integers(), "more": OBJECTS, "": CODE}),
    max_size=5,
)
PROSE = st.text(alphabet="abc .,:`\n-*()[]é字", max_size=20)


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, list[Json]]:
    """A text in one of the documented forms, and what is in it."""
    objects = draw(st.lists(OBJECTS, max_size=4))
    indent, ascii_only = draw(st.sampled_from([None, 2])), draw(st.booleans())
    written = [json.dumps(one, indent=indent, ensure_ascii=ascii_only) for one in objects]
    match draw(st.sampled_from(["envelope", "list", "lines", "fence", "wrapped"])):
        case "envelope":
            before = draw(st.sampled_from(["", '"thought": "a [b] {c} \\"d", ', '"n": [1, {"x": 2}], ']))
            text = "{" + before + '"actions": [' + ", ".join(written) + '], "end": {"a": [1]}}'
        case "list":
            text = "[" + ",\n".join(written) + "]"
        case "lines":
            text = "\n".join(written)
        case "wrapped":
            text = "\n".join('{"action": ' + one + "}" for one in written)
        case _:
            text = "\n".join(f"```json\n{one}\n```\n" + draw(PROSE) for one in written)
    return draw(PROSE) + text + draw(PROSE), objects


def scanned(text: str, cuts: Sequence[int] = (), **options: Any) -> list[Scanned]:  # Any: of the scanner
    scanner = Scanner(**options)
    found: list[Scanned] = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += scanner.feed(text[start:end])
    return [*found, *scanner.finish()]


def every(text: str, size: int) -> list[int]:
    return list(range(size, len(text), size))


@given(answers(), st.data())
def test_any_split_of_any_answer_gives_its_objects(answer: tuple[str, list[Json]], data: st.DataObject) -> None:
    text, objects = answer
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=12)))
    assert scanned(text, cuts) == objects
    assert scanned(text, every(text, 1)) == objects


@given(answers(), st.data())
def test_a_text_that_is_cut_off_gives_a_beginning_of_its_objects(
    answer: tuple[str, list[Json]], data: st.DataObject
) -> None:
    text, objects = answer
    cut = data.draw(st.integers(0, len(text)))
    found = [one for one in scanned(text[:cut]) if not isinstance(one, BadObject)]
    assert found == objects[: len(found)]


@given(st.text(alphabet='{}[]",:\\ \n1aTruenulNo', max_size=60), st.data())
def test_noise_gives_the_same_whatever_the_pieces(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    whole = scanned(text)
    assert scanned(text, cuts) == whole
    assert all(isinstance(one, BadObject) or json.loads(json.dumps(one)) == one for one in whole)


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"code": "a\nb\tc"}', [{"code": "a\nb\tc"}]),
        ('{"a": [1, 2,], "b": 3,}', [{"a": [1, 2], "b": 3}]),
        ('{"a": True, "b": None, "c": "None, True,}"}', [{"a": True, "b": None, "c": "None, True,}"}]),
        (r'{"a": "\d+ it\'s \x", "b": "\\d"}', [{"a": r"\d+ it's \x", "b": r"\d"}]),
        (r'{"a": "\ud83d\ude00", "b": "\ud83d."}', [{"a": "😀", "b": "\ufffd."}]),
        ('{"a": "“smart” ‘quotes’"}', [{"a": "“smart” ‘quotes’"}]),
        ('Use {x} or {{ y }} or f() {}: {\n "a": 1}', [{"a": 1}]),
        ('{"actions": [{"a": 1}, {"b": 2}', [{"a": 1}, {"b": 2}]),
        ('{"actions": [{"a": 1}, "text }", [{"b": 2}], 3, null]} and {"c": 3}', [{"a": 1}, {"b": 2}, {"c": 3}]),
        ('{"actions": []}', []),
        ('{"action": {"action": "add"}}\n{"action": "exec"}', [{"action": "add"}, {"action": "exec"}]),
        ('{“a”: 1} {"b": 1}', [{"b": 1}]),
        ("", []),
        ("no braces at all", []),
    ],
)
def test_what_models_write_is_read(text: str, expected: list[Json], size: int) -> None:
    assert scanned(text, every(text, size)) == expected


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    ("text", "good"),
    [
        ('{"actions": [{"a": 1}, {"code": "x = 1"', 1),
        ('{"actions": [{"a": 1}, {"code": "x = ', 1),
        ('{"a": 1} {"b": ', 1),
        ('{"actions": [{"a": 1}, {"b": 2]} {"c": 3}', 2),
        ('{"a": nonsense} {"b": 1}', 1),
        ('{"a": NaN} {"b": 1}', 1),
        ('{"a": "say "hello" now"} {"b": 1}', 1),
    ],
)
def test_what_is_not_whole_is_said_and_never_given_out(text: str, good: int, size: int) -> None:
    found = scanned(text, every(text, size))
    assert len([one for one in found if not isinstance(one, BadObject)]) == good
    assert len([one for one in found if isinstance(one, BadObject)]) == 1


def test_an_object_is_given_out_with_its_closing_brace() -> None:
    scanner = Scanner()
    assert not scanner.feed('{"actions": [{"a": "}"')
    assert scanner.feed("}") == [{"a": "}"}]
    assert not scanner.feed(', {"b": 1')
    assert list(scanner.feed("},")) == [{"b": 1}]


@given(st.lists(OBJECTS, min_size=1, max_size=4), st.integers(1, 9), st.sampled_from([None, 2]))
def test_whatever_its_strings_hold_it_is_given_out_with_its_closing_brace(
    objects: list[Json], size: int, indent: int | None
) -> None:
    scanner = Scanner()
    assert not scanner.feed('{"actions": [')
    for one in objects:
        text = json.dumps(one, indent=indent)
        *pieces, last = [text[at : at + size] for at in range(0, len(text), size)]
        assert [found for piece in pieces for found in scanner.feed(piece)] == []
        assert list(scanner.feed(last)) == [one]
        assert not scanner.feed(", ")


@given(ACTIONS, st.sampled_from([None, 1]), st.booleans(), st.data())
def test_actions_full_of_braces_are_what_json_reads_and_none_is_late(
    actions: list[Json], indent: int | None, ascii_only: bool, data: st.DataObject
) -> None:
    written = [json.dumps(one, indent=indent, ensure_ascii=ascii_only) for one in actions]
    begin = '{"actions": ['
    text = begin + ", ".join(written) + "]}"
    ends = [len(begin + ", ".join(written[: count + 1])) for count in range(len(written))]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=30)))
    scanner, found = Scanner(), list[Scanned]()
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        found += scanner.feed(text[start:end])
        assert found == actions[: sum(one <= end for one in ends)]
    assert [*found, *scanner.finish()] == json.loads(text)["actions"]


@pytest.mark.parametrize("size", [1, 4, 16, 64])
@pytest.mark.parametrize(
    "source",
    [
        'print(f"{len(table)} rows, {missing} missing")',
        'counts = {"a": 1, "b": {"c": 2}}',
        "path = 'C:\\\\'",
        'pattern = r"\\{\\d+\\}"; text = "}"',
        'x = "\\\\"}',
        "{" * 40 + "}" * 40,
        "[" * 120 + "}",
        "}",
        "{}",
        'true}, 1}, null}, "}, e}',
        "a" * 3_000 + '{"b": 1}' * 50,
    ],
)
def test_braces_in_code_are_text(source: str, size: int) -> None:
    actions = [{"kind": "code", "content": source}, {"kind": "text", "content": "}"}, {"n": 1, "content": source}]
    text = json.dumps({"actions": [*actions, *actions]})
    assert scanned(text, every(text, size)) == [*actions, *actions]


def test_without_an_envelope_the_object_around_is_one() -> None:
    text = '{"actions": [{"a": 1}], "focus": "b"}'
    assert scanned(text, every(text, 1), envelope=None) == [{"actions": [{"a": 1}], "focus": "b"}]


@pytest.mark.parametrize("size", [1, 100, 100_000])
def test_a_long_object_is_passed_over_and_the_next_is_read(size: int) -> None:
    text = '{"a": "' + "x}" * 5_000 + '"} {"b": 1}'
    found = scanned(text, every(text, size), limit=1_000)
    assert isinstance(found[0], BadObject)
    assert "longer" in found[0].reason
    assert found[1:] == [{"b": 1}]


def test_depth_is_bounded() -> None:
    deep = '{"a": ' + "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1) + "}"
    for size in (1, 1000):
        found = scanned(deep, every(deep, size))
        assert [type(one) for one in found] == [BadObject]


@pytest.mark.parametrize(
    "unit",
    ['{"a": [', '"a": [],', '{"a": ', '\\"', "}", '{"', '{"a": {"b": 1}}, ', '{"a": "}', '{"actions": [', "[{"],
)
def test_time_is_linear_in_the_text(unit: str) -> None:
    def seconds(count: int) -> float:
        text = '{"x": "' + unit * count
        pieces = [text[at : at + 20] for at in range(0, len(text), 20)]
        best = float("inf")
        for _ in range(3):
            scanner = Scanner(limit=10_000_000)
            begin = time.process_time()
            for piece in pieces:
                scanner.feed(piece)
            scanner.finish()
            best = min(best, time.process_time() - begin)
        return best

    # Eight times the text: about 8 when linear, 64 when quadratic.
    assert seconds(16_000) < 30 * max(seconds(2_000), 0.001)
