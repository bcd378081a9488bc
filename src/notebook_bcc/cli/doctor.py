"""`nbcc doctor`: what works on this machine, and what would help where something does not."""

from __future__ import annotations

import dataclasses
import json

from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.options.run import JsonOption, RunsOption, settings_of
from notebook_bcc.lifecycle.doctor import KERNEL, Diagnosis, examine
from notebook_bcc.views.narration import safe
from notebook_bcc.wiring import run_factories

_SIGNS = {True: "works", False: "FAILS", None: "info"}


async def doctor_command(runs: RunsOption = None, as_json: JsonOption = False) -> int:
    """Try what runs need on this machine: a kernel, its packages, the sandboxes, fonts, a browser for PDF, the disk.

    Each line says what works and by what, or why not and what would help. Nothing is changed. Ends with 0 unless no
    kernel starts, so that nothing can run at all; then with 1.
    """
    settings = settings_of(runs=runs)
    can_run = False
    async for one in examine(settings.runs, run_factories(settings)):
        can_run = can_run or (one.what == KERNEL and bool(one.works))
        print(json.dumps(dataclasses.asdict(one), ensure_ascii=False) if as_json else _row(one), flush=True)
    return Exit.COMPLETED if can_run else Exit.FAILED


def _row(one: Diagnosis) -> str:
    remedy = f"\n{'':<18} -> {one.help}" if one.help else ""
    return f"{_SIGNS[one.works]:<6} {one.what:<11} {safe(one.said)}{remedy}"
