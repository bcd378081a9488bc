"""The common ground of every message: frozen, unknown fields kept, errors that name the field's path."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

import orjson
from pydantic import AliasChoices, BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import from_json

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.problems import problems_of

_Made = TypeVar("_Made")


class Message(BaseModel):
    """A value of the wire. Reads every spelling it knows, writes one, and keeps what it does not know.

    A null where a value is wanted counts as absent: many peers write one for what they do not have.
    """

    model_config = ConfigDict(
        defer_build=True,
        frozen=True,
        extra="allow",
        populate_by_name=True,
        serialize_by_alias=True,
        ser_json_inf_nan="strings",
    )

    spellings: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Per field the names it is read under. The first is the canonical one, which is written."""
    unwritten: ClassVar[frozenset[str]] = frozenset()
    """Fields that are read and never written."""
    _written: ClassVar[tuple[tuple[str, str], ...]] = ()
    _known: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:  # Any: pydantic's own signature
        cls.spellings = {name: _spellings(name, field) for name, field in cls.model_fields.items()}
        cls._written = tuple((name, names[0]) for name, names in cls.spellings.items() if name not in cls.unwritten)
        cls._known = frozenset(one for names in cls.spellings.values() for one in names)

    @classmethod
    def parse(cls, data: Any) -> Self:  # Any: whatever a peer sent
        """Make a message of JSON bytes, JSON text or decoded JSON. Raises MessageInvalid naming each field."""
        try:
            if isinstance(data, (bytes, bytearray, str)):
                # Decoding first and validating then is a quarter faster than pydantic's one pass over text.
                data = from_json(data.encode() if isinstance(data, str) else data)
            return validated(cls.model_validate, data)
        except ValidationError as error:
            raise MessageInvalid(what=cls.__name__, problems=problems_of(error)) from error
        except ValueError as error:
            raise MessageInvalid(what=cls.__name__, problems=[("", f"not JSON: {error}")]) from error

    def to_json(self) -> bytes:
        """The canonical spelling, absent fields left out. JSON has no NaN: a number that is not finite becomes null."""
        return encoded(self)

    def to_dict(self) -> dict[str, Any]:
        """What a peer would decode from `to_json`."""
        decoded: dict[str, Any] = from_json(self.to_json())
        return decoded


def encoded(value: Any) -> bytes:  # Any: a message, or plain JSON that may hold messages
    """The value as `Message.to_json` writes one. Raises TypeError or ValueError for what JSON cannot hold."""
    try:
        return orjson.dumps(value, default=_fields)
    except TypeError:
        # An integer beyond 64 bits or half of a surrogate pair: rare, and worth the slow way.
        finite = json.loads(json.dumps(value, default=_fields), parse_constant=lambda _: None)
        return json.dumps(finite, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def validated(validate: Callable[[Any], _Made], data: Any) -> _Made:  # Any: decoded, not validated yet
    """What `validate` makes of the data, nulls in the wrong place counted as absent. Raises ValidationError."""
    try:
        return validate(data)
    except ValidationError as error:
        changed = _without_nulls(error, data)
    return validate(changed)


def _spellings(name: str, field: FieldInfo) -> tuple[str, ...]:
    """The canonical name of a field, then the others it is read under."""
    read = field.validation_alias
    choices = read.choices if isinstance(read, AliasChoices) else [read]
    others = [one for one in (*choices, name) if isinstance(one, str)]
    return tuple(dict.fromkeys([field.serialization_alias or name, *others]))


def _fields(value: object) -> dict[str, Any]:
    """A message as the encoder writes it: absent fields left out, unknown ones kept as they came."""
    if not isinstance(value, Message):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    held = value.__dict__
    fields: dict[str, Any] = {}
    # A loop and not a comprehension, which is a call of its own before Python 3.12.
    for name, written in value._written:
        if (one := held[name]) is not None:
            fields[written] = one
    if extra := value.model_extra:
        # A second spelling of a field is not unknown: written beside the first it would contradict it one day.
        fields.update({name: one for name, one in extra.items() if name not in value._known})
    return fields


def _without_nulls(error: ValidationError, data: Any) -> Any:  # Any: decoded, not validated yet
    """The data without the nulls that are errors. Raises the error where that changes nothing."""
    nulls = [item["loc"] for item in error.errors(include_url=False) if item["input"] is None]
    if not nulls:
        raise error
    return _without(nulls, data)


def _without(paths: list[tuple[int | str, ...]], data: Any) -> Any:  # Any: decoded, not validated yet
    """A copy of the data without the members at these paths; elements of lists stay, and so does their error."""
    data = copy.deepcopy(data)
    for path in paths:
        place = data
        for part in path[:-1]:
            # A part that is not in the data is a label pydantic put there, such as the member of a union.
            member = isinstance(place, dict) and part in place
            if member or (isinstance(place, list) and isinstance(part, int) and part < len(place)):
                place = place[part]
        if path and isinstance(place, dict) and place.get(str(path[-1]), "") is None:
            del place[str(path[-1])]
    return data
