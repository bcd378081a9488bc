"""Runs followed for everybody who looks at them: one reader for each run, however many browsers there are."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from notebook_bcc.errors import BccError
from notebook_bcc.journal.lock import Holder, lock_holder
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import read_entries
from notebook_bcc.lifecycle.summary import RunSummary
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.views.words import Words
from notebook_bcc.web import sections
from notebook_bcc.web.cells import CellRenderer
from notebook_bcc.web.files import journal_stamp, run_files
from notebook_bcc.web.projection import RunProjection
from notebook_bcc.wiring import journals

Json = dict[str, Any]  # Any: JSON

# How often it is looked whether the run's process is still there.
_LOOK_SECONDS: Final = 1.0
# A long journal is folded in turns with everything else.
_ENTRIES_A_TURN: Final = 100
# How long a run that nobody looks at is kept up to date: a reload finds it ready.
_KEEP_SECONDS: Final = 30.0


class RunWatch:
    """One run, kept up to date while somebody looks at it."""

    def __init__(self, folder: RunFolder, *, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self.projection = RunProjection(verifies=folder.destination.verify)
        self.problem = ""
        self.version = 0
        """Rises with every change; entries are not the only ones: a process may vanish without a word."""
        self._holder: Holder | None = None
        self._clock = clock
        self._renderer = CellRenderer()
        self._changed = asyncio.Event()
        self._ready = asyncio.Event()

    async def ready(self) -> None:
        """Wait until everything that the journal holds so far was folded."""
        await self._ready.wait()

    async def wait_beyond(self, version: int) -> None:
        """Wait until something has changed since that version."""
        while self.version <= version:
            await self._changed.wait()

    async def follow(self) -> None:
        """Keep up with the journal until cancelled."""
        try:
            while True:
                await self.load()
                self._ready.set()
                if self._holder is not None:
                    await self._keep_up()
                await self._until_more()
        except BccError as error:
            self.problem = str(error)
            self._ready.set()
            self._tell()

    async def load(self) -> None:
        """Fold what the journal holds. Raises JournalFailed, JournalCorrupt, JournalTooNew."""
        self._look()
        folded = 0
        entries = read_entries(self.folder, journals(), after=self.seq)
        async with contextlib.aclosing(entries):
            async for entry in entries:
                self.projection.saw(entry)
                folded += 1
                if folded % _ENTRIES_A_TURN == 0:
                    await asyncio.sleep(0)
        if folded:
            self._tell()

    async def _keep_up(self) -> None:
        """Fold what comes as long as a process carries the run out."""
        coming = read_entries(self.folder, journals(), after=self.seq, follow=True)
        async with contextlib.aclosing(coming):
            async for entry in coming:
                self.projection.saw(entry)
                self._tell()

    async def _until_more(self) -> None:
        """Wait until somebody takes the run up, or has answered something in it."""
        self._look()
        before = journal_stamp(self.folder)
        while self._holder is None and journal_stamp(self.folder) == before:
            await asyncio.sleep(_LOOK_SECONDS)
            self._look()

    def _look(self) -> None:
        holder = lock_holder(self.folder.lock)
        if holder != self._holder:
            self._holder = holder
            self._tell()

    def _tell(self) -> None:
        self.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    @property
    def seq(self) -> int:
        return self.projection.state.seq

    @property
    def summary(self) -> RunSummary:
        """The run as lists show it."""
        state = None if self.problem else self.projection.state
        return RunSummary(self.folder, state, self._holder, self.problem)

    def page(self, language: Language, *, after: int = 0) -> Json:
        """What the page shows: all of it, or with `after` the cells that have changed since that entry."""
        projection, words = self.projection, Words(language)
        shown = [cell.id for cell in projection.state.document.cells if projection.changed.get(cell.id, 0) > after]
        return {
            "run": self.folder.run_id,
            "seq": self.seq,
            "problem": self.problem,
            "head": sections.head(self.summary, projection, words, now=self._clock()),
            "plan": sections.plan(projection),
            "outputs": sections.outputs(projection.state),
            "tracking": sections.tracking(projection),
            "ask": sections.ask(self.summary, projection),
            "variables": sections.variables(projection),
            "findings": sections.findings(projection),
            "machine": sections.machine(projection.state),
            "files": [{"name": one.name, "size": one.size} for one in run_files(self.folder)],
            "order": [cell.id for cell in projection.state.document.cells],
            "cells": [self._renderer.payload(cell_id, projection, language) for cell_id in shown],
        }


class RunWatches:
    """The runs that somebody looks at. Closing it ends all of them."""

    def __init__(self) -> None:
        self._watches: dict[str, RunWatch] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._users: dict[str, int] = {}
        self._leaving: dict[str, asyncio.TimerHandle] = {}

    @contextlib.asynccontextmanager
    async def watching(self, folder: RunFolder) -> AsyncIterator[RunWatch]:
        """The run, up to date as long as the block runs."""
        name = folder.run_id
        if name not in self._watches:
            watch = self._watches[name] = RunWatch(folder)
            self._tasks[name] = asyncio.create_task(watch.follow(), name=f"watch {name}")
        self._users[name] = self._users.get(name, 0) + 1
        if (leaving := self._leaving.pop(name, None)) is not None:
            leaving.cancel()
        try:
            await self._watches[name].ready()
            yield self._watches[name]
        finally:
            self._users[name] -= 1
            if not self._users[name]:
                loop = asyncio.get_running_loop()
                self._leaving[name] = loop.call_later(_KEEP_SECONDS, self.forget, name)

    def forget(self, name: str) -> None:
        """Stop following a run, because nobody looks at it or it is deleted."""
        if (leaving := self._leaving.pop(name, None)) is not None:
            leaving.cancel()
        self._watches.pop(name, None)
        if (task := self._tasks.pop(name, None)) is not None:
            task.cancel()

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for name in list(self._watches):
            self.forget(name)
        await asyncio.gather(*tasks, return_exceptions=True)
