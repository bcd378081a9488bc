"""`nbcc playbook`, and a run of the playbook that a newcomer starts from."""

from __future__ import annotations

import pytest

from cli.shell import Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.playbook.folder import PlaybookFiles, copy_playbook

TABLE = 'size,"b|name","c $x$"\n1,x,2.5\n2,y,\n3,"z *",4\n'


def test_the_built_in_playbooks_are_listed(shell: Shell) -> None:
    done = shell("playbook", "list")
    assert done.returncode == Exit.COMPLETED
    assert "minimal" in done.stdout
    assert "Know what the table holds." in done.stdout


def test_a_playbook_is_shown_with_its_rules_and_promises(shell: Shell) -> None:
    done = shell("playbook", "show", "minimal")
    for line in (
        "1 look: Know the rows and columns of the table.",
        "  load: Read the file.",
        "    takes about 2 s",
        "      verifies v.row_count > 0",
        "      when not v.numeric_columns",
    ):
        assert line in done.stdout.splitlines(), line
    assert "了解表的行与列" in shell("playbook", "show", "minimal", "--lang", "zh").stdout
    assert shell("playbook", "show", "minimal", "--lang", "fr").returncode == Exit.USAGE


def test_a_copy_can_be_made_and_checked(shell: Shell) -> None:
    assert shell("playbook", "new", "mine").returncode == Exit.COMPLETED
    assert shell("playbook", "check", "mine").stdout == "mine: 8 files, no mistakes\n"
    assert shell("playbook", "new", "mine").returncode == Exit.USAGE


def test_every_mistake_is_said_with_its_place_and_a_code(shell: Shell) -> None:
    shell("playbook", "new", "mine", "--from", "minimal")
    shell.write("mine/look/cells/draw.py", "a = 1\nplot({{ v.nothing }})\n")
    shell.write("mine/look/cells/load.py", "{{ read() }}\n")
    done = shell("playbook", "check", "mine")
    assert done.returncode == Exit.USAGE
    assert done.stdout.splitlines() == ["look/cells/load.py:1: nothing can be called; use a filter: {{ x | num }}"]
    shell.write("mine/look/cells/load.py", "table = 1\n")
    said = shell("playbook", "check", "mine").stdout
    assert "look/cells/draw.py:2: v.nothing: no behavior promises or assigns it" in said
    assert "'row_count' is promised, and no cell of the step assigns it" in said


def test_the_old_layout_is_named_once_and_is_no_mistake(shell: Shell) -> None:
    stage = "goal: Do it.\nsteps: [{id: a, goal: Do it., behaviors: [{actions: [cell: do]}]}]\n"
    flat = {"playbook.yaml": "name: Old\nstages: [one]\n", "stages/one.yaml": stage, "cells/do.py": "x = 1\n"}
    copy_playbook(PlaybookFiles("playbook old", flat), shell.folder / "old")
    done = shell("playbook", "check", "old")
    assert (done.returncode, done.stdout) == (Exit.COMPLETED, "old: 3 files, no mistakes\n")
    assert done.stderr.splitlines() == [
        "nbcc: this playbook has the old layout; the new form is STAGE/stage.yaml with STAGE/cells and STAGE/text. "
        "To write it: nbcc playbook new FOLDER --from old"
    ]
    assert shell("playbook", "new", "new", "--from", "old").returncode == Exit.COMPLETED
    assert (shell.folder / "new" / "one" / "cells" / "do.py").read_text() == "x = 1\n"
    done = shell("playbook", "check", "new")
    assert (done.returncode, done.stdout, done.stderr) == (Exit.COMPLETED, "new: 3 files, no mistakes\n", "")


@pytest.mark.parametrize("arguments", [("check",), ("check", "nothing"), ("new", "x", "--from", "nothing"), ("eat",)])
def test_what_cannot_be_done_is_said(shell: Shell, arguments: tuple[str, ...]) -> None:
    done = shell("playbook", *arguments)
    assert done.returncode == Exit.USAGE
    assert done.stderr


def test_the_minimal_playbook_makes_a_verified_notebook(shell: Shell) -> None:
    pytest.importorskip("matplotlib", reason="the figure needs matplotlib: pip install notebook-bcc[ml]")
    pytest.importorskip("pandas", reason="the table needs pandas: pip install notebook-bcc[ml]")
    shell.write("table.csv", TABLE)
    done = shell("run", "table.csv", "--playbook", "minimal")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    (folder,) = shell.runs
    file = read_notebook(folder / "notebook.ipynb")
    sources = [cell.source for cell in file.document.cells]
    assert file.run["verified"]["ok"] is True
    assert any('table = pd.read_csv("inputs/table.csv")' in source for source in sources)
    assert any("The table has 3 rows and 3 columns: `size`, `b|name` and `c $x$`." in source for source in sources)
    assert any("Values are missing in `c $x$`" in source for source in sources)
    assert any('ax.set_xlabel("size")' in source for source in sources)
