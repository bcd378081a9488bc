"""Interleaved rounds, figures side by side, one row per claim.

A contender is a callable that does its work once and returns figures (lower is better). Rounds are interleaved
(A B C, B C A, ...) so that the noise of a busy machine falls on all alike. The best of the rounds is what is compared;
the ratio of the medians stands beside it and shows how noisy the run was.
"""

from __future__ import annotations

import gc
import importlib.util
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

Figures = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Bench:
    """What every gate gets: how many rounds, and a folder of its own on the disk to be measured."""

    rounds: int
    folder: Path


@dataclass(frozen=True, slots=True)
class Contender:
    """One side of a comparison. `missing` names what it cannot run without; then `run` is never called."""

    name: str
    run: Callable[[], Figures]
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Samples:
    """All rounds of all contenders of one comparison."""

    rounds: Mapping[str, Sequence[Figures]]
    missing: Mapping[str, str]

    def best(self, who: str, what: str) -> float | None:
        values = self._values(who, what)
        return min(values) if values else None

    def median(self, who: str, what: str) -> float | None:
        values = self._values(who, what)
        return statistics.median(values) if values else None

    def _values(self, who: str, what: str) -> list[float]:
        return [figures[what] for figures in self.rounds.get(who, ()) if what in figures]


@dataclass(frozen=True, slots=True)
class Row:
    """One claim with its figures. Without a limit it informs only."""

    gate: str
    what: str
    unit: str
    ours: float | None
    peer: float | None = None
    peer_name: str = ""
    ratio: float | None = None
    median_ratio: float | None = None
    limit: float | None = None
    missing: str | None = None
    note: str = ""
    detail: Mapping[str, float] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        if self.missing is not None:
            reason, _, what = self.missing.partition(":")
            return f"{reason.upper()}:{what}"
        if self.limit is None or self.ratio is None:
            return "info"
        return "reached" if self.ratio <= self.limit else "NOT REACHED"

    @property
    def holds(self) -> bool:
        return self.verdict in ("reached", "info")


def interleave(contenders: Sequence[Contender], *, rounds: int) -> Samples:
    """Run every contender `rounds` times in rotating order. Those with something missing are left out, and named."""
    present = [contender for contender in contenders if contender.missing is None]
    taken: dict[str, list[Figures]] = {contender.name: [] for contender in present}
    for number in range(rounds if present else 0):
        turn = number % len(present)
        for contender in present[turn:] + present[:turn]:
            gc.collect()
            # What other contenders have imported must not make this one's collections slower.
            gc.freeze()
            figures = contender.run()
            taken[contender.name].append(figures)
            shown = " ".join(f"{name}={value:.4g}" for name, value in figures.items())
            print(f"  round {number + 1}/{rounds} {contender.name}: {shown}", file=sys.stderr, flush=True)
    absent = {contender.name: contender.missing for contender in contenders if contender.missing is not None}
    return Samples(rounds=taken, missing=absent)


def compare(
    samples: Samples,
    *,
    gate: str,
    what: str,
    ours: tuple[str, str],
    peer: tuple[str, str],
    unit: str,
    limit: float | None = None,
    note: str = "",
) -> Row:
    """A row from two (contender, figure) pairs of one interleaved run."""
    missing = samples.missing.get(ours[0]) or samples.missing.get(peer[0])
    our_best, peer_best = samples.best(*ours), samples.best(*peer)
    our_median, peer_median = samples.median(*ours), samples.median(*peer)
    return Row(
        gate=gate,
        what=what,
        unit=unit,
        ours=our_best,
        peer=peer_best,
        peer_name=peer[0],
        ratio=_ratio(our_best, peer_best),
        median_ratio=_ratio(our_median, peer_median),
        limit=limit,
        missing=missing,
        note=note,
    )


def _ratio(ours: float | None, peer: float | None) -> float | None:
    return None if ours is None or peer is None or peer == 0 else ours / peer


def peer_missing(*modules: str) -> str | None:
    """Why a peer cannot run, or None. The word is printed in the row: a peer is never left out silently."""
    absent = [module for module in modules if not _found(module)]
    return f"peer not installed: {', '.join(absent)}" if absent else None


def room_missing(*modules: str) -> str | None:
    """Why our own side cannot run, or None."""
    absent = [module for module in modules if not _found(module)]
    return f"ours not ready: {', '.join(absent)}" if absent else None


def _found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


@contextmanager
def stopwatch(figures: dict[str, float], name: str, *, per: int = 1, unit: float = 1e3) -> Iterator[None]:
    """Add `name` (wall) and `name_cpu` (this process) to the figures, divided by `per`; milliseconds unless told."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    figures[name] = (time.perf_counter() - wall) * unit / per
    figures[f"{name}_cpu"] = (time.process_time() - cpu) * unit / per


def all_cpu_seconds() -> float:
    """CPU of this process and of all children that have ended and been waited for."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def cpu_microseconds(work: Callable[[], object], *, at_least: float = 0.05) -> float:
    """CPU microseconds of one call: called often enough that the clock's grain does not matter."""
    work()
    count = 1
    while True:
        begin = time.process_time()
        for _ in range(count):
            work()
        spent = time.process_time() - begin
        if spent >= at_least:
            return spent * 1e6 / count
        count *= 2


def environment(packages: Sequence[str]) -> dict[str, object]:
    """What a figure was measured with. Names no machine."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "utc": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {package: _version(package) for package in packages},
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
