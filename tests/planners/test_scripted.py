"""The scripted planner: what it answers follows from the request alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notebook_bcc.errors import PlanInvalid, PlannerUnreachable, PositionUnknown, StreamBroken
from notebook_bcc.planners.interface import ActionData, Planner, StreamWarning
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior, Break, Fail, StageScript, StepScript
from notebook_bcc.protocol.actions import Add
from notebook_bcc.protocol.messages import (
    ActionProblem,
    BehaviorFeedback,
    ContextFilter,
    ContextUpdate,
    Options,
    PlanningResponse,
    RepairWanted,
    Request,
    TodoUpdate,
)
from notebook_bcc.protocol.observation import (
    Context,
    Current,
    FsmView,
    LevelProgress,
    Location,
    Observation,
    Progress,
)
from notebook_bcc.protocol.tracking import CompletedItem, Promotion
from notebook_bcc.protocol.vocabulary import Level, State, TodoOperation
from notebook_bcc.protocol.workflow import Stage, Step, Workflow

pytestmark = pytest.mark.anyio

WORKFLOW = Workflow(
    name="Example",
    goal="look",
    stages=(
        Stage(id="load", steps=(Step(id="read", goal="read it", expected_outputs=("df",)), Step(id="empty"))),
        Stage(id="model", steps=(Step(id="fit"),)),
    ),
)
CLEAN = BehaviorFeedback(actions_executed=1, actions_succeeded=1)
BROKEN = BehaviorFeedback(errors=(ActionProblem(action_id="a1", action="exec", error="NameError"),))


def text(content: str) -> dict[str, Any]:
    return {"action": "add", "content": content, "shot_type": "dialogue"}


def request(
    state: State | None = State.BEHAVIOR_RUNNING,
    *,
    stage: str | None = "load",
    step: str | None = "read",
    completed: Sequence[bool] = (),
    iteration: int | None = None,
    feedback: BehaviorFeedback | None = None,
    steps: LevelProgress | None = None,
    stages: LevelProgress | None = None,
    attempt: int | None = None,
    repair: RepairWanted | None = None,
    behavior: str | None = None,
) -> Request:
    """A request as the engine sends it; `completed` says of each completed behavior whether it succeeded."""
    items = tuple(CompletedItem(behavior_id=f"b{n}", achieved=good) for n, good in enumerate(completed, 1))
    if feedback is not None and feedback.behavior_id is None:
        feedback = feedback.model_copy(update={"behavior_id": f"b{len(items)}"})
    number = len(items) + (1 if state is State.BEHAVIOR_RUNNING else 0) if iteration is None else iteration
    behaviors = LevelProgress(completed=items, iteration=number)
    return Request(
        observation=Observation(
            location=Location(
                current=Current(stage_id=stage, step_id=step, behavior_id=behavior, behavior_iteration=number),
                progress=Progress(stages=stages, steps=steps, behaviors=behaviors),
            ),
            context=Context(FSM=FsmView(state=state) if state is not None else None),
        ),
        behavior_feedback=feedback,
        options=Options(attempt=attempt, repair=repair),
    )


def after(completed: Sequence[bool], feedback: BehaviorFeedback | None = None) -> Request:
    """The request at the end of a behavior: the last of `completed` is the one the feedback is about."""
    told = feedback or (CLEAN if completed[-1] else BROKEN)
    return request(State.BEHAVIOR_COMPLETED, completed=completed, feedback=told)


async def contents(planner: Planner, asked: Request, *, fallback: bool = False) -> list[Any]:
    generated = [each async for each in planner.generate(asked, fallback=fallback)]
    return [each.data["content"] if isinstance(each, ActionData) else each for each in generated]


def three(**options: Any) -> ScriptedPlanner:
    behaviors = [Behavior([text(name)], goal=name) for name in ("one", "two", "three")]
    return ScriptedPlanner(WORKFLOW, {("load", "read"): StepScript(behaviors, **options)})


async def test_an_empty_location_is_answered_with_the_plan_and_without_the_behaviors() -> None:
    response = await three().plan(request(State.IDLE, stage=None, step=None))
    assert response.context_update.workflow_update == WORKFLOW
    assert b"one" not in response.to_json()


async def test_what_belongs_to_the_whole_run_comes_with_the_plan() -> None:
    update = ContextUpdate(todo_list_update=TodoUpdate(operation=TodoOperation.ADD, items=("look",)))
    planner = ScriptedPlanner(WORKFLOW, context_update=update)
    response = await planner.plan(request(State.IDLE, stage=None, step=None))
    assert response.context_update.todo_list_update == update.todo_list_update
    assert response.context_update.workflow_update is not None


async def test_a_stage_is_achieved_only_when_none_of_its_steps_is_left() -> None:
    planner = three()
    fresh = LevelProgress(remaining=("read", "empty"))
    done = LevelProgress(completed=(CompletedItem(step_id="read"), CompletedItem(step_id="empty")))
    assert not (await planner.plan(request(State.STAGE_RUNNING, step=None, steps=fresh))).target_achieved
    assert (await planner.plan(request(State.STAGE_RUNNING, step=None, steps=done))).target_achieved


async def test_a_deferred_stage_gets_its_steps_when_it_begins() -> None:
    planner = ScriptedPlanner(WORKFLOW, stages={"load": StageScript(deferred=True, focus="look closely")})
    plan = (await planner.plan(request(State.IDLE, stage=None, step=None))).context_update.workflow_update
    assert plan is not None
    assert [len(stage.steps) for stage in plan.stages] == [0, 1]
    update = (await planner.plan(request(State.STAGE_RUNNING, step=None))).context_update
    assert update.stage_steps_update is not None
    assert update.stage_steps_update.steps == WORKFLOW.stages[0].steps
    assert update.progress_updates[0].focus == "look closely"


async def test_a_step_without_behaviors_is_achieved_at_once() -> None:
    assert (await three().plan(request(State.STEP_RUNNING, step="empty"))).target_achieved


async def test_a_step_starts_with_what_its_first_behavior_is_to_see_and_to_make() -> None:
    promotion = Promotion(variable="df_working", artifact_id="df@demo")
    first = Behavior(
        [text("one")],
        goal="clean it",
        focus="only the numbers",
        expected=["df"],
        promotions=[promotion],
        context_filter=ContextFilter(variables_to_include=("raw",)),
        context_update=ContextUpdate(variables={"phase": 1}),
    )
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): StepScript([first, Behavior()], focus="the whole step")})
    response = await planner.plan(request(State.STEP_RUNNING))
    assert not response.target_achieved
    assert not response.transition.continue_behaviors
    assert response.context_update.variables == {"phase": 1}
    step, behavior = response.context_update.progress_updates
    assert (step.level, step.focus) == (Level.STEPS, "the whole step")
    assert (behavior.level, behavior.goal, behavior.focus) == (Level.BEHAVIORS, "clean it", "only the numbers")
    assert behavior.expected_outputs == ("df",)
    assert response.context_filter is not None
    assert response.context_filter.variables_to_include == ("raw",)
    assert response.context_filter.outputs_tracking is not None
    assert response.context_filter.outputs_tracking.promotions == (promotion,)
    assert response.metadata.estimated_remaining_behaviors == 2


async def test_a_behavior_that_promises_nothing_leaves_the_observation_whole() -> None:
    assert (await three().plan(request(State.STEP_RUNNING))).context_filter is None


@pytest.mark.parametrize(("completed", "expected"), [([], "one"), ([True], "two"), ([True, True], "three")])
async def test_the_next_behavior_follows_from_the_completed_ones(completed: list[bool], expected: str) -> None:
    assert await contents(three(), request(completed=completed)) == [expected]


async def test_a_behavior_that_was_begun_and_lost_is_generated_again_although_the_iteration_grew() -> None:
    assert await contents(three(), request(completed=[True], iteration=4)) == ["two"]


async def test_a_filtered_observation_that_lists_no_behaviors_is_understood_by_its_iteration() -> None:
    asked = request(iteration=2)
    location = asked.observation.location.model_copy(update={"progress": Progress()})
    filtered = asked.model_copy(update={"observation": asked.observation.model_copy(update={"location": location})})
    assert await contents(three(), filtered) == ["two"]


async def test_a_behavior_is_known_by_the_name_that_the_answer_before_it_gave() -> None:
    planner = three()
    first = (await planner.plan(request(State.STEP_RUNNING))).behavior
    assert first is not None
    assert (first.id, first.target) == ("read.1", "one")
    second = (await planner.plan(request(State.BEHAVIOR_COMPLETED, behavior="read.1", feedback=CLEAN))).behavior
    assert second is not None
    assert second.id == "read.2"
    filtered = request(behavior="read.2", iteration=7)
    assert await contents(planner, filtered) == ["two"]


async def test_a_name_tells_what_a_failed_behavior_was_although_nothing_else_does() -> None:
    behaviors = [Behavior([text("one")], on_error=[text("mend")]), Behavior([text("two")])]
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): behaviors})
    failed = BROKEN.model_copy(update={"behavior_id": "read.1"})
    answer = await planner.plan(request(State.BEHAVIOR_COMPLETED, behavior="read.1", feedback=failed, iteration=3))
    assert answer.behavior is not None
    assert answer.behavior.id == "read.1.recovery"
    assert await contents(planner, request(behavior="read.1.recovery", iteration=4)) == ["mend"]
    mended = CLEAN.model_copy(update={"behavior_id": "read.1.recovery"})
    answer = await planner.plan(request(State.BEHAVIOR_COMPLETED, feedback=mended, iteration=4))
    assert answer.behavior is not None
    assert answer.behavior.id == "read.2"


async def test_behaviors_go_on_until_the_last_one_is_done() -> None:
    planner = three(completed_update=ContextUpdate(variables={"done": True}))
    middle = await planner.plan(after([True, True]))
    assert middle.transition.continue_behaviors
    assert not middle.target_achieved
    assert middle.context_update.progress_updates[0].goal == "three"
    last = await planner.plan(after([True, True, True]))
    assert last.target_achieved
    assert not last.transition.continue_behaviors
    assert last.context_update.variables == {"done": True}


async def test_feedback_is_understood_whether_or_not_the_client_counts_the_ended_behavior_as_completed() -> None:
    planner = three()
    counted = after([True, True])
    uncounted = request(
        State.BEHAVIOR_COMPLETED, completed=[True], feedback=CLEAN.model_copy(update={"behavior_id": "b2"})
    )
    assert await planner.plan(counted) == await planner.plan(uncounted)


@pytest.mark.parametrize("feedback", [BROKEN, BehaviorFeedback(missing_outputs=("df",))])
async def test_errors_and_missing_outputs_leave_the_step_unachieved(feedback: BehaviorFeedback) -> None:
    response = await three().plan(after([True, True, False], feedback))
    assert not response.target_achieved
    assert not response.transition.continue_behaviors


async def test_a_step_that_accepts_errors_goes_on_and_is_achieved() -> None:
    planner = three(accept_errors=True)
    assert (await planner.plan(after([False]))).transition.continue_behaviors
    assert (await planner.plan(after([True, True, False]))).target_achieved


async def test_a_failed_behavior_is_generated_again_when_it_is_restarted() -> None:
    assert await contents(three(), request(completed=[True, False])) == ["two"]
    assert await contents(three(), request(completed=[True, False, True])) == ["three"]


async def test_a_failure_is_followed_by_the_extra_behavior_of_the_script_and_then_the_next() -> None:
    behaviors = [Behavior([text("one")], on_error=[text("mend")]), Behavior([text("two")])]
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): behaviors})
    assert (await planner.plan(after([False]))).transition.continue_behaviors
    assert await contents(planner, request(completed=[False])) == ["mend"]
    assert (await planner.plan(after([False, True]))).transition.continue_behaviors
    assert await contents(planner, request(completed=[False, True])) == ["two"]
    assert (await planner.plan(after([False, True, True]))).target_achieved
    unmended = await planner.plan(after([False, False]))
    assert not unmended.transition.continue_behaviors
    assert not unmended.target_achieved


async def test_a_scripted_verdict_replaces_the_judgement() -> None:
    verdict = PlanningResponse.parse({"transition": {"strategy": "server_controlled", "next_stage_id": "model"}})
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): [Behavior([text("one")], verdict=verdict)]})
    assert await planner.plan(after([True])) == verdict


async def test_the_end_of_a_step_and_of_a_stage_is_judged_from_what_remains() -> None:
    planner = three()
    left, none = LevelProgress(remaining=("x",)), LevelProgress()
    assert not (await planner.plan(request(State.STEP_COMPLETED, steps=left))).target_achieved
    assert (await planner.plan(request(State.STEP_COMPLETED, steps=none))).target_achieved
    assert not (await planner.plan(request(State.STAGE_COMPLETED, step=None, stages=left))).target_achieved
    assert (await planner.plan(request(State.STAGE_COMPLETED, step=None, stages=none))).target_achieved


async def test_a_peer_that_sends_no_state_is_understood_by_its_location_and_feedback() -> None:
    planner = three()
    assert (await planner.plan(request(None, stage=None, step=None))).context_update.workflow_update is not None
    assert not (await planner.plan(request(None, step=None))).target_achieved
    assert (await planner.plan(request(None))).metadata.estimated_remaining_behaviors == 3
    ended = request(None, completed=[True], feedback=CLEAN)
    assert (await planner.plan(ended)).transition.continue_behaviors


async def test_a_step_the_script_does_not_know_is_an_error_that_names_those_it_has() -> None:
    with pytest.raises(PositionUnknown, match=r"'nowhere' in stage 'load'; it has: read") as caught:
        await three().plan(request(State.STEP_RUNNING, step="nowhere"))
    assert (caught.value.stage_id, caught.value.step_id) == ("load", "nowhere")
    assert "read" in caught.value.known["load"]


@pytest.mark.parametrize(
    "state", [State.STAGE_RUNNING, State.STEP_RUNNING, State.STEP_COMPLETED, State.STAGE_COMPLETED]
)
async def test_a_stage_the_script_does_not_know_is_an_error_whatever_is_asked_about_it(state: State) -> None:
    with pytest.raises(PositionUnknown, match="stage 'elsewhere'; it has: load"):
        await three().plan(request(state, stage="elsewhere"))


async def test_silence_lasts_as_many_attempts_as_the_script_says() -> None:
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): [Behavior([text("one")], fail=Fail(times=2))]})
    for attempt in (1, 2):
        with pytest.raises(PlannerUnreachable):
            await contents(planner, request(attempt=attempt))
    assert await contents(planner, request(attempt=3)) == ["one"]
    assert await contents(planner, request(attempt=1), fallback=True) == ["one"]
    assert await contents(planner, request(attempt=1, iteration=2)) == ["one"]


async def test_every_question_of_planning_can_be_left_without_an_answer() -> None:
    silent = Fail(times=1, reason="out for lunch", retry_after=2.0)
    step = StepScript([Behavior([text("one")], fail_feedback=silent)], fail=silent)
    planner = ScriptedPlanner(
        WORKFLOW, {("load", "read"): step}, stages={"load": StageScript(fail=silent)}, fail=silent
    )
    questions = [
        request(State.IDLE, stage=None, step=None),
        request(State.STAGE_RUNNING, step=None),
        request(State.STEP_RUNNING),
        after([True]),
    ]
    for question in questions:
        with pytest.raises(PlannerUnreachable, match="out for lunch") as caught:
            await planner.plan(question)
        assert caught.value.retry_after == 2.0
        again = question.model_copy(update={"options": Options(attempt=2)})
        assert await planner.plan(again)


async def test_a_spare_endpoint_that_is_silent_too_does_not_answer() -> None:
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): [Behavior([text("one")], fail=Fail(fallback=True))]})
    with pytest.raises(PlannerUnreachable):
        await contents(planner, request(attempt=1), fallback=True)


async def test_a_stream_breaks_where_the_script_says_and_not_when_the_behavior_is_restarted() -> None:
    behavior = Behavior([text(name) for name in "abcd"], break_after=Break(2))
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): [behavior]})
    stream = planner.generate(request(iteration=1))
    assert [await anext(stream), await anext(stream)] == [ActionData(text("a")), ActionData(text("b"))]
    with pytest.raises(StreamBroken, match="after 2 actions"):
        await anext(stream)
    assert await contents(planner, request(iteration=2)) == list("abcd")


async def test_a_stream_may_carry_warnings_typed_actions_and_things_that_are_no_actions() -> None:
    behavior = Behavior([StreamWarning("skipped a line"), Add(content="typed"), 42])
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): [behavior]})
    generated = [each async for each in planner.generate(request())]
    assert generated[0] == StreamWarning("skipped a line")
    assert generated[1] == ActionData({"action": "add", "content": "typed"})
    assert generated[2] == ActionData(42)


async def test_repairs_are_given_in_turn_and_then_there_is_no_idea_left() -> None:
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): [Behavior(repairs={"cell-1": ["x = 1", "x = 2"]})]})

    def wanted(attempt: int, cell: str = "cell-1") -> Request:
        return request(
            repair=RepairWanted(cell_id=cell, source="x", error_name="NameError", error="x", attempt=attempt)
        )

    assert [await planner.repair(wanted(n)) for n in (1, 2, 3)] == ["x = 1", "x = 2", None]
    assert await planner.repair(wanted(1, "another")) is None
    assert await planner.repair(request()) is None


async def test_closing_twice_is_allowed() -> None:
    planner = three()
    await planner.close()
    await planner.close()
    assert planner.name == "scripted"


async def test_behaviors_for_a_step_of_no_plan_are_refused() -> None:
    with pytest.raises(PlanInvalid, match=r"behaviors\.load\.reed"):
        ScriptedPlanner(WORKFLOW, {("load", "reed"): []})
    with pytest.raises(PlanInvalid, match=r"stages\.lode"):
        ScriptedPlanner(WORKFLOW, stages={"lode": StageScript()})


async def test_behaviors_for_a_step_that_a_plan_change_brings_are_accepted() -> None:
    change = {"action": "update_stage_steps", "stage_id": "model", "updated_steps": [{"id": "fit"}, {"id": "tune"}]}
    whole = {"action": "update_workflow", "updated_workflow": {"stages": [{"id": "report", "steps": [{"id": "say"}]}]}}
    planner = ScriptedPlanner(
        WORKFLOW,
        {
            ("load", "read"): [Behavior([change, whole])],
            ("model", "tune"): [Behavior([text("tune")])],
            ("report", "say"): [Behavior([text("say")])],
        },
    )
    assert await contents(planner, request(stage="model", step="tune")) == ["tune"]


async def test_a_plan_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(PlanInvalid, match="used twice"):
        ScriptedPlanner(Workflow(stages=(Stage(id="a"), Stage(id="a"))))


@settings(deadline=None)
@given(good=st.lists(st.booleans(), max_size=12), accept=st.booleans(), mend=st.booleans())
async def test_the_judgement_and_the_content_that_follows_agree(good: list[bool], accept: bool, mend: bool) -> None:
    behaviors = [Behavior([text(str(n))], goal=str(n), on_error=[text(f"mend {n}")] if mend else []) for n in range(4)]
    planner = ScriptedPlanner(WORKFLOW, {("load", "read"): StepScript(behaviors, accept_errors=accept)})
    another = ScriptedPlanner(WORKFLOW, {("load", "read"): StepScript(behaviors, accept_errors=accept)})
    question = after(good) if good else request(State.STEP_RUNNING)
    response = await planner.plan(question)
    assert response == await another.plan(question)
    assert not (response.target_achieved and response.transition.continue_behaviors)
    if response.transition.continue_behaviors:
        goal = response.context_update.progress_updates[0].goal
        assert await contents(planner, request(completed=good)) in ([goal], [f"mend {goal}"])
