"""A small sound DSLC server, and others that are like it but for one fault each."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

# Any: JSON, as a server of no particular care would handle it.
Json = dict[str, Any]

OUTPUT = {"load": "table", "look": "summary"}
NDJSON = "application/x-ndjson"


class Refused(Exception):
    """What the server says instead of an answer."""

    def __init__(self, status: int, data: Json) -> None:
        super().__init__(status)
        self.response = JSONResponse(data, status)


class Sound:
    """Two steps, judged from the observation alone. The faulty ones override one method or two."""

    def __init__(self) -> None:
        self.asked = 0

    @property
    def app(self) -> Starlette:
        paths = {"/planning": self.planning, "/generating": self.generating, "/generate": self.generating}
        routes = [Route(path, handler, methods=["POST"]) for path, handler in paths.items()]
        return Starlette(routes=[*routes, Route("/health", self.health)])

    async def health(self, http: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def planning(self, http: Request) -> Response:
        try:
            request = self.read(await http.body())
            return self.judged(self.whole(self.judge(request)), request)
        except Refused as refusal:
            return refusal.response

    async def generating(self, http: Request) -> Response:
        try:
            request = self.read(await http.body())
        except Refused as refusal:
            return refusal.response
        if self.wants_stream(request):
            return self.streamed(self.actions(request))
        return JSONResponse({"actions": self.actions(request)})

    def read(self, body: bytes) -> Json:
        self.asked += 1
        try:
            request = json.loads(body.decode())
        except ValueError as error:
            raise Refused(400, {"error": str(error)}) from error
        if not isinstance(request, dict):
            raise Refused(400, {"error": "no object"})
        self.check(request)
        return request

    def check(self, request: Json) -> None:
        location = (request.get("observation") or {}).get("location") or {}
        missing = [f"observation.location.{name}" for name in ("current", "progress") if name not in location]
        if missing:
            raise Refused(422, self.refusal(missing))

    def refusal(self, missing: list[str]) -> Json:
        return {"error": "fields are missing", "problems": missing}

    def judge(self, request: Json) -> Json:
        location, current = request["observation"]["location"], request["observation"]["location"]["current"]
        if not current.get("stage_id"):
            return {"targetAchieved": False, "context_update": {"workflow_update": self.plan()}}
        self.check_position(request)
        if self.state(request) in ("stage_running", "step_completed", "stage_completed"):
            return {"targetAchieved": not location["progress"]["steps"].get("remaining")}
        return {"targetAchieved": self.achieved(request)}

    def whole(self, answer: Json) -> Json:
        """With both verdicts of the transition, where there is a verdict at all."""
        verdict = answer.get("targetAchieved", answer.get("target_achieved"))
        both = {"continue_behaviors": False, "target_achieved": verdict, **answer.get("transition", {})}
        return {**answer, "transition": both} if isinstance(verdict, bool) else answer

    def check_position(self, request: Json) -> None:
        current = request["observation"]["location"]["current"]
        step = current.get("step_id") or current.get("step_index")
        if current["stage_id"] != "work" or (step and step not in OUTPUT):
            raise Refused(409, {"error": {"code": "unknown_position", "known": {"stages": {"work": list(OUTPUT)}}}})

    def state(self, request: Json) -> str:
        return str(self.context(request).get("FSM", {}).get("state", "")).lower()

    def context(self, request: Json) -> Json:
        return dict(request["observation"].get("context") or {})

    def achieved(self, request: Json) -> bool:
        feedback = request.get("behavior_feedback") or {}
        made = OUTPUT[self.step(request)] in self.context(request).get("variables", {})
        return made and not feedback.get("errors")

    def step(self, request: Json) -> str:
        current = request["observation"]["location"]["current"]
        return str(current.get("step_id") or current.get("step_index"))

    def plan(self) -> Json:
        steps = [{"id": step, "expected_outputs": [name]} for step, name in OUTPUT.items()]
        return {"name": "A table", "stages": [{"id": "work", "steps": steps}]}

    def judged(self, data: Json, request: Json) -> Response:
        return JSONResponse(data)

    def wants_stream(self, request: Json) -> bool:
        return bool((request.get("options") or {}).get("stream"))

    def actions(self, request: Json) -> list[Any]:
        code = f"{OUTPUT[self.step(request)]} = 'größer'"
        return [
            {"action": "add", "shot_type": "action", "content": code},
            {"action": "exec", "codecell_id": "lastAddedCellId"},
        ]

    def streamed(self, actions: list[Any]) -> Response:
        return StreamingResponse(self.lines(actions), media_type=NDJSON)

    def lines(self, actions: list[Any]) -> Iterator[bytes]:
        for action in actions:
            yield json.dumps({"action": action}, ensure_ascii=False).encode() + b"\n"


class Html(Sound):
    async def planning(self, http: Request) -> Response:
        return Response("<h1>Welcome</h1>", media_type="text/html")

    generating = planning


class Empty(Sound):
    async def planning(self, http: Request) -> Response:
        return Response(b"")

    generating = planning


class NotAJudgement(Sound):
    def judge(self, request: Json) -> Json:
        return {"message": "ok"}


class Unwrapped(Sound):
    def lines(self, actions: list[Any]) -> Iterator[bytes]:
        return (json.dumps(action).encode() + b"\n" for action in actions)


class OneArray(Sound):
    def lines(self, actions: list[Any]) -> Iterator[bytes]:
        yield json.dumps([{"action": action} for action in actions]).encode() + b"\n"


class IgnoresStreamTrue(Sound):
    def wants_stream(self, request: Json) -> bool:
        return False


class IgnoresStreamFalse(Sound):
    def wants_stream(self, request: Json) -> bool:
        return True


class NotSeparated(Sound):
    def lines(self, actions: list[Any]) -> Iterator[bytes]:
        return (json.dumps({"action": action}).encode() for action in actions)


class LastLineTorn(Sound):
    def lines(self, actions: list[Any]) -> Iterator[bytes]:
        yield b"\n".join(json.dumps({"action": action}).encode() for action in actions)


class Latin1(Sound):
    def lines(self, actions: list[Any]) -> Iterator[bytes]:
        return (json.dumps({"action": action}, ensure_ascii=False).encode("latin-1") + b"\n" for action in actions)


class WrongStreamType(Sound):
    def streamed(self, actions: list[Any]) -> Response:
        return StreamingResponse(self.lines(actions), media_type="text/html")


class Buffered(Sound):
    def streamed(self, actions: list[Any]) -> Response:
        return Response(b"".join(self.lines(actions)), media_type=NDJSON)


class WithoutType(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [*super().actions(request), {"shot_type": "dialogue", "content": "done"}]


class WithoutCell(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [*super().actions(request)[:1], {"action": "exec"}]


class UnknownCell(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [*super().actions(request)[:1], {"action": "exec", "codecell_id": "cell-42"}]


class NoActions(Sound):
    def actions(self, request: Json) -> list[Any]:
        return []


class OldActionSpelling(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [{"type": each.pop("action"), **each} for each in super().actions(request)]


class TwiceTheSameId(Sound):
    def plan(self) -> Json:
        plan = super().plan()
        plan["stages"][0]["steps"] *= 2
        return plan


class PlanWithoutStages(Sound):
    def plan(self) -> Json:
        return {"name": "nothing", "stages": []}


class StrictFields(Sound):
    """Crashes on what it does not know."""

    def check(self, request: Json) -> None:
        super().check(request)
        if set(request) - {"observation", "options", "behavior_feedback"}:
            raise Refused(500, {"error": "Internal Server Error"})


class RefusesUnknown(Sound):
    def check(self, request: Json) -> None:
        super().check(request)
        if set(request["observation"]["location"]) - {"current", "progress", "goals"}:
            raise Refused(422, {"error": "extra fields are not permitted"})


class Yes(Sound):
    def judge(self, request: Json) -> Json:
        answer = super().judge(request)
        return {"target_achieved": "yes" if answer.pop("targetAchieved") else "no", **answer}


class SnakeCase(Sound):
    def judge(self, request: Json) -> Json:
        answer = super().judge(request)
        return {"target_achieved": answer.pop("targetAchieved"), **answer}


class NeverEnds(Sound):
    def judge(self, request: Json) -> Json:
        answer = super().judge(request)
        return answer | (
            {"transition": {"continue_behaviors": True}, "targetAchieved": False} if _told(request) else {}
        )


class NeitherNor(Sound):
    def judge(self, request: Json) -> Json:
        return super().judge(request) | ({"targetAchieved": False} if _told(request) else {})


class AlwaysAchieved(Sound):
    def achieved(self, request: Json) -> bool:
        return request.get("behavior_feedback") is not None or super().achieved(request)


class NoFeedback(Sound):
    def check(self, request: Json) -> None:
        super().check(request)
        if _told(request) and "actions_succeeded" not in request["behavior_feedback"]:
            raise Refused(422, {"error": "behavior_feedback.actions_succeeded is missing"})


class Redirects(Sound):
    async def planning(self, http: Request) -> Response:
        return RedirectResponse("/planning/", 307)


class NothingRequired(Sound):
    def check(self, request: Json) -> None:
        location = request.setdefault("observation", {}).setdefault("location", {})
        location.setdefault("current", {})
        location.setdefault("progress", {})

    def actions(self, request: Json) -> list[Any]:
        return super().actions(request) if self.step(request) in OUTPUT else []


class SilentRefusal(Sound):
    def refusal(self, missing: list[str]) -> Json:
        return {"error": "invalid"}


class CrashesOnBadJson(Sound):
    def read(self, body: bytes) -> Json:
        try:
            return super().read(body)
        except Refused as refusal:
            raise (Refused(500, {}) if refusal.response.status_code == 400 else refusal) from refusal


class ForgetsAndCounts(Sound):
    """Another answer each time."""

    headers: dict[str, str] | None = None

    def judged(self, data: Json, request: Json) -> Response:
        update = {"variables": {"asked": self.asked}, **data.get("context_update", {})}
        return JSONResponse({**data, "context_update": update}, headers=self.headers)


class SaysItRemembers(ForgetsAndCounts):
    headers = {"Idempotent-Replayed": "true"}  # noqa: RUF012  # never changed


class GeneratesAnew(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [{"action": "add", "shot_type": "dialogue", "content": str(self.asked)}, *super().actions(request)]


class LowerCaseOnly(Sound):
    def state(self, request: Json) -> str:
        state = str(self.context(request).get("FSM", {}).get("state", ""))
        if state != state.lower():
            raise Refused(500, {"error": "unknown state"})
        return state


class NewSpellingOnly(Sound):
    def step(self, request: Json) -> str:
        current = request["observation"]["location"]["current"]
        if "step_id" not in current:
            raise Refused(422, {"error": "step_id is missing"})
        return str(current["step_id"])


class ObjectsOnly(Sound):
    def check(self, request: Json) -> None:
        super().check(request)
        for level in request["observation"]["location"]["progress"].values():
            if isinstance(level, dict) and not all(isinstance(each, dict) for each in level.get("completed", [])):
                raise Refused(422, {"error": "completed"})


class SmallOnly(Sound):
    def read(self, body: bytes) -> Json:
        if len(body) > 100_000:
            raise Refused(413, {"error": "too large"})
        return super().read(body)


class Compressed(Sound):
    def judged(self, data: Json, request: Json) -> Response:
        body = gzip.compress(json.dumps(data).encode())
        return Response(body, media_type="application/json", headers={"Content-Encoding": "gzip"})


class BadFilter(Sound):
    def judge(self, request: Json) -> Json:
        return super().judge(request) | {"context_filter": {"variables_to_include": 7}}


class BadSummary(Sound):
    def judge(self, request: Json) -> Json:
        return super().judge(request) | {"context_filter": {"variables_to_summarize": {"table": "everything"}}}


class GoesNowhere(Sound):
    def judge(self, request: Json) -> Json:
        advice = {"strategy": "server_controlled", "next_step_id": "paradise"}
        return super().judge(request) | ({"transition": advice} if _told(request) else {})


class EndsAnotherStep(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [*super().actions(request), {"action": "end_phase", "step_id": "paradise"}]


class FiresNothing(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [*super().actions(request), {"action": "next_event", "event_type": "FLY"}]


class ProgressObjectsOnly(Sound):
    def check(self, request: Json) -> None:
        super().check(request)
        context = (request.get("observation") or {}).get("context") or {}
        if isinstance(context.get("section_progress"), str):
            raise Refused(422, self.refusal(["observation.context.section_progress"]))


class Stateful(Sound):
    """Keeps the progress to itself instead of reading it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: set[str] = set()

    def achieved(self, request: Json) -> bool:
        self.done |= {self.step(request)} if super().achieved(request) else set()
        return self.step(request) in self.done


class PlainTextJudgement(Sound):
    def judged(self, data: Json, request: Json) -> Response:
        return Response(json.dumps(data), media_type="text/plain")


class NoSpare(Sound):
    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[route for route in super().app.router.routes if getattr(route, "path", "") != "/generate"]
        )


class OneQuestionAConnection(Sound):
    def judged(self, data: Json, request: Json) -> Response:
        return JSONResponse(data, headers={"Connection": "close"})


class BrokenV1(Sound):
    @property
    def app(self) -> Starlette:
        async def old(http: Request) -> Response:
            return JSONResponse({"actions": "none"})

        old_routes = [Route(path, old, methods=["GET", "POST"]) for path in ("/v1/actions", "/v1/reflection")]
        return Starlette(routes=[*super().app.router.routes, *old_routes])


class TearsStreams(Sound):
    """Promises more than it sends."""

    def streamed(self, actions: list[Any]) -> Response:
        lines = list(self.lines(actions))
        size = sum(map(len, lines))
        return StreamingResponse(iter(lines[:1]), media_type=NDJSON, headers={"Content-Length": str(size)})


class OneAtATime(Sound):
    """Refuses whoever comes while another is being answered."""

    def __init__(self) -> None:
        super().__init__()
        self.busy = False

    async def planning(self, http: Request) -> Response:
        await http.body()
        if self.busy:
            return JSONResponse({"error": "busy"}, 503)
        self.busy = True
        try:
            await asyncio.sleep(0.02)
            return await super().planning(http)
        finally:
            self.busy = False


class NoNulls(Sound):
    def check(self, request: Json) -> None:
        super().check(request)
        if request["observation"]["location"].get("goals", {}) is None:
            raise Refused(422, {"error": "observation.location.goals is null"})


class NoHealth(Sound):
    async def health(self, http: Request) -> Response:
        return JSONResponse({"error": "not found"}, 404)


class AnswersBrowsers(Sound):
    @property
    def app(self) -> Starlette:
        return Starlette(routes=[*super().app.router.routes, Route("/planning", self.health, methods=["GET"])])


class StepsTwice(Sound):
    """Brings steps twice, in the middle of a run."""

    def judge(self, request: Json) -> Json:
        answer = super().judge(request)
        if self.state(request) == "stage_running":
            answer["context_update"] = {"stage_steps_update": {"updated_steps": [{"id": "load"}, {"id": "load"}]}}
        return answer


class HalfATransition(Sound):
    def whole(self, answer: Json) -> Json:
        return {**answer, "transition": {"continue_behaviors": False}}


class CrashesOnUnknownSteps(Sound):
    def check_position(self, request: Json) -> None:
        """Looks it up where it is not."""
        current = request["observation"]["location"]["current"]
        if (current.get("step_id") or "load") not in OUTPUT:
            raise Refused(500, {"error": "KeyError"})


class NotFoundForUnknownStages(Sound):
    def check_position(self, request: Json) -> None:
        try:
            super().check_position(request)
        except Refused as refusal:
            raise Refused(404, {"error": "no such place"}) from refusal


class NeedsEvidence(Sound):
    """Sound, too: it says what it needs."""

    def needs(self) -> Json:
        return {"needs": ["table"]}

    def check(self, request: Json) -> None:
        super().check(request)
        context = request["observation"].get("context", {})
        if _told(request) and not context.get("variables"):
            raise Refused(409, {"error": {"code": "missing_evidence", **self.needs()}})


class NeedsItKnowsNotWhat(NeedsEvidence):
    def needs(self) -> Json:
        return {}


class CrashesWithoutVariables(NeedsEvidence):
    def check(self, request: Json) -> None:
        try:
            super().check(request)
        except Refused as refusal:
            raise (Refused(500, {}) if refusal.response.status_code == 409 else refusal) from refusal


class WantsContext(Sound):
    def check(self, request: Json) -> None:
        super().check(request)
        if "context" not in request["observation"]:
            raise Refused(422, self.refusal(["observation.context"]))


class KnowsNamesOnly(Sound):
    """Goes by the behavior's id, which it expects to be one that clients of ours make up."""

    def achieved(self, request: Json) -> bool:
        name = str(request["observation"]["location"]["current"].get("behavior_id") or "behavior_001")
        return name.startswith("behavior_") and super().achieved(request)


class RefusesDecisions(Sound):
    def check(self, request: Json) -> None:
        super().check(request)
        if request["observation"].get("context", {}).get("decisions"):
            raise Refused(422, {"error": "observation.context.decisions is not permitted"})


class OldDialect(Sound):
    """Speaks v1 as well, whole."""

    methods: tuple[str, ...] = ("GET", "POST")

    @property
    def app(self) -> Starlette:
        paths = {"/v1/actions": list(self.methods), "/v1/reflection": ["POST"]}
        routes = [Route(path, self.old, methods=methods) for path, methods in paths.items()]
        return Starlette(routes=[*super().app.router.routes, *routes])

    async def old(self, http: Request) -> Response:
        if not await http.body():
            return JSONResponse({"error": "send the observation"}, 400)
        return JSONResponse(self.old_answer())

    def old_answer(self) -> Json:
        both = {"continue_behaviors": False, "target_achieved": True}
        return {"behavior": {}, "actions": [], "transition": both, "context_update": {}, "metadata": {}}


class OldDialectByGetOnly(OldDialect):
    """As the first document prints it."""

    methods = ("GET",)


class OldDialectInParts(OldDialect):
    def old_answer(self) -> Json:
        return {"actions": [], "transition": {"target_achieved": True}}


def _told(request: Json) -> bool:
    return request.get("behavior_feedback") is not None


@dataclass(frozen=True)
class Broken:
    """A faulty server, and the rows that must fail: these and no others."""

    make: Callable[[], Sound]
    rows: frozenset[str]
    conforms: bool = False


def _broken(make: Callable[[], Sound], *rows: str) -> Broken:
    return Broken(make, frozenset(rows))


def _unwise(make: Callable[[], Sound], *rows: str) -> Broken:
    """Only what is recommended fails: the server conforms."""
    return Broken(make, frozenset(rows), conforms=True)


BROKEN = (
    _broken(Html, "start", "workflow-ends", "judgement-form", "required-fields", "invalid-json", "refusals-json"),
    _broken(Empty, "start", "workflow-ends", "judgement-form", "required-fields", "invalid-json", "refusals-json"),
    _broken(NotAJudgement, "start", "workflow-ends", "judgement-form"),
    _broken(Unwrapped, "stream-wrapped", "actions-there"),
    _broken(OneArray, "stream-lines", "actions-there"),
    _unwise(IgnoresStreamTrue, "stream-lines"),
    _broken(IgnoresStreamFalse, "stream-false", "generate"),
    _broken(NotSeparated, "stream-lines", "stream-newline", "actions-there"),
    _unwise(LastLineTorn, "stream-newline"),
    _broken(Latin1, "stream-utf8", "workflow-ends", "exec-cells"),
    _broken(WrongStreamType, "stream-type"),
    _unwise(Buffered, "stream-flushed"),
    _broken(WithoutType, "actions-formed", "workflow-ends", "stream-false", "generate"),
    _broken(WithoutCell, "actions-formed", "workflow-ends", "stream-false", "generate"),
    _broken(UnknownCell, "exec-cells", "workflow-ends"),
    _broken(NoActions, "actions-there"),
    _broken(OldActionSpelling, "canonical-spelling"),
    _broken(TwiceTheSameId, "plan-valid", "workflow-ends"),
    _broken(PlanWithoutStages, "plan-valid", "workflow-ends"),
    _unwise(HalfATransition, "transition-whole"),
    _broken(CrashesOnUnknownSteps, "unknown-position", "no-server-error"),
    _unwise(NotFoundForUnknownStages, "unknown-position"),
    _unwise(NeedsItKnowsNotWhat, "missing-evidence"),
    _broken(CrashesWithoutVariables, "missing-evidence", "location-only", "feedback-errors", "no-server-error"),
    _unwise(WantsContext, "location-only"),
    _unwise(KnowsNamesOnly, "behavior-names"),
    _unwise(RefusesDecisions, "rejection"),
    _unwise(OldDialectInParts, "v1-whole"),
    _broken(StrictFields, "unknown-fields", "no-server-error"),
    _broken(RefusesUnknown, "unknown-fields"),
    _broken(Yes, "verdict-boolean", "canonical-spelling", "transition-whole"),
    _broken(SnakeCase, "canonical-spelling"),
    _broken(NeverEnds, "workflow-ends"),
    _broken(NeitherNor, "workflow-ends"),
    _unwise(AlwaysAchieved, "feedback-errors"),
    _broken(NoFeedback, "feedback"),
    _broken(
        Redirects,
        "no-redirect",
        "start",
        "workflow-ends",
        "judgement-form",
        "required-fields",
        "invalid-json",
        "refusals-json",
    ),
    _broken(NothingRequired, "required-fields", "refusals-json"),
    _broken(SilentRefusal, "required-fields"),
    _broken(CrashesOnBadJson, "invalid-json", "no-server-error"),
    _unwise(ForgetsAndCounts, "repeated-planning", "same-after-stop"),
    _broken(SaysItRemembers, "repeated-planning", "same-after-stop", "rejection"),
    _unwise(GeneratesAnew, "repeated-generating", "same-after-stop"),
    _broken(LowerCaseOnly, "upper-case", "no-server-error"),
    _broken(NewSpellingOnly, "old-spellings"),
    _broken(ObjectsOnly, "old-forms"),
    _broken(SmallOnly, "big-request"),
    _broken(Compressed, "no-compression", "start", "workflow-ends", "judgement-form"),
    _broken(BadFilter, "context-filter"),
    _broken(BadSummary, "context-filter"),
    _broken(GoesNowhere, "navigation", "workflow-ends"),
    _broken(EndsAnotherStep, "end-phase", "workflow-ends"),
    _unwise(FiresNothing, "next-event"),
    _broken(ProgressObjectsOnly, "progress-texts"),
    _unwise(Stateful, "stateless", "feedback-errors"),
    _broken(PlainTextJudgement, "judgement-form"),
    _unwise(NoSpare, "generate"),
    _unwise(OneQuestionAConnection, "keep-alive"),
    _broken(BrokenV1, "v1-actions-post", "v1-actions-get", "v1-reflection", "v1-whole"),
    _broken(TearsStreams, "no-broken-connection", "workflow-ends"),
    _broken(OneAtATime, "concurrent", "no-server-error"),
    _unwise(NoNulls, "nulls"),
    _unwise(NoHealth, "health"),
    _unwise(AnswersBrowsers, "methods"),
    _broken(StepsTwice, "plan-valid"),
)
