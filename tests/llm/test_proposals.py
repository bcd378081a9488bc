"""What a model proposes beside its judgement: steps of the plan, variables for the next part."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from engine.play import AUTO, Played, play
from llm.fake_chat import FakeChat, written
from notebook_bcc.journal.records import PlanningAnswered, PlanUpdateDecided
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.providers.prices import Prices
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import PlaybookFiles
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.limits import Budget, Policies
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

BOOK = {
    "playbook.yaml": "name: Test\nstages: [work]\n",
    "stages/work.yaml": """\
goal: Know the rows.
steps:
  - id: first
    goal: Look at the rows.
    behaviors:
      - goal: Count.
        actions: [{code: print(len(rows))}]
      - goal: Say it.
        actions: [{text: They are counted.}]
  - id: second
    goal: Look again.
    behaviors:
      - goal: Sum.
        actions: [{code: print(2)}]
  - id: closed
    goal: Keep them.
    written_by: playbook
    behaviors:
      - goal: Keep.
        expected: [kept, rows]
        actions: [{code: "kept = 1\\nrows = []"}]
  - id: spare
    goal: Look a third time.
    when: "false"
    behaviors:
      - goal: Draw.
        actions: [{text: A third look.}]
""",
}
ROWS = "small = [1]\nlarge = set(range(9))\nprint(0)"
SAID = written(text="It is said.")


def verdict(**proposed: Any) -> str:
    return json.dumps({"achieved": True, "reason": "seen", "focus": "Go on.", **proposed})


async def ran(judge: Sequence[str], *, policies: Policies = AUTO) -> tuple[Played, FakeChat]:
    account = Account(budget=Budget(), prices=Prices("today", "", {}))
    judging = FakeChat(judge)
    planner = LlmPlanner(
        base=PlaybookPlanner(load_playbook(PlaybookFiles("playbook test", BOOK))),
        generating=Asker(FakeChat([written(ROWS), SAID, written("print(1)"), SAID]), account, timeout=30.0),
        planning=Asker(judging, account, timeout=30.0),
        prompts=read_prompts(),
    )
    return await play(planner, policies=policies, start={"inputs": {"data": "x"}}), judging


def steps_done(played: Played) -> list[str]:
    been = (one.observation.location.current.step_id for one in played.planner.planned)
    return list(dict.fromkeys(step for step in been if step is not None))


def reasons(played: Played) -> str:
    return " ".join(one.response.metadata.reason or "" for one in played.records(PlanningAnswered))


async def test_a_step_that_is_the_models_own_may_be_left_out_and_another_added() -> None:
    played, judging = await ran([verdict(skip=["second"], add=["spare"]), verdict()])
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert steps_done(played) == ["first", "closed", "spare"]
    assert "second: Look again." in judging.asked[0][-1].content
    assert "spare: Look a third time." in judging.asked[0][-1].content
    assert "closed: Keep them." not in judging.asked[0][-1].content
    assert played.state.variables["kept"] == 1


async def test_a_person_may_say_no() -> None:
    played, _ = await ran([verdict(skip=["second"]), verdict()], policies=Policies(confirm="reject"))
    assert [one.confirmed for one in played.records(PlanUpdateDecided)] == [False]


@pytest.mark.parametrize(
    ("proposed", "said"),
    [
        ({"skip": ["closed"]}, "the step closed cannot be left out"),
        ({"skip": ["first"]}, "the step first cannot be left out"),
        ({"add": ["made_up"]}, "the step made_up cannot be left out or added"),
        ({"skip": ["spare"]}, "not planned anyway"),
        ({"add": ["second"]}, "planned already"),
    ],
)
async def test_a_proposal_that_cannot_be_is_recorded_and_fed_back_and_never_carried_out(
    proposed: dict[str, Any], said: str
) -> None:
    played, judging = await ran([verdict(**proposed), verdict()])
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.records(PlanUpdateDecided) == []
    assert said in reasons(played)
    assert said in judging.asked[1][-1].content
    assert said not in judging.asked[2][-1].content, "it is told once"


async def test_the_next_part_sees_what_the_model_asks_for_if_it_is_small_and_exists() -> None:
    played, _ = await ran([verdict(look_at=["small", "nowhere"]), verdict()])
    assert "the variable nowhere does not exist" in reasons(played)
    following = played.planner.generated[1][0]
    assert following.observation.location.current.behavior_id == "first.2"
    assert set(following.observation.context.variables) == {"small"}
