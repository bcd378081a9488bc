"""What Python callers say: each keyword has a type and a value that make sense, and errors speak of keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from os import PathLike
from types import UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from notebook_bcc.api.frames import is_frame
from notebook_bcc.api.options import RunKeywords, RunOptions
from notebook_bcc.errors import BccError, SettingsInvalid

_NUMBER: Final = "a number that is not negative; 0 is no limit"
# With the value in quotes, or as a word, if one follows.
_OPTION: Final = re.compile(
    r"(?<![\w'-])--([a-z](?:[a-z-]*[a-z])?)(?![\w-])(?: ('[^']*'|llm\b|playbook\b|values\b|reset\b))?"
)
_SPELLED_OTHERWISE: Final = {
    "id": "run_id=",
    "no-verify": "verify=False",
    "no-wait": "wait=False",
    "stream": "stream=True",
    "no-stream": "stream=False",
    "overwrite": "overwrite=True",
    "images": "images=True",
    "restart": "restart=",
    "accept-differences": "accept_differences=True",
    "set": "answers=",
}


def check_names(options: Mapping[str, Any], known: Iterable[str], *, call: str) -> None:  # Any: whatever a caller gave
    """Raises TypeError, as Python does, for a keyword that the call does not have, with the one that may be meant."""
    names = list(known)
    for name in options:
        if name not in names:
            close = get_close_matches(name, names, 1)
            meant = f"; did you mean {close[0]!r}?" if close else ""
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}{meant}")


def check_keywords(options: RunOptions) -> None:
    """Raises SettingsInvalid, naming the keyword, for a value of another type or one that is not in its set."""
    for name, kind in _kinds().items():
        value = getattr(options, name)
        if name == "target":
            check_target(value)
        elif not _fits(value, kind):
            raise SettingsInvalid(f"{name} must be {_in_words(kind)}, and is {value!r}")


def check_target(value: Any) -> None:  # Any: whatever a caller gave
    """Raises SettingsInvalid unless these are names of columns; those of a frame may be numbers."""
    named = value if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping) else [value]
    if value is not None and not all(isinstance(one, str | int) for one in named):
        raise SettingsInvalid(f"target must be the name of a column, or a list of names, and is {value!r}")


def check_path(value: Any, *, name: str) -> None:  # Any: whatever a caller gave
    """Raises SettingsInvalid unless this is a path, or nothing."""
    if value is not None and not isinstance(value, str | PathLike):
        raise SettingsInvalid(f"{name} must be a path, and is {value!r}")


def check_table(value: Any, *, name: str) -> None:  # Any: whatever a caller gave
    """Raises SettingsInvalid unless this is a path, a table in memory, or nothing."""
    if value is not None and not isinstance(value, str | PathLike) and not is_frame(value):
        raise SettingsInvalid(f"{name} must be a path or a DataFrame, and is {value!r}")


def check_answers(value: Any) -> None:  # Any: whatever a caller gave
    """Raises SettingsInvalid unless these are texts by name, or nothing."""
    is_named = isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)
    if value is not None and not is_named:
        raise SettingsInvalid(f"answers must be texts by name, such as {{'target': 'price'}}, and is {value!r}")


def check_one_of(value: Any, kind: Any, *, name: str) -> None:  # Any: whatever a caller gave; a Literal
    """Raises SettingsInvalid unless the value is in the set."""
    if not _fits(value, kind):
        raise SettingsInvalid(f"{name} must be {_in_words(kind)}, and is {value!r}")


@contextmanager
def keyword_errors() -> Iterator[None]:
    """Errors from inside speak of keywords, where the command line has options."""
    try:
        yield
    except BccError as error:
        if error.args and isinstance(error.args[0], str):
            error.args = (in_keywords(error.args[0]), *error.args[1:])
        raise


def in_keywords(text: str) -> str:
    """`--kernel-url 'x'` as `kernel_url='x'`; commands to type stay as they are."""
    before, command, after = text.partition("nbcc ")
    return _OPTION.sub(_keyword, before.replace("--budget-...", "budget_...=")) + command + after


def _keyword(found: re.Match[str]) -> str:
    option, value = found[1], found[2] or ""
    said = value if value.startswith("'") or not value else repr(value)
    if option in _SPELLED_OTHERWISE:
        return _SPELLED_OTHERWISE[option] + said
    name = option.replace("-", "_")
    return f"{name}={said}" if name in _kinds() else found[0]


@cache
def _kinds() -> dict[str, Any]:  # Any: types
    hints = get_type_hints(RunKeywords)
    return {one.name: hints[one.name] for one in fields(RunOptions) if hints[one.name] is not Any}


def _fits(value: Any, kind: Any) -> bool:  # Any: whatever a caller gave; a type
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(kind))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(kind)
    if kind in (int, float):
        return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return isinstance(value, origin or kind)


def _in_words(kind: Any) -> str:  # Any: a type
    kinds = (
        [one for one in get_args(kind) if one is not type(None)] if get_origin(kind) in (Union, UnionType) else [kind]
    )
    if any(get_origin(one) is PathLike or one is PathLike for one in kinds):
        return "a path"
    (only,) = kinds
    if get_origin(only) is Literal:
        return " or ".join(map(repr, get_args(only)))
    return {str: "a text", bool: "True or False", int: _NUMBER, float: _NUMBER}.get(only, str(only))
