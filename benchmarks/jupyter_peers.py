"""The peers that run cells in a real kernel: nbclient (drives it) and papermill (drives it and saves as it goes)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.harness import Figures, all_cpu_seconds, stopwatch

SOURCE = "x=1"
SPEC = {"name": "python3", "display_name": "Python 3", "language": "python"}


def nbclient_cells(count: int) -> Figures:
    """In ms: `start` until the first cell is answered, one `cell` of `count`, `cpu` of everything with the kernel."""
    begin = all_cpu_seconds()
    figures = asyncio.run(_nbclient_cells(count))
    figures["cpu"] = (all_cpu_seconds() - begin) * 1e3
    return figures


async def _nbclient_cells(count: int) -> dict[str, float]:
    from nbclient import NotebookClient

    notebook = _notebook(count + 1)
    client = NotebookClient(notebook, timeout=600, kernel_name="python3")
    figures: dict[str, float] = {}
    begin = time.perf_counter()
    async with client.async_setup_kernel():
        figures["ready"] = (time.perf_counter() - begin) * 1e3
        await client.async_execute_cell(notebook.cells[0], 0)
        figures["start"] = (time.perf_counter() - begin) * 1e3
        if count:
            with stopwatch(figures, "cell", per=count):
                for index in range(1, count + 1):
                    await client.async_execute_cell(notebook.cells[index], index)
    if notebook.cells[-1].execution_count != count + 1:
        raise AssertionError("nbclient did not run every cell")
    return figures


def papermill_cells(count: int, folder: Path) -> Figures:
    """`cell`: ms from the first cell's start to the last one's end, by papermill's own stamps; `whole`: the command.

    The stamps leave out the kernel's start, the first save and the last one: to the peer's favour.
    """
    import nbformat
    import papermill  # type: ignore[import-untyped]

    for name in ("papermill", "traitlets"):
        logging.getLogger(name).setLevel(logging.ERROR)
    given, written = folder / f"given-{count}.ipynb", folder / f"written-{count}.ipynb"
    nbformat.write(_notebook(count), given)  # type: ignore[no-untyped-call]
    figures: dict[str, float] = {}
    with stopwatch(figures, "whole"):
        done = papermill.execute_notebook(given, written, kernel_name="python3", progress_bar=False)
    first = datetime.fromisoformat(done.cells[0].metadata.papermill.start_time)
    last = datetime.fromisoformat(done.cells[-1].metadata.papermill.end_time)
    figures["cell"] = (last - first).total_seconds() * 1e3 / count
    back = nbformat.read(written, as_version=4)  # type: ignore[no-untyped-call]
    if len(back.cells) != count:
        raise AssertionError("papermill did not write every cell")
    return figures


def _notebook(count: int) -> Any:  # Any: nbformat's NotebookNode is untyped
    return notebook_of([SOURCE] * count)


def notebook_of(sources: Sequence[str]) -> Any:  # Any: as above
    """A notebook of these code cells, not run yet."""
    from nbformat.v4 import new_code_cell, new_notebook

    cells = [new_code_cell(source) for source in sources]  # type: ignore[no-untyped-call]
    return new_notebook(cells=cells, metadata={"kernelspec": SPEC})  # type: ignore[no-untyped-call]
