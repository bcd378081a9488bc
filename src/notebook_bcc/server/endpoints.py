"""The endpoints that ask the planner: from a request to its response."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from starlette.requests import Request as HttpRequest
from starlette.responses import Response

from notebook_bcc.errors import BccError, MessageInvalid
from notebook_bcc.protocol.dialects import request_from_v1
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.version import version_remark
from notebook_bcc.server.answers import Answer, Parts
from notebook_bcc.server.body import decode, query_fields, read_body
from notebook_bcc.server.memory import Memory, key_of
from notebook_bcc.server.metrics import Metrics
from notebook_bcc.server.problems import Problem, failed, invalid
from notebook_bcc.server.responses import NDJSON, LineStream
from notebook_bcc.server.settings import ServerSettings
from notebook_bcc.server.work import Work, gathered

LOG = logging.getLogger(__name__)

_JSON = "application/json"
_POSITION = (
    *("stage_id", "current_stage_id", "step_id", "current_step_id", "step_index"),
    *("behavior_id", "behavior_iteration"),
)
_OBJECTS = ("context", "behavior_feedback")
_ATTEMPT_DIGITS = 10
# A client that names another version each time is not let fill the log.
_REMARKS = 20
_IDS = ("request_id", "run_id", "attempt")

Source = Callable[[Request], Parts]


class Endpoints:
    """Each method answers one request. Raises Problem for a refusal or a failure of the planner."""

    def __init__(self, *, work: Work, memory: Memory, metrics: Metrics, settings: ServerSettings) -> None:
        self._work = work
        self._memory = memory
        self._metrics = metrics
        self._settings = settings
        self._remarked: set[str] = set()

    async def planning(self, http: HttpRequest) -> Response:
        return await self._whole(http, await self._read(http), self._work.planning)

    async def generating(self, http: HttpRequest) -> Response:
        return await self._actions(http, await self._read(http), self._work.generating)

    async def generate(self, http: HttpRequest) -> Response:
        """The fallback of /generating; with `options.repair` the source of one cell instead."""
        request = await self._read(http)
        if request.options.repair is not None:
            return await self._whole(http, request, self._work.repair)
        return await self._actions(http, request, functools.partial(self._work.generating, fallback=True))

    async def actions_v1(self, http: HttpRequest) -> Response:
        """A GET carries the position in its query; one with a body is read like a POST."""
        if http.method == "POST" or http.headers.get("content-length", "0") != "0":
            request = await self._read(http, request_from_v1)
        else:
            request = _parsed(request_from_v1, self._query_data(http))
        return await self._whole(http, request, self._work.actions_v1)

    async def reflection_v1(self, http: HttpRequest) -> Response:
        return await self._whole(http, await self._read(http, request_from_v1), self._work.reflection_v1)

    async def _read(self, http: HttpRequest, parse: Callable[[Any], Request] = Request.parse) -> Request:
        request = _parsed(parse, decode(await read_body(http, self._settings), self._settings))
        self._remark_version(request)
        # A repeated request has the same body: how often it was sent stands in a header.
        attempt = http.headers.get("x-attempt", "")
        if not (attempt.isascii() and attempt.isdigit() and len(attempt) < _ATTEMPT_DIGITS):
            return request
        options = request.options.model_copy(update={"attempt": int(attempt)})
        return request.model_copy(update={"options": options})

    def _remark_version(self, request: Request) -> None:
        """Say once that a client speaks a version which is not known; it is answered all the same."""
        remark = version_remark(request.options.protocol_version)
        if remark and remark not in self._remarked and len(self._remarked) < _REMARKS:
            self._remarked.add(remark)
            LOG.warning("run %r: %s", request.options.run_id, remark)

    def _query_data(self, http: HttpRequest) -> dict[str, Any]:
        """The body that a POST would have had."""
        fields = query_fields(http)
        objects = {name: self._query_object(name, fields[name]) for name in _OBJECTS if name in fields}
        location = {name: fields[name] for name in _POSITION if name in fields}
        options = {name: fields[name] for name in _IDS if name in fields}
        observation = {"location": location, "context": objects.pop("context", None)}
        return {"observation": observation, "options": options, **objects}

    def _query_object(self, name: str, text: str) -> Any:  # Any: whatever a peer sent
        try:
            return decode(text.encode(errors="replace"), self._settings)
        except Problem as problem:
            problems = [(name, problem.message)]
            raise Problem(422, "invalid_message", "The query is not valid.", problems=problems) from problem

    async def _whole(self, http: HttpRequest, request: Request, source: Source) -> Response:
        """One JSON object, made once whoever asks and how often."""
        parts, headers = self._ask(http, request, source)
        return Response(b"".join([part async for part in parts]), headers=headers, media_type=_JSON)

    async def _actions(self, http: HttpRequest, request: Request, source: Source) -> Response:
        lines, headers = self._ask(http, request, source)
        # An HTTP/1.0 answer ends with its connection: a broken stream would look like a whole one.
        if request.options.stream and http.scope["http_version"] != "1.0":
            return LineStream(lines, headers=headers, metrics=self._metrics)
        found = [line async for line in lines]
        self._metrics.actions(len(found))
        if request.options.stream:
            return Response(b"".join(found), headers=headers, media_type=NDJSON)
        return Response(gathered(found), headers=headers, media_type=_JSON)

    def _ask(self, http: HttpRequest, request: Request, source: Source) -> tuple[Parts, dict[str, str]]:
        """The parts of the answer, begun here or before, and the header that tells which."""
        endpoint = http.scope["path"]
        answer, replayed = self._memory.answer(key_of(endpoint, request), lambda: source(request))
        if not replayed:
            return self._follow(http, request, answer), {}
        self._metrics.replayed(endpoint)
        return self._follow(http, request, answer), {"idempotent-replayed": "true"}

    async def _follow(self, http: HttpRequest, request: Request, answer: Answer) -> Parts:
        try:
            async with aclosing(answer.follow(http.receive)) as parts:
                async for part in parts:
                    yield part
        except (BccError, OSError) as failure:
            ids = (request.options.run_id, request.options.request_id)
            LOG.warning("%s failed for run %r, request %r: %s", http.scope["path"], *ids, failure)
            raise failed(failure) from failure


def _parsed(parse: Callable[[Any], Request], data: Any) -> Request:  # Any: decoded, not validated yet
    try:
        return parse(data)
    except MessageInvalid as error:
        raise invalid(error) from error
