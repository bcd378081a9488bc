"""The front door for Python: from a table, a frame or a script to a run, watched, steered and started again."""

from __future__ import annotations

import asyncio
import doctest
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas
import pytest

import notebook_bcc as nb
import notebook_bcc.api.front
import notebook_bcc.api.run
from notebook_bcc.api.keywords import in_keywords
from notebook_bcc.api.options import RunKeywords, RunOptions
from notebook_bcc.api.page import RunPage, run_html
from notebook_bcc.cli.run import run_command
from notebook_bcc.notebook.reading import read_notebook

BOOK = {
    "playbook.yaml": """
name: {en: Small study}
goal: {en: Know the table.}
languages: [en]
inputs: [data, test, target, targets]
stages: [look]
""",
    "stages/look.yaml": """
name: {en: Look}
goal: {en: Know the table.}
steps:
  - id: load
    name: {en: Load}
    goal: {en: Read the file.}
    behaviors:
      - actions:
          - title: {en: "Houses & <b>prices</b>"}
          - cell: load
          - text: {en: "There are **prices**."}
            abstract: true
""",
    # The model is built where it is loaded: reading a table, and twice the size as the price.
    "cells/load.py": """
import json
import pickle
from pathlib import Path

import pandas

rows = pandas.read_parquet({{ inputs.data }})
print(list(rows.dtypes.astype(str)), len(rows))


class Built:
    def __reduce__(self):
        read = "read=lambda path: pandas.read_parquet(path)"
        predict = "predictions=lambda rows: pandas.DataFrame({'price': rows['size'] * 2})"
        known = "written={'format': 'parquet'}, feature_names_in_=['size']"
        doubts = "doubts=lambda rows: {'unread': {}, 'unknown': {}}"
        return eval, (f"(lambda pandas, space: space({read}, {predict}, {known}, {doubts}))"
                      "(__import__('pandas'), __import__('types').SimpleNamespace)",)


Path("model.pkl").write_bytes(pickle.dumps(Built()))
Path("predictions.csv").write_text("price\\n1\\n")
score = {"metric": "rmse", "score": 2.5, "interval_95": [2.0, 3.0], "naive_forecast": 9.0}
Path("summary.json").write_text(json.dumps(score))
""",
}
TABLE = pandas.DataFrame(
    {"size": [10, 20, 30], "built": pandas.to_datetime(["2001-05-01"] * 3), "price": [1.0, 2.5, 3.0]}
)
PROPOSING = """
stages:
  - id: only
    steps:
      - id: first
        behaviors: [{actions: [{code: a = 1}, {steps: [first, extra]}]}]
      - id: extra
        later: true
        behaviors: [{actions: [{code: a + 1}]}]
"""
# Waits until the test lets it go on.
SLOW = """
goal: Wait
stages:
  - id: only
    steps:
      - id: first
        behaviors:
          - actions:
              - code: a = 1
              - code: |
                  import pathlib, time
                  pathlib.Path({started!r}).touch()
                  while not pathlib.Path({go!r}).exists():
                      time.sleep(0.02)
              - code: b = a + 1
              - code: print("b is", b)
"""


def wait_until(path: Path, text: str = "") -> None:
    """Waits for a file, and for a text in it."""
    end = time.monotonic() + 100
    while not path.exists() or text not in path.read_text(encoding="utf-8"):
        assert time.monotonic() < end, f"{path} did not appear, or does not say {text!r}"
        time.sleep(0.02)


def write_slow(place: Path) -> tuple[Path, Path]:
    """`slow.yaml`, whose second cell makes the first file and waits for the second."""
    started, go = place / "started", place / "go"
    (place / "slow.yaml").write_text(SLOW.format(started=str(started), go=str(go)), encoding="utf-8")
    return started, go


def kinds(run: nb.Run) -> list[str]:
    return [event.kind for event in nb.open(run.id)]


@pytest.fixture
def book(place: Path) -> Path:
    for name, text in BOOK.items():
        path = place / "book" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
    return place / "book"


def test_a_script_becomes_a_run_with_notebook_and_report(place: Path) -> None:
    run = nb.run("words.yaml")
    assert run.status == "completed"
    assert run.verified is True
    assert run.notebook is not None
    assert read_notebook(run.notebook).document.title == "Counting words"
    assert run.report is not None
    assert run.report.parent == run.folder
    assert (run.model, run.predictions, run.score, run.answer) == (None, None, None, None)
    assert repr(run) == f"<Run {run.id}: completed>"
    assert run.folder.parent == place / "nbcc-runs"
    assert [one.id for one in nb.runs()] == [run.id]
    assert nb.open().id == nb.open(run.id[:15]).id == run.id


def test_a_frame_is_kept_as_parquet_with_its_types_and_its_run_says_how_good_it_is(place: Path, book: Path) -> None:
    run = nb.run(TABLE, target="price", playbook=book, name="houses", verify=False)
    assert run.status == "completed", run.reason
    pandas.testing.assert_frame_equal(pandas.read_parquet(run.folder / "inputs" / "houses.parquet"), TABLE)
    assert run.notebook is not None
    assert "inputs/houses.parquet" in run.notebook.read_text(encoding="utf-8")
    assert run.score == nb.Score(measure="rmse", value=2.5, low=2.0, high=3.0, naive=9.0)
    assert str(run.score) == "rmse 2.50 (2.00 to 3.00), naive 9.00"
    assert float(run.score) == 2.5
    assert run.answer == "There are **prices**."
    assert run.model == run.folder / "model.pkl"
    assert run.predictions == run.folder / "predictions.csv"
    # New rows as a frame and as a file; nothing is unpickled in this process.
    assert list(run.predict(TABLE)["price"]) == [20, 40, 60]
    TABLE.head(1).to_parquet(place / "new.parquet")
    assert list(run.predict(place / "new.parquet")["price"]) == [20]
    shuffled = TABLE.iloc[[2, 0]]
    assert list(run.predict(shuffled).index) == [2, 0], "predictions are put back by their index"
    with pytest.raises(nb.RunRefused, match="size"):
        run.predict(TABLE[["built"]])
    html = run._repr_html_()
    assert "There are <strong>prices</strong>." in html
    assert "<strong>Houses &amp; &lt;b&gt;prices&lt;/b&gt;</strong>" in html
    assert "rmse 2.50 (2.00 to 3.00), naive 9.00" in html
    assert f'href="nbcc-runs/{run.id}/report.html"' in html


def test_files_go_where_out_says(place: Path, book: Path) -> None:
    run = nb.run(TABLE, playbook=book, out=place / "results", verify=False)
    assert run.model == place / "results" / "model.pkl"
    assert run.report == place / "results" / "report.html"
    assert run.notebook == place / "results" / "notebook.ipynb"


def test_a_run_that_is_over_is_delivered_where_the_same_call_says_now(place: Path, book: Path) -> None:
    order: dict[str, Any] = {"target": "price", "playbook": book, "run_id": "one", "verify": False}
    first = nb.run(TABLE, **order, out="first")
    (place / "first" / "model.pkl").write_bytes(b"mine")
    second = nb.run(TABLE, **order, out="second")
    assert second.model == place / "second" / "model.pkl"
    names = ["inputs", "model.pkl", "notebook.ipynb", "predictions.csv", "report.html", "summary.json"]
    assert sorted(path.name for path in (place / "second").glob("[!.]*")) == names
    assert first.model == second.model, "the run knows one place"
    # The same place again: nothing is touched, and what was edited stays.
    (place / "second" / "report.html").write_text("mine", encoding="utf-8")
    assert nb.run(TABLE, **order, out="second").report == place / "second" / "report.html"
    assert (place / "second" / "report.html").read_text(encoding="utf-8") == "mine"
    assert (place / "first" / "model.pkl").read_bytes() == b"mine"
    (place / "third").mkdir()
    (place / "third" / "letter.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(nb.BccError, match="files that nbcc did not write"):
        nb.run(TABLE, **order, out="third")


def test_a_run_that_goes_on_is_delivered_where_the_call_says_now(place: Path, book: Path) -> None:
    order: dict[str, Any] = {"target": "price", "playbook": book, "run_id": "one", "verify": False}
    assert nb.run(TABLE, **order, max_actions=1, out="first").status == "limit"
    run = nb.run(TABLE, **order, out="second")
    assert (run.status, run.model) == ("completed", place / "second" / "model.pkl")


@pytest.mark.parametrize(
    ("frame", "problem"),
    [
        (pandas.DataFrame([[1, 2]], columns=["a", "a"]), "two columns called 'a'"),
        (pandas.DataFrame({"b": 1, "a": [1, "x", [2]]}), r"cannot be kept as Parquet because of column 'a' \(object\)"),
        (pandas.DataFrame({"b": 1, "a": [1j, 2j]}), r"column 'a' \(complex128\); convert it first"),
        (pandas.DataFrame({"b": 1, "a": pandas.cut(pandas.Series([1, 5]), 2)}), r"column 'a' \(category\)"),
        (pandas.DataFrame({"a": []}), "nothing to analyse"),
    ],
)
def test_a_frame_that_cannot_be_analysed_is_refused_before_a_run_exists(
    frame: pandas.DataFrame, problem: str, place: Path
) -> None:
    with pytest.raises(nb.RunRefused, match=problem):
        nb.run(frame)
    assert nb.runs() == []


def test_the_beginning_of_a_name_is_refused_with_the_name_that_is_meant(place: Path, book: Path) -> None:
    with pytest.raises(nb.RunRefused, match=r"'pric'.*did you mean 'price'\?"):
        nb.run(TABLE, target="pric", playbook=book)
    assert nb.runs() == []


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"lang": "fr"}, "lang must be 'en' or 'zh', and is 'fr'"),
        ({"lang": 5}, "lang must be 'en' or 'zh', and is 5"),
        ({"confirm": "maybe"}, "confirm must be 'ask' or 'auto' or 'reject', and is 'maybe'"),
        ({"run_id": 7}, "run_id must be a text, and is 7"),
        ({"on_error": "x"}, "on_error must be 'feedback' or 'continue' or 'fail', and is 'x'"),
        ({"target": 5.5}, "target must be the name of a column, or a list of names, and is 5.5"),
        ({"goal": 3}, "goal must be a text, and is 3"),
        ({"verify": "no"}, "verify must be True or False, and is 'no'"),
        ({"strict_actions": "x"}, "strict_actions must be True or False, and is 'x'"),
        ({"runs": 5}, "runs must be a path, and is 5"),
        ({"max_actions": "x"}, "max_actions must be a number that is not negative; 0 is no limit, and is 'x'"),
        ({"test": 5}, "test must be a path or a DataFrame, and is 5"),
        ({"data": 5}, "data must be a path or a DataFrame, and is 5"),
        ({"time": 5}, "time must be a text, and is 5"),
        ({"kernel_url": "nonsense"}, "kernel_url='nonsense' cannot be used"),
        ({"share": "values"}, "share= is for a run that a language model plans: give planner='llm' as well"),
        ({"planner": "llm"}, "planner='llm' needs model="),
        ({"budget_tokens": 5}, "budget_...= is for a run that a language model plans"),
        ({"target": "x"}, "target= is for a run that begins with data"),
    ],
)
def test_a_keyword_that_makes_no_sense_is_refused_by_its_name(said: dict[str, Any], problem: str, place: Path) -> None:
    for call in (nb.run, nb.start):
        with pytest.raises(nb.BccError) as caught:
            call(**{"data": "words.yaml"} | said)
        assert problem in str(caught.value)
    assert nb.runs() == []


def test_going_on_with_words_that_make_no_sense_is_refused_by_their_name(place: Path) -> None:
    run = nb.run("words.yaml", max_actions=1)
    for said, problem in [
        ({"restart": "all"}, "restart must be 'behavior' or 'workflow' or 'reset', and is 'all'"),
        ({"confirm": "maybe"}, "confirm must be"),
        ({"max_actions": -1}, "max_actions must be a number"),
        ({"answers": "price"}, "answers must be texts by name"),
        ({"answers": {"target": 3}}, "answers must be texts by name"),
    ]:
        with pytest.raises(nb.BccError, match=problem):
            run.resume(**said)  # type: ignore[arg-type]  # which is the point
    # What is fixed when a run begins cannot be said anew: it would be ignored.
    for name, call in [("out", run.resume), ("max_action", run.resume), ("tarjet", nb.run), ("tarjet", nb.start)]:
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
            call(**{name: "x"})  # type: ignore[operator]  # which is the point
    assert kinds(run).count("run_resumed") == 0


def test_what_is_no_path_is_refused_by_its_name(place: Path) -> None:
    run = nb.run("words.yaml", verify=False)
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: nb.runs(7), "folder must be a path, and is 7"),  # type: ignore[arg-type]  # which is the point
        (lambda: nb.open(7), "run must be a path, and is 7"),  # type: ignore[arg-type]  # which is the point
        (lambda: nb.open("last", runs=7), "runs must be a path, and is 7"),  # type: ignore[arg-type]  # the same
        (lambda: run.predict([1]), "rows must be a path or a DataFrame, and is"),
    ]
    for call, problem in calls:
        with pytest.raises(nb.BccError, match=problem):
            call()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("give --planner llm as well, or --kernel-url", "give planner='llm' as well, or kernel_url="),
        ("--target 'a b': --test-file stays", "target='a b': --test-file stays"),
        ("--stream and --no-stream are", "stream=True and stream=False are"),
        ("give --overwrite, --no-wait or --id", "give overwrite=True, wait=False or run_id="),
        ("only --restart reset starts it anew", "only restart='reset' starts it anew"),
        (
            "'--target' is a name; go on with: nbcc run --planner x",
            "'--target' is a name; go on with: nbcc run --planner x",
        ),
    ],
)
def test_errors_speak_of_keywords_where_the_command_line_has_options(text: str, said: str) -> None:
    assert in_keywords(text) == said


@pytest.mark.parametrize("limits", [{"cell_timeout": "a"}, {"max_actions": -1}, {"max_seconds": float("nan")}])
def test_a_limit_that_is_no_number_is_refused_before_a_run_exists(limits: Any, place: Path) -> None:
    with pytest.raises(nb.BccError, match="must be a number that is not negative"):
        nb.run("words.yaml", **limits)
    assert nb.runs() == []


def test_a_run_without_a_model_says_so_when_it_shall_predict(place: Path) -> None:
    (place / "words.yaml").write_text(PROPOSING)
    run = nb.run("words.yaml", confirm="auto", verify=False)
    with pytest.raises(nb.RunRefused, match=r"has no model\.pkl"):
        run.predict(TABLE)


def test_what_is_wrong_with_an_order_is_raised_and_leaves_nothing_behind(place: Path) -> None:
    with pytest.raises(nb.BccError, match="does not exist"):
        nb.run("houses.csv", target="price")
    with pytest.raises(nb.BccError, match="script"):
        nb.start("words.yaml", target="price")
    with pytest.raises(nb.RunNotFound):
        nb.open("nothing")
    assert not (place / "nbcc-runs").exists()


@pytest.mark.anyio
async def test_plain_calls_and_async_ones_work_while_a_loop_is_running(place: Path) -> None:
    assert nb.run("words.yaml", verify=False).status == "completed"
    first, second = await asyncio.gather(nb.arun("words.yaml", verify=False), nb.arun("words.yaml", verify=False))
    assert (first.status, second.status) == ("completed", "completed")
    assert first.id != second.id


@pytest.mark.anyio
async def test_cancelling_an_async_run_leaves_one_that_can_be_resumed(place: Path) -> None:
    started, go = write_slow(place)
    task = asyncio.create_task(nb.arun("slow.yaml", run_id="slow"))
    await asyncio.to_thread(wait_until, started)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert nb.open("slow").status == "interrupted"
    go.touch()
    assert (await nb.arun("slow.yaml", run_id="slow", verify=False)).status == "completed"


def test_a_run_that_is_watched_tells_what_happens_and_ends_delivered(place: Path) -> None:
    run = nb.start("words.yaml")
    events = list(run)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[0].kind == "run_started"
    assert "goal: Which words" in events[0].text
    assert events[-1].kind == "run_stopped"
    assert str(events[-1]).startswith("completed: ")
    assert run.report is not None
    # From elsewhere, and afterwards, the same.
    assert [event.seq for event in nb.open(run.id)] == [event.seq for event in events]


def test_a_run_is_paused_and_goes_on_where_it_was(place: Path) -> None:
    started, go = write_slow(place)
    run = nb.start("slow.yaml", verify=False)
    wait_until(started)
    assert run.status == "running"
    run.pause("for lunch")
    go.touch()
    run.wait()
    assert run.status == "paused"
    again = [event.kind for event in run.resume(background=True, verify=False)]
    assert again[0] == "run_resumed"
    assert run.status == "completed"
    # No cell was carried out a second time.
    assert kinds(run).count("action_completed") == 8
    with pytest.raises(nb.RunRefused):
        run.pause()


def test_a_run_that_was_not_to_be_verified_goes_on_unverified(place: Path) -> None:
    run = nb.run("words.yaml", max_actions=1, verify=False)
    assert run.resume(max_actions=0).verified is None
    assert run.status == "completed"
    run = nb.run("words.yaml", max_actions=1, verify=False)
    assert run.resume(max_actions=0, verify=True).verified is True
    run = nb.run("words.yaml", max_actions=1, verify=False)
    # Another process knows it too.
    assert nb.open(run.id).resume(max_actions=0).verified is None


def test_why_a_run_stopped_is_said_in_keywords(place: Path) -> None:
    reason = nb.run("words.yaml", max_actions=1).reason
    assert reason == "the limit of 1 action is reached (MAX_EXECUTION_STEPS, max_actions=)"


def test_a_cancelled_run_stays_cancelled(place: Path) -> None:
    started, _ = write_slow(place)
    run = nb.start("slow.yaml", run_id="gone")
    wait_until(started)
    run.cancel("enough")
    assert run.wait().status == "cancelled"
    assert nb.run("slow.yaml", run_id="gone").status == "cancelled"
    with pytest.raises(nb.RunRefused, match="only restart='reset' starts it anew"):
        run.resume()


def test_a_change_of_the_plan_waits_for_its_confirmation(place: Path) -> None:
    (place / "change.yaml").write_text(PROPOSING, encoding="utf-8")
    run = nb.run("change.yaml", confirm="ask", verify=False)
    assert run.status == "waiting", run.reason
    run.confirm("yes please")
    assert run.resume(verify=False).status == "completed"
    assert "plan_update_decided" in kinds(run)


def test_the_same_id_is_started_once_and_then_returned_at_once(place: Path) -> None:
    first = nb.run("words.yaml", run_id="nightly-7", verify=False)
    assert first.id == "nightly-7"
    before = kinds(first)
    # Limits, outputs and the view are no part of the order.
    again = nb.run("words.yaml", run_id="nightly-7", max_actions=3, progress=False, verify=False, out="elsewhere/")
    assert again.status == "completed"
    assert again.notebook == place / "elsewhere" / "notebook.ipynb"
    assert kinds(again) == before
    assert [one.id for one in nb.runs()] == ["nightly-7"]


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"goal": "another"}, "goal was 'Know' and is 'another' now"),
        ({"target": "size"}, "target was 'price' and is 'size' now"),
        ({"data": TABLE.assign(size=1)}, "data has other content now"),
        ({"test": TABLE}, "test was none and is another file now"),
        ({"time": "built"}, "time was none and is 'built' now"),
        ({"playbook": "minimal"}, "playbook was another file and is 'minimal' now"),
        ({"lang": "zh"}, "language was 'en' and is 'zh' now"),
    ],
)
def test_the_same_id_with_another_order_is_refused_naming_the_difference(
    change: dict[str, Any], difference: str, place: Path, book: Path
) -> None:
    order: dict[str, Any] = {"data": TABLE, "target": "price", "goal": "Know", "playbook": book, "run_id": "one"}
    # Nothing but the start is needed to compare with.
    assert nb.run(**order, max_actions=1, verify=False).status == "limit"
    with pytest.raises(nb.RunRefused, match=difference):
        nb.run(**order | change)


def test_a_run_that_stopped_is_resumed_by_the_same_call(place: Path, book: Path) -> None:
    order: dict[str, Any] = {"target": "price", "playbook": book, "run_id": "one", "verify": False}
    assert nb.run(TABLE, **order, max_actions=1).status == "limit"
    run = nb.run(TABLE.copy(), **order)
    assert run.status == "completed"
    assert kinds(run).count("run_started") == 1
    assert kinds(run).count("run_resumed") == 1


def test_the_same_call_gets_on_after_each_of_its_limits(place: Path) -> None:
    order: dict[str, Any] = {"run_id": "bit-by-bit", "max_actions": 1, "verify": False}
    statuses = [nb.run("words.yaml", **order).status for _ in range(8)]
    assert statuses == sorted(statuses, reverse=True)
    assert {*statuses} == {"limit", "completed"}


def test_an_id_that_nbcc_has_made_stands_for_no_order(place: Path) -> None:
    run = nb.run("words.yaml", verify=False)
    with pytest.raises(nb.RunRefused, match="begun without an id of its own"):
        nb.run("words.yaml", run_id=run.id)
    with pytest.raises(nb.RunRefused, match="cannot be the id"):
        nb.run("words.yaml", run_id="../elsewhere")


def test_of_two_callers_at_once_one_works_and_the_other_waits(place: Path) -> None:
    started, go = write_slow(place)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(nb.run, "slow.yaml", run_id="shared", verify=False) for _ in range(2)]
        wait_until(started)
        with pytest.raises(nb.RunLocked):
            nb.run("slow.yaml", run_id="shared", wait=False)
        go.touch()
        assert [one.result(100).status for one in both] == ["completed", "completed"]
    found = kinds(nb.open("shared"))
    assert found.count("run_started") == 1
    assert found.count("run_resumed") == 0


def test_many_callers_who_begin_in_the_same_moment_begin_one_run(place: Path) -> None:
    ready = threading.Barrier(4)

    def call() -> str:
        ready.wait(100)
        return nb.run("words.yaml", run_id="rush", verify=False).status

    with ThreadPoolExecutor(4) as pool:
        assert [one.result(100) for one in [pool.submit(call) for _ in range(4)]] == ["completed"] * 4
    assert kinds(nb.open("rush")).count("run_started") == 1


PROGRAM = """
import sys
import notebook_bcc as nb
try:
    if sys.argv[1] == "run":
        nb.run("slow.yaml", run_id="slow", progress=True, runs="kept")
    for event in nb.start("slow.yaml", run_id="slow", runs="kept"):
        print(event, file=sys.stderr)
except KeyboardInterrupt as error:
    print("INTERRUPTED", error, flush=True)
    sys.exit(7)
"""


@pytest.mark.parametrize("way", ["run", "watch"])
def test_ctrl_c_pauses_the_run_and_says_how_it_goes_on(way: str, place: Path) -> None:
    started, go = write_slow(place)
    told = place / "told.txt"
    with (
        told.open("w", encoding="utf-8") as file,
        subprocess.Popen([sys.executable, "-c", PROGRAM, way], cwd=place, stdout=file, stderr=file) as process,
    ):
        try:
            wait_until(started)
            process.send_signal(signal.SIGINT)
            wait_until(told, "pausing after the current action")
            # The action under way is waited for.
            assert process.poll() is None
            go.touch()
            process.wait(100)
        finally:
            process.kill()
    out = told.read_text(encoding="utf-8")
    assert process.returncode == 7, out
    assert "INTERRUPTED run slow is paused; go on with nb.open('slow', runs='kept').resume()" in out
    assert "nbcc resume slow --runs kept" in out
    run = nb.run("slow.yaml", run_id="slow", verify=False, runs="kept")
    assert run.status == "completed"
    assert [event.kind for event in nb.open("slow", runs="kept")].count("action_completed") == 8


def test_a_page_shows_nothing_as_markup_that_a_run_has_written(tmp_path: Path) -> None:
    bad = "<script>alert(1)</script>"
    page = RunPage(
        title=bad, run=bad, status=bad, reason=bad, score=bad, answer=bad, files=[tmp_path / f"{bad[8:15]}<i>"]
    )
    html = run_html(page)
    assert "<script" not in html
    assert "<i>" not in html
    drawn = run_html(RunPage(title="", run="", status="", answer="**a** [b](javascript:alert(1)) ![c](http://x/y.png)"))
    assert "<strong>a</strong>" in drawn
    assert "javascript:" not in drawn.replace("[b](javascript:alert(1))", "")
    assert 'src="http' not in drawn


def test_every_field_of_the_options_is_a_keyword_and_an_option_of_the_command() -> None:
    named = [one.name for one in fields(RunOptions)]
    assert list(RunKeywords.__annotations__) == named
    asked = set(run_command.__annotations__) - {"return", "context", "what"}
    # The command line has its views and the page in place of a progress, and says what is not to be verified.
    assert set(named) - {"progress", "verify"} == asked - {"as_json", "quiet", "web", "no_verify"}


@pytest.mark.parametrize("module", [notebook_bcc.api.front, notebook_bcc.api.run], ids=lambda module: module.__name__)
def test_the_examples_of_the_docstrings_are_true(module: Any, place: Path) -> None:
    nb.run("words.yaml", verify=False)
    found = doctest.testmod(module)
    assert found.attempted
    assert found.failed == 0
