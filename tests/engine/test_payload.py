"""What goes out to a planner does not grow with the notebook: bounded parts, and a filter that keeps its promise."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from engine.play import Played, one_step, play, run_code
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import ContextFilter, EffectsConfig, Request
from notebook_bcc.protocol.tracking import Condensed
from notebook_bcc.protocol.vocabulary import Level, State
from notebook_bcc.protocol.workflow import Workflow

pytestmark = pytest.mark.anyio

CELLS_A_STEP = 25
CELLS_A_BEHAVIOR = 5
STEPS_A_STAGE = 4
CELLS_A_STAGE = STEPS_A_STAGE * CELLS_A_STEP
STAGES = 10
ALL = STAGES * CELLS_A_STAGE
LIMIT = 1.1
FILTER = ContextFilter(
    variables_to_include=("value_0", "value_1"),
    effects_config=EffectsConfig(current_limit=5, history_limit=0),
    focus_to_include=(Level.BEHAVIORS,),
)


async def played(
    detail: Literal["summary", "cells"], wanted: ContextFilter | None, *, stages_done: int = STAGES
) -> Played:
    """1,000 cells in ten stages of four steps of five behaviors, each cell setting one of 20 variables and printing."""
    cells = stages_done * CELLS_A_STAGE
    numbers = iter(range(cells))
    stages: list[dict[str, Any]] = []
    script: dict[tuple[str, str], list[Behavior]] = {}
    for stage in range(stages_done):
        steps = [f"step-{stage}-{step}" for step in range(STEPS_A_STAGE)]
        stages.append({"id": f"stage-{stage}", "steps": [{"id": step} for step in steps]})
        for step in steps:
            script[f"stage-{stage}", step] = [
                Behavior(
                    actions=run_code(*(source(next(numbers)) for _ in range(CELLS_A_BEHAVIOR))), context_filter=wanted
                )
                for _ in range(CELLS_A_STEP // CELLS_A_BEHAVIOR)
            ]
    planner = ScriptedPlanner(Workflow.parse({"name": "payload", "stages": stages}), script)
    policies = Policies(confirm="auto", notebook_detail=detail)
    done = await play(planner, policies=policies, limits=Limits(behaviors_per_step=0))
    assert len(done.state.document.cells) == cells
    return done


def source(number: int) -> str:
    return f"value_{number % 20} = {number}\nprint({number}, '{'-' * 100}')"


def request_at(done: Played, cells: int) -> Request:
    """The last request for actions while the notebook had fewer cells than that."""
    return done.planner.generated[(cells - 1) // CELLS_A_BEHAVIOR][0]


def count(request: Request) -> int:
    notebook = request.observation.context.notebook
    assert notebook is not None
    return notebook.cell_count or 0


def size(request: Request) -> int:
    return len(request.to_json())


def without_completed_stages(request: Request) -> int:
    """What a request weighs but for the ids and results of the stages behind it, of which a plan has few."""
    stages = request.observation.location.progress.stages
    assert stages is not None
    bare = stages.model_copy(update={"completed": (), "remaining": ()})
    return size(request) - len(stages.to_json()) + len(bare.to_json())


async def test_a_filtered_request_weighs_the_same_at_a_thousand_cells_as_at_a_hundred() -> None:
    done = await played("summary", FILTER)

    assert size(request_at(done, ALL)) <= LIMIT * size(request_at(done, 100))


async def test_without_a_filter_a_request_weighs_little_more_at_a_thousand_cells_than_at_a_hundred() -> None:
    done = await played("summary", None)
    early, late = request_at(done, 100), request_at(done, ALL)

    assert size(late) <= LIMIT * size(early)
    assert len(late.observation.context.to_json()) <= LIMIT * len(early.observation.context.to_json())


async def test_a_planning_request_weighs_little_more_at_a_thousand_cells_than_at_a_hundred() -> None:
    done = await played("summary", None)
    judged = [one for one in done.planner.planned if one.behavior_feedback is not None]
    early, late = (judged[cells // CELLS_A_BEHAVIOR - 1] for cells in (100, ALL))

    assert (count(early), count(late)) == (100, ALL)
    assert without_completed_stages(late) <= LIMIT * without_completed_stages(early)
    assert max(map(size, done.planner.planned)) <= 16_000


async def test_of_what_is_completed_the_newest_are_told_in_full_and_the_others_condensed() -> None:
    done = await played("summary", None)
    stages = request_at(done, ALL).observation.location.progress.stages
    assert stages is not None

    assert [item.key for item in stages.completed] == [f"stage-{number}" for number in range(STAGES - 1)]
    assert stages.completed_left_out is None
    old, new = stages.completed[0], stages.completed[-1]
    assert (old.goal, old.actions_taken) == ("", ())
    assert old.condensed == Condensed(actions=STEPS_A_STAGE, outputs=0)
    assert old.to_dict() == {"stage_id": "stage-0", "missing_outputs": [], "condensed": {"actions": 4, "outputs": 0}}
    assert (new.condensed, len(new.actions_taken)) == (None, STEPS_A_STAGE)


async def test_a_step_of_many_behaviors_is_bounded_and_still_followed_to_its_end() -> None:
    behaviors = [Behavior(run_code(f"print({number})"), goal=f"part {number}") for number in range(260)]
    done = await play(one_step(*behaviors), limits=Limits(behaviors_per_step=0))

    assert done.state.fsm is State.WORKFLOW_COMPLETED
    assert len(done.sources) == 260
    requests = [asked for asked, _ in done.planner.generated]
    assert size(requests[-1]) <= 1.02 * size(requests[220])
    levels = [one.observation.location.progress.behaviors for one in (requests[25], requests[-1])]
    early, late = (level for level in levels if level is not None)
    assert all(item.condensed is None for item in early.completed)
    assert [item.achieved for item in late.completed] == [True] * 200
    assert sum(item.condensed is None for item in late.completed) == 30
    ended = done.planner.planned[-2].observation.location.progress.steps
    assert ended is not None
    assert ended.completed[0].actions_taken[0] == "[... 180 earlier ones ...]"
    assert ended.completed[0].actions_taken[-1] == "part 259"


async def test_variables_are_shown_up_to_a_number_the_others_counted_and_a_filter_still_reaches_them() -> None:
    making = [
        run_code(*(f"v{number} = {number}" for number in range(start, start + 50))) for start in range(0, 1100, 50)
    ]
    wanted = ContextFilter(variables_to_include=("v0", "v1099"))
    planner = one_step(
        Behavior(making[0], expected=["v5"]),
        *making[1:],
        Behavior(run_code("1"), context_filter=wanted),
        Behavior(run_code("2")),
    )
    done = await play(planner, limits=Limits(behaviors_per_step=0))
    assert done.state.fsm is State.WORKFLOW_COMPLETED
    *_, filtered, whole = (asked.observation.context for asked, _ in done.planner.generated)

    assert filtered.variables == {"v0": 0, "v1099": 1099}
    assert filtered.variables_left_out is None
    assert not any("WARN" in str(effect) for effect in filtered.effects.current)
    assert list(whole.variables) == ["v5", *(f"v{number}" for number in range(100, 1100))]
    assert whole.variables_left_out == 99
    assert done.planner.generated[1][0].observation.context.variables_left_out is None


async def test_cells_are_sent_up_to_a_number_and_the_rest_is_only_counted() -> None:
    done = await played("cells", None, stages_done=5)
    early, late = request_at(done, 300), request_at(done, 500)

    assert without_completed_stages(late) <= LIMIT * without_completed_stages(early)
    notebook = late.observation.context.notebook
    assert notebook is not None
    assert notebook.cells is not None
    assert len(notebook.cells) < count(late)
    assert str(count(late) - 1) in str(notebook.cells[-1]["source"])
