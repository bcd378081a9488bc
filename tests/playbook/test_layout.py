"""A playbook has a folder for each stage; the flat layout of older playbooks, which old runs hold, is read too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.check import check_playbook, load_playbook
from notebook_bcc.playbook.folder import PlaybookFiles, builtin_playbooks, copy_playbook, open_playbook
from notebook_bcc.playbook.layout import by_stage, new_names
from notebook_bcc.playbook.templates.environment import Template
from playbook.books import SOUND, files
from playbook.test_check import SPOILT

FLAT = Path(__file__).parent.parent / "fixtures" / "playbook-flat"
NAMES = new_names(load_playbook(files()))
BY_STAGE = by_stage(files())


def plain(value: Any) -> Any:  # Any: whatever a playbook holds
    """A playbook without the names of its files."""
    if isinstance(value, Template):
        return value.kind, value.line, value.source, plain(value.conditions)
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value) if each.name != "file"}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, tuple) else value


def with_files(**texts: str) -> PlaybookFiles:
    return PlaybookFiles("playbook test", {**BY_STAGE.texts, **{NAMES.get(k, k): v for k, v in texts.items()}})


def two_stages(first: str, second: str, more: Mapping[str, str]) -> PlaybookFiles:
    stage = "goal: Do it.\nsteps:\n  - {{id: {id}, goal: Do it., behaviors: [{{actions: [{action}]}}]}}\n"
    texts = {
        "playbook.yaml": "name: Two\nstages: [first, second]\n",
        "first/stage.yaml": stage.format(id="a", action=first),
        "second/stage.yaml": stage.format(id="b", action=second),
    }
    return PlaybookFiles("playbook test", {**texts, **more})


def test_the_layout_by_stages_names_each_file_once() -> None:
    assert sorted(NAMES.values()) == [
        "load/cells/read.py",
        "load/stage.yaml",
        "load/text/intro.en.md",
        "load/text/intro.zh.md",
        "model/stage.yaml",
        "playbook.yaml",
    ]


def test_both_layouts_are_the_same_playbook() -> None:
    assert not BY_STAGE.flat
    assert plain(load_playbook(BY_STAGE)) == plain(load_playbook(files()))


def test_the_flat_playbook_of_an_older_run_is_read_as_before(tmp_path: Path) -> None:
    kept = open_playbook(str(FLAT))
    assert kept.flat
    assert check_playbook(kept) == []
    copy_playbook(by_stage(kept), tmp_path / "new")
    new = open_playbook(str(tmp_path / "new"))
    assert not new.flat
    assert sorted(new.texts) == [
        "look/cells/draw.py",
        "look/cells/load.py",
        "look/stage.yaml",
        "look/text/found.en.md",
        "look/text/found.zh.md",
        "look/text/intro.en.md",
        "look/text/intro.zh.md",
        "playbook.yaml",
    ]
    copies = plain(load_playbook(new)), plain(load_playbook(kept))
    assert copies[0] | {"source": ""} == copies[1] | {"source": ""}


def test_a_copy_of_a_flat_playbook_for_a_run_stays_as_it_is(tmp_path: Path) -> None:
    kept = open_playbook(str(FLAT))
    copy_playbook(kept, tmp_path / "playbook")
    assert open_playbook(str(tmp_path / "playbook")).texts == kept.texts


def test_folders_beside_a_flat_playbook_are_not_part_of_it(tmp_path: Path) -> None:
    copy_playbook(open_playbook(str(FLAT)), tmp_path / "mine")
    (tmp_path / "mine" / "notes" / "cells").mkdir(parents=True)
    (tmp_path / "mine" / "notes" / "cells" / "try.py").write_text("x = 1\n")
    assert check_playbook(open_playbook(str(tmp_path / "mine"))) == []


@pytest.mark.parametrize("name", builtin_playbooks())
def test_the_built_in_playbooks_have_a_folder_for_each_stage(name: str) -> None:
    assert not open_playbook(name).flat


@pytest.mark.parametrize(("file", "old", "new", "place", "said"), SPOILT.values(), ids=SPOILT.keys())
def test_a_mistake_in_the_layout_by_stages_is_named_at_its_place(
    file: str, old: str, new: str, place: str, said: str
) -> None:
    spoilt = with_files(**{file: SOUND[file].replace(old, new, 1)})
    problems = check_playbook(spoilt)
    name, colon, line = place.partition(":")
    words = re.sub(r"no file (cells|text)", r"no file load/\1", said.replace("stages/more.yaml", "more/stage.yaml"))
    assert len({where for where, _ in problems}) == 1, problems
    assert problems[0][0].startswith(f"{NAMES[name]}{colon}{line}"), problems
    assert re.search(words, " ".join(problem for _, problem in problems)), problems


def test_a_cell_is_looked_for_in_its_stage_and_then_among_the_shared_ones() -> None:
    more = {"first/cells/do.py": "mine = 1\n", "shared/cells/do.py": "shared = 1\n"}
    book = two_stages("cell: do", "cell: do", more)
    assert check_playbook(book) == []
    (first, second) = (stage.steps[0].behaviors[0].actions[0].text for stage in load_playbook(book).stages)
    assert [each.at for each in first.versions.values()] == ["first/cells/do.py"]
    assert [each.at for each in second.versions.values()] == ["shared/cells/do.py"]


def test_a_text_is_read_whole_from_one_folder() -> None:
    more = {"first/text/do.en.md": "Mine.\n", "shared/text/do.en.md": "Ours.\n", "shared/text/do.zh.md": "我们。\n"}
    book = two_stages("say: do", "say: do", more)
    front = book.texts["playbook.yaml"].replace("stages", "languages: [en, zh]\nstages")
    problems = check_playbook(PlaybookFiles("playbook test", {**book.texts, "playbook.yaml": front}))
    assert [problem for _, problem in problems if "no file" in problem] == [
        "steps.0.behaviors.0.actions.0.say: there is no file first/text/do.zh.md"
    ]


def test_a_cell_of_another_stage_is_said_to_be_one() -> None:
    book = two_stages("cell: do", "cell: do", {"first/cells/do.py": "mine = 1\n"})
    ((place, problem),) = check_playbook(book)
    assert place == "second/stage.yaml:3"
    assert problem.endswith(
        "there is no file second/cells/do.py; first/cells/do.py belongs to another stage: move it to shared/cells/do.py"
    )


def test_what_two_stages_of_a_flat_playbook_use_is_shared() -> None:
    new = two_stages("cell: do", "cell: do", {"shared/cells/do.py": "x = 1\n"}).texts
    old = {
        "playbook.yaml": new["playbook.yaml"],
        "stages/first.yaml": new["first/stage.yaml"],
        "stages/second.yaml": new["second/stage.yaml"],
        "cells/do.py": "x = 1\n",
    }
    assert by_stage(PlaybookFiles("playbook test", old)).texts == new


def test_files_left_in_flat_folders_are_named_with_where_they_belong() -> None:
    ((place, problem),) = check_playbook(with_files(**{"cells/old.py": "x = 1\n"}))
    assert place == "cells/old.py"
    assert problem == "nothing uses this file; move it to the folder of its stage, or to shared/"


@pytest.mark.parametrize("name", ["shared", "stages", "cells", "text"])
def test_no_stage_takes_the_name_of_another_folder(name: str) -> None:
    texts = {each: text.replace("second", name) for each, text in two_stages("{}", "{}", {}).texts.items()}
    said = [problem for _, problem in check_playbook(PlaybookFiles("playbook test", texts))]
    assert f"stages.1: a stage cannot be called {name!r}: the folder of this name is no stage's" in said


def test_a_flat_playbook_with_a_stage_of_such_a_name_is_read_and_must_be_renamed_for_the_new_layout() -> None:
    stage = "goal: Do it.\nsteps:\n  - {id: a, goal: Do it., behaviors: [{actions: [text: hello]}]}\n"
    book = PlaybookFiles(
        "playbook test", {"playbook.yaml": "name: One\nstages: [shared]\n", "stages/shared.yaml": stage}
    )
    assert check_playbook(book) == []
    with pytest.raises(MessageInvalid, match="a stage cannot be called 'shared'"):
        by_stage(book)


def test_a_flat_playbook_with_mistakes_is_not_brought_into_the_new_layout() -> None:
    with pytest.raises(MessageInvalid, match="no file cells/reed"):
        by_stage(files(stages__load=SOUND["stages/load.yaml"].replace("- cell: read", "- cell: reed")))
