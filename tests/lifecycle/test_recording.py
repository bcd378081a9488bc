from __future__ import annotations

import pytest

from lifecycle.places import Place, drain
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import RunFolder, run_folders
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.lifecycle.operations import answer_run, resumed, started
from notebook_bcc.lifecycle.order import ResumeOrder, RunOrder
from notebook_bcc.lifecycle.recording import (
    RecordedPerson,
    Recording,
    equal_notebooks,
    notebook_differences,
    read_recording,
)
from notebook_bcc.lifecycle.sandboxing import UNBOUND
from notebook_bcc.lifecycle.session import Interaction
from notebook_bcc.planners.replay import ReplayPlanner
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.specs import PlannerSpec, ReplayPlannerSpec
from notebook_bcc.wiring import journals, make_contents, make_registry, try_rung

pytestmark = pytest.mark.anyio

REPLAY = ReplayPlannerSpec(path="elsewhere")
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


class Replaying:
    """A place where a recording is carried out again."""

    def __init__(self, place: Place, recording: Recording) -> None:
        self.place = place
        self.recording = recording

    @property
    def factories(self) -> RunFactories:
        async def planner(spec: PlannerSpec | None, folder: RunFolder) -> ReplayPlanner:
            return self.recording.planner(asked=[entry async for entry in read_entries(folder, journals())])

        return RunFactories(
            make_kernel=lambda spec, *, cwd, output_bytes, confinement=UNBOUND, run=None: ScriptedKernel(),
            make_planner=planner,
            journals=journals(),
            make_contents=make_contents,
            make_registry=make_registry,
            try_rung=try_rung,
            now=self.place.factories.now,
        )

    @property
    def interaction(self) -> Interaction:
        return Interaction(person=RecordedPerson(self.recording.decisions), warn=pytest.fail)


async def test_a_recorded_run_replays_to_the_same_notebook(place: Place) -> None:
    await place.start()
    recording = await read_recording(read_entries(place.last, journals()))
    again = Replaying(place, recording)
    order = RunOrder(name="again", planner_spec=REPLAY, goal="Count")
    async with started(order, root=place.root, factories=again.factories, interaction=again.interaction) as session:
        await drain(session)
        assert equal_notebooks(recording.state.document, session.state.document)
        assert notebook_differences(recording.state.document, session.state.document) == []


async def test_decisions_of_a_person_are_replayed(place: Place) -> None:
    place.script = PROPOSING
    await place.start()
    await answer_run(place.last, confirmed=True, comment="", factories=place.factories)
    await place.resume()
    recording = await read_recording(read_entries(place.last, journals()))
    assert recording.decisions == (True,)
    again = Replaying(place, recording)
    order = RunOrder(name="again", planner_spec=REPLAY)
    async with started(order, root=place.root, factories=again.factories, interaction=again.interaction) as session:
        await drain(session)
        assert equal_notebooks(recording.state.document, session.state.document)


async def test_a_replay_that_was_stopped_goes_on_where_it_was(place: Place) -> None:
    await place.start()
    recording = await read_recording(read_entries(place.last, journals()))
    again = Replaying(place, recording)
    order = RunOrder(name="again", planner_spec=REPLAY, limits=Limits(actions=5))
    async with started(order, root=place.root, factories=again.factories, interaction=again.interaction) as session:
        await drain(session)
    folder = next(one for one in run_folders(place.root) if "again" in one.run_id)
    onward = ResumeOrder(limits={"actions": 0})
    async with resumed(folder, onward, factories=again.factories, interaction=again.interaction) as session:
        await drain(session)
        assert equal_notebooks(recording.state.document, session.state.document)


async def test_stops_that_a_replay_comes_to_by_itself_are_taken_up_as_recorded(place: Place) -> None:
    await place.start(limits=Limits(actions=5))
    await place.resume(ResumeOrder(limits={"actions": 0}))
    recording = await read_recording(read_entries(place.last, journals()))
    assert [one.limits.actions for one in recording.restarts if one.limits is not None] == [0]


async def test_notebooks_that_differ_are_told_apart_cell_by_cell(place: Place) -> None:
    one = await place.start()
    place.script = place.script.replace("print('a is', a)", "print('a was', a)")
    two = await place.start()
    found = notebook_differences(one.document, two.document)
    assert any("source differs" in what for what in found)
    assert any("stdout differs" in what for what in found)
    assert not equal_notebooks(one.document, two.document)
