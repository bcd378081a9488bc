"""The handlers of one script store: the engine's registry, for handlers and hooks that take the store."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from notebook_bcc.engine.actions.builtin import BUILTIN_HANDLERS
from notebook_bcc.engine.actions.context import ActionContext
from notebook_bcc.engine.actions.registry import ActionRegistry, check_registration
from notebook_bcc.engine.actions.threads import in_thread

# `(script_store, step)`, and the result beside them for a hook that comes after; may be async.
StoreFunction = Callable[..., Any]


class StoreRegistry(ActionRegistry):
    """What is registered here is called with the store where the engine's registry gives an action context."""

    def __init__(self, store: object) -> None:
        super().__init__()
        self._store = store
        # What is registered for all takes the store here, too.
        for name, handler in list(self._handlers.items()):
            if handler is not BUILTIN_HANDLERS.get(name):
                self.register_handler(name, handler)

    def register_handler(self, name: str, handler: StoreFunction) -> None:
        """Carry out actions of this type with `handler(script_store, step)`; the newest registration counts."""
        check_registration(name, handler)
        super().register_handler(name, _ForStore(self._store, handler))

    def add_pre_hook(self, hook: StoreFunction) -> None:
        """Call `hook(script_store, step)` before every action. One that raises makes the action an error result."""
        super().add_pre_hook(_ForStore(self._store, hook))

    def add_post_hook(self, hook: StoreFunction) -> None:
        """Call `hook(script_store, step, result)` after every action that was carried out."""
        super().add_post_hook(_ForStore(self._store, hook))

    def take_over(self, other: ActionRegistry) -> None:
        """Register what was registered in another registry; later changes of either do not reach the other."""
        for name, handler in other.own_handlers.items():
            self.register_handler(name, _function(handler))
        for hook in other.pre_hooks:
            self.add_pre_hook(_function(hook))
        for post in other.post_hooks:
            self.add_post_hook(_function(post))


@dataclass(frozen=True, slots=True)
class _ForStore:
    """A function of others, called with the store. A plain one runs in a thread: it may call the store and wait."""

    store: object
    function: StoreFunction

    async def __call__(self, context: ActionContext, *rest: Any) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(self.store, *rest)
        made = await in_thread(partial(self.function, self.store, *rest))
        return await made if inspect.isawaitable(made) else made


def _function(function: StoreFunction) -> StoreFunction:
    return function.function if isinstance(function, _ForStore) else function
