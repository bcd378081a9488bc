"""What a run's notebook says of its verification: kept apart, since lists of runs read it and verify nothing."""

from __future__ import annotations

from typing import Final

from notebook_bcc.errors import NotebookFailed
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.notebook.reading import read_notebook

VERIFIED: Final = "verified"


def verified_stamp(folder: RunFolder) -> bool | None:
    """Whether the run's notebook has given the same results again; None where that was not tried."""
    try:
        stamp = read_notebook(folder.notebook).run.get(VERIFIED)
    except NotebookFailed:
        return None
    return stamp.get("ok") is True if isinstance(stamp, dict) else None
