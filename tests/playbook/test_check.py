"""`nbcc playbook check`: every mistake is named with its file and line, and a sound playbook has none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.assigned import assigned_names
from notebook_bcc.playbook.check import check_playbook, load_playbook
from notebook_bcc.playbook.folder import PlaybookFiles, builtin_playbooks, copy_playbook, open_playbook
from playbook.books import SOUND, files

FRONT, LOAD, MODEL, CELL = "playbook.yaml", "stages/load.yaml", "stages/model.yaml", "cells/read.py"
# What is written instead of what, and the problem that comes of it.
SPOILT: dict[str, tuple[str, str, str, str, str]] = {
    "an unknown key at the front": (FRONT, "inputs:", "input:", "playbook.yaml:4", "did you mean 'inputs'"),
    "an unknown key in a step": (LOAD, "    done:", "    dine:", "stages/load.yaml:11", "did you mean 'done'"),
    "an unknown key in a behavior": (LOAD, "verify:", "verfy:", "stages/load.yaml:15", "did you mean 'verify'"),
    "an unknown key in a rule": (LOAD, "- that:", "- this:", "stages/load.yaml:16", "required|unknown"),
    "an unknown key of an action": (
        LOAD,
        "- cell: read",
        "- cell: read\n            runs: 1",
        "stages/load.yaml:22",
        "'run'",
    ),
    "a probe that nothing replaces": (
        LOAD,
        "- cell: read",
        "- cell: read\n            probe: look",
        "stages/load.yaml:21",
        "nothing replaces the probe 'look'",
    ),
    "a probe that is not there": (
        LOAD,
        "- cell: read",
        "- cell: read\n            replaces: [look]",
        "stages/load.yaml:21",
        "no probe 'look'",
    ),
    "a text that joins a cell": (
        LOAD,
        "- say: intro",
        "- say: intro\n            joined: true",
        "stages/load.yaml:21",
        "only a cell that is no probe can go into the cell before it",
    ),
    "a probe that joins a cell": (
        LOAD,
        "- cell: read",
        "- cell: read\n            probe: look\n            joined: true",
        "stages/load.yaml:23",
        "only a cell that is no probe can go into the cell before it",
    ),
    "joined by a word": (
        LOAD,
        "- cell: read",
        "- cell: read\n            joined: perhaps",
        "stages/load.yaml:22",
        "true or false is needed here",
    ),
    "an item without a list": (
        LOAD,
        "- say: intro",
        '- text: "{{ item.name }}"',
        "stages/load.yaml:20",
        "there is no `item` here; write `each: EXPRESSION`",
    ),
    "bars that are no expression": (
        LOAD,
        "- say: intro",
        "- say: intro\n            bars: [[a, 1, x]]",
        "stages/load.yaml:21",
        "an expression in quotes is needed here",
    ),
    "an unknown part of a report's head": (
        LOAD,
        "- say: intro",
        "- say: intro\n            abstract: top",
        "stages/load.yaml:21",
        "true, false or one of learnt, score, trust",
    ),
    "an unknown action": (
        LOAD,
        "- say: intro",
        "- tell: intro",
        "stages/load.yaml:20",
        "cell, say, finding, replan, ask",
    ),
    "no name": (FRONT, "name: {en: Test, zh: 测试}\n", "", "playbook.yaml:1", "required"),
    "a deliverable that nothing makes": (
        FRONT,
        "todo:",
        "deliverables:\n  - name: tabel\ntodo:",
        "playbook.yaml:7",
        "'tabel' is to be delivered",
    ),
    "a deliverable by a rule of nothing": (
        FRONT,
        "todo:",
        "deliverables:\n  - {name: table, when: v.tabel}\ntodo:",
        "playbook.yaml:7",
        "did you mean v.table",
    ),
    "no stages": (FRONT, "[load, model]", "[]", "playbook.yaml:5", "must not be empty"),
    "no languages": (FRONT, "[en, zh]", "[]", "playbook.yaml:3", "must not be empty"),
    "a number for a text": (MODEL, "{en: Model, zh: 建模}", "5", "stages/model.yaml:1", "a text is needed"),
    "a comma that cuts a text": (MODEL, "en: Model,", "en: Model, here,", "stages/model.yaml:1", "comma"),
    "what is not YAML": (MODEL, "steps:", "steps: [", "stages/model.yaml", "not YAML"),
    "a file that is a list": (MODEL, SOUND[MODEL], "- a\n", "stages/model.yaml:1", "a mapping"),
    "a stage without a file": (
        FRONT,
        "[load, model]",
        "[load, model, more]",
        "playbook.yaml",
        "no file stages/more.yaml",
    ),
    "a stage file that nothing names": (
        FRONT,
        "[load, model]",
        "[load]",
        "stages/model.yaml",
        "nothing uses this file",
    ),
    "a stage named twice": (FRONT, "[load, model]", "[load, model, load]", "playbook.yaml:5", "used twice"),
    "a step named twice": (LOAD, "id: extra", "id: read", "stages/load.yaml:41", "used twice"),
    "a cell without a file": (LOAD, "- cell: read", "- cell: reed", "stages/load.yaml:21", r"no file cells/reed\.py"),
    "a text without a file": (LOAD, "- say: intro", "- say: info", "stages/load.yaml:20", r"text/info\.en\.md"),
    "a language missing in a text": (MODEL, ", zh: 建模}", "}", "stages/model.yaml:1", "missing in: zh"),
    "a text in another language": (
        MODEL,
        ", zh: 建模}",
        ", zh: 建模, de: x}",
        "stages/model.yaml:1",
        "none of the playbook",
    ),
    "a cell that cannot be parsed": (CELL, "{{ inputs.data }}", "{{ inputs. }}", "cells/read.py:1", "expected name"),
    "a cell with an unknown filter": (CELL, "(table)", "({{ v.table | len }})", "cells/read.py:2", "no filter 'len'"),
    "a cell that calls": (CELL, "len(table)", "{{ inputs.data.split() }}", "cells/read.py:2", "nothing can be called"),
    "an unknown name": (CELL, "inputs.data", "input.data", "cells/read.py:1", "did you mean 'inputs'"),
    "a rule that cannot be parsed": (
        LOAD,
        '"v.rows > 2"\n        goal',
        '"v.rows >"\n        goal',
        "stages/load.yaml:24",
        "unexpected",
    ),
    "a rule of another language": (MODEL, '"v.target"', '"v.target && 1"', "stages/model.yaml:7", "unexpected char"),
    "a rule that is no text": (MODEL, '"v.target"', "[1]", "stages/model.yaml:7", ""),
    "seconds that are no rule": (
        MODEL,
        "seconds: 10",
        'seconds: "ten"',
        "stages/model.yaml:8",
        "nothing is called 'ten'",
    ),
    "a step without a goal": (MODEL, "    goal: {en: Fit it., zh: 拟合。}\n", "", "stages/model.yaml:5", "has no goal"),
    "a goal with a value in the plan": (
        MODEL,
        "en: Fit it.",
        "en: 'Fit {{ v.rows }}'",
        "stages/model.yaml:6",
        "the plan",
    ),
    "a variable that nobody makes": (
        MODEL,
        '"v.target"',
        '"v.targte"',
        "stages/model.yaml:7",
        r"did you mean v\.target",
    ),
    "a variable that is made later": (CELL, "(table)", "({{ v.table }})", "cells/read.py:2", "the next behavior"),
    "a promise that nothing keeps": (
        LOAD,
        "[target]\n  - id",
        "[targets]\n  - id",
        "stages/load.yaml:34",
        "no cell of the step",
    ),
    "an ask without an input": (LOAD, "            input: target\n", "", "stages/load.yaml:36", "`input: NAME`"),
    "an ask with a list": (LOAD, "\"['a', 'b']\"", "[a, b]", "stages/load.yaml:37", "an expression"),
    "an ask with more": (
        LOAD,
        "            input: target\n",
        "            input: target\n            id: x\n",
        "stages/load.yaml:39",
        "unknown key",
    ),
    "an ask after an error": (
        LOAD,
        '- text: {en: "It',
        '- ask: {en: "It',
        "stages/load.yaml:23",
        "cannot be asked here",
    ),
    "a replan of something else": (LOAD, "replan: workflow", "replan: all", "stages/load.yaml:51", "stage, workflow"),
    "a replan with more": (LOAD, "because:", "why:", "stages/load.yaml:50", "unknown key"),
    "repairs": (LOAD, "- cell: read", "- cell: read\n            repairs: [x]", "stages/load.yaml:22", "no repairs"),
    "an action that is a word": (LOAD, "- say: intro", "- intro", "stages/load.yaml:20", "an action is a mapping"),
    "an action with two words": (
        LOAD,
        "- say: intro",
        "- {text: a, code: b}",
        "stages/load.yaml:20",
        "cannot be one action",
    ),
    "a condition that no rule uses": (LOAD, "and many", "", "stages/load.yaml:53", "no rule uses the condition 'many'"),
    "a condition that is not there": (LOAD, "and many", "and much", "stages/load.yaml:43", "nothing is called 'much'"),
    "a condition of what nobody makes": (LOAD, 'many: "v.rows', 'many: "v.rws', "stages/load.yaml:53", "did you mean"),
    "a condition with a known name": (
        LOAD,
        "  many:",
        '  inputs: "v.rows"\n  many:',
        "stages/load.yaml:53",
        "cannot be the name",
    ),
    "a condition made of another": (
        LOAD,
        '  many: "v.rows > 2"',
        '  many: "v.rows > 2"\n  more: "many and v.rows > 5"',
        "stages/load.yaml:54",
        "nothing is called 'many'",
    ),
    "a strange promotion": (MODEL, "model@fit", "model", "stages/model.yaml:11", "pattern"),
}


@pytest.mark.parametrize(("file", "old", "new", "place", "said"), SPOILT.values(), ids=SPOILT.keys())
def test_a_mistake_is_named_once_with_its_place(file: str, old: str, new: str, place: str, said: str) -> None:
    assert SOUND[file].count(old) >= 1
    spoilt = PlaybookFiles("playbook test", {**SOUND, file: SOUND[file].replace(old, new, 1)})
    problems = check_playbook(spoilt)
    first = problems[0]
    # A file or text that is missing is missing in each language, and a key that is wrong leaves another one out.
    assert len({where for where, _ in problems}) == 1, problems
    assert first[0].startswith(place), problems
    assert re.search(said, " ".join(problem for _, problem in problems)), problems
    with pytest.raises(MessageInvalid, match="playbook test is not valid"):
        load_playbook(spoilt)


def test_files_that_nothing_uses_are_named() -> None:
    more = {"cells/old.py": "x = 1\n", "text/old.en.md": "x\n"}
    problems = check_playbook(PlaybookFiles("playbook test", {**SOUND, **more}))
    assert [where for where, _ in problems] == ["cells/old.py", "text/old.en.md"]


def test_a_language_without_its_file_is_named() -> None:
    texts = {name: text for name, text in SOUND.items() if name != "text/intro.zh.md"}
    ((place, problem),) = check_playbook(PlaybookFiles("playbook test", texts))
    assert place == "stages/load.yaml:20"
    assert "no file text/intro.zh.md" in problem


def test_every_mistake_is_named_at_once_in_the_order_of_the_files() -> None:
    spoilt = files(
        stages__load=SOUND[LOAD].replace("v.rows > 0", "v.rows >").replace("- say: intro", "- say: nothing"),
        cells__read="{{ nothing }}",
    )
    places = [where for where, _ in check_playbook(spoilt)]
    assert places == ["stages/load.yaml:16", "stages/load.yaml:20", "stages/load.yaml:20", "cells/read.py:1"]


def test_a_sound_playbook_has_no_mistakes() -> None:
    assert check_playbook(files()) == []
    assert [stage.id for stage in load_playbook(files()).stages] == ["load", "model"]


@pytest.mark.parametrize("name", builtin_playbooks())
def test_the_built_in_playbooks_have_no_mistakes(name: str) -> None:
    assert check_playbook(open_playbook(name)) == []


def test_a_copy_of_a_playbook_is_the_same_playbook(tmp_path: Path) -> None:
    copied = copy_playbook(open_playbook("minimal"), tmp_path / "mine")
    mine = open_playbook(str(tmp_path / "mine"))
    assert list(mine.texts) == copied
    assert mine.texts == open_playbook("minimal").texts
    with pytest.raises(MessageInvalid, match="exists already"):
        copy_playbook(mine, tmp_path / "mine")


def test_a_folder_that_is_no_playbook_is_said(tmp_path: Path) -> None:
    with pytest.raises(MessageInvalid, match=r"no file playbook\.yaml"):
        open_playbook(str(tmp_path))
    with pytest.raises(MessageInvalid, match=r"built in: .*minimal"):
        open_playbook("nothing-of-that-name")
    (tmp_path / "playbook.yaml").write_bytes("name: é".encode("latin-1"))
    with pytest.raises(MessageInvalid, match=r"playbook\.yaml is not UTF-8"):
        open_playbook(str(tmp_path))


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = 1", {"a"}),
        ("a, b = 1, 2", {"a", "b"}),
        ("(a, *b) = x", {"a", "b"}),
        ("a = b = 1", {"a", "b"}),
        ("a: int = 1", {"a"}),
        ("a += 1", {"a"}),
        ("a.b = 1\nc[d] = 2\nf(e=3)\nif g == 4: pass", set()),
        ("for a, b in x: pass", {"a", "b"}),
        ("with open(x) as a: pass", {"a"}),
        ("import a.b as c, d\nfrom x import y", {"a", "b", "c", "d", "y"}),
        ("def a(b=1):\n    pass", {"a"}),
        ("if (a := 1): pass", {"a"}),
        ("#% for a in v.b\nc = {{ a }}\n#% endfor\n# d = 1", {"c"}),
    ],
)
def test_the_names_that_a_cell_assigns_are_found(source: str, names: set[str]) -> None:
    assert names <= assigned_names(source)
    assert assigned_names(source) <= names | {"as"}
