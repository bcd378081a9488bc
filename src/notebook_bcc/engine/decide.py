"""Choose the one thing to do next. Pure: looks at the state, waits for nobody, changes nothing."""

from __future__ import annotations

from notebook_bcc.engine.attempts import repeated
from notebook_bcc.engine.detour import added_stages, added_steps, decided_first, on_the_way
from notebook_bcc.engine.due import lacks_names, once_again, once_due, source_due
from notebook_bcc.engine.intents import (
    AskPerson,
    AskPlanning,
    DropProposal,
    ExecuteAction,
    Fire,
    Intent,
    OpenStream,
    Promote,
    Refuse,
    StartKernel,
    Stop,
    TakeAction,
    TakeOver,
    Withdraw,
)
from notebook_bcc.engine.plan_changes import proposal_problem
from notebook_bcc.engine.state import RunState, elapsed
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.records import ActionReceived, Purpose
from notebook_bcc.notebook.counting import Count
from notebook_bcc.protocol.actions import WITHOUT_KERNEL, action_name
from notebook_bcc.protocol.limits import LimitReached, Limits, budget_of, limit_reached
from notebook_bcc.protocol.messages import PlanningResponse
from notebook_bcc.protocol.vocabulary import Event, State

_AT_REST = frozenset({State.IDLE, State.ERROR, State.CANCELLED, State.WORKFLOW_COMPLETED})


def decide(state: RunState) -> Intent:
    """The next intent. Never raises: a state that cannot go on is a Stop or a FAIL with its reason."""
    if state.fault:
        return _fail(state, state.fault)
    if state.pause and state.fsm not in (State.ACTION_RUNNING, State.CANCELLED):
        return Stop("paused", "paused on request")
    if state.promotions and state.fsm not in _AT_REST:
        return Promote(state.promotions[0]) if _is_ready(state) else _kernel(state)
    if state.question is not None:
        return Stop("waiting", state.question.text)
    reached = _limit_reached(state)
    if reached:
        return Stop("limit", reached)
    intent = (on_the_way(state) if state.on_detour else None) or _BY_STATE[state.fsm](state)
    if isinstance(intent, OpenStream):
        # Judging goes by evidence and may cost nothing; what a model has to write it is not asked for any more.
        spent_up = budget_reached(state)
        if spent_up is not None:
            return Stop("limit", f"{spent_up} (--budget-{spent_up.kind})")
    return intent


def budget_reached(state: RunState) -> LimitReached | None:
    """The budget that language models have used up."""
    return limit_reached(state.spent, budget_of(state.limits))


def _limit_reached(state: RunState) -> str:
    limits = state.limits
    if state.fsm in _AT_REST:
        return ""
    if limits.actions and state.actions_completed >= limits.actions and state.fsm is State.ACTION_COMPLETED:
        return f"the limit of {Count(limits.actions):action|actions} is reached (MAX_EXECUTION_STEPS, --max-actions)"
    # A resume that stops before its first action would stop there for ever.
    if limits.run_seconds and not state.action_due and elapsed(state) >= limits.run_seconds:
        return time_is_up(limits)
    return ""


def time_is_up(limits: Limits) -> str:
    """What a run says that has had its seconds."""
    return f"the time limit of {round(limits.run_seconds, 1):g} seconds is reached (--max-seconds)"


def _fail(state: RunState, reason: str) -> Intent:
    """FAIL where the table has it; elsewhere the state stays and the run stops as interrupted."""
    if next_state(state.fsm, Event.FAIL) is None:
        return Stop("interrupted", reason)
    return Fire(Event.FAIL, reason=reason)


def _idle(state: RunState) -> Intent:
    verdict = _verdict(state, "start")
    if verdict is None:
        return AskPlanning("start")
    if state.plan is None:
        return Stop("interrupted", "the planner brought no plan, and the run was not given one")
    wanted = state.target[0] if state.target is not None else None
    return Fire(Event.START_WORKFLOW, stage_id=wanted or state.plan.stages[0].id)


def _stage_running(state: RunState) -> Intent:
    verdict = _verdict(state, "stage")
    if verdict is None:
        return AskPlanning("stage")
    stage = state.stage
    if stage is None:
        return _fail(state, f"stage {state.position.stage_id!r} is not in the plan")
    if verdict.target_achieved:
        return Fire(Event.COMPLETE_STAGE)
    wanted = _wanted_step(state)
    if wanted:
        return Fire(Event.START_STEP, step_id=wanted)
    remaining = state.remaining_steps
    if remaining:
        return Fire(Event.START_STEP, step_id=remaining[0])
    if not stage.steps:
        return _fail(state, f"stage {stage.id!r} has no steps, and the planner brought none")
    return Fire(Event.COMPLETE_STAGE)


def _step_running(state: RunState) -> Intent:
    verdict = _verdict(state, "step")
    if verdict is None:
        return AskPlanning("step")
    if verdict.target_achieved:
        return Fire(Event.COMPLETE_STEP, reason="target achieved")
    return _start_behavior(state, Event.START_BEHAVIOR)


def _start_behavior(state: RunState, event: Event) -> Intent:
    limit = state.limits.behaviors_per_step
    if limit and state.position.iteration >= limit:
        had = f"{Count(limit):behavior|behaviors}, the most allowed (--max-behaviors)"
        return Stop("limit", f"step {state.position.step_id!r} has had {had}")
    return Fire(event)


def _behavior_running(state: RunState) -> Intent:
    behavior = state.behavior
    if behavior.queue:
        return TakeAction()
    if behavior.out_of_budget:
        return Stop("limit", behavior.out_of_budget)
    if behavior.failure:
        return _fail(state, behavior.failure)
    if behavior.ended:
        return _end_behavior(state)
    if not behavior.stream_open:
        if not state.kernel.up and state.filter is not None and state.filter.variables_to_summarize:
            return _kernel(state)
        return OpenStream(skip=behavior.received)
    return TakeAction()


def _action_running(state: RunState) -> Intent:
    current = state.behavior.current
    if current is None:
        # The action is done and a change of the plan waits for its place in the table.
        return _propose(state)
    limit = state.limits.actions_per_behavior
    if limit and current.index >= limit:
        had = f"{Count(limit):action|actions}, the most allowed (--max-actions-per-behavior)"
        return Stop("limit", f"behavior {state.position.behavior_id!r} has had {had}")
    if state.behavior.former_left:
        return Withdraw() if repeated(state) is None else TakeOver()
    if (again := _executed_once(state, current)) is not None:
        return again
    if not _is_ready(state) and action_name(current.action) not in WITHOUT_KERNEL:
        return _kernel(state)
    return ExecuteAction()


def _executed_once(state: RunState, current: ActionReceived) -> Stop | None:
    """The stop before a cell marked `once` that has been executed, or may have been, unless a person allows it."""
    kernel, cell = state.kernel, once_due(state)
    if not cell or cell in kernel.run_once:
        return None
    if kernel.once_begun == current.action_id:
        # Whether it has ended is found out by taking up the kernel that runs it.
        return Stop("interrupted", once_again(cell, "was under way when the run stopped")) if _is_ready(state) else None
    if source_due(state) in kernel.once_done:
        return Stop("interrupted", once_again(cell, "had been executed before the error"))
    return None


def _is_ready(state: RunState) -> bool:
    """Whether there is a kernel, with all that is used next."""
    return state.kernel.up and not lacks_names(state)


def _propose(state: RunState) -> Intent:
    if not state.proposals:
        return Fire(Event.COMPLETE_ACTION)
    proposal = state.proposals[0]
    problem = proposal_problem(state, proposal)
    if problem:
        return DropProposal(problem)
    return Fire(Event.UPDATE_WORKFLOW if proposal.workflow is not None else Event.UPDATE_STEP)


def _action_completed(state: RunState) -> Intent:
    behavior = state.behavior
    if behavior.queue and behavior.fire is None and not behavior.aborted:
        return TakeAction()
    if behavior.out_of_budget:
        return Stop("limit", behavior.out_of_budget)
    if behavior.failure:
        return _fail(state, behavior.failure)
    if behavior.fire is not None:
        return _asked_event(state, behavior.fire)
    if behavior.ended or behavior.aborted:
        return _end_behavior(state)
    if not behavior.stream_open:
        return OpenStream(skip=behavior.received)
    return TakeAction()


def _asked_event(state: RunState, event: Event) -> Intent:
    """What a next_event action asked for, once its own action is completed."""
    if event is Event.COMPLETE_BEHAVIOR:
        return _end_behavior(state)
    if event is Event.FAIL:
        return Fire(event, reason="asked for by a next_event action")
    if event is Event.CANCEL:
        return Fire(event, reason="asked for by a next_event action")
    return Refuse(event.value, f"a next_event action cannot fire {event.value} in {state.fsm.value}")


def _end_behavior(state: RunState) -> Intent:
    if state.behavior.former_left:
        return Withdraw()
    if state.behavior.promotions:
        return Promote(state.behavior.promotions[0]) if _is_ready(state) else _kernel(state)
    return Fire(Event.COMPLETE_BEHAVIOR)


def _behavior_completed(state: RunState) -> Intent:
    verdict = _verdict(state, "feedback")
    if verdict is None:
        return AskPlanning("feedback")
    return decided_first(state, _after_behavior(state, verdict))


def _after_behavior(state: RunState, verdict: PlanningResponse) -> Intent:
    if state.behavior.end_phase:
        return Fire(Event.COMPLETE_STEP, reason="end_phase")
    if verdict.transition.continue_behaviors:
        return _start_behavior(state, Event.NEXT_BEHAVIOR)
    if verdict.target_achieved:
        return Fire(Event.COMPLETE_STEP, reason="target achieved")
    if state.target is not None:
        return Fire(Event.COMPLETE_STEP, reason="the planner moves on")
    if state.policies.on_unachieved == "skip":
        return Fire(Event.COMPLETE_STEP, reason="not achieved, skipped")
    return _fail(state, f"step {state.position.step_id!r} ended without its goal: {_why_unachieved(state, verdict)}")


def _why_unachieved(state: RunState, verdict: PlanningResponse) -> str:
    if verdict.metadata.reason:
        return verdict.metadata.reason
    missing = ", ".join(state.behavior.missing)
    return "the planner neither continues nor is done" + (f"; missing outputs: {missing}" if missing else "")


def _step_completed(state: RunState) -> Intent:
    verdict = _verdict(state, "step_end")
    if verdict is None:
        return AskPlanning("step_end")
    return decided_first(state, _after_step(state, verdict))


def _after_step(state: RunState, verdict: PlanningResponse) -> Intent:
    if state.target is not None:
        wanted = _wanted_step(state)
        return Fire(Event.NEXT_STEP, step_id=wanted) if wanted else Fire(Event.COMPLETE_STAGE)
    remaining = state.remaining_steps
    if verdict.target_achieved and (added := added_steps(state)):
        return Fire(Event.NEXT_STEP, step_id=added[0])
    if verdict.target_achieved or not remaining:
        return Fire(Event.COMPLETE_STAGE)
    return Fire(Event.NEXT_STEP, step_id=remaining[0])


def _stage_completed(state: RunState) -> Intent:
    verdict = _verdict(state, "stage_end")
    if verdict is None:
        return AskPlanning("stage_end")
    return decided_first(state, _after_stage(state, verdict))


def _after_stage(state: RunState, verdict: PlanningResponse) -> Intent:
    if state.target is not None and state.target[0] is not None:
        return Fire(Event.NEXT_STAGE, stage_id=state.target[0])
    remaining = state.remaining_stages
    if verdict.target_achieved and (added := added_stages(state)):
        return Fire(Event.NEXT_STAGE, stage_id=added[0])
    if verdict.target_achieved or not remaining:
        return Fire(Event.COMPLETE_WORKFLOW)
    return Fire(Event.NEXT_STAGE, stage_id=remaining[0])


def _update_pending(state: RunState) -> Intent:
    return AskPerson(state.proposals[0])


def _workflow_completed(state: RunState) -> Intent:
    return Fire(Event.RESET) if state.recover == "reset" else Stop("completed")


def _error(state: RunState) -> Intent:
    match state.recover:
        case "reset":
            return Fire(Event.RESET)
        case "workflow" if state.plan is not None:
            return Fire(Event.START_WORKFLOW, stage_id=state.plan.stages[0].id)
        case "behavior" if state.step is not None:
            return Fire(Event.START_BEHAVIOR)
        case "behavior" if state.remaining_steps:
            return Fire(Event.START_BEHAVIOR, step_id=state.remaining_steps[0])
        case "behavior" if state.plan is not None:
            return Fire(Event.START_WORKFLOW, stage_id=state.position.stage_id or state.plan.stages[0].id)
    return Stop("failed", state.failure_reason)


def _cancelled(state: RunState) -> Intent:
    if state.recover == "reset":
        return Fire(Event.RESET)
    return Stop("cancelled", state.failure_reason)


def _kernel(state: RunState) -> Intent:
    """A kernel is needed. One that keeps dying, or cannot be rebuilt, is a failure and not a loop."""
    limit = state.limits.kernel_restarts
    if limit and state.kernel.losses > limit:
        return _fail(state, f"the kernel died {state.kernel.losses} times; the limit is {limit}")
    if state.kernel.blocked and not state.kernel.accept_differences:
        return Stop("interrupted", state.kernel.blocked)
    return StartKernel()


def _verdict(state: RunState, purpose: Purpose) -> PlanningResponse | None:
    verdict = state.verdict
    return verdict.response if verdict is not None and verdict.purpose == purpose else None


def _wanted_step(state: RunState) -> str | None:
    """The step a server-controlled transition names, if it lies in the current stage."""
    if state.target is None:
        return None
    stage_id, step_id = state.target
    return step_id if stage_id in (None, state.position.stage_id) else None


_BY_STATE = {
    State.IDLE: _idle,
    State.STAGE_RUNNING: _stage_running,
    State.STEP_RUNNING: _step_running,
    State.BEHAVIOR_RUNNING: _behavior_running,
    State.ACTION_RUNNING: _action_running,
    State.ACTION_COMPLETED: _action_completed,
    State.BEHAVIOR_COMPLETED: _behavior_completed,
    State.STEP_COMPLETED: _step_completed,
    State.STAGE_COMPLETED: _stage_completed,
    State.WORKFLOW_COMPLETED: _workflow_completed,
    State.ERROR: _error,
    State.CANCELLED: _cancelled,
    State.WORKFLOW_UPDATE_PENDING: _update_pending,
    State.STEP_UPDATE_PENDING: _update_pending,
}
