"""Predictions for new rows by a model that a run has saved, made in a kernel of their own.

What a cell has written is never unpickled in this process.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import MessageInvalid, RunRefused
from notebook_bcc.kernel.interface import CellError, Execution, Kernel
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.new_rows import rewrite
from notebook_bcc.lifecycle.sandbox_request import NO_REQUEST, SandboxRequest
from notebook_bcc.lifecycle.sandboxing import UNBOUND, Confinement, TryRung, kept_confinement
from notebook_bcc.protocol.predicting import ModelFacts, RowDoubts
from notebook_bcc.protocol.specs import LocalKernelSpec

MODEL = "model.pkl"

_WRITTEN = "predictions.csv"
_OUTPUT_BYTES = 1_000_000
_LOAD = """\
import json, pickle, warnings

with open({model!r}, "rb") as file, warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model = pickle.load(file)
names = [str(name) for name in getattr(model, "feature_names_in_", [])]
remarks = [str(one.message) for one in said]
print(json.dumps({{"written": getattr(model, "written", None), "names": names, "remarks": remarks}}))
"""
_READ = "rows = model.read({data!r})\nprint(json.dumps(len(rows)))"
# All as text: the model's own functions read numbers, dates and codes in it as they do in any file.
_READ_CSV = """\
import pandas

rows = pandas.read_csv({data!r}, dtype="str")
rows.columns = [" ".join(str(name).split()) for name in rows.columns]
print(json.dumps(len(rows)))"""
_PREDICT = "answers = model.predictions(rows)"
_CHANCES = """\
import pandas

chances = pandas.DataFrame(model.predict_proba(rows), columns=model.classes_, index=rows.index)
answers = pandas.concat([answers.drop(columns=list(model.targets)), chances], axis=1)"""
_DOUBTS = "print(json.dumps(model.doubts(rows)))"
_WRITE = "answers.to_csv({written!r}, index=False)"

_FIELDS = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_COLUMNS = re.compile(r"Too many columns specified: expected (\d+) and found (\d+)")
_MISSING_PACKAGE = re.compile(r"(?:No module named|Missing optional dependency) '([\w.-]+)'")


@dataclass(frozen=True, slots=True)
class PredictOrder:
    """Which rows, by which model, in which kernel. `probabilities`: of every class, instead of the class.

    `has_names`: the first line of the data holds names; None: that shall be looked for.
    """

    model: Path
    data: Path
    kernel: str = "python3"
    probabilities: bool = False
    has_names: bool | None = None
    confinement: Confinement = UNBOUND


@dataclass(frozen=True, slots=True)
class Doubt:
    """Values of a column that count as missing because they cannot be read, or that were not there to learn from."""

    column: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions as CSV, and what must be said about the rows they were made from."""

    content: bytes
    rows: int
    remarks: tuple[str, ...] = ()
    unread: tuple[Doubt, ...] = ()
    unknown: tuple[Doubt, ...] = ()

    @property
    def doubts(self) -> tuple[str, ...]:
        """Everything that must be said about the rows, a sentence each."""
        return (
            *self.remarks,
            *(self._said_of(one, "could not be read and count as missing") for one in self.unread),
            *(self._said_of(one, "are unknown to the model") for one in self.unknown),
        )

    def _said_of(self, doubt: Doubt, what: str) -> str:
        examples = ", ".join(repr(one) for one in doubt.examples)
        return f"{doubt.column!r}: {doubt.count} of {self.rows} values {what}: {examples}"


def predict_confinement(state: RunState, *, try_rung: TryRung, request: SandboxRequest = NO_REQUEST) -> Confinement:
    """How the kernel is kept that loads the model of a run: as the run's own was, or stricter. Raises RunRefused."""
    return kept_confinement(
        state.sandbox_spec, state.limits, request, kernel=LocalKernelSpec(), try_rung=try_rung, run=state.run_id
    )


async def predict(order: PredictOrder, factories: RunFactories) -> Predictions:
    """The predictions. Raises RunRefused where there is no model or the rows do not fit it, KernelFailed."""
    model, data = order.model, order.data
    if not data.exists() or not os.access(data, os.R_OK):
        raise RunRefused(f"data file {str(data)!r} does not exist or cannot be read")
    with tempfile.TemporaryDirectory(prefix="nbcc-predict-", ignore_cleanup_errors=True) as scratch:
        written = Path(scratch) / _WRITTEN
        spec = LocalKernelSpec(name=order.kernel)
        kept = replace(order.confinement, readable=(model, data))
        kernel = factories.make_kernel(spec, cwd=Path(scratch), output_bytes=_OUTPUT_BYTES, confinement=kept)
        try:
            await kernel.start()
            loaded = await _run(kernel, _LOAD.format(model=str(model.absolute())), f"{str(model)!r} cannot be loaded")
            known = _model(loaded, model)
            new = rewrite(data, known.written, names=known.names, scratch=Path(scratch), has_names=order.has_names)
            read = (_READ_CSV if new.is_csv else _READ).format(data=str(new.path.absolute()))
            rows = _said(await _run(kernel, read, f"{str(data)!r} cannot be read"))
            if not rows:
                raise RunRefused(f"{str(data)!r} has no rows of data: there is nothing to predict")
            wanted = f"{_PREDICT}\n{_CHANCES}" if order.probabilities else _PREDICT
            failure = f"the rows of {str(data)!r} cannot be predicted"
            await _run(kernel, wanted, failure)
            doubts = RowDoubts.parse(_said(await _run(kernel, _DOUBTS, failure)))
            await _run(kernel, _WRITE.format(written=str(written)), "the predictions cannot be written")
            return Predictions(
                content=written.read_bytes(),
                rows=int(rows),
                remarks=(*known.remarks, *([new.remark] if new.remark else [])),
                unread=_doubts(doubts.unread),
                unknown=_doubts(doubts.unknown),
            )
        finally:
            await kernel.close()


def _doubts(found: Mapping[str, tuple[int, tuple[str, ...]]]) -> tuple[Doubt, ...]:
    return tuple(Doubt(column, count, examples) for column, (count, examples) in found.items())


def _model(loaded: Execution, path: Path) -> ModelFacts:
    try:
        return ModelFacts.parse(_said(loaded))
    except MessageInvalid as error:
        raise RunRefused(
            f"{str(path)!r} was not made by this version's analysis of a table, so nbcc cannot read rows for it; "
            "use it from Python"
        ) from error


def _said(execution: Execution) -> Any:  # Any: JSON
    """The last line that was printed, which is ours: what was unpickled may print too."""
    text = "".join(one["text"] for one in execution.outputs if one.get("name") == "stdout")
    return json.loads(text.strip().splitlines()[-1])


async def _run(kernel: Kernel, source: str, failure: str) -> Execution:
    execution = await kernel.execute(source)
    if execution.error is not None:
        raise RunRefused(f"{failure}: {_in_words(execution.error)}")
    return execution


def _in_words(error: CellError) -> str:
    """What a person can do something about; never the name of a class."""
    if package := _MISSING_PACKAGE.search(error.message):
        return f"it needs the package {package[1]}; install it with: pip install {package[1]}"
    if fields := _FIELDS.search(error.message):
        return f"line {fields[2]} has {fields[3]} fields where there should be {fields[1]}"
    if columns := _COLUMNS.search(error.message):
        return f"it has {columns[2]} columns where {columns[1]} are needed"
    if error.name == "AttributeError" and "predict_proba" in error.message:
        return "the model predicts numbers, and only classes have probabilities"
    match error.name:
        case "UnicodeDecodeError":
            return "it is not text in the encoding of the run's file"
        case "EmptyDataError":
            return "it is empty"
        case "KeyError":
            return f"there is no {error.message}"
        case "UnpicklingError" | "EOFError":
            return "it is damaged, or no model"
    return " ".join(error.message.split())[:300] or "for a reason that is not known"
