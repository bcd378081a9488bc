"""A run as Python sees it: what it came to, the files it has made, and how to steer it."""

from __future__ import annotations

import concurrent.futures
import sys
import tempfile
import warnings
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar, Unpack

from notebook_bcc.api.events import RunEvent, watched
from notebook_bcc.api.frames import is_frame, read_frame, write_frame
from notebook_bcc.api.keywords import (
    check_answers,
    check_keywords,
    check_names,
    check_one_of,
    check_table,
    in_keywords,
    keyword_errors,
)
from notebook_bcc.api.loop_thread import loop_thread
from notebook_bcc.api.model_lines import model_lines
from notebook_bcc.api.opening import Opened, resuming
from notebook_bcc.api.options import ResumeKeywords, RunOptions
from notebook_bcc.api.page import RunPage, run_html
from notebook_bcc.api.prepare import models_of
from notebook_bcc.api.progress import NoProgress, progress_of
from notebook_bcc.api.run_names import opened_by, typed
from notebook_bcc.api.worker import Worker
from notebook_bcc.errors import RunRefused
from notebook_bcc.journal.records import INPUTS
from notebook_bcc.lifecycle.data_files import answer_inputs
from notebook_bcc.lifecycle.deliverables import read_summary
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.operations import answer_run, cancel_run, pause_run
from notebook_bcc.lifecycle.order import Restart, ResumeOrder
from notebook_bcc.lifecycle.predict import MODEL, Predictions, PredictOrder, predict, predict_confinement
from notebook_bcc.lifecycle.summary import summarize
from notebook_bcc.lifecycle.verified import verified_stamp
from notebook_bcc.protocol.summary import Summary
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.settings import Settings
from notebook_bcc.views.headline import headline
from notebook_bcc.views.words import Words
from notebook_bcc.wiring import journals, run_factories

_Made = TypeVar("_Made")

_DRAW_EVERY = 0.2
_PREDICTIONS = "predictions.csv"


@dataclass(frozen=True, slots=True)
class Score:
    """How good the result is. `low` and `high` are its 95 % interval, `naive` what a forecast without learning reaches.

    >>> print(Score(measure="accuracy", value=0.815, low=0.757, high=0.872, naive=0.618))
    accuracy 0.815 (0.757 to 0.872), naive 0.618
    """

    measure: str
    value: float
    low: float | None = None
    high: float | None = None
    naive: float | None = None

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        interval = (self.low, self.high) if self.low is not None and self.high is not None else None
        summary = Summary(metric=self.measure, score=self.value, interval_95=interval, naive_forecast=self.naive)
        return headline(summary, Words("en"))


class Run:
    """One run: carried out here, in another process, or finished long ago. `nb.run`, `nb.start` and `nb.open` make it.

    What it says is read from the run's folder each time it is asked. Iterating gives what happens, while it happens.
    """

    def __init__(self, folder: RunFolder, settings: Settings, *, worker: Worker | None = None) -> None:
        self._folder = folder
        self._settings = settings
        self._worker = worker

    @property
    def id(self) -> str:
        return self._folder.run_id

    @property
    def folder(self) -> Path:
        """Where everything of the run lies."""
        return self._folder.path

    @property
    def status(self) -> str:
        """`running`; why it stopped: `completed`, `failed`, `cancelled`, `limit`, `paused`, `waiting`, `interrupted`;
        `killed` when its process is gone without a word; `broken` when its journal cannot be read."""
        return _done(summarize(self._folder, journals(), whole=False)).status

    @property
    def reason(self) -> str:
        """Why the run stopped, in words, or an empty text."""
        found = _done(summarize(self._folder, journals(), whole=False))
        stopped = found.state.stopped if found.state is not None else None
        return in_keywords(found.problem or (stopped.detail if stopped is not None else ""))

    @property
    def score(self) -> Score | None:
        """How good the result is; None for a run that is not completed, or measures nothing."""
        summary = read_summary(self._folder) if self.status == "completed" else None
        if summary is None:
            return None
        low, high = summary.interval_95 or (None, None)
        return Score(summary.metric, summary.score, low, high, summary.naive_forecast)

    @property
    def answer(self) -> str | None:
        """What the run found, in short, as Markdown; None until it is completed, and if it has no answer."""
        state = _done(load_state(self._folder, journals()))
        if state.stopped is None or state.stopped.reason != "completed" or state.stopped.answered == "no":
            return None
        said = [cell.source for cell in state.document.cells if cell.type is CellType.MARKDOWN and cell.is_abstract]
        return "\n\n".join(said).strip() or None

    @property
    def question(self) -> str | None:
        """What the planner asks before it can go on: `resume(answers={...})` tells it."""
        asked = _done(load_state(self._folder, journals())).question
        return asked.text if asked is not None else None

    @property
    def notebook(self) -> Path | None:
        return _existing(self._folder.delivered, self._folder.notebook)

    @property
    def report(self) -> Path | None:
        """The page for readers, once the run is completed."""
        return _existing(self._folder.delivered_report, self._folder.report)

    @property
    def model(self) -> Path | None:
        """The fitted model. It is a pickle: load it where you trust what the run has executed, or use `predict`."""
        return self._product(MODEL)

    @property
    def predictions(self) -> Path | None:
        """The predictions for the rows of `test=`, if there were any."""
        return self._product(_PREDICTIONS)

    @property
    def verified(self) -> bool | None:
        """Whether the notebook gave the same results in a fresh kernel; None if that was not tried."""
        return verified_stamp(self._folder)

    def predict(self, rows: Any, *, probabilities: bool = False) -> Any:  # Any: a path or a DataFrame; a DataFrame
        """The predictions of the run's model for new rows, given as a DataFrame or a file like the run's own.

        They are made in a kernel of their own: nothing is unpickled in this process. The predictions for a DataFrame
        have its index. Values that cannot be read, and categories that the model has never seen, are warned of.
        Raises RunRefused.
        """
        check_table(rows, name="rows")
        if self.model is None:
            raise RunRefused(f"run {self.id!r} has no {MODEL}: it has not made a model that can predict")
        with tempfile.TemporaryDirectory(prefix="nbcc-rows-") as scratch:
            path = self._written(rows, Path(scratch)) if is_frame(rows) else Path(rows)
            # Of a file it is looked for, as on the command line; a frame has names whatever they look like.
            has_names = True if is_frame(rows) else None
            made = _done(self._predicted(path, probabilities=probabilities, has_names=has_names))
        for doubt in made.doubts:
            warnings.warn(doubt, stacklevel=2)
        predictions = read_frame(made.content)
        if is_frame(rows) and len(predictions) == len(rows):
            predictions.index = rows.index
        return predictions

    def wait(self) -> Self:
        """Wait until this process has carried the run out and delivered it. Ctrl-C pauses the run: nothing is lost."""
        if self._worker is not None:
            _wait_for(self._worker, self, Words(self._settings.lang))
        return self

    def pause(self, comment: str = "") -> None:
        """Let the run stop after its current action. Raises RunRefused when nobody carries it out."""
        _done(pause_run(self._folder, comment=comment, factories=run_factories(self._settings)))
        if self._worker is not None:
            # The command above is obeyed by whichever process it is; here there is a shorter way.
            self._worker.pause()

    def cancel(self, comment: str = "") -> None:
        """Give the run up. What was done stays. Raises RunRefused when there is nothing to cancel."""
        _done(cancel_run(self._folder, comment=comment, factories=run_factories(self._settings)))

    def confirm(self, comment: str = "") -> None:
        """Accept the change of the plan that waits. A run that has stopped for it goes on with `resume`."""
        self._answer(confirmed=True, comment=comment)

    def reject(self, comment: str = "") -> None:
        """Decline the change of the plan that waits. A run that has stopped for it goes on with `resume`."""
        self._answer(confirmed=False, comment=comment)

    def resume(
        self,
        *,
        answers: Mapping[str, str] | None = None,
        target: str | Sequence[str] = (),
        restart: Restart = "behavior",
        accept_differences: bool = False,
        verify: bool | None = None,
        progress: bool | None = None,
        background: bool = False,
        **options: Unpack[ResumeKeywords],
    ) -> Self:
        """Go on from the last completed action, and wait until the run stops again.

        `answers` and `target` tell the planner what it has asked. With `background` the call returns as soon as the run
        goes on: `for event in run.resume(background=True): ...`. `verify` is as the run was begun, unless it is said.
        Raises RunLocked, RunRefused.
        """
        check_names(options, ResumeKeywords.__annotations__, call="resume")
        check_answers(answers)
        said = RunOptions(target=target, **options)
        check_keywords(said)
        check_one_of(restart, Restart, name="restart")
        said_inputs = [*(answers or {}).items(), *(("target", one) for one in said.targets)]
        order = ResumeOrder(
            restart=restart,
            accept_differences=accept_differences,
            policies=said.policies,
            limits=said.limits,
            inputs=answer_inputs(said_inputs),
        )
        words = Words(self._settings.lang)
        shown = NoProgress() if background else progress_of(progress, words)
        with keyword_errors():
            models = _done(models_of(self._folder, order))
        for line, _ in model_lines(models, words) if models is not None else []:
            shown.say(line)
        opening = resuming(self._folder, order, settings=self._settings)
        wanted = self._folder.destination.verify if verify is None else verify
        self._worker = Worker(opening, verify=wanted, progress=shown)
        with keyword_errors():
            begun(self._worker)
        return self if background else self.wait()

    def __iter__(self) -> Iterator[RunEvent]:
        """What happens, from the beginning or from where this process took the run up, until the run stops."""
        worker, words = self._worker, Words(self._settings.lang)
        source = watched(self._folder, words, after=worker.after if worker is not None else 0)
        try:
            while True:
                try:
                    event = _done(anext(source))
                except StopAsyncIteration:
                    break
                yield event
        except KeyboardInterrupt:
            if worker is not None:
                raise _paused(worker, self, words) from None
            raise
        finally:
            _done(source.aclose())
        self.wait()

    def __repr__(self) -> str:
        score = self.score
        return f"<Run {self.id}: {self.status}{f', {score}' if score is not None else ''}>"

    def _repr_html_(self) -> str:
        found = _done(summarize(self._folder, journals()))
        state = found.state
        page = RunPage(
            title=(state.document.title or state.goal or self.id) if state is not None else self.id,
            run=self.id,
            status=found.status,
            reason=self.reason,
            score=str(self.score or ""),
            answer=self.answer or "" if state is not None else "",
            files=[path for path in (self.report, self.notebook, self.model, self.predictions) if path is not None],
        )
        return run_html(page)

    def _written(self, rows: Any, folder: Path) -> Path:  # Any: a DataFrame
        """The rows in a file like the run's own: the model reads no other."""
        inputs = _done(load_state(self._folder, journals())).planner_context.variables.get(INPUTS)
        said = inputs if isinstance(inputs, Mapping) else {}
        form, sheet = str(said.get("format", "parquet")), str(said.get("sheet", ""))
        return write_frame(rows, folder, name="rows", form=form, sheet=sheet)

    async def _predicted(self, path: Path, *, probabilities: bool, has_names: bool | None) -> Predictions:
        state = await load_state(self._folder, journals())
        tools = run_factories(self._settings)
        order = PredictOrder(
            model=self._folder.path / MODEL,
            data=path,
            kernel=state.kernel.name or "python3",
            probabilities=probabilities,
            has_names=has_names,
            confinement=predict_confinement(state, try_rung=tools.try_rung),
        )
        return await predict(order, tools)

    def _answer(self, *, confirmed: bool, comment: str) -> None:
        tools = run_factories(self._settings)
        _done(answer_run(self._folder, confirmed=confirmed, comment=comment, factories=tools))

    def _product(self, name: str) -> Path | None:
        wanted = self._folder.destination.folder
        return _existing(*([wanted / name] if wanted is not None else []), self._folder.path / name)


def begun(worker: Worker) -> Opened:
    """The run as soon as it can be looked at. Raises what kept it from beginning."""
    try:
        return worker.begun.result()
    except KeyboardInterrupt:
        worker.pause()
        raise


def _wait_for(worker: Worker, run: Run, words: Words) -> None:
    try:
        _drawn_until_done(worker)
    except KeyboardInterrupt:
        raise _paused(worker, run, words) from None
    worker.done.result()


def _drawn_until_done(worker: Worker) -> None:
    # In turns: what is shown is shown by the thread that waits, as its own output.
    while not worker.done.done():
        concurrent.futures.wait([worker.done], timeout=_DRAW_EVERY)
        worker.progress.draw()


def _paused(worker: Worker, run: Run, words: Words) -> KeyboardInterrupt:
    """Pause the run, wait until it has stopped, and say how it goes on. A second Ctrl-C leaves the cell under way."""
    worker.pause()
    try:
        # Said whatever else is shown: the action under way may take long.
        sys.stderr.write(f"{words('pausing')}\n")
        sys.stderr.flush()
        _drawn_until_done(worker)
    except KeyboardInterrupt:
        worker.stop("stopped by Ctrl-C")
        _drawn_until_done(worker)
    status, folder = run.status, RunFolder(run.folder)
    way = "" if status == "completed" else f"; go on with {opened_by(folder)}.resume() or: nbcc resume {typed(folder)}"
    return KeyboardInterrupt(f"run {run.id} is {status}{way}")


def _done(coroutine: Coroutine[Any, Any, _Made]) -> _Made:
    return loop_thread().run(coroutine)


def _existing(*paths: Path) -> Path | None:
    return next((path for path in paths if path.is_file()), None)
