"""The demo that ships with the project: its script, its data, and what its cells do."""

from __future__ import annotations

import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.planners.script.file import read_script
from notebook_bcc.planners.script.values import Script
from notebook_bcc.protocol.actions import parse_action

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "src" / "notebook_bcc" / "playbooks" / "demo"


@pytest.fixture(scope="module")
def script() -> Script:
    return read_script(DEMO / "demo.yaml")


def actions_of(script: Script) -> list[dict[str, Any]]:
    behaviors = [behavior for step in script.steps.values() for behavior in step.behaviors]
    return [action for behavior in behaviors for action in behavior.actions]


def test_the_demo_is_a_whole_workflow(script: Script) -> None:
    assert len(script.workflow.stages) >= 3
    assert len(script.steps) >= 6
    assert sum(action["action"] == "exec" for action in actions_of(script)) >= 24


def test_the_demo_shows_what_the_protocol_can_do(script: Script) -> None:
    actions = actions_of(script)
    for action in actions:
        parse_action(action)
    wanted = {"add", "exec", "is_thinking", "finish_thinking", "new_chapter", "new_section", "update_title"}
    assert {action["action"] for action in actions} == wanted | {"update_stage_steps"}
    behaviors = [behavior for step in script.steps.values() for behavior in step.behaviors]
    filters = [behavior.context_filter for behavior in behaviors if behavior.context_filter is not None]
    summaries = {strategy for each in filters for strategy in each.variables_to_summarize.values()}
    assert {"shape_only", "describe_only", "head_only", "last_3_only"} <= summaries
    assert any(behavior.promotions for behavior in behaviors)
    assert any(behavior.expected for behavior in behaviors)
    assert all(stage.expected_outputs for stage in script.workflow.stages)
    assert script.context_update.todo_list_update is not None


def test_a_step_of_the_demo_comes_with_a_change_of_the_plan(script: Script) -> None:
    planned = {(stage.id, step.id) for stage in script.workflow.stages for step in stage.steps}
    assert set(script.steps) - planned == {("model", "counts")}


def test_every_section_is_announced_and_every_task_is_done(script: Script) -> None:
    sections = [action["content"] for action in actions_of(script) if action["action"] == "new_section"]
    assert script.workflow.sections == tuple(sections)
    update = script.context_update.todo_list_update
    assert update is not None
    removed = [step.completed_update.todo_list_update for step in script.steps.values()]
    done = [item for each in removed if each is not None for item in each.items]
    assert sorted(done) == sorted(update.items)


def test_the_data_are_small_and_what_the_script_that_makes_them_makes() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "build_demo_data.py"))["table"]()
    assert (DEMO / "bike_hours.csv").read_bytes() == made
    assert len(made) < 60_000


def test_the_notebook_says_that_the_data_are_generated(script: Script) -> None:
    texts = [action["content"] for action in actions_of(script) if action.get("shot_type") == "dialogue"]
    assert any("generated" in text for text in texts[:2])


needs_ml = pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("pandas", "sklearn", "matplotlib")),
    reason="the cells of the demo need the ml extra",
)


@needs_ml
def test_the_cells_run_in_order_and_say_the_same_each_time(script: Script, tmp_path: Path) -> None:
    cells: list[str] = []
    for behavior in [each for step in script.steps.values() for each in step.behaviors]:
        cells += [action["content"] for action in behavior.actions if action.get("shot_type") == "action"]
        # The client adds a cell like this one for each promotion.
        cells += [f"{each.variable_name} = {each.variable}" for each in behavior.promotions]
    expected = {name for stage in script.workflow.stages for name in stage.expected_outputs}
    expected |= {name for step in script.steps.values() for each in step.behaviors for name in each.expected}
    lines = ["import warnings", "warnings.filterwarnings('ignore', 'FigureCanvasAgg')", *cells]
    lines.append(f"assert {expected!r} <= set(globals()), {expected!r} - set(globals())")
    (tmp_path / "cells.py").write_text("\n\n".join(lines), encoding="utf-8")
    for name in script.files:
        shutil.copy(Path(script.folder, name), tmp_path)
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    runs = [
        subprocess.run(
            [sys.executable, "-X", "utf8", "cells.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=110,
            check=False,
        )
        for _ in range(2)
    ]
    assert [run.stderr for run in runs] == ["", ""]
    assert runs[0].stdout == runs[1].stdout
    assert "no value missing" in runs[0].stdout
