"""What the planner is asked for each endpoint, as the bytes of its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

from notebook_bcc.errors import ActionMalformed, PlannerAnswerInvalid
from notebook_bcc.planners.interface import ActionData, Generated, Planner, StreamWarning
from notebook_bcc.protocol.actions import ActionBase, parse_action
from notebook_bcc.protocol.dialects import response_to_v1
from notebook_bcc.protocol.message import Message, encoded
from notebook_bcc.protocol.messages import BehaviorInfo, PlanningResponse, Request, TransitionAdvice
from notebook_bcc.protocol.ndjson import encode_line
from notebook_bcc.server.answers import Parts

_ACTION, _END = b'{"action":', b"}\n"
_WARNING = b'{"warning":'


class Work:
    """Asks one planner. Each method gives the parts of an answer: one JSON object, or the lines of a stream.

    Raises what the planner raises, and PlannerAnswerInvalid for what cannot be sent.
    """

    def __init__(self, planner: Planner, *, line_bytes: int) -> None:
        self._planner = planner
        self._line_bytes = line_bytes

    async def planning(self, request: Request) -> Parts:
        judged = await self._planner.plan(request)
        yield self._encoded(judged.with_whole_transition())

    async def generating(self, request: Request, *, fallback: bool = False) -> Parts:
        """A line of NDJSON for each action and each warning of a behavior."""
        async with aclosing(self._planner.generate(request, fallback=fallback)) as stream:  # type: ignore[type-var]
            async for item in stream:
                yield self._line(item)

    async def repair(self, request: Request) -> Parts:
        yield self._encoded({"source": await self._planner.repair(request)})

    async def reflection_v1(self, request: Request) -> Parts:
        yield self._encoded(response_to_v1(await self._planner.plan(request)))

    async def actions_v1(self, request: Request) -> Parts:
        """The one answer that v1 has for a judgement and a behavior.

        A client of the first document knows no planning before a behavior: at the beginning of a run, a stage and a
        step the planner is asked to judge here. One that shows its state machine has asked at /v1/reflection.
        """
        current, context = request.observation.location.current, request.observation.context
        first = current.behavior_iteration <= 1 and request.behavior_feedback is None
        if current.step_id is None or (first and context.fsm is None):
            judged = await self._planner.plan(request)
        else:
            known = BehaviorInfo(id=current.behavior_id, iteration=current.behavior_iteration)
            judged = PlanningResponse(behavior=known, transition=TransitionAdvice(continue_behaviors=True))
        actions: list[dict[str, Any]] = []
        warnings: list[str] = []
        if current.step_id is not None and not judged.target_achieved:
            async with aclosing(self._planner.generate(request)) as stream:  # type: ignore[type-var]
                async for item in stream:
                    _sort(item, actions, warnings)
        more = {"warnings": warnings} if warnings else {}
        yield self._encoded(response_to_v1(judged, actions) | more)

    def _line(self, item: Generated) -> bytes:
        """A line of NDJSON. That of a warning is skipped, with a warning, by readers that do not know it."""
        if isinstance(item, StreamWarning):
            return _warning(item.message)
        if type(item.data) is not dict and not isinstance(item.data, ActionBase | Mapping):
            return _warning(_no_object(item))
        try:
            line = encode_line(item.data)
        except (TypeError, ValueError, RecursionError) as error:
            raise self._unusable(f"an action cannot be written as JSON: {error}") from error
        if len(line) > self._line_bytes:
            raise self._unusable(f"an action is longer than {self._line_bytes} bytes")
        return line

    def _encoded(self, answer: Message | Mapping[str, Any]) -> bytes:
        try:
            return encoded(answer if isinstance(answer, Message) else Message.model_validate(answer))
        except (TypeError, ValueError, RecursionError) as error:
            raise self._unusable(f"it cannot be written as JSON: {error}") from error

    def _unusable(self, reason: str) -> PlannerAnswerInvalid:
        return PlannerAnswerInvalid(planner=self._planner.name, reason=reason)


def gathered(lines: Sequence[bytes]) -> bytes:
    """The lines of a stream as one object: `{"actions": [...]}`, with `warnings` where there were some."""
    actions = b",".join(line[len(_ACTION) : -len(_END)] for line in lines if line.startswith(_ACTION))
    warnings = b",".join(line[len(_WARNING) : -len(_END)] for line in lines if line.startswith(_WARNING))
    more = b',"warnings":[' + warnings + b"]" if warnings else b""
    return b'{"actions":[' + actions + b"]" + more + b"}"


def _warning(message: str) -> bytes:
    return _WARNING + json.dumps(message).encode() + _END


def _no_object(item: ActionData) -> str:
    return f"an action was left out: it is not an object but {type(item.data).__name__}"


def _sort(item: Generated, actions: list[dict[str, Any]], warnings: list[str]) -> None:
    """One item into the lists of a v1 answer, spelled as the translation wants it."""
    if isinstance(item, StreamWarning):
        warnings.append(item.message)
        return
    data = item.data.to_dict() if isinstance(item.data, ActionBase) else item.data
    try:
        # What the planner did not say is not said for it: `exec` alone has three fields that default.
        actions.append(parse_action(data).model_dump(mode="json", exclude_unset=True, by_alias=True))
    except ActionMalformed:
        if isinstance(data, Mapping):
            # Passed on as it is: the client names what is wrong with it, and the others go on.
            actions.append({"type": data.get("action"), **data})
        else:
            warnings.append(_no_object(item))
