"""Runs as a list shows them: how each stands, without carrying any of them out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, get_args

from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import BccError, NotebookFailed
from notebook_bcc.journal.interface import JournalFactory
from notebook_bcc.journal.lock import Holder, lock_holder
from notebook_bcc.journal.records import RunStopped
from notebook_bcc.lifecycle.folder import RunFolder, run_folders
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.outline import keep_outline, read_outline
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.vocabulary import State

# All that `RunSummary.status` can be.
STATUSES: Final = ("running", "killed", "broken", *get_args(RunStopped.model_fields["reason"].annotation))


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A run as a list shows it. `state` is None when the journal cannot be read; `problem` then says why."""

    folder: RunFolder
    state: RunState | None
    holder: Holder | None = None
    problem: str = ""

    @property
    def status(self) -> str:
        """`running`, why it stopped, `killed` when its process is gone without a word, or `broken`."""
        if self.state is None:
            return "broken"
        if self.holder is not None and self.holder.carries_out:
            return "running"
        return self.state.stopped.reason if self.state.stopped is not None else "killed"


async def summarize(folder: RunFolder, journals: JournalFactory, *, whole: bool = True) -> RunSummary:
    """A run for a list. A broken one is told as broken: it must neither vanish nor hide the others.

    Without `whole` its state has what a list shows, and its journal is read only if that is not known yet.
    """
    try:
        holder = lock_holder(folder.lock)
        state = read_outline(folder) if not whole and holder is None else None
        if state is None:
            state = await load_state(folder, journals)
            if holder is None:
                keep_outline(folder, state)
        return RunSummary(folder, state, holder)
    except BccError as error:
        return RunSummary(folder, None, problem=str(error))


async def list_runs(root: Path, journals: JournalFactory) -> AsyncIterator[RunSummary]:
    """The runs kept in `root`, newest first."""
    for folder in run_folders(root):
        yield await summarize(folder, journals, whole=False)


def only_delivery_is_left(state: RunState, folder: RunFolder) -> bool:
    """Whether the process died after the workflow was completed and before everything was delivered: the report is the
    last of it."""
    if state.fsm is not State.WORKFLOW_COMPLETED or state.stopped is None:
        return False
    try:
        return read_notebook(folder.notebook).run.get("stopped") != "completed" or not folder.report.exists()
    except NotebookFailed:
        return True
