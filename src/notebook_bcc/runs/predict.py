"""Predictions for new rows by the model that a run has saved, made in a kernel of their own.

What a cell has written is never unpickled in this process.
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from notebook_bcc.errors import RunRefused
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.protocol.specs import LocalKernelSpec
from notebook_bcc.runs.factories import RunFactories
from notebook_bcc.runs.folder import RunFolder

MODEL = "model.pkl"

_WRITTEN = "predictions.csv"
_OUTPUT_BYTES = 1_000_000
_LOAD = """\
import pickle

with open({model!r}, "rb") as file:
    model = pickle.load(file)
"""
_READ = "rows = model.read({data!r})"
_PREDICT = "answers = model.predictions(rows)"
_CHANCES = """\
import pandas

chances = pandas.DataFrame(model.predict_proba(rows), columns=model.classes_, index=rows.index)
answers = pandas.concat([answers.drop(columns=list(model.targets)), chances], axis=1)"""
_WRITE = "answers.to_csv({written!r}, index=False)"


@dataclass(frozen=True, slots=True)
class PredictOrder:
    """Which rows, by the model of which run, in which kernel. `probabilities`: of every class, instead of the class."""

    data: Path
    kernel: str = "python3"
    probabilities: bool = False


async def predict(folder: RunFolder, order: PredictOrder, factories: RunFactories) -> bytes:
    """The predictions as CSV. Raises RunRefused where there is no model or the rows do not fit it, KernelFailed."""
    model = folder.path / MODEL
    if not model.is_file():
        raise RunRefused(f"run {folder.run_id!r} has no {MODEL}: it has not made a model that can predict")
    if not order.data.is_file() or not os.access(order.data, os.R_OK):
        raise RunRefused(f"data file {str(order.data)!r} does not exist or cannot be read")
    with tempfile.TemporaryDirectory(prefix="nbcc-predict-", ignore_cleanup_errors=True) as scratch:
        written = Path(scratch) / _WRITTEN
        spec = LocalKernelSpec(name=order.kernel)
        kernel = factories.make_kernel(spec, cwd=Path(scratch), output_bytes=_OUTPUT_BYTES)
        try:
            await kernel.start()
            await _run(kernel, _LOAD.format(model=str(model.absolute())), f"{model} cannot be loaded")
            await _run(kernel, _READ.format(data=str(order.data.absolute())), f"{order.data} cannot be read")
            wanted = f"{_PREDICT}\n{_CHANCES}" if order.probabilities else _PREDICT
            await _run(kernel, wanted, f"the rows of {order.data} cannot be predicted")
            await _run(kernel, _WRITE.format(written=str(written)), "the predictions cannot be written")
            return written.read_bytes()
        finally:
            await kernel.close()


async def _run(kernel: Kernel, source: str, failure: str) -> None:
    execution = await kernel.execute(source)
    if execution.error is not None:
        raise RunRefused(f"{failure}: {execution.error.name}: {execution.error.message}")
