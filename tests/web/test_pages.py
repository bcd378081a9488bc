"""What the page is told of runs, and what may be done with them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from lifecycle.places import TWO_STEPS, Place
from notebook_bcc.journal.records import PlanUpdateDecided, RunResumed
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.lifecycle.operations import answer_run
from notebook_bcc.notebook.export.html_cells import CELL_WORDS
from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.web.cells import bounded_text, rendered
from notebook_bcc.web.files import opened_beneath
from notebook_bcc.web.sections import changed_lines
from notebook_bcc.web.stream import run_events
from notebook_bcc.web.watch import RunWatches
from notebook_bcc.web.words import catalogue
from notebook_bcc.wiring import journals
from web.living import asked, page_of

pytestmark = pytest.mark.anyio

ASKS = Policies(confirm="ask")


async def test_a_run_is_shown_whole_in_one_answer(place: Place) -> None:
    place.script = TWO_STEPS
    await place.start()
    async with asked(page_of(place.root)) as client:
        rows = (await client.get("/api/runs")).json()["runs"]
        assert [row["status"] for row in rows] == ["completed"]
        page = (await client.get(f"/api/runs/{rows[0]['run']}")).json()
    assert page["head"]["of"] == 2
    assert page["head"]["share"] == 1
    assert [stage["status"] for stage in page["plan"]] == ["done"]
    assert len(page["order"]) == len(page["cells"]) == 4
    assert all(cell["status"] == "ok" for cell in page["cells"])
    assert page["machine"]["state"] == "workflow_completed"
    assert page["ask"] is None


async def test_a_change_that_waits_is_shown_with_its_number(place: Place) -> None:
    state = await place.start(policies=ASKS)
    async with asked(page_of(place.root)) as client:
        page = (await client.get(f"/api/runs/{place.last.run_id}")).json()
    assert page["ask"]["answers"] == state.machine.entered
    assert ["-", "  extra (Leave out)"] in page["ask"]["lines"]
    assert [one["id"] for one in page["ask"]["editable"]] == ["read"]
    assert page["plan"][0]["steps"][0]["waits"]


async def test_a_second_answer_is_refused_with_who_was_first(place: Place) -> None:
    state = await place.start(policies=ASKS)
    number = state.machine.entered
    await answer_run(place.last, confirmed=True, comment="", by="Ada", answers=number, factories=place.factories)
    async with asked(page_of(place.root)) as client:
        sent = {"answers": number, "confirmed": False}
        answer = await client.post(f"/api/runs/{place.last.run_id}/answer", json=sent)
    assert answer.status_code == 409
    assert "by Ada" in answer.json()["error"]["message"]


async def test_an_answer_to_something_else_is_refused(place: Place) -> None:
    state = await place.start(policies=ASKS)
    path = f"/api/runs/{place.last.run_id}/answer"
    async with asked(page_of(place.root)) as client:
        late = await client.post(path, json={"answers": state.machine.entered - 1, "confirmed": True})
        none = await client.post(path, json={"confirmed": True})
        neither = await client.post(path, json={"answers": state.machine.entered})
        lost = {"answers": state.machine.entered, "confirmed": True, "edited": [{"id": "other"}]}
        edited = await client.post(path, json=lost)
    assert [one.status_code for one in (late, none, neither, edited)] == [409, 422, 422, 409]
    assert "cannot be removed" in edited.json()["error"]["message"]


async def test_a_run_goes_on_in_a_process_of_its_own_when_its_change_is_edited(place: Place, tmp_path: Path) -> None:
    script = tmp_path / "changes.yaml"
    script.write_text(place.script, encoding="utf-8")
    state = await place.start(script=script, policies=ASKS)
    watches = RunWatches()
    async with asked(page_of(place.root)) as client, watches.watching(place.last) as watch:
        edited = [{"id": "read", "name": "Read values", "goal": "as somebody wants it"}]
        sent = {"answers": state.machine.entered, "confirmed": True, "edited": edited, "comment": "like this"}
        answer = await client.post(f"/api/runs/{place.last.run_id}/answer", json=sent)
        assert answer.json() == {"outcome": "left"}
        while watch.summary.status != "completed" or watch.summary.holder is not None:
            await watch.wait_beyond(watch.version)
    await watches.close()
    records = [entry.record async for entry in read_entries(place.last, journals())]
    decided = next(one for one in records if isinstance(one, PlanUpdateDecided))
    assert decided.edited is not None
    assert decided.edited.steps[0].goal == "as somebody wants it"
    assert decided.comment == "like this"
    assert "on the page" in decided.who


async def test_an_order_that_cannot_begin_says_why(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yaml"
    bad.write_text("goal: nothing\nstages: 7\n", encoding="utf-8")
    async with asked(page_of(tmp_path / "runs")) as client:
        missing = await client.post("/api/runs", json={"path": str(tmp_path / "none.csv")})
        broken = await client.post("/api/runs", json={"path": str(bad)})
    assert missing.status_code == 422
    assert broken.status_code == 409
    assert "stages" in broken.json()["error"]["message"]


async def test_the_stream_goes_on_from_a_sequence_number_and_loses_nothing(place: Place) -> None:
    state = await place.start(policies=ASKS)
    watches = RunWatches()

    async def first(cursor: int) -> tuple[str, dict[str, object]]:
        events = run_events([place.last], [cursor], watches=watches, listed=None, language="en")
        async for event in events:
            lines = event.decode().splitlines()
            if lines[0].startswith("id: "):
                await events.aclose()
                return lines[0].removeprefix("id: "), json.loads(lines[2].removeprefix("data: "))
        raise AssertionError("the stream has ended")

    whole = await first(0)
    again = await first(state.seq)
    await watches.close()
    assert whole[0] == again[0] == str(state.seq)
    assert [cell["id"] for cell in whole[1]["cells"]] == whole[1]["order"]  # type: ignore[attr-defined]
    assert again[1]["cells"] == []
    assert again[1]["ask"] == whole[1]["ask"]


async def test_a_run_that_is_gone_does_not_end_the_stream_of_the_others(place: Place) -> None:
    state = await place.start(policies=ASKS)
    watches = RunWatches()
    events = run_events([None, place.last], [7, 0], watches=watches, listed=None, language="en")
    found = [await anext(events), await anext(events)]
    await events.aclose()
    await watches.close()
    assert found[1].startswith(f"id: 7,{state.seq}\n".encode())


async def test_a_process_that_is_gone_without_a_word_is_said_to_be_gone(place: Place) -> None:
    async with place.starting() as session:
        async for entry in session.entries():
            if entry.record.kind == "action_received":
                break
        shutil.copytree(place.last.path, place.root / "copy", ignore=shutil.ignore_patterns("run.lock"))
    async with asked(page_of(place.root)) as client:
        head = (await client.get("/api/runs/copy")).json()["head"]
    assert head["status"] == "killed"
    assert "resume" in head["can"]


async def test_events_are_given_in_pages_without_gaps(place: Place) -> None:
    state = await place.start(policies=ASKS)
    async with asked(page_of(place.root)) as client:
        path = f"/api/runs/{place.last.run_id}/events"
        found = (await client.get(path)).json()
        rest = (await client.get(path, params={"after": 10, "kinds": "transitioned"})).json()
    assert [one["seq"] for one in found["events"]] == list(range(1, state.seq + 1))
    assert {one["kind"] for one in rest["events"]} == {"transitioned"}


async def test_files_are_attachments_and_no_link_is_followed(place: Place, tmp_path: Path) -> None:
    place.script = TWO_STEPS
    await place.start(deliver=True)
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    for name in ("linked.txt", "report2.html"):
        (place.last.work / name).symlink_to(secret)
        (place.last.path / name).symlink_to(secret)
    async with asked(page_of(place.root)) as client:
        run = f"/api/runs/{place.last.run_id}"
        listed = [one["name"] for one in (await client.get(run)).json()["files"]]
        notebook = await client.get(f"{run}/files/notebook.ipynb")
        linked = await client.get(f"{run}/files/linked.txt")
        outside = await client.get(f"{run}/files/..%2F..%2F{secret.name}")
        journal = await client.get(f"{run}/files/journal.sqlite")
    assert "notebook.ipynb" in listed
    assert "linked.txt" not in listed
    assert notebook.headers["content-disposition"].startswith("attachment")
    assert notebook.content == place.last.notebook.read_bytes()
    assert [one.status_code for one in (linked, outside, journal)] == [404, 404, 404]


async def test_a_folder_that_became_a_link_leads_nowhere(place: Place, tmp_path: Path) -> None:
    place.script = TWO_STEPS
    await place.start(deliver=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    for folder in (outside, place.last.path / "figures"):
        folder.mkdir(exist_ok=True)
        (folder / "one.txt").write_text("secret", encoding="utf-8")
    own = place.last.path / "figures"
    os.close(opened_beneath(place.last.path, ["figures", "one.txt"]))
    shutil.rmtree(own)
    own.symlink_to(outside)
    with pytest.raises(OSError, match="figures"):
        opened_beneath(place.last.path, ["figures", "one.txt"])
    os.mkfifo(place.last.path / "pipe")
    with pytest.raises(FileNotFoundError):
        opened_beneath(place.last.path, ["pipe"])


async def test_a_run_is_deleted_by_a_word_only(place: Place) -> None:
    await place.start(policies=ASKS)
    folder = place.last
    async with asked(page_of(place.root)) as client:
        kept = await client.post(f"/api/runs/{folder.run_id}/delete", json={"word": "yes"})
        assert kept.status_code == 422
        assert folder.path.exists()
        gone = await client.post(f"/api/runs/{folder.run_id}/delete", json={"word": "delete"})
    assert gone.status_code == 200
    assert not folder.path.exists()


async def test_two_runs_are_compared_row_by_row(place: Place) -> None:
    await place.start(policies=ASKS)
    place.script = TWO_STEPS
    await place.start()
    async with asked(page_of(place.root)) as client:
        names = [row["run"] for row in (await client.get("/api/runs")).json()["runs"]]
        found = (await client.get("/api/compare", params={"one": names[0], "two": names[1]})).json()
    assert found["runs"] == names
    assert any(not row["same"] for row in found["plan"])
    assert {row["name"] for row in found["facts"]} >= {"goal", "status", "result"}


async def test_a_run_is_named_by_its_id_and_by_nothing_else(place: Place) -> None:
    await place.start(policies=ASKS)
    async with asked(page_of(place.root)) as client:
        for name in ("last", place.last.run_id[:5], "..", "%2e%2e%2f"):
            assert (await client.get(f"/api/runs/{name}")).status_code in (404, 405)


def test_of_a_change_its_lines_and_their_neighbours_are_shown() -> None:
    lines = ["  a", "    b", "    c", "+   d", "    e", "    f", "  g"]
    assert changed_lines(lines) == [[" ", "…"], [" ", "  c"], ["+", "  d"], [" ", "  e"]]


def test_a_million_lines_become_a_few_hundred() -> None:
    text = bounded_text("\n".join(map(str, range(1_000_000))))
    assert text.startswith("0\n1\n")
    assert text.endswith("999999")
    assert text.count("\n") < 500


def test_outputs_of_every_kind_are_bounded() -> None:
    many = "x\n" * 1_000_000
    outputs: tuple[Output, ...] = (
        {"output_type": "stream", "name": "stdout", "text": many},
        {"output_type": "error", "ename": "E", "evalue": "", "traceback": [many, many]},
        {"output_type": "execute_result", "data": {"text/plain": many, "text/html": f"<table>{many * 2}</table>"}},
        {"output_type": "display_data", "data": {"image/png": "A" * 9_000_000}},
    )
    cell = Cell("cell-1", CellType.CODE, "show()", outputs=outputs)
    html = rendered(cell, language="python", words=CELL_WORDS["en"])
    assert len(html) < 20_000
    assert html.count("lines ...]") == 3


def test_every_text_of_the_page_is_there_in_both_languages() -> None:
    for english, chinese in catalogue().values():
        assert english
        assert chinese
        assert {part.split("}")[0] for part in english.split("{")[1:]} == {
            part.split("}")[0] for part in chinese.split("{")[1:]
        }


async def test_a_question_is_answered_once(place: Place, tmp_path: Path) -> None:
    script = tmp_path / "asks.yaml"
    question = {"targetAchieved": False, "metadata": {"question": {"text": "Which column?", "input": "target"}}}
    behaviors = [{"actions": [{"text": "Look"}], "verdict": question}]
    stages = [{"id": "only", "steps": [{"id": "ask", "behaviors": behaviors}]}]
    place.script = json.dumps({"goal": "Ask", "stages": stages})
    script.write_text(place.script, encoding="utf-8")
    await place.start(script=script)
    run = f"/api/runs/{place.last.run_id}"
    async with asked(page_of(place.root)) as client:
        ask = (await client.get(run)).json()["ask"]
        assert (ask["kind"], ask["text"]) == ("question", "Which column?")
        sent = {"answers": ask["answers"], "reply": "price"}
        first = await client.post(f"{run}/answer", json=sent)
        second = await client.post(f"{run}/answer", json=sent)
    assert (first.status_code, second.status_code) == (200, 409)
    resumed = [
        entry.record async for entry in read_entries(place.last, journals()) if entry.record.kind == "run_resumed"
    ]
    assert [one.inputs["target"] for one in resumed if isinstance(one, RunResumed)] == ["price"]
