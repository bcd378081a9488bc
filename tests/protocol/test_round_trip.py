"""Any message that can be built comes back from its own JSON as it was."""

from __future__ import annotations

import enum
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic.fields import FieldInfo

from notebook_bcc.protocol.actions import BUILTIN_ACTIONS, ActionBase, CustomAction, parse_action
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import ActionLine, GeneratingResponse
from notebook_bcc.protocol.schemas import MESSAGES, message_schemas

# Their schemas say what an action looks like; the models take anything, to refuse a bad action alone.
OPAQUE = (ActionLine, GeneratingResponse)

TEXT = st.text(max_size=6)
NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)


def values_of(kind: Any, field: FieldInfo | None = None) -> st.SearchStrategy[Any]:
    """Values of an annotation, within the limits its field declares."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (types.UnionType, Union):
        return st.one_of([values_of(part, field) for part in parts])
    if origin is Literal:
        return st.sampled_from(parts)
    if origin is tuple:
        return st.lists(values_of(parts[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, values_of(parts[1]), max_size=2)
    if origin is Annotated:
        return values_of(parts[0], field)
    return plain_values(kind, field)


def plain_values(kind: Any, field: FieldInfo | None) -> st.SearchStrategy[Any]:
    limits = field.metadata if field else []
    pattern = next((found for limit in limits if (found := getattr(limit, "pattern", None))), None)
    least = next((limit.min_length for limit in limits if isinstance(limit, annotated_types.MinLen)), 0)
    lowest: Any = next((limit.ge for limit in limits if isinstance(limit, annotated_types.Ge)), None)
    if kind is Any:
        return JSON
    if kind is type(None):
        return st.none()
    if isinstance(kind, type) and issubclass(kind, Message):
        return messages(kind)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return st.sampled_from(list(kind))
    if kind is str and pattern:
        return st.from_regex(pattern, fullmatch=True)
    plain: dict[Any, st.SearchStrategy[Any]] = {
        str: st.text(min_size=least, max_size=6),
        bool: st.booleans(),
        int: st.integers(min_value=lowest),
        float: st.floats(min_value=lowest, allow_nan=False, allow_infinity=False),
    }
    return plain[kind]


@st.composite
def messages(draw: st.DrawFn, model: type[Message]) -> Message:
    """Any instance: required fields, some of the others, and some that nobody knows."""
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if field.is_required() or draw(st.booleans()):
            values[name] = draw(values_of(field.annotation, field))
    # An action under one of the eleven names is not a custom one.
    assume(model is not CustomAction or values["action"] not in BUILTIN_ACTIONS)
    taken = {one for names in model.spellings.values() for one in names} | {"type"}
    unknown = draw(st.dictionaries(TEXT.filter(lambda name: name not in taken), JSON, max_size=2))
    return model(**values, **unknown)


@pytest.mark.parametrize("model", MESSAGES, ids=lambda model: model.__name__)
def test_a_message_comes_back_from_its_json_and_fits_its_schema(model: type[Message]) -> None:
    schema = Draft202012Validator(message_schemas()[model.__name__])

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(messages(model))
    def check(message: Message) -> None:
        assert model.parse(message.to_json()) == message
        assert model.parse(message.to_dict()) == message
        if model not in OPAQUE:
            schema.validate(message.to_dict())

    check()


@pytest.mark.parametrize("model", [*BUILTIN_ACTIONS.values(), CustomAction], ids=lambda model: model.__name__)
def test_an_action_comes_back_from_its_json_by_its_name(model: type[ActionBase]) -> None:
    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(messages(model))
    def check(message: Message) -> None:
        assert parse_action(message.to_dict()) == message

    check()
