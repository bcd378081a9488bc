"""Long runs: does an action cost the same at the end as at the start, and does the stack stay flat?

Each run has a process of its own, so that the peak of its memory is its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave
from benchmarks.ours import long_run

ADDS, EXECS = 10_000, 1_000
LIMIT = 1.3


def long_runs(bench: Bench) -> list[Row]:
    rows: list[Row] = []
    for kind, count in (("add", ADDS), ("exec", EXECS)):
        rows += _rows(bench, kind, count)
    return rows


def _rows(bench: Bench, kind: str, count: int) -> list[Row]:
    who = f"{count:,} {kind} actions" + (" after as many add" if kind == "exec" else "")
    contender = Contender(who, lambda: _in_own_process(kind, count, bench.folder))
    samples = interleave([contender], rounds=min(bench.rounds, 2))

    def row(what: str, ours: str, peer: str, unit: str, limit: float | None) -> Row:
        made = compare(
            samples,
            gate="scale",
            what=f"{who}: {what}",
            ours=(who, ours),
            peer=(who, peer),
            unit=unit,
            limit=limit,
        )
        return replace(made, peer_name="first 10 %" if peer else "")

    return [
        row("an action in the last 10 %", "last", "first", "ms", LIMIT),
        row("the same, CPU of the process", "last_cpu", "first_cpu", "ms", LIMIT),
        row("stack depth in the last 10 %", "depth_last", "depth_first", "frames", 1.0),
        row("all of it", "seconds", "", "s", None),
        row("peak memory of the process", "peak", "", "MB", None),
    ]


def _in_own_process(kind: str, count: int, folder: Path) -> Figures:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        command = [sys.executable, "-m", "benchmarks.scale", kind, str(count), place]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=1200)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def peak_megabytes() -> float:
    """The most memory this process has had. Linux's ru_maxrss would count the parent's at the time of the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    kind, count, folder = sys.argv[1:]
    figures = dict(long_run(kind, int(count), Path(folder)))
    figures["peak"] = peak_megabytes()
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
