"""Promised, in progress, produced: tracked at each level, verified, handed up; and artifacts."""

from __future__ import annotations

from typing import Any

import pytest

from engine.play import SKIP, one_step, play, run_code, scripted, workflow
from notebook_bcc.engine.fold.tracking import forget_variables
from notebook_bcc.engine.reward import GoalReward
from notebook_bcc.engine.state import LevelState, RunState
from notebook_bcc.journal.records import ActionCompleted, ArtifactPromoted, PromotionFailed, RunResumed, Transitioned
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.callable import CallablePlanner
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Limits
from notebook_bcc.protocol.messages import ContextUpdate, Request
from notebook_bcc.protocol.observation import LevelProgress, Observation
from notebook_bcc.protocol.tracking import OutputTracking, Promotion
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.protocol.workflow import Workflow

pytestmark = pytest.mark.anyio


def levels(observation: Observation) -> tuple[LevelProgress, LevelProgress, LevelProgress]:
    progress = observation.location.progress
    assert progress.stages is not None
    assert progress.steps is not None
    assert progress.behaviors is not None
    return progress.stages, progress.steps, progress.behaviors


async def test_what_was_promised_and_exists_is_produced_and_handed_up_to_step_and_stage() -> None:
    played = await play(
        scripted(
            workflow({"id": "a", "expected_outputs": ["x"]}, {"id": "b"}),
            {"a": [Behavior(run_code("x = 1\nhelper = 2"), expected=["x"])], "b": [Behavior(run_code("z = 1"))]},
        )
    )
    feedback = next(one for one in played.planner.planned if one.behavior_feedback is not None)
    _, step, behavior = levels(feedback.observation)
    assert behavior.current_outputs.produced == ("x",)
    assert behavior.current_outputs.in_progress == ()
    assert step.current_outputs.produced == ("x",)
    assert behavior.completed[-1].outputs_produced.variables == ("x",)
    last = played.planner.planned[-1]
    stage, _, _ = levels(last.observation)
    assert stage.current_outputs.produced == ("x",)
    assert stage.completed[0].key == "stage"


async def test_a_new_behavior_starts_with_nothing_produced() -> None:
    played = await play(
        one_step(Behavior(run_code("x = 1"), expected=["x"]), Behavior(run_code("y = 1"), expected=["y"]))
    )
    request, _ = played.planner.generated[1]
    _, _, behavior = levels(request.observation)
    assert behavior.current_outputs.expected == ("y",)
    assert behavior.current_outputs.produced == ()


async def test_a_missing_output_is_reported_in_feedback_and_effects_and_never_asserted_away() -> None:
    played = await play(one_step(Behavior(run_code("x = 1"), expected=["x", "report"])), policies=SKIP)
    assert played.feedback[0].missing_outputs == ("report",)
    feedback = next(one for one in played.planner.planned if one.behavior_feedback is not None)
    assert any("report" in str(text) for text in feedback.observation.context.effects.current)


async def test_a_step_whose_expected_outputs_are_missing_says_so_when_it_is_completed() -> None:
    played = await play(one_step(run_code("x = 1"), expected_outputs=["x", "ghost"]))
    assert played.state.steps.completed[0].missing_outputs == ("ghost",)
    assert any("ghost" in text for text in (*played.state.effects, *played.state.effects_history))


async def test_what_is_deleted_later_was_not_produced_by_its_step_and_stage() -> None:
    plan = Workflow.parse(
        {"stages": [{"id": "stage", "expected_outputs": ["x"], "steps": [{"id": "step", "expected_outputs": ["x"]}]}]}
    )
    behaviors = [Behavior(run_code("x = 1"), expected=["x"]), Behavior(run_code("del x"))]
    played = await play(scripted(plan, {"step": behaviors}), policies=SKIP)
    first, second = [one for one in played.planner.planned if one.behavior_feedback is not None]
    assert levels(first.observation)[1].current_outputs.produced == ("x",)
    assert levels(second.observation)[1].current_outputs.produced == ()
    for level in (played.state.steps, played.state.stages):
        assert level.completed[0].outputs_produced.variables == ()
        assert level.completed[0].missing_outputs == ("x",)


async def test_what_a_failed_cell_left_is_gone_with_the_kernel() -> None:
    behaviors = [run_code("kept = 1", "x = 41\n1/0"), run_code("crash = 1"), run_code("after = kept")]

    def judge(request: Request) -> dict[str, Any]:
        told = request.behavior_feedback is not None
        return {
            "targetAchieved": told and not behaviors,
            "transition": {"continue_behaviors": told and bool(behaviors)},
        }

    planner = CallablePlanner(plan=judge, generate=lambda request: behaviors.pop(0))
    start = {"workflow": workflow({"id": "step", "expected_outputs": ["x"]})}
    played = await play(planner, kernel=ScriptedKernel(dies_at={3}), start=start)
    seen = [dict(one.observation.context.variables) for one in played.planner.planned if one.behavior_feedback]
    assert seen[0] == {"kept": 1, "x": 41}
    assert seen[1] == {"kept": 1}
    assert played.state.kernel.variables == {"kept": 1, "after": 1}
    assert played.state.steps.completed[0].outputs_produced.variables == ()
    assert played.state.steps.completed[0].missing_outputs == ("x",)


async def test_a_resumed_run_does_not_list_what_a_failed_cell_left_in_the_kernel_before() -> None:
    def planner() -> Planner:
        return one_step(Behavior(run_code("kept = 1", "x = 41\n1/0"), on_error=[]), Behavior(run_code("after = 1")))

    first = await play(planner(), limits=Limits(actions=4), policies=SKIP)
    assert first.state.kernel.variables == {"kept": 1, "x": 41}
    done = await play(planner(), journal=first.journal, resume=RunResumed(limits=Limits()))
    assert done.planner.planned[0].observation.context.variables == {"kept": 1}


async def test_a_name_is_in_progress_from_its_appearance_to_the_behaviors_end() -> None:
    seen: list[tuple[str, ...]] = []

    class Watching(GoalReward):
        def of_action(self, state: RunState, completed: ActionCompleted) -> float:
            seen.append(state.behaviors.outputs.in_progress)
            return 0.0

    await play(one_step(Behavior(run_code("df = 1\nother = 2", "more = 3"), expected=["df"])), reward=Watching())
    assert seen == [(), (), ("df",), ("df",)]


async def test_a_promotion_renames_the_variable_and_registers_the_artifact() -> None:
    promotion = Promotion(variable="df_working", artifact_id="df_imputed@iter3", description="filled")
    behavior = Behavior(run_code("df_working = [1]"), expected=["df_working"], promotions=[promotion])
    played = await play(one_step(behavior))
    assert played.state.kernel.variables == {"df_imputed_iter3": [1]}
    feedback = next(one for one in played.planner.planned if one.behavior_feedback is not None)
    assert feedback.behavior_feedback is not None
    assert feedback.behavior_feedback.missing_outputs == ()
    _, _, level = levels(feedback.observation)
    assert level.current_outputs.produced == ("df_imputed_iter3",)
    artifact = level.completed[-1].outputs_produced.artifacts[0]
    assert artifact.artifact_id == "df_imputed@iter3"
    assert artifact.parent == "df_working"
    assert artifact.source == level.completed[-1].behavior_id
    assert artifact.created_at is not None


async def test_an_artifact_that_keeps_its_name_is_registered_with_its_parent_and_no_cell() -> None:
    # Seed 000, stages: df_full@loading is the variable df_full.
    raw = Promotion(variable="raw", artifact_id="df_raw@load", keep_name=True, description="as read")
    clean = Promotion(variable="clean", artifact_id="df_clean@step", keep_name=True, parent="df_raw@load")
    behavior = Behavior(run_code("raw = [1]", "clean = [2]"), expected=["raw", "clean"], promotions=[raw, clean])
    played = await play(one_step(behavior))
    assert played.state.kernel.variables == {"raw": [1], "clean": [2]}
    assert [cell.source for cell in played.state.document.cells] == ["raw = [1]", "clean = [2]"]
    assert played.feedback[0].missing_outputs == ()
    for level in (played.state.stages, played.state.steps, played.state.behaviors):
        outputs = level.completed[-1].outputs_produced
        assert outputs.variables == ("raw", "clean")
        told = [(one.artifact_id, one.variable_name, one.parent) for one in outputs.artifacts]
        assert told == [("df_raw@load", "raw", None), ("df_clean@step", "clean", "df_raw@load")]
    assert played.state.stages.completed[-1].outputs_produced.artifacts[0].description == "as read"


@pytest.mark.parametrize("keep_name", [False, True])
async def test_a_promotion_of_what_does_not_exist_is_an_error_that_changes_nothing(keep_name: bool) -> None:
    promotion = Promotion(variable="ghost", artifact_id="g@1", keep_name=keep_name)
    played = await play(one_step(Behavior(run_code("x = 1"), promotions=[promotion])), policies=SKIP)
    assert played.records(ArtifactPromoted) == []
    assert played.records(PromotionFailed)[0].variable == "ghost"
    assert played.state.kernel.variables == {"x": 1}
    assert "ghost" in played.feedback[0].errors[0].error


async def test_the_planner_may_promote_with_its_judgement() -> None:
    update = ContextUpdate.parse({"promotions": [{"variable": "x", "artifact_id": "final@v1"}]})
    played = await play(one_step(Behavior(run_code("x = 1"), expected=["x"]), Behavior([], context_update=update)))
    assert played.state.kernel.variables == {"final_v1": 1}
    assert played.state.stages.completed[0].outputs_produced.artifacts[0].artifact_id == "final@v1"
    assert played.state.stages.completed[0].outputs_produced.variables == ("final_v1",)


def judged(*answers: dict[str, Any], step: dict[str, Any] | None = None, code: str = "df_working = 1") -> Planner:
    """A planner of one step and one behavior whose judgements carry these updates, in the order of its questions."""
    given = list(answers)

    def judge(request: Request) -> dict[str, Any]:
        reached = request.observation.location.current.behavior_id is not None
        return {"targetAchieved": reached, "context_update": given.pop(0) if given else {}}

    return CallablePlanner(plan=judge, generate=lambda request: run_code(code))


WORKED = {
    "workflow": Workflow.parse(
        {
            "stages": [
                {
                    "id": "stage",
                    "expected_outputs": ["df_working"],
                    "steps": [{"id": "step", "expected_outputs": ["df_working"]}],
                }
            ]
        }
    )
}
PROMOTE = {"promotions": [{"variable": "df_working", "artifact_id": "df_imputed@iter3"}]}


@pytest.mark.parametrize("asked", [3, 4, 5], ids=["feedback", "step_end", "stage_end"])
async def test_a_late_promotion_corrects_every_level_that_names_the_temporary(asked: int) -> None:
    # Seed 000, artifacts: out of in_progress, into produced, under the new name; the temporary is deleted.
    played = await play(judged(*[{}] * asked, PROMOTE), start=WORKED)
    assert played.state.kernel.variables == {"df_imputed_iter3": 1}
    for level in (played.state.stages, played.state.steps, played.state.behaviors):
        assert "df_working" not in str(level.outputs)
        assert level.outputs.produced == ("df_imputed_iter3",)
        outputs = level.completed[-1].outputs_produced
        assert outputs.variables == ("df_imputed_iter3",)
        assert [one.artifact_id for one in outputs.artifacts] == ["df_imputed@iter3"]
        assert level.completed[-1].missing_outputs == ()


async def test_a_promotion_on_the_planners_word_stands_at_its_behavior() -> None:
    # Seed 000: outputs_produced.artifacts of a behavior. The temporary was promised nowhere.
    played = await play(judged({}, {}, {}, PROMOTE), start={"workflow": workflow("step")})
    step_end = next(one for one in played.planner.planned[4:])
    _, step, behavior = levels(step_end.observation)
    assert [one.artifact_id for one in behavior.completed[0].outputs_produced.artifacts] == ["df_imputed@iter3"]
    assert behavior.completed[0].outputs_produced.variables == ("df_imputed_iter3",)
    assert [one.artifact_id for one in step.completed[0].outputs_produced.artifacts] == ["df_imputed@iter3"]


async def test_a_promotion_before_any_behavior_is_a_product_of_the_step() -> None:
    start = {"workflow": workflow("a", "b")}
    planner = scripted(
        start["workflow"],
        {
            "a": [Behavior(run_code("df_working = 1"))],
            "b": [Behavior(run_code("y = 1"), context_update=ContextUpdate.parse(PROMOTE))],
        },
    )
    played = await play(planner, start=start)
    done = {item.key: item.outputs_produced for item in played.state.steps.completed}
    assert done["a"].artifacts == ()
    assert [one.artifact_id for one in done["b"].artifacts] == ["df_imputed@iter3"]


def says(level: str, **outputs: Any) -> dict[str, Any]:
    return {"progress_update": {"level": level, "outputs_produced": outputs}}


async def test_what_a_planner_says_of_outputs_stands_at_the_item_and_goes_up() -> None:
    # Seed 000 prints modified_features and validation at a step, findings at a behavior.
    feedback = {
        "progress_update": [
            {
                "level": "behaviors",
                "outputs_produced": {"findings": "19 features have gaps", "key_findings": ["gaps"], "rows": 1460},
            },
            {
                "level": "steps",
                "outputs_produced": {"modified_features": ["MSSubClass"], "validation": "4 features converted"},
            },
        ]
    }
    played = await play(judged({}, {}, {}, feedback), start=WORKED)
    _, step, behavior = levels(played.planner.planned[4].observation)
    told = behavior.completed[0].outputs_produced
    assert (told.findings, told.key_findings) == ("19 features have gaps", ("gaps",))
    assert told.to_dict()["rows"] == 1460, "what we do not know is kept"
    for item in (step.completed[0], played.state.stages.completed[0]):
        assert item.outputs_produced.modified_features == ("MSSubClass",)
        assert item.outputs_produced.validation == "4 features converted"
        assert item.outputs_produced.findings == "19 features have gaps"
        assert item.outputs_produced.key_findings == ("gaps",)


async def test_what_a_planner_says_of_outputs_beforehand_stands_at_the_item_once_it_ends() -> None:
    played = await play(
        judged({}, {}, says("behaviors", validation={"checked": 3}), says("steps", findings=["a", "b"])), start=WORKED
    )
    assert played.state.behaviors.completed[0].outputs_produced.validation == {"checked": 3}
    assert played.state.steps.completed[0].outputs_produced.findings == ["a", "b"]


async def test_a_planner_cannot_claim_variables_or_artifacts() -> None:
    claims = says("behaviors", variables=["ghost"], artifacts=[{"artifact_id": "g@1", "variable_name": "g_1"}])
    played = await play(judged({}, {}, {}, claims), start=WORKED)
    outputs = played.state.behaviors.completed[0].outputs_produced
    assert (outputs.variables, outputs.artifacts) == (("df_working",), ())


async def test_observed_findings_become_key_findings() -> None:
    actions = [{"action": "add", "shot_type": "observation", "content": "19 features have gaps\nmore"}]
    played = await play(one_step(actions))
    assert played.state.steps.completed[0].outputs_produced.key_findings == ("19 features have gaps",)


async def test_every_action_is_rewarded_and_the_reward_stands_with_its_transition() -> None:
    played = await play(one_step(Behavior(run_code("x = 1", "y = 2"), expected=["x"])))
    rewards = [one.reward for one in played.records(Transitioned) if one.event is Event.COMPLETE_ACTION]
    assert len(rewards) == 4
    assert rewards[1] > 0.9, "the expected output came into being"
    assert all(reward < 0 for reward in (rewards[0], rewards[2], rewards[3])), "every action has a cost"
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.state.reward == pytest.approx(sum(one.reward for one in played.records(Transitioned)))


def test_names_that_no_level_tracks_change_nothing_when_they_go() -> None:
    outputs = OutputTracking(expected=("x",), produced=("x",))
    state = RunState(behaviors=LevelState(outputs=outputs))
    assert forget_variables(state, {"other"}) == {}
    assert forget_variables(state, {"x"}) == {"behaviors": LevelState(outputs=OutputTracking(expected=("x",)))}
