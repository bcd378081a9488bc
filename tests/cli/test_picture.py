from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rich.cells import cell_len

from notebook_bcc.cli.view.picture import Picture, Symbols, draw
from notebook_bcc.engine.state import BehaviorState, KernelState, LevelState, PlannerContext, Position, RunState
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import ActionReceived, CellRerun, Record, Warned
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.notebook.document import Document
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.limits import Spent
from notebook_bcc.protocol.tracking import CompletedItem
from notebook_bcc.protocol.vocabulary import CellType
from notebook_bcc.protocol.workflow import Workflow
from notebook_bcc.views.overview import step_counts
from notebook_bcc.views.words import Words

STEPS = 40
GOALS = {"stages": [{"id": "s", "steps": [{"id": "t", "goal": "the goal of the step"}]}]}


def plan(stages: int = 3) -> Workflow:
    return Workflow.parse(
        {
            "stages": [
                {"id": f"s{n}", "name": f"第 {n} 阶段 [bold]", "steps": [{"id": f"t{m}"} for m in range(STEPS)]}
                for n in range(stages)
            ]
        }
    )


def busy(**more: Any) -> RunState:
    source = "\n".join(f"line_{n} = '很长的一行' * 50" for n in range(30))
    document = Document().with_cell(Cell(id="c", type=CellType.CODE, source=source))
    action = ActionReceived(action_id="a", index=0, action={"action": "exec", "codecell_id": "c"})
    state = RunState(
        run_id="r",
        plan=plan(),
        position=Position(stage_id="s1", step_id="t7", iteration=1),
        stages=LevelState(completed=(CompletedItem(stage_id="s0"),)),
        steps=LevelState(completed=tuple(CompletedItem(step_id=f"t{n}") for n in range(7))),
        behavior=BehaviorState(current=action),
        kernel=KernelState(up=True),
        document=document,
    )
    return replace(state, **more)


def drawn(state: RunState, *records: Record, width: int = 80, height: int = 24, lang: Any = "en") -> list[str]:
    picture = Picture(clock=lambda: 100.0)
    for record in (Warned(message="x"), *records):
        picture.saw(Entry(1, "", record), state)
    return draw(picture, Words(lang), Symbols(), width=width, height=height).plain.split("\n")


def test_the_picture_says_how_many_behaviors_are_left() -> None:
    # Seed 001: metadata.estimated_remaining_behaviors.
    assert "about 2 more behaviors" in drawn(busy(planner_context=PlannerContext(estimated_remaining=2)), width=120)[0]
    assert "behavior" not in drawn(busy(planner_context=PlannerContext(estimated_remaining=0)), width=120)[0]


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (40, 10), (20, 6), (300, 100)])
def test_the_picture_fits_the_screen(width: int, height: int, lang: str) -> None:
    for state in (RunState(), busy(), busy(plan=plan(200), position=Position(stage_id="s150"))):
        lines = drawn(state, width=width, height=height, lang=lang)
        assert len(lines) < height
        assert max(cell_len(line) for line in lines) < width


def test_the_current_step_is_in_the_picture_however_long_the_plan() -> None:
    lines = drawn(busy(), height=24)
    assert any(line.strip().endswith(" t7") for line in lines)
    assert any(line.strip().startswith("...") for line in lines)


def test_the_running_cell_is_shown_with_its_first_lines_and_last_words() -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "first\nlast \x1b[31mwords\x1b[0m\n"}
    state = busy()
    state = replace(state, behavior=replace(state.behavior, partial=(output,)))
    lines = drawn(state)
    assert any("running cell c" in line for line in lines)
    assert any("line_0" in line for line in lines)
    assert any("26 more lines" in line for line in lines)
    assert any(line.strip() == "last words" for line in lines)


def test_a_rebuild_is_shown_as_one() -> None:
    rerun = CellRerun(cell_id="c", index=3, of=9, success=True, same_outputs=True)
    assert any("rebuilding the kernel: cell 4 of 9" in line for line in drawn(busy(), rerun))


def test_progress_counts_the_steps_of_all_stages() -> None:
    assert step_counts(busy()) == (STEPS + 7, 3 * STEPS)
    assert step_counts(RunState()) == (0, 0)


def test_a_terminal_without_utf8_gets_letters() -> None:
    for sign in (Symbols.for_encoding("ascii").done, Symbols.for_encoding("latin-1").spinner):
        assert sign.isascii()
    assert Symbols.for_encoding("UTF-8") == Symbols()


def test_what_the_run_is_after_has_a_line_of_its_own() -> None:
    state = busy(behaviors=LevelState(focus="Look before touching anything."))
    assert "Look before touching anything." in drawn(state)
    assert "the goal of the step" in drawn(busy(plan=Workflow.parse(GOALS), position=Position("s", "t")))


def test_while_steps_of_later_stages_are_not_known_the_stages_count() -> None:
    plan = Workflow.parse({"stages": [{"id": "a", "steps": [{"id": "t"}, {"id": "u"}]}, {"id": "b"}]})
    done = LevelState(completed=(CompletedItem(step_id="t"),))
    line = drawn(busy(plan=plan, position=Position("a", "u"), stages=LevelState(), steps=done))[0]
    assert "stage 1 of 2, 1 step done" in line
    assert line.count("━") == 6


def test_the_verification_has_a_bar_and_a_time_of_its_own() -> None:
    picture = Picture(clock=lambda: 100.0)
    picture.saw(Entry(1, "", Warned(message="x")), busy())
    picture.verifying = (5, 10)
    picture.remaining.verifying(SecondsLeft(cell=20.0, after=100.0))
    lines = draw(picture, Words("en"), Symbols(), width=100, height=24).plain.split("\n")
    assert "4 of 10 cells verified  about 2 min left" in lines[0]


@pytest.mark.parametrize(
    ("spent", "shown"),
    [
        (Spent(calls=3, input_tokens=12_000, output_tokens=345, dollars=0.0123), "12,345 tokens · $0.0123"),
        (Spent(calls=3, input_tokens=90, unpriced=3), "90 tokens · cost unknown"),
        (Spent(calls=3, input_tokens=90, unpriced=1, dollars=0.5), "$0.5000, the rest unknown"),
    ],
)
def test_tokens_and_cost_of_models_are_shown_live(spent: Spent, shown: str) -> None:
    assert shown in drawn(busy(spent=spent), width=160)[0]
    assert "tokens" not in drawn(busy(), width=160)[0]
