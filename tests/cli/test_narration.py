from __future__ import annotations

import pytest

from notebook_bcc.engine.state import KernelState, KernelStep, KernelSteps, PlannerContext, Position, RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import (
    ActionCompleted,
    CellRerun,
    EventRefused,
    KernelAbandoned,
    KernelAttached,
    KernelLost,
    KernelRebuilt,
    KernelStarted,
    PlanUpdateDecided,
    PromotionFailed,
    ProposalDropped,
    Record,
    RepairTried,
    RunResumed,
    RunStarted,
    RunStopped,
    Transitioned,
    Warned,
)
from notebook_bcc.protocol.vocabulary import Event, State
from notebook_bcc.views.narration import first_line, narrate, one_line, safe
from notebook_bcc.views.words import Words

AT = "2026-11-15T20:00:00Z"


def told(record: Record, state: RunState | None = None) -> list[str]:
    return [line.text for line in narrate(Entry(1, AT, record), state or RunState(run_id="r"), Words("en"))]


@pytest.mark.parametrize(
    ("record", "text"),
    [
        (RunStarted(run_id="r", goal="g"), "run r started"),
        (RunResumed(), "run r goes on after 0 completed actions"),
        (Warned(message="careful"), "warning: careful"),
        (EventRefused(state=State.IDLE, event="FAIL", reason="no row"), "event FAIL was refused: no row"),
        (KernelAttached(name="k", session="s"), "kernel k is taken up where it was left"),
        (KernelAttached(name="k", session="s", follows=True), "kernel k is taken up where it was left; its cell is"),
        (KernelAbandoned(session="s", reason="r"), "the kernel that was left is not taken up: r"),
        (KernelAbandoned(session="s", reason="r", ended=True), "the kernel that was left is not taken up, and was"),
        (KernelLost(cause="out of memory"), "the kernel is gone: out of memory"),
        (KernelRebuilt(cells=3), "the kernel is rebuilt: 3 cells, no differences"),
        (KernelRebuilt(cells=3, differences=("x",)), "the kernel is rebuilt: 3 cells, 1 difference"),
        (PlanUpdateDecided(confirmed=True), "the change of the plan was accepted"),
        (ProposalDropped(reason="no"), "a change of the plan was dropped: no"),
        (PromotionFailed(variable="v", artifact_id="a@1", error="e"), "artifact a@1 was not made: e"),
        (RunStopped(reason="limit", detail="ten"), "stopped at a limit: ten"),
        (
            CellRerun(cell_id="c", index=1, of=2, success=True, same_outputs=False, difference="d"),
            "cell c gave another result: d",
        ),
        (
            RepairTried(action_id="a", cell_id="c", attempt=1, source="s", error="E: e", repaired="r"),
            "cell c: repair 1 after E: e",
        ),
        (
            ActionCompleted(action_id="a", action="exec", success=False, executed="c", error="E: e", seconds=1.5),
            "cell c  FAILED  1.50 s  E: e",
        ),
        (ActionCompleted(action_id="a", action="dance", success=True, skipped=True), "action dance was skipped"),
        (ActionCompleted(action_id="a", action="add", success=False, error="no"), "action add failed: no"),
    ],
)
def test_what_a_user_must_know_is_a_line(record: Record, text: str) -> None:
    assert any(line.startswith(text) for line in told(record))


def test_a_rebuild_is_announced_before_its_first_cell() -> None:
    steps = KernelSteps().appended(KernelStep(cell_id="a")).appended(KernelStep(cell_id="b"))
    state = RunState(kernel=KernelState(up=False, steps=steps))
    assert "rebuilding the kernel: 2 cells" in told(KernelStarted(name="python3"), state)[-1]
    assert told(KernelStarted(name="python3"), RunState(kernel=KernelState(up=True))) == ["kernel python3 is up"]


def test_most_records_are_not_worth_a_line() -> None:
    move = Transitioned(source=State.ACTION_RUNNING, event=Event.COMPLETE_ACTION, to=State.ACTION_COMPLETED)
    assert told(move) == []
    assert told(ActionCompleted(action_id="a", action="add", success=True)) == []


def test_nothing_from_outside_can_steer_the_terminal() -> None:
    nasty = "a\x1b[2Jb\x1b]0;title\x07c\x1b[31md\rx\x07\x9b1me\nf"
    assert safe(nasty) == "abcdx1me\nf"
    assert "\x1b" not in one_line(nasty)
    assert "\n" not in one_line(nasty)


def test_long_texts_are_cut_with_a_mark() -> None:
    assert one_line("x" * 1000).endswith("…")
    assert len(one_line("x" * 1000, limit=50)) == 50


def test_the_telling_line_of_a_cell_is_not_its_import() -> None:
    assert first_line("# a remark\nimport pandas as pd\n\ndf = 1\n") == "df = 1"
    assert first_line("import pandas") == "import pandas"
    assert first_line("") == ""


def test_a_behavior_is_told_with_how_many_are_left() -> None:
    # Seed 001: metadata.estimated_remaining_behaviors.
    state = RunState(position=Position("s", "t", "b", 1), planner_context=PlannerContext(estimated_remaining=1))
    began = Transitioned(source=State.STEP_RUNNING, event=Event.START_BEHAVIOR, to=State.BEHAVIOR_RUNNING)
    assert told(began, state) == ["behavior 1 (about 1 more behavior)"]
