"""`nbcc planner apply`: what an answer would change, folded into a copy of a state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from notebook_bcc.cli.author.observe import place_of
from notebook_bcc.cli.derived import derived_state
from notebook_bcc.cli.options.run import JsonOption, RunsOption, settings_of
from notebook_bcc.cli.reading import STDIN, is_file, read_judgement, read_request
from notebook_bcc.cli.upcoming import Ahead, ahead, describe
from notebook_bcc.engine.intents import AskPlanning
from notebook_bcc.engine.judgements import answered
from notebook_bcc.engine.plan_changes import plan_diff
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.requests import planning_request
from notebook_bcc.engine.runner import utc_now
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import Faulted, PlanProposal, Warned
from notebook_bcc.lifecycle.folder import find_run
from notebook_bcc.protocol.message import Message
from notebook_bcc.protocol.messages import PlanningResponse
from notebook_bcc.views.narration import one_line, safe

_LEVELS = ("stages", "steps", "behaviors")
_ABSENT = object()


@dataclass(frozen=True, slots=True)
class _Change:
    """One thing that differs: `before` or `after` is None where there was or is nothing."""

    what: str
    before: Any = None  # Any: JSON values
    after: Any = None


@dataclass(frozen=True, slots=True)
class _Applied:
    """What an answer does: the changes, the plan's diff, what waits, what was said, and what follows."""

    changes: tuple[_Change, ...]
    plan: str
    proposals: tuple[str, ...]
    said: tuple[str, ...]
    follows: Ahead
    notes: tuple[str, ...]
    unknown: tuple[str, ...]


async def apply_command(
    state: Annotated[
        str, typer.Argument(help="A run, or a JSON file with a request or an observation.", metavar="STATE")
    ],
    answer: Annotated[str, typer.Argument(help="A JSON file with a judgement, or `-`.", metavar="ANSWER")],
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Fold the answer of a planner into a state and print what would change, without touching the run.

    The answer is taken for one to the next question of the run, exactly as the engine takes it: checked, folded, and
    the next event chosen. Of an observation in a file some things cannot be derived; they are listed.

    \b
      nbcc planner ask last --json | nbcc planner apply last -
      nbcc planner apply observation.json answer.json
    """
    if state == answer == STDIN:
        raise SettingsInvalid("only one of STATE and ANSWER can be read from stdin")
    now = utc_now()
    unknown: tuple[str, ...] = ()
    if is_file(state):
        derived, unknown = derived_state(read_request(state))
        place = ahead(derived, at=now)
    else:
        place = await place_of(find_run(settings_of(runs=runs).runs, state))
    found = _applied(place, read_judgement(answer), now, unknown)
    if as_json:
        print(json.dumps(_facts(found), ensure_ascii=False, default=str))
        return
    for line in _lines(found):
        print(safe(line))


def _applied(place: Ahead, response: PlanningResponse, at: str, unknown: tuple[str, ...]) -> _Applied:
    before = place.state
    notes = tuple(f"first: {move}" for move in _moves(place))
    if isinstance(place.intent, AskPlanning):
        purpose = place.intent.purpose
        notes = (*notes, f"the answer is to the question {purpose!r}, in state {before.fsm.value}")
    else:
        purpose = "start"
        instead = describe(place.intent, before)
        notes = (*notes, f"no judgement is awaited here ({instead}): only the context update counts")
    request_id = planning_request(before, purpose).request_id
    after, said = before, []
    for record in answered(request_id, purpose, before, response, 0.0):
        after = reduce(after, Entry(after.seq + 1, at, record))
        if isinstance(record, Warned):
            said.append(record.message)
        elif isinstance(record, Faulted):
            said.append(record.reason)
    kernel = before.kernel.variables
    said += [
        f"variable {name!r} exists in the kernel, whose value counts"
        for name, value in response.context_update.variables.items()
        if name in kernel and kernel[name] != value
    ]
    new_plan = after.plan is not None and after.plan != before.plan
    return _Applied(
        changes=tuple(_changes(before, after)),
        plan=plan_diff(before.plan, PlanProposal(workflow=after.plan)) if new_plan else "",
        proposals=tuple(plan_diff(after.plan, one) for one in after.proposals if one not in before.proposals),
        said=tuple(said),
        follows=ahead(after, at=at),
        notes=notes,
        unknown=unknown,
    )


def _moves(place: Ahead) -> Iterator[str]:
    for move in place.moves:
        target = move.step_id or move.stage_id
        yield f"{move.event.value} -> {move.to.value}" + (f" ({target})" if target else "")


def _changes(before: RunState, after: RunState) -> Iterator[_Change]:
    yield from _named("variables", before.variables, after.variables)
    for what in ("todo", "section_progress", "workflow_progress", "estimated_remaining"):
        yield from _if_changed(what, getattr(before.planner_context, what), getattr(after.planner_context, what))
    for name in _LEVELS:
        old, new = getattr(before, name), getattr(after, name)
        yield from _if_changed(f"focus of {name}", old.focus, new.focus)
        yield from _if_changed(f"goal of {name}", old.goal, new.goal)
        yield from _if_changed(f"expected of {name}", old.outputs.expected, new.outputs.expected)
    yield from _if_changed("context filter", before.filter, after.filter)
    yield from _if_changed("promotions", before.promotions, after.promotions)
    yield from _if_changed("target", before.target, after.target)


def _named(what: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[_Change]:
    for name in dict.fromkeys((*before, *after)):
        old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
        if old != new:
            yield _Change(f"{what}.{name}", None if old is _ABSENT else old, None if new is _ABSENT else new)


def _if_changed(what: str, before: Any, after: Any) -> Iterator[_Change]:  # Any: values of the state
    if before != after:
        yield _Change(what, _plain(before), _plain(after))


def _plain(value: Any) -> Any:  # Any: values of the state in, JSON values out
    if isinstance(value, Message):
        return value.to_dict()
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _facts(found: _Applied) -> dict[str, Any]:
    return {
        "changes": [{"what": one.what, "before": one.before, "after": one.after} for one in found.changes],
        "plan": found.plan.splitlines(),
        "proposals": [one.splitlines() for one in found.proposals],
        "said": found.said,
        "events": [move.event.value for move in found.follows.moves],
        "state": found.follows.state.fsm.value,
        "then": describe(found.follows.intent, found.follows.state),
        "notes": found.notes,
        "not_derived": found.unknown,
    }


def _lines(found: _Applied) -> Iterator[str]:
    yield from found.notes
    yield "what changes:" if found.changes or found.plan or found.proposals else "nothing changes"
    for one in found.changes:
        yield f"  {one.what}: {_text(one.before)} -> {_text(one.after)}"
    if found.plan:
        yield "  the plan:"
        yield from (f"    {line}" for line in found.plan.splitlines())
    for proposal in found.proposals:
        yield "  a change of the plan waits for its confirmation:"
        yield from (f"    {line}" for line in proposal.splitlines())
    yield from (f"problem: {one}" for one in found.said)
    yield "what follows:"
    yield from (f"  {move}" for move in _moves(found.follows))
    yield f"  then {describe(found.follows.intent, found.follows.state)}"
    if found.unknown:
        yield "what an observation does not tell:"
        yield from (f"  {one}" for one in found.unknown)


def _text(value: Any) -> str:  # Any: JSON values
    if value is None or value in ("", [], {}):
        return "nothing"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
