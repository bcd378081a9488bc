"""`ApiClient`: a planner asked by hand, synchronously or not, with the documents' `state` dicts."""

from __future__ import annotations

import contextlib
import logging
import uuid
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Self, SupportsIndex, overload

from notebook_bcc.api.loop_thread import LoopClient
from notebook_bcc.compat.config import Config
from notebook_bcc.compat.observing import Json
from notebook_bcc.compat.states import MISSING_PROGRESS, request_of
from notebook_bcc.errors import RunRefused
from notebook_bcc.planners.interface import Planner, StreamWarning
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.protocol.messages import BehaviorFeedback, Options, PlanningResponse, Request
from notebook_bcc.protocol.observation import Observation
from notebook_bcc.protocol.version import PROTOCOL_VERSION
from notebook_bcc.protocol.vocabulary import Dialect

_log = logging.getLogger(__name__)

State = Observation | Json
Feedback = BehaviorFeedback | Json
# An action as it came: decoded JSON, looked at by whoever carries it out.
ActionJson = Any


class Actions(list[ActionJson]):
    """The actions of one behavior, and what was skipped on the way.

    `answer["actions"]` is the list itself: the documents show both the list and the object around it.
    """

    def __init__(self, actions: list[ActionJson], *, warnings: tuple[str, ...] = ()) -> None:
        super().__init__(actions)
        self.warnings = warnings

    @overload
    def __getitem__(self, place: SupportsIndex, /) -> ActionJson: ...
    @overload
    def __getitem__(self, place: slice, /) -> list[ActionJson]: ...
    @overload
    def __getitem__(self, place: str, /) -> list[ActionJson]: ...
    def __getitem__(self, place: SupportsIndex | slice | str, /) -> ActionJson:
        if isinstance(place, str):
            if place != "actions":
                raise KeyError(place)
            return list(self)
        return super().__getitem__(place)


class BehaviorActions:
    """The actions of one behavior, on their way: iterate over it asynchronously, or take `answer["actions"]` at once.

    The documents write `async for action in fetch_behavior_actions(stream=True)` and, of the same function,
    `fetch_behavior_actions(stream=False)["actions"]` in plain code. Nothing is asked before one of the two is done.
    """

    def __init__(self, stream: AsyncGenerator[ActionJson, None], whole: Callable[[], Actions]) -> None:
        self._stream = stream
        self._whole = whole
        self._fetched: Actions | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ActionJson:
        return await anext(self._stream)

    async def aclose(self) -> None:
        """End the answer."""
        await self._stream.aclose()

    def __getitem__(self, place: str) -> list[ActionJson]:
        """All of them, for plain code, by the one name `actions`. Raises KeyError for any other."""
        if self._fetched is None:
            self._fetched = self._whole()
        return self._fetched[place]


class ApiClient:
    """Asks a planner one thing at a time. Nothing is tried again and nothing degrades: that is what a `Runner` does.

    Without a `planner` it is the DSLC service at `base_url`, or where `Config` says at the moment of the call. The
    synchronous calls run on the loop thread of the process and work inside a running loop too, which they block; a
    planner that is given must then stand being used from that loop. It is not closed here: it stays its owner's.
    """

    def __init__(
        self,
        *,
        planner: Planner | None = None,
        base_url: str | None = None,
        token: str | None = None,
        dialect: Dialect = "v2",
    ) -> None:
        self._planner = planner
        self._base_url = base_url
        self._token = token
        self._dialect: Dialect = dialect
        self._client_id = f"client-{uuid.uuid4().hex}"
        self._last: tuple[str | None, str | None, State] | None = None
        self._loop = LoopClient("API client")
        self._finalizer = weakref.finalize(self, self._loop.close)

    async def send_feedback(
        self,
        stage_id: str | None,
        step_id: str | None,
        state: State,
        behavior_feedback: Feedback | None = None,
    ) -> dict[str, Any]:
        """Ask /planning for its judgement, on a behavior that ended where one is told of.

        The answer has at least `targetAchieved`, and `continue_behaviors` and `target_achieved` in `transition`.
        Raises ValueError without progress information, MessageInvalid, PlannerUnreachable, PlannerAnswerInvalid.
        """
        request = request_of(
            state,
            stage_id=stage_id,
            step_id=step_id,
            behavior_feedback=behavior_feedback,
            options=self._options(stream=False),
        )
        self._last = (stage_id, step_id, state)
        return await self._judgement(request)

    def send_feedback_sync(
        self,
        stage_id: str | None,
        step_id: str | None,
        state: State,
        behavior_feedback: Feedback | None = None,
    ) -> dict[str, Any]:
        """The same for plain code."""
        self._require_open()
        return self._loop.run(self.send_feedback(stage_id, step_id, state, behavior_feedback))

    def fetch_behavior_actions(
        self,
        stage_id: str | None = None,
        step_id: str | None = None,
        state: State | None = None,
        *,
        stream: bool = True,
    ) -> BehaviorActions:
        """The actions of the next behavior from /generating, each as soon as it is known.

        Without `state` it is that of the call before, and so are the ids. What was skipped, such as a malformed line,
        is logged. Raises ValueError at once; PlannerUnreachable, PlannerAnswerInvalid or StreamBroken on the way.
        Closing it ends the answer.
        """
        request = self._behavior_request(stage_id, step_id, state, stream=stream)
        return BehaviorActions(self._actions(request, []), lambda: self._fetched(request))

    def fetch_behavior_actions_sync(
        self,
        stage_id: str | None = None,
        step_id: str | None = None,
        state: State | None = None,
        *,
        stream: bool = True,
    ) -> Actions:
        """All of them, for plain code; `stream` says how they travel. `warnings` has what was skipped."""
        return self._fetched(self._behavior_request(stage_id, step_id, state, stream=stream))

    def close(self) -> None:
        """End what is under way. May be called twice; a forgotten client closes itself."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _fetched(self, request: Request) -> Actions:
        self._require_open()
        return self._loop.run(self._all_actions(request))

    async def _judgement(self, request: Request) -> dict[str, Any]:
        async with self._asked() as planner:
            response = await planner.plan(request)
        return _wire_form(response)

    async def _all_actions(self, request: Request) -> Actions:
        warnings: list[str] = []
        found = [action async for action in self._actions(request, warnings)]
        return Actions(found, warnings=tuple(warnings))

    async def _actions(self, request: Request, warnings: list[str]) -> AsyncGenerator[ActionJson, None]:
        async with self._asked() as planner:
            answer = planner.generate(request)
            async with contextlib.aclosing(answer) as items:  # type: ignore[type-var]  # a generator in practice
                async for item in items:
                    if isinstance(item, StreamWarning):
                        _log.warning("%s", item.message)
                        warnings.append(item.message)
                    else:
                        yield item.data

    @contextlib.asynccontextmanager
    async def _asked(self) -> AsyncIterator[Planner]:
        """The planner that was given, or one for this call alone: its connections belong to the loop it is used on."""
        if self._planner is not None:
            yield self._planner
            return
        base_url = self._base_url or Config.settings().dslc_base_url
        planner = RemotePlanner(base_url, token=self._token, dialect=self._dialect)
        try:
            yield planner
        finally:
            await planner.close()

    def _behavior_request(
        self, stage_id: str | None, step_id: str | None, state: State | None, *, stream: bool
    ) -> Request:
        if state is None:
            if self._last is None:
                raise ValueError(f"{MISSING_PROGRESS} This client was told no state before")
            stage_id, step_id, state = stage_id or self._last[0], step_id or self._last[1], self._last[2]
        self._last = (stage_id, step_id, state)
        return request_of(state, stage_id=stage_id, step_id=step_id, options=self._options(stream=stream))

    def _options(self, *, stream: bool) -> Options:
        return Options(
            stream=stream,
            request_id=uuid.uuid4().hex,
            run_id=self._client_id,
            attempt=1,
            protocol_version=PROTOCOL_VERSION,
        )

    def _require_open(self) -> None:
        if not self._finalizer.alive:
            raise RunRefused("this API client is closed; make another one")


def _wire_form(response: PlanningResponse) -> dict[str, Any]:
    """The judgement on the wire, with the verdict in both places that the documents look for it."""
    fields = response.to_dict()
    advice: Mapping[str, Any] = fields["transition"]
    return {**fields, "transition": {"target_achieved": response.target_achieved, **advice}}
