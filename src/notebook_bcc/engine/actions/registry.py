"""Which handler carries out which action, and what is called around it."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

from notebook_bcc.engine.actions.builtin import BUILTIN_HANDLERS
from notebook_bcc.engine.actions.context import ActionContext
from notebook_bcc.engine.actions.threads import in_thread
from notebook_bcc.errors import ActionRefused, BccError
from notebook_bcc.protocol.actions import Action

# A handler gets the context and the action; what it returns stands in the action's record. It may be async; a plain one
# runs in a thread of its own, where it may wait for what it asks of the context.
Handler = Callable[[ActionContext, Any], Awaitable[Any] | Any]
PreHook = Callable[[ActionContext, Action], Awaitable[None] | None]
PostHook = Callable[[ActionContext, Action, Any], Awaitable[None] | None]


class ActionRegistry:
    """The handlers of one run. Each run has its own: what one registers no other sees.

    The exception is `register_for_all`, which the protocol's documents promise as `ScriptStore.register_custom_action`.
    """

    # Process-wide, by that promise alone; exchanged whole, so that other threads see the old handlers or the new ones.
    _for_all: ClassVar[Mapping[str, Handler]] = MappingProxyType({})

    def __init__(self, handlers: Mapping[str, Handler] | None = None) -> None:
        self._common: Mapping[str, Handler] = {**BUILTIN_HANDLERS, **ActionRegistry._for_all}
        self._handlers: dict[str, Handler] = {**self._common, **(handlers or {})}
        self._pre_hooks: list[PreHook] = []
        self._post_hooks: list[PostHook] = []

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._handlers)

    @property
    def own_handlers(self) -> Mapping[str, Handler]:
        """What was registered here, beyond what every registry has."""
        return {name: one for name, one in self._handlers.items() if one is not self._common.get(name)}

    @property
    def pre_hooks(self) -> tuple[PreHook, ...]:
        return tuple(self._pre_hooks)

    @property
    def post_hooks(self) -> tuple[PostHook, ...]:
        return tuple(self._post_hooks)

    def register_handler(self, name: str, handler: Handler) -> None:
        """Carry out actions of this type with this handler; the newest registration counts."""
        check_registration(name, handler)
        self._handlers[name] = handler

    @classmethod
    def register_for_all(cls, name: str, handler: Handler) -> None:
        """Let every registry that is made from now on in this process have this handler."""
        check_registration(name, handler)
        ActionRegistry._for_all = MappingProxyType({**ActionRegistry._for_all, name: handler})

    @classmethod
    def for_all(cls) -> Mapping[str, Handler]:
        """What every registry has that is made now, beyond the protocol's own; another object after each change."""
        return ActionRegistry._for_all

    @classmethod
    def unregister_for_all(cls, name: str) -> None:
        """Registries made from now on do not have it any more. No error when none did."""
        kept = {known: handler for known, handler in ActionRegistry._for_all.items() if known != name}
        ActionRegistry._for_all = MappingProxyType(kept)

    def register(self, name: str) -> Callable[[Handler], Handler]:
        """The same as a decorator."""

        def remember(handler: Handler) -> Handler:
            self.register_handler(name, handler)
            return handler

        return remember

    def add_pre_hook(self, hook: PreHook) -> None:
        """Call this before every action. One that raises makes the action an error result; it is not carried out."""
        self._pre_hooks.append(hook)

    def add_post_hook(self, hook: PostHook) -> None:
        """Call this after every action that was carried out. One that raises makes it an error result."""
        self._post_hooks.append(hook)

    def knows(self, name: str) -> bool:
        """Whether a handler is registered for actions of this name."""
        return name in self._handlers

    async def handle(self, context: ActionContext, action: Action) -> None:
        """Hooks, handler, hooks. What goes wrong is noted on the context as the action's error, never raised.

        This is a border: handlers and hooks are other people's code and may raise anything.
        """
        try:
            for hook in self._pre_hooks:
                await _awaited(hook(context, action))
            result = await _handled(self._handlers[action.action], context, action)
            if result is not None:
                context.result = result
            for post in self._post_hooks:
                await _awaited(post(context, action, context.result))
        except ActionRefused as refusal:
            context.refuse(type(refusal).__name__, str(refusal))
        except BccError:
            raise
        except Exception as error:  # noqa: BLE001  # a border post: other people's code
            context.refuse(type(error).__name__, f"{type(error).__name__}: {error}")


def check_registration(name: str, handler: object) -> None:
    """Raises ValueError or TypeError for what cannot be registered."""
    if not name:
        raise ValueError("an action type needs a name")
    if not callable(handler):
        raise TypeError(f"the handler of {name!r} is not callable")


async def _handled(handler: Handler, context: ActionContext, action: Action) -> Any:
    if inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__):
        return await _awaited(handler(context, action))
    return await _awaited(await in_thread(partial(handler, context, action)))


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
