from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.places import Place, drain
from notebook_bcc.errors import JournalCorrupt, JournalFailed, NotebookFailed, RunLocked, RunRefused
from notebook_bcc.journal.records import RunStopped
from notebook_bcc.journal.sqlite.journal import SqliteJournal
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.lifecycle.folder import Input, run_folders
from notebook_bcc.lifecycle.history import load_state, read_entries
from notebook_bcc.lifecycle.operations import answer_run, cancel_run, pause_run, resumed, verify_run
from notebook_bcc.lifecycle.order import ResumeOrder
from notebook_bcc.lifecycle.summary import list_runs, summarize
from notebook_bcc.lifecycle.verify import VerifyOrder
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.specs import RemotePlannerSpec
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.sandbox.rungs import RungReport
from notebook_bcc.wiring import journals

pytestmark = pytest.mark.anyio

FAILING = """
stages:
  - id: only
    steps:
      - id: first
        behaviors: [{actions: [{code: a = 1}, {code: 1/0}]}]
"""
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


class CommandingKernel(ScriptedKernel):
    """Does something else before its first cell."""

    def __init__(self, command: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self._command = command

    async def start(self) -> None:
        await super().start()
        await self._command()


async def test_a_run_goes_from_its_order_to_a_notebook_and_a_page(place: Place) -> None:
    state = await place.start(deliver=True)
    assert state.stopped == RunStopped(reason="completed")
    file = read_notebook(place.last.notebook)
    assert [cell.source for cell in file.document.cells] == ["a = 1", "print('a is', a)", "b = a + 1", "b"]
    assert file.run["run_id"] == place.last.run_id
    assert file.run["verified"]["ok"] is True
    assert place.last.html.stat().st_size > 1000
    assert await load_state(place.last, journals()) == state


async def test_nothing_is_left_when_a_run_cannot_begin(place: Place, tmp_path: Path) -> None:
    with pytest.raises(NotebookFailed):
        await place.start(out=tmp_path / "missing" / "a.ipynb")
    with pytest.raises(RunRefused):
        await place.start(inputs=(Input(tmp_path / "none.csv", "none.csv"),))
    place.script = "stages: []"
    with pytest.raises(Exception, match="at least one stage"):
        await place.start()
    assert run_folders(place.root) == []
    assert not place.root.exists() or list(place.root.iterdir()) == []


async def test_a_foreign_file_is_not_replaced_unless_that_is_wanted(place: Place, tmp_path: Path) -> None:
    mine = tmp_path / "mine.ipynb"
    mine.write_text('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}')
    with pytest.raises(NotebookFailed, match="did not write"):
        await place.start(out=mine)
    await place.start(out=mine, overwrite=True)
    assert read_notebook(mine).run["run_id"] == place.last.run_id
    # A second run may replace what the first one wrote.
    await place.start(out=mine)
    assert read_notebook(mine).run["run_id"] == place.last.run_id


async def test_a_run_that_stopped_at_a_limit_goes_on_with_another(place: Place) -> None:
    state = await place.start(limits=Limits(actions=3))
    assert state.stopped is not None
    assert state.stopped.reason == "limit"
    note = read_notebook(place.last.notebook).document.cells.last
    assert note is not None
    assert f"nbcc resume {place.last.run_id}" in note.source
    state = await place.resume(ResumeOrder(limits={"actions": 0}))
    assert state.stopped == RunStopped(reason="completed")
    assert state.limits.behaviors_per_step == 30
    # The note was not part of the document and is gone.
    assert [cell.id for cell in read_notebook(place.last.notebook).document.cells] == [
        cell.id for cell in state.document.cells
    ]


async def test_going_on_after_a_limit_gives_as_much_room_again(place: Place) -> None:
    reached = []
    state = await place.start(limits=Limits(actions=3))
    while state.stopped is not None and state.stopped.reason == "limit":
        reached.append(state.actions_completed)
        state = await place.resume()
    assert reached == [3, 6]
    assert state.stopped == RunStopped(reason="completed")


async def test_after_a_reset_the_room_is_what_it_was_at_first(place: Place) -> None:
    reached = []
    state = await place.start(limits=Limits(actions=3))
    for _ in range(2):
        reached.append(state.actions_completed)
        state = await place.resume(ResumeOrder(restart="reset"))
    assert reached == [3, 3]
    assert state.limits.actions == 3


async def test_a_page_of_somebody_else_is_not_replaced(place: Place, tmp_path: Path) -> None:
    (tmp_path / "mine.html").write_text("<p>my own page</p>")
    with pytest.raises(NotebookFailed, match="did not write"):
        await place.start(out=tmp_path / "mine.ipynb")
    await place.start(out=tmp_path / "other.ipynb", deliver=True)
    await place.start(out=tmp_path / "other.ipynb", deliver=True)


async def test_resuming_rebuilds_the_kernel_and_does_nothing_twice(place: Place) -> None:
    await place.start(limits=Limits(actions=4))
    state = await place.resume(ResumeOrder(limits={"actions": 0}))
    assert state.actions_completed == 8
    assert place.kernels[1].executed == ["a = 1", "print('a is', a)", "b = a + 1", "b"]
    kinds = [entry.record.kind async for entry in read_entries(place.last, journals())]
    assert kinds.count("action_completed") == 8
    assert kinds.count("cell_rerun") == 2


async def test_a_run_that_another_planner_takes_over_is_confined_as_if_it_had_begun_with_it(place: Place) -> None:
    await place.start(limits=Limits(actions=4))
    elsewhere = RemotePlannerSpec(url="https://planner.example/dslc")

    def resume(*, working: bool) -> Any:  # Any: a context of a session
        tools = replace(place.factories, try_rung=lambda rung: RungReport(rung, working, "as it is"))
        return resumed(place.last, ResumeOrder(planner_spec=elsewhere), factories=tools, interaction=place.interaction)

    with pytest.raises(RunRefused, match="none works here"):
        async with resume(working=False):
            pass
    async with resume(working=True):
        pass
    assert str((await load_state(place.last, journals())).sandbox_spec) == "bubblewrap"


async def test_a_completed_run_cannot_be_resumed(place: Place) -> None:
    await place.start(deliver=True)
    before = (await load_state(place.last, journals())).seq
    with pytest.raises(RunRefused, match="completed"):
        await place.resume()
    assert (await load_state(place.last, journals())).seq == before


async def test_a_process_that_died_before_it_delivered_is_made_up_for_by_resume(place: Place) -> None:
    done = await place.start()
    place.last.notebook.unlink()
    (place.last.work / "model.pkl").write_bytes(b"made by a cell")
    again = await place.resume(deliver=True)
    assert again.stopped == done.stopped
    assert (place.last.path / "model.pkl").read_bytes() == b"made by a cell"
    assert read_notebook(place.last.notebook).run["stopped"] == "completed"
    assert await load_state(place.last, journals()) == done, "the journal has nothing to add"
    with pytest.raises(RunRefused, match="completed"):
        await place.resume()


async def test_after_an_error_a_person_chooses_what_is_restarted(place: Place) -> None:
    place.script = FAILING
    state = await place.start()
    assert state.fsm is State.ERROR
    place.script = FAILING.replace("1/0", "a + 1")
    state = await place.resume(ResumeOrder(restart="workflow"))
    assert state.stopped == RunStopped(reason="completed")
    assert [cell.source for cell in state.document.cells] == ["a = 1", "a + 1"]


async def test_two_processes_cannot_carry_out_the_same_run(place: Place) -> None:
    async with place.starting() as session:
        with pytest.raises(RunLocked, match=f"process .*nbcc cancel {session.folder.run_id}"):
            await place.resume()
        await drain(session)
    assert (await load_state(place.last, journals())).stopped == RunStopped(reason="completed")


async def test_a_failed_cell_is_left_out_of_what_is_delivered(place: Place) -> None:
    place.script = """
stages:
  - id: only
    steps:
      - id: first
        behaviors:
          - actions: [{code: a = 1}, {code: 1/0}]
            on_error: [{code: a}]
"""
    state = await place.start(deliver=True)
    file = read_notebook(place.last.notebook)
    assert [cell.source for cell in file.document.cells] == ["a = 1", "a"]
    assert (file.run["failed_cells"], file.run["left_out_cells"]) == (1, 1)
    assert len(state.document.cells) == 3


PROBING = """
stages:
  - id: only
    steps:
      - id: first
        behaviors: [{{actions: [{{code: a = 1, probe: look}}, {{code: "{code}", replaces: [look]}}]}}]
"""


async def test_a_cell_that_only_looked_is_left_out_and_the_rest_verified_without_it(place: Place) -> None:
    place.script = PROBING.format(code="b = 2")
    await place.start(deliver=True)
    file = read_notebook(place.last.notebook)
    assert [cell.source for cell in file.document.cells] == ["b = 2"]
    assert file.run["verified"]["ok"] is True
    assert file.run["left_out_cells"] == 1


async def test_a_cell_that_only_looked_stays_where_another_turns_out_to_need_it(place: Place) -> None:
    place.script = PROBING.format(code="b = a + 1")
    await place.start(deliver=True)
    file = read_notebook(place.last.notebook)
    assert [cell.source for cell in file.document.cells] == ["a = 1", "b = a + 1"]
    assert file.run["verified"]["ok"] is True
    assert any("only looked" in warning for warning in place.warnings)


async def test_a_run_that_nobody_carries_out_is_cancelled_at_once(place: Place) -> None:
    await place.start(limits=Limits(actions=3))
    assert await cancel_run(place.last, comment="enough", factories=place.factories) == "done"
    state = await load_state(place.last, journals())
    assert state.fsm is State.CANCELLED
    assert state.stopped == RunStopped(reason="cancelled", detail="enough")
    with pytest.raises(RunRefused, match="cancelled"):
        await cancel_run(place.last, comment="", factories=place.factories)
    with pytest.raises(RunRefused, match="--restart reset"):
        await place.resume()
    state = await place.resume(ResumeOrder(restart="reset", limits={"actions": 0}))
    assert state.stopped == RunStopped(reason="completed")


async def test_a_running_run_is_cancelled_by_asking_its_process(place: Place) -> None:
    async with place.starting() as session:
        seen = 0
        async for entry in session.entries():
            if entry.record.kind == "action_completed" and not seen:
                seen = entry.seq
                assert await cancel_run(session.folder, comment="", factories=place.factories) == "asked"
                # The run must not end before the command is seen.
                await asyncio.sleep(0)
        assert session.state.stopped is not None


async def test_a_change_of_the_plan_waits_for_an_answer_from_elsewhere(place: Place) -> None:
    place.script = PROPOSING
    state = await place.start()
    assert state.stopped is not None
    assert state.stopped.reason == "waiting"
    assert await answer_run(place.last, confirmed=True, comment="good", by="anna", factories=place.factories) == "left"
    state = await place.resume()
    assert state.stopped == RunStopped(reason="completed")
    assert state.plan is not None
    assert [step.id for step in state.plan.stages[0].steps] == ["first", "extra"]


async def test_a_declined_change_of_steps_fails_the_run(place: Place) -> None:
    place.script = PROPOSING
    await place.start()
    await answer_run(place.last, confirmed=False, comment="no", by="anna", factories=place.factories)
    assert (await place.resume()).fsm is State.ERROR


@pytest.mark.parametrize("confirmed", [True, False])
async def test_a_second_answer_is_refused_with_who_was_first(place: Place, confirmed: bool) -> None:
    place.script = PROPOSING
    await place.start()
    assert await answer_run(place.last, confirmed=confirmed, comment="", by="anna", factories=place.factories) == "left"
    word = "accepted" if confirmed else "declined"
    for again in (True, False):
        with pytest.raises(RunRefused, match=f"{word} already, by anna at 20.*nbcc resume {place.last.run_id}"):
            await answer_run(place.last, confirmed=again, comment="", by="bob", factories=place.factories)
    state = await place.resume()
    assert state.fsm is (State.WORKFLOW_COMPLETED if confirmed else State.ERROR)


async def test_a_late_answer_is_refused_with_who_was_first(place: Place) -> None:
    place.script = PROPOSING
    await place.start()
    await answer_run(place.last, confirmed=True, comment="", by="anna", factories=place.factories)
    await place.resume()
    with pytest.raises(RunRefused, match=r"completed: no change .* waits .*; the last one was accepted by anna at 20"):
        await answer_run(place.last, confirmed=False, comment="", by="bob", factories=place.factories)


async def test_of_two_answers_at_once_the_loser_is_told_who_was_first(place: Place) -> None:
    place.script = PROPOSING
    await place.start()

    async def answer(by: str) -> str:
        try:
            return await answer_run(place.last, confirmed=True, comment="", by=by, factories=place.factories)
        except RunRefused as refusal:
            return str(refusal)

    said = await asyncio.gather(*[answer(f"person {number}") for number in range(4)])
    assert sum(one == "left" for one in said) == 1
    winner = f"person {said.index('left')}"
    assert all(f"by {winner} at" in one for one in said if one != "left")


async def test_a_command_to_a_run_that_is_being_verified_is_refused(place: Place) -> None:
    await place.start(limits=Limits(actions=4))
    refusals: list[str] = []

    async def command() -> None:
        for ask in (cancel_run, pause_run):
            with pytest.raises(RunLocked, match=r"is being verified by process .*; wait for it$") as refusal:
                await ask(place.last, comment="", factories=place.factories)
            refusals.append(str(refusal.value))
        assert (await summarize(place.last, journals())).status == "limit"

    place.kernel = lambda: CommandingKernel(command)
    await verify_run(place.last, VerifyOrder(notebook=place.last.notebook), factories=place.factories)
    assert len(refusals) == 2
    place.kernel = ScriptedKernel
    state = await place.resume(ResumeOrder(limits={"actions": 0}))
    assert state.stopped == RunStopped(reason="completed")


async def test_a_command_during_the_final_verification_is_refused(place: Place) -> None:
    async with place.starting() as session:
        await drain(session)
        refusals: list[str] = []

        async def command() -> None:
            for ask in (cancel_run, pause_run):
                with pytest.raises(RunRefused, match=r"is completed: there is nothing to (cancel|pause)") as refusal:
                    await ask(session.folder, comment="", factories=place.factories)
                refusals.append(str(refusal.value))

        place.kernel = lambda: CommandingKernel(command)
        delivery = await session.deliver(verify=True)
    assert len(refusals) == 2
    assert delivery.verification is not None
    assert delivery.verification.ok


async def test_a_pause_that_nobody_lived_to_obey_is_forgotten_by_resume(place: Place) -> None:
    async with place.starting() as session:
        await pause_run(session.folder, comment="", factories=place.factories)
        # Left without having been carried out, as by a kill.
    state = await place.resume()
    assert state.stopped == RunStopped(reason="completed")


async def test_a_run_that_stopped_before_its_workflow_began_can_be_cancelled(place: Place) -> None:
    async with place.starting():
        pass
    assert await cancel_run(place.last, comment="enough", factories=place.factories) == "done"
    state = await load_state(place.last, journals())
    assert (state.fsm, state.stopped) == (State.IDLE, RunStopped(reason="cancelled", detail="enough"))
    with pytest.raises(RunRefused, match="is cancelled; there is nothing to cancel"):
        await cancel_run(place.last, comment="", factories=place.factories)
    with pytest.raises(RunRefused, match="--restart reset"):
        await place.resume()
    state = await place.resume(ResumeOrder(restart="reset"))
    assert state.stopped == RunStopped(reason="completed")


async def test_a_run_cancelled_at_rest_says_so_in_its_notebook(place: Place) -> None:
    await place.start(limits=Limits(actions=3))
    await cancel_run(place.last, comment="enough", factories=place.factories)
    file = read_notebook(place.last.notebook)
    note = file.document.cells.last
    assert note is not None
    assert "(cancelled: enough)" in note.source
    assert "--restart reset" in note.source
    assert (file.run["stopped"], file.run["state"]) == ("cancelled", "cancelled")


async def test_an_answer_that_nobody_waits_for_is_refused(place: Place) -> None:
    await place.start()
    with pytest.raises(RunRefused, match="no change of its plan waits"):
        await answer_run(place.last, confirmed=True, comment="", by="anna", factories=place.factories)
    with pytest.raises(RunRefused, match="nobody is carrying it out"):
        await pause_run(place.last, comment="", factories=place.factories)


async def test_policies_given_on_resume_change_only_themselves(place: Place) -> None:
    place.script = PROPOSING
    await place.start(policies=Policies(on_error="continue"))
    state = await place.resume(ResumeOrder(policies={"confirm": "auto"}))
    assert (state.policies.confirm, state.policies.on_error) == ("auto", "continue")
    assert state.stopped == RunStopped(reason="completed")


async def test_a_broken_run_is_listed_as_broken_beside_the_others(place: Place) -> None:
    await place.start(name="whole")
    await place.start(name="torn")
    torn = next(folder for folder in run_folders(place.root) if "torn" in folder.run_id)
    torn.journal.write_bytes(b"not a journal" * 100)
    await place.start(name="lost")
    lost = next(folder for folder in run_folders(place.root) if "lost" in folder.run_id)
    lost.journal.unlink()
    found = {one.folder.run_id.split("-")[2]: one async for one in list_runs(place.root, journals())}
    assert {name: one.status for name, one in found.items()} == {
        "whole": "completed",
        "torn": "broken",
        "lost": "broken",
    }
    assert "corrupt" in found["torn"].problem
    with pytest.raises((JournalCorrupt, JournalFailed)):
        await load_state(torn, journals())


async def test_a_run_under_way_is_told_as_running_and_a_dead_one_as_killed(place: Place) -> None:
    async with place.starting() as session:
        summary = await summarize(session.folder, journals())
        assert summary.status == "running"
        assert summary.holder is not None
    # The session was left without having been carried out: the journal has a start and no stop.
    assert (await summarize(place.last, journals())).status == "killed"
    assert (await place.resume()).stopped == RunStopped(reason="completed")


async def test_a_journal_without_a_run_is_corrupt(place: Place) -> None:
    await place.start()
    place.last.journal.unlink()
    journal = SqliteJournal.create(place.last.journal)
    await journal.close()
    with pytest.raises(JournalCorrupt, match="does not begin"):
        await place.resume()


async def test_a_kernel_that_dies_is_rebuilt_and_the_run_says_so(place: Place) -> None:
    place.kernel = lambda: ScriptedKernel(dies_at=[3])
    state = await place.start()
    assert state.kernel.losses >= 1
    assert state.stopped is not None
