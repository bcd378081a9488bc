"""How often the 95 % interval of a notebook holds the true score: `make coverage-of-intervals`.

Tables of six families are generated with known truth, and the built-in playbook's own cells, from the rows set aside to
the interval, are executed on each. The true score is that of the delivered model on fresh rows of the same making.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd

import notebook_bcc
from notebook_bcc.kernel.inside.probe import Values, encode
from notebook_bcc.playbook.templates.environment import Kind, Templates

_DSLC = Path(notebook_bcc.__file__).parent / "playbooks" / "dslc"
_SHOWN = Values(max_items=200, max_chars=8_000)
_CELLS = (
    "integrity_split", "method_target", "method_metric", "method_effort", "method_folds", "method_baseline",
    "model_kinds", "model_for_linear", "model_for_trees", "model_candidates", "model_compare", "model_blend",
    "model_model", "predict_evaluate", "predict_tested", "predict_interval",
)  # fmt: skip
_FRESH = 10_000
# Any, throughout: variables of cells are whatever they are.


@dataclass(frozen=True)
class Family:
    """How a target comes from the signal and a draw of luck, and what kind of question that is."""

    name: str
    task: str
    answer: Callable[[Any, Any], Any]


def _logistic(luck: Any) -> Any:
    return np.log(luck / (1 - luck))


def _normal(luck: Any) -> Any:
    return np.vectorize(NormalDist().inv_cdf)(luck)


FAMILIES = (
    Family("normal", "regression", lambda signal, luck: signal + _normal(luck)),
    Family("lognormal", "regression", lambda signal, luck: np.exp(0.5 * signal + _normal(luck))),
    Family("counts", "regression", lambda signal, luck: np.floor(-np.log(1 - luck) * np.exp(0.5 * signal))),
    Family("balanced binary", "binary", lambda signal, luck: (signal + _logistic(luck) > 0).astype(int)),
    Family("5 % binary", "binary", lambda signal, luck: (signal + _logistic(luck) > 3.6).astype(int)),
    Family("three classes", "multiclass", lambda signal, luck: np.digitize(signal + _logistic(luck), [-0.8, 0.8])),
)
SIZES = (40, 150, 500, 2000)
SPLITS = ("random", "group", "time")


@dataclass(frozen=True)
class Outcome:
    """One table: what the notebook said, and what was true."""

    family: str
    split: str
    rows: int
    signal: bool
    low: float
    high: float
    truth: float
    verdict: str

    @property
    def held(self) -> bool:
        return self.low <= self.truth <= self.high


def table(family: Family, rows: int, *, split: str, signal: bool, draws: Any) -> pd.DataFrame:
    """Rows of this family. Groups share a level of their own; in time the luck of neighbours is alike."""
    made = pd.DataFrame(draws.normal(size=(rows, 4)), columns=["a", "b", "c", "d"])
    made["kind"] = draws.choice(list("xyz"), rows)
    strength = 0.8 * made["a"] + 0.5 * made["b"] * (made["kind"] == "x") + 0.4 * (made["kind"] == "y")
    luck = draws.uniform(1e-9, 1 - 1e-9, rows)
    made["subject"] = draws.integers(0, max(8, rows // 5), rows)
    made["when"] = np.arange(rows)
    push = np.zeros(rows)
    if split == "group":
        push = draws.normal(0, 0.5, made["subject"].max() + 1)[made["subject"]]
    if split == "time":
        steps = draws.normal(0, 0.3, rows + 50)
        push = np.array([steps[at : at + 50] @ 0.8 ** np.arange(50) for at in range(rows)])
    made["y"] = family.answer((strength if signal else 0 * strength) + push, luck)
    return made


def carried_out(made: pd.DataFrame, family: Family, split: str) -> dict[str, Any]:
    """The variables of the notebook after its interval is known."""
    counts = made["y"].value_counts()
    names: dict[str, Any] = {
        "__name__": "__main__", "np": np, "pd": pd, "target": "y", "task": family.task, "df_clean": made,
        "can_model": True, "time_column": "when" if split == "time" else "",
        "group_column": "subject" if split == "group" else "", "numeric_columns": ["a", "b", "c", "d"],
        "category_columns": ["kind"], "text_columns": [], "missing_features": 0,
        "class_counts": {str(label): int(count) for label, count in counts.items()},
    }  # fmt: skip
    kinds = {"regression": "numbers", "binary": "classes", "multiclass": "classes"}
    for cell in _CELLS:
        chosen = f"{cell}_{kinds[family.task]}" if cell == "model_candidates" else cell
        (path,) = _DSLC.glob(f"*/cells/{chosen}.py")
        source = Templates().read(path.read_text(encoding="utf-8"), kind=Kind.CELL, at=path.name)
        exec(compile(source.render(_facts(names)), path.name, "exec"), names)
    return names


def _facts(names: dict[str, Any]) -> dict[str, Any]:
    shown = {
        name: json.loads(encode(_SHOWN.show(value)))
        for name, value in names.items()
        if not name.startswith("_") and not callable(value) and type(value).__name__ != "module"
    }
    return {"v": shown, "inputs": {"data": "t.csv", "target": "y"}, "lang": "en", "goal": "", "effects": []}


def outcome(job: tuple[str, str, int, bool, int]) -> Outcome | None:
    """What came of one table; None where the notebook would decline, because a class is too rare."""
    name, split, rows, signal, seed = job
    family = next(one for one in FAMILIES if one.name == name)
    draws = np.random.default_rng([seed, rows, SPLITS.index(split), FAMILIES.index(family), signal])
    whole = table(family, rows + (_FRESH if split == "time" else 0), split=split, signal=signal, draws=draws)
    made = whole.iloc[:rows].reset_index(drop=True)
    fresh = whole.iloc[rows:] if split == "time" else table(family, _FRESH, split=split, signal=signal, draws=draws)
    if family.task != "regression" and made["y"].value_counts().reindex(whole["y"].unique(), fill_value=0).min() < 4:
        return None
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        names = carried_out(made, family, split)
        if names.get("learnable_rows", 3) < 3:
            return None
        model = names["clone"](names["model"]).fit(made[names["features"]], made["y"])
        rows_of = fresh[names["features"]]
        guess = model.predict_proba(rows_of)[:, 1] if names["metric"] == "roc_auc" else model.predict(rows_of)
        truth = names["score"](fresh["y"].to_numpy(), guess)
    if not np.isfinite(truth):
        return None
    return Outcome(name, split, rows, signal, names["estimate_low"], names["estimate_high"], truth, names["verdict"])


def jobs(options: argparse.Namespace) -> Iterator[tuple[str, str, int, bool, int]]:
    """One table of every kind, then another of every kind: whoever stops early has some of each."""
    for seed, rows, split, family in product(range(options.tables), options.sizes, options.splits, FAMILIES):
        yield family.name, split, rows, True, seed + 1000 * options.seed
        if seed % 3 == 0:  # where there is nothing to find, a third of the tables is enough
            yield family.name, split, rows, False, seed + 1000 * options.seed


def page(results: list[Outcome], *, declined: int, seconds: float) -> str:
    """A line for each family and kind of split."""
    lines = [
        f"{len(results)} tables in {seconds:.0f} s; {declined} more were declined, because a class had too few rows.",
        "",
        "| family | split | tables | interval holds the true score | too good | too bad "
        '| with signal: shown / not shown / "no better" | without: shown / not shown / "no better" |',
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for family, split in product([one.name for one in FAMILIES], SPLITS):
        own = [one for one in results if (one.family, one.split) == (family, split)]
        if own:
            lines.append(_line(family, split, own))
    return "\n".join(lines) + "\n"


def _line(family: str, split: str, own: list[Outcome]) -> str:
    higher = next(one.task for one in FAMILIES if one.name == family) != "regression"
    above, below = sum(one.truth > one.high for one in own), sum(one.truth < one.low for one in own)
    proud, modest = (below, above) if higher else (above, below)
    said = [
        " / ".join(str(sum(one.verdict == verdict for one in own if one.signal is signal)) for verdict in _VERDICTS)
        for signal in (True, False)
    ]
    held = sum(one.held for one in own)
    return f"| {family} | {split} | {len(own)} | {held / len(own):.2f} | {proud} | {modest} | {said[0]} | {said[1]} |"


_VERDICTS = ("better", "not shown", "no better")


def main() -> None:
    parser = argparse.ArgumentParser(prog="make coverage-of-intervals", description=__doc__)
    parser.add_argument(
        "--tables", type=int, default=6, help="tables of each family, split and size that have a signal"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--splits", nargs="+", default=SPLITS, choices=SPLITS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--out", type=Path, help="write the table into this Markdown file")
    options = parser.parse_args()
    started, found = time.monotonic(), []
    with ProcessPoolExecutor(options.workers) as pool:
        for number, one in enumerate(pool.map(outcome, jobs(options)), start=1):
            found.append(one)
            print(f"{number}: {one}", file=sys.stderr, flush=True)
    results = [one for one in found if one is not None]
    text = page(results, declined=len(found) - len(results), seconds=time.monotonic() - started)
    if options.out is not None:
        whole = options.out.read_text(encoding="utf-8")
        before, _, rest = whole.partition("<!-- coverage -->")
        _, _, after = rest.partition("<!-- /coverage -->")
        options.out.write_text(f"{before}<!-- coverage -->\n{text}<!-- /coverage -->{after}", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
