"""G4: an output of 5 MB from a kernel here and from one on a stock Jupyter Server; small cells there.

The peers are nbclient and jupyter-kernel-client. Every round starts a kernel of its own; the clock runs for the cells
only. Each side shows that the output arrived whole.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from benchmarks.harness import Bench, Contender, Figures, Row, compare, interleave, peer_missing, stopwatch
from benchmarks.jupyter_peers import SOURCE, notebook_of
from benchmarks.stock_server import StockServer, stock_server
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel
from notebook_bcc.kernel.local.kernel import LocalKernel

SIZE = 5_000_000
BIG = f"display({{'text/plain': 'x', 'text/html': 'y' * {SIZE}}}, raw=True)"
BIG_CELLS, SMALL_CELLS = 3, 20
OURS, OURS_STOCK, NBCLIENT = "our kernel", "our kernel, stock settings", "nbclient"
REMOTE, CLIENT = "ours over the server", "jupyter-kernel-client"

Output = Mapping[str, Any]  # Any: an output as nbformat has it


def large_outputs(bench: Bench) -> list[Row]:
    return [*_local(bench), *_on_a_server(bench)]


def _local(bench: Bench) -> list[Row]:
    samples = interleave(
        [
            Contender(OURS, lambda: asyncio.run(_ours(LocalKernel()))),
            Contender(OURS_STOCK, lambda: asyncio.run(_ours(LocalKernel(lean=False)))),
            Contender(NBCLIENT, lambda: asyncio.run(_nbclient()), peer_missing("nbclient")),
        ],
        rounds=bench.rounds,
    )

    def row(what: str, ours: str, figure: str, limit: float | None) -> Row:
        sides = (ours, figure), (NBCLIENT, figure)
        return compare(samples, gate="G4", what=what, ours=sides[0], peer=sides[1], unit="ms", limit=limit)

    return [
        row("a cell that displays 5 MB, kernel here", OURS, "big", 0.90),
        row("the same, stock kernel settings", OURS_STOCK, "big", None),
        row("the same, lean, CPU of the client process", OURS, "big_cpu", None),
    ]


def _on_a_server(bench: Bench) -> list[Row]:
    absent = peer_missing("jupyter_server")
    if absent is not None:
        return [Row(gate="G4", what="cells on a stock Jupyter Server", unit="ms", ours=None, missing=absent)]
    with stock_server(bench.folder / "stock-server") as server:
        samples = interleave(
            [
                Contender(REMOTE, lambda: asyncio.run(_ours(JupyterServerKernel(server.url, token=server.token)))),
                Contender(CLIENT, lambda: _client(server), peer_missing("jupyter_kernel_client")),
            ],
            rounds=min(bench.rounds, 4),
        )

    def row(what: str, figure: str, limit: float | None) -> Row:
        sides = (REMOTE, figure), (CLIENT, figure)
        return compare(samples, gate="G4", what=what, ours=sides[0], peer=sides[1], unit="ms", limit=limit)

    return [
        row("a cell that displays 5 MB, on a stock Jupyter Server", "big", 0.10),
        row(f"a cell `{SOURCE}`, on a stock Jupyter Server", "small", 0.20),
        row("5 MB there, CPU of the client process", "big_cpu", None),
    ]


async def _ours(kernel: Kernel) -> Figures:
    figures: dict[str, float] = {}
    await kernel.start()
    try:
        await kernel.execute(SOURCE)
        with stopwatch(figures, "small", per=SMALL_CELLS):
            for _ in range(SMALL_CELLS):
                await kernel.execute(SOURCE)
        with stopwatch(figures, "big", per=BIG_CELLS):
            for _ in range(BIG_CELLS):
                _check((await kernel.execute(BIG)).outputs)
    finally:
        await kernel.close()
    return figures


async def _nbclient() -> Figures:
    from nbclient import NotebookClient

    notebook = notebook_of([SOURCE] * (SMALL_CELLS + 1) + [BIG] * BIG_CELLS)
    client = NotebookClient(notebook, timeout=600, kernel_name="python3")
    figures: dict[str, float] = {}
    async with client.async_setup_kernel():
        await client.async_execute_cell(notebook.cells[0], 0)
        with stopwatch(figures, "small", per=SMALL_CELLS):
            for index in range(1, SMALL_CELLS + 1):
                await client.async_execute_cell(notebook.cells[index], index)
        with stopwatch(figures, "big", per=BIG_CELLS):
            for index in range(SMALL_CELLS + 1, SMALL_CELLS + 1 + BIG_CELLS):
                await client.async_execute_cell(notebook.cells[index], index)
                _check(notebook.cells[index].outputs)
    return figures


def _client(server: StockServer) -> Figures:
    from jupyter_kernel_client import JupyterKernelClient  # type: ignore[import-not-found,unused-ignore]

    client = JupyterKernelClient(server_url=server.url, token=server.token)
    figures: dict[str, float] = {}
    client.start(timeout=60)
    try:
        client.execute(SOURCE, timeout=60)
        with stopwatch(figures, "small", per=SMALL_CELLS):
            for _ in range(SMALL_CELLS):
                client.execute(SOURCE, timeout=60)
        with stopwatch(figures, "big", per=BIG_CELLS):
            for _ in range(BIG_CELLS):
                _check(client.execute(BIG, timeout=60)["outputs"])
    finally:
        client.stop()
    return figures


def _check(outputs: Iterable[Output]) -> None:
    got = [len(output["data"].get("text/html", "")) for output in outputs if output["output_type"] == "display_data"]
    if got != [SIZE]:
        raise AssertionError(f"the output did not arrive whole: {got}")
