"""Writes the journal that every later version must be able to read: python tests/journal/make_fixture.py

It holds every example of every kind, and then a small run as it happens. Run it (with --replace) only while the format
is not released; from then on the file is what users have on their disks, and a new format gets a folder of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from notebook_bcc.journal.encoding import decode_record
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import FORMAT_VERSION, Command, Record
from notebook_bcc.journal.sqlite.journal import SqliteJournal

HERE = Path(__file__).parent
FOLDER = HERE.parent / "fixtures" / f"journal-v{FORMAT_VERSION}"

_PLAN = {
    "name": "Rain",
    "stages": [{"id": "look", "goal": "see the data", "steps": [{"id": "load", "expected_outputs": ["rain"]}]}],
}
_MOVES = [
    ("idle", "START_WORKFLOW", "stage_running"),
    ("stage_running", "START_STEP", "step_running"),
    ("step_running", "START_BEHAVIOR", "behavior_running"),
    ("behavior_running", "START_ACTION", "action_running"),
    ("action_running", "COMPLETE_ACTION", "action_completed"),
    ("action_completed", "NEXT_ACTION", "action_running"),
    ("action_running", "COMPLETE_ACTION", "action_completed"),
    ("action_completed", "COMPLETE_BEHAVIOR", "behavior_completed"),
    ("behavior_completed", "COMPLETE_STEP", "step_completed"),
    ("step_completed", "COMPLETE_STAGE", "stage_completed"),
    ("stage_completed", "COMPLETE_WORKFLOW", "workflow_completed"),
]


def _moves(*numbers: int) -> Iterator[tuple[str, dict[str, Any]]]:
    for number in numbers:
        source, event, to = _MOVES[number]
        yield "transitioned", {"source": source, "event": event, "to": to, "stage_id": "look", "step_id": "load"}


def _planning(purpose: str, achieved: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "planning_asked", {"request_id": f"plan-{purpose}", "purpose": purpose}
    response = {"targetAchieved": achieved}
    yield "planning_answered", {"request_id": f"plan-{purpose}", "purpose": purpose, "response": response}


def _run() -> Iterator[tuple[str, dict[str, Any]]]:
    yield "run_started", {"run_id": "rain-1", "goal": "How much rain?", "workflow": _PLAN, "planner": "scripted"}
    yield from _moves(0)
    yield from _planning("stage", False)
    yield from _moves(1)
    yield from _planning("step", False)
    yield from _moves(2)
    yield "generating_asked", {"request_id": "generate-1"}
    add = {"action": "add", "shot_type": "action", "content": "rain = [1.5, 0, 3]\nprint(sum(rain))"}
    yield "action_received", {"action_id": "a1", "index": 0, "action": add}
    yield from _moves(3)
    cell = {"cell_id": "c1", "added": "code", "source": add["content"]}
    yield "action_completed", {"action_id": "a1", "action": "add", "success": True, "cells": [cell]}
    yield from _moves(4)
    run = {"action": "exec", "codecell_id": "lastAddedCellId"}
    yield "action_received", {"action_id": "a2", "index": 1, "action": run}
    yield from _moves(5)
    yield "kernel_started", {"name": "python3", "language_version": "3.11"}
    outputs = [{"output_type": "stream", "name": "stdout", "text": "4.5\n"}]
    yield "output_received", {"action_id": "a2", "cell_id": "c1", "outputs": outputs}
    shown = {"cell_id": "c1", "outputs": outputs, "execution_count": 1}
    yield (
        "action_completed",
        {
            "action_id": "a2",
            "action": "exec",
            "success": True,
            "cells": [shown],
            "effects": ["4.5\n"],
            "executed": "c1",
            "variables": {"rain": [1.5, 0, 3]},
            "seconds": 0.004,
        },
    )
    yield from _moves(6)
    yield "generating_ended", {"actions": 2}
    yield from _moves(7)
    yield from _planning("feedback", True)
    yield from _moves(8)
    yield from _planning("step_end", True)
    yield from _moves(9)
    yield from _planning("stage_end", True)
    yield from _moves(10)
    yield "run_stopped", {"reason": "completed"}


def _records() -> list[Record]:
    examples: dict[str, list[Any]] = json.loads((HERE / "examples.json").read_text(encoding="utf-8"))
    bodies = [(kind, body) for kind, some in examples.items() for body in some]
    return [decode_record(kind, json.dumps(body).encode()) for kind, body in [*bodies, *_run()]]


async def _write(path: Path) -> dict[str, Any]:
    journal = await asyncio.to_thread(SqliteJournal.create, path)
    entries = [
        Entry(seq, f"2026-01-02T03:04:{seq % 60:02d}.{seq:06d}Z", record) for seq, record in enumerate(_records(), 1)
    ]
    await journal.append(entries)
    commands = [Command(kind="confirm", comment="好"), Command(kind="cancel")]
    for command in commands:
        await journal.post(command, at="2026-01-02T03:05:00Z")
    await journal.close()
    return {
        "entries": [
            {"seq": entry.seq, "at": entry.at, "record": entry.record.model_dump(mode="json")} for entry in entries
        ],
        "commands": [command.model_dump(mode="json") for command in commands],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replace", action="store_true", help="only while the format is not released")
    database = FOLDER / "journal.db"
    if parser.parse_args().replace:
        database.unlink(missing_ok=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    expected = asyncio.run(_write(database))
    text = json.dumps(expected, ensure_ascii=False, indent=0)
    (FOLDER / "expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
