"""`python -m benchmarks`: measure the gates and print one row each.

Exit code 0, also when a gate is not reached; with `--strict` 1 when one is not reached or could not be measured.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks import (
    big_outputs,
    cells,
    durable,
    fsm,
    llm_planner,
    llm_scanner,
    ndjson,
    payload,
    scale,
    serial,
    service,
)
from benchmarks.harness import Bench, Row, environment

GATES: Mapping[str, Callable[[Bench], list[Row]]] = {
    "G1": cells.whole_runtime,
    "G2": cells.beside_papermill,
    "G3": cells.kernel_start,
    "G4": big_outputs.large_outputs,
    "G5": durable.small_state,
    "G6": durable.growing_state,
    "G7": serial.observation_codec,
    "G8": fsm.transitions_with_history,
    "G10": ndjson.reading_lines,
    "G11": llm_scanner.closed_objects,
    "LLM": llm_planner.beside_the_model,
    "payload": payload.sizes,
    "service": service.beside_starlette,
    "SCALE": scale.long_runs,
}
PACKAGES = (
    "ipykernel",
    "jupyter_client",
    "nbclient",
    "papermill",
    "jupyter_server",
    "jupyter-kernel-client",
    "langgraph",
    "langgraph-checkpoint-sqlite",
    "transitions",
    "pydantic",
    "orjson",
    "starlette",
    "uvicorn",
    "httpx2",
    "ijson",
    "openai",
)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Our runtime beside its peers, as ratios."
    )
    parser.add_argument("--gate", action="append", choices=sorted(GATES), help="only this gate; may be repeated")
    parser.add_argument("--rounds", type=int, default=5, help="interleaved rounds (default 5; long gates take fewer)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all rows there as JSON")
    parser.add_argument("--strict", action="store_true", help="exit 1 when a gate is not reached")
    parser.add_argument(
        "--folder", type=Path, help="where to write while measuring; default the system's temporary folder"
    )
    options = parser.parse_args(arguments)
    logging.disable(logging.WARNING)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="nbcc-bench-", dir=options.folder) as name:
        folder = Path(name)
        _isolate_jupyter(folder)
        for gate in options.gate or GATES:
            print(f"{gate}:", file=sys.stderr, flush=True)
            rows += GATES[gate](Bench(rounds=options.rounds, folder=folder))
    print(table(rows))
    if options.json:
        document = {
            "environment": environment(PACKAGES),
            "rows": [asdict(row) | {"verdict": row.verdict} for row in rows],
        }
        options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if options.strict and not all(row.holds for row in rows) else 0


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table, the notes below it."""
    lines = [
        "| gate | what | ours | peer | ratio | of medians | limit | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    notes = [f"- {row.gate}, {row.what}: {row.note}" for row in rows if row.note]
    lines += ["| " + " | ".join(_columns(row)) + " |" for row in rows]
    return "\n".join([*lines, "", *notes] if notes else lines)


def _columns(row: Row) -> tuple[str, ...]:
    peer = _figure(row.peer, row.unit) + (f" ({row.peer_name})" if row.peer_name else "")
    return (
        row.gate,
        row.what,
        _figure(row.ours, row.unit),
        peer,
        _figure(row.ratio, "x"),
        _figure(row.median_ratio, "x"),
        _figure(row.limit, "x"),
        row.verdict,
    )


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    if unit == "x":
        return f"{value:.3f}x" if value < 0.1 else f"{value:.2f}x"
    return f"{value:,.0f} {unit}" if value >= 1000 else f"{value:.3g} {unit}"


def _isolate_jupyter(folder: Path) -> None:
    """Neither side reads or writes the user's Jupyter and IPython folders; kernels start with stock settings."""
    for variable in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR"):
        place = folder / variable.lower()
        place.mkdir()
        os.environ[variable] = str(place)
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"
    os.environ["LANGSMITH_TRACING"] = os.environ["LANGCHAIN_TRACING_V2"] = "false"


if __name__ == "__main__":
    sys.exit(main())
