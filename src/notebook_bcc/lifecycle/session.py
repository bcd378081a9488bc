"""One process's turn at a run: from the lock to the saved notebook, and what is delivered at the end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from notebook_bcc.engine.answering import answer_of
from notebook_bcc.engine.confirmation import Person
from notebook_bcc.engine.runner import Runner
from notebook_bcc.engine.state import RunState
from notebook_bcc.errors import BccError, NotebookFailed
from notebook_bcc.journal.interface import Entry, Journal
from notebook_bcc.journal.records import INPUTS, RunResumed, RunStarted
from notebook_bcc.kernel.checkpoint_files import checkpoints_of
from notebook_bcc.kernel.interface import Kernel, LastingKernel, may_be_left
from notebook_bcc.lifecycle.deliverables import DeliveredFile, hand_out, hand_over
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.lifecycle.handover import note_delivered
from notebook_bcc.lifecycle.history import folded, note_seconds
from notebook_bcc.lifecycle.leftover import end_left_kernel
from notebook_bcc.lifecycle.sandbox_request import SandboxRequest
from notebook_bcc.lifecycle.sandboxing import confinement, sandbox_to_begin, sandbox_to_go_on
from notebook_bcc.lifecycle.saver import NotebookSaver, notebook_metadata, own_cells, shown_document
from notebook_bcc.lifecycle.server_copy import ServerCopy, server_copy, want_copy
from notebook_bcc.lifecycle.verified import VERIFIED
from notebook_bcc.lifecycle.verify import OnCell, Verification, VerifyOrder, verify_notebook
from notebook_bcc.notebook.document import Document
from notebook_bcc.notebook.export.formats import ExportFormat, export_notebook
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.protocol.specs import UNCONFINED, KernelSpec, PlannerSpec, SandboxSpec, is_confined

logger = logging.getLogger(__name__)

_OVER = frozenset({"completed", "cancelled"})
# Seconds that somebody who pressed Ctrl-C waits for the planner.
_PATIENCE = 0.5


@dataclass(frozen=True, slots=True)
class Delivery:
    """What the user gets when a run has stopped. None where it could not be written, or was not wanted.

    `server_copy` is where a Jupyter Server keeps the notebook as well, or empty. Where a verification was wanted and
    there is none, `unverified` says why it could not be done, or it was `skipped`.
    """

    notebook: Path | None
    html: Path | None = None
    report: Path | None = None
    files: tuple[DeliveredFile, ...] = ()
    left_out: int = 0
    server_copy: str = ""
    verification: Verification | None = None
    unverified: str = ""
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class Interaction:
    """Who can be asked, who is warned and who hears of progress while a run is carried out."""

    person: Person | None
    warn: Callable[[str], None]
    on_progress: Callable[[WorkProgress], None] = lambda progress: None


class Session:
    """A run that is being carried out. `state` is the fold of the entries seen so far, in step with `entries`."""

    def __init__(
        self,
        *,
        folder: RunFolder,
        first: RunStarted,
        runner: Runner,
        kernel: Kernel,
        saver: NotebookSaver,
        factories: RunFactories,
        warn: Callable[[str], None],
        cell_seconds: dict[str, float],
        sandbox_spec: SandboxSpec = UNCONFINED,
        copy: ServerCopy | None = None,
    ) -> None:
        """`cell_seconds`: how long each cell took in the processes before; it is kept up here."""
        self.folder = folder
        self.first = first
        self.sandbox_spec = sandbox_spec
        self.state = runner.state
        self._runner = runner
        self._kernel = kernel
        self._saver = saver
        self._factories = factories
        self._warn = warn
        self._cell_seconds = cell_seconds
        self._copy = copy
        self._begun: Entry | None = None
        self._carried_out = False
        self._saved: RunState | None = None
        self._probes = False
        self._verifying: asyncio.Task[Verification] | None = None
        self._skipped = False

    async def begin(self, record: RunStarted | RunResumed) -> None:
        """Start the run or take it up again. Raises RunRefused when its state does not allow that."""
        self._begun = await self._runner.begin(record)

    async def entries(self) -> AsyncGenerator[Entry, None]:
        """Carry the run out until it stops; every entry once it is durable. Ends with the notebook written."""
        first, self._begun, self._carried_out = self._begun, None, True
        if first is not None:
            self._saw(first)
            yield first
        async with contextlib.aclosing(self._runner.run()) as entries:
            async for entry in entries:
                if entry.seq > self.state.seq:
                    self._saw(entry)
                    yield entry
        await self.save()

    def pause(self) -> None:
        """Stop after the action under way. Somebody waits for it: a silent planner is left within a second."""
        self._runner.pause(patience=_PATIENCE)

    def stop(self, reason: str) -> None:
        """Leave what is under way and let the run go; it can be resumed."""
        self._runner.stop(reason)

    async def save(self) -> None:
        """Write the notebook as it is now, unless that was done."""
        if self._saved is not self.state and self.state.run_id and await self._saver.save(self.state):
            self._saved = self.state
            await asyncio.to_thread(note_delivered, self.folder.notebook)
            await self._hand_out()

    async def deliver(self, *, verify: bool, on_cell: OnCell | None = None) -> Delivery:
        """Of a completed run: verify the notebook if wanted, hand its files over, make page and report beside it."""
        written = self.folder.delivered if self._saved is self.state else None
        stopped = self.state.stopped
        if stopped is None or stopped.reason != "completed" or written is None:
            return Delivery(notebook=written, server_copy=self._copied_to)
        # The run needs its kernel no more; the verification's own is to have the memory.
        await self._kernel.close()
        verification, unverified = None, ""
        try:
            verification = await self._verification(on_cell) if verify else None
        except BccError as error:
            # The run is completed all the same, and what it has made is the user's.
            unverified = str(error)
        # It has its stamp now.
        await self._saver.copy()
        left_out = len(self.state.document.cells) - own_cells(self._shown(self._probes))
        answer = answer_of(self.state, self.folder.has_product)
        handover = await asyncio.to_thread(hand_over, self.folder, answer=answer)
        for problem in handover.problems:
            self._warn(problem)
        has_page = await self._page(ExportFormat.HTML, verification)
        has_report = await self._page(ExportFormat.REPORT, verification, files=handover.files)
        own = (self.folder.notebook, self.folder.html, self.folder.report)
        await asyncio.to_thread(note_delivered, *own)
        await self._hand_out(handover.files, whole=True)
        return Delivery(
            notebook=written,
            html=self.folder.delivered_html if has_page else None,
            report=self.folder.delivered_report if has_report else None,
            files=handover.files,
            left_out=left_out,
            server_copy=self._copied_to,
            verification=verification,
            unverified=unverified,
            skipped=verify and verification is None and not unverified,
        )

    @property
    def _copied_to(self) -> str:
        return self._copy.place if self._copy is not None else ""

    def skip_verification(self) -> None:
        """Leave the verification that is under way, or do not begin one; everything else is delivered. One that has
        ended keeps its result."""
        # Once: a second cancellation would tear the clean-up of the first.
        if not self._skipped and self._verifying is not None:
            self._verifying.cancel()
        self._skipped = True

    async def let_kernel_go(self) -> None:
        """Leave the kernel for whoever resumes the run, also where it was torn away; end it if nobody will."""
        stopped = self.state.stopped
        if may_be_left(self._kernel) and (stopped is None or stopped.kernel_left):
            assert isinstance(self._kernel, LastingKernel)
            await self._kernel.detach()
        else:
            await self._kernel.close()

    def remove_checkpoints(self) -> None:
        """Of a run that nobody will take up again."""
        stopped = self.state.stopped
        if self._carried_out and stopped is not None and stopped.reason in _OVER:
            checkpoints_of(self.folder.path).remove()

    async def end_left_kernel(self) -> None:
        """Of a run that nobody will take up again: end the kernel of the process before, if this one had no use for
        it. Until then it stays as it was left, for `resume`."""
        state = self.state
        over = self._carried_out and state.stopped is not None and state.stopped.reason in _OVER
        if not over or self._kernel.identity.session == state.kernel.session:
            return
        left = await end_left_kernel(state, self.folder, reason="the run is over", factories=self._factories)
        if left is not None and not left.ended:
            self._warn(f"kernel {left.session} at {state.kernel_spec}: {left.reason}")

    async def _verification(self, on_cell: OnCell | None) -> Verification | None:
        """Whether the notebook gives the same results; None if that was skipped. Raises BccError where it cannot be
        tried."""
        found = await self._verified(on_cell)
        if found is None or found.ok or len(self._shown().cells) == len(self._shown(True).cells):
            return found
        # A cell may need what a probe has made, against its planner's word: a notebook that runs comes first.
        self._warn("without the cells that only looked the notebook gives other results: they stay in it, folded")
        self._probes = await self._saver.save(self.state, probes=True)
        return await self._verified(on_cell) if self._probes else found

    async def _verified(self, on_cell: OnCell | None) -> Verification | None:
        if self._skipped:
            return None
        order = VerifyOrder(
            notebook=self.folder.notebook,
            inputs=self.folder.inputs,
            place=self.folder.inputs_place,
            worked_in=self.folder.work,
            output_bytes=self.state.limits.output_bytes,
            cell_seconds=self.state.limits.cell_seconds,
            kernel_spec=self.state.kernel_spec,
            confinement=confinement(self.sandbox_spec, self.state.limits),
            seconds=self._cell_seconds,
        )
        self._verifying = asyncio.create_task(verify_notebook(order, self._factories, on_cell=on_cell))
        try:
            return await self._verifying
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return None
        finally:
            self._verifying = None

    async def _page(
        self, form: ExportFormat, verification: Verification | None, *, files: tuple[DeliveredFile, ...] = ()
    ) -> bool:
        document = self._shown(self._probes)
        metadata = notebook_metadata(self.state, left_out=len(self.state.document.cells) - own_cells(document))
        facts = dict(metadata.run) | ({VERIFIED: verification.stamp()} if verification is not None else {})
        report = form is ExportFormat.REPORT
        try:
            await asyncio.to_thread(
                export_notebook,
                document,
                self.folder.report if report else self.folder.html,
                form=form,
                language=metadata.language,
                reader=reader_language(self.state),
                run=facts,
                files=[(one.name, one.size) for one in files],
            )
        except NotebookFailed as error:
            command = f"nbcc export {self.folder.typed}{' --to report' if report else ''}"
            self._warn(f"{error}. Make it later with: {command}")
            return False
        return True

    async def _hand_out(self, files: tuple[DeliveredFile, ...] = (), *, whole: bool = False) -> None:
        for problem in await asyncio.to_thread(hand_out, self.folder, files, whole=whole):
            self._warn(problem)

    def _shown(self, probes: bool = False) -> Document:
        return shown_document(self.state, run=self.folder.typed, probes=probes)

    def _saw(self, entry: Entry) -> None:
        self.state = self._runner.shown
        note_seconds(self._cell_seconds, entry)
        self._saver.saw(entry, self.state)


@asynccontextmanager
async def session_of(
    folder: RunFolder,
    journal: Journal,
    first: RunStarted,
    *,
    factories: RunFactories,
    interaction: Interaction,
    planner_spec: PlannerSpec | None = None,
    kernel_spec: KernelSpec | None = None,
    sandbox: SandboxRequest | None = None,
    notebook: str = "",
    actions: Path | None = None,
) -> AsyncIterator[Session]:
    """A session on a journal whose lock this process holds. Closes the journal and everything it made.

    `planner_spec`, `kernel_spec`, `notebook` and `actions` replace the ones that the run had, if they are given.
    `sandbox`: what is asked for a run that goes on, whose own sandbox is the least it has. Raises RunRefused,
    SettingsInvalid.
    """
    kernel = planner = keeper = session = copy = None
    try:
        cell_seconds: dict[str, float] = {}
        state = await folded(journal, cell_seconds=cell_seconds)
        if kernel_spec is None:
            kernel_spec = state.kernel_spec if state.seq else first.chosen_kernel
        if notebook:
            want_copy(folder, kernel_spec, notebook)
        copy = server_copy(folder, kernel_spec, factories.make_contents, warn=interaction.warn)
        sandbox_spec = first.chosen_sandbox
        if sandbox is not None:
            tried = factories.try_rung
            if planner_spec is not None and planner_spec != state.planner and not is_confined(state.sandbox_spec):
                # Somebody else writes the code from here on.
                sandbox_spec = sandbox_to_begin(
                    sandbox, planner=planner_spec, kernel=kernel_spec, try_rung=tried, warn=interaction.warn
                )
            else:
                sandbox_spec = sandbox_to_go_on(
                    state.sandbox_spec, sandbox, kernel=kernel_spec, try_rung=tried, run=folder.run_id
                )
        checkpoints = checkpoints_of(folder.path)
        if is_confined(sandbox_spec):
            # A kernel in a sandbox reaches what is there when it starts. Without the folder there are no checkpoints.
            with contextlib.suppress(OSError):
                checkpoints.make_folder()
        kernel = factories.make_kernel(
            kernel_spec,
            cwd=folder.work,
            output_bytes=first.limits.output_bytes,
            confinement=confinement(
                sandbox_spec,
                state.limits if state.seq else first.limits,
                readable=(folder.inputs,),
                writable=(checkpoints.folder,),
            ),
            run=folder,
        )
        planner = await factories.make_planner(planner_spec or state.planner or first.chosen_planner, folder)
        runner = Runner(
            planner=planner,
            kernel=kernel,
            journal=journal,
            registry=factories.make_registry(actions or (folder.actions if folder.actions.exists() else None)),
            person=interaction.person,
            state=state,
            has_file=folder.has_product,
            on_progress=interaction.on_progress,
            checkpoints=checkpoints,
        )
        saver = NotebookSaver(folder, warn=interaction.warn, copy=copy)
        keeper = asyncio.create_task(saver.keep(), name="notebook saver")
        session = Session(
            folder=folder,
            first=first,
            runner=runner,
            kernel=kernel,
            saver=saver,
            factories=factories,
            warn=interaction.warn,
            cell_seconds=cell_seconds,
            sandbox_spec=sandbox_spec,
            copy=copy,
        )
        yield session
    finally:
        if keeper is not None:
            await _ended(keeper)
        if session is not None:
            # Also when the run was torn away: what it had reached can be looked at.
            await session.save()
        if copy is not None:
            await copy.close()
        if planner is not None:
            await planner.close()
        if session is not None:
            await session.end_left_kernel()
            session.remove_checkpoints()
        if session is not None:
            await session.let_kernel_go()
        elif kernel is not None:
            await kernel.close()
        await journal.close()


def reader_language(state: RunState) -> str:
    """The language that the run was asked to write in, or an empty text."""
    inputs = state.planner_context.variables.get(INPUTS)
    return str(inputs.get("lang", "")) if isinstance(inputs, dict) else ""


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.error("the notebook saver ended early", exc_info=error)
