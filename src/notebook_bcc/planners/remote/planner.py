"""A planner in another process, machine or language, asked over HTTP."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace

import httpx2

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.planners.interface import Generated
from notebook_bcc.planners.remote.client import STREAM_TYPES, PlannerConnection, RemoteTimeouts
from notebook_bcc.planners.remote.failures import one_line
from notebook_bcc.planners.remote.stream import ActionReader, RemoteLimits
from notebook_bcc.protocol.dialects import actions_from_v1, position_query, request_bytes, response_from_v1
from notebook_bcc.protocol.messages import GeneratingResponse, PlanningResponse, Request
from notebook_bcc.protocol.vocabulary import Dialect, ShotType

__all__ = ["RemoteLimits", "RemotePlanner", "RemoteTimeouts"]


@dataclass(frozen=True, slots=True)
class _Paths:
    planning: str
    generating: str
    fallback: str


# The first dialect has no fallback endpoint: the same one is asked again, without a stream.
_PATHS = {
    "v2": _Paths(planning="/planning", generating="/generating", fallback="/generate"),
    "v1": _Paths(planning="/v1/reflection", generating="/v1/actions", fallback="/v1/actions"),
}


class RemotePlanner:
    """Asks a DSLC server. It tells failures apart and asks once: asking again is the engine's business.

    PlannerUnreachable is worth another try (no connection, no answer in time, a server that is busy or broken),
    RequestRefused (HTTP 409) is the server's word that it cannot answer this, PlannerAnswerInvalid an answer that
    is of no use.
    """

    def __init__(
        self,
        base_url: str,
        *,
        dialect: Dialect = "v2",
        token: str | None = None,
        timeouts: RemoteTimeouts | None = None,
        limits: RemoteLimits | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        """`transport` replaces the network, and with it the proxies of the environment. Raises SettingsInvalid."""
        self._dialect = dialect
        self._paths = _PATHS[dialect]
        self._timeouts = timeouts if timeouts is not None else RemoteTimeouts()
        self._limits = limits if limits is not None else RemoteLimits()
        self._beside: tuple[str | None, PlanningResponse | None] = (None, None)
        self._wire = PlannerConnection(base_url, token=token, timeouts=self._timeouts, transport=transport)

    def __repr__(self) -> str:
        return f"RemotePlanner({self.name!r}, dialect={self._dialect!r})"

    @property
    def name(self) -> str:
        """The server's address."""
        return self._wire.name

    async def plan(self, request: Request) -> PlanningResponse:
        """Judge. Raises PlannerUnreachable, RequestRefused, PlannerAnswerInvalid, or JudgementMalformed for a judgement
        of which a part cannot be read."""
        path = self._paths.planning
        body = await self._fetch(path, request)
        try:
            answer = PlanningResponse.parse(body) if self._dialect == "v2" else _judgement_from_v1(body)
        except MessageInvalid as error:
            raise self._wire.malformed(path, one_line(str(error))) from error
        # Every field has a default: without this, any object at all would be a judgement.
        known = {spelling for spellings in PlanningResponse.spellings.values() for spelling in spellings}
        unknown = (answer.model_extra or {}).keys() - known
        if unknown and not answer.model_fields_set - unknown:
            names = one_line(", ".join(unknown))
            raise self._wire.malformed(path, f"it is no judgement: it holds nothing but {names}")
        return answer

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        """The actions, each as soon as its line is complete. Closing the iterator closes the connection."""
        path = self._paths.fallback if fallback else self._paths.generating
        asked = request.options.request_id
        if fallback and self._dialect == "v1":
            # Another question, and so another id: what was asked under the first one asked for a stream.
            unstreamed = {"stream": False, "request_id": f"{asked}.whole"}
            request = request.model_copy(update={"options": request.options.model_copy(update=unstreamed)})
        # One whole answer may be one line.
        whole = (
            self._limits if request.options.stream else replace(self._limits, line_bytes=self._limits.response_bytes)
        )
        reader = ActionReader(
            planner=self.name,
            where=f"POST {path}",
            limits=whole,
            translate=actions_from_v1 if self._dialect == "v1" else None,
            hide=self._wire.hide,
        )
        asking = self._wire.ask(
            path,
            self._written(request),
            options=request.options,
            accepted=STREAM_TYPES,
            query=position_query(request) if self._dialect == "v1" else None,
        )
        async with asking as answer, contextlib.aclosing(answer.chunks(reader.broken)) as chunks:
            async for chunk in chunks:
                for item in reader.feed(chunk):
                    yield item
            for item in reader.finish(delimited=answer.delimited):
                self._note_beside(asked, reader)
                yield item
            self._note_beside(asked, reader)

    def judgement_beside(self, request_id: str | None) -> PlanningResponse | None:
        """What `/v1/actions` has answered beside the actions; None in the second dialect."""
        (asked, judged), self._beside = self._beside, (None, None)
        return judged if asked == request_id else None

    def _note_beside(self, asked: str | None, reader: ActionReader) -> None:
        """Raises JudgementMalformed before the first action is given out: nothing of the answer is used then."""
        document, reader.document = reader.document, b""
        if self._dialect == "v1" and document:
            try:
                self._beside = (asked, judgement_beside_actions(document))
            except MessageInvalid as error:
                raise self._wire.malformed(self._paths.generating, one_line(str(error))) from error

    async def repair(self, request: Request) -> str | None:
        """The source that the fallback endpoint answers with. The first dialect has no word for this question."""
        if self._dialect == "v1":
            return None
        path = self._paths.fallback
        body = await self._fetch(path, request)
        try:
            return _repaired(GeneratingResponse.parse(body))
        except MessageInvalid as error:
            raise self._wire.invalid(path, one_line(str(error))) from error

    async def close(self) -> None:
        """Close the connections. May be called twice."""
        await self._wire.close()

    async def _fetch(self, path: str, request: Request) -> bytes:
        return await self._wire.fetch(
            path,
            self._written(request),
            options=request.options,
            within=self._timeouts.planning,
            most=self._limits.response_bytes,
        )

    def _written(self, request: Request) -> bytes:
        return request_bytes(request, self._dialect)


def _judgement_from_v1(body: bytes) -> PlanningResponse:
    """Raises MessageInvalid."""
    try:
        decoded = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise MessageInvalid(what="v1 response", problems=[("", f"not JSON: {error}")]) from error
    return response_from_v1(decoded)[0]


def judgement_beside_actions(body: bytes) -> PlanningResponse | None:
    """The judgement of a v1 answer that has actions; None where it holds nothing else. Raises MessageInvalid."""
    answer = _judgement_from_v1(body)
    return answer if answer.model_fields_set & PlanningResponse.model_fields.keys() else None


def _repaired(answer: GeneratingResponse) -> str | None:
    """`source`, or the one code cell among the actions; a whole behavior is no repair."""
    source = (answer.model_extra or {}).get("source")
    if isinstance(source, str):
        return source
    code = [
        action.get("content")
        for action in answer.actions
        if isinstance(action, dict) and action.get("shot_type") == ShotType.ACTION and action.get("action") == "add"
    ]
    return code[0] if len(code) == 1 and isinstance(code[0], str) else None
