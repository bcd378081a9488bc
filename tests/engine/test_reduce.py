"""What each kind of record changes in the state, and that it changes nothing else: a table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from notebook_bcc.engine.changes import evolve
from notebook_bcc.engine.reduce import action_digest, fold, reduce
from notebook_bcc.engine.state import (
    EFFECTS_KEPT,
    TAKEN_KEPT,
    AttemptStart,
    BehaviorState,
    CheckpointState,
    Chunked,
    DoneAction,
    KernelState,
    KernelStep,
    KernelSteps,
    LevelState,
    Machine,
    PlannerContext,
    Position,
    RunState,
    elapsed_without,
)
from notebook_bcc.journal.encoding import RECORD_TYPES
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    ActionsQueued,
    ActionTakenOver,
    ArtifactPromoted,
    AttemptWithdrawn,
    BehaviorJudged,
    CellChange,
    CellRerun,
    CheckpointLoaded,
    CheckpointRejected,
    CheckpointSaved,
    CheckpointSkipped,
    CommandTaken,
    EventRefused,
    Faulted,
    GeneratingAsked,
    GeneratingEnded,
    GeneratingFailed,
    KernelAbandoned,
    KernelAttached,
    KernelLost,
    KernelRebuilt,
    KernelStarted,
    ModelAsked,
    OnceBegun,
    OutputReceived,
    PlanningAnswered,
    PlanningAsked,
    PlanProposal,
    PlanUpdateDecided,
    PromotionFailed,
    ProposalDropped,
    Record,
    RepairTried,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.actions import ActionMetadata
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.limits import Limits, Policies, Spent
from notebook_bcc.protocol.messages import ActionProblem, BehaviorInfo, ContextFilter, PlanningResponse
from notebook_bcc.protocol.observation import SectionProgress
from notebook_bcc.protocol.specs import JupyterServerKernelSpec, LlmPlannerSpec, ScriptPlannerSpec, confined_by
from notebook_bcc.protocol.tracking import Artifact, OutputTracking, Promotion
from notebook_bcc.protocol.vocabulary import CellType, Event, State
from notebook_bcc.protocol.workflow import Workflow

AT = "2026-01-02T00:00:20Z"
PLAN = Workflow.parse({"stages": [{"id": "one", "steps": [{"id": "a"}]}]})
LONGER = Workflow.parse({"stages": [{"id": "one", "steps": [{"id": "a"}]}, {"id": "two"}], "sections": ["intro"]})
LONGER_PROPOSED = PlanProposal(workflow=LONGER)
PROMOTION, OTHER = Promotion(variable="x", artifact_id="x@1"), Promotion(variable="y", artifact_id="y@1")
ARTIFACT = Artifact(artifact_id="x@1", variable_name="x_1", parent="x")
CODE = Cell(id="code", type=CellType.CODE, source="x = 1")
BEHAVIOR = BehaviorState(
    asked=GeneratingAsked(request_id="run.2"),
    stream_open=True,
    current=ActionReceived(action_id="action-3", index=2, action={"action": "exec", "codecell_id": "code"}),
    received=3,
    digest=7,
    executed=2,
    succeeded=1,
    partial=({"output_type": "stream", "name": "stdout", "text": "so far"},),
    promotions=(PROMOTION, OTHER),
    fire=Event.NEXT_STEP,
)
KERNEL = KernelState(
    up=True,
    started=True,
    variables={"x": 1},
    reproducible={"x": 1},
    steps=KernelSteps().appended(KernelStep("code")),
    session="s-1",
    known=True,
    count=4,
)
# Somewhere in the middle of a run: nothing has its default that a record might put there.
BEFORE = RunState(
    run_id="run",
    goal="a table",
    seq=9,
    at="2026-01-02T00:00:10Z",
    started_at="2026-01-02T00:00:00Z",
    session_at="2026-01-02T00:00:00Z",
    planner=ScriptPlannerSpec(),
    plan=PLAN,
    given_plan=PLAN,
    machine=Machine(State.ACTION_RUNNING, moves=5, entered=8),
    position=Position("one", "a", "behavior_001", 1),
    behaviors=LevelState(outputs=OutputTracking(expected=("x", "y"), in_progress=("x",))),
    behavior=BEHAVIOR,
    kernel=KERNEL,
    effects=("printed",),
    document=Document().with_cell(CODE),
    requests=2,
    actions_received=3,
    actions_completed=2,
    commands_seen=4,
    proposals=(LONGER_PROPOSED,),
    filter=ContextFilter(),
    models=("known",),
    recover="",
)
DONE = Chunked[DoneAction]().appended(
    DoneAction({}, ActionCompleted(action_id="action-1", action="exec", success=True, executed="code"))
)
# The behavior is tried again, and nothing is taken over yet.
AGAIN = evolve(
    BEFORE,
    behavior=evolve(
        BEHAVIOR, start=AttemptStart(Document(), KernelSteps(), {}, {}, None, (PROMOTION,)), former=tuple(DONE)
    ),
)
ASKED = PlanningAsked(request_id="run.3", purpose="step")
ANSWER = PlanningAnswered(request_id="run.3", purpose="step", response=PlanningResponse())
LIMITS, POLICIES = Limits(actions=3), Policies(confirm="auto")
STARTED = RunStarted(
    run_id="new",
    goal="other",
    title="Title",
    workflow=PLAN,
    variables={"v": 1},
    policies=POLICIES,
    limits=LIMITS,
    planner="llm",
    kernel="ir",
    kernel_url="http://localhost:1",
)

Changed = dict[str, Any]


def behavior(**changes: Any) -> Changed:
    return {"behavior": dataclasses.replace(BEHAVIOR, **changes)}


def kernel(**changes: Any) -> Changed:
    return {"kernel": dataclasses.replace(KERNEL, **changes)}


def warned(text: str) -> Changed:
    return {"effects": ("printed", f"WARN: {text}")}


COMPLETED: Changed = {"current": None, "partial": (), "executed": 3}

# A record, what it changes beside `seq` and `at`, and of which state if not of the usual one.
# Ten seconds since the record before, which do not count.
REBUILDING: Changed = {"elapsed_before": -10.0}

CHECKPOINT = CheckpointSaved(file="3.checkpoint", cells=3, digest="d", size=9, seconds=0.5)
TABLE: list[tuple[Record, Changed, RunState]] = [
    (
        STARTED,
        {
            "run_id": "new",
            "goal": "other",
            "started_at": AT,
            "session_at": AT,
            "planner": LlmPlannerSpec(),
            "kernel_spec": JupyterServerKernelSpec(name="ir", url="http://localhost:1"),
            "policies": POLICIES,
            "limits": LIMITS,
            "given_plan": PLAN,
            "given_variables": {"v": 1},
            "given_title": "Title",
            "plan": PLAN,
            "planner_context": PlannerContext(variables={"v": 1}),
            "kernel": KernelState(name="ir"),
            "document": Document(title="Title"),
        },
        RunState(),
    ),
    (
        RunResumed(),
        {
            "elapsed_before": 10.0,
            "session_at": AT,
            **behavior(stream_open=False),
            **kernel(up=False),
            "action_due": True,
        },
        BEFORE,
    ),
    (
        RunResumed(
            restart="reset",
            policies=POLICIES,
            limits=LIMITS,
            planner="llm",
            kernel_url="",
            inputs={"target": "x"},
            accept_differences=True,
        ),
        {
            "elapsed_before": 10.0,
            "session_at": AT,
            **behavior(stream_open=False),
            **kernel(up=False, session="", known=False, accept_differences=True),
            "action_due": True,
            "recover": "reset",
            "policies": POLICIES,
            "limits": LIMITS,
            "planner": LlmPlannerSpec(),
            "planner_context": PlannerContext(variables={"inputs": {"target": "x"}}),
            "given_variables": {"inputs": {"target": "x"}},
        },
        BEFORE,
    ),
    (RunStopped(reason="paused"), {"stopped": RunStopped(reason="paused"), **kernel(known=False)}, BEFORE),
    (
        Transitioned(source=State.ACTION_RUNNING, event=Event.COMPLETE_ACTION, to=State.ACTION_COMPLETED, reward=0.5),
        {"machine": ..., "reward": 0.5},
        BEFORE,
    ),
    (
        EventRefused(state=State.ACTION_COMPLETED, event="NEXT_STEP", reason="not here"),
        {**warned("event NEXT_STEP was refused: not here"), **behavior(fire=None)},
        BEFORE,
    ),
    (Warned(message="look"), warned("look"), BEFORE),
    (Warned(message="planner gone; trying again", effect=False), {}, BEFORE),
    (
        Faulted(reason="no plan"),
        {"fault": "no plan", "asked": None, "asked_from": None},
        evolve(BEFORE, asked=ASKED, asked_from=BEFORE),
    ),
    (ASKED, {"asked": ASKED, "asked_from": BEFORE, "requests": 3}, BEFORE),
    (ASKED, {}, evolve(BEFORE, asked=ASKED)),
    (
        PlanningAsked(request_id="run.3", purpose="step", attempt=2),
        {"asked": PlanningAsked(request_id="run.3", purpose="step", attempt=2)},
        evolve(BEFORE, asked=ASKED),
    ),
    (
        ANSWER,
        {"asked": None, "asked_from": None, "verdict": ANSWER, "judged": 10, "filter": None},
        evolve(BEFORE, asked=ASKED, asked_from=BEFORE),
    ),
    (
        GeneratingAsked(request_id="run.3", warnings=("no such variable",)),
        {
            **behavior(
                asked=GeneratingAsked(request_id="run.3", warnings=("no such variable",)),
                asked_from=BEFORE,
                summaries={},
            ),
            "requests": 3,
            **warned("no such variable"),
        },
        BEFORE,
    ),
    (
        GeneratingAsked(request_id="run.2", attempt=2),
        behavior(asked=GeneratingAsked(request_id="run.2", attempt=2)),
        BEFORE,
    ),
    (
        BehaviorJudged(request_id="run.2", response=PlanningResponse(behavior=BehaviorInfo(target="look"))),
        {
            **behavior(beside=PlanningResponse(behavior=BehaviorInfo(target="look"))),
            "behaviors": dataclasses.replace(BEFORE.behaviors, goal="look"),
        },
        BEFORE,
    ),
    (
        ActionReceived(action_id="action-4", index=3, action={}, digest=8),
        {
            "actions_received": 4,
            **behavior(
                current=ActionReceived(action_id="action-4", index=3, action={}, digest=8),
                received=4,
                digest=8,
                partial=(),
            ),
        },
        BEFORE,
    ),
    (
        ActionReceived(action_id="action-4", index=3, action={}, digest=8),
        {
            "actions_received": 4,
            **behavior(
                current=ActionReceived(action_id="action-4", index=3, action={}, digest=8),
                received=4,
                queue=({"action": "second"},),
                partial=(),
            ),
        },
        evolve(BEFORE, behavior=evolve(BEHAVIOR, queue=({}, {"action": "second"}))),
    ),
    (
        ActionsQueued(actions=({"action": "third"},), digest=9),
        behavior(queue=({"action": "third"},), digest=9, stream_open=False),
        BEFORE,
    ),
    (
        GeneratingEnded(actions=3),
        {**behavior(ended=True, stream_open=False), "filter": None},
        evolve(BEFORE, behavior=evolve(BEHAVIOR, asked_from=BEFORE)),
    ),
    (GeneratingFailed(received=3, error="broken"), behavior(failure="broken", stream_open=False), BEFORE),
    (
        GeneratingFailed(received=3, error="broken"),
        behavior(
            asked=GeneratingAsked(request_id="run.2", digest="d"), failure="broken", stream_open=False, unanswered=True
        ),
        evolve(BEFORE, behavior=evolve(BEHAVIOR, asked=GeneratingAsked(request_id="run.2", digest="d"))),
    ),
    (
        GeneratingFailed(received=3, error="no", refused=True),
        behavior(asked=None, failure="no", stream_open=False),
        evolve(BEFORE, behavior=evolve(BEHAVIOR, asked_from=BEFORE)),
    ),
    (
        GeneratingFailed(received=3, error="no money", out_of_budget=True),
        behavior(out_of_budget="no money", stream_open=False),
        BEFORE,
    ),
    (
        GeneratingFailed(received=3, error="other", lost_with_process=True),
        {**behavior(failure="other", stream_open=False), "recover": "behavior"},
        BEFORE,
    ),
    (
        ModelAsked(model="new", task="plan", input_tokens=2, output_tokens=3, dollars=0.5, seconds=4.0),
        {
            "spent": Spent(calls=1, input_tokens=2, output_tokens=3, dollars=0.5, seconds=4.0),
            "models": ("known", "new"),
        },
        BEFORE,
    ),
    (
        ModelAsked(model="known", task="plan", dollars=0.0),
        {"spent": Spent(calls=1)},
        BEFORE,
    ),
    (
        ActionCompleted(action_id="action-3", action="dance", success=True, skipped=True),
        {"actions_completed": 3, **behavior(current=None, partial=(), skipped=1, last_result="skipped")},
        BEFORE,
    ),
    (
        ActionCompleted(action_id="action-3", action="add", success=True, summary="said", finding="found"),
        {
            "actions_completed": 3,
            **behavior(**COMPLETED, succeeded=2, last_result="success", taken=("said",), findings=("found",)),
        },
        BEFORE,
    ),
    (
        ActionCompleted(
            action_id="action-3",
            action="exec",
            success=True,
            executed="code",
            cells=(CellChange(cell_id="code", outputs=(), execution_count=5),),
            variables={"y": 2},
            effects=("more",),
        ),
        {
            "actions_completed": 3,
            **behavior(**COMPLETED, succeeded=2, last_result="success"),
            "document": Document().with_cell(CODE).with_changed_cell("code", outputs=(), execution_count=5),
            "effects": ("printed", "more"),
            **kernel(
                variables={"x": 1, "y": 2},
                reproducible={"x": 1, "y": 2},
                assigned={"y": "code"},
                steps=KERNEL.steps.appended(KernelStep("code")),
                count=5,
            ),
            "behaviors": LevelState(outputs=OutputTracking(expected=("x", "y"), in_progress=("x", "y"))),
        },
        BEFORE,
    ),
    (
        ActionCompleted(action_id="action-3", action="exec", success=False, error="ValueError: x", executed="code"),
        {
            "actions_completed": 3,
            **behavior(
                **COMPLETED,
                last_result="ValueError: x",
                errors=(ActionProblem(action_id="action-3", action="exec", error="ValueError: x"),),
                aborted=True,
            ),
        },
        BEFORE,
    ),
    (
        ActionCompleted(action_id="action-3", action="exec", success=False, executed="code"),
        {
            "actions_completed": 3,
            **behavior(
                **COMPLETED,
                last_result="failed",
                errors=(ActionProblem(action_id="action-3", action="exec", error="failed"),),
            ),
        },
        evolve(BEFORE, policies=Policies(on_error="continue")),
    ),
    (
        ActionCompleted(
            action_id="action-3", action="exec", success=False, error="KernelDied", executed="code", kernel_died=True
        ),
        {
            "actions_completed": 3,
            **behavior(
                **COMPLETED,
                last_result="KernelDied",
                errors=(ActionProblem(action_id="action-3", action="exec", error="KernelDied"),),
                aborted=True,
            ),
            **kernel(up=False, known=False, losses=1),
        },
        BEFORE,
    ),
    (
        ActionCompleted(action_id="action-3", action="exec", success=True, executed="code", removed=("x",)),
        {
            "actions_completed": 3,
            **behavior(**COMPLETED, succeeded=2, last_result="success"),
            **kernel(variables={}, reproducible={}, steps=KERNEL.steps.appended(KernelStep("code"))),
            "behaviors": LevelState(outputs=OutputTracking(expected=("x", "y"))),
        },
        BEFORE,
    ),
    (
        ActionCompleted(
            action_id="action-3",
            action="new_section",
            success=True,
            title="T",
            chapter=1,
            section=2,
            end_phase=True,
            fire=Event.FAIL,
            metadata=ActionMetadata(is_section=True, section_id="s2", section_number=2),
        ),
        {
            "actions_completed": 3,
            **behavior(**COMPLETED, succeeded=2, last_result="success", end_phase=True, fire=Event.FAIL, sections=1),
            "document": dataclasses.replace(Document().with_cell(CODE), title="T", chapters=1, sections=2),
            "planner_context": PlannerContext(
                section_progress=SectionProgress(current_section_id="s2", current_section_number=2)
            ),
        },
        BEFORE,
    ),
    (
        ActionCompleted(action_id="action-3", action="update_workflow", success=True, proposal=LONGER_PROPOSED),
        {
            "actions_completed": 3,
            **behavior(**COMPLETED, succeeded=2, last_result="success"),
            "proposals": (LONGER_PROPOSED, LONGER_PROPOSED),
        },
        BEFORE,
    ),
    (
        OutputReceived(action_id="action-3", cell_id="code", outputs=({"text": "more"},)),
        behavior(partial=({"text": "more"},)),
        BEFORE,
    ),
    (
        ActionTakenOver(action_id="action-3", former="action-1", cell_id="code"),
        {
            "behavior": evolve(
                AGAIN.behavior, current=None, partial=(), executed=3, succeeded=2, last_result="success", done=DONE
            )
        },
        AGAIN,
    ),
    (
        AttemptWithdrawn(actions=1, ran=("code",), left=("x",)),
        {
            "behavior": evolve(AGAIN.behavior, former=(), promotions=(PROMOTION,)),
            "document": Document(),
            **kernel(steps=KernelSteps(), reproducible={}),
            "effects": ("printed", "WARN: cells that were withdrawn have left these variables as they are: x"),
        },
        AGAIN,
    ),
    (RepairTried(action_id="action-3", cell_id="code", attempt=1, source="", error=""), {}, BEFORE),
    (
        ArtifactPromoted(
            artifact=ARTIFACT,
            cell=CellChange(cell_id="artifact", added=CellType.CODE, source="x_1 = x\ndel x", execution_count=5),
            variables={"x_1": 1},
            removed=("x",),
        ),
        {
            **behavior(promotions=(OTHER,), promoted=("x@1",)),
            **kernel(
                variables={"x_1": 1},
                reproducible={"x_1": 1},
                assigned={"x_1": "artifact"},
                steps=KERNEL.steps.appended(KernelStep("artifact")),
                count=5,
            ),
            "behaviors": LevelState(
                outputs=OutputTracking(expected=("x_1", "y"), produced=("x_1",)), artifacts=(ARTIFACT,)
            ),
            "promotions": (OTHER,),
            "document": ...,
        },
        evolve(BEFORE, promotions=(PROMOTION, OTHER)),
    ),
    (
        PromotionFailed(variable="x", artifact_id="x@1", error="NameError"),
        {
            **warned("x@1 was not promoted: NameError"),
            **behavior(
                promotions=(OTHER,),
                errors=(ActionProblem(action_id="promote:x@1", action="promote", error="NameError"),),
            ),
            "promotions": (OTHER,),
        },
        evolve(BEFORE, promotions=(PROMOTION, OTHER)),
    ),
    (
        PlanUpdateDecided(confirmed=True),
        {
            "proposals": (),
            "decisions": ...,
            "plan": ...,
            "planner_context": PlannerContext(section_progress=SectionProgress(all=("intro",))),
        },
        BEFORE,
    ),
    (PlanUpdateDecided(confirmed=False), {"proposals": (), "decisions": ...}, BEFORE),
    (PlanUpdateDecided(confirmed=False, by="policy"), {"proposals": (), "decisions": ...}, BEFORE),
    (
        ProposalDropped(reason="too late"),
        {**warned("a change of the plan was dropped: too late"), "proposals": ()},
        BEFORE,
    ),
    (
        KernelStarted(name="ir", display_name="R", language="R", language_version="4", session="s-2"),
        kernel(
            up=False,
            known=False,
            count=0,
            session="s-2",
            name="ir",
            display_name="R",
            language="R",
            language_version="4",
        )
        | REBUILDING,
        BEFORE,
    ),
    (
        KernelStarted(name="python3", display_name="Python", session="s-2"),
        {"kernel": KernelState(up=True, known=True, started=True, session="s-2", display_name="Python")},
        evolve(BEFORE, kernel=KernelState()),
    ),
    (
        KernelAttached(name="python3", session="s-3"),
        kernel(session="s-3"),
        evolve(BEFORE, kernel=dataclasses.replace(KERNEL, up=False, known=False)),
    ),
    (KernelAbandoned(session="s-1", reason="gone", ended=True), kernel(known=False, session=""), BEFORE),
    (KernelAbandoned(session="s-1", reason="silent"), kernel(known=False), BEFORE),
    (
        CellRerun(cell_id="code", index=1, of=1, success=True, same_outputs=False, difference="other"),
        REBUILDING,
        BEFORE,
    ),
    (
        CellRerun(cell_id="code", index=1, of=1, success=False, same_outputs=False, difference="no file"),
        kernel(
            blocked="cell 'code' had succeeded and fails now, so the kernel's state cannot be rebuilt: no file. "
            "Put back what it needs and resume, or resume with --accept-differences"
        )
        | REBUILDING,
        BEFORE,
    ),
    (
        KernelRebuilt(cells=1, variables={"x": 2}, execution_count=1),
        kernel(variables={"x": 2}, reproducible={"x": 2}, count=1) | REBUILDING,
        evolve(BEFORE, kernel=dataclasses.replace(KERNEL, up=False, known=False, blocked="why")),
    ),
    (
        KernelRebuilt(cells=1, differences=("cell code: other",), variables={}, execution_count=1),
        {
            **REBUILDING,
            **kernel(variables={}, reproducible={}, count=1, differences=("cell code: other",)),
            **warned("the kernel was rebuilt with differences:\ncell code: other"),
            "behaviors": LevelState(outputs=OutputTracking(expected=("x", "y"))),
        },
        BEFORE,
    ),
    (KernelLost(cause="killed"), kernel(up=False, known=False, losses=1), BEFORE),
    (CHECKPOINT, {"checkpoints": CheckpointState(saved=(CHECKPOINT,), tried=3, spent=0.5, expected=0.5)}, BEFORE),
    (
        CheckpointSkipped(cells=4, reason="no cloudpickle", never=True, seconds=0.5),
        {"checkpoints": CheckpointState(tried=4, spent=0.5, expected=1.0, off="no cloudpickle")},
        BEFORE,
    ),
    (CheckpointLoaded(file="3.checkpoint", cells=3, of=4), {"elapsed_before": elapsed_without(BEFORE, AT)}, BEFORE),
    (CheckpointRejected(file="3.checkpoint", reason="x"), {"elapsed_before": elapsed_without(BEFORE, AT)}, BEFORE),
    (OnceBegun(action_id="a-1", cell_id="send"), kernel(once_begun="a-1"), BEFORE),
    (CommandTaken(seq=5, command="pause"), {"commands_seen": 5, "pause": True}, BEFORE),
    (CommandTaken(seq=3, command="confirm"), {}, BEFORE),
    (CommandTaken(seq=0, command="pause"), {"pause": True}, BEFORE),
    (CommandTaken(seq=6, command="cancel"), {"commands_seen": 6}, evolve(BEFORE, pause=True)),
]


@pytest.mark.parametrize(
    ("record", "changed", "before"), TABLE, ids=[f"{n}-{record.kind}" for n, (record, _, _) in enumerate(TABLE)]
)
def test_what_a_record_changes_and_what_it_does_not(record: Record, changed: Changed, before: RunState) -> None:
    after = reduce(before, Entry(10, AT, record))
    assert (after.seq, after.at) == (10, AT)
    names = [one.name for one in dataclasses.fields(RunState) if one.name not in ("seq", "at")]
    found = {name: getattr(after, name) for name in names if getattr(after, name) != getattr(before, name)}
    # What is `...` in the table changes, and is looked at in a test of its own.
    expected = {name: value for name, value in changed.items() if value is ... or value != getattr(before, name)}
    assert {name: ... if expected.get(name) is ... else value for name, value in found.items()} == expected


def test_the_table_has_every_kind_of_record() -> None:
    assert {type(record) for record, _, _ in TABLE} == set(RECORD_TYPES)


def after(record: Record, before: RunState = BEFORE) -> RunState:
    return reduce(before, Entry(before.seq + 1, AT, record))


def test_a_promotion_adds_its_cell_and_leaves_the_last_cell_to_the_planner() -> None:
    cell = CellChange(cell_id="artifact", added=CellType.CODE, source="x_1 = x")
    document = after(ArtifactPromoted(artifact=ARTIFACT, cell=cell)).document
    assert [one.id for one in document.cells] == ["code", "artifact"]
    assert document.last_code_id == "code"
    assert after(ArtifactPromoted(artifact=ARTIFACT, cell=cell)).kernel.count == 4


def test_a_confirmed_plan_keeps_the_steps_that_it_does_not_name() -> None:
    proposal = PlanProposal(workflow=Workflow.parse({"stages": [{"id": "one"}, {"id": "two"}]}))
    plan = after(PlanUpdateDecided(confirmed=True), evolve(BEFORE, proposals=(proposal,))).plan
    assert plan is not None
    assert [(stage.id, [step.id for step in stage.steps]) for stage in plan.stages] == [("one", ["a"]), ("two", [])]


@pytest.mark.parametrize(
    ("restart", "fsm", "before", "recover"),
    [
        ("behavior", State.ERROR, "", "behavior"),
        ("behavior", State.STEP_RUNNING, "", ""),
        ("behavior", State.STEP_RUNNING, "behavior", "behavior"),
        ("behavior", State.STEP_RUNNING, "workflow", ""),
        ("workflow", State.ERROR, "", "workflow"),
        ("reset", State.STEP_RUNNING, "", "reset"),
    ],
)
def test_what_a_resume_chooses(restart: Any, fsm: State, before: str, recover: str) -> None:
    state = evolve(BEFORE, machine=Machine(fsm), recover=before)
    assert after(RunResumed(restart=restart), state).recover == recover


@pytest.mark.parametrize(
    ("change", "asked_again"),
    [
        (lambda state: state, False),
        (lambda state: evolve(state, fault="unusable"), True),
        (lambda state: evolve(state, plan=None), True),
        (
            lambda state: evolve(
                state,
                verdict=ANSWER.model_copy(
                    update={"response": PlanningResponse.parse({"metadata": {"question": {"text": "?"}}})}
                ),
            ),
            True,
        ),
    ],
)
def test_an_answer_that_could_not_be_used_is_asked_for_again(
    change: Callable[[RunState], RunState], asked_again: bool
) -> None:
    state = change(evolve(BEFORE, verdict=ANSWER))
    assert (after(RunResumed(), state).verdict is None) is asked_again


def test_an_action_is_due_from_a_resume_until_one_is_completed() -> None:
    resumed = after(RunResumed(), BEFORE)
    assert resumed.action_due
    done = ActionCompleted(action_id="a", action="add", success=True)
    assert not after(done, resumed).action_due


def test_a_resume_may_choose_another_kernel_in_either_form() -> None:
    there = JupyterServerKernelSpec(url="http://127.0.0.1:18600", name=BEFORE.kernel_spec.name)
    assert after(RunResumed(kernel_spec=there)).kernel_spec == there
    assert after(RunResumed(kernel_url=there.url)).kernel_spec == there
    assert after(RunResumed()).kernel_spec == BEFORE.kernel_spec


def test_a_cell_counts_as_run_where_its_action_succeeded_or_lists_it() -> None:
    def ran(**said: Any) -> tuple[str, ...]:
        return ActionCompleted(action_id="a", action="exec", **said).succeeded_cells

    assert ran(success=True, executed="x") == ("x",)
    assert ran(success=False, executed="x") == ()
    assert ran(success=True) == ()
    assert ran(success=False, executed="x", ran=("y", "x")) == ("y", "x")


def test_inputs_join_those_that_are_known() -> None:
    context = PlannerContext(variables={"inputs": {"data": "d.csv"}, "other": 1})
    state = after(RunResumed(inputs={"target": "y"}), evolve(BEFORE, planner_context=context))
    assert state.planner_context.variables == {"inputs": {"data": "d.csv", "target": "y"}, "other": 1}
    assert state.given_variables == {"inputs": {"target": "y"}}


def test_a_stop_leaves_a_kernel_that_was_not_taken_up_as_it_was() -> None:
    state = evolve(BEFORE, kernel=dataclasses.replace(KERNEL, up=False), pause=True, recover="behavior")
    stopped = after(RunStopped(reason="interrupted"), state)
    assert stopped.kernel.known
    assert (stopped.pause, stopped.recover) == (False, "")


def test_the_newest_effects_errors_and_summaries_are_kept() -> None:
    state = BEFORE
    for number in range(EFFECTS_KEPT + 5):
        state = after(Warned(message=str(number)), state)
    assert len(state.effects) == EFFECTS_KEPT
    assert state.effects[-1] == f"WARN: {EFFECTS_KEPT + 4}"
    assert state.effects_history[0] == "printed"
    assert len(state.effects_history) == 6
    for number in range(TAKEN_KEPT + 5):
        done = ActionCompleted(
            action_id=str(number), action="add", success=False, error="e", summary=str(number), finding=str(number)
        )
        state = after(done, state)
    assert state.behavior.taken == tuple(str(number) for number in range(5, TAKEN_KEPT + 5))
    assert state.behavior.findings == state.behavior.taken
    assert [one.action_id for one in state.behavior.errors] == list(state.behavior.taken)


def test_a_behavior_that_was_aborted_stays_so() -> None:
    failed = ActionCompleted(action_id="1", action="exec", success=False, error="e")
    state = after(failed, evolve(BEFORE, policies=Policies(on_error="feedback")))
    assert state.behavior.aborted
    again = after(failed, evolve(state, policies=Policies(on_error="continue")))
    assert again.behavior.aborted


def test_what_an_action_says_beside_its_work_is_no_section_unless_it_says_so() -> None:
    done = ActionCompleted(action_id="1", action="add", success=True, metadata=ActionMetadata(section_id="s1"))
    state = after(done)
    assert state.behavior.sections == BEFORE.behavior.sections
    assert state.planner_context.section_progress == BEFORE.planner_context.section_progress


def test_a_resume_may_choose_another_sandbox() -> None:
    sandbox = confined_by("landlock", network=True)
    assert sandbox != BEFORE.sandbox_spec
    assert after(RunResumed(sandbox_spec=sandbox)).sandbox_spec == sandbox
    assert after(RunResumed()).sandbox_spec == BEFORE.sandbox_spec


def test_sections_follow_one_another() -> None:
    state = BEFORE
    for number in (1, 2, 3):
        metadata = ActionMetadata(is_section=True, section_id=f"s{number}", section_number=number)
        done = ActionCompleted(action_id=str(number), action="new_section", success=True, metadata=metadata)
        state = after(done, state)
    assert state.planner_context.section_progress == SectionProgress(
        current_section_id="s3", current_section_number=3, completed_sections=("s1", "s2")
    )
    assert state.behavior.sections == 3


def test_a_cell_is_added_with_all_that_is_said_of_it_also_at_the_top() -> None:
    added = CellChange(
        cell_id="title",
        added=CellType.MARKDOWN,
        source="# T",
        outputs=({"output_type": "stream"},),
        execution_count=2,
        metadata={"m": 1},
        first=True,
    )
    bare = CellChange(cell_id="bare", added=CellType.CODE)
    state = after(ActionCompleted(action_id="1", action="update_title", success=True, cells=(added, bare)))
    assert [one.id for one in state.document.cells] == ["title", "code", "bare"]
    assert state.document.cell("title") == Cell(
        id="title",
        type=CellType.MARKDOWN,
        source="# T",
        outputs=({"output_type": "stream"},),
        execution_count=2,
        metadata={"m": 1},
    )
    assert (state.document.cell("bare").source, state.document.cell("bare").outputs) == ("", ())
    changed = CellChange(cell_id="bare", source="y = 2", outputs=(), execution_count=3, metadata={"n": 2})
    state = after(ActionCompleted(action_id="2", action="exec", success=True, cells=(changed,)), state)
    bare_now = state.document.cell("bare")
    assert (bare_now.source, bare_now.execution_count, bare_now.metadata) == ("y = 2", 3, {"n": 2})


def test_variables_of_a_failed_cell_are_lost_with_the_kernel() -> None:
    failed = ActionCompleted(
        action_id="1", action="exec", success=False, error="e", executed="code", variables={"z": 3}
    )
    state = after(failed)
    assert (state.kernel.variables, state.kernel.reproducible) == ({"x": 1, "z": 3}, {"x": 1})
    assert len(state.kernel.steps) == 1
    assert after(KernelLost(cause="killed"), state).kernel.variables == {"x": 1}


def test_the_fold_is_the_records_one_by_one() -> None:
    records: list[Record] = [STARTED, Warned(message="a"), ASKED]
    entries = [Entry(seq, AT, record) for seq, record in enumerate(records, start=1)]
    one_by_one = RunState()
    for entry in entries:
        one_by_one = reduce(one_by_one, entry)
    assert fold(entries) == fold(entries[1:], fold(entries[:1])) == one_by_one
    assert fold([]) == RunState()


def test_the_digest_tells_one_order_of_actions_from_another() -> None:
    assert action_digest(action_digest(0, b"a"), b"b") != action_digest(action_digest(0, b"b"), b"a")
    assert action_digest(0, b"a") != action_digest(1, b"a")
