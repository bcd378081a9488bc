"""What a handler works with: the notebook, the kernel, and a note of everything it changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from notebook_bcc.engine.fold.effects import effects_of
from notebook_bcc.errors import ActionRefused, CellUnknown, KernelDied
from notebook_bcc.journal.records import ActionCompleted, CellChange, PlanProposal, RepairTried
from notebook_bcc.kernel.interface import Execution, Kernel
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.actions import LAST_ADDED_CELL, ActionMetadata
from notebook_bcc.protocol.cells import Cell, Output
from notebook_bcc.protocol.messages import RepairWanted
from notebook_bcc.protocol.plain import plain
from notebook_bcc.protocol.vocabulary import CellType, Event, ShotType

Repair = Callable[[RepairWanted], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class ExecutionLimits:
    """How long a cell may run and how often it may be repaired. None: as long as it takes."""

    cell_seconds: float | None = None
    debug_attempts: int = 3


@dataclass(frozen=True, slots=True)
class ActionServices:
    """What every action of a run may use, its nested ones included.

    `repair` asks the planner for other source, `problem_of` says why the plan cannot be changed so, `on_output` hears
    what a cell prints while it runs.
    """

    kernel: Kernel
    limits: ExecutionLimits
    repair: Repair
    problem_of: Callable[[PlanProposal], str]
    on_output: Callable[[str, Output], None]


@dataclass
class Changes:
    """What one action has changed so far: the fields of its ActionCompleted."""

    cells: list[CellChange] = field(default_factory=list)
    effects: list[str] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    repairs: list[RepairTried] = field(default_factory=list)
    title: str | None = None
    chapter: int | None = None
    section: int | None = None
    executed: str | None = None
    ran: list[str] = field(default_factory=list)
    proposal: PlanProposal | None = None
    end_phase: bool = False
    fire: Event | None = None
    metadata: ActionMetadata | None = None
    summary: str = ""
    finding: str = ""
    error: str | None = None
    error_name: str | None = None
    kernel_died: bool = False


def code_cell(document: Document, cell_id: str) -> Cell:
    """The code cell of that id, or the last one added. Raises CellUnknown or ActionRefused."""
    wanted = document.last_code_id if cell_id == LAST_ADDED_CELL else cell_id
    if wanted is None:
        raise CellUnknown(cell_id)
    cell = document.cell(wanted)
    if cell.type is not CellType.CODE:
        text = cell.type is CellType.MARKDOWN and cell.metadata.get("shot_type") == ShotType.DIALOGUE
        hint = "; code is added with shot_type 'action', and an add without shot_type is dialogue" if text else ""
        raise ActionRefused(f"cell {wanted!r} is a {cell.type.value} cell; only code cells can be executed{hint}")
    return cell


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionStart:
    """How things stand when an action begins: the notebook, what exists in the kernel and the cell each variable has
    its value from; and what the action may use."""

    action_id: str
    document: Document
    variables: Mapping[str, Any]
    assigned: Mapping[str, str]
    services: ActionServices


class ActionContext:
    """One action's view of the run. Made for each action; what it notes becomes the action's record."""

    def __init__(self, start: ActionStart) -> None:
        self.action_id = start.action_id
        self.document = start.document
        self.changes = Changes()
        self.result: Any = None
        self.skipped = ""
        self._variables = start.variables
        self._assigned = start.assigned
        self._services = start.services

    @property
    def variables(self) -> Mapping[str, Any]:
        """What exists in the kernel now, with what this action has changed so far."""
        changed, removed = self.changes.variables, self.changes.removed
        if not changed and not removed:
            return self._variables
        kept = {name: value for name, value in self._variables.items() if name not in removed}
        return {**kept, **changed}

    @property
    def assigned(self) -> Mapping[str, str]:
        """The cell that each variable has its value from, the newest variable last."""
        ran = self.changes.executed
        new = dict.fromkeys(self.changes.variables, ran) if ran is not None else {}
        return (
            {**{name: cell for name, cell in self._assigned.items() if name not in new}, **new}
            if new
            else self._assigned
        )

    def refuse(self, name: str, error: str) -> None:
        """Note that the action failed, for the journal, the effects and the feedback."""
        self.changes.error_name, self.changes.error = name, error
        self.changes.effects.append(f"ERROR: {error}")

    def skip(self, why: str) -> None:
        """Note that the action was not carried out, which is no failure."""
        self.skipped = why

    def add_cell(
        self,
        cell_type: CellType,
        source: str,
        *,
        cell_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        first: bool = False,
    ) -> str:
        """Add a cell and return its id. Raises CellIdRefused when the wanted id cannot be used."""
        if cell_id is None:
            cell_id = self.document.free_id()
        else:
            self.document.check_id(cell_id)
        cell = Cell(id=cell_id, type=cell_type, source=source, metadata=dict(metadata or {}))
        self.document = self.document.with_cell(cell, first=first)
        self.changes.cells.append(
            CellChange(
                cell_id=cell_id,
                added=cell_type,
                source=source,
                metadata=dict(metadata) if metadata else None,
                first=first,
            )
        )
        return cell_id

    def change_cell(self, cell_id: str, **parts: Any) -> None:
        """Exchange the source, outputs, execution_count or metadata of a cell. Raises CellUnknown."""
        self.document = self.document.with_changed_cell(cell_id, **parts)
        self.changes.cells.append(CellChange(cell_id=cell_id, **parts))

    def code_cell(self, cell_id: str) -> Cell:
        """The code cell of that id, or the last one added. Raises CellUnknown or ActionRefused."""
        return code_cell(self.document, cell_id)

    def propose(self, proposal: PlanProposal) -> None:
        """Put a change of the plan forward. Raises ActionRefused when it cannot be made."""
        problem = self._services.problem_of(proposal)
        if problem:
            raise ActionRefused(problem)
        self.changes.proposal = proposal

    async def run_cell(self, cell_id: str, *, keep_effects: bool = True, auto_debug: bool = False) -> Execution:
        """Run a code cell, repairing it if asked; outputs, effects and variables are noted.

        A cell that fails, or that takes the kernel with it, is noted as the action's error and returned as data.
        """
        cell = self.code_cell(cell_id)
        execution = await self._execute(cell.id, cell.source)
        attempt = 0
        auto_debug = auto_debug and not self.document.cell(cell.id).is_once
        while auto_debug and execution.error is not None and not self.changes.kernel_died:
            attempt += 1
            repaired = await self._repaired(cell.id, execution, attempt)
            if repaired is None:
                break
            self.change_cell(cell.id, source=repaired)
            execution = await self._execute(cell.id, repaired)
        self._note(cell.id, execution, keep_effects=keep_effects)
        return execution

    async def _execute(self, cell_id: str, source: str) -> Execution:
        self.changes.executed = cell_id
        try:
            return await self._services.kernel.execute(
                source,
                time_limit=self._services.limits.cell_seconds,
                on_output=lambda output: self._services.on_output(cell_id, output),
            )
        except KernelDied as death:
            self.changes.kernel_died = True
            self.changes.error, self.changes.error_name = str(death), "KernelDied"
            error = {"output_type": "error", "ename": "KernelDied", "evalue": death.cause, "traceback": [str(death)]}
            return Execution(outputs=(*death.outputs, error))

    async def _repaired(self, cell_id: str, execution: Execution, attempt: int) -> str | None:
        error = execution.error
        if error is None or attempt > self._services.limits.debug_attempts:
            return None
        source = self.document.cell(cell_id).source
        wanted = RepairWanted(
            cell_id=cell_id,
            source=source,
            error_name=error.name,
            error=error.message,
            traceback=error.traceback,
            attempt=attempt,
        )
        repaired = await self._services.repair(wanted)
        self._note_variables(execution)
        self.changes.repairs.append(
            RepairTried(
                action_id=self.action_id,
                cell_id=cell_id,
                attempt=attempt,
                source=source,
                error=f"{error.name}: {error.message}",
                repaired=repaired,
            )
        )
        # The same source again would fail the same way.
        return repaired if repaired is not None and repaired != source else None

    def _note(self, cell_id: str, execution: Execution, *, keep_effects: bool) -> None:
        self.change_cell(cell_id, outputs=execution.outputs, execution_count=execution.execution_count)
        self._note_variables(execution)
        if execution.error is not None:
            self.changes.error_name = execution.error.name
            self.changes.error = f"{execution.error.name}: {execution.error.message}"
        elif not self.changes.kernel_died:
            self.changes.ran.append(cell_id)
        texts = effects_of(execution.outputs)
        if keep_effects or execution.error is not None or self.changes.kernel_died:
            self.changes.effects += texts

    def _note_variables(self, execution: Execution) -> None:
        for name in execution.variables.removed:
            self.changes.variables.pop(name, None)
            self.changes.removed.append(name)
        for name, value in execution.variables.updated.items():
            self.changes.variables[name] = value
            if name in self.changes.removed:
                self.changes.removed.remove(name)

    def completed(self, *, action: str, seconds: float) -> ActionCompleted:
        """The record of the action, successful unless an error was noted."""
        changes = self.changes
        usual = [changes.executed] if changes.executed is not None and changes.error is None else []
        return ActionCompleted(
            action_id=self.action_id,
            action=action,
            success=changes.error is None,
            error=changes.error,
            error_name=changes.error_name,
            cells=tuple(changes.cells),
            title=changes.title,
            chapter=changes.chapter,
            section=changes.section,
            effects=tuple(changes.effects),
            executed=changes.executed,
            ran=tuple(changes.ran) if changes.ran != usual else None,
            variables=changes.variables,
            removed=tuple(changes.removed),
            proposal=changes.proposal,
            end_phase=changes.end_phase,
            fire=changes.fire,
            metadata=changes.metadata,
            summary=changes.summary,
            finding=changes.finding,
            kernel_died=changes.kernel_died,
            skipped=bool(self.skipped),
            result=plain(self.result),
            seconds=round(seconds, 6),
        )
