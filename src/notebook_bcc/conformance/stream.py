"""A streamed answer looked at strictly: what it holds, and every way in which it is not NDJSON of actions. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from notebook_bcc.conformance.exchange import Exchange, shortened

Fault = Literal["utf8", "lines", "wrapped", "newline"]

# A stream that began this long after the question could have been flushed line by line, had anyone wanted to.
_SLOW = 1.0


@dataclass(frozen=True, slots=True)
class Stream:
    """The actions of a streamed answer as they came, and its faults."""

    exchange: Exchange
    actions: tuple[Any, ...] = ()  # Any: not looked at yet
    faults: tuple[tuple[Fault, str], ...] = ()
    lines: int = 0
    whole: bool = False
    """Not streamed at all but `{"actions": [...]}`, which clients read as well."""

    def faults_of(self, kind: Fault) -> list[str]:
        return [text for each, text in self.faults if each == kind]


def read_stream(exchange: Exchange) -> Stream:
    """Every line of the body. What is an action is taken even where other lines are at fault."""
    at_once = (exchange.object or {}).get("actions")
    if isinstance(at_once, list):
        return Stream(exchange, tuple(at_once), whole=True)
    actions: list[Any] = []
    faults: list[tuple[Fault, str]] = []
    body, lines = exchange.body, 0
    for number, line in enumerate(body.split(b"\n"), start=1):
        if not line.strip():
            continue
        lines += 1
        found = _read(line)
        if isinstance(found, _Wrapped):
            actions.append(found.action)
        elif found is not None:
            faults.append((found[0], f"line {number} {found[1]}: {shortened(line, 80)}"))
    if body.strip() and not body.endswith(b"\n"):
        faults.append(("newline", "the last line does not end with a newline"))
    return Stream(exchange, tuple(actions), tuple(faults), lines)


def unflushed(streams: list[Stream]) -> tuple[str, Stream] | None:
    """Why these streams are not sent line by line, and the one that shows it; None where nothing speaks against it.

    Lines that are ready at the same moment may arrive together: that alone is no fault.
    """
    long = [each for each in streams if each.lines > 1]
    for each in long:
        if "content-length" in each.exchange.headers:
            return "the answer has a Content-Length: all of it was known before any of it was sent", each
    together = [each for each in long if len(each.exchange.arrivals) == 1]
    late = [each for each in together if each.exchange.arrivals[0].seconds > _SLOW]
    if late and len(together) == len(long):
        seconds = late[0].exchange.arrivals[0].seconds
        return f"all {late[0].lines} lines arrived together, {seconds:.1f} s after the question", late[0]
    return None


@dataclass(frozen=True, slots=True)
class _Wrapped:
    action: Any  # Any: not looked at yet


def _read(line: bytes) -> _Wrapped | tuple[Fault, str] | None:
    """The action of one line, what is wrong with it, or None: a remark, which readers skip."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        return "utf8", f"is not UTF-8 (byte {error.start + 1})"
    try:
        found = json.loads(text, parse_constant=_no_json)
    except (ValueError, RecursionError) as error:
        return "lines", f"is not one JSON value ({error})"
    if not isinstance(found, dict):
        return "lines", "is not a JSON object"
    if isinstance(found.get("action"), dict):
        return _Wrapped(found["action"])
    if "warning" in found and "action" not in found:
        return None
    return "wrapped", 'is not wrapped as {"action": {...}}'


def _no_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
