"""The quick look at a notebook accepts nothing that nbformat refuses."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import nbformat
import pytest

from notebook_bcc.notebook.soundness import sound_content

CODE = {
    "id": "a",
    "cell_type": "code",
    "metadata": {},
    "source": ["x\n", "y"],
    "execution_count": 1,
    "outputs": [
        {"output_type": "stream", "name": "stdout", "text": ["1\n", "2"]},
        {"output_type": "execute_result", "data": {"text/plain": ["3"]}, "metadata": {}, "execution_count": 1},
        {"output_type": "display_data", "data": {"application/json": [1]}, "metadata": {}},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
    ],
}
TEXT = {"id": "b", "cell_type": "markdown", "metadata": {}, "source": "text"}
NOTEBOOK: dict[str, Any] = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [CODE, TEXT]}
WRONG = [None, 1, "x", [], {}, [1], {"a": 1}, True, "a", "code", -1]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        found += [place for key, one in value.items() for place in places(one, (*path, key))]
    elif isinstance(value, list):
        found += [place for index, one in enumerate(value) for place in places(one, (*path, index))]
    return found


def is_valid(content: Any) -> bool:
    try:
        nbformat.validate(nbformat.from_dict(content))  # type: ignore[no-untyped-call]
    except (nbformat.ValidationError, AttributeError, KeyError, TypeError):
        return False
    return True


def test_a_sound_notebook_is_known_and_its_lines_are_joined() -> None:
    content = sound_content(json.dumps(NOTEBOOK).encode())
    assert content is not None
    assert content["cells"][0]["source"] == "x\ny"
    assert content["cells"][0]["outputs"][0]["text"] == "1\n2"
    assert content["cells"][0]["outputs"][2]["data"] == {"application/json": [1]}


@pytest.mark.filterwarnings("ignore")
def test_whatever_is_changed_in_it_the_look_accepts_nothing_that_nbformat_refuses() -> None:
    dice = random.Random(7)
    accepted = 0
    for place in places(NOTEBOOK):
        for wrong in [*dice.sample(WRONG, 6), "delete"]:
            content = copy.deepcopy(NOTEBOOK)
            holder: Any = content
            for part in place[:-1]:
                holder = holder[part]
            if wrong == "delete":
                del holder[place[-1]]
            else:
                holder[place[-1]] = wrong
            if sound_content(json.dumps(content).encode()) is not None:
                accepted += 1
                assert is_valid(content), f"{place} = {wrong!r}"
    assert accepted > 10, "the look refuses everything and proves nothing"
