"""kill -9 at random moments of real runs: finished in the end, no action lost, none done twice, and what cells do
outside done once as long as their kernel lives."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import psutil
import pytest

from notebook_bcc.engine.reduce import fold
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import ActionCompleted, RunStopped
from notebook_bcc.journal.sqlite.journal import SqliteJournal
from notebook_bcc.protocol.vocabulary import State

CELLS_A_STEP = 5
STEPS = 6
ACTIONS = STEPS * CELLS_A_STEP * 2
PATIENCE = 90.0


def script() -> str:
    """60 actions in two stages. Each cell extends a list, so a cell left out or run twice would show in it."""
    lines = ["name: kills", "stages:"]
    number = 0
    for stage in range(2):
        lines += [f"  - id: stage-{stage}", "    steps:"]
        for step in range(STEPS // 2):
            lines += [f"      - id: step-{stage}-{step}", "        behaviors:"]
            for half in (3, 2):
                lines += ["          - actions:"]
                for _ in range(half):
                    first = "seen = []\n" if number == 0 else ""
                    outside = f"with open('../../../outside', 'a') as file: file.write('{number}\\n')"
                    code = f"{first}{outside}\nseen.append({number})\nprint(len(seen), seen[-1])"
                    lines += ["              - code: |"]
                    lines += [f"                  {line}" for line in code.splitlines()]
                    number += 1
    return "\n".join(lines) + "\n"


def nbcc(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()", *arguments]


@dataclass
class Campaign:
    """One run that is killed again and again; with `victims`, its kernel or its kernel's supervisor now and then, too.

    `gone` counts the kernels that were killed: what they had done is done again.
    """

    folder: Path
    dice: random.Random
    victims: bool = False
    kills: int = 0
    gone: int = 0
    children: set[int] = field(default_factory=set)

    @property
    def journal(self) -> Path | None:
        return next(self.folder.glob("nbcc-runs/*/journal.sqlite"), None)

    def begin(self) -> subprocess.Popen[bytes]:
        if self.journal is None:
            command = nbcc("run", "script.yaml", "--no-verify")
        else:
            command = nbcc("resume", "last", "--no-verify")
        log = (self.folder / "log.txt").open("ab")
        with log:
            environment = os.environ | {"NBCC_KERNEL_IDLE": "60"}
            return subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def entries(self) -> list[Entry]:
        async def read(path: Path) -> list[Entry]:
            reader = SqliteJournal.reader(path)
            try:
                return [entry async for entry in reader.read()]
            finally:
                await reader.close()

        path = self.journal
        if path is None:
            return []
        return asyncio.run(read(path))

    def length(self) -> int:
        """How many entries the journal has now, without reading them."""
        path = self.journal
        if path is None:
            return 0
        try:
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
                return int(db.execute("SELECT COALESCE(MAX(seq), 0) FROM entries").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # it is being created right now

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        children = psutil.Process(process.pid).children(recursive=True)
        self.children |= {child.pid for child in children}
        process.send_signal(signal.SIGKILL)
        # Until it is gone: else the same process would be found alive, and counted again.
        process.wait(PATIENCE)
        self.kills += 1
        # The supervisor, its kernel, or both: the supervisor is the first.
        if self.victims and children and self.dice.random() < 0.3:
            self.gone += 1
            for child in self.dice.choice([children[:1], children[1:], children]):
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.kill()

    def session(self, *, kill: bool) -> bool:
        """Carry the run on; kill it after some more entries. True when it finished by itself."""
        before = self.length()
        target = before + self.dice.randrange(1, 90)
        process = self.begin()
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None:
            assert time.monotonic() < deadline, (self.folder / "log.txt").read_text()[-3000:]
            if kill and self.length() >= target:
                self.kill(process)
            else:
                time.sleep(0.002)  # a poll between two looks at the journal, not a wait for something to happen
        code = process.wait()
        said = (self.folder / "log.txt").read_text()[-3000:]
        if code == 2 and said.rstrip().endswith("is completed; there is nothing to resume"):
            return True  # the kill before this session came after everything was delivered
        assert code in (0, -signal.SIGKILL), said
        return code == 0


def check(campaign: Campaign) -> RunState:
    entries = campaign.entries()
    state = fold(entries)
    completed = Counter(entry.record.action_id for entry in entries if isinstance(entry.record, ActionCompleted))
    assert len(completed) == ACTIONS, "an action was lost"
    assert set(completed.values()) == {1}, "an action was done twice"
    assert all(entry.record.success for entry in entries if isinstance(entry.record, ActionCompleted))
    assert state.fsm is State.WORKFLOW_COMPLETED
    assert state.kernel.variables["seen"] == list(range(ACTIONS // 2))
    assert isinstance(entries[-1].record, RunStopped)
    journal = campaign.journal
    assert journal is not None
    notebook = nbformat.read(journal.parent / "notebook.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    nbformat.validate(notebook)
    printed = [cell.outputs[0].text for cell in notebook.cells if cell.cell_type == "code"]
    assert printed == [f"{number + 1} {number}\n" for number in range(ACTIONS // 2)]
    outside = Counter(map(int, (campaign.folder / "outside").read_text().split()))
    assert set(outside) == set(range(ACTIONS // 2)), "something outside was not done"
    assert max(outside.values()) <= 1 + campaign.gone, f"done again outside: {outside.most_common(3)}"
    return state


def kill_runs(folder: Path, *, kills: int, seed: int, victims: bool = False) -> int:
    dice = random.Random(seed)
    done = runs = 0
    while done < kills:
        runs += 1
        place = folder / f"run-{runs}"
        place.mkdir()
        (place / "script.yaml").write_text(script())
        campaign = Campaign(place, dice, victims)
        finished = False
        while not finished:
            finished = campaign.session(kill=done + campaign.kills < kills)
        check(campaign)
        done += campaign.kills
        deadline = time.monotonic() + PATIENCE
        while left := [pid for pid in campaign.children if psutil.pid_exists(pid)]:
            assert time.monotonic() < deadline, f"kernels outlived their runs: {left}"
            time.sleep(0.05)  # a poll with a deadline
    return runs


def test_a_run_that_is_killed_ten_times_finishes_with_nothing_lost_and_nothing_done_twice(tmp_path: Path) -> None:
    kill_runs(tmp_path, kills=10, seed=random.randrange(2**32))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_whose_kernels_are_killed_with_it_does_again_only_what_they_had_done(tmp_path: Path) -> None:
    kill_runs(tmp_path, kills=15, seed=random.randrange(2**32), victims=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_kills_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    kill_runs(tmp_path, kills=100, seed=20261115)
