"""`make numbers`: runs on generated and public tables, and every number that they tell beside its variable."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.goals.tables import TABLES
from benchmarks.numbers.checking import RunChecked, check_run
from benchmarks.scores import data_folder

NBCC = Path(sys.executable).with_name("nbcc")
DECLINED = 8


@dataclass(frozen=True, slots=True)
class Case:
    """One run: its name, and the options of the command after the file."""

    name: str
    file: Path
    options: tuple[str, ...]


def generated(folder: Path, *, seed: int) -> Iterator[Case]:
    """The tables of the goals, in both languages, by several tasks."""
    asked = {
        "shop": (("--target", "Churn"), ("--task", "drivers", "--target", "Churn"), ("--task", "describe")),
        "homes": (("--target", "价格"), ("--task", "drivers", "--target", "价格")),
    }
    for name, options in asked.items():
        if name not in TABLES:
            continue
        path = TABLES[name](seed).write(folder)
        for lang in ("en", "zh"):
            for each in options:
                yield Case(f"{name} {' '.join(each)} {lang}", path, (*each, "--lang", lang))


def public() -> Iterator[Case]:
    """The tables of NBCC_DATA that are small."""
    register = data_folder() / "datasets.json"
    if not register.is_file():
        print("SKIPPED: there are no public tables; name their folder with NBCC_DATA", file=sys.stderr)
        return
    known = json.loads(register.read_text(encoding="utf-8"))
    for at, name in enumerate(sorted(known, key=lambda each: (data_folder() / each / "train.csv").stat().st_size)[:10]):
        train = data_folder() / name / "train.csv"
        yield Case(name, train, ("--target", str(known[name]["target"]), "--lang", ("en", "zh")[at % 2]))


def carry_out(case: Case, runs: Path) -> RunChecked | str:
    """Run the command and check what it told; or how the command failed."""
    before = set(runs.iterdir())
    command = [NBCC, "run", case.file, *case.options, "--confirm", "auto", "--no-verify", "--runs", runs]
    done = subprocess.run(
        list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    made = sorted(set(runs.iterdir()) - before)
    if done.returncode not in (0, DECLINED) or not made:
        return f"exit {done.returncode}: {done.stderr.strip()[-200:]}"
    return check_run(made[-1], done.stdout)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make numbers", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=20, help="how many runs")
    options = parser.parse_args(arguments)
    wrong = 0
    print("| run | texts | numbers | comparatives | without a source or different |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as place:
        folder, runs = Path(place), Path(place) / "runs"
        runs.mkdir()
        cases = [*generated(folder, seed=options.seed), *public()][: options.most]
        for case in cases:
            found = carry_out(case, runs)
            if isinstance(found, str):
                print(f"| {case.name} | | | | {found} |", flush=True)
                wrong += 1
                continue
            shown = f"{found.texts} | {found.numbers} | {found.comparatives} | {len(found.problems)}"
            print(f"| {case.name} | {shown} |", flush=True)
            wrong += len(found.problems)
            for problem in found.problems:
                print(f"  {problem}", file=sys.stderr, flush=True)
    print(f"{len(cases)} runs, {wrong} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
