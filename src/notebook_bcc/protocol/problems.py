"""What is wrong with a value, in our own words: those of pydantic name types of Python, which no user has written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

# Each continues the name of the field: "stages must be a list".
_WORDS: Mapping[str, str | Callable[[Mapping[str, Any]], str]] = {  # Any: numbers and texts, by the kind of error
    "missing": "is required",
    "extra_forbidden": "is not known here",
    "none_required": "must be null",
    **dict.fromkeys(("string_type", "string_sub_type", "string_unicode"), "must be a text"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "must be a whole number"),
    "int_parsing_size": "must be a smaller number",
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    "finite_number": "must be a finite number",
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), "must be a list"),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "model_type", "model_attributes_type", "dataclass_type"), "must be an object"
    ),
    **dict.fromkeys(("json_invalid", "json_type"), "is not JSON"),
    **dict.fromkeys(("enum", "literal_error"), lambda facts: f"must be {facts['expected']}"),
    "union_tag_invalid": lambda facts: f"must be one of {facts['expected_tags']}",
    "union_tag_not_found": lambda facts: f"must have a field {facts['discriminator']}",
    "greater_than": lambda facts: f"must be more than {facts['gt']:g}",
    "greater_than_equal": lambda facts: f"must be at least {facts['ge']:g}",
    "less_than": lambda facts: f"must be less than {facts['lt']:g}",
    "less_than_equal": lambda facts: f"must be at most {facts['le']:g}",
    "string_too_short": lambda facts: _at_least(facts["min_length"], "character"),
    "string_too_long": lambda facts: f"must have at most {_counted(facts['max_length'], 'character')}",
    "too_short": lambda facts: _at_least(facts["min_length"], "item"),
    "too_long": lambda facts: f"must have at most {_counted(facts['max_length'], 'item')}",
    "string_pattern_mismatch": lambda facts: f"must match the pattern {facts['pattern']}",
    # Raised by validators of ours, in words of ours.
    **dict.fromkeys(("value_error", "assertion_error"), lambda facts: str(facts["error"])),
}
KNOWN = frozenset(_WORDS)
"""The kinds of errors that have words of their own."""


@dataclass(frozen=True, slots=True)
class ValueProblem:
    """One problem of a validation error. `kind` is pydantic's word; `problem` continues the name of the field."""

    kind: str
    location: tuple[int | str, ...]
    problem: str


def value_problems(error: ValidationError) -> list[ValueProblem]:
    """Everything that is wrong, one by one."""
    return [
        ValueProblem(item["type"], item["loc"], _problem(item["type"], item.get("ctx", {})))
        for item in error.errors(include_url=False)
    ]


def sentence_of(error: BaseException | None) -> str:
    """All that a validation error says, in our words and one line; empty for any other error."""
    return "; ".join(each.problem for each in value_problems(error)) if isinstance(error, ValidationError) else ""


def problems_of(error: ValidationError) -> list[tuple[str, str]]:
    """The (path, problem) pairs of a validation error, paths as `observation.location.current`."""
    return [(".".join(str(part) for part in each.location), each.problem) for each in value_problems(error)]


def _problem(kind: str, facts: Mapping[str, Any]) -> str:
    words = _WORDS.get(kind, "has a value that cannot be used")
    return words if isinstance(words, str) else words(facts)


def _at_least(least: int, noun: str) -> str:
    return "must not be empty" if least == 1 else f"must have at least {_counted(least, noun)}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
