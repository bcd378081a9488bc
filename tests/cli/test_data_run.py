"""Runs that begin with data: one command from a table to notebook, report and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.books import PLAIN, TRAIN, write_book
from cli.services import command_at
from cli.shell import HELLO, Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook


@pytest.fixture
def table(shell: Shell) -> Shell:
    """A folder with a table in time order, one without, and a playbook."""
    shell.write("train.csv", TRAIN)
    shell.write("plain.csv", PLAIN)
    write_book(shell.folder / "book")
    return shell


def test_one_command_goes_from_a_table_to_notebook_report_and_files(table: Shell) -> None:
    (table.folder / "other").mkdir()
    table.write("other/plain.csv", "size\n1\n2\n")
    done = table("run", "plain.csv", "--test", "other/plain.csv", "--target", "price", "--playbook", "book")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    (folder,) = table.runs
    assert read_notebook(folder / "notebook.ipynb").run["verified"]["ok"] is True
    assert (folder / "model.pkl").read_bytes() == b"model of price"
    assert (folder / "predictions.csv").read_text() == "prediction\n1\n1\n"
    assert (folder / "figures" / "01_target.png").exists()
    assert sorted(path.name for path in (folder / "inputs").iterdir()) == ["plain-test.csv", "plain.csv"]
    assert not (folder / ".cache").exists()
    assert (folder / "notebook.html").read_text().startswith("<!DOCTYPE html>")
    report = (folder / "report.html").read_text()
    assert "2 code cells gave the same results" in report
    assert 'href="./model.pkl"' in report
    assert "Predict price from plain.csv" in done.stdout
    for text in ("report.html", "model.pkl", "predictions.csv", "14 bytes", "verified:"):
        assert text in done.stdout
    assert "14 bytes  model.pkl" in table("show", "last").stdout
    assert "model.pkl" in Path(table("export", "last", "--to", "report").stdout.strip()).read_text()


def test_the_run_is_told_its_inputs_and_writes_in_its_language(table: Shell) -> None:
    options = ("--target", "price", "--target", "size", "--goal", "猜价格", "--time", "size", "--lang", "zh")
    done = table("run", "plain.csv", *options, "--playbook", "book", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    started = table.json("show", "last")[0]
    assert started["planner_spec"] == {"kind": "playbook"}
    assert started["goal"] == "猜价格"
    assert started["variables"]["inputs"] == {
        "data": "inputs/plain.csv",
        "format": "csv",
        "lang": "zh",
        "target": "price",
        "targets": ["price", "size"],
        "goal": "猜价格",
        "time": "size",
    }
    (folder,) = table.runs
    assert read_notebook(folder / "notebook.ipynb").document.title == "小型研究"
    assert "代码，" in (folder / "report.html").read_text()


def test_a_question_stops_the_run_and_its_answer_lets_it_go_on_without_the_playbook(table: Shell) -> None:
    done = table("run", "train.csv", "--playbook", "book")
    assert done.returncode == Exit.STOPPED
    assert "Which column is the target?" in done.stdout
    assert "3. price" in done.stdout
    assert "--set target=time" in done.stdout
    status = table("status", "last")
    assert "--set target=..." in status.stdout
    number = json.loads(table("status", "last", "--json").stdout)["waiting"]["answers"]
    assert f"{number} waits for an answer: Which column is the target?" in status.stdout
    assert f"question {number} waits for an answer" in table("show", "last").stdout
    (table.folder / "book").rename(table.folder / "gone")
    again = table("resume", "last", "--set", "target=price", "--json")
    assert again.returncode == Exit.COMPLETED, again.stdout + again.stderr
    entries = [json.loads(line) for line in again.stdout.splitlines()]
    assert entries[0]["inputs"] == {"target": "price", "targets": ["price"]}
    assert entries[0]["answers"] == number
    late = table("resume", "last", "--target", "size")
    assert late.returncode == Exit.USAGE
    assert f"question {number} of run" in late.stderr
    ended = next(entry for entry in entries if entry["kind"] == "run_ended")
    names = [one["name"] for one in ended["files"]]
    assert names == ["answer.json", "summary.md", "model.pkl", "figures/01_target.png"]
    assert Path(ended["report"]).exists()
    # Nobody was there: the playbook's own change of the plan was accepted, and the journal says by whom.
    decided = next(entry for entry in entries if entry["kind"] == "plan_update_decided")
    assert (decided["confirmed"], decided["by"]) == (True, "policy")
    assert table("replay", "last").returncode == Exit.COMPLETED


def test_a_change_of_the_plan_is_accepted_where_nobody_is_there_and_said(table: Shell) -> None:
    done = table("run", "train.csv", "--target", "price", "--playbook", "book", "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert "accepted: nobody is here to ask" in done.stdout
    assert "Time order" in done.stdout


def test_a_person_who_wants_to_be_asked_is_waited_for(table: Shell) -> None:
    done = table("run", "train.csv", "--target", "price", "--playbook", "book", "--confirm", "ask")
    assert done.returncode == Exit.STOPPED
    assert "nbcc confirm" in done.stdout


def test_everything_is_delivered_into_a_folder_of_the_users(table: Shell) -> None:
    command = ("run", "plain.csv", "--target", "price", "--playbook", "book", "--no-verify", "--out", "results")
    done = table(*command)
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    results = table.folder / "results"
    names = {path.relative_to(results).as_posix() for path in results.rglob("*") if path.is_file()}
    made = {"notebook.ipynb", "report.html", "answer.json", "model.pkl", "summary.md", "figures/01_target.png"}
    assert names == made | {"inputs/plain.csv", ".nbcc-delivery.json"}
    assert "results/report.html" in done.stdout
    assert table(*command[:-1], "results").returncode == Exit.COMPLETED, "an earlier delivery may be replaced"
    table.write("mine.txt", "")
    refused = table(*command[:-1], "./")
    assert refused.returncode == Exit.USAGE
    assert "did not write" in refused.stderr
    assert len(table.runs) == 2


def test_a_playbook_behind_a_service_plans_for_data_as_well(table: Shell) -> None:
    with command_at(table.folder, "serve", "--playbook", "book", "--port", "0") as (_, url):
        done = table("run", "plain.csv", "--target", "price", "--planner", url, "--no-verify")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    (folder,) = table.runs
    assert (folder / "model.pkl").exists()
    assert not (folder / "playbook").exists()
    assert "policies" not in table.json("show", "last")[0], "a planner elsewhere is not trusted with its own changes"


def test_a_run_that_ends_without_what_it_was_asked_for_is_not_answered(table: Shell) -> None:
    done = table("run", "train.csv", "--target", "time", "--playbook", "book")
    assert done.returncode == Exit.UNANSWERED, done.stdout + done.stderr
    assert "completed, not answered (not made: written)" in done.stdout
    assert done.stdout.splitlines()[-1].strip() == "NOT answered: not made: written"
    (folder,) = table.runs
    notebook = read_notebook(folder / "notebook.ipynb").run
    assert (notebook["verified"]["ok"], notebook["answered"]) == (True, "no")
    assert "Not answered" in (folder / "report.html").read_text()
    assert table("run", "train.csv", "--target", "time", "--playbook", "book", "--lang", "zh").returncode == 8


def test_a_run_that_made_what_it_was_asked_for_is_answered(table: Shell) -> None:
    done = table("run", "plain.csv", "--target", "price", "--playbook", "book", "--no-verify", "--json")
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["answered"] == "yes"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.csv",), "none.csv"),
        (("table.doc",), ".csv, .tsv"),
        (("train.csv", "--test", "none.csv"), "none.csv"),
        (("train.csv", "--test", "a.doc"), "a.doc"),
        (("hello.yaml", "--target", "x"), "--target is for a run that begins with data"),
        (("--target", "x"), "there is no data file"),
        (("train.csv", "--playbook", "nowhere"), "built in: dslc"),
        (("train.csv", "--playbook", "broken"), "playbook.yaml"),
        (("train.csv", "--playbook", "book", "--planner", "http://127.0.0.1:1"), "not both"),
        (("train.csv", "--planner", "script"), "a script cannot plan for it"),
        (("train.csv", "--sheet", "x"), "--sheet is for excel"),
        (("train.csv", "--table", "x"), "--table is for sqlite"),
        (("train.csv", "--target", "a", "--target", "a"), "named before"),
        (("train.csv", "--playbook", "book", "--kernel", "klingon"), "klingon"),
        (("hello.yaml", "--planner", "playbook"), "is a script"),
        (("train.csv", "--playbook", "book", "--out", "file/"), "is a file, not a folder"),
    ],
)
def test_what_cannot_begin_is_refused_before_anything_exists(
    table: Shell, arguments: tuple[str, ...], message: str
) -> None:
    table.write("hello.yaml", HELLO)
    table.write("file", "")
    table.write("table.doc", "")
    (table.folder / "broken").mkdir()
    table.write("broken/playbook.yaml", "name: [")
    done = table("run", *arguments)
    assert done.returncode in (Exit.USAGE, Exit.FAILED), done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert table.runs == []


@pytest.mark.parametrize("pair", ["target", "=x", "a b=c", "target="])
def test_an_answer_has_a_name_and_a_value(finished: Shell, pair: str) -> None:
    done = finished("resume", "last", "--set", pair)
    assert done.returncode == Exit.USAGE
    assert "NAME=VALUE" in done.stderr
