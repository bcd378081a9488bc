from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from notebook_bcc.engine.state import KernelState, PlannerContext, RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import RunStopped, Transitioned, Warned
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.saver import NOTE_ID, NotebookSaver, own_cells, shown_document
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.vocabulary import CellType, Event, State

pytestmark = pytest.mark.anyio

BEHAVIOR_ENDED = Entry(
    2,
    "2026-11-15T00:00:00Z",
    Transitioned(source=State.ACTION_COMPLETED, event=Event.COMPLETE_BEHAVIOR, to=State.BEHAVIOR_COMPLETED),
)
ERROR = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": []}


def state_with(*sources: str, stopped: RunStopped | None = None) -> RunState:
    document = Document()
    for number, source in enumerate(sources):
        outputs = (ERROR,) if source.startswith("fail") else ()
        count = None if source.startswith("unrun") else number + 1
        cell = Cell(id=f"c{number}", type=CellType.CODE, source=source, outputs=outputs, execution_count=count)
        document = document.with_cell(cell)
    return RunState(run_id="run", goal="g", document=document, stopped=stopped)


def folder_in(path: Path) -> RunFolder:
    folder = RunFolder(path / "run")
    folder.path.mkdir()
    return folder


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 (a file has no event)
            await asyncio.sleep(0.01)


async def test_the_file_is_written_soon_after_a_behavior_has_ended(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    saver = NotebookSaver(folder, warn=pytest.fail, every=3600)
    keeper = asyncio.create_task(saver.keep())
    saver.saw(Entry(1, "", Warned(message="x")), state_with("a"))
    saver.saw(BEHAVIOR_ENDED, state_with("a", "b"))
    await until(folder.notebook.exists)
    assert [cell.source for cell in read_notebook(folder.notebook).document.cells] == ["a", "b"]
    keeper.cancel()


async def test_in_between_the_file_is_written_every_few_seconds(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    saver = NotebookSaver(folder, warn=pytest.fail, every=0.05)
    keeper = asyncio.create_task(saver.keep())
    saver.saw(Entry(1, "", Warned(message="x")), state_with("a"))
    await until(folder.notebook.exists)
    keeper.cancel()


async def test_a_file_that_cannot_be_written_is_a_loud_warning_once_and_the_run_goes_on(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    warnings: list[str] = []
    saver = NotebookSaver(folder, warn=warnings.append)
    shutil.rmtree(folder.path)
    assert not await saver.save(state_with("a"))
    assert not await saver.save(state_with("a", "b"))
    assert len(warnings) == 1
    assert "nbcc export run" in warnings[0]
    folder.path.mkdir()
    assert await saver.save(state_with("a"))
    assert folder.notebook.exists()


async def test_the_metadata_tell_what_the_run_was(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    state = replace(
        state_with("a", "fail", stopped=RunStopped(reason="completed")),
        kernel=KernelState(differences=("cell c0: printed 2",), language_version="3.11"),
        actions_completed=7,
    )
    await NotebookSaver(folder, warn=pytest.fail).save(state)
    file = read_notebook(folder.notebook)
    assert file.metadata["kernelspec"]["name"] == "python3"
    expected = {
        "run_id": "run",
        "goal": "g",
        "stopped": "completed",
        "actions": 7,
        "code_cells": 2,
        "failed_cells": 1,
        "left_out_cells": 1,
        "rebuild_differences": ["cell c0: printed 2"],
    }
    assert {name: file.run[name] for name in expected} == expected
    assert file.run["versions"]["python"] == "3.11"


def test_a_run_under_way_is_shown_as_it_is() -> None:
    state = state_with("a", "fail")
    assert shown_document(state, run="run") is state.document


@pytest.mark.parametrize("reason", ["failed", "limit", "paused", "waiting", "interrupted", "cancelled"])
def test_a_run_that_has_not_reached_its_end_says_so_in_its_last_cell(reason: str) -> None:
    stopped = RunStopped.model_validate({"reason": reason, "detail": "because"})
    state = state_with("a", "fail", stopped=stopped)
    shown = list(shown_document(state, run="my-run").cells)
    assert [cell.source for cell in shown[:-1]] == ["a", "fail"]
    assert shown[-1].id == NOTE_ID
    assert f"{reason}: because" in shown[-1].source
    assert "nbcc resume my-run" in shown[-1].source
    assert len(state.document.cells) == 2


def test_of_a_completed_run_cells_that_failed_are_shown_only_on_request() -> None:
    sources = ["a", "fail", "b"]
    state = state_with(*sources, stopped=RunStopped(reason="completed"))
    assert [cell.source for cell in shown_document(state, run="r").cells] == ["a", "b"]
    assert [cell.source for cell in shown_document(state, run="r", everything=True).cells] == sources


@pytest.mark.parametrize("everything", [False, True])
def test_a_code_cell_that_was_never_executed_stays_and_says_so(everything: bool) -> None:
    # Seed 003: what is added stays in the notebook.
    state = state_with("a", "unrun", "b", stopped=RunStopped(reason="completed"))
    first, unrun, last = shown_document(state, run="r", everything=everything).cells
    assert [cell.is_unexecuted for cell in (first, unrun, last)] == [False, True, False]
    assert unrun.metadata["tags"] == ["skip-execution"], "as nbclient knows it"
    assert unrun.execution_count is None


def test_an_unexecuted_cell_whose_code_a_later_cell_has_run_is_not_shown() -> None:
    document = Document()
    for number, count in enumerate((None, 1, None)):
        document = document.with_cell(Cell(f"c{number}", CellType.CODE, "x = 1", (), count))
    state = RunState(run_id="run", document=document, stopped=RunStopped(reason="completed"))
    assert [cell.id for cell in shown_document(state, run="r").cells] == ["c1", "c2"]


@pytest.mark.parametrize(("lang", "first"), [("en", "> **Completed, not answered"), ("zh", "> **已完成，但未能回答")])
def test_the_first_lines_of_a_notebook_say_that_its_goal_is_not_answered(lang: str, first: str) -> None:
    stopped = RunStopped(reason="completed", answered="no", detail="not made: model")
    context = PlannerContext(variables={"inputs": {"lang": lang}})
    state = replace(state_with("a", stopped=stopped), planner_context=context)
    note, cell = shown_document(state, run="r").cells
    assert note.source.startswith(first)
    assert "not made: model" in note.source
    assert cell.source == "a"
    assert own_cells(shown_document(state, run="r")) == 1


def probing(*cells: tuple[str, dict[str, object]]) -> RunState:
    """A completed run; each cell is its source and its extra metadata."""
    document = Document()
    for number, (source, extra) in enumerate(cells):
        outputs = (ERROR,) if source.startswith("fail") else ()
        kind = CellType.MARKDOWN if source.startswith("#") else CellType.CODE
        count = number + 1 if kind is CellType.CODE else None
        shown: dict[str, object] = {"output_type": "execute_result", "execution_count": count, "data": {}}
        cell = Cell(f"c{number}", kind, source, outputs or (shown,), count, metadata={"extra": extra})
        document = document.with_cell(cell)
    return RunState(run_id="run", document=document, stopped=RunStopped(reason="completed"))


def test_what_a_cell_only_asked_is_left_out_once_a_later_cell_or_text_has_said_it() -> None:
    state = probing(
        ("a", {"probe": "one"}),
        ("b", {}),
        ("c", {"probe": "two"}),
        ("d", {"replaces": ["one"]}),
        # The name of earlier versions.
        ("# text", {"settles": ["two"]}),
        ("e", {"probe": "one"}),
    )
    shown = shown_document(state, run="r")
    assert [cell.source for cell in shown.cells] == ["b", "d", "# text", "e"]
    assert [cell.is_folded for cell in shown.cells] == [False, False, False, True]
    assert shown_document(state, run="r", probes=True) is state.document


def test_a_cell_that_failed_replaces_nothing() -> None:
    state = probing(("a", {"probe": "one"}), ("fail", {"replaces": ["one"]}))
    assert [cell.source for cell in shown_document(state, run="r").cells] == ["a"]


@pytest.mark.parametrize("extra", [{"probe": True}, {"probe": ["one"]}, {"probe": ""}])
def test_what_is_no_name_is_no_probe(extra: dict[str, object]) -> None:
    state = probing(("a", extra), ("b", {"replaces": ["one", "", True]}), ("c", {"replaces": "one"}))
    assert shown_document(state, run="r") is state.document


def test_the_cells_that_are_delivered_have_the_numbers_of_a_fresh_kernel() -> None:
    state = probing(("a", {"probe": "one"}), ("b", {}), ("# text", {}), ("c", {"replaces": ["one"]}))
    shown = [cell for cell in shown_document(state, run="r").cells if cell.type is CellType.CODE]
    assert [cell.execution_count for cell in shown] == [1, 2]
    assert [cell.outputs[0]["execution_count"] for cell in shown] == [1, 2]


def test_a_cell_that_succeeded_and_failed_when_it_was_run_again_is_delivered_as_it_succeeded() -> None:
    printed = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    state = state_with("d = {'a': 1}", "removed = d.pop('a')", "print(removed)", stopped=RunStopped(reason="completed"))
    document = state.document.with_changed_cell("c1", outputs=(printed,), execution_count=2)
    document = document.with_changed_cell("c1", source="changed")
    document = document.with_changed_cell("c1", outputs=(ERROR,), execution_count=4, metadata={"note": "kept"})
    shown = list(shown_document(replace(state, document=document), run="run").cells)
    assert [cell.source for cell in shown] == ["d = {'a': 1}", "removed = d.pop('a')", "print(removed)"]
    assert (shown[1].outputs, shown[1].execution_count, shown[1].metadata) == ((printed,), 2, {"note": "kept"})
    again = document.with_changed_cell("c1", outputs=(), execution_count=5)
    assert shown_document(replace(state, document=again), run="run").cells.get("c1") == again.cell("c1")
