"""Document 001, the first design: its Python blocks, carried out as printed."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import notebook_bcc
from notebook_bcc.protocol.dialects import response_from_v1
from seeds.pages import TYPING, block, inside


@pytest.mark.parametrize(
    ("line", "name"), [(147, "WorkflowContext"), (158, "SectionProgress"), (168, "ActionMetadata")]
)
def test_a_dataclass_has_the_fields_of_ours_in_the_same_order(line: int, name: str) -> None:
    names: dict[str, Any] = {"dataclass": dataclass, **TYPING}
    exec(compile(block("001", line), f"001:{line}", "exec"), names)
    theirs = [field.name for field in dataclasses.fields(names[name])]
    ours = getattr(notebook_bcc, name)
    assert [field.name for field in dataclasses.fields(ours)][: len(theirs)] == theirs
    values = [f"value {number}" for number in range(len(theirs))]
    made, printed = ours(*values), names[name](*values)
    assert {field: getattr(made, field) for field in theirs} == dataclasses.asdict(printed)


@pytest.mark.parametrize("asked", [True, False])
def test_244_a_server_that_goes_by_the_todo_list_gives_an_answer_of_the_first_dialect(asked: bool) -> None:
    text = block("001", 244)
    names: dict[str, Any] = {"generate_section_2_actions": lambda: [{"type": "add_content", "content": "x"}]}
    exec(compile(inside("def answer(request):", text), "001:244", "exec"), names)
    task = text.split('"')[1]
    answer = names["answer"](SimpleNamespace(todo_list=[task] if asked else []))
    if not asked:
        assert answer is None
        return
    parsed = response_from_v1(answer)
    assert parsed is not None
    assert answer["context_update"]["todo_list_update"]["items"] == [task]
