"""`--actions FILE.py`: what a planner asks for beyond the protocol's actions is carried out in a run."""

from __future__ import annotations

import pytest

import notebook_bcc as nb
from cli.shell import Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.errors import RunRefused
from notebook_bcc.notebook.reading import read_notebook

SCRIPT = """
goal: Count twice
stages:
  - id: only
    steps:
      - id: one
        behaviors:
          - actions: [{code: "rows = [3, 5, 8]"}]
          - actions:
              - {action: {action: count, name: rows}}
              - {code: print(total)}
"""
# A plain handler, as the documents write them: it carries out further actions, and waits for them.
ACTIONS = """
def count(script_store, step):
    code = f"total = FACTOR * len({step.name})"
    script_store.exec_action({"action": "add", "shot_type": "action", "content": code})
    return script_store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})

def register(registry):
    registry.register_handler("count", count)
"""


def prepared(shell: Shell) -> Shell:
    shell.write("script.yaml", SCRIPT)
    shell.write("mine.py", ACTIONS.replace("FACTOR", "10"))
    return shell


def printed(shell: Shell) -> str:
    (last,) = [
        cell for cell in read_notebook(shell.runs[-1] / "notebook.ipynb").document.cells if "print" in cell.source
    ]
    return str(last.outputs[0]["text"])


def test_a_custom_action_is_carried_out_in_a_run(shell: Shell) -> None:
    done = prepared(shell)("run", "script.yaml", "--actions", "mine.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert printed(shell) == "30\n"


def test_without_the_file_the_action_is_passed_over_and_said(shell: Shell) -> None:
    done = prepared(shell)("run", "script.yaml", "--no-verify")
    assert "has no handler" in done.stdout
    assert "count" in done.stdout


def test_the_run_keeps_its_actions_and_resume_may_bring_others(shell: Shell) -> None:
    prepared(shell)
    order = ("run", "script.yaml", "--actions", "mine.py", "--max-actions", "2", "--no-verify", "--name")
    again = ("resume", "last", "--max-actions", "0", "--no-verify")
    assert shell(*order, "kept").returncode == Exit.STOPPED
    (shell.folder / "mine.py").unlink()
    done = shell(*again)
    assert (done.returncode, printed(shell)) == (0, "30\n"), done.stdout + done.stderr
    shell.write("mine.py", ACTIONS.replace("FACTOR", "10"))
    assert shell(*order, "other").returncode == Exit.STOPPED
    shell.write("mine.py", ACTIONS.replace("FACTOR", "100"))
    done = shell(*again, "--actions", "mine.py")
    assert (done.returncode, printed(shell)) == (0, "300\n"), done.stdout + done.stderr
    assert "100 * len" in (shell.runs[-1] / "custom_actions.py").read_text(encoding="utf-8")


def test_a_replay_has_the_actions_of_its_run(shell: Shell) -> None:
    prepared(shell)
    assert shell("run", "script.yaml", "--actions", "mine.py", "--no-verify").returncode == 0
    done = shell("replay", "last")
    assert done.returncode == 0, done.stdout + done.stderr


def test_actions_that_cannot_be_used_begin_nothing(shell: Shell) -> None:
    prepared(shell).write("broken.py", "def register(registry):\n    1 / 0\n")
    done = shell("run", "script.yaml", "--actions", "broken.py")
    assert (done.returncode, shell.runs) == (Exit.USAGE, [])
    assert "actions broken.py cannot be used: ZeroDivisionError: division by zero" in done.stderr
    assert "line 2" in done.stderr


def test_python_names_the_file_by_a_keyword_and_an_id_stands_for_its_content(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(prepared(shell).folder)
    run = nb.run("script.yaml", actions="mine.py", run_id="mine", verify=False, progress=False)
    assert (run.status, printed(shell)) == ("completed", "30\n")
    shell.write("mine.py", ACTIONS.replace("FACTOR", "100"))
    with pytest.raises(RunRefused, match="actions has other content now"):
        nb.run("script.yaml", actions="mine.py", run_id="mine", verify=False, progress=False)
