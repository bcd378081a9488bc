"""Runs the playbook on public tables and scores its predictions with an independent program: `make score`.

The tables are not ours to ship. `NBCC_DATA` names their folder (default: `../shared/data` beside the project); it holds
`datasets.json`, a folder for each table, and `score.py NAME PREDICTIONS.csv`, which knows the labels and prints a
line of JSON. Each run is `nbcc run train.csv --test test.csv --target T`, nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
LOWER_IS_BETTER = frozenset({"rmse", "log_rmse", "mae", "log_loss"})
# What each kind of task is judged by: numbers by the first that the register has, classes by all that it has.
_OF_NUMBERS = ("log_rmse", "rmse")
_OF_CLASSES = ("accuracy", "roc_auc")
# Hold-outs of fewer rows are small: within 2 % of the baseline counts as level.
_SMALL = 2000


@dataclass(frozen=True, slots=True)
class Result:
    """One table: how its run ended, what it says of itself, and what the independent program says."""

    name: str
    ending: str
    seconds: float
    cpu_seconds: float
    own: Mapping[str, Any] = field(default_factory=dict)
    independent: Mapping[str, float] = field(default_factory=dict)
    baselines: Mapping[str, float] = field(default_factory=dict)
    rows: int = 0
    scored: bool = False


def data_folder() -> Path:
    """Where the tables lie."""
    return Path(os.environ.get("NBCC_DATA") or _ROOT.parent / "shared" / "data")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make score", description=__doc__)
    parser.add_argument("names", nargs="*", help="tables to run; default: all")
    parser.add_argument("--runs", type=Path, default=_ROOT / "nbcc-runs" / "score", help="where the runs are kept")
    parser.add_argument("--out", type=Path, help="write the table into this Markdown file")
    options = parser.parse_args(arguments)
    data = data_folder()
    if not (data / "datasets.json").is_file():
        print(f"SKIPPED: there are no public tables at {data}; name their folder with NBCC_DATA", file=sys.stderr)
        return 0
    register = json.loads((data / "datasets.json").read_text(encoding="utf-8"))
    results = []
    for name in options.names or register:
        results.append(_carry_out(name, register[name], data=data, runs=options.runs))
        print(row(results[-1]), flush=True)
    page = "\n".join([_HEAD, *map(row, results)]) + "\n"
    if options.out is not None:
        text = options.out.read_text(encoding="utf-8")
        before, _, rest = text.partition("<!-- scores -->")
        _, _, after = rest.partition("<!-- /scores -->")
        options.out.write_text(f"{before}<!-- scores -->\n{page}<!-- /scores -->{after}", encoding="utf-8")
    short = [result.name for result in results if not holds(result)]
    print(f"{len(results) - len(short)} of {len(results)} hold" + (f"; short: {', '.join(short)}" if short else ""))
    return 1 if short else 0


def command_for(name: str, entry: Mapping[str, Any], *, data: Path) -> list[str]:
    """The command that analyses a table: its file to learn from, its target, and the rows to predict if it has any."""
    folder = data / name
    train = folder / "train.csv"
    train = train if train.is_file() else next(folder / file for file in entry["files"] if file.endswith(".csv"))
    nbcc = [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()"]
    command = [*nbcc, "run", str(train), "--target", entry["target"]]
    test = folder / "test.csv"
    return [*command, "--test", str(test)] if test.is_file() else command


def independent_score(name: str, predictions: Path, *, data: Path) -> dict[str, float]:
    """What the program that knows the labels says; nothing where it cannot say anything."""
    if not predictions.is_file():
        return {}
    command = [sys.executable, str(data / "score.py"), name, str(predictions)]
    scored = subprocess.run(command, capture_output=True, text=True)
    return dict(json.loads(scored.stdout)) if scored.returncode == 0 else {}


def _carry_out(name: str, entry: Mapping[str, Any], *, data: Path, runs: Path) -> Result:
    command = command_for(name, entry, data=data)
    runs.mkdir(parents=True, exist_ok=True)
    before = set(runs.iterdir())
    cpu, started = _cpu(), time.monotonic()
    done = subprocess.run(
        [*command, "--name", name, "--runs", str(runs)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    seconds, cpu_seconds = time.monotonic() - started, _cpu() - cpu
    made = sorted(set(runs.iterdir()) - before)
    (runs / f"{name}.log").write_text(done.stdout, encoding="utf-8")
    own: dict[str, Any] = {}
    independent: dict[str, float] = {}
    if made and (made[-1] / "summary.json").is_file():
        own = json.loads((made[-1] / "summary.json").read_text(encoding="utf-8"))
    if made and entry["labels"]:
        independent = independent_score(name, made[-1] / "predictions.csv", data=data)
    ending = {0: "completed, verified", 5: "completed, not verified"}.get(done.returncode, f"exit {done.returncode}")
    return Result(
        name=name,
        ending=ending,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        own=own,
        independent=independent,
        baselines=best_baselines(entry),
        rows=int((entry.get("baseline_holdout") or {}).get("n_test", 10_000)),
        scored=bool(entry["labels"]),
    )


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def best_baselines(entry: Mapping[str, Any]) -> dict[str, float]:
    """The best hold-out figure of each measure over the models of the register."""
    held_out = entry.get("baseline_holdout") or {}
    models = [one for one in held_out.get("scores", held_out).values() if isinstance(one, dict)]
    best: dict[str, float] = {}
    for measure in (*_OF_NUMBERS, *_OF_CLASSES):
        figures = [model[measure] for model in models if isinstance(model.get(measure), (int, float))]
        if figures:
            best[measure] = min(figures) if measure in LOWER_IS_BETTER else max(figures)
    return best


def judged_by(result: Result) -> list[str]:
    """The measures that a table has to be level in; none where the register has no baseline."""
    of_numbers = [measure for measure in _OF_NUMBERS if measure in result.baselines]
    return of_numbers[:1] or [measure for measure in _OF_CLASSES if measure in result.baselines]


def _ratio(result: Result, measure: str) -> float | None:
    """Ours against the baseline: 1.00 is level, above is better."""
    ours, theirs = result.independent.get(measure), result.baselines.get(measure)
    if ours is None or theirs is None:
        return None
    return theirs / ours if measure in LOWER_IS_BETTER else ours / theirs


def _too_proud(result: Result) -> float | None:
    """By how many standard errors the score it gives itself is better than the independent one.

    The independent score has an error too: it rests on so many rows as the table has to predict.
    """
    measure, error = result.own.get("metric", ""), result.own.get("standard_error")
    theirs = result.independent.get(measure)
    if theirs is None or not error:
        return None
    better = theirs - result.own["score"] if measure in LOWER_IS_BETTER else result.own["score"] - theirs
    tested = result.own.get("rows", {}).get("tested", 0)
    return float(better / (error * (1 + tested / result.rows) ** 0.5 if result.rows else error))


def holds(result: Result) -> bool:
    """Completed, verified, with a score; where there are labels also level in every measure and not too proud.

    A measure that has a baseline and no figure of ours is not level: the predictions lack what it needs.
    """
    if result.ending != "completed, verified" or "score" not in result.own:
        return False
    if not result.scored:
        return True
    proud = _too_proud(result)
    enough = 0.98 if result.rows < _SMALL else 1.0
    level = all((_ratio(result, measure) or 0) >= enough for measure in judged_by(result))
    return bool(result.independent) and level and (proud is None or proud <= 2)


_COLUMNS = (
    "table", "run", "measure", "ours", "best baseline", "ratio", "own estimate (s.e.)", "too proud by (s.e.)",
    "seconds", "CPU s", "holds",
)  # fmt: skip
_HEAD = f"| {' | '.join(_COLUMNS)} |\n|{' --- |' * len(_COLUMNS)}"


def row(result: Result) -> str:
    """A line of the table; several measures stand side by side in the same order in each of their cells."""
    measures = judged_by(result) or [str(result.own.get("metric", ""))]
    own = (
        f"{result.own['metric']} {result.own['score']:.4g} ({result.own['standard_error']:.2g})"
        if "score" in result.own
        else "-"
    )
    cells = [
        f"`{result.name}`",
        result.ending,
        " / ".join(measures),
        " / ".join(_figure(result.independent.get(measure)) for measure in measures),
        " / ".join(_figure(result.baselines.get(measure)) for measure in measures),
        " / ".join(_figure(_ratio(result, measure), "{:.4f}") for measure in measures),
        own,
        _figure(_too_proud(result), "{:.1f}"),
        f"{result.seconds:.0f}",
        f"{result.cpu_seconds:.0f}",
        "yes" if holds(result) else "**no**",
    ]
    return f"| {' | '.join(cells)} |"


def _figure(value: float | None, form: str = "{:.5g}") -> str:
    return "-" if value is None else form.format(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
