"""Drive one workflow against a server with the engine itself, and a kernel that computes nothing or a real one.

With a real one everything is as in a run. Without, every action is played as if it had succeeded, and what a behavior
promises exists once it was played. An action that is malformed, or runs a cell that does not exist, is an error in the
feedback, as it would be in a real run.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any, NoReturn

from notebook_bcc.conformance.caller import Caller
from notebook_bcc.conformance.evidence import Evidence
from notebook_bcc.conformance.exchange import CONFLICT, Exchange
from notebook_bcc.conformance.judgement import read_judgement
from notebook_bcc.conformance.stream import read_stream
from notebook_bcc.conformance.transcript import Area, Generated, Judged, Note, Question, Transcript
from notebook_bcc.engine.actions.context import ActionContext
from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.engine.fold.tracking import unique
from notebook_bcc.engine.judgements import PLAN_REFUSED
from notebook_bcc.engine.planner_session import Asking
from notebook_bcc.engine.runner import Runner, utc_now
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import ActionMalformed, EvidenceMissing
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.memory import MemoryJournal
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    Faulted,
    GeneratingAsked,
    KernelStarted,
    PlanningAnswered,
    ProposalDropped,
    Record,
    RunStarted,
    Warned,
)
from notebook_bcc.kernel.interface import Execution, Kernel, VariableChanges
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.planners.interface import ActionData
from notebook_bcc.protocol.actions import LAST_ADDED_CELL, CustomAction, Exec, parse_action
from notebook_bcc.protocol.limits import Limits, Policies
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Workflow

PLAYED = "played by nbcc planner conform, not computed"

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

# An action of the kit's own, for a behavior without one that succeeds: what it promised shall exist all the same.
_PLAYS = "conform_played"
_QUESTIONS: dict[State, Question] = {
    State.IDLE: "start",
    State.STAGE_RUNNING: "stage",
    State.STEP_RUNNING: "step",
    State.BEHAVIOR_COMPLETED: "feedback",
    State.STEP_COMPLETED: "step_end",
    State.STAGE_COMPLETED: "stage_end",
}
_PROMOTES = re.compile(r"^(\w+) = (\w+)\ndel \2\Z", re.MULTILINE)


class Walker:
    """One workflow, once. It is the planner of its own run: it passes questions on and keeps what came of them."""

    def __init__(self, caller: Caller, *, goal: str, run_id: str, evidence: Evidence | None = None) -> None:
        """Without `evidence` nothing is executed."""
        self._caller = caller
        self._transcript = Transcript()
        self._plays = evidence is None
        self._started = RunStarted(
            run_id=run_id,
            goal=goal,
            variables=dict(evidence.variables) if evidence is not None else {},
            policies=Policies(confirm="auto", on_error="continue" if self._plays else "feedback"),
            limits=Limits(behaviors_per_step=caller.limits.behaviors_per_step),
        )
        self._kernel: Kernel = ScriptedKernel(_execution) if evidence is None else evidence.kernel
        self._journal = MemoryJournal()
        registry = ActionRegistry({_PLAYS: lambda context, action: None})
        if self._plays:
            registry.add_post_hook(self._play)
        self._runner = Runner(
            planner=self,
            kernel=self._kernel,
            journal=self._journal,
            registry=registry,
            asking=Asking(retries=0, first_delay=0.0),
        )
        self._exchanges: dict[str, Exchange] = {}
        self._noted = _NotesOf(self._transcript, self._exchanges)

    async def walk(self) -> Transcript:
        """The transcript, to its end or to where it could not go on."""
        at = utc_now()
        await self._journal.append([Entry(1, at, self._started)])
        if self._plays:
            await self._kernel.start()
            await self._journal.append([Entry(2, at, KernelStarted(name=self._kernel.identity.name))])
        await self._runner.load()
        async for entry in self._runner.run():
            self._noted.see(entry.record)
        stopped = self._runner.state.stopped
        if stopped is not None and stopped.reason != "completed":
            self._transcript.stopped = self._transcript.stopped or self._why(self._runner.state, stopped.detail)
        return self._transcript

    def _why(self, state: RunState, detail: str) -> str:
        most = self._started.limits.behaviors_per_step
        if state.position.iteration >= most and state.fsm in (State.STEP_RUNNING, State.BEHAVIOR_COMPLETED):
            return f"step {state.position.step_id!r} did not end within {most} behaviors"
        return detail or f"the workflow stopped in {state.fsm.value}"

    @property
    def name(self) -> str:
        return self._caller.name

    async def plan(self, request: Request) -> PlanningResponse:
        """Ask, and note what is wrong with the answer. Without one the transcript stops."""
        await self._count_turn()
        state, question = self._runner.state.fsm, _QUESTIONS[self._runner.state.fsm]
        data = request.to_dict()
        exchange = await self._post("/planning", request, data)
        if set(exchange.needs) & set(request.observation.context.variables_summarized or ()):
            # The engine asks again with these values, as in a run.
            raise EvidenceMissing(planner=self.name, needs=exchange.needs)
        read = read_judgement(exchange)
        self._transcript.notes += [Note(area, text, exchange) for area, text in read.problems]
        self._transcript.judged.append(Judged(question, data, exchange, read.answer))
        if read.answer is None:
            await self._stop(
                f"no judgement in {state.value}: {exchange.problem or read.problems[0][1]}{self._hint(exchange)}"
            )
        return await self._with_plan(read.answer) if question == "start" else read.answer

    async def _with_plan(self, answer: PlanningResponse) -> PlanningResponse:
        plan = answer.context_update.workflow_update
        if plan is None and self._transcript.notes_of("plan"):
            await self._stop("the server's plan cannot be used")
        self._transcript.plan_of = "server" if plan is not None else "kit"
        self._transcript.plan = plan if plan is not None else OWN_PLAN
        update = answer.context_update.model_copy(update={"workflow_update": self._transcript.plan})
        return answer.model_copy(update={"context_update": update})

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[ActionData]:
        await self._count_turn()
        data = request.to_dict()
        exchange = await self._post("/generating", request, data)
        if not 200 <= exchange.status <= 299 or exchange.failure:
            step_id = self._runner.state.position.step_id
            why = f"{exchange.failure or exchange.problem}{self._hint(exchange)}"
            await self._stop(f"no behavior for step {step_id!r}: {why}")
        stream = read_stream(exchange)
        self._transcript.generated.append(Generated(data, stream))
        for action in stream.actions:
            yield ActionData(action)
        if self._plays and not any(self._succeeds(action) for action in stream.actions):
            yield ActionData({"action": _PLAYS})

    async def repair(self, request: Request) -> str | None:
        return None

    async def close(self) -> None:
        """Nothing to release: the caller belongs to whoever made it."""

    async def _post(self, path: str, request: Request, data: dict[str, Any]) -> Exchange:
        exchange = await self._caller.post(path, data)
        self._exchanges[request.options.request_id or ""] = self._transcript.last = exchange
        return exchange

    async def _count_turn(self) -> None:
        most = self._caller.limits.turns
        if self._transcript.turns == most:
            await self._stop(f"not at the end after {most} moves, in {self._runner.state.fsm.value}")
        self._transcript.turns += 1

    async def _stop(self, why: str) -> NoReturn:
        self._transcript.stopped = why
        self._runner.stop(why)
        # Until the runner leaves the question.
        await asyncio.Event().wait()
        raise AssertionError("nobody sets this event")

    def _hint(self, exchange: Exchange) -> str:
        """For a planner that judges by evidence: the kit has some to offer."""
        offered = self._plays and exchange.status == CONFLICT
        return " (if it needs evidence: --kernel walks with a kernel and a table)" if offered else ""

    def _succeeds(self, data: Any) -> bool:  # Any: as it came
        try:
            action = parse_action(data)
        except ActionMalformed:
            return False
        if isinstance(action, Exec):
            return action.codecell_id == LAST_ADDED_CELL or action.codecell_id in self._runner.state.document.cells
        return not isinstance(action, CustomAction)

    def _play(self, context: ActionContext, _action: object, _result: object) -> None:
        state = self._runner.state
        promised = unique(
            state.behaviors.outputs.expected,
            state.steps.outputs.expected,
            state.behavior.validate,
            [promotion.variable for promotion in state.behavior.promotions],
        )
        context.changes.variables |= {name: PLAYED for name in promised if name not in context.variables}


class _NotesOf:
    """Reads what was wrong out of the run's records. A note shows the exchange that brought it."""

    def __init__(self, transcript: Transcript, exchanges: dict[str, Exchange]) -> None:
        self._transcript = transcript
        self._exchanges = exchanges
        self._judgement: Exchange | None = None
        self._behavior: Exchange | None = None
        self._request_id = ""
        self._action: ActionReceived | None = None

    def see(self, record: Record) -> None:
        match record:
            case PlanningAnswered():
                self._judgement = self._exchanges.get(record.request_id)
            case GeneratingAsked():
                self._judgement, self._behavior = None, None
                self._request_id = record.request_id
            case ActionReceived():
                self._action, self._behavior = record, self._exchanges.get(self._request_id)
            case ActionCompleted() if record.error is not None and self._action is not None:
                self._add(*_problem(self._action, record), self._behavior)
            case Faulted():
                self._add("navigation", record.reason, self._judgement)
            case ProposalDropped():
                self._add("plan", record.reason, self._behavior)
            case Warned() if record.message.startswith(PLAN_REFUSED):
                self._add("plan", record.message.removeprefix(PLAN_REFUSED), self._judgement)
            case _:
                pass

    def _add(self, area: Area | None, text: str, exchange: Exchange | None) -> None:
        if area is not None and exchange is not None:
            self._transcript.notes.append(Note(area, text, exchange))


def _problem(received: ActionReceived, done: ActionCompleted) -> tuple[Area | None, str]:
    number, error = received.index + 1, done.error or ""
    if done.error_name == "ActionMalformed":
        return "actions", f"action {number}: {error}"
    if done.action == "exec":
        return "cells", f"action {number} runs cell {received.action['codecell_id']!r}, which no action has added"
    if done.action in ("update_workflow", "update_stage_steps"):
        return "plan", error
    return None, error


def _execution(source: str) -> Execution:
    """What a cell comes to: nothing, but for the cell that makes an artifact."""
    promoted = _PROMOTES.search(source)
    if promoted is None:
        return Execution()
    return Execution(variables=VariableChanges(updated={promoted[1]: PLAYED}, removed=(promoted[2],)))
