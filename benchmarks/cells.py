"""G1, G2, G3: cells in a real kernel, through our whole runtime, beside nbclient and papermill.

Our side writes the journal, lists the variables after each cell and writes the notebook, as the product does; nbclient
does none of these. The kernel is started before the clock on both sides, except where the start is what is measured.
"""

from __future__ import annotations

from benchmarks.harness import Bench, Contender, Row, compare, interleave, peer_missing
from benchmarks.jupyter_peers import SOURCE, nbclient_cells, papermill_cells
from benchmarks.ours import kernel_cells, runtime_cells

CELLS = 200
FEW, MANY = 50, 400
NBCLIENT, PAPERMILL = "nbclient", "papermill"
KERNEL, KERNEL_STOCK = "our kernel", "our kernel, stock settings"
RUNTIME, RUNTIME_STOCK = "our runtime", "our runtime, stock settings"
RUNTIME_FEW, RUNTIME_MANY = f"ours, {FEW} cells", f"ours, {MANY} cells"


def whole_runtime(bench: Bench) -> list[Row]:
    samples = interleave(
        [
            Contender(RUNTIME, lambda: runtime_cells(CELLS, bench.folder)),
            Contender(RUNTIME_STOCK, lambda: runtime_cells(CELLS, bench.folder, lean=False)),
            Contender(KERNEL, lambda: kernel_cells(CELLS)),
            Contender(KERNEL_STOCK, lambda: kernel_cells(CELLS, lean=False)),
            Contender(NBCLIENT, lambda: nbclient_cells(CELLS), peer_missing("nbclient")),
        ],
        rounds=bench.rounds,
    )

    def row(what: str, ours: str, figure: str, limit: float | None, note: str = "") -> Row:
        return compare(
            samples,
            gate="G1",
            what=what,
            ours=(ours, figure),
            peer=(NBCLIENT, figure),
            unit="ms",
            limit=limit,
            note=note,
        )

    return [
        row(
            f"{CELLS} cells `{SOURCE}` through the whole runtime, stock kernel settings, a cell",
            RUNTIME_STOCK,
            "cell",
            1.15,
            "the kernel runs with ipykernel's own defaults",
        ),
        row(
            "the same, lean kernel settings",
            RUNTIME,
            "cell",
            0.80,
            "what a run uses unless told otherwise: no history database, no pause after each cell",
        ),
        row("our kernel alone, stock settings, variables listed, a cell", KERNEL_STOCK, "cell", None),
        row("our kernel alone, lean settings, variables listed, a cell", KERNEL, "cell", None),
        row("whole runtime, lean, CPU of the client process, a cell", RUNTIME, "cell_cpu", None),
        row(f"start, {CELLS} cells and stop, lean: CPU with the kernel's", RUNTIME, "cpu", None),
    ]


def beside_papermill(bench: Bench) -> list[Row]:
    samples = interleave(
        [
            Contender(RUNTIME, lambda: runtime_cells(CELLS, bench.folder)),
            Contender(RUNTIME_FEW, lambda: runtime_cells(FEW, bench.folder)),
            Contender(RUNTIME_MANY, lambda: runtime_cells(MANY, bench.folder)),
            Contender(PAPERMILL, lambda: papermill_cells(CELLS, bench.folder), peer_missing("papermill")),
        ],
        rounds=min(bench.rounds, 4),
    )

    def row(what: str, ours: tuple[str, str], peer: tuple[str, str], limit: float | None, note: str = "") -> Row:
        return compare(samples, gate="G2", what=what, ours=ours, peer=peer, unit="ms", limit=limit, note=note)

    return [
        row(f"{CELLS} cells with the notebook written, a cell", (RUNTIME, "cell"), (PAPERMILL, "cell"), 0.20),
        row(f"a cell at {MANY} cells against {FEW}, ours", (RUNTIME_MANY, "cell"), (RUNTIME_FEW, "cell"), 1.10),
        row("the whole command with kernel start and stop", (RUNTIME, "whole"), (PAPERMILL, "whole"), None),
    ]


def kernel_start(bench: Bench) -> list[Row]:
    samples = interleave(
        [
            Contender(KERNEL, lambda: kernel_cells(0)),
            Contender(NBCLIENT, lambda: nbclient_cells(0), peer_missing("nbclient")),
        ],
        rounds=max(bench.rounds, 8),
    )

    def row(what: str, figure: str, limit: float | None) -> Row:
        return compare(
            samples, gate="G3", what=what, ours=(KERNEL, figure), peer=(NBCLIENT, figure), unit="ms", limit=limit
        )

    return [
        row("kernel start until the first cell is answered", "start", 0.75),
        row("kernel start until ready", "ready", None),
        row("the same with stop: CPU with the kernel's", "cpu", None),
    ]
