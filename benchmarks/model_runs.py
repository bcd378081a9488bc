"""Runs a language model on public tables, some times each, and says what became of it: `make model-runs`.

Each run is `nbcc run train.csv --test test.csv --target T --planner llm --model MODEL --fallback playbook` in a folder
of its own; beside them one run of the playbook alone. A run that has its `result.json` is not carried out again, so
that a campaign may be broken off. Who wrote what, calls, tokens and time come from the runs' journals, the scores from
the independent program beside the tables (see `scores`).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.scores import LOWER_IS_BETTER, command_for, data_folder, independent_score
from notebook_bcc.engine.reduce import reduce
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import ActionReceived, GeneratingAsked, ModelAsked, Warned
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.wiring import journals

_ROOT = Path(__file__).parent.parent
# By what the planner says when the playbook writes in the model's place.
_GAVE_WAY = "the model gave way"
_VERIFIED = "completed, verified"
_COMPLETED, _UNVERIFIED = 0, 5
# How long a run may take to its end after it was told to stop.
_PATIENCE = 20.0
# Scores are compared to so many digits: two libraries may round differently.
_LEVEL = 1e-6


@dataclass(frozen=True, slots=True)
class Tally:
    """What a journal tells of one run. Behaviors are counted once, by who wrote the attempt that was kept."""

    by_model: int = 0
    given_up: int = 0
    by_playbook: int = 0
    attempts: int = 0
    repairs: int = 0
    calls: int = 0
    tokens: int = 0
    model_seconds: float = 0.0
    stopped: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One run and what became of it. `number` 0 is the playbook alone."""

    table: str
    number: int
    ending: str
    seconds: float
    tally: Tally = field(default_factory=Tally)
    failing_cells: int = 0
    own: Mapping[str, Any] = field(default_factory=dict)
    independent: Mapping[str, float] = field(default_factory=dict)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="make model-runs", description=__doc__)
    parser.add_argument("tables", nargs="+", help="tables to run")
    parser.add_argument("--model", required=True, help="as for nbcc run --model")
    parser.add_argument("--runs", type=int, default=10, help="how often each table is run (default 10)")
    parser.add_argument("--folder", type=Path, default=_ROOT / "nbcc-runs" / "models", help="where the runs are kept")
    parser.add_argument("--seconds", type=float, default=3600.0, help="what one run may take at most")
    parser.add_argument("--nbcc", action="append", default=[], metavar="OPTION", help="a further option of nbcc run")
    parser.add_argument("--out", type=Path, help="write the table into this Markdown file")
    options = parser.parse_args(arguments)
    data = data_folder()
    if not (data / "datasets.json").is_file():
        print(f"SKIPPED: there are no public tables at {data}; name their folder with NBCC_DATA", file=sys.stderr)
        return 0
    register = json.loads((data / "datasets.json").read_text(encoding="utf-8"))
    model = ["--planner", "llm", "--model", options.model, "--fallback", "playbook"]
    results: list[Result] = []
    for table in options.tables:
        for number in range(options.runs + 1):
            place = options.folder / table / f"{number:02d}"
            command = [*command_for(table, register[table], data=data), *(model if number else []), *options.nbcc]
            result = _known(place) or _carried_out(command, table, number, place, seconds=options.seconds, data=data)
            results.append(result)
            print(_row(result, _alone(results, table)), flush=True)
    page = report(results, model=options.model)
    print(page)
    if options.out is not None:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(page, encoding="utf-8")
    return 0


def report(results: Sequence[Result], *, model: str) -> str:
    """The results as Markdown: what they come to, table by table, and then every run."""
    lines = [f"# Runs with `{model}`", ""]
    tables = list(dict.fromkeys(result.table for result in results))
    lines += [_sum(table, [one for one in results if one.table == table]) for table in tables]
    return "\n".join([*lines, "", _HEAD, *(_row(one, _alone(results, one.table)) for one in results)]) + "\n"


def tally_of(folder: Path) -> Tally:
    """What the journal of a run's folder tells."""
    return asyncio.run(_tally(RunFolder(folder)))


async def _tally(folder: RunFolder) -> Tally:
    state = RunState()
    newest: dict[tuple[str | None, ...], str] = {}
    asked: list[ModelAsked] = []
    gave_way: set[str] = set()
    acted: set[str] = set()
    request = ""
    async for entry in read_entries(folder, journals()):
        state = reduce(state, entry)
        record = entry.record
        if isinstance(record, GeneratingAsked):
            request = record.request_id
            position = state.position
            newest[position.stage_id, position.step_id, position.behavior_id] = request
        elif isinstance(record, ModelAsked):
            asked.append(record)
        elif isinstance(record, ActionReceived):
            acted.add(request)
        elif isinstance(record, Warned) and record.message.startswith(_GAVE_WAY):
            gave_way.add(request)
    wrote = {one.request_id for one in asked if one.task == "generate"}
    # An attempt that was cut off before its first action was nobody's.
    kept = [one for one in newest.values() if one in acted]
    return Tally(
        by_model=sum(one in wrote and one not in gave_way for one in kept),
        given_up=sum(one in gave_way for one in kept),
        by_playbook=sum(one not in wrote and one not in gave_way for one in kept),
        attempts=len(wrote),
        repairs=sum(one.task == "repair" for one in asked),
        calls=len(asked),
        tokens=sum(one.input_tokens + one.output_tokens for one in asked),
        model_seconds=sum(one.seconds for one in asked),
        stopped=f"{state.stopped.reason}: {state.stopped.detail}" if state.stopped is not None else "",
    )


def _carried_out(command: Sequence[str], table: str, number: int, place: Path, *, seconds: float, data: Path) -> Result:
    place.mkdir(parents=True, exist_ok=True)
    runs = place / "runs"
    begin = time.monotonic()
    code = _run([*command, "--runs", str(runs)], log=place / "output.txt", seconds=seconds)
    took = time.monotonic() - begin
    # An attempt before this one may have been cut off: the newest counts.
    made = sorted(path for path in runs.iterdir() if (path / "journal.sqlite").is_file()) if runs.is_dir() else []
    tally = tally_of(made[-1]) if made else Tally()
    folder = made[-1] if made else place
    notebook = _json(folder / "notebook.ipynb")
    result = Result(
        table=table,
        number=number,
        ending=_ending(code, tally, notebook, seconds),
        seconds=took,
        tally=tally,
        failing_cells=failing_cells(notebook),
        own=_json(folder / "summary.json"),
        independent=independent_score(table, folder / "predictions.csv", data=data),
    )
    partial = place / "result.part"
    partial.write_text(json.dumps(dataclasses.asdict(result), indent=1), encoding="utf-8")
    partial.replace(place / "result.json")
    return result


def _run(command: Sequence[str], *, log: Path, seconds: float) -> int | None:
    """The exit code; None when it had to be ended: by two Ctrl-C, as a person would, so that its kernel ends too."""
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            for _ in range(2):
                process.send_signal(signal.SIGINT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_PATIENCE)
                    return None
            return None
        finally:
            process.kill()
            process.wait()


def _known(place: Path) -> Result | None:
    data = _json(place / "result.json")
    return Result(**{**data, "tally": Tally(**data["tally"])}) if data else None


def _ending(code: int | None, tally: Tally, notebook: Mapping[str, Any], seconds: float) -> str:
    if code is None:
        return f"no end within {seconds:.0f} s"
    if code == _COMPLETED:
        verified = notebook.get("metadata", {}).get("notebook_bcc", {}).get("verified", {}).get("ok")
        return _VERIFIED if verified else "completed"
    return "completed, not verified" if code == _UNVERIFIED else f"exit {code}, {tally.stopped or 'nothing was begun'}"


def failing_cells(notebook: Mapping[str, Any]) -> int:
    """How many cells of a delivered notebook show an error."""
    cells = notebook.get("cells", [])
    return sum(any(one.get("output_type") == "error" for one in cell.get("outputs", [])) for cell in cells)


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _alone(results: Sequence[Result], table: str) -> Result | None:
    return next((one for one in results if one.table == table and one.number == 0), None)


def score_of(result: Result) -> tuple[str, float] | None:
    """The measure and its figure: the independent one, else what the notebook says of itself, marked as its own."""
    measure = str(result.own.get("metric", ""))
    if measure in result.independent:
        return measure, result.independent[measure]
    if result.independent:
        return next(iter(result.independent.items()))
    return (f"own {measure}", float(result.own["score"])) if "score" in result.own else None


def is_worse(result: Result, alone: Result | None) -> bool:
    """Whether a run scores below the playbook alone. Without a score where the playbook has one, it does."""
    theirs = score_of(alone) if alone is not None else None
    if theirs is None:
        return False
    ours = score_of(result)
    if ours is None:
        return True
    down = theirs[0].removeprefix("own ") in LOWER_IS_BETTER
    return ours[1] > theirs[1] + _LEVEL if down else ours[1] < theirs[1] - _LEVEL


def _sum(table: str, results: Sequence[Result]) -> str:
    alone, runs = _alone(results, table), [one for one in results if one.number]
    well = sum(one.ending == _VERIFIED for one in runs)
    wrote = sum(one.tally.by_model for one in runs)
    offered = wrote + sum(one.tally.given_up for one in runs)
    worse = sum(is_worse(one, alone) for one in runs)
    return (
        f"- `{table}`: {well} of {len(runs)} runs completed and verified; of {offered} behaviors that were the model's "
        f"to write it wrote {wrote} itself; {worse} of {len(runs)} score worse than the playbook alone."
    )


_COLUMNS = (
    "table", "run", "outcome", "failing cells", "by the model", "given up to the playbook", "the playbook's own",
    "attempts", "repairs", "calls", "tokens", "model s", "s", "score", "playbook alone",
)  # fmt: skip
_HEAD = f"| {' | '.join(_COLUMNS)} |\n|{' --- |' * len(_COLUMNS)}"


def _row(result: Result, alone: Result | None) -> str:
    tally = result.tally
    cells = [
        f"`{result.table}`",
        str(result.number) if result.number else "playbook",
        result.ending.replace("|", "/").replace("\n", " "),
        str(result.failing_cells),
        str(tally.by_model),
        str(tally.given_up),
        str(tally.by_playbook),
        str(tally.attempts),
        str(tally.repairs),
        str(tally.calls),
        f"{tally.tokens:,}",
        f"{tally.model_seconds:.0f}",
        f"{result.seconds:.0f}",
        _figure(score_of(result)) + (" (worse)" if is_worse(result, alone) else ""),
        _figure(score_of(alone)) if alone is not None else "-",
    ]
    return f"| {' | '.join(cells)} |"


def _figure(score: tuple[str, float] | None) -> str:
    return "-" if score is None else f"{score[0]} {score[1]:.5g}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
