"""The version of the protocol that a request is written in."""

from __future__ import annotations

from typing import Final

PROTOCOL_VERSION: Final = "2.0"
"""What `options.protocol_version` of our requests says: the second dialect, and what was added to it since."""

_SHOWN = 40


def version_remark(version: str | float | None) -> str:
    """What is to be said of a request in this version; empty where it is ours or older, or was not named.

    It is answered all the same: newer versions add fields, and unknown fields are kept.
    """
    if version is None:
        return ""
    named = _parts(str(version))
    if named and named <= _parts(PROTOCOL_VERSION):
        return ""
    problem = "newer than" if named else "none of"
    return f"protocol version {str(version)[:_SHOWN]!r} is {problem} those known here, up to {PROTOCOL_VERSION}"


def _parts(version: str) -> tuple[int, ...]:
    """The numbers of a version; empty where it is none."""
    parts = version[:_SHOWN].split(".")
    return tuple(map(int, parts)) if all(one.isascii() and one.isdigit() for one in parts) else ()
