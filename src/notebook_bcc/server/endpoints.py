"""The endpoints that ask the planner: from a request's bytes to its answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from notebook_bcc.errors import BccError, MessageInvalid
from notebook_bcc.protocol.dialects import request_from_v1
from notebook_bcc.protocol.messages import Request
from notebook_bcc.server.answers import Answer, Reader, check_size
from notebook_bcc.server.body import Decoded, body_here, decode, query_fields, read_body
from notebook_bcc.server.first_step import Unfinished, first_step
from notebook_bcc.server.memory import Memory, key_of
from notebook_bcc.server.metrics import Metrics
from notebook_bcc.server.problems import Problem, invalid, planner_failure, retry_after
from notebook_bcc.server.rounds import Rounds
from notebook_bcc.server.settings import ServerSettings
from notebook_bcc.server.wire import NDJSON, REPLAYED, Receive, Reply, Scope, header
from notebook_bcc.server.work import Work, gathered

LOG = logging.getLogger(__name__)

_POSITION = (
    *("stage_id", "current_stage_id", "step_id", "current_step_id", "step_index"),
    *("behavior_id", "behavior_iteration"),
)
_OBJECTS = ("context", "behavior_feedback")
_IDS = ("request_id", "run_id", "attempt")

Source = Callable[[Request], Coroutine[Any, Any, bytes]]


class Endpoints:
    """Each method answers one request, well or with a problem; only what nobody foresaw is raised."""

    def __init__(
        self, *, work: Work, memory: Memory, metrics: Metrics, settings: ServerSettings, rounds: Rounds
    ) -> None:
        self._work = work
        self._rounds = rounds
        self._memory = memory
        self._metrics = metrics
        self._settings = settings

    async def planning(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        request = await self._request(scope, receive, reply)
        if request is not None:
            await self._whole("/planning", request, receive, reply, self._work.planning)

    async def generating(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        request = await self._request(scope, receive, reply)
        if request is not None:
            await self._actions("/generating", request, scope, receive, reply)

    async def generate(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        """The spare of /generating; with `options.repair` the source of one cell instead."""
        request = await self._request(scope, receive, reply)
        if request is None:
            return
        if request.options.repair is None:
            await self._actions("/generate", request, scope, receive, reply)
        else:
            await self._whole("/generate", request, receive, reply, self._work.repair)

    async def actions_v1(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        """A GET carries the position in its query; one with a body is read like a POST."""
        if scope["method"] == "POST" or header(scope, b"content-length") not in (None, b"0"):
            request = await self._request(scope, receive, reply, request_from_v1)
        else:
            request = await self._query(scope, reply)
        if request is not None:
            await self._whole("/v1/actions", request, receive, reply, self._work.actions_v1)

    async def reflection_v1(self, scope: Scope, receive: Receive, reply: Reply) -> None:
        request = await self._request(scope, receive, reply, request_from_v1)
        if request is not None:
            await self._whole("/v1/reflection", request, receive, reply, self._work.reflection_v1)

    async def _request(
        self, scope: Scope, receive: Receive, reply: Reply, parse: Callable[[Any], Request] = Request.parse
    ) -> Request | None:
        """The request in the body, or None after it was refused or its client has gone."""
        body = body_here(scope, self._settings)
        if body is None:
            body = await read_body(receive, self._settings, rounds=self._rounds)
        if isinstance(body, bytes):
            found = self._parsed(body, parse)
            if not isinstance(found, Problem):
                return found
            body = found
        if body is not None:
            await reply.problem(body)
        return None

    def _parsed(self, body: bytes, parse: Callable[[Any], Request]) -> Request | Problem:
        decoded = decode(body, self._settings)
        if isinstance(decoded, Problem):
            return decoded
        try:
            return parse(decoded.data)
        except MessageInvalid as error:
            return invalid(error)

    async def _query(self, scope: Scope, reply: Reply) -> Request | None:
        found = self._query_data(scope)
        if isinstance(found, Problem):
            await reply.problem(found)
            return None
        try:
            return request_from_v1(found.data)
        except MessageInvalid as error:
            await reply.problem(invalid(error))
            return None

    def _query_data(self, scope: Scope) -> Decoded | Problem:
        """The body that a POST would have had."""
        fields = query_fields(scope)
        if isinstance(fields, Problem):
            return fields
        objects: dict[str, Any] = {}
        for name in _OBJECTS:
            if name in fields:
                decoded = decode(fields[name].encode(errors="replace"), self._settings)
                if isinstance(decoded, Problem):
                    return Problem(422, "invalid_message", "The query is not valid.", [(name, decoded.message)])
                objects[name] = decoded.data
        location = {name: fields[name] for name in _POSITION if name in fields}
        options = {name: fields[name] for name in _IDS if name in fields}
        observation = {"location": location, "context": objects.pop("context", None)}
        return Decoded({"observation": observation, "options": options, **objects})

    async def _whole(self, endpoint: str, request: Request, receive: Receive, reply: Reply, source: Source) -> None:
        """One JSON object, made once whoever asks and how often."""
        key = key_of(endpoint, request.options)
        try:
            answer = self._memory.find(key)
            if replayed := answer is not None:
                self._metrics.replayed(endpoint)
                whole = await self._read(answer, receive)
            else:
                made = first_step(source(request))
                if isinstance(made, Unfinished):
                    whole = await self._make(self._memory.begin(key), made, receive)
                else:
                    # Made without a wait: nobody else can have asked for it meanwhile.
                    self._memory.keep(key, (made,), check_size(len(made), self._settings.answer_bytes))
                    whole = made
        except (BccError, OSError) as failure:
            await self._failed(failure, endpoint, request, reply)
            return
        if whole is not None:
            await reply.whole(whole, headers=REPLAYED if replayed else ())

    async def _make(self, answer: Answer, rest: Awaitable[bytes], receive: Receive) -> bytes | None:
        """What the planner says; None when nobody waits for it any more."""
        with Reader(answer, receive) as reader:
            # Nothing is sent before it has ended: no client can hold it up, and a task of its own costs.
            await answer.make(rest)
            return b"".join(await reader.whole()) or None

    async def _read(self, answer: Answer, receive: Receive) -> bytes | None:
        with Reader(answer, receive) as reader:
            return b"".join(await reader.whole()) or None

    async def _actions(self, endpoint: str, request: Request, scope: Scope, receive: Receive, reply: Reply) -> None:
        answer, replayed = self._memory.answer(key_of(endpoint, request.options))
        self._count(endpoint, replayed)
        headers = REPLAYED if replayed else ()
        # An HTTP/1.0 answer ends with its connection: a broken stream would look like a whole one.
        streams = request.options.stream and scope.get("http_version") != "1.0"
        push = reply.push if streams and not replayed else None
        with Reader(answer, receive, push=push) as reader:
            try:
                if not replayed:
                    await self._begin(answer, request, spare=endpoint == "/generate", streams=streams)
                while lines := await reader.take():
                    if streams:
                        await reply.lines(lines, headers=headers)
            except (BccError, OSError) as failure:
                await self._failed(failure, endpoint, request, reply)
                return
        if reader.gone:
            return
        self._metrics.actions(len(answer.parts))
        if reply.status:
            await reply.end()
        elif request.options.stream:
            await reply.whole(b"".join(answer.parts), content=NDJSON, headers=headers)
        else:
            await reply.whole(gathered(answer.parts), headers=headers)

    async def _begin(self, answer: Answer, request: Request, *, spare: bool, streams: bool) -> None:
        actions = self._work.actions(request, spare=spare)
        if streams:
            answer.start(actions, self._work.line)
        else:
            await answer.work(actions, self._work.line)

    def _count(self, endpoint: str, replayed: bool) -> None:
        if replayed:
            self._metrics.replayed(endpoint)

    async def _failed(self, failure: BccError | OSError, endpoint: str, request: Request, reply: Reply) -> None:
        """A status where the answer has not begun; else the stream is left without its end, which breaks it."""
        ids = (request.options.run_id, request.options.request_id)
        LOG.warning("%s failed for run %r, request %r: %s", endpoint, *ids, failure)
        if reply.status:
            self._metrics.broken()
        elif isinstance(failure, BccError | TimeoutError):
            await reply.problem(planner_failure(failure))
        else:
            await reply.problem(Problem(503, "interrupted", f"There is no answer: {failure}.", headers=retry_after(1)))
