"""Who writes a behavior, and which names the cells of a playbook rely on."""

from __future__ import annotations

import pytest

from notebook_bcc.planners.code_names import code_names
from notebook_bcc.playbook.check import check_playbook, load_playbook
from notebook_bcc.playbook.needed import names_in_cell, needed_names
from playbook.books import SOUND, files


def test_the_innermost_word_about_who_writes_counts() -> None:
    stage = SOUND["stages/load.yaml"].replace("focus:", "written_by: playbook\nfocus:", 1)
    stage = stage.replace("  - id: extra\n", "  - id: extra\n    written_by: model\n")
    stage = stage.replace('- when: "v.rows > 2"\n', '- when: "v.rows > 2"\n        written_by: model\n')
    loaded = load_playbook(files(stages__load=stage))
    written = {step.id: [one.written_by for one in step.behaviors] for step in loaded.stages[0].steps}
    assert written == {
        "read": ["playbook", "model"],
        "target": ["playbook"] * 3,
        "extra": ["model"],
        "change": ["playbook"],
    }
    assert {one.written_by for step in loaded.stages[1].steps for one in step.behaviors} == {"model"}


def test_a_question_to_a_person_is_never_a_models() -> None:
    steps = {step.id: step for step in load_playbook(files()).stages[0].steps}
    assert [(one.ask is not None, one.written_by) for one in steps["target"].behaviors] == [
        (False, "playbook"),
        (True, "playbook"),
        (False, "model"),
    ]


def test_somebody_else_cannot_write() -> None:
    stage = SOUND["stages/load.yaml"].replace("focus:", "written_by: nobody\nfocus:", 1)
    ((place, problem),) = check_playbook(files(stages__load=stage))
    assert place.startswith("stages/load.yaml:")
    assert "'model' or 'playbook'" in problem


def test_what_is_promised_or_read_is_needed_and_what_only_one_cell_uses_is_not() -> None:
    needed = needed_names(load_playbook(files()))
    assert {"table", "rows", "target", "model"} <= needed
    assert "extra" not in needed


@pytest.mark.parametrize(
    ("source", "read", "made"),
    [
        ("a = b", {"b"}, {"a"}),
        ("a = 1\nprint(a)", set(), {"a"}),
        ("a += 1", {"a"}, {"a"}),
        ("print(a)\na = 1", {"a"}, {"a"}),
        ("[one for one in rows if one in b]", {"rows", "b"}, set()),
        ("def f(x):\n    y = x + z\n    return y\nf(1)", {"z"}, {"f"}),
        ("for a in b:\n    c = a", {"b"}, {"a", "c"}),
        ("import pandas as pd\nfrom os import path", set(), {"pd", "path"}),
        ("with a as b:\n    print(b)", {"a"}, {"b"}),
        ("f = lambda x: x + k", {"k"}, {"f"}),
        ("f'{a} {len(b)}'", {"a", "b"}, set()),
        ("(a := 1)", set(), {"a"}),
        ("del a", set(), {"a"}),
        ("a.b = c['d']", {"a", "c"}, set()),
    ],
)
def test_names_are_told_apart_by_who_makes_them(source: str, read: set[str], made: set[str]) -> None:
    names = code_names(source)
    assert (set(names.read), set(names.made)) == (read, made)


def test_in_a_template_every_branch_counts_and_what_is_filled_in_is_no_name() -> None:
    cell = "#% if v.many\na = few({{ v.rows }})\n#% else\na = {{ v.name | name }}\n#% endif\nprint(a, b)\n"
    assert names_in_cell(cell).read - {"_"} == {"few", "b"}
    assert names_in_cell("this is ( no Python").read >= {"Python"}
