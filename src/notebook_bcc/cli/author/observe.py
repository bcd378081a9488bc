"""`nbcc planner observe`: the next request to the planner, its size, and what the context filter took from it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from notebook_bcc.cli.options.run import DialectOption, JsonOption, RunArgument, RunsOption, settings_of
from notebook_bcc.cli.upcoming import Ahead, Upcoming, ahead, endpoint, taken_up, upcoming
from notebook_bcc.engine.runner import utc_now
from notebook_bcc.journal.lock import lock_holder
from notebook_bcc.lifecycle.folder import RunFolder, find_run
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.protocol.observation import Observation
from notebook_bcc.protocol.vocabulary import Dialect
from notebook_bcc.views.narration import safe
from notebook_bcc.wiring import dialect_of, journals

GeneratingOption = Annotated[
    bool | None,
    typer.Option("--generating/--planning", help="This request, also if it is not the next one. [default: the next]"),
]
_NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class ObservationPart:
    """One part of an observation, in bytes of JSON, before and after the filter; what went, in words."""

    part: str
    before: int
    after: int
    removed: str = ""


async def observe_command(
    run: RunArgument,
    generating: GeneratingOption = None,
    dialect: DialectOption = None,
    body: Annotated[bool, typer.Option("--body", help="Only the bytes that would go out, as for curl -d @-.")] = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the request that goes out next for a run, its size in bytes, and what the context filter removed.

    The run is only read; it may be under way. Of a stopped run it is what `nbcc resume` would ask. Times of moves that
    have not been made yet are the present. Summaries that only the kernel can make are named and left out.

    \b
      nbcc planner observe last
      nbcc planner observe last --body | curl -d @- http://127.0.0.1:28600/planning
    """
    folder = find_run(settings_of(runs=runs).runs, run)
    place = await place_of(folder)
    found = upcoming(place, generating=generating)
    spoken = dialect or dialect_of(place.state.planner)
    content = found.body(spoken)
    if body:
        sys.stdout.write(content.decode() + "\n")
    elif as_json:
        print(json.dumps(_facts(found, content, spoken), ensure_ascii=False))
    else:
        for line in _lines(found, content, spoken):
            print(line)


async def place_of(folder: RunFolder) -> Ahead:
    """Where the run is when it needs somebody, without disturbing it."""
    running = lock_holder(folder.lock) is not None
    state, now = await load_state(folder, journals()), utc_now()
    return ahead(state if running else taken_up(state, at=now), at=now)


def parts_of(before: Observation, after: Observation) -> list[ObservationPart]:
    """The parts that the filter changed."""
    found = [_part(name, old, new) for name, old, new in _pairs(before.to_dict(), after.to_dict()) if old != new]
    return sorted(found, key=lambda part: part.after - part.before)


def _pairs(before: dict[str, Any], after: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:  # Any: JSON values
    for place in ("location", "context"):
        for name in before[place] | after[place]:
            old, new = before[place].get(name), after[place].get(name)
            if name in ("progress", "effects"):
                yield from ((f"{name}.{inner}", old.get(inner), new.get(inner)) for inner in old | new)
            else:
                yield name, old, new


def _part(name: str, old: Any, new: Any) -> ObservationPart:  # Any: JSON values
    return ObservationPart(name, _size(old), _size(new), _removed(old, new))


def _removed(old: Any, new: Any) -> str:  # Any: JSON values
    if new is None:
        return "all of it"
    if isinstance(old, dict) and isinstance(new, dict):
        gone = [name for name in old if name not in new]
        more = f", ... {len(gone) - _NAMES_SHOWN} more" if len(gone) > _NAMES_SHOWN else ""
        return ", ".join(gone[:_NAMES_SHOWN]) + more if gone else "details"
    if isinstance(old, list) and isinstance(new, list):
        gone = [one for one in old if one not in new]
        added = len(new) - (len(old) - len(gone))
        return f"{len(gone)} of {len(old)}" + (f", {added} warnings added" if added > 0 else "")
    return ""


def _size(value: Any) -> int:  # Any: JSON values
    return 0 if value is None else len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _facts(found: Upcoming, content: bytes, dialect: Dialect) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "endpoint": endpoint(dialect, generating=found.generating),
        "bytes": len(content),
        "next": not found.note,
        "note": found.note,
        "request": json.loads(content),
    }
    if found.filtered:
        facts["filter"] = {
            "before": len(found.whole.to_json()),
            "after": len(found.request.observation.to_json()),
            "parts": [asdict(part) for part in parts_of(found.whole, found.request.observation)],
            "warnings": found.warnings,
            "summaries_left_out": found.unmade,
        }
    return facts


def _lines(found: Upcoming, content: bytes, dialect: Dialect) -> Iterator[str]:
    options = found.request.options
    yield f"POST {endpoint(dialect, generating=found.generating)}  {len(content):,} bytes"
    yield f"request {options.request_id}, attempt {options.attempt}"
    if found.note:
        yield f"note: {found.note}"
    if found.arrived:
        yield f"actions of the answer that have arrived already and are passed over: {found.arrived}"
    if found.filtered:
        yield from _filter_lines(found)
    elif found.generating:
        yield "no context filter is in force: the whole observation goes out"
    yield ""
    yield safe(json.dumps(json.loads(content), ensure_ascii=False, indent=2))


def _filter_lines(found: Upcoming) -> Iterator[str]:
    before, after = len(found.whole.to_json()), len(found.request.observation.to_json())
    changed = parts_of(found.whole, found.request.observation)
    rest = ObservationPart(
        "the rest",
        before - sum(part.before for part in changed),
        after - sum(part.after for part in changed),
    )
    yield ""
    yield f"{'the context filter':<24} {'before':>10} {'after':>10}  removed"
    for part in (*changed, rest, ObservationPart("the observation", before, after)):
        yield safe(f"{part.part:<24} {part.before:>10,} {part.after:>10,}  {part.removed}".rstrip())
    for warning in found.warnings:
        yield safe(f"warning: {warning}")
    if found.unmade:
        yield safe(f"left out, for they are made in the kernel: summaries of {', '.join(found.unmade)}")
