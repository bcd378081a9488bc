"""Restart and run all: does the delivered notebook give the same results in a fresh kernel?"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from notebook_bcc import __version__
from notebook_bcc.errors import KernelDied, RunRefused
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import LARGE_FILE
from notebook_bcc.lifecycle.sandboxing import UNBOUND, Confinement
from notebook_bcc.lifecycle.verified import VERIFIED
from notebook_bcc.notebook.reading import NotebookFile, read_notebook, stamp_notebook
from notebook_bcc.notebook.sameness import differences
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.specs import KernelSpec, LocalKernelSpec, is_confined
from notebook_bcc.protocol.vocabulary import CellType


@dataclass(frozen=True, slots=True)
class SecondsLeft:
    """About how long the cell that begins takes, and the cells after it."""

    cell: float
    after: float


# Told before each cell: its number, of how many, and about how many seconds are left, if that is known.
OnCell = Callable[[int, int, SecondsLeft | None], None]

# Below this the durations of the cells so far say nothing about the machine.
_TELLING_SECONDS = 1.0
_NOT_RUN = "it was not run: an earlier cell failed"
_LINE = 60
# So many seconds, and at least this share of all, count as if they had taken as long as recorded: a slow cell or slow
# imports are no verdict on long fits.
_TRUSTED_SECONDS = 4.0
_TRUSTED_SHARE = 0.1
_LARGEST_COPY = 1_000_000_000
_LEFT_OUT = shutil.ignore_patterns(".*", "*.ipynb", "__pycache__", "nbcc-runs")


@dataclass(frozen=True, slots=True)
class CellDifference:
    """A cell that did not do the same again, and in what. `cell` names it for a reader: its number among the code
    cells, and its first line."""

    cell_id: str
    what: str
    cell: str = ""


@dataclass(frozen=True, slots=True)
class Verification:
    """The result: `ok` when every code cell ran and gave what was recorded. `sandbox` names the one it was done in."""

    at: str
    ok: bool
    cells: int
    differences: tuple[CellDifference, ...]
    versions: dict[str, str]
    sandbox: str = ""

    def stamp(self) -> dict[str, Any]:
        """What stands in the notebook's metadata, as JSON values."""
        return {
            "at": self.at,
            "ok": self.ok,
            "cells": self.cells,
            "differences": [{"cell_id": one.cell_id, "cell": one.cell, "what": one.what} for one in self.differences],
            "versions": self.versions,
            **({"sandbox": self.sandbox} if self.sandbox else {}),
        }


@dataclass(frozen=True, slots=True)
class VerifyOrder:
    """Which notebook, with which files beside it, in which kernel, and within which limits.

    `inputs` are copied to `place` in the working directory. `worked_in` is where it was recorded. `tidy` says that
    `inputs` holds inputs and nothing else; otherwise hidden files, notebooks and runs in it are left out of the copy.
    `seconds` are how long cells took when they were recorded. Of `kernel_spec` the place counts, local without one: the
    notebook names its kernel.
    """

    notebook: Path
    inputs: Path | None = None
    place: str = ""
    tidy: bool = True
    worked_in: Path | None = None
    output_bytes: int = 10_000_000
    cell_seconds: float = 0.0
    kernel_spec: KernelSpec | None = None
    confinement: Confinement = UNBOUND
    seconds: Mapping[str, float] = field(default_factory=dict)


async def verify_notebook(
    order: VerifyOrder, factories: RunFactories, *, on_cell: OnCell | None = None
) -> Verification:
    """Run all code cells in order in a fresh kernel, compare, and stamp the result into the file.

    The cells work in a copy of `order.inputs`, so that nothing of the user's is touched. Raises NotebookFailed,
    KernelStartFailed, RunRefused.
    """
    file = read_notebook(order.notebook)
    spec = (order.kernel_spec or LocalKernelSpec()).model_copy(update={"name": _kernel_name(file)})
    # A Jupyter Server that sees any folder of ours sees the one of the notebook.
    place = order.notebook.parent if not isinstance(spec, LocalKernelSpec) else None
    with tempfile.TemporaryDirectory(prefix="nbcc-verify-", dir=place, ignore_cleanup_errors=True) as scratch:
        work = Path(scratch) / "work"
        _copy_inputs(order, work)
        # Large inputs are not copied but linked to.
        readable = (order.inputs,) if order.inputs is not None and order.inputs.is_dir() and order.tidy else ()
        kept = replace(order.confinement, readable=readable)
        kernel = factories.make_kernel(spec, cwd=work, output_bytes=order.output_bytes, confinement=kept)
        try:
            await kernel.start()
            cells, found = await _run_all(_code_cells(file), kernel, order=order, work=work, on_cell=on_cell)
            versions = {"notebook_bcc": __version__, kernel.identity.language: kernel.identity.language_version}
        finally:
            await kernel.close()
    result = Verification(
        at=factories.timestamp(),
        ok=not found,
        cells=cells,
        differences=tuple(found),
        versions=versions,
        sandbox=str(kept.sandbox) if is_confined(kept.sandbox) else "",
    )
    stamp_notebook(order.notebook, **{VERIFIED: result.stamp()})
    return result


async def _run_all(
    cells: Sequence[Cell],
    kernel: Kernel,
    *,
    order: VerifyOrder,
    work: Path,
    on_cell: OnCell | None,
) -> tuple[int, list[CellDifference]]:
    """How many cells ran, and what differed. A cell that fails and did not before is the last one, as in Jupyter."""
    found: list[CellDifference] = []
    places = _spellings(work) + (_spellings(order.worked_in) if order.worked_in is not None else [])
    began = time.monotonic()
    for number, cell in enumerate(cells, 1):
        if on_cell is not None:
            on_cell(number, len(cells), _seconds_left(cells, number, order.seconds, spent=time.monotonic() - began))
        try:
            execution = await kernel.execute(cell.source, time_limit=order.cell_seconds or None)
        except KernelDied as error:
            found.append(CellDifference(cell.id, str(error), _named(number, cell)))
            return number, found + _not_run(cells, number)
        raised = execution.error
        if raised is not None and raised.name == "FileNotFoundError" and not _failed_before(cell):
            raise RunRefused(
                f"the notebook cannot be verified: a file that cell {_named(number, cell)} reads is not here "
                f"({raised.message}); name the folder that holds it with: nbcc verify {order.notebook} --inputs FOLDER"
            )
        found += [
            CellDifference(cell.id, what, _named(number, cell))
            for what in differences(cell.outputs, execution.outputs, folders=places)
        ]
        if not execution.succeeded and not _failed_before(cell):
            return number, found + _not_run(cells, number)
    return len(cells), found


def _seconds_left(
    cells: Sequence[Cell], number: int, recorded: Mapping[str, float], *, spent: float
) -> SecondsLeft | None:
    """About how long the cells from this one on will take; None where no durations are known."""
    if not recorded:
        return None
    return seconds_left([recorded.get(cell.id, 0.0) for cell in cells], number, spent=spent)


def seconds_left(recorded: Sequence[float], number: int, *, spent: float) -> SecondsLeft:
    """About how long the cells from this one on will take, by how long they took and how quick this kernel is. Pure.

    `recorded` has the duration of each cell; those before cell `number`, counted from 1, have now taken `spent`.
    """
    before, after = sum(recorded[: number - 1]), sum(recorded[number:])
    trusted = max(_TRUSTED_SECONDS, _TRUSTED_SHARE * sum(recorded))
    pace = (spent + trusted) / (before + trusted) if before > _TELLING_SECONDS else 1.0
    return SecondsLeft(cell=recorded[number - 1] * pace, after=after * pace)


def _not_run(cells: Sequence[Cell], after: int) -> list[CellDifference]:
    rest = enumerate(cells[after:], after + 1)
    return [CellDifference(cell.id, _NOT_RUN, _named(number, cell)) for number, cell in rest]


def _named(number: int, cell: Cell) -> str:
    """As a reader finds it: `12 (df = prepare(raw))`."""
    lines = [line.strip() for line in cell.source.splitlines()]
    first = next((line for line in lines if line and not line.startswith("#")), lines[0] if lines else "")
    return f"{number} ({first if len(first) <= _LINE else first[: _LINE - 3] + '...'})"


def _failed_before(cell: Cell) -> bool:
    return any(output.get("output_type") == "error" for output in cell.outputs)


def _code_cells(file: NotebookFile) -> list[Cell]:
    code = [cell for cell in file.document.cells if cell.type is CellType.CODE and cell.source.strip()]
    return [cell for cell in code if not cell.is_unexecuted]


def _kernel_name(file: NotebookFile) -> str:
    spec = file.metadata.get("kernelspec")
    return str(spec.get("name") or "python3") if isinstance(spec, dict) else "python3"


def _copy_inputs(order: VerifyOrder, work: Path) -> None:
    inputs = order.inputs
    if inputs is None or not inputs.is_dir():
        work.mkdir()
        return
    files = [(Path(folder) / name).lstat() for folder, _, names in os.walk(inputs) for name in names]
    size = sum(one.st_size for one in files if not _is_linked(one))
    if size > _LARGEST_COPY:
        raise RunRefused(
            f"the files beside the notebook ({size:,} bytes in {inputs}) are too many to copy for a verification; name "
            f"a folder that holds only what its cells read: nbcc verify {order.notebook} --inputs FOLDER"
        )
    try:
        ignore = None if order.tidy else _LEFT_OUT
        shutil.copytree(inputs, work / order.place, ignore=ignore, symlinks=True, copy_function=_copy_or_link)
    except (shutil.Error, OSError) as error:
        raise RunRefused(f"the inputs in {inputs} cannot be copied: {error}") from error


def _copy_or_link(source: str, target: str) -> None:
    if _is_linked(Path(source).stat()):
        Path(target).symlink_to(os.path.realpath(source))
    else:
        shutil.copy2(source, target)


def _is_linked(file: os.stat_result) -> bool:
    """Whether a link will do for a file: it is large, and the cells cannot write to it. A run keeps such inputs so."""
    return file.st_size >= LARGE_FILE and not file.st_mode & 0o222


def _spellings(path: Path) -> list[str]:
    """The path as it may be printed: as it was given, and with links followed. The longer one first."""
    return sorted({str(path), os.path.realpath(path)}, key=len, reverse=True)
