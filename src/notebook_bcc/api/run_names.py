"""How a run is named where it is to be typed again: on the command line, and in Python."""

from __future__ import annotations

from pathlib import Path

from notebook_bcc.api.options import settings_of
from notebook_bcc.errors import BccError
from notebook_bcc.lifecycle import run_names
from notebook_bcc.lifecycle.folder import RunFolder


def typed(folder: RunFolder) -> str:
    """The run for a command in this folder: its id, with `--runs` where it is not kept where the settings say."""
    return run_names.typed(folder.path, usual=_usual())


def opened_by(folder: RunFolder) -> str:
    """The call that opens the run in Python."""
    place = run_names.unusual_place(folder.path.absolute().parent, usual=_usual())
    return f"nb.open({folder.run_id!r}{f', runs={str(place)!r}' if place is not None else ''})"


def _usual() -> Path:
    try:
        return settings_of().runs
    except BccError:
        # What the environment says makes no sense, and was overruled by an option.
        return run_names.DEFAULT_RUNS
