"""Document 000, the observation: its Python blocks, carried out as printed."""

from __future__ import annotations

import logging
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from notebook_bcc import prepare_generating_payload
from notebook_bcc.compat import OutputTracking, complete_behavior, filter_variables, plain_observation
from notebook_bcc.compat import promote_temp_variable as promoted
from notebook_bcc.protocol.observation import LevelProgress
from seeds.pages import TYPING, block, members

OBSERVATION = {
    "location": {
        "current": {"stage_id": "s", "step_id": "t", "behavior_id": "behavior_003", "behavior_iteration": 3},
        "progress": {
            "stages": {"current": "s", "focus": "all of it", "current_outputs": {"expected": ["report"]}},
            "steps": {"current": "t", "focus": "the step", "current_outputs": {"expected": ["df"]}},
            "behaviors": {"current": "behavior_003", "focus": "now", "current_outputs": {"expected": ["log"]}},
        },
    },
    "context": {
        "variables": {"df": "DataFrame(3×2)", "groups": {"a": [1]}},
        "effects": {"current": ["one", "two", "three"]},
    },
}
FILTER = {
    "variables_to_include": ["df", "ghost"],
    "effects_config": {"current_limit": 2},
    "focus_to_include": ["behaviors", "steps"],
}


def run(line: int, **names: Any) -> dict[str, Any]:
    exec(compile(members(block("000", line)), f"000:{line}", "exec"), names)
    return names


def test_206_outputs_have_three_lists_of_names() -> None:
    outputs = run(206, **TYPING)["current_outputs"]
    written = LevelProgress.parse({"current_outputs": {name: ["a"] for name in outputs}}).to_dict()["current_outputs"]
    assert written == {name: ["a"] for name in outputs}
    assert set(outputs.values()) == {TYPING["List"][str]}


def test_223_what_is_in_progress_is_not_produced() -> None:
    right = run(223)["current_outputs"]
    level = LevelProgress.parse({"current_outputs": right})
    assert level.current_outputs is not None
    assert not set(level.current_outputs.produced) & set(level.current_outputs.in_progress)


def test_240_the_next_behavior_starts_with_nothing_produced() -> None:
    after = run(240)["behaviors"]
    level = LevelProgress.parse(after)
    assert level.current_outputs is not None
    assert (level.current_outputs.produced, level.current_outputs.in_progress) == ((), ())


def test_263_a_step_has_what_its_behaviors_produced() -> None:
    level = LevelProgress.parse(run(263)["steps"])
    assert level.current_outputs is not None
    assert len(level.current_outputs.produced) == 3


def test_293_a_working_table_becomes_an_artifact() -> None:
    names = run(293, df_working=pd.DataFrame({"a": [1]}))
    assert "df_working" not in names
    artifact = names["artifact"]
    assert artifact["variable_name"] in names
    tracking = OutputTracking(namespace={"df_working": pd.DataFrame({"a": [1]})})
    ours = promoted("df_working", artifact["artifact_id"], tracking=tracking)
    assert (ours["variable_name"], ours["parent"]) == (artifact["variable_name"], artifact["parent"])
    assert tracking.namespace[artifact["variable_name"]].equals(names[artifact["variable_name"]])


def test_493_a_variable_that_is_missing_is_warned_of() -> None:
    effects = SimpleNamespace(current=[])
    run(
        493,
        variables_to_include=["df", "ghost", "summary"],
        variables_to_summarize={"summary": "shape_only"},
        context=SimpleNamespace(variables={"df": 1}),
        effects=effects,
    )
    payload = prepare_generating_payload(OBSERVATION, {"variables_to_include": ["df", "ghost", "summary"]})
    ours = payload["observation"]["context"]["effects"]["current"][3:]
    assert len(effects.current) == len(ours) == 2
    assert all("WARN" in text and repr(name) in text for text, name in zip(ours, ["ghost", "summary"], strict=True))


def test_620_the_filtered_payload_is_ours_but_for_the_order_of_effects() -> None:
    literal = run(620)["prepare_generating_payload"](plain_observation(OBSERVATION), FILTER)
    ours = prepare_generating_payload(OBSERVATION, FILTER)
    theirs, mine = literal["observation"], ours["observation"]
    assert mine["location"]["current"] == theirs["location"]["current"]
    assert mine["context"]["variables"] == theirs["context"]["variables"] == {"df": "DataFrame(3×2)"}
    for level, shown in theirs["location"]["progress"].items():
        assert mine["location"]["progress"][level]["focus"] == shown["focus"]
        assert (
            mine["location"]["progress"][level]["current_outputs"]["expected"] == shown["current_outputs"]["expected"]
        )
    assert "focus" not in mine["location"]["progress"].get("stages", {})
    assert literal["options"]["stream"] is ours["options"]["stream"] is True
    # The block cuts the newest away; limits keep the newest here, since these are what a planner judges by.
    assert theirs["context"]["effects"]["current"] == ["one", "two"]
    assert mine["context"]["effects"]["current"][:2] == ["two", "three"]
    assert "'ghost'" in mine["context"]["effects"]["current"][2]


def test_710_the_end_of_a_behavior_clears_and_hands_up() -> None:
    renamed: list[tuple[str, str]] = []
    names = run(
        710,
        current_outputs={"expected": ["df_working"], "produced": [], "in_progress": ["log"]},
        step_outputs={"produced": []},
        rename_and_register_artifact=lambda *given: renamed.append(given),
    )
    names["complete_behavior"]("behavior_003", {"produced": ["df_working"]})
    assert (names["current_outputs"]["in_progress"], names["step_outputs"]["produced"]) == ([], ["df_working"])
    assert renamed == [("df_working", "df_imputed@behavior_003")]
    tracking = OutputTracking(namespace={"df_working": [1]})
    tracking.current_outputs |= {"expected": ["df_working"], "in_progress": ["log"]}
    assert complete_behavior("behavior_003", {"produced": ["df_working"]}, tracking=tracking) == []
    assert tracking.step_outputs["produced"] == ["df_working"]
    # The block raises for a missing output; ours tells it, since a planner judges.
    with pytest.raises(AssertionError):
        names["complete_behavior"]("behavior_004", {"produced": []})
    tracking.current_outputs["expected"] = ["missing"]
    assert complete_behavior("behavior_004", {"produced": []}, tracking=tracking) == ["missing"]


def test_731_a_promotion_does_the_same_to_names_and_lists() -> None:
    registered: list[dict[str, Any]] = []
    outputs = {"in_progress": ["df_working"], "produced": ["log"]}
    names = run(731, df_working=[1, 2], current_outputs=outputs, register_artifact=registered.append, datetime=datetime)
    names["promote_temp_variable"]("df_working", "df_imputed@iter3")
    tracking = OutputTracking(namespace={"df_working": [1, 2]})
    tracking.current_outputs |= {"in_progress": ["df_working"], "produced": ["log"]}
    ours = promoted("df_working", "df_imputed@iter3", tracking=tracking)
    assert "df_working" not in names
    assert names["df_imputed_iter3"] == tracking.namespace["df_imputed_iter3"]
    assert {name: tracking.current_outputs[name] for name in outputs} == outputs
    assert {name: ours[name] for name in registered[0] if name != "created_at"} == {
        name: value for name, value in registered[0].items() if name != "created_at"
    }


def test_757_variables_are_filtered_alike() -> None:
    names = run(757, logger=logging.getLogger("000"))
    theirs: dict[str, list[str]] = {"current": []}
    mine: dict[str, list[str]] = {"current": []}
    wanted, known = ["a", "ghost"], {"a": 1, "b": 2}
    assert names["filter_variables"](wanted, known, theirs) == filter_variables(wanted, known, mine) == {"a": 1}
    assert len(theirs["current"]) == len(mine["current"]) == 1
    assert "'ghost'" in theirs["current"][0]
    assert "'ghost'" in mine["current"][0]
