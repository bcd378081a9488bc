"""Every exception this project raises, in one tree.

BccError
├── MessageInvalid          a message or file does not have the form the protocol asks for
│   ├── LineTooLong         an NDJSON line is over the size limit
│   ├── FactsMissing        a text or rule needs variables that are not there
│   └── PlanInvalid         a workflow plan contradicts itself
├── ActionRefused           an action cannot be carried out; nothing was changed by it
│   ├── ActionMalformed     no type, or a required field is missing
│   ├── CellUnknown         an id that names no cell
│   └── CellIdRefused       a cell id that is taken or that nbformat does not allow
├── KernelFailed            the kernel, not the user's code, is the problem
│   ├── KernelStartFailed   it did not come up
│   │   └── KernelGone      one that was left has ended, or is not as it was left
│   └── KernelDied          it is gone: the cause, and what it had printed until then
├── PlannerFailed           the planner gave no usable answer
│   ├── PlannerUnreachable  no answer at all; trying again may help
│   ├── PlannerAnswerInvalid an answer that is not one
│   │   ├── PlannerRefused  it declined to answer, or a filter kept the answer back
│   │   └── RequestRejected it wants another token, or a field of the request is wrong for it
│   ├── RequestRefused      it answered that it cannot answer this: something else must be asked
│   │   ├── PositionUnknown  it does not know the stage or step that it is asked about
│   │   └── EvidenceMissing  the observation lacks variables that it judges by
│   ├── PlannerBudgetSpent  it may not ask its model any more: a budget of the run is used up
│   └── StreamBroken        a stream of actions ended before its end
├── JournalFailed           the journal cannot be read or written
│   ├── JournalCorrupt      what is on disk is not what was written
│   ├── JournalTooNew       written by a later version
│   └── JournalFull         the disk has no room
├── RunLocked               another process is carrying out this run
├── RunNotFound             no run of that name
├── RunRefused              the run is not in a state that allows this
├── NotebookFailed          a notebook file cannot be read or written
├── SettingsInvalid         a setting has a value that makes no sense
└── AliasTaken              a module of the documents' import lines has the name of another one

An error carries its facts as attributes and says what happened, to what, and what to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class BccError(Exception):
    """The root. `str(error)` is one or two sentences a user can act on."""


def sentence(path: str, problem: str) -> str:
    """A problem with its field: `stages must be a list`, `goal: 5 is too long`. A path may begin with a line, as in
    `line 3, stages.0.id`."""
    line, _, field = path.partition(", ") if path.startswith("line ") else ("", "", path)
    if field.startswith("column "):
        line, field = path, ""
    joined = f"{field} {problem}" if problem.startswith(("must ", "is ", "has ")) else f"{field}: {problem}"
    return ": ".join(part for part in (line, joined if field else problem) if part)


class MessageInvalid(BccError):
    """A message or file does not have the form the protocol asks for."""

    def __init__(self, *, what: str, problems: Sequence[tuple[str, str]]) -> None:
        self.what = what
        self.problems = tuple(problems)
        lines = "; ".join(sentence(path, problem) for path, problem in self.problems)
        by_line = bool(self.problems) and all(path.startswith("line ") for path, _ in self.problems)
        super().__init__(f"{what}, {lines}" if by_line else f"{what} is not valid: {lines}")


class LineTooLong(MessageInvalid):
    """An NDJSON line is over the size limit."""

    def __init__(self, *, limit: int) -> None:
        self.limit = limit
        super().__init__(what="NDJSON stream", problems=[("", f"a line is longer than {limit} bytes")])


class FactsMissing(MessageInvalid):
    """A text or rule needs variables that the observation does not hold: `names`."""

    def __init__(self, *, what: str, problems: Sequence[tuple[str, str]], names: Sequence[str]) -> None:
        self.names = tuple(names)
        super().__init__(what=what, problems=problems)


class PlanInvalid(MessageInvalid):
    """A workflow plan contradicts itself; nothing of it was applied."""

    def __init__(self, problems: Sequence[tuple[str, str]], *, what: str = "The workflow plan") -> None:
        super().__init__(what=what, problems=problems)


class ActionRefused(BccError):
    """An action cannot be carried out; nothing was changed by it."""


class ActionMalformed(ActionRefused):
    """An action without a type, or without a field its type requires."""

    def __init__(self, *, action: str, problems: Sequence[tuple[str, str]]) -> None:
        self.action = action
        self.problems = tuple(problems)
        lines = "; ".join(sentence(path, problem) for path, problem in self.problems)
        super().__init__(f"action {action!r} is malformed: {lines}")


class CellUnknown(ActionRefused):
    """An id that names no cell of the notebook."""

    def __init__(self, cell_id: str) -> None:
        self.cell_id = cell_id
        super().__init__(f"no cell has the id {cell_id!r}; add it first, or use 'lastAddedCellId'")


class CellIdRefused(ActionRefused):
    """A cell id that is taken, or that nbformat does not allow."""

    def __init__(self, cell_id: str, reason: str) -> None:
        self.cell_id = cell_id
        super().__init__(f"cell id {cell_id!r} cannot be used: {reason}")


class KernelFailed(BccError):
    """The kernel, not the user's code, is the problem."""


class KernelStartFailed(KernelFailed):
    """The kernel did not come up."""

    def __init__(self, *, kernel: str, reason: str) -> None:
        self.kernel = kernel
        self.reason = reason
        super().__init__(f"kernel {kernel!r} did not start: {reason}")


class KernelGone(KernelStartFailed):
    """A kernel that another process left has ended, or is not as it was left: trying again does not help."""


class KernelDied(KernelFailed):
    """The kernel is gone. `cause` says why as far as it is known; `outputs` is what it had sent until then."""

    def __init__(self, *, cause: str, outputs: Sequence[dict[str, Any]] = (), exit_code: int | None = None) -> None:
        self.cause = cause
        self.outputs = tuple(outputs)
        self.exit_code = exit_code
        super().__init__(f"the kernel died: {cause}")


class PlannerFailed(BccError):
    """The planner gave no usable answer."""


class PlannerUnreachable(PlannerFailed):
    """No answer at all; trying again may help."""

    def __init__(
        self, *, planner: str, reason: str, retry_after: float | None = None, nobody_listens: bool = False
    ) -> None:
        self.planner = planner
        self.reason = reason
        self.retry_after = retry_after
        refused = f"planner {planner} refused the connection. Is it running?"
        super().__init__(refused if nobody_listens else f"planner {planner} gave no answer: {reason}")


class PlannerAnswerInvalid(PlannerFailed):
    """An answer arrived that is not one."""

    def __init__(self, *, planner: str, reason: str) -> None:
        self.planner = planner
        self.reason = reason
        super().__init__(f"planner {planner} sent an answer that cannot be used: {reason}")


class JudgementMalformed(PlannerAnswerInvalid):
    """A judgement with a part that is none. Its other parts are not used: a torn verdict is not "not reached"."""


class PlannerRefused(PlannerAnswerInvalid):
    """It declined to answer, or a filter kept the answer back: the same question will fare no better."""

    def __init__(self, *, planner: str, reason: str) -> None:
        super().__init__(planner=planner, reason=f"it declined to answer: {reason}")


class RequestRejected(PlannerAnswerInvalid):
    """It answered that it wants another token (401, 403) or that a field of the request is wrong (422).

    A person must change something first: neither its fallback endpoint nor going on without an answer helps.
    """

    def __init__(self, *, planner: str, reason: str, status: int) -> None:
        self.status = status
        super().__init__(planner=planner, reason=reason)


class RequestRefused(PlannerFailed):
    """The planner answered that it cannot answer this: what is asked must change, asking again does not help."""

    def __init__(self, *, planner: str, reason: str) -> None:
        self.planner = planner
        self.reason = reason
        super().__init__(f"planner {planner} cannot answer this: {reason}")


class PositionUnknown(RequestRefused):
    """The planner does not know the stage or step that it is asked about. `known`: its stages, each with its steps."""

    def __init__(
        self,
        *,
        planner: str,
        stage_id: str | None,
        step_id: str | None = None,
        known: Mapping[str, Sequence[str]],
    ) -> None:
        """Without `step_id` it is the stage that is unknown."""
        self.stage_id = stage_id
        self.step_id = step_id
        self.known = {stage: tuple(steps) for stage, steps in known.items()}
        what = f"stage {stage_id!r}" if step_id is None else f"step {step_id!r} in stage {stage_id!r}"
        there = self.known.get(stage_id or "", ()) if step_id is not None else tuple(self.known)
        super().__init__(planner=planner, reason=f"it knows no {what}; it has: {', '.join(there) or 'none'}")


class EvidenceMissing(RequestRefused):
    """The observation lacks variables that the planner judges by. `needs`: their names."""

    def __init__(self, *, planner: str, needs: Sequence[str], reason: str = "") -> None:
        """`reason` says more than the names alone."""
        self.needs = tuple(needs)
        more = f" ({reason})" if reason else ""
        super().__init__(planner=planner, reason=f"the observation lacks variables: {', '.join(needs)}{more}")


class PlannerBudgetSpent(PlannerFailed):
    """The planner may not ask its model any more: a budget of the run is used up."""

    def __init__(self, *, planner: str, reason: str) -> None:
        self.planner = planner
        self.reason = reason
        super().__init__(f"planner {planner} may not be asked any more: {reason}")


class StreamBroken(PlannerFailed):
    """A stream of actions ended before its end; what arrived was kept."""

    def __init__(self, *, planner: str, received: int, reason: str) -> None:
        self.planner = planner
        self.received = received
        self.reason = reason
        super().__init__(f"the stream of planner {planner} broke after {received} actions: {reason}")


class JournalFailed(BccError):
    """The journal cannot be read or written."""


class JournalCorrupt(JournalFailed):
    """What is on disk is not what was written."""

    def __init__(self, *, path: str, reason: str, last_good: int | None = None) -> None:
        self.path = path
        self.reason = reason
        self.last_good = last_good
        until = "" if last_good is None else f"; records up to {last_good} are readable"
        super().__init__(f"journal {path} is corrupt: {reason}{until}. It was not changed")


class JournalTooNew(JournalFailed):
    """Written by a later version of this program."""

    def __init__(self, *, path: str, found: int, known: int) -> None:
        self.path = path
        self.found = found
        self.known = known
        super().__init__(
            f"journal {path} has format {found}, this version reads up to {known}: upgrade notebook-bcc to open it"
        )


class JournalFull(JournalFailed):
    """The disk has no room for the next record; everything acknowledged before is kept."""

    def __init__(self, *, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"journal {path} cannot grow: {reason}. Free some room, then resume the run")


class RunLocked(BccError):
    """Another process has the run to itself. `doing` is what it does: the run is being carried out, or verified."""

    def __init__(self, *, run: str, holder: str, doing: str = "carried out", typed: str = "") -> None:
        """`typed` is how the run is named in a command, where its id is not enough."""
        self.run = run
        self.holder = holder
        self.doing = doing
        cancel = f", or cancel it with: nbcc cancel {typed or run}" if doing == "carried out" else ""
        super().__init__(f"run {run!r} is being {doing} by {holder}; wait for it{cancel}")


class RunNotFound(BccError):
    """No run of that name. `delivered` is what was given in its place: something that the run has delivered."""

    def __init__(self, *, run: str, where: str, delivered: str = "", option: str = "") -> None:
        """`option` is the one that a command needs to look there, with a blank before it."""
        self.run = run
        self.where = where
        if delivered:
            reason = f"{delivered!r} was delivered by run {run!r}, which is not in {where}; give its folder with --runs"
        else:
            reason = f"no run {run!r} in {where}; `nbcc list{option}` shows the runs there are"
        super().__init__(reason)


class RunRefused(BccError):
    """The run is not in a state that allows what was asked."""


class NotebookFailed(BccError):
    """A notebook file cannot be read or written."""

    def __init__(self, *, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"notebook {path}: {reason}")


class SettingsInvalid(BccError):
    """A setting has a value that makes no sense."""


class AliasTaken(BccError):
    """A module of the documents' import lines has the name of another one."""

    def __init__(self, *, name: str, place: str | None) -> None:
        self.name = name
        self.place = place
        super().__init__(
            f"there is another module {name!r}{f' at {place}' if place else ''}, so the aliases were not installed; "
            f"import the names from notebook_bcc instead"
        )
