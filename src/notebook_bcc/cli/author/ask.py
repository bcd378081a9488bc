"""`nbcc planner ask`: a request sent to a planner by hand, and the answer as it comes."""

from __future__ import annotations

import json
import sys
import time
import uuid
from dataclasses import dataclass
from typing import Annotated

import typer

from notebook_bcc.cli.author.observe import GeneratingOption, place_of
from notebook_bcc.cli.options.run import DialectOption, JsonOption, RunsOption, TokenFileOption, settings_of
from notebook_bcc.cli.reading import is_file, read_request
from notebook_bcc.cli.upcoming import endpoint, upcoming
from notebook_bcc.lifecycle.folder import find_run
from notebook_bcc.planners.interface import Planner, StreamWarning
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.protocol.messages import PlanningResponse, Request
from notebook_bcc.protocol.specs import RemotePlannerSpec
from notebook_bcc.protocol.vocabulary import Dialect
from notebook_bcc.settings import Settings, read_address
from notebook_bcc.views.narration import first_line, safe
from notebook_bcc.wiring import REMOTE_PLANNER, dialect_of, remote_planner, run_factories


@dataclass(frozen=True, slots=True)
class _Question:
    request: Request
    generating: bool
    planner: Planner
    dialect: Dialect
    note: str = ""


async def ask_command(
    what: Annotated[
        str, typer.Argument(help="A JSON file with the request, `-` for stdin, or a run.", metavar="FILE|RUN")
    ],
    url: Annotated[
        str,
        typer.Option(
            "--url", help="The planner. [default: the run's own; for a file the one at DSLC_BASE_URL]", metavar="URL"
        ),
    ] = "",
    generating: GeneratingOption = None,
    dialect: DialectOption = None,
    token_file: TokenFileOption = None,
    keep_id: Annotated[
        bool, typer.Option("--keep-id", help="Send the request id as it is; the server may know the answer already.")
    ] = False,
    runs: RunsOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send a request to a planner and show the answer: the judgement, or the actions as they arrive.

    The request is the one in a file, or the next one of a run (see `nbcc planner observe`); the run is only read, and
    nothing is carried out. It is asked once, under a request id of its own, so that no later answer to the run comes
    from here. Exit code 1 when there is no usable answer. With --json: the judgement, or one action a line
    as on the wire.

    \b
      nbcc planner ask last --url http://127.0.0.1:28600
      nbcc planner observe last --generating --body > request.json && nbcc planner ask request.json --generating
    """
    settings = settings_of(runs=runs, token_file=token_file)
    question = await _question(what, url, settings, generating=generating, dialect=dialect)
    planner = question.planner
    request = question.request
    if isinstance(planner, RemotePlanner) and not keep_id:
        fresh = {"request_id": f"ask-{uuid.uuid4().hex}", "attempt": 1}
        request = request.model_copy(update={"options": request.options.model_copy(update=fresh)})
    if not as_json:
        if question.note:
            print(f"note: {question.note}")
        print(f"asking {planner.name}: {endpoint(question.dialect, generating=question.generating)}", flush=True)
    try:
        if question.generating:
            await _show_actions(planner, request, as_json=as_json)
        else:
            await _show_judgement(planner, request, as_json=as_json)
    finally:
        await planner.close()


async def _question(
    what: str, url: str, settings: Settings, *, generating: bool | None, dialect: Dialect | None
) -> _Question:
    if is_file(what):
        request = read_request(what)
        wanted = request.options.stream if generating is None else generating
        spoken: Dialect = dialect or "v2"
        return _Question(
            _streamed(request, wanted), wanted, _planner_at(url or REMOTE_PLANNER, settings, spoken), spoken
        )
    folder = find_run(settings.runs, what)
    place = await place_of(folder)
    found = upcoming(place, generating=generating)
    if url:
        spoken = dialect or "v2"
        planner: Planner = _planner_at(url, settings, spoken)
    else:
        spoken = dialect_of(place.state.planner)
        planner = await run_factories(settings).make_planner(place.state.planner, folder)
    return _Question(found.request, found.generating, planner, spoken, found.note)


def _planner_at(url: str, settings: Settings, dialect: Dialect) -> RemotePlanner:
    address = settings.dslc_base_url if url == REMOTE_PLANNER else read_address(url, option="--url")
    return remote_planner(RemotePlannerSpec(url=address, dialect=dialect), settings=settings)


def _streamed(request: Request, stream: bool) -> Request:
    return request.model_copy(update={"options": request.options.model_copy(update={"stream": stream})})


async def _show_judgement(planner: Planner, request: Request, *, as_json: bool) -> None:
    started = time.perf_counter()
    answer = await planner.plan(request)
    seconds = time.perf_counter() - started
    if as_json:
        print(answer.to_json().decode())
        return
    print(f"{seconds:.3f} s  {_judgement(answer)}")
    print(safe(json.dumps(answer.to_dict(), ensure_ascii=False, indent=2)))


def _judgement(answer: PlanningResponse) -> str:
    goes_on = "the behaviors go on" if answer.transition.continue_behaviors else "no further behavior is asked for"
    return f"the target is {'reached' if answer.target_achieved else 'not reached'}; {goes_on}"


async def _show_actions(planner: Planner, request: Request, *, as_json: bool) -> None:
    started = time.perf_counter()
    count = 0
    async for item in planner.generate(request):
        if isinstance(item, StreamWarning):
            print(f"warning: {safe(item.message)}", file=sys.stderr, flush=True)
            continue
        count += 1
        if as_json:
            print(json.dumps({"action": item.data}, ensure_ascii=False), flush=True)
        else:
            print(f"{time.perf_counter() - started:7.3f} s  {count:>3}  {_action(item.data)}", flush=True)
    if not as_json:
        print(f"{time.perf_counter() - started:7.3f} s  the end, after {count} actions")


def _action(data: object) -> str:
    """One action on one line: what it is, and the beginning of what it says."""
    if not isinstance(data, dict):
        return first_line(json.dumps(data, ensure_ascii=False))
    kind = data.get("action") or data.get("type") or "?"
    said = data.get("content") or data.get("title") or data.get("codecell_id") or ""
    shot = f" {data['shot_type']}" if "shot_type" in data else ""
    return f"{safe(str(kind))}{safe(shot)}  {first_line(str(said))}".rstrip()
