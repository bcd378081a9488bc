"""Whole runs with a model that is scripted: whatever it does, the run ends well or says why."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from engine.play import AUTO, Played, one_step, play, run_code, scripted, workflow
from llm.fake_chat import Broken, FakeChat, judged, written
from notebook_bcc.errors import PlannerAnswerInvalid, PlannerRefused, PlannerUnreachable
from notebook_bcc.journal.records import RunResumed, Warned
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.limits import Fallback, Share
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.providers.prices import Price, Prices
from notebook_bcc.planners.interface import ActionData, Planner
from notebook_bcc.planners.model_exchange import ModelExchange
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.limits import Budget
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

PRICES = Prices("today", "", {"fake:model": Price(input=1.0, output=2.0)})
GOOD = written("n = 40 + 2", text="We count.")
BY_BASE = "n = 3"
UNREACHABLE = PlannerUnreachable(planner="fake:model", reason="HTTP 529", retry_after=0.0)
REFUSED = PlannerRefused(planner="fake:model", reason="a content filter")


def base_planner(*, promise: str = "n") -> Planner:
    behavior = Behavior(actions=run_code(BY_BASE), expected=(promise,), goal="Count the rows.")
    return one_step(behavior, goal="Know the number of rows.")


class Company:
    """A planner and everything around it that a test looks at."""

    def __init__(
        self,
        answers: Sequence[str | PlannerUnreachable | PlannerAnswerInvalid | Broken],
        *,
        judge: Sequence[str] = (),
        base: Planner | None = None,
        fallback: Fallback = "playbook",
        share: Share = "schema",
        suggest: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.model = FakeChat(answers)
        self.judge = FakeChat(judge)
        self.exchanges: list[ModelExchange] = []
        self.account = Account(budget=Budget(), prices=PRICES)
        asker = Asker(self.model, self.account, timeout=30.0, keep=self.exchanges.append, clock=clock)
        judging = Asker(self.judge, self.account, timeout=30.0, keep=self.exchanges.append, clock=clock)
        self.planner = LlmPlanner(
            base=base or base_planner(),
            generating=asker,
            planning=judging if judge else None,
            prompts=read_prompts(),
            share=share,
            fallback=fallback,
            suggest=suggest,
        )

    async def run(self, **options: object) -> Played:
        return await play(self.planner, policies=AUTO, **options)  # type: ignore[arg-type]  # of play


def completed(played: Played) -> bool:
    return played.state.fsm is State.WORKFLOW_COMPLETED


async def test_the_model_writes_the_cells() -> None:
    company = Company([GOOD])
    played = await company.run()
    assert completed(played)
    assert played.sources == ["We count.", "n = 40 + 2"]
    assert len(company.model.asked) == 1
    assert "Count the rows." in company.model.told
    assert "must exist when you are done: n" in company.model.told
    assert BY_BASE in company.model.told, "the base planner's own content is shown as a suggestion"


@pytest.mark.parametrize(
    "dropped", ["abc = 1234\n!ls\n", "abc = 123\nb = 2\n!ls\n", "abc = 123\nb = 2\n" + "c" * 7_000]
)
@pytest.mark.parametrize("piece", [1, 7, 10_000])
async def test_a_cell_behind_one_that_was_dropped_is_looked_at_from_its_beginning(dropped: str, piece: int) -> None:
    company = Company([written(dropped, "import os\nn = 1\nprint(n)\nprint(n)"), GOOD])
    company.model.piece = piece
    played = await company.run()
    assert completed(played)
    assert played.sources == ["We count.", "n = 40 + 2"]
    assert "the module os is not to be used here" in company.model.told


async def test_a_missing_output_is_told_and_tried_again() -> None:
    company = Company([written("m = 1"), GOOD])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == "n = 40 + 2"
    assert "missing outputs: n" in company.model.asked[1][1].content
    assert "missing outputs: n" not in company.model.asked[0][1].content


async def test_an_error_is_told_and_tried_again() -> None:
    company = Company([written("n = 1 / 0"), "{}", "{}", "{}", GOOD])
    played = await company.run()
    assert completed(played)
    assert "ZeroDivisionError" in company.model.told


async def test_a_model_that_cannot_do_it_gives_way_and_the_notebook_says_so() -> None:
    company = Company([written("m = 1"), written("k = 1")])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == BY_BASE
    assert "did not manage" in played.sources[-2]
    assert len(company.model.asked) == 2


async def test_a_model_that_repeats_itself_gives_way() -> None:
    company = Company([written("m = 1")])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == BY_BASE
    assert len(company.model.asked) <= 2


async def test_a_model_that_always_says_achieved_does_not_overrule_what_is_missing() -> None:
    company = Company([written("m = 1"), written("k = 1")], judge=[judged(True)])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == BY_BASE
    assert "said to be reached; it is not" in company.model.told


async def test_a_model_that_never_says_achieved_does_not_hold_up_what_is_verified() -> None:
    company = Company([GOOD], judge=[judged(False)])
    played = await company.run()
    assert completed(played)
    assert len(company.model.asked) == 1
    assert len(company.judge.asked) == 1


async def test_a_judge_that_talks_nonsense_or_fails_changes_nothing() -> None:
    for said in ("certainly!", "[]", '{"achieved": "yes"}'):
        assert completed(await Company([GOOD], judge=[said]).run())


async def test_the_focus_of_the_judge_goes_into_the_next_behavior() -> None:
    behaviors = [Behavior(actions=run_code(f"x{n} = 1"), expected=(f"x{n}",), goal=f"Part {n}") for n in (1, 2)]
    company = Company(
        [written("x1 = 1"), written("x2 = 2")],
        judge=[judged(True, focus="Mind the gap.")],
        base=scripted(workflow("step"), {"step": behaviors}),
    )
    assert completed(await company.run())
    assert "Mind the gap." in company.model.asked[1][1].content


async def test_an_invalid_answer_is_asked_for_once_more() -> None:
    company = Company(["I would count the rows.", f"Here you are:\n```json\n{GOOD}\n```"])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == "n = 40 + 2"
    assert company.model.asked[1][-1].role == "user"
    assert "cannot be used" in company.model.asked[1][-1].content


@pytest.mark.parametrize(
    "answer",
    [
        "no",
        "{",
        '{"actions": []}',
        '{"actions": [{"kind": "dance", "content": "x"}]}',
        '{"actions": [{"kind": "code"}]}',
        '{"actions": [{"kind": "code", "content": "!rm -rf ."}]}',
        '{"actions": [{"kind": "code", "content": "n = 1"',
    ],
)
async def test_invalid_answers_again_and_again_end_with_the_base_planner(answer: str) -> None:
    company = Company([answer])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == BY_BASE
    assert len(company.model.asked) == 2
    assert not any("rm -rf" in source for source in played.sources)


async def test_an_unreachable_model_is_tried_again_and_then_replaced() -> None:
    company = Company([UNREACHABLE])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == BY_BASE
    assert len(company.model.asked) == 3
    assert "HTTP 529" in str(played.records(Warned))


async def test_a_model_that_comes_back_goes_on() -> None:
    company = Company([UNREACHABLE, GOOD])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == "n = 40 + 2"


async def test_a_refusal_is_not_tried_again() -> None:
    company = Company([REFUSED])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == BY_BASE
    assert len(company.model.asked) == 1


@pytest.mark.parametrize("answer", [UNREACHABLE, REFUSED, "nonsense"])
async def test_with_stop_the_run_ends_recoverable(answer: str | PlannerUnreachable | PlannerRefused) -> None:
    company = Company([answer], fallback="stop")
    played = await company.run()
    assert played.state.fsm is State.ERROR
    assert BY_BASE not in played.sources


@pytest.mark.parametrize("answers", [[written("m = 1"), written("k = 1")], [written("m = 1")]])
async def test_with_stop_a_goal_that_is_missed_again_and_again_ends_recoverable_too(answers: list[str]) -> None:
    played = await Company(answers, fallback="stop").run()
    assert played.state.fsm is State.ERROR
    assert "missing outputs" in played.state.failure_reason or "no progress" in played.state.failure_reason
    assert BY_BASE not in played.sources
    better = Company([GOOD], fallback="stop")
    gone_on = await play(better.planner, journal=played.journal, kernel=played.kernel, resume=RunResumed())
    assert completed(gone_on)
    assert gone_on.sources[-1] == "n = 40 + 2"


async def test_a_stream_that_breaks_keeps_what_came_and_goes_on() -> None:
    half = written("m = 1", "n = 2").split('"n = 2"')[0]
    company = Company([Broken(half, UNREACHABLE), GOOD])
    played = await company.run()
    assert completed(played)
    assert played.sources == ["m = 1", "We count.", "n = 40 + 2"]


async def test_a_half_built_action_is_never_executed() -> None:
    company = Company([Broken('{"actions": [{"kind": "code", "content": "n = 1"', UNREACHABLE)])
    played = await company.run()
    assert completed(played)
    assert "n = 1" not in played.sources


async def test_what_was_spent_is_counted_over_both_models() -> None:
    company = Company([GOOD], judge=[judged(True)])
    await company.run()
    spent = company.account.spent
    assert (spent.calls, spent.input_tokens, spent.output_tokens) == (2, 200, 40)
    assert spent.cost == "$0.0003"
    assert [one.task for one in company.exchanges] == ["generate", "judge"]
    assert company.exchanges[0].answer == GOOD


async def test_a_failing_cell_is_repaired_by_the_model() -> None:
    company = Company([written("n = undefined_name"), '{"code": "n = 7"}'])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == "n = 7"
    assert "NameError" in company.model.asked[1][1].content
    assert "undefined_name" in company.model.asked[1][1].content


async def test_a_repair_that_repeats_the_cell_is_no_repair() -> None:
    company = Company([written("n = undefined_name"), '{"code": "n = undefined_name"}'])
    played = await company.run()
    assert completed(played)
    assert played.sources[-1] == BY_BASE


@pytest.mark.parametrize("share", ["schema", "none"])
async def test_no_secret_of_the_data_is_in_any_prompt(share: Share, tmp_path: Path) -> None:
    file = tmp_path / "customers.txt"
    file.write_text("Jane Q. Doe\n4929123412341234")
    load = f"from pathlib import Path\nname, card = Path({str(file)!r}).read_text().splitlines()\nprint(name, card)"
    load += "\nnumber = int(card)\nx = 1"
    behaviors = [
        Behavior(actions=run_code(load), expected=("x",), goal="Load."),
        Behavior(actions=run_code("y = {name: number}\nprint(y)"), expected=("y",), goal="Look."),
        Behavior(actions=run_code("z = [name] * 3\nz"), expected=("z",), goal="Look again."),
    ]
    answers = ["nonsense", "nonsense", written("int(name)"), '{"code": "raise KeyError(name)"}', written("{}[name]")]
    company = Company(answers, judge=[judged(False)], share=share, base=scripted(workflow("step"), {"step": behaviors}))
    played = await company.run()
    assert completed(played)
    assert "Jane Q. Doe" in str(played.state.effects_history), "it was printed"
    assert len(company.model.asked) > 5
    for told in (company.model.told, company.judge.told):
        assert "Jane" not in told
        assert "Doe" not in told
        assert "492912341234" not in told


async def test_the_language_of_the_goal_is_that_of_the_prompt() -> None:
    company = Company([GOOD])
    await company.run(start={"goal": "统计行数"})
    assert "工作目标：统计行数" in company.model.told


async def test_a_request_that_was_answered_is_answered_the_same() -> None:
    company = Company([written("m = 1"), GOOD], judge=[judged(True)])
    played = await company.run()
    asked = len(company.judge.asked)
    request = next(one for one in played.planner.planned if one.behavior_feedback is not None)
    first = await company.planner.plan(request)
    assert await company.planner.plan(request) == first
    assert len(company.judge.asked) == asked
    wanted, _ = played.planner.generated[0]
    asked = len(company.model.asked)
    again = [item async for item in company.planner.generate(wanted)]
    assert [item.data["content"] for item in again if isinstance(item, ActionData) and "content" in item.data] == [
        "m = 1"
    ]
    assert len(company.model.asked) == asked


async def test_closing_closes_everything_and_may_be_repeated() -> None:
    company = Company([GOOD], judge=[judged(True)])
    await company.planner.close()
    await company.planner.close()
    assert company.model.closed == company.judge.closed == 2


HEADED = [
    {"action": "update_title", "title": "Rows"},
    {"action": "new_chapter", "content": "Counting"},
    *run_code(BY_BASE),
]


def chapters(played: Played) -> list[str]:
    return [source for source in played.sources if "Counting" in source]


@pytest.mark.parametrize(
    "answers", [[GOOD], [written("m = 1"), GOOD], [written("m = 1"), written("k = 1")], ["nonsense"], [UNREACHABLE]]
)
async def test_titles_and_chapters_are_the_base_planners_and_stand_there_once(
    answers: list[str | PlannerUnreachable | PlannerAnswerInvalid | Broken],
) -> None:
    company = Company(answers, base=one_step(Behavior(actions=HEADED, expected=("n",), goal="Count.")))
    played = await company.run()
    assert completed(played)
    assert played.state.document.title == "Rows"
    assert len(chapters(played)) == 1
    assert chapters(played)[0] in played.sources[:2], "it stands before what it is about"


async def test_a_behavior_without_a_text_or_a_cell_needs_no_model() -> None:
    company = Company([GOOD], base=one_step(Behavior(actions=HEADED[:2], goal="Begin.")))
    played = await company.run()
    assert completed(played)
    assert len(chapters(played)) == 1
    assert not company.model.asked
