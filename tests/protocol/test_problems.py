"""What is wrong with a value is said in our own words: every kind of error that a model of ours can give has some."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo, field_validator

from notebook_bcc.errors import MessageInvalid, sentence
from notebook_bcc.journal.encoding import RECORD_TYPES
from notebook_bcc.llm.choice import LlmChoice
from notebook_bcc.planners.script import file as script_file
from notebook_bcc.playbook import parts as playbook_parts
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.problems import KNOWN, problems_of, value_problems

# Any, throughout: values that may be wrong, and schemas as pydantic writes them.


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")
    kind: Literal["closed"] = "closed"
    size: int = 0

    @field_validator("size")
    @classmethod
    def _even(cls, value: int, _info: ValidationInfo) -> int:
        if value % 2:
            raise ValueError("must be even")
        return value


class Other(BaseModel):
    kind: Literal["other"]


CASES: list[tuple[Any, Any, str, str]] = [
    (Other, {}, "missing", "is required"),
    (Closed, {"more": 1}, "extra_forbidden", "is not known here"),
    (Closed, 5, "model_type", "must be an object"),
    (Closed, {"size": 3}, "value_error", "must be even"),
    (str, 5, "string_type", "must be a text"),
    (str, b"\xff", "string_unicode", "must be a text"),
    (int, "x", "int_parsing", "must be a whole number"),
    (int, [], "int_type", "must be a whole number"),
    (int, 1.5, "int_from_float", "must be a whole number"),
    (int, "9" * 5000, "int_parsing_size", "must be a smaller number"),
    (float, "x", "float_parsing", "must be a number"),
    (float, [], "float_type", "must be a number"),
    (Annotated[float, Field(allow_inf_nan=False)], float("inf"), "finite_number", "must be a finite number"),
    (bool, "perhaps", "bool_parsing", "must be true or false"),
    (bool, [], "bool_type", "must be true or false"),
    (list[int], {}, "list_type", "must be a list"),
    (tuple[int, ...], {"a": 1}, "tuple_type", "must be a list"),
    (frozenset[int], 5, "frozen_set_type", "must be a list"),
    (dict[str, int], [], "dict_type", "must be an object"),
    (None, 5, "none_required", "must be null"),
    (Colour, "green", "enum", "must be 'red' or 'blue'"),
    (Literal["a", "b"], "c", "literal_error", "must be 'a' or 'b'"),
    (
        Annotated[Closed | Other, Field(discriminator="kind")],
        {"kind": "x"},
        "union_tag_invalid",
        "must be one of 'closed', 'other'",
    ),
    (
        Annotated[Closed | Other, Field(discriminator="kind")],
        {},
        "union_tag_not_found",
        "must have a field 'kind'",
    ),
    (Annotated[int, Field(gt=1)], 1, "greater_than", "must be more than 1"),
    (Annotated[float, Field(ge=0.5)], 0, "greater_than_equal", "must be at least 0.5"),
    (Annotated[int, Field(lt=1)], 1, "less_than", "must be less than 1"),
    (Annotated[int, Field(le=1)], 2, "less_than_equal", "must be at most 1"),
    (Annotated[str, Field(min_length=1)], "", "string_too_short", "must not be empty"),
    (Annotated[str, Field(min_length=3)], "", "string_too_short", "must have at least 3 characters"),
    (Annotated[str, Field(max_length=1)], "ab", "string_too_long", "must have at most 1 character"),
    (Annotated[list[int], Field(min_length=1)], [], "too_short", "must not be empty"),
    (Annotated[list[int], Field(min_length=2)], [], "too_short", "must have at least 2 items"),
    (Annotated[list[int], Field(max_length=2)], [1, 2, 3], "too_long", "must have at most 2 items"),
    (Annotated[str, Field(pattern="^a$")], "b", "string_pattern_mismatch", "must match the pattern ^a$"),
]
# Which errors each kind of schema can give; the names are pydantic's.
ERRORS_OF: Mapping[str, frozenset[str]] = {
    "str": frozenset({"string_type", "string_unicode"}),
    "int": frozenset({"int_type", "int_parsing", "int_from_float", "int_parsing_size"}),
    "float": frozenset({"float_type", "float_parsing"}),
    "bool": frozenset({"bool_type", "bool_parsing"}),
    "list": frozenset({"list_type"}),
    "tuple": frozenset({"tuple_type"}),
    "frozenset": frozenset({"frozen_set_type"}),
    "dict": frozenset({"dict_type"}),
    "enum": frozenset({"enum"}),
    "literal": frozenset({"literal_error"}),
    "none": frozenset({"none_required"}),
    "model": frozenset({"model_type"}),
    "model-fields": frozenset({"model_type", "missing", "extra_forbidden"}),
    "tagged-union": frozenset({"union_tag_invalid", "union_tag_not_found"}),
    "function-before": frozenset({"value_error", "assertion_error"}),
    "function-after": frozenset({"value_error", "assertion_error"}),
    "function-wrap": frozenset({"value_error", "assertion_error"}),
    **dict.fromkeys(
        ("any", "nullable", "default", "union", "definitions", "definition-ref", "model-field", "computed-field"),
        frozenset(),
    ),
}
LIMITS = {
    "gt": "greater_than",
    "ge": "greater_than_equal",
    "lt": "less_than",
    "le": "less_than_equal",
    "pattern": "string_pattern_mismatch",
    "allow_inf_nan": "finite_number",
}
UNKNOWN_PART = "something pydantic has and this test does not know"


def models() -> list[type[BaseModel]]:
    def below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
        yield model
        for each in model.__subclasses__():
            yield from below(each)

    files = [each for room in (script_file, playbook_parts) for each in vars(room).values()]
    written = [each for each in files if isinstance(each, type) and issubclass(each, BaseModel)]
    ours: set[type[BaseModel]] = {*below(Message), *written, LlmChoice, *RECORD_TYPES, *BUILTIN_ACTIONS.values()}
    return sorted((each for each in ours if each not in (BaseModel, Message)), key=lambda each: each.__name__)


def errors_in(schema: Any) -> Iterator[str]:
    """Every error that validating with a schema of pydantic's core may give."""
    if isinstance(schema, dict):
        kind = schema.get("type")
        if isinstance(kind, str):
            yield from ERRORS_OF.get(kind, frozenset({f"{UNKNOWN_PART}: {kind}"}))
        yield from (error for limit, error in LIMITS.items() if limit in schema)
        for limit, error in (("min_length", "too_short"), ("max_length", "too_long")):
            if limit in schema:
                yield f"string_{error}" if kind == "str" else error
        for name, value in schema.items():
            if name not in ("metadata", "serialization", "function", "config", "ref", "default", "computed_fields"):
                yield from errors_in(value)
    elif isinstance(schema, (list, tuple)):
        for each in schema:
            yield from errors_in(each)


@pytest.mark.parametrize(("kind", "value", "error", "said"), CASES, ids=[f"{each[2]}-{each[3]}" for each in CASES])
def test_an_error_is_said_in_our_words(kind: Any, value: Any, error: str, said: str) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(kind).validate_python(value)
    assert [(each.kind, each.problem) for each in value_problems(caught.value)] == [(error, said)]


def test_every_error_that_a_model_of_ours_can_give_is_among_the_tested_ones() -> None:
    possible = {error for model in models() for error in errors_in(model.__pydantic_core_schema__)}
    assert len(models()) > 50
    assert possible - KNOWN == set()
    assert possible - {each[2] for each in CASES} - {"assertion_error"} == set()


def test_an_error_of_another_kind_has_words_of_ours_too() -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(bytes).validate_python(5)
    assert problems_of(caught.value) == [("", "has a value that cannot be used")]


@pytest.mark.parametrize(
    ("path", "problem", "said"),
    [
        ("stages", "must be a list", "stages must be a list"),
        ("line 1, stages", "must be a list", "line 1: stages must be a list"),
        ("line 2, column 1", "this is not YAML", "line 2, column 1: this is not YAML"),
        ("line 2", "the key 'id' stands twice", "line 2: the key 'id' stands twice"),
        ("goal", "a text is needed here", "goal: a text is needed here"),
        ("", "not JSON", "not JSON"),
    ],
)
def test_a_problem_and_its_field_make_one_sentence(path: str, problem: str, said: str) -> None:
    assert sentence(path, problem) == said


def test_a_file_is_named_with_the_line() -> None:
    error = MessageInvalid(
        what="bad.yaml", problems=[("line 1, stages", "must be a list"), ("line 4, a", "is required")]
    )
    assert str(error) == "bad.yaml, line 1: stages must be a list; line 4: a is required"
