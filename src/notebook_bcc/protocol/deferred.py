"""Requests that are checked in one pass over their bytes; the messages are made when somebody reads them.

Decoding a request and making forty messages of it takes more than twice the time of checking it. A service that answers
from its memory, or a planner that goes by its own plan, need not pay for more.
"""

from __future__ import annotations

import types
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType

from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import Options, Request

# The quick check takes values of any shape no deeper than this; a request that it takes is no deeper than DEEPEST.
_ANY_DEPTH = 5
DEEPEST = 32
_READ = "what was read"
_NOTHING_SAID = dict(Options())
_NAMES = tuple(_NOTHING_SAID)

# Any: types are values here, and a value of the wire may have any.


class QuickReader:
    """Takes the requests that nearly every client sends, and leaves the others to `Request.parse`.

    The types it checks by are made of the messages' own, strictly: what has another spelling, a field nobody knows, a
    null in place of a value or a number as text is not refused but left. So what it takes, `Request.parse` takes, with
    the same result; and only `Request.parse` ever says what is wrong.
    """

    def __init__(self) -> None:
        self._decode = msgspec.json.Decoder(_struct(Request, _bounded(_ANY_DEPTH), {})).decode

    def read(self, body: bytes) -> Request | None:
        """The request in these bytes, or None: `Request.parse` has to look at them."""
        try:
            read = self._decode(body)
        except (ValueError, RecursionError):
            # msgspec's errors are ValueErrors, and so is a text that is not UTF-8.
            return None
        return _deferred(read)


def was_read(request: Request) -> bool:
    """Whether somebody has read more of it than the options, so that all its messages were made."""
    return type(request) is not _Deferred


class _Deferred(Request):
    """A request of which nobody has read more than the options. Looked at in any other way it becomes a Request, in
    class and in value: whoever holds it cannot tell."""

    def __getattribute__(self, name: str) -> Any:
        held = object.__getattribute__(self, "__dict__")
        if name == "options":
            return held["options"]
        read = held.get(_READ)
        # None: another thread was quicker.
        if read is not None:
            # All at once and by pydantic: made one by one, in Python, they cost more as soon as half of them are read.
            made = Request.model_validate(msgspec.to_builtins(read))
            for slot in ("__pydantic_fields_set__", "__pydantic_extra__", "__pydantic_private__", "__dict__"):
                object.__setattr__(self, slot, getattr(made, slot))
            object.__setattr__(self, "__class__", Request)
        return object.__getattribute__(self, name)


def _deferred(read: Any) -> Request:
    made = object.__new__(_Deferred)
    object.__setattr__(made, "__dict__", {"options": _options(read.options), _READ: read})
    return made


def _options(read: Any) -> Options:
    if read is UNSET:
        return Options()
    if read.repair is not UNSET:
        return Options.model_validate(msgspec.to_builtins(read))
    # All that is left is checked and needs no message of its own: what pydantic would do to it is copy it.
    given = {name: value for name in _NAMES if (value := getattr(read, name)) is not UNSET}
    made = object.__new__(Options)
    object.__setattr__(made, "__pydantic_fields_set__", set(given))
    object.__setattr__(made, "__pydantic_extra__", {})
    object.__setattr__(made, "__pydantic_private__", None)
    object.__setattr__(made, "__dict__", {**_NOTHING_SAID, **given})
    return made


def _struct(message: type[Message], anything: Any, known: dict[type[Message], type[Struct]]) -> type[Struct]:
    """The message's fields under their canonical names, and no others."""
    if message not in known:
        fields: list[Any] = []
        for name, field in message.model_fields.items():
            kind = _type(field.annotation, anything, known)
            fields.append((name, kind) if field.is_required() else (name, kind | UnsetType, UNSET))
        names = {name: written for name, (written, *_) in message.spellings.items()}
        known[message] = msgspec.defstruct(
            message.__name__, fields, rename=names, forbid_unknown_fields=True, kw_only=True, gc=False
        )
    return known[message]


def _type(kind: Any, anything: Any, known: dict[type[Message], type[Struct]]) -> Any:
    """A field's type as msgspec is told it."""
    if kind is Any:
        return anything
    if isinstance(kind, type) and issubclass(kind, Message):
        return _struct(kind, anything, known)
    arguments = tuple(one if one is ... else _type(one, anything, known) for one in get_args(kind))
    if get_origin(kind) in (Union, types.UnionType):
        return Union[arguments]  # noqa: UP007  a union of a list of types has no other spelling
    return get_origin(kind)[arguments] if arguments else kind


def _bounded(depth: int) -> Any:
    """Any JSON value of so many levels. Deeper ones are for the parser that counts them."""
    kind: Any = None | bool | int | float | str
    for _ in range(depth):
        kind = None | bool | int | float | str | list[kind] | dict[str, kind]
    return kind
