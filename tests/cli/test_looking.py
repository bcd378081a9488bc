from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cli.books import TRAIN, write_book
from cli.shell import HELLO, Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.show import plan_lines
from notebook_bcc.engine.state import LevelState, Position, RunState
from notebook_bcc.fsm.table import ROWS
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.deliverables import RunAnswer
from notebook_bcc.protocol.tracking import CompletedItem
from notebook_bcc.protocol.workflow import Workflow


def test_the_list_shows_runs_and_how_they_ended(finished: Shell) -> None:
    lines = finished("list").stdout.splitlines()
    assert lines[0].split()[:2] == ["run", "status"]
    assert "completed" in lines[1]
    assert "Say hello and count" in lines[1]
    (facts,) = finished.json("list")
    assert (facts["status"], facts["steps_completed"], facts["actions"]) == ("completed", 1, 5)


def test_a_list_reads_a_journal_again_only_when_it_has_changed(finished: Shell, shell: Shell) -> None:
    folder = shell.folder / "nbcc-runs" / finished.runs[0].name
    shutil.copytree(finished.runs[0], folder)
    journal, outline = folder / "journal.sqlite", folder / ".outline.json"
    outline.unlink()
    read = shell.json("list")
    assert outline.exists()
    assert shell.json("list") == read
    outline.write_text("{}")
    assert shell.json("list") == read
    times, content = journal.stat(), journal.read_bytes()
    journal.write_bytes(b"x" * len(content))
    os.utime(journal, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert shell.json("list") == read, "the file is not read again"
    assert shell("status", "last").returncode == Exit.JOURNAL, "who asks for one run gets the truth"
    os.utime(journal)
    assert shell.json("list")[0]["status"] == "broken"
    journal.write_bytes(content)
    assert shell.json("list") == read


def test_a_run_that_goes_on_is_listed_as_it_is_now(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    assert shell("run", "hello.yaml", "--max-actions", "1", "--no-verify").returncode == Exit.STOPPED
    assert shell.json("list")[0]["status"] == "limit"
    assert shell("resume", "last", "--no-verify", "--max-actions", "0").returncode == 0
    assert (shell.json("list")[0]["status"], shell.json("list")[0]["steps_completed"]) == ("completed", 1)


@pytest.mark.parametrize("out", ["results", "mine.ipynb"])
def test_the_status_of_a_stopped_run_says_where_it_will_be_delivered(shell: Shell, out: str) -> None:
    shell.write("hello.yaml", HELLO)
    stopped = shell("run", "hello.yaml", "--out", out, "--max-actions", "1", "--no-verify")
    assert stopped.returncode == Exit.STOPPED
    place = str(shell.folder / out)
    assert f"delivery   {place}\n" in shell("status", "last").stdout
    assert json.loads(shell("status", "last", "--json").stdout)["delivery"] == place
    assert shell("resume", "last", "--no-verify", "--max-actions", "0").returncode == 0
    assert f"delivery   {place}\n" in shell("status", "last").stdout
    (shell.folder / out).rename(shell.folder / "elsewhere")
    text = shell("status", "last").stdout
    assert f"delivery   {place} (moved or deleted since)\n" in text
    own = next((shell.folder / "nbcc-runs").iterdir()) / "notebook.ipynb"
    assert f"notebook   {own}\n" in text
    status = json.loads(shell("status", "last", "--json").stdout)
    assert (status["notebook"], status["delivery"]) == (str(own), place)


def test_a_run_without_a_destination_has_no_delivery_in_its_status(finished: Shell) -> None:
    assert "delivery" not in finished("status", "last").stdout
    assert json.loads(finished("status", "last", "--json").stdout)["delivery"] is None


def test_without_runs_the_list_says_how_to_make_one(shell: Shell) -> None:
    assert "nbcc run" in shell("list").stdout
    assert shell.runs == []


def test_the_status_says_what_to_do_next(finished: Shell) -> None:
    text = finished("status", "last").stdout
    assert "workflow_completed" in text
    assert "nbcc export" in text


def test_show_has_plan_cells_history_and_log(finished: Shell) -> None:
    short = finished("show", "last").stdout
    assert "[x] greet  Greet" in short
    assert 'print("hello")' in short
    assert "idle --START_WORKFLOW--> stage_running" in finished("show", "last", "--history").stdout
    assert "stage 1/1  The start" in finished("show", "last", "--log").stdout
    first = json.loads(finished("show", "last", "--journal").stdout.splitlines()[0])
    assert first["kind"] == "run_started"


def test_the_plan_marks_only_what_ran_as_done() -> None:
    plan = Workflow.parse({"stages": [{"id": "s", "steps": [{"id": "a"}, {"id": "b"}, {"id": "c"}]}, {"id": "t"}]})
    state = RunState(
        plan=plan,
        stages=LevelState(completed=(CompletedItem(stage_id="s"),)),
        steps_ended={("s", "a"): True, ("s", "b"): False},
        position=Position(stage_id="t"),
    )
    assert list(plan_lines(state)) == [
        "plan",
        "  [x] s",
        "      [x] a",
        "      [x] b  (without its goal)",
        "      [ ] c  (not run)",
        "  [>] t",
    ]


def test_every_form_of_export_is_written(finished: Shell, tmp_path: Path) -> None:
    for form, name in (("html", "a.html"), ("markdown", "a.md"), ("script", "a.py"), ("ipynb", "a.ipynb")):
        done = finished("export", "last", "--to", form, "--out", str(tmp_path / name))
        assert done.returncode == 0, done.stderr
        assert "hello" in (tmp_path / name).read_text()
        assert done.stdout.splitlines()[0] == str(tmp_path / name)


def test_an_export_goes_to_standard_output_or_into_a_folder(finished: Shell, tmp_path: Path) -> None:
    for form, text in (
        ("script", 'print("hello")'),
        ("html", "</html>"),
        ("ipynb", '"nbformat": 4'),
        ("markdown", "```"),
    ):
        done = finished.process("export", "last", "--to", form, "-o", "-")
        assert (done.returncode, text in done.stdout, done.stderr) == (0, True, "")
        assert "notebook." not in done.stdout.splitlines()[-1], "no path is printed between"
    done = finished("export", "last", "--to", "script", "-o", f"{tmp_path}/new/folder/")
    assert done.stdout.splitlines() == [f"{tmp_path}/new/folder/notebook.py"]
    assert finished("export", "last", "--to", "report", "-o", str(tmp_path / "new")).returncode == 0
    assert (tmp_path / "new" / "report.html").exists()


def test_a_pdf_without_a_browser_names_the_command_that_helps(finished: Shell, tmp_path: Path) -> None:
    done = finished("export", "last", "--to", "pdf", "-o", str(tmp_path / "a.pdf"), PATH=str(tmp_path))
    assert done.returncode == Exit.USAGE
    assert "apt-get install chromium" in done.stderr
    assert not (tmp_path / "a.pdf").exists()


def test_a_pdf_is_what_the_browser_on_the_path_prints(finished: Shell, tmp_path: Path) -> None:
    browser = tmp_path / "chromium"
    browser.write_text(
        "#!/bin/sh\nfor one; do case $one in\n"
        '--print-to-pdf=*) echo %PDF-1.4 > "${one#*=}";; file:*) page=$one;; esac; done\n'
        'test -f "${page#file://}"\n'
    )
    browser.chmod(0o755)
    done = finished("export", "last", "--to", "pdf", "-o", f"{tmp_path}/", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.pdf").read_text() == "%PDF-1.4\n"
    browser.write_text("#!/bin/sh\necho it has no display >&2\n")
    done = finished("export", "last", "--to", "pdf", "-o", f"{tmp_path}/b.pdf", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert (done.returncode, "printed nothing: it has no display" in done.stderr) == (Exit.USAGE, True)


def test_an_export_of_the_same_cells_keeps_the_stamp_of_the_verification(finished: Shell, tmp_path: Path) -> None:
    finished("export", "last", "--to", "ipynb", "--out", str(tmp_path / "a.ipynb"))
    assert read_notebook(tmp_path / "a.ipynb").run["verified"]["ok"] is True


def test_a_notebook_that_was_lost_is_made_again_from_the_journal(finished: Shell, shell: Shell) -> None:
    shutil.copytree(finished.runs[0], shell.folder / "copy")
    (shell.folder / "copy" / "notebook.ipynb").unlink()
    assert shell("export", "copy", "--to", "ipynb").returncode == 0
    assert len(read_notebook(shell.folder / "copy" / "notebook.ipynb").document.cells) == 3


def test_verify_tells_a_changed_notebook_from_a_sound_one(finished: Shell, shell: Shell) -> None:
    path = shell.folder / "mine.ipynb"
    shutil.copy(finished.runs[0] / "notebook.ipynb", path)
    done = shell("verify", "mine.ipynb")
    assert (done.returncode, "verified:  2 code cells" in done.stdout) == (0, True)
    path.write_text(path.read_text().replace('"45"', '"46"'))
    done = shell("verify", "mine.ipynb")
    assert done.returncode == Exit.UNVERIFIED
    assert "46" in done.stdout
    stamp = read_notebook(path).run["verified"]
    assert (stamp["ok"], len(stamp["differences"])) == (False, 1)


def test_the_state_machine_is_shown_whole(shell: Shell) -> None:
    text, diagram = shell("fsm").stdout, shell("fsm", "--mermaid").stdout
    for row in ROWS:
        assert f"{row.state} --> {row.next_state} : {row.event}" in diagram
        assert row.endpoint_or_note in text
    assert diagram.startswith("stateDiagram-v2")


def test_completed_is_not_yet_answered_nor_verified(shell: Shell) -> None:
    write_book(shell.folder / "book")
    shell.write("train.csv", TRAIN)
    done = shell("run", "train.csv", "--target", "time", "--playbook", "book", "--no-verify", "--out", "results/")
    assert done.returncode == Exit.UNANSWERED, done.stdout + done.stderr
    assert "completed, not answered, not verified" in shell("list").stdout
    (facts,) = shell.json("list")
    assert (facts["status"], facts["answered"], facts["verified"]) == ("completed", "no", None)
    assert "completed, not answered, not verified" in shell("status", "results/").stdout
    assert "files" in shell("show", "results").stdout
    done = shell("verify", "results/")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert read_notebook(shell.folder / "results" / "notebook.ipynb").run["verified"]["ok"]


ANSWERING = """
goal: How many rows are there?
deliverables:
  - {name: rows, kind: value, description: number of rows, check: {type: number, minimum: 1}}
  - {name: table.csv, kind: file}
  - %s
stages:
  - id: s
    steps:
      - id: t
        behaviors:
          - actions:
              - code: |
                  rows = 3
                  open("table.csv", "w").write("a\\n")
"""


def test_a_script_names_deliverables_and_its_run_says_whether_it_is_answered(shell: Shell) -> None:
    shell.write("yes.yaml", ANSWERING % "{name: rows.txt, kind: text}")
    missing = shell("run", "yes.yaml", "--no-verify", "--id", "missing", "--out", "out/")
    assert missing.returncode == Exit.UNANSWERED, missing.stdout + missing.stderr
    assert "completed, not answered (not made: rows.txt)" in missing.stdout
    first = next(iter(read_notebook(shell.folder / "out" / "notebook.ipynb").document.cells))
    assert first.source == "> **Completed, not answered**: not made: rows.txt."
    answer = RunAnswer.parse((shell.folder / "out" / "answer.json").read_bytes())
    assert [(one.name, one.produced, one.value) for one in answer.deliverables] == [
        ("rows", True, 3),
        ("table.csv", True, None),
        ("rows.txt", False, None),
    ]
    shell.write("yes.yaml", ANSWERING.replace("  - %s\n", ""))
    done = shell("run", "yes.yaml", "--no-verify", "--id", "made")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert "answered, not verified yet" in done.stdout.splitlines()[-1]
    assert "completed, answered, not verified yet" in shell("status", "made").stdout
    assert {one["run_id"]: one["answered"] for one in shell.json("list")} == {"made": "yes", "missing": "no"}
    wide, narrow = (shell("list", COLUMNS=width).stdout.splitlines() for width in ("100", "60"))
    assert "completed, not answered, not verified" in wide[-1]
    assert narrow[0].split() == wide[0].split(), "a status is shortened before a column is left out"
    assert ["not verified yet" in narrow[1], "not answered" in narrow[2]] == [True, True]


def test_a_run_that_was_verified_is_simply_completed(finished: Shell) -> None:
    assert "status     completed\n" in finished("status", "last").stdout
    assert finished.json("list")[0]["verified"] is True
