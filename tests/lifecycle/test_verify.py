from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lifecycle.places import Place
from notebook_bcc.errors import KernelStartFailed, NotebookFailed
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.lifecycle.folder import LARGE_FILE, RunFolder
from notebook_bcc.lifecycle.sandboxing import UNBOUND, Confinement
from notebook_bcc.lifecycle.verify import SecondsLeft, VerifyOrder, seconds_left, verify_notebook
from notebook_bcc.notebook.reading import read_notebook
from notebook_bcc.protocol.specs import KernelSpec

pytestmark = pytest.mark.anyio


def write(path: Path, *cells: tuple[str, list[dict[str, Any]]]) -> Path:
    content = {
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{number}",
                "metadata": {"mine": number},
                "source": source,
                "outputs": outputs,
                "execution_count": number + 1,
            }
            for number, (source, outputs) in enumerate(cells)
        ],
        "metadata": {"kernelspec": {"name": "python3", "display_name": "P", "language": "python"}, "other": [1]},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    path.write_text(json.dumps(content))
    return path


def printed(text: str) -> list[dict[str, Any]]:
    return [{"output_type": "stream", "name": "stdout", "text": text}]


async def test_a_notebook_that_gives_the_same_again_is_stamped(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", ("x = 2", []), ("print(x)", printed("2\n")))
    seen: list[tuple[int, int]] = []
    result = await verify_notebook(
        VerifyOrder(notebook=path), place.factories, on_cell=lambda number, of, left: seen.append((number, of))
    )
    assert (result.ok, result.cells, result.differences) == (True, 2, ())
    assert seen == [(1, 2), (2, 2)]
    file = read_notebook(path)
    assert file.run["verified"]["ok"] is True
    assert set(file.run["verified"]) == {"at", "ok", "cells", "differences", "versions"}
    assert file.metadata["other"] == [1]


async def test_a_cell_that_was_not_executed_is_not_executed_now_either(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", ("x = 2", []), ("x = 3", []), ("print(x)", printed("2\n")))
    content = json.loads(path.read_text())
    content["cells"][1] |= {"execution_count": None, "metadata": {"notebook_bcc": {"not_executed": True}}}
    path.write_text(json.dumps(content))
    result = await verify_notebook(VerifyOrder(notebook=path), place.factories)
    assert (result.ok, result.cells) == (True, 2)


async def test_every_difference_is_reported_with_its_cell(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", ("print(1)", printed("2\n")), ("print(3)", printed("3\n")), ("1", []))
    result = await verify_notebook(VerifyOrder(notebook=path), place.factories)
    assert not result.ok
    assert [one.cell_id for one in result.differences] == ["c0", "c2"]
    assert read_notebook(path).run["verified"]["differences"][0]["cell_id"] == "c0"


async def test_a_cell_that_fails_now_is_the_last_one(place: Place, tmp_path: Path) -> None:
    path = write(tmp_path / "a.ipynb", ("1/0", []), ("print(3)", printed("3\n")))
    result = await verify_notebook(VerifyOrder(notebook=path), place.factories)
    assert result.cells == 1
    assert "ZeroDivisionError" in result.differences[0].what
    assert "not run" in result.differences[-1].what


async def test_a_recorded_error_may_happen_again(place: Place, tmp_path: Path) -> None:
    error = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": []}
    path = write(tmp_path / "a.ipynb", ("1/0", [error]), ("print(3)", printed("3\n")))
    assert (await verify_notebook(VerifyOrder(notebook=path), place.factories)).ok


async def test_a_kernel_that_dies_is_a_difference(place: Place, tmp_path: Path) -> None:
    place.kernel = lambda: ScriptedKernel(dies_at=[2])
    path = write(tmp_path / "a.ipynb", ("x = 1", []), ("x", []), ("x", []))
    result = await verify_notebook(VerifyOrder(notebook=path), place.factories)
    assert "died" in result.differences[0].what
    assert not place.kernels[0].is_alive


async def test_the_cells_work_in_a_copy_of_the_inputs(place: Place, tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    (inputs / "deep").mkdir(parents=True)
    (inputs / "deep" / "data.txt").write_text("as it was")
    wished: list[Path] = []

    def kernel(
        spec: KernelSpec,
        *,
        cwd: Path,
        output_bytes: int,
        confinement: Confinement = UNBOUND,
        run: RunFolder | None = None,
    ) -> ScriptedKernel:
        wished.append(cwd)
        assert (cwd / "deep" / "data.txt").read_text() == "as it was"
        (cwd / "deep" / "data.txt").write_text("changed")
        return ScriptedKernel()

    path = write(tmp_path / "a.ipynb", ("x = 1", []))
    changed = replace(place.factories, make_kernel=kernel)
    assert (await verify_notebook(VerifyOrder(notebook=path, inputs=inputs), changed)).ok
    assert (inputs / "deep" / "data.txt").read_text() == "as it was"
    assert not wished[0].exists()


async def test_what_is_no_notebook_or_has_no_kernel_is_an_error_and_not_a_result(place: Place, tmp_path: Path) -> None:
    (tmp_path / "bad.ipynb").write_text("{")
    with pytest.raises(NotebookFailed):
        await verify_notebook(VerifyOrder(notebook=tmp_path / "bad.ipynb"), place.factories)
    place.kernel = lambda: ScriptedKernel(start_failure="no such kernel")
    path = write(tmp_path / "a.ipynb", ("x = 1", []))
    before = path.read_bytes()
    with pytest.raises(KernelStartFailed):
        await verify_notebook(VerifyOrder(notebook=path), place.factories)
    assert path.read_bytes() == before


async def test_a_large_input_that_nobody_may_change_is_linked_instead_of_copied(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    with (inputs / "large.csv").open("w") as file:
        file.truncate(LARGE_FILE)
    (inputs / "large.csv").chmod(0o444)
    (inputs / "small.csv").write_text("a")
    place = Place(root=tmp_path / "runs")
    seen: list[tuple[bool, bool]] = []

    class Looking(ScriptedKernel):
        async def start(self) -> None:
            await super().start()
            work = wished[-1]
            seen.append(((work / "large.csv").is_symlink(), (work / "small.csv").is_symlink()))

    wished: list[Path] = []

    def kernel(
        spec: KernelSpec,
        *,
        cwd: Path,
        output_bytes: int,
        confinement: Confinement = UNBOUND,
        run: RunFolder | None = None,
    ) -> ScriptedKernel:
        wished.append(cwd)
        return Looking()

    order = VerifyOrder(notebook=write(tmp_path / "n.ipynb"), inputs=inputs)
    await verify_notebook(order, replace(place.factories, make_kernel=kernel))
    assert seen == [(True, False)]


async def test_the_time_that_is_left_follows_from_the_recorded_durations(place: Place, tmp_path: Path) -> None:
    await place.start()
    seen: list[tuple[int, SecondsLeft | None]] = []
    ids = [cell.id for cell in read_notebook(place.last.notebook).document.cells]
    order = VerifyOrder(notebook=place.last.notebook, seconds=dict(zip(ids, (0.1, 0.2, 0.3, 0.4), strict=True)))
    await verify_notebook(order, place.factories, on_cell=lambda number, of, left: seen.append((number, left)))
    found = [(number, left.cell, round(left.after, 3)) for number, left in seen if left is not None]
    assert found == [(1, 0.1, 0.9), (2, 0.2, 0.7), (3, 0.3, 0.4), (4, 0.4, 0.0)]
    seen.clear()
    order = VerifyOrder(notebook=place.last.notebook)
    await verify_notebook(order, place.factories, on_cell=lambda number, of, left: seen.append((number, left)))
    assert [left for _, left in seen] == [None] * 4


def test_imports_that_are_slow_this_time_do_not_stretch_the_estimate_of_long_fits() -> None:
    # Seen on a busy machine: imports of 4 s took 90 s, and 22 minutes of fits were told as more than 4 hours.
    recorded = [4.0, *[30.0] * 44]
    left = seconds_left(recorded, 2, spent=90.0)
    assert sum(recorded[1:]) < left.cell + left.after < 2 * sum(recorded[1:])


@pytest.mark.parametrize("pace", [0.4, 2.5])
def test_once_a_tenth_is_run_the_estimate_follows_the_pace_of_this_kernel(pace: float) -> None:
    recorded = [20.0] * 50
    for number in range(6, 51):
        left = seconds_left(recorded, number, spent=pace * 20.0 * (number - 1))
        true = pace * 20.0 * (51 - number)
        assert true / 3 <= left.cell + left.after <= true * 3
