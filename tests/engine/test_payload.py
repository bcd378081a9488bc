"""What goes out to a planner does not grow with the notebook: bounded parts, and a filter that keeps its promise."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from engine.play import Played, play, run_code
from notebook_bcc.journal.records import Limits, Policies
from notebook_bcc.planners.script import Behavior
from notebook_bcc.planners.scripted import ScriptedPlanner
from notebook_bcc.protocol.messages import ContextFilter, EffectsConfig, Request
from notebook_bcc.protocol.vocabulary import Level
from notebook_bcc.protocol.workflow import Workflow

pytestmark = pytest.mark.anyio

CELLS_A_STEP = 25
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
                Behavior(actions=run_code(*(source(next(numbers)) for _ in range(5))), context_filter=wanted)
                for _ in range(CELLS_A_STEP // 5)
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
    return [asked for asked, _ in done.planner.generated if count(asked) < cells][-1]


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


async def test_without_a_filter_only_the_completed_stages_add_to_a_request() -> None:
    done = await played("summary", None)
    early, late = request_at(done, 100), request_at(done, ALL)

    assert without_completed_stages(late) <= LIMIT * without_completed_stages(early)
    assert len(late.observation.context.to_json()) <= LIMIT * len(early.observation.context.to_json())
    assert size(late) <= 1.25 * size(early)


async def test_cells_are_sent_up_to_a_number_and_the_rest_is_only_counted() -> None:
    done = await played("cells", None, stages_done=5)
    early, late = request_at(done, 300), request_at(done, 500)

    assert without_completed_stages(late) <= LIMIT * without_completed_stages(early)
    notebook = late.observation.context.notebook
    assert notebook is not None
    assert notebook.cells is not None
    assert len(notebook.cells) < count(late)
    assert str(count(late) - 1) in str(notebook.cells[-1]["source"])
