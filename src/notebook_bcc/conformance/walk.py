"""Drive one workflow against a server, as a client would: the state machine's table, honest observations, no kernel.

Every action is played as if it had succeeded; one that is malformed, or runs a cell that does not exist, is an error in
the feedback, as it would be in a real run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from notebook_bcc.conformance.caller import Caller
from notebook_bcc.conformance.course import Course, Generated, Judged, Note, Question
from notebook_bcc.conformance.exchange import Exchange
from notebook_bcc.conformance.judgement import read_judgement
from notebook_bcc.conformance.playing import Played, play
from notebook_bcc.conformance.position import Position
from notebook_bcc.conformance.stream import read_stream
from notebook_bcc.engine.fold.context_update import target_after
from notebook_bcc.engine.observation.context_filter import filter_observation
from notebook_bcc.errors import PlanInvalid
from notebook_bcc.protocol.actions import UpdateWorkflow
from notebook_bcc.protocol.messages import Options, PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.protocol.workflow import Step, Workflow, check_steps, check_workflow

# For a server that brings no plan: the run was started with this one.
OWN_PLAN = Workflow.model_validate(
    {
        "name": "conformance",
        "goal": "A small table is made and described.",
        "stages": [
            {
                "id": "conform",
                "goal": "A small table is made and described.",
                "steps": [
                    {"id": "make", "goal": "A small table exists."},
                    {"id": "describe", "goal": "It is described."},
                ],
            }
        ],
    }
)

Ids = Callable[[], Options]


class Walker:
    """One workflow, once. `ids` makes the options of a new request."""

    def __init__(self, caller: Caller, *, goal: str, ids: Ids) -> None:
        self._caller = caller
        self._ids = ids
        self._at = Position(goal=goal)
        self._course = Course()
        self._cells: frozenset[str] = frozenset()
        self._played = Played()
        self._target: tuple[str | None, str | None] | None = None
        self._behavior: str | None = None

    async def walk(self) -> Course:
        """The course, to its end or to where it could not go on."""
        course = self._course
        turn = {
            State.IDLE: self._idle,
            State.STAGE_RUNNING: self._stage_running,
            State.STEP_RUNNING: self._step_running,
            State.BEHAVIOR_RUNNING: self._behavior_running,
            State.BEHAVIOR_COMPLETED: self._behavior_completed,
            State.STEP_COMPLETED: self._step_completed,
            State.STAGE_COMPLETED: self._stage_completed,
        }
        while self._at.state is not State.WORKFLOW_COMPLETED and not course.stopped:
            course.turns += 1
            if course.turns > self._caller.limits.turns:
                course.stopped = f"not at the end after {self._caller.limits.turns} moves, in {self._at.state.value}"
                break
            await turn[self._at.state]()
        return course

    async def _idle(self) -> None:
        answer = await self._judge("start")
        if answer is None:
            return
        plan = answer.context_update.workflow_update
        if plan is None and self._course.notes_of("plan"):
            self._course.stopped = "the server's plan cannot be used"
            return
        self._course.plan_of = "server" if plan is not None else "kit"
        self._course.plan = plan if plan is not None else OWN_PLAN
        self._at = replace(self._at, plan=self._course.plan)
        wanted = self._target[0] if self._target is not None else None
        self._fire(Event.START_WORKFLOW, stage_id=wanted or self._course.plan.stages[0].id)

    async def _stage_running(self) -> None:
        answer = await self._judge("stage")
        if answer is None:
            return
        wanted = self._target[1] if self._target is not None else None
        remaining = (wanted,) if wanted is not None else self._at.remaining_steps
        if answer.target_achieved or (not remaining and self._at.stage is not None and self._at.stage.steps):
            self._fire(Event.COMPLETE_STAGE)
        elif remaining:
            self._fire(Event.START_STEP, step_id=remaining[0])
        else:
            self._course.stopped = f"stage {self._at.stage_id!r} has no steps, and the server brought none"

    async def _step_running(self) -> None:
        answer = await self._judge("step")
        if answer is not None:
            self._fire(Event.COMPLETE_STEP if answer.target_achieved else Event.START_BEHAVIOR)

    async def _behavior_running(self) -> None:
        observation = self._at.observation()
        if self._at.filter is not None:
            observation, _ = filter_observation(observation, self._at.filter, summaries={})
        options = self._ids().model_copy(update={"stream": True})
        request = Request(observation=observation, options=options).to_dict()
        exchange = await self._caller.post("/generating", request)
        self._course.last = exchange
        if not 200 <= exchange.status <= 299 or exchange.failure:
            self._course.stopped = f"no behavior for step {self._at.step_id!r}: {exchange.failure or exchange.problem}"
            return
        stream = read_stream(exchange)
        self._course.generated.append(Generated(request, stream))
        self._played = play(stream.actions, cells=self._cells, behavior_id=self._at.behavior_id)
        self._cells = self._played.cells
        self._course.notes += [Note(area, text, exchange) for area, text in self._played.problems]
        for change in self._played.changes:
            if isinstance(change, UpdateWorkflow):
                self._change_plan(change.updated_workflow, exchange)
            else:
                self._change_steps(change.stage_id, change.updated_steps, exchange)
        for _ in stream.actions:
            self._fire(Event.START_ACTION if self._at.state is State.BEHAVIOR_RUNNING else Event.NEXT_ACTION)
            self._fire(Event.COMPLETE_ACTION)
        self._at = self._at.behavior_played(actions=self._played.names, cells=len(self._cells))
        self._fire(Event.COMPLETE_BEHAVIOR)

    async def _behavior_completed(self) -> None:
        answer = await self._judge("feedback")
        if answer is None:
            return
        if self._played.end_phase or (answer.target_achieved and not answer.transition.continue_behaviors):
            self._fire(Event.COMPLETE_STEP)
        elif answer.transition.continue_behaviors:
            self._fire(Event.NEXT_BEHAVIOR)
        elif self._target is not None:
            self._fire(Event.COMPLETE_STEP)
        else:
            self._course.stopped = f"step {self._at.step_id!r} ended without its goal: neither continued nor achieved"

    async def _step_completed(self) -> None:
        answer = await self._judge("step_end")
        if answer is None:
            return
        if self._target is not None:
            stage_id, step_id = self._target
            here = stage_id in (None, self._at.stage_id) and step_id is not None
            self._fire(Event.NEXT_STEP if here else Event.COMPLETE_STAGE, step_id=step_id if here else None)
        elif answer.target_achieved or not self._at.remaining_steps:
            self._fire(Event.COMPLETE_STAGE)
        else:
            self._fire(Event.NEXT_STEP, step_id=self._at.remaining_steps[0])

    async def _stage_completed(self) -> None:
        answer = await self._judge("stage_end")
        if answer is None:
            return
        remaining = self._at.remaining_stages
        if self._target is not None and self._target[0] is not None:
            self._fire(Event.NEXT_STAGE, stage_id=self._target[0])
        elif answer.target_achieved or not remaining:
            self._fire(Event.COMPLETE_WORKFLOW)
        else:
            self._fire(Event.NEXT_STAGE, stage_id=remaining[0])

    async def _judge(self, question: Question) -> PlanningResponse | None:
        """Ask, note what is wrong with the answer, and take what can be taken of it. None: the course has stopped."""
        told = self._played.feedback if question == "feedback" else None
        request = Request(observation=self._at.observation(), behavior_feedback=told, options=self._ids()).to_dict()
        exchange = await self._caller.post("/planning", request)
        self._course.last = exchange
        read = read_judgement(exchange)
        self._course.notes += [Note(area, text, exchange) for area, text in read.problems]
        self._course.judged.append(Judged(question, request, exchange, read.answer))
        if read.answer is None:
            self._course.stopped = f"no judgement in {self._at.state.value}: {exchange.problem or read.problems[0][1]}"
            return None
        self._take(question, read.answer, exchange)
        return read.answer

    def _take(self, question: Question, answer: PlanningResponse, exchange: Exchange) -> None:
        self._at = self._at.told(answer)
        self._behavior = answer.behavior.id if answer.behavior is not None else None
        update = answer.context_update
        if update.workflow_update is not None and self._at.plan is not None:
            self._change_plan(update.workflow_update, exchange)
        if update.stage_steps_update is not None:
            steps = update.stage_steps_update
            self._change_steps(steps.stage_id or self._at.stage_id, steps.steps, exchange)
        self._navigate(question, answer, exchange)

    def _change_plan(self, plan: Workflow, exchange: Exchange) -> None:
        """Changes are confirmed, as with `confirm auto`; one that cannot be applied is a note and changes nothing."""
        try:
            check_workflow(plan)
        except PlanInvalid as error:
            self._course.notes.append(Note("plan", str(error), exchange))
            return
        stage = plan.stage(self._at.stage_id) if self._at.stage_id is not None else None
        if self._at.stage_id is None or (stage is not None and (not self._at.step_id or stage.step(self._at.step_id))):
            self._at = replace(self._at, plan=plan)
        else:
            self._course.notes.append(Note("plan", "a change of the plan removes the place the run is at", exchange))

    def _change_steps(self, stage_id: str | None, steps: tuple[Step, ...], exchange: Exchange) -> None:
        if self._at.plan is None or stage_id is None:
            return
        try:
            check_steps(steps)
        except PlanInvalid as error:
            self._course.notes.append(Note("plan", str(error), exchange))
            return
        if self._at.plan.stage(stage_id) is None:
            text = f"steps were brought for stage {stage_id!r}, which is not in the plan"
            self._course.notes.append(Note("plan", text, exchange))
            return
        self._change_plan(self._at.plan.with_steps(stage_id, steps), exchange)

    def _navigate(self, question: Question, answer: PlanningResponse, exchange: Exchange) -> None:
        advice, plan = answer.transition, self._at.plan or answer.context_update.workflow_update or OWN_PLAN
        place = (self._at.stage_id, self._at.step_id)
        self._target = target_after(self._target, advice, question, at=place)
        if advice.destination is None:
            return
        stage_id = advice.next_stage_id or self._at.stage_id or plan.stages[0].id
        stage = plan.stage(stage_id) if stage_id is not None else None
        if stage is None or (advice.next_step_id is not None and stage.step(advice.next_step_id) is None):
            named = "/".join(part for part in (stage_id, advice.next_step_id) if part)
            self._course.notes.append(Note("navigation", f"{named!r} is not in the plan", exchange))
            self._course.stopped = f"the server wants to go to {named!r}, which is not in the plan"

    def _fire(self, event: Event, *, stage_id: str | None = None, step_id: str | None = None) -> None:
        if self._course.stopped:
            return
        if event in (Event.START_BEHAVIOR, Event.NEXT_BEHAVIOR):
            most = self._caller.limits.behaviors_per_step
            if self._at.iteration >= most:
                self._course.stopped = f"step {self._at.step_id!r} did not end within {most} behaviors"
                return
            self._at = self._at.in_behavior(self._behavior)
        if event is Event.COMPLETE_STEP:
            self._at = self._at.step_completed()
        if event is Event.COMPLETE_STAGE:
            self._at = self._at.stage_completed()
        if stage_id is not None:
            self._at = self._at.in_stage(stage_id)
            self._target = self._target if self._target is not None and self._target[1] is not None else None
        if step_id is not None:
            self._at, self._target = self._at.in_step(step_id), None
        self._at = self._at.fired(event, at=datetime.now(UTC).isoformat())
