"""Which names a cell assigns, read from its template: an estimate that errs towards too many."""

from __future__ import annotations

import re

_TARGET = re.compile(r"^(?P<left>[\w \t,.*()\[\]\"']+)(?::[^=\n]+)?(?:[-+*/|&^%@]|//|\*\*|<<|>>)?=(?!=)")
_MORE = re.compile(r"^[ \t]*(?P<left>\w+)[ \t]*=(?!=)")
_OTHER = re.compile(
    r"\bfor[ \t]+(?P<loop>[\w,()*]+(?:[ \t]{1,4}[\w,()*]+){0,4}?)[ \t]+in\b"
    r"|\bas[ \t]+(?P<as>\w+)|\b(?:def|class)[ \t]+(?P<def>\w+)"
    r"|\b(?P<walrus>\w+)[ \t]*:=|^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+(?P<import>[\w ,.]+)"
)
_NAME = re.compile(r"[^\W\d]\w*")
_BARE = re.compile(r"\|\s*name\s*}}")


def assigned_names(source: str) -> frozenset[str]:
    """The names that this cell may assign. Statements of the template language are passed over."""
    names: set[str] = set()
    for line in source.split("\n"):
        if not line.lstrip().startswith(("#", "{%")):
            names |= _assigned(line)
    return frozenset(names)


def assigns_by_template(source: str) -> bool:
    """Whether names are written by a filter, so that the template does not tell which."""
    return _BARE.search(source) is not None


def _assigned(line: str) -> set[str]:
    names: set[str] = set()
    rest = line
    pattern = _TARGET
    while found := pattern.match(rest):
        names |= _targets(found["left"])
        rest, pattern = rest[found.end() :], _MORE
    for found in _OTHER.finditer(line):
        for text in found.groupdict().values():
            names |= set(_NAME.findall(text)) if text else set()
    return names


def _targets(left: str) -> set[str]:
    """The names among the targets; an item or an attribute of something is no new name."""
    parts = (part.strip(" \t*()[]") for part in left.split(","))
    return {part for part in parts if _NAME.fullmatch(part)}
