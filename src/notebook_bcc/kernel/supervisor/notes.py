"""What supervisors have left to be said: every command looks here, so that it imports no more than it must."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from notebook_bcc.kernel.supervisor.folders import is_private, runtime_root
from notebook_bcc.kernel.supervisor.supervise import NOTE


def take_notes() -> list[str]:
    """Which kernels were ended to make room, each said once."""
    notes = []
    root = runtime_root()
    for path in sorted(root.glob(f"{NOTE}*.json")) if root.exists() and is_private(root) else ():
        with suppress(OSError, ValueError, KeyError):
            note = json.loads(path.read_text(encoding="utf-8"))
            notes.append(f"the kernel of run {Path(note['run']).name} was ended: {note['why']}")
        path.unlink(missing_ok=True)
    return notes
