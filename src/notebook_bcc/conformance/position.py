"""Where the kit's own run is and what it would show of itself: a client without a kernel, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from notebook_bcc.fsm.machine import next_state
from notebook_bcc.protocol.messages import ContextFilter, ContextUpdate, PlanningResponse, ProgressUpdate
from notebook_bcc.protocol.observation import (
    Context,
    Current,
    FsmView,
    Goals,
    LevelProgress,
    Location,
    NotebookView,
    Observation,
    Progress,
)
from notebook_bcc.protocol.tracking import CompletedItem, OutputsProduced, OutputTracking
from notebook_bcc.protocol.vocabulary import Event, Level, State, TodoOperation
from notebook_bcc.protocol.workflow import Stage, Step, Workflow

PLAYED = "played by nbcc conform, not computed"
_HISTORY = 20


@dataclass(frozen=True, slots=True)
class Position:
    """One moment of the run. Promised variables exist once their behavior was played: the kit has no kernel."""

    goal: str
    plan: Workflow | None = None
    state: State = State.IDLE
    stage_id: str | None = None
    step_id: str | None = None
    behavior_id: str | None = None
    iteration: int = 0
    stages_done: tuple[CompletedItem, ...] = ()
    steps_done: tuple[CompletedItem, ...] = ()
    behaviors_done: tuple[CompletedItem, ...] = ()
    promised: tuple[str, ...] = ()
    produced: tuple[str, ...] = ()
    variables: Mapping[str, Any] = field(default_factory=dict)  # Any: a planner may set variables of any JSON type
    focus: Mapping[Level, str] = field(default_factory=dict)
    todo: tuple[str, ...] = ()
    filter: ContextFilter | None = None
    cells: int = 0
    moves: tuple[Mapping[str, str], ...] = ()

    @property
    def stage(self) -> Stage | None:
        return self.plan.stage(self.stage_id) if self.plan is not None and self.stage_id is not None else None

    @property
    def step(self) -> Step | None:
        return self.stage.step(self.step_id) if self.stage is not None and self.step_id is not None else None

    @property
    def remaining_stages(self) -> tuple[str, ...]:
        done = {item.stage_id for item in self.stages_done} | {self.stage_id}
        return tuple(each.id for each in self.plan.stages if each.id not in done) if self.plan is not None else ()

    @property
    def remaining_steps(self) -> tuple[str, ...]:
        done = {item.step_id for item in self.steps_done} | {self.step_id}
        return tuple(each.id for each in self.stage.steps if each.id not in done) if self.stage is not None else ()

    def fired(self, event: Event, *, at: str) -> Position:
        """The state after the event, recorded. The kit fires only what the table has."""
        to = next_state(self.state, event)
        if to is None:
            raise ValueError(f"{event.value} is not allowed in {self.state.value}")
        move = {"from": self.state.value, "event": event.value, "to": to.value, "timestamp": at}
        return replace(self, state=to, moves=(*self.moves, move)[-_HISTORY:])

    def in_stage(self, stage_id: str) -> Position:
        bare = replace(self, stage_id=stage_id, step_id=None, behavior_id=None, iteration=0, focus={})
        return replace(bare, steps_done=(), behaviors_done=(), promised=(), produced=())

    def in_step(self, step_id: str) -> Position:
        moved = replace(self, step_id=step_id, behavior_id=None, iteration=0, behaviors_done=(), produced=())
        return replace(moved, promised=moved.step.expected_outputs if moved.step is not None else ())

    def in_behavior(self, name: str | None) -> Position:
        iteration = self.iteration + 1
        return replace(self, iteration=iteration, behavior_id=name or f"behavior_{iteration:03}", produced=())

    def behavior_played(self, *, actions: tuple[str, ...], cells: int) -> Position:
        """Played as succeeded: what was promised exists from now on."""
        produced = tuple(dict.fromkeys(self.promised))
        item = CompletedItem(
            behavior_id=self.behavior_id, actions_taken=actions, outputs_produced=OutputsProduced(variables=produced)
        )
        made = {name: self.variables.get(name, PLAYED) for name in produced}
        return replace(
            self,
            behaviors_done=(*self.behaviors_done, item),
            produced=produced,
            variables={**self.variables, **made},
            filter=None,
            cells=cells,
        )

    def step_completed(self) -> Position:
        produced = OutputsProduced(variables=self.produced)
        goal = self.step.purpose if self.step is not None else ""
        item = CompletedItem(step_id=self.step_id, goal=goal, outputs_produced=produced)
        return replace(self, steps_done=(*self.steps_done, item))

    def stage_completed(self) -> Position:
        names = tuple(name for item in self.steps_done for name in item.outputs_produced.variables)
        item = CompletedItem(stage_id=self.stage_id, outputs_produced=OutputsProduced(variables=names))
        return replace(self, stages_done=(*self.stages_done, item))

    def told(self, answer: PlanningResponse) -> Position:
        """What the planner wants the client to know from now on, but for changes of the plan."""
        update = answer.context_update
        told = replace(self, variables={**self.variables, **update.variables}, todo=_todo(self.todo, update))
        for change in update.progress_updates:
            told = told._progressed(change)
        spec = answer.context_filter.outputs_tracking if answer.context_filter is not None else None
        if spec is not None:
            artifacts = tuple(promotion.variable_name for promotion in spec.promotions)
            told = replace(told, promised=(*told.promised, *spec.expected_variables, *artifacts))
        return replace(told, filter=answer.context_filter or told.filter)

    def _progressed(self, change: ProgressUpdate) -> Position:
        focus = {**self.focus, change.level: change.focus} if change.focus is not None else self.focus
        return replace(self, focus=focus, promised=(*self.promised, *(change.expected_outputs or ())))

    def observation(self) -> Observation:
        """The whole observation, as a client that has a kernel would send it."""
        return Observation(location=self._location(), context=self._context())

    def _location(self) -> Location:
        if self.stage_id is None:
            return Location(current=Current(), progress=Progress(), goals=Goals(workflow=self.goal))
        stages = LevelProgress(completed=self.stages_done, current=self.stage_id, remaining=self.remaining_stages)
        steps = LevelProgress(completed=self.steps_done, current=self.step_id, remaining=self.remaining_steps)
        behaviors = LevelProgress(
            completed=self.behaviors_done,
            current=self.behavior_id,
            iteration=self.iteration,
            current_outputs=OutputTracking(expected=tuple(dict.fromkeys(self.promised)), produced=self.produced),
        )
        return Location(
            current=Current(
                stage_id=self.stage_id,
                step_id=self.step_id,
                behavior_id=self.behavior_id,
                behavior_iteration=self.iteration,
            ),
            progress=Progress(
                stages=stages.model_copy(update={"focus": self.focus.get(Level.STAGES, "")}),
                steps=steps.model_copy(update={"focus": self.focus.get(Level.STEPS, "")}),
                behaviors=behaviors.model_copy(update={"focus": self.focus.get(Level.BEHAVIORS, "")}),
            ),
            goals=Goals(
                workflow=self.goal,
                stage=self.stage.purpose if self.stage is not None else None,
                step=self.step.purpose if self.step is not None else None,
            ),
        )

    def _context(self) -> Context:
        last = self.moves[-1] if self.moves else None
        return Context(
            variables=dict(self.variables),
            todo_list=self.todo,
            notebook=NotebookView(cell_count=self.cells),
            fsm=FsmView(
                state=self.state,
                last_transition=f"{last['event']} -> {last['to']}" if last is not None else None,
                timestamp=last["timestamp"] if last is not None else None,
                history=self.moves,
            ),
        )


def _todo(items: tuple[str, ...], update: ContextUpdate) -> tuple[str, ...]:
    change = update.todo_list_update
    if change is None:
        return items
    match change.operation:
        case TodoOperation.ADD:
            return (*items, *(item for item in change.items if item not in items))
        case TodoOperation.REMOVE:
            return tuple(item for item in items if item not in change.items)
        case TodoOperation.REPLACE:
            return change.items
