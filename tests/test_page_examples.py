"""The examples of the guides: scripts can be read, templates do what is said of them, Python runs."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.planners.script.file import read_script
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import PlaybookFiles
from notebook_bcc.playbook.templates.environment import Kind, Templates

DOCS = Path(__file__).parents[1] / "docs"


def blocks(page: str, kind: str) -> list[str]:
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["scripted-planner.md", "tutorial.md", "tutorial.zh.md"])
def test_a_script_on_a_page_can_be_read(page: str, tmp_path: Path) -> None:
    (script,) = blocks(page, "yaml")
    (tmp_path / "words.yaml").write_text(script, encoding="utf-8")
    assert read_script(tmp_path / "words.yaml").workflow.stages


def test_a_misspelt_key_of_a_script_is_named_as_the_page_shows(tmp_path: Path) -> None:
    (script,) = blocks("scripted-planner.md", "yaml")
    path = tmp_path / "words.yaml"
    path.write_text(script.replace("actions:", "actons:"), encoding="utf-8")
    with pytest.raises(MessageInvalid) as raised:
        read_script(path)
    lines = (DOCS / "scripted-planner.md").read_text(encoding="utf-8").splitlines()
    (shown,) = [line for line in lines if line.startswith("words.yaml, line ")]
    assert str(raised.value).replace(str(path), "words.yaml") == shown


@pytest.mark.parametrize(("separator", "cell"), [(";", 'sep=";"'), (",", 'read_csv("data.csv")')])
def test_the_statements_in_a_cell_of_the_page_choose_what_is_written(separator: str, cell: str) -> None:
    (template,) = [block for block in blocks("playbooks.md", "jinja") if "endif" in block]
    read = Templates().read(template, kind=Kind.CELL, at="page")
    written = read.render({"v": {"separator": separator}, "inputs": {"data": "data.csv"}, "lang": "en"})
    assert cell in written
    assert written.count("read_csv") == 1
    assert "#" not in written


def test_the_playbook_of_the_page_is_sound() -> None:
    shown: dict[str, str] = {}
    for block in blocks("playbooks.md", "yaml"):
        name = block.partition("\n")[0].removeprefix("# ")
        shown[name] = shown.get(name, "") + block
    files = {
        "playbook.yaml": shown["playbook.yaml"].replace("[structure, integrity, modelling, report]", "[structure]"),
        "structure/stage.yaml": shown["structure/stage.yaml"],
        "structure/cells/load.py": "table = list(open({{ inputs.data }}))\nanswer = row_count = len(table)\n",
        "structure/text/intro.en.md": "The file is read.\n",
        "structure/text/intro.zh.md": "读取文件。\n",
    }
    playbook = load_playbook(PlaybookFiles("mine", files))
    assert [task.name for task in playbook.tasks] == ["drivers", "describe", "answer"]


@pytest.mark.parametrize("page", ["scripted-planner.md", "playbooks.md"])
def test_the_python_of_a_page_runs(page: str) -> None:
    names: dict[str, Any] = {"__name__": "page"}  # Any: whatever the blocks define
    found = blocks(page, "python")
    assert found
    for block in found:
        exec(compile(block, page, "exec"), names)
    assert "planner" in names
