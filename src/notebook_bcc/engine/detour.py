"""Where a proposed change of the plan is decided when no action follows that could carry it. Pure.

The table knows such a change only between two actions. So the run goes, by the table's own rows, into one behavior
whose only action is the change, and comes back to the judgement that was waiting. Nobody is asked for anything else.
"""

from __future__ import annotations

from notebook_bcc.engine.changes import evolve
from notebook_bcc.engine.intents import DropProposal, Fire, Intent
from notebook_bcc.engine.plan_changes import applied, changes_nothing, proposal_problem
from notebook_bcc.engine.state import LevelState, Position, RunState
from notebook_bcc.fsm.machine import next_state
from notebook_bcc.journal.records import ProposalDropped, Transitioned
from notebook_bcc.protocol.vocabulary import Event, State

# What waits goes on waiting in the error state: a resumed run decides it at its first action.
_KEEPS = frozenset({Event.FAIL, Event.UPDATE_STEP_REJECTED})


def decided_first(state: RunState, intent: Intent) -> Intent:
    """The intent of a judgement, or the beginning of a detour where a proposal would be lost by it."""
    if not state.proposals or not isinstance(intent, Fire):
        return intent
    match state.fsm:
        case State.BEHAVIOR_COMPLETED if intent.event is not Event.NEXT_BEHAVIOR:
            return Fire(Event.NEXT_BEHAVIOR, detour=True)
        case State.STEP_COMPLETED if intent.event is not Event.NEXT_STEP or not _fits_after(state, intent):
            return Fire(Event.NEXT_STEP, step_id=state.position.step_id, detour=True)
        case State.STAGE_COMPLETED if intent.event is not Event.NEXT_STAGE or not _fits_after(state, intent):
            if state.stage is None or not state.stage.steps:
                return DropProposal(f"stage {state.position.stage_id!r} has no step in which it could be decided")
            return Fire(Event.NEXT_STAGE, stage_id=state.position.stage_id, detour=True)
    return intent


def on_the_way(state: RunState) -> Intent | None:
    """The next move of a detour; None where the state itself decides: at the proposal, and after an error."""
    match state.fsm:
        case State.STAGE_RUNNING:
            return Fire(Event.START_STEP, step_id=_last_step(state))
        case State.STEP_RUNNING:
            return Fire(Event.START_BEHAVIOR)
        case State.BEHAVIOR_RUNNING:
            # After a rejection that ended in error the behavior begins again, with nothing left to decide.
            return Fire(Event.START_ACTION if state.proposals else Event.COMPLETE_BEHAVIOR)
        case State.ACTION_COMPLETED:
            return Fire(Event.COMPLETE_BEHAVIOR)
        case State.BEHAVIOR_COMPLETED:
            return Fire(Event.COMPLETE_STEP)
        case State.STEP_COMPLETED:
            added = added_steps(state)
            return Fire(Event.NEXT_STEP, step_id=added[0]) if added else Fire(Event.COMPLETE_STAGE)
    return None


def added_steps(state: RunState) -> tuple[str, ...]:
    """Steps of the stage that were confirmed on the detour: they are to be done whatever was judged before."""
    if state.detour is None:
        return ()
    return tuple(one for one in state.remaining_steps if (state.position.stage_id, one) not in state.detour.known)


def added_stages(state: RunState) -> tuple[str, ...]:
    """Stages that were confirmed on the detour."""
    if state.detour is None:
        return ()
    return tuple(one for one in state.remaining_stages if (one, None) not in state.detour.known)


def transition_of(state: RunState, intent: Fire, *, reward: float = 0.0) -> Transitioned:
    """The record of a move. Raises ValueError where the table has no such row."""
    to = next_state(state.fsm, intent.event)
    if to is None:
        raise ValueError(f"{intent.event.value} is not allowed in {state.fsm.value}")
    return Transitioned(
        source=state.fsm,
        event=intent.event,
        to=to,
        reward=reward,
        reason=intent.reason,
        stage_id=intent.stage_id,
        step_id=intent.step_id,
        detour=intent.detour,
        proposals_kept=bool(state.proposals) and intent.event in _KEEPS,
    )


def given_up(state: RunState, event: Event) -> tuple[ProposalDropped, ...]:
    """What has to be said of proposals that wait when the event ends all that was under way."""
    anew = event is Event.RESET or (event is Event.START_WORKFLOW and state.recover == "workflow")
    if event is not Event.CANCEL and not anew:
        return ()
    why = "the run starts anew" if anew else "the run was cancelled"
    return tuple(ProposalDropped(reason=f"{why} before it was decided") for _ in state.proposals)


def _fits_after(state: RunState, move: Fire) -> bool:
    """Whether what is proposed can still be applied at the first action after the move."""
    if move.event is Event.NEXT_STEP:
        state = evolve(state, position=Position(stage_id=state.position.stage_id, step_id=move.step_id))
    else:
        stage = state.plan.stage(move.stage_id or "") if state.plan is not None else None
        wanted = state.target[1] if state.target is not None else None
        first = stage.steps[0].id if stage is not None and stage.steps else None
        state = evolve(state, position=Position(stage_id=move.stage_id, step_id=wanted or first), steps=LevelState())
    for proposal in state.proposals:
        if changes_nothing(state.plan, proposal):
            continue
        if proposal_problem(state, proposal):
            return False
        state = evolve(state, plan=applied(state.plan, proposal))
    return True


def _last_step(state: RunState) -> str | None:
    """The step that was completed last, or the last one of a stage that was completed without its steps."""
    if state.stage is None:
        return None
    ids = [step.id for step in state.stage.steps]
    done = [item.key for item in state.steps.completed if item.key in ids]
    return (done or ids)[-1]
