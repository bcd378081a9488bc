"""What the live view draws: a run at one moment, as a few lines that fit the screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from rich.text import Text

from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionCompleted,
    ActionReceived,
    CellRerun,
    GeneratingAsked,
    KernelRebuilt,
    KernelStarted,
    PlanningAsked,
    RunResumed,
    RunStopped,
)
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.progress import WorkProgress
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.protocol.workflow import Stage
from notebook_bcc.views.narration import cost_of, one_line, safe
from notebook_bcc.views.overview import step_counts
from notebook_bcc.views.remaining import Remaining
from notebook_bcc.views.words import Words, clock_time

_CODE_LINES = 5
_OUTPUT_LINES = 2
_BAR = 24
_FRAMES_PER_SECOND = 10
_WAITING = frozenset({State.WORKFLOW_UPDATE_PENDING, State.STEP_UPDATE_PENDING})


@dataclass(frozen=True, slots=True)
class Symbols:
    """The signs of the picture; a terminal without UTF-8 gets letters."""

    done: str = "✓"
    running: str = "●"
    left: str = "○"
    spinner: str = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
    bar: str = "━"
    rest: str = "─"
    edge: str = "│"

    @classmethod
    def for_encoding(cls, encoding: str) -> Self:
        if encoding.casefold().replace("_", "-") in ("utf-8", "utf8"):
            return cls()
        return cls(done="+", running=">", left=".", spinner="|/-\\", bar="=", rest="-", edge="|")


class Picture:
    """What the view has to remember besides the state: since when, and what is rebuilt or verified."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, verifies: bool = True) -> None:
        self.clock = clock
        self.remaining = Remaining(clock=clock, verifies=verifies)
        self.state = RunState()
        self.began = clock()
        self.action_since = clock()
        self.doing = "doing_starting"
        self.rebuilding: tuple[int, int] | None = None
        self.verifying: tuple[int, int] | None = None
        self.progress: WorkProgress | None = None
        self.closed = False

    def saw(self, entry: Entry, state: RunState) -> None:
        """Keep up with the run. Called for every entry: cheap."""
        self.state = state
        self.remaining.saw(entry)
        match entry.record:
            case ActionReceived():
                self.action_since = self.clock()
                self.doing = "doing_action"
            case ActionCompleted() | GeneratingAsked():
                self.progress = None
                self.doing = "doing_generating"
            case PlanningAsked():
                self.doing = "doing_planning"
            case KernelStarted():
                self.rebuilding = None if state.kernel.up else (1, len(state.kernel.steps))
            case CellRerun() as record:
                self.rebuilding = (min(record.index + 1, record.of), record.of)
            case KernelRebuilt():
                self.rebuilding = None
                self.action_since = self.clock()
                self.doing = "doing_action"
            case RunStopped():
                self.rebuilding = None
                self.doing = "doing_delivery"
            case RunResumed():
                self.doing = "doing_starting"
            case _:
                pass

    @property
    def elapsed(self) -> float:
        return self.state.elapsed_before + self.clock() - self.began


def draw(picture: Picture, words: Words, symbols: Symbols, *, width: int, height: int) -> Text:
    """The picture, at most `height - 1` lines of at most `width` columns."""
    if picture.closed:
        return Text("")
    beat = symbols.spinner[int(picture.clock() * _FRAMES_PER_SECOND) % len(symbols.spinner)]
    head = [_progress(picture, words, symbols)]
    below = [Text(), *_aim(picture), _activity(picture, words, beat), *_cell_lines(picture, words, symbols)]
    foot = [Text(words("hint" if picture.verifying is None else "hint_verifying"), style="dim")]
    room = max(3, height - 2 - len(head) - len(below) - len(foot))
    lines = [*head, *_fitted(_plan_lines(picture.state, words, symbols, beat), room), *below, *foot]
    for line in lines:
        line.truncate(width - 1, overflow="ellipsis")
    return Text("\n").join(lines[: height - 1])


def _progress(picture: Picture, words: Words, symbols: Symbols) -> Text:
    state = picture.state
    if picture.verifying is not None:
        number, of = picture.verifying
        known = picture.remaining.share_verified
        share = (number - 1) / of if known is None else known
        counted = words("cells_verified", done=number - 1, of=of)
    else:
        share, counted = _share_done(state), _counted(state, words)
    filled = round(_BAR * share)
    line = Text()
    line.append(symbols.bar * filled, style="green")
    line.append(symbols.rest * (_BAR - filled), style="dim")
    if counted:
        line.append(f"  {counted}")
    left = picture.remaining.seconds
    if left is not None:
        line.append(f"  {words.left(left)}", style="bold")
    line.append(
        "  " + words("elapsed", time=clock_time(picture.elapsed), actions=state.actions_completed), style="cyan"
    )
    if state.spent.calls:
        spent = words("models_live", tokens=f"{state.spent.tokens:,}", cost=cost_of(state.spent, words))
        line.append(f"  {spent}", style="magenta")
    # Last: what a narrow terminal cuts off is the least of these.
    more = state.planner_context.estimated_remaining
    if more and picture.verifying is None and state.step is not None:
        line.append(f"  {words('behaviors_left', count=more)}")
    return line


def _share_done(state: RunState) -> float:
    """How much of the plan is done: by steps, or by stages while the steps of some are not known yet."""
    done, of = step_counts(state)
    if state.plan is None or not of:
        return 0.0
    if all(stage.steps for stage in state.plan.stages):
        return done / of
    finished = len(state.stages.completed)
    stage = state.stage
    if stage is not None and stage.steps and not state.stages.is_completed(stage.id):
        return (finished + len(state.steps.completed) / len(stage.steps)) / len(state.plan.stages)
    return finished / len(state.plan.stages)


def _counted(state: RunState, words: Words) -> str:
    done, of = step_counts(state)
    if state.plan is None or not of or all(stage.steps for stage in state.plan.stages):
        return words("steps_done", done=done, of=of) if of else ""
    number = 1 + next((at for at, one in enumerate(state.plan.stages) if one.id == state.position.stage_id), 0)
    return words("stages_done", number=number, of=len(state.plan.stages), done=done)


def _plan_lines(state: RunState, words: Words, symbols: Symbols, beat: str) -> tuple[list[Text], int]:
    """The tree and the line that matters most: stages, with the steps of the current one."""
    if state.plan is None:
        return [Text(f"{symbols.left} {words('no_plan')}", style="dim")], 0
    finished = {item.key for item in state.stages.completed}
    lines: list[Text] = []
    current = 0
    for stage in state.plan.stages:
        if stage.id in finished:
            lines.append(Text(f"{symbols.done} {one_line(stage.title)}", style="green"))
        elif stage.id == state.position.stage_id:
            current = len(lines)
            lines.append(Text(f"{symbols.running} {one_line(stage.title)}", style="bold"))
            for line, is_current in _step_lines(state, stage, symbols, beat):
                current = len(lines) if is_current else current
                lines.append(line)
        else:
            lines.append(Text(f"{symbols.left} {one_line(stage.title)}", style="dim"))
    return lines, current


def _step_lines(state: RunState, stage: Stage, symbols: Symbols, beat: str) -> list[tuple[Text, bool]]:
    finished = {item.key: item for item in state.steps.completed}
    lines = []
    for step in stage.steps:
        title = one_line(step.title)
        if step.id in finished:
            missed = finished[step.id].achieved is False
            lines.append((Text(f"    {symbols.done} {title}", style="yellow" if missed else "green"), False))
        elif step.id == state.position.step_id:
            lines.append((Text(f"    {beat} {title}", style="bold cyan"), True))
        else:
            lines.append((Text(f"    {symbols.left} {title}", style="dim"), False))
    return lines


def _fitted(tree: tuple[list[Text], int], room: int) -> list[Text]:
    """As many lines as there is room for, around the current one, with a mark where lines are left out."""
    lines, current = tree
    if len(lines) <= room:
        return lines
    inner = max(1, room - 2)
    start = min(max(0, current - inner // 2), len(lines) - inner)
    above = [Text(f"  ... {start}", style="dim")] if start else []
    left = len(lines) - start - inner
    below = [Text(f"  ... {left}", style="dim")] if left else []
    return [*above, *lines[start : start + inner], *below]


def _aim(picture: Picture) -> list[Text]:
    """What the run is after right now, in the planner's words."""
    state = picture.state
    if picture.verifying is not None or picture.rebuilding is not None or state.step is None:
        return []
    aim = state.behaviors.goal or state.behaviors.focus or state.steps.goal or state.step.purpose
    return [Text(one_line(aim), style="italic")] if aim else []


def _activity(picture: Picture, words: Words, beat: str) -> Text:
    state = picture.state
    if picture.verifying is not None:
        number, of = picture.verifying
        return Text(f"{beat} {words('verifying', number=number, of=of)}", style="cyan")
    if picture.rebuilding is not None:
        number, of = picture.rebuilding
        return Text(f"{beat} {words('rebuilding_at', number=number, of=of)}", style="yellow")
    if state.fsm in _WAITING:
        return Text(f"{beat} {words('doing_person')}", style="yellow")
    cell = running_cell(state)
    if cell is not None and not state.kernel.up:
        return Text(f"{beat} {words('doing_kernel')}", style="cyan")
    if cell is not None:
        seconds = words.seconds(picture.clock() - picture.action_since)
        far = f"  {words.progress(picture.progress)}" if picture.progress is not None else ""
        return Text(f"{beat} {words('doing_cell', cell=cell.id, seconds=seconds)}{far}", style="cyan")
    current = state.behavior.current
    if picture.doing == "doing_action" and current is None:
        return Text(f"{beat} {words('doing_generating')}", style="cyan")
    return Text(f"{beat} {words(picture.doing, action=_action_name(current))}", style="cyan")


def _cell_lines(picture: Picture, words: Words, symbols: Symbols) -> list[Text]:
    cell = running_cell(picture.state)
    if cell is None or picture.rebuilding is not None or picture.verifying is not None:
        return []
    source = safe(cell.source).strip("\n").expandtabs(4).split("\n")
    shown = source if len(source) <= _CODE_LINES else source[: _CODE_LINES - 1]
    lines = [Text(f"  {symbols.edge} {line}") for line in shown]
    if len(shown) < len(source):
        lines.append(Text(f"  {symbols.edge} {words('more_lines', count=len(source) - len(shown))}", style="dim"))
    return lines + [Text(f"    {line}", style="dim") for line in _last_output(picture.state)]


def running_cell(state: RunState) -> Cell | None:
    """The cell that the current action executes, if it does."""
    current = state.behavior.current
    if current is None or _action_name(current) != "exec" or not isinstance(current.action, dict):
        return None
    wanted = str(current.action.get("codecell_id", ""))
    known = state.document.cells.get(wanted)
    if known is None and state.document.last_code_id is not None:
        known = state.document.cells.get(state.document.last_code_id)
    return known


def _last_output(state: RunState) -> list[str]:
    """The newest lines that the running cell has printed."""
    texts = [output.get("text", "") for output in state.behavior.partial[-4:] if output.get("output_type") == "stream"]
    joined = "".join(text if isinstance(text, str) else "".join(text) for text in texts)[-2000:]
    lines = [one_line(line.rsplit("\r", 1)[-1]) for line in joined.rstrip("\r\n").split("\n")]
    return [line for line in lines if line][-_OUTPUT_LINES:]


def _action_name(current: ActionReceived | None) -> str:
    if current is None or not isinstance(current.action, dict):
        return ""
    return str(current.action.get("action", current.action.get("type", "")))
