"""How a run is named where it is to be typed again: on the command line, and in Python."""

from __future__ import annotations

import shlex
from pathlib import Path

from notebook_bcc.api.options import settings_of
from notebook_bcc.errors import BccError
from notebook_bcc.lifecycle.folder import RunFolder


def typed(folder: RunFolder) -> str:
    """The run for a command in this folder: its id, with `--runs` where it is not kept where runs usually are."""
    place = _unusual_place(folder)
    return f"{folder.run_id} --runs {shlex.quote(str(place))}" if place is not None else folder.run_id


def opened_by(folder: RunFolder) -> str:
    """The call that opens the run in Python."""
    place = _unusual_place(folder)
    return f"nb.open({folder.run_id!r}{f', runs={str(place)!r}' if place is not None else ''})"


def _unusual_place(folder: RunFolder) -> Path | None:
    root = folder.path.parent.absolute()
    try:
        usual = settings_of().runs.absolute()
    except BccError:
        # What the environment says makes no sense, and was overruled by an option.
        usual = None
    if usual is not None and usual.resolve() == root.resolve():
        return None
    here = Path.cwd()
    return root.relative_to(here) if root.is_relative_to(here) else root
