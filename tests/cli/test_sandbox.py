"""Runs in a sandbox, from the command line: what is kept away, what still works, and that it stays so."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path

import pytest

from cli.books import PLAIN, write_book
from cli.shell import HELLO, Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.sandbox.interface import RUNGS, Rung
from notebook_bcc.sandbox.rungs import try_rung

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="both sandboxes need Linux")

CURIOUS = """
name: Curious
goal: Look around
stages:
  - id: look
    steps:
      - id: out
        behaviors:
          - actions:
              - code: |
                  import os
                  def tried(path):
                      try:
                          return open(path).read()
                      except OSError:
                          return "kept away"
                  print(tried("../../../secret.txt"), "NBCC_TEST_VARIABLE" in os.environ)
"""


@pytest.fixture(params=RUNGS)
def rung(request: pytest.FixtureRequest) -> Rung:
    found: Rung = request.param
    report = try_rung(found)
    if not report.works:
        pytest.skip(f"NOT TESTED: {found} does not work here: {report.why}")
    return found


def test_a_run_in_a_sandbox_is_verified_and_goes_on_in_it(shell: Shell, rung: Rung) -> None:
    shell.write("secret.txt", "hush-hush")
    shell.write("curious.yaml", CURIOUS)
    open_ = shell("run", "curious.yaml", "--no-verify", NBCC_TEST_VARIABLE="1")
    done = shell("run", "curious.yaml", "--sandbox", rung, "--id", "confined", NBCC_TEST_VARIABLE="1")
    assert (open_.returncode, done.returncode) == (Exit.COMPLETED, Exit.COMPLETED), done.stdout + done.stderr

    folder = shell.folder / "nbcc-runs" / "confined"
    file = read_notebook(folder / "notebook.ipynb")
    (cell,) = [cell for cell in file.document.cells if cell.outputs]
    assert cell.outputs[0]["text"] == "kept away False\n"
    assert file.run["sandbox"] == rung
    assert file.run["verified"]["ok"] is True
    assert file.run["verified"]["sandbox"] == rung
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    journal = shell("show", "confined", "--journal", "--json").stdout
    assert '"kind": "run_started"' in journal
    assert "Permission denied" not in journal

    again = shell("verify", "confined")
    assert again.returncode == Exit.COMPLETED, again.stdout + again.stderr
    for less in (("--sandbox", "off"), ("--allow-net",)):
        assert shell("verify", "confined", *less).returncode == Exit.USAGE
        refused = shell("resume", "confined", "--restart", "reset", *less)
        assert refused.returncode == Exit.USAGE
        assert "begin another" in refused.stderr


def test_a_playbook_analyses_a_table_inside_as_it_does_outside(shell: Shell, rung: Rung) -> None:
    shell.write("plain.csv", PLAIN)
    write_book(shell.folder / "book")
    done = shell("run", "plain.csv", "--target", "price", "--playbook", "book", "--sandbox", rung, "--out", "results")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert read_notebook(shell.folder / "results" / "notebook.ipynb").run["verified"]["ok"] is True
    assert (shell.folder / "results" / "model.pkl").read_bytes() == b"model of price"


def test_a_cell_that_takes_too_much_memory_says_so(shell: Shell) -> None:
    shell.write("hungry.yaml", HELLO.replace('print("hello")', 'hog = b"x" * 600_000_000; import time; time.sleep(60)'))
    done = shell("run", "hungry.yaml", "--max-memory", "0.3", "--no-verify")
    assert done.returncode != Exit.COMPLETED
    assert "--max-memory allows 300.0 MB" in done.stdout + done.stderr


def test_the_doctor_tells_what_works_here_for_people_and_for_machines(shell: Shell) -> None:
    said = shell("doctor")
    assert said.returncode == Exit.COMPLETED, said.stderr
    told = [json.loads(line) for line in shell("doctor", "--json").stdout.splitlines()]
    found = {one["what"]: one for one in told}
    assert found["kernel"]["works"] is True
    assert {*RUNGS, "versions", "packages", "sandbox", "fonts", "pdf", "disk"} < set(found)
    assert found["sandbox"]["works"] is any(try_rung(rung).works for rung in RUNGS)
    for what in found:
        assert f" {what} " in said.stdout


def test_the_doctor_fails_where_no_kernel_starts(shell: Shell, tmp_path: Path) -> None:
    broken = tmp_path / "jupyter" / "kernels" / "python3"
    broken.mkdir(parents=True)
    (broken / "kernel.json").write_text('{"argv": ["/nonexistent"], "display_name": "x", "language": "python"}')
    done = shell("doctor", JUPYTER_PATH=str(tmp_path / "jupyter"))
    assert done.returncode == Exit.FAILED
    assert "FAILS  kernel" in done.stdout
