"""Run each generated table to the end of the integrity stage and count what was found."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

import notebook_bcc
from benchmarks.detect.catalogue import CATALOGUE, CLEAN_KIND
from benchmarks.detect.judge import Variables, Verdict, judge
from benchmarks.detect.tables import Disguise, Table
from notebook_bcc.lifecycle.folder import find_run
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.wiring import journals

STAGES = ["structure", "integrity"]
_HEAD = [
    "# Traps that the built-in playbook finds",
    "",
    "Generated tables with known truth, each run to the end of the integrity stage: every trap in several disguises,",
    "sizes and languages, and clean tables that look as if something were wrong. A table with a trap is good when the",
    "trap is found, a clean one when nothing is reported. A third of the disguises was held back while detectors were",
    "written, and the seed was not used then. `make detect SEED=7` writes this page.",
    "",
]


@dataclass(frozen=True)
class Result:
    kind: str
    disguise: Disguise
    verdict: Verdict
    status: str

    @property
    def good(self) -> bool:
        return (
            self.status == "completed"
            and not self.verdict.missed
            and not (self.kind == CLEAN_KIND and self.verdict.alarms)
        )


def main() -> None:
    options = _options()
    chosen = list(_chosen(options))
    results, started = [], time.monotonic()
    with tempfile.TemporaryDirectory(prefix="nbcc-detect-") as place:
        playbook = _first_stages(Path(place))
        for number, (kind, disguise) in enumerate(chosen, start=1):
            result = _run(kind, disguise, options.seed, playbook=playbook, place=Path(place) / f"{number}")
            results.append(result)
            print(f"{number}/{len(chosen)}  {_line(result)}", file=sys.stderr, flush=True)
    page = _page(results, options, seconds=time.monotonic() - started)
    if options.out:
        Path(options.out).write_text(page, encoding="utf-8")
    print(page)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.detect", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="seeds of a report are not those of development")
    parser.add_argument("--kind", default="", help="only kinds whose name contains this")
    parser.add_argument("--held-back", choices=["with", "without", "only"], default="without")
    parser.add_argument("--out", default="", help="write the page there as well")
    return parser.parse_args()


def _chosen(options: argparse.Namespace) -> Iterator[tuple[str, Disguise]]:
    for kind, disguises in CATALOGUE.items():
        if options.kind in kind:
            for one in disguises:
                if options.held_back == "with" or one.held_back == (options.held_back == "only"):
                    yield kind, one


def made(disguise: Disguise, seed: int) -> Table:
    """The table of this disguise and seed, the same on every machine."""
    return disguise.make(np.random.default_rng([seed, zlib.crc32(disguise.name.encode())]), disguise.rows)


def _run(kind: str, disguise: Disguise, seed: int, *, playbook: Path, place: Path) -> Result:
    table = made(disguise, seed)
    place.mkdir()
    table.rows.to_csv(place / "train.csv", index=False)
    test = None
    if table.test is not None:
        test = place / "test.csv"
        table.test.to_csv(test, index=False)
    run = notebook_bcc.run(
        place / "train.csv",
        test=test,
        target=table.target,
        playbook=playbook,
        lang=table.lang,
        runs=place / "runs",
        confirm="auto",
        verify=False,
        progress=False,
    )
    found = asyncio.run(_variables(place / "runs", run.id))
    return Result(kind, disguise, judge(table, found), run.status)


async def _variables(runs: Path, run_id: str) -> Variables:
    return (await load_state(find_run(runs, run_id), journals())).kernel.variables


def _first_stages(place: Path) -> Path:
    """The built-in playbook without what comes after the integrity stage."""
    source, copy = Path(notebook_bcc.__file__).parent / "playbooks" / "dslc", place / "playbook"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    front = yaml.safe_load((copy / "playbook.yaml").read_text(encoding="utf-8"))
    for stage in set(front["stages"]) - set(STAGES):
        shutil.rmtree(copy / stage)
    front |= {"stages": STAGES, "deliverables": [{"name": "raw"}]}
    (copy / "playbook.yaml").write_text(yaml.safe_dump(front, allow_unicode=True), encoding="utf-8")
    return copy


def _line(result: Result) -> str:
    said = [f"missed {trap.kind} {', '.join(trap.columns)}" for trap in result.verdict.missed]
    said += [f"alarm {alarm}" for alarm in result.verdict.alarms]
    said += [result.status] if result.status != "completed" else []
    return f"{'ok  ' if result.good else 'BAD '} {result.kind}: {result.disguise.name}  {'; '.join(said)}"


def _page(results: list[Result], options: argparse.Namespace, *, seconds: float) -> str:
    traps = [one for one in results if one.kind != CLEAN_KIND]
    clean = [one for one in results if one.kind == CLEAN_KIND]
    lines = [
        *_HEAD,
        f"Seed {options.seed}, disguises held back: {options.held_back}; {len(results)} tables in {seconds:.0f} s.",
        "",
    ]
    if traps:
        lines += [f"Traps found: {sum(one.good for one in traps)} of {len(traps)}.", ""]
    if clean:
        lines += [f"Clean tables with an alarm: {sum(not one.good for one in clean)} of {len(clean)}.", ""]
    lines += ["| trap | tables | good | not good |", "| --- | --- | --- | --- |"]
    for kind in CATALOGUE:
        own = [one for one in results if one.kind == kind]
        if own:
            bad = "; ".join(one.disguise.name for one in own if not one.good)
            lines.append(f"| {kind} | {len(own)} | {sum(one.good for one in own)} | {bad} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
