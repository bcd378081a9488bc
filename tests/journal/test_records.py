"""Every kind of record through the journal's form and back."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.journal.encoding import RECORD_TYPES, decode_record, encode_record
from notebook_bcc.journal.records import (
    ActionCompleted,
    CellChange,
    Command,
    ModelMessage,
    PlanningAnswered,
    PlanProposal,
    RecordBase,
)

EXAMPLES: Mapping[str, list[dict[str, Any]]] = json.loads(
    (Path(__file__).parent / "examples.json").read_text(encoding="utf-8")
)
KINDS = {model.model_fields["kind"].default: model for model in RECORD_TYPES}

TEXT = st.text(max_size=20)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
SIMPLE: Mapping[Any, st.SearchStrategy[Any]] = {
    str: st.text(min_size=1, max_size=20),
    int: st.integers(min_value=0, max_value=2**63),
    float: st.floats(min_value=0),
    bool: st.booleans(),
    type(None): st.none(),
    Any: JSON,
}
# What a field's type alone does not say. A judgement in `transition` is read as that of the response.
SPECIAL: Mapping[tuple[str, str], st.SearchStrategy[Any]] = {
    ("Promotion", "artifact_id"): st.from_regex(r"[a-z]{1,5}@[a-z0-9]{1,3}", fullmatch=True),
    ("TransitionAdvice", "target_achieved"): st.none(),
    ("RemotePlannerSpec", "url"): st.just("http://127.0.0.1:28600"),
    ("JupyterServerKernelSpec", "url"): st.just("http://127.0.0.1:18600/lab"),
}


def values_of(annotation: Any) -> st.SearchStrategy[Any]:
    """Values that a field with this annotation accepts."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in SIMPLE:
        return SIMPLE[annotation]
    if origin is Annotated:
        return values_of(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of(*map(values_of, arguments))
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(TEXT, values_of(arguments[1]), max_size=3)
    if issubclass(annotation, Enum):
        return st.sampled_from(list(annotation))
    assert issubclass(annotation, BaseModel), f"no values for {annotation}"
    return models_of(annotation)


def models_of(model: type[BaseModel]) -> st.SearchStrategy[BaseModel]:
    """Instances of a model: required fields always there, the others now and then."""
    required: dict[str, st.SearchStrategy[Any]] = {}
    optional: dict[str, st.SearchStrategy[Any]] = {}
    for name, field in model.model_fields.items():
        special = SPECIAL.get((model.__name__, name))
        values = values_of(field.annotation) if special is None else special
        (required if field.is_required() else optional)[name] = values
    optional.pop("kind", None)
    return st.fixed_dictionaries(required, optional=optional).map(model.model_validate)


def round_trip(record: RecordBase) -> RecordBase:
    kind: str = type(record).model_fields["kind"].default
    return decode_record(kind, encode_record(record))  # type: ignore[arg-type]  # one of the union


def test_every_kind_has_an_example_and_every_example_a_kind() -> None:
    assert set(EXAMPLES) == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_the_examples_of_a_kind_show_all_its_fields_with_other_values_than_the_default(kind: str) -> None:
    model = KINDS[kind]
    shown = set()
    for example in EXAMPLES[kind]:
        fields = model.model_validate(example).model_dump(exclude_defaults=True)
        shown |= set(fields)
    assert shown == set(model.model_fields) - {"kind"}


@pytest.mark.parametrize("kind", KINDS)
def test_an_example_comes_back_as_it_was(kind: str) -> None:
    for example in EXAMPLES[kind]:
        record = KINDS[kind].model_validate(example)
        assert round_trip(record) == record


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_record_comes_back_as_it_was(kind: str, data: st.DataObject) -> None:
    record = data.draw(models_of(KINDS[kind]))
    assert isinstance(record, RecordBase)
    assert round_trip(record) == record


@pytest.mark.parametrize("kind", KINDS)
def test_fields_that_a_later_version_added_are_kept(kind: str) -> None:
    later = {"added_later": {"a": [1, None, "数"]}, "empty": None}
    record = KINDS[kind].model_validate({**EXAMPLES[kind][0], **later})
    assert round_trip(record) == record
    assert round_trip(record).model_extra == later


def test_a_verdict_at_the_top_is_not_replaced_by_the_one_in_the_transition() -> None:
    response = {"targetAchieved": False, "transition": {"target_achieved": True}}
    record = PlanningAnswered.model_validate({"request_id": "q", "purpose": "step", "response": response})
    assert round_trip(record) == record


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("never_heard_of", b"{}"),
        ("warned", b""),
        ("warned", b"{"),
        ("warned", b"[]"),
        ("warned", b"{}"),
        ("warned", b'{"message": 1}'),
        ("transitioned", b'{"source": "nowhere", "event": "FAIL", "to": "error"}'),
        ("warned", b'{"message": "\xff"}'),
    ],
)
def test_what_is_no_record_is_refused_by_name(kind: str, body: bytes) -> None:
    with pytest.raises(MessageInvalid, match=kind):
        decode_record(kind, body)


# Of each model, as journals have been written with it. A field that is new is added here, with its default.
FIELDS: Mapping[str, dict[str, Any]] = json.loads((Path(__file__).parent / "fields.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("model", [*RECORD_TYPES, CellChange, PlanProposal, ModelMessage, Command])
def test_no_field_becomes_required_and_no_default_changes(model: type[RecordBase]) -> None:
    fields = model.model_fields
    assert sorted(name for name, field in fields.items() if field.is_required()) == FIELDS[model.__name__]["required"]
    made = {
        name: field.get_default(call_default_factory=True) for name, field in fields.items() if not field.is_required()
    }
    plain = {name: one.model_dump(mode="json") if isinstance(one, BaseModel) else one for name, one in made.items()}
    assert json.loads(json.dumps(plain)) == FIELDS[model.__name__]["defaults"]


def test_a_cell_that_failed_is_not_run_again_for_a_new_kernel() -> None:
    def cells(**said: Any) -> tuple[str, ...]:
        return ActionCompleted(action_id="a", action="exec", **said).succeeded_cells

    assert cells(success=True, executed="x") == ("x",)
    assert cells(success=False, executed="x") == ()
    assert cells(success=False, executed="x", ran=("y",)) == ("y",)
