"""G5, G6: a step that survives the death of the process, beside LangGraph with its SQLite checkpointer.

A step of ours is one `add` action of one kilobyte: read from the planner's stream, checked, carried out, journalled on
disk, folded into the state. LangGraph's is one node that counts (G5) or appends one kilobyte (G6), `durability="sync"`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave, peer_missing
from benchmarks.langgraph_peer import ENTRY_BYTES, langgraph_steps
from benchmarks.ours import runtime_adds

STEPS = 1000
FEW, MANY = 100, 2000
OURS, STRICT, LANGGRAPH = "ours", "ours, synced every step", "langgraph"
OURS_FEW, OURS_MANY, LANGGRAPH_MANY = f"ours, {FEW} steps", f"ours, {MANY} steps", f"langgraph, {MANY} steps"
SYNC_NOTE = (
    "ours survives kill -9 at once and power loss within 100 ms or before the next word to a planner; "
    "the peer commits to the disk at every step"
)


def small_state(bench: Bench) -> list[Row]:
    samples = interleave(
        [
            Contender(OURS, _fresh(bench, lambda folder: runtime_adds(STEPS, folder))),
            Contender(
                STRICT,
                _fresh(bench, lambda folder: runtime_adds(STEPS, folder, sync_every_append=True)),
            ),
            Contender(
                LANGGRAPH, _fresh(bench, lambda folder: langgraph_steps(STEPS, folder, growing=False)), _langgraph()
            ),
        ],
        rounds=bench.rounds,
    )

    def row(what: str, ours: str, figure: str, limit: float | None, note: str = "") -> Row:
        return compare(
            samples,
            gate="G5",
            what=what,
            ours=(ours, figure),
            peer=(LANGGRAPH, figure),
            unit="ms",
            limit=limit,
            note=note,
        )

    return [
        row("durable step, small state", OURS, "step", 0.40, SYNC_NOTE),
        row("the same, ours synced to the disk after every append", STRICT, "step", None),
        row("durable step, CPU", OURS, "step_cpu", None),
    ]


def growing_state(bench: Bench) -> list[Row]:
    samples = interleave(
        [
            Contender(OURS_FEW, _fresh(bench, lambda folder: runtime_adds(FEW, folder))),
            Contender(OURS_MANY, _fresh(bench, lambda folder: runtime_adds(MANY, folder))),
            Contender(
                LANGGRAPH_MANY, _fresh(bench, lambda folder: langgraph_steps(MANY, folder, growing=True)), _langgraph()
            ),
        ],
        # The peer writes two gigabytes a round.
        rounds=min(bench.rounds, 2),
    )
    total = compare(
        samples,
        gate="G6",
        what=f"{MANY} steps that add 1 KB each, a step",
        ours=(OURS_MANY, "step"),
        peer=(LANGGRAPH_MANY, "step"),
        unit="ms",
        limit=0.10,
    )
    growth = compare(
        samples,
        gate="G6",
        what=f"a step at {MANY} steps against {FEW}, ours",
        ours=(OURS_MANY, "step"),
        peer=(OURS_FEW, "step"),
        unit="ms",
        limit=1.5,
    )
    beside = compare(
        samples,
        gate="G6",
        what=f"disk after {MANY} steps",
        ours=(OURS_MANY, "bytes"),
        peer=(LANGGRAPH_MANY, "bytes"),
        unit="bytes",
    )
    return [growth, total, _against_the_state(beside), beside]


def _against_the_state(row: Row) -> Row:
    """Disk beside what the steps really added."""
    added = float(MANY * ENTRY_BYTES)
    return replace(
        row,
        what=f"disk after {MANY} steps against the state",
        peer=added,
        peer_name="the state",
        ratio=None if row.ours is None else row.ours / added,
        median_ratio=None,
        limit=5.0,
    )


def _fresh(bench: Bench, work: Callable[[Path], Figures]) -> Callable[[], Figures]:
    """Each round in a folder of its own, gone afterwards."""

    def run() -> Figures:
        with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
            return work(Path(folder))

    return run


def _langgraph() -> str | None:
    return peer_missing("langgraph", "langgraph.checkpoint.sqlite")
