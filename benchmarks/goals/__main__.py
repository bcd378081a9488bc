"""`make goals`: every goal through the command line, and what came out beside the truth."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.goals.cases import CASES, GoalCase
from benchmarks.goals.tables import TABLES, GoalTableFile

NBCC = Path(sys.executable).with_name("nbcc")
DECLINED = 8
# Any, throughout: what a run answers is JSON of any shape.


@dataclass(frozen=True)
class Outcome:
    """What a goal gave: the exit code, and the values of `answer.json` by name."""

    case: GoalCase
    code: int
    values: Mapping[str, Any]
    target: str
    problem: str

    @property
    def verdict(self) -> str:
        if self.code == DECLINED:
            return "declined"
        return f"exit {self.code}" if self.code else "wrong" if self.problem else "right"


def ask(case: GoalCase, folder: Path, *, seed: int) -> Outcome:
    """Carry a goal out as a user would, and judge what came of it."""
    table = TABLES[case.table](seed)
    command = [NBCC, "run", table.write(folder), "--goal", case.goal, "--lang", case.lang, "--confirm", "auto"]
    command += ["--quiet", "--no-verify", "--runs", folder / "runs", "--out", f"{folder / 'out'}/"]
    code = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, check=False).returncode
    values = _values(folder / "out" / "answer.json")
    target = _target(folder / "out" / "summary.json")
    return Outcome(case, code, values, target, _problem(case, table, values, target) if code == 0 else "")


def _values(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    answer = json.loads(path.read_text(encoding="utf-8"))
    return {one["name"]: one.get("value") for one in answer["deliverables"] if one["produced"]}


def _target(path: Path) -> str:
    return str(json.loads(path.read_text(encoding="utf-8")).get("target", "")) if path.exists() else ""


def _problem(case: GoalCase, table: GoalTableFile, values: Mapping[str, Any], target: str) -> str:
    """Why the answer is wrong; empty where it is right."""
    truth = case.expects(table.rows) if case.expects is not None else None
    match case.task:
        case "answer":
            return "" if _same(values.get("answer"), truth) else f"the truth is {truth}"
        case "describe":
            found = values.get("alert_kinds") or {}
            return "" if found == truth else f"the truth is {truth}, it says {found}"
        case "drivers":
            return _wrong_drivers(values.get("drivers_found") or {}, truth or {})
        case "predict":
            return "" if target == truth and "final_model" in values else f"it predicts {target!r}, not {truth!r}"
        case _:
            return "it should have been declined"


def _wrong_drivers(found: Mapping[str, float], truth: Mapping[str, int]) -> str:
    wrong = [name for name, sign in truth.items() if name not in found or (sign and found[name] * sign <= 0)]
    more = [name for name in found if name not in truth]
    return f"missed or turned round: {wrong}; named without a reason: {more}" if wrong or more else ""


def _same(found: Any, truth: Any) -> bool:
    if isinstance(truth, Mapping):
        return (
            isinstance(found, Mapping)
            and found.keys() == truth.keys()
            and all(_same(found[k], truth[k]) for k in truth)
        )
    return isinstance(found, int | float) and math.isclose(found, truth, rel_tol=1e-9, abs_tol=1e-9)


def page(outcomes: Sequence[Outcome], *, seed: int) -> str:
    """The page of the documentation."""
    lines = ["| goal | understood as | what came out | |", "| --- | --- | --- | --- |"]
    lines += [f"| {one.case.goal} | {_understood(one)} | {_shown(one)} | {one.verdict} |" for one in outcomes]
    counts = {verdict: sum(one.verdict == verdict for one in outcomes) for verdict in ("right", "declined", "wrong")}
    text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return "\n".join([f"Seed {seed}, {len(outcomes)} goals: {text}.", "", *lines, ""])


def _understood(one: Outcome) -> str:
    return str(one.values.get("question") or one.case.task)


def _shown(one: Outcome) -> str:
    named = {"answer": "answer", "describe": "alert_kinds", "drivers": "drivers_found"}
    value = one.values.get(named.get(one.case.task, ""))
    if one.case.task == "predict":
        return f"a model of `{one.target}`"
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_number(item)}" for name, item in value.items())
    return _number(value) if value is not None else "exit code 8"


def _number(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def main() -> int:
    parser = argparse.ArgumentParser(description="ask goals in words of generated tables")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--task", action="append", help="only these tasks")
    parser.add_argument("--first", type=int, default=0, help="only so many goals of each task and language")
    parser.add_argument("--out", type=Path, help="write the table of results into this page, below its marker")
    said = parser.parse_args()
    outcomes: list[Outcome] = []
    taken: dict[tuple[str, str], int] = {}
    for case in CASES:
        kind = (case.task, case.lang)
        taken[kind] = taken.get(kind, 0) + 1
        if (said.task and case.task not in said.task) or (said.first and taken[kind] > said.first):
            continue
        with tempfile.TemporaryDirectory(prefix="nbcc-goals-") as folder:
            outcomes.append(ask(case, Path(folder), seed=said.seed))
        one = outcomes[-1]
        print(f"{one.verdict:9} {case.task:9} {case.goal}  {one.problem}", flush=True)
    if said.out:
        head = said.out.read_text(encoding="utf-8").partition(MARKER)[0]
        said.out.write_text(head + MARKER + "\n\n" + page(outcomes, seed=said.seed), encoding="utf-8")
    good = all(one.verdict == ("declined" if one.case.task == "declined" else "right") for one in outcomes)
    return 0 if good else 1


MARKER = "<!-- make goals writes what follows -->"

if __name__ == "__main__":
    sys.exit(main())
