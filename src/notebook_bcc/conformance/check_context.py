"""What a check works with: the caller, the transcript of one workflow, and requests at places that the server knows."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from notebook_bcc.conformance.caller import Caller
from notebook_bcc.conformance.check import Finding, skipped
from notebook_bcc.conformance.evidence import Evidence
from notebook_bcc.conformance.exchange import Exchange, Json
from notebook_bcc.conformance.judgement import read_judgement
from notebook_bcc.conformance.stream import Stream, read_stream
from notebook_bcc.conformance.transcript import Question, Transcript
from notebook_bcc.conformance.walk import Walker
from notebook_bcc.protocol.messages import Options, PlanningResponse
from notebook_bcc.protocol.version import PROTOCOL_VERSION

NOWHERE = skipped("the workflow did not come to a place where this could be asked")


class CheckContext:
    """One kit run. The workflow is driven when the first check needs it, and once."""

    def __init__(self, caller: Caller, *, run_id: str, goal: str, evidence: Evidence | None = None) -> None:
        self.caller = caller
        self._run_id = run_id
        self._goal = goal
        self._evidence = evidence
        self._transcript: Transcript | None = None
        self._requests = 0
        self._verdicts: dict[Question, bool | None] = {}

    async def transcript(self) -> Transcript:
        if self._transcript is None:
            walker = Walker(self.caller, goal=self._goal, run_id=self._run_id, evidence=self._evidence)
            self._transcript = await walker.walk()
        return self._transcript

    def ids(self) -> Options:
        """The ids of a question that was never asked before."""
        self._requests += 1
        return Options(
            request_id=f"{self._run_id}.check.{self._requests}",
            run_id=self._run_id,
            attempt=1,
            protocol_version=PROTOCOL_VERSION,
        )

    def start_request(self) -> Json:
        """The very first question of a run: everything is empty."""
        location = {"current": {}, "progress": {}, "goals": {"workflow": self._goal}}
        context: Json = {"FSM": {"state": "idle"}}
        if self._evidence is not None:
            context["variables"] = dict(self._evidence.variables)
        return {"observation": {"location": location, "context": context}, "options": self.ids().to_dict()}

    async def request_at(self, question: Question) -> Json | None:
        """A question of the transcript as a new one: the same observation, ids of its own."""
        asked = (await self.transcript()).first(question)
        return self._again(asked.request) if asked is not None else None

    async def generating_request(self, *, stream: bool) -> Json | None:
        richest = (await self.transcript()).richest
        return self._again(richest.request, stream=stream) if richest is not None else None

    async def verdict_at(self, question: Question) -> bool | None:
        """What the server says to this question now, asked once in the plain words of the transcript.

        Not what it said in the transcript: a server that remembers the run has moved on, and only that is its fault.
        """
        if question not in self._verdicts:
            request = await self.request_at(question)
            answer = (await self.judge(request))[1] if request is not None else None
            self._verdicts[question] = answer.target_achieved if answer is not None else None
        return self._verdicts[question]

    async def judge(
        self, request: Json, *, headers: Mapping[str, str] | None = None
    ) -> tuple[Exchange, PlanningResponse | None]:
        exchange = await self.caller.post("/planning", request, headers=headers)
        return exchange, read_judgement(exchange).answer

    async def generate(self, request: Json) -> Stream:
        return read_stream(await self.caller.post("/generating", request))

    async def as_before(self, request: Json, *, question: Question, what: str) -> tuple[Finding | None, Exchange]:
        """Why a question in other words is not answered like the plain one; None where it is."""
        exchange, answer = await self.judge(request)
        if answer is None:
            return Finding("fails", f"{what}: {exchange.problem or 'no judgement'}", exchange), exchange
        before = await self.verdict_at(question)
        if before is not None and answer.target_achieved != before:
            said = f"{what}: targetAchieved is {answer.target_achieved}, and {before} for the plain question"
            return Finding("fails", said, exchange), exchange
        return None, exchange

    def _again(self, request: Json, *, stream: bool = False) -> Json:
        made = copy.deepcopy(request)
        made["options"] = self.ids().model_copy(update={"stream": stream}).to_dict()
        return made
