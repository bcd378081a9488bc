"""Runs where the playbook keeps some behaviors to itself: a model cannot spoil what they rely on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.play import AUTO, Played, play
from llm.fake_chat import FakeChat, judged, written
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.providers.prices import Prices
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import PlaybookFiles, open_playbook
from notebook_bcc.playbook.needed import cells_of, names_in_cell
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.limits import Budget
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

BOOK = {
    "playbook.yaml": "name: Test\nstages: [work]\n",
    "stages/work.yaml": """\
goal: Know the rows.
written_by: playbook
steps:
  - id: read
    goal: Read them.
    behaviors:
      - goal: Read.
        expected: [df, target, secret, notes]
        actions: [{cell: read}]
  - id: look
    goal: Look at them.
    behaviors:
      - goal: Describe the rows.
        written_by: model
        actions: [{cell: look}]
      - goal: Say how many there are.
        written_by: model
        actions: [{text: "There are {{ v.df | length }} rows."}]
  - id: use
    goal: Use them.
    behaviors:
      - goal: Score.
        expected: [score]
        actions: [{cell: score}]
""",
    "cells/read.py": "df = [1, 2, None, 4]\ntarget = 'price'\nsecret = [5]\nnotes = {'a': 1}\n",
    "cells/look.py": "print(len(df), target, notes)\n",
    "cells/score.py": "score = [len(df), target, secret, notes]\n",
}
SCORE = [4, "price", [5], {"a": 1}]
LOOK = "looked = [one for one in df if one]\nprint(len(looked))"
SAID = written(text="The table has 4 rows.")


def model_planner(model: FakeChat, *, judge: FakeChat | None = None) -> LlmPlanner:
    account = Account(budget=Budget(), prices=Prices("today", "", {}))
    return LlmPlanner(
        base=PlaybookPlanner(load_playbook(PlaybookFiles("playbook test", BOOK))),
        generating=Asker(model, account, timeout=30.0),
        planning=Asker(judge, account, timeout=30.0) if judge is not None else None,
        prompts=read_prompts(),
    )


async def ran(answers: Sequence[str], *, judge: FakeChat | None = None) -> tuple[Played, FakeChat]:
    model = FakeChat(answers)
    played = await play(model_planner(model, judge=judge), policies=AUTO, start={"inputs": {"data": "x"}})
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert played.state.variables["score"] == SCORE
    return played, model


async def test_a_closed_behavior_costs_no_call() -> None:
    judge = FakeChat([judged(True)])
    played, model = await ran([written(LOOK), SAID], judge=judge)
    assert len(model.asked) == 2
    assert len(judge.asked) == 2
    assert played.sources == [
        BOOK["cells/read.py"].strip(),
        LOOK,
        "The table has 4 rows.",
        BOOK["cells/score.py"].strip(),
    ]


@pytest.mark.parametrize(
    "spoiling",
    [
        "df = [one for one in df if one]",
        "del df",
        "target = 'species'",
        "df.clear()",
        "other = df\nother.append(5)",
        "for row in (df,):\n    row += [5]",
        "score = 1",
        "print(secret)",
        "df.append(1)\nprint(undefined_thing)",
    ],
)
async def test_a_cell_that_would_spoil_what_others_need_is_never_run(spoiling: str) -> None:
    played, model = await ran([written(spoiling), written(spoiling), SAID])
    assert spoiling not in played.sources
    assert BOOK["cells/look.py"].strip() in played.sources, "the playbook has written it"
    assert "did not manage" in " ".join(played.sources)
    assert len(model.asked) == 3
    assert "cannot be used" in model.asked[1][-1].content


async def test_a_model_that_is_told_what_was_wrong_may_mend_it() -> None:
    played, model = await ran([written("df = [one for one in df if one]"), written(LOOK), SAID])
    assert LOOK in played.sources
    assert "another name" in model.asked[1][-1].content


async def test_a_refused_cell_takes_the_texts_before_it_along() -> None:
    played, _ = await ran([written("del df", text="We tidy up."), written(LOOK, text="We look."), SAID])
    assert "We tidy up." not in played.sources
    assert "We look." in played.sources


async def test_a_repair_may_not_spoil_anything_either() -> None:
    broken = "print(df[100])"
    played, _ = await ran([written(broken), '{"code": "df = []"}', '{"code": "del df"}', written(LOOK), SAID])
    assert "df = []" not in str(played.sources)
    assert LOOK in played.sources


async def test_a_text_with_an_invented_number_is_not_let_through() -> None:
    played, model = await ran([written(LOOK), written(text="There are 344 rows."), SAID])
    assert "The table has 4 rows." in played.sources
    assert "344" not in str(played.sources)
    assert "344" in model.asked[2][-1].content


async def test_where_only_text_is_wanted_code_is_not_taken() -> None:
    played, model = await ran([written(LOOK), written("print(1)")])
    assert "There are 4 rows." in played.sources, "the playbook says it"
    assert "print(1)" not in played.sources
    assert "no code" in model.asked[1][-1].content


async def test_what_closed_behaviors_make_is_shown_only_where_the_cell_of_the_playbook_reads_it() -> None:
    _, model = await ran([written(LOOK), SAID])
    asked = model.asked[0][-1].content
    assert "df" in asked
    assert "target" in asked
    assert "secret" not in asked


def test_nothing_that_an_open_behavior_of_dslc_leaves_behind_is_needed_later() -> None:
    """What a model writes in its place need not make the same: so nothing may rely on what is not promised."""
    playbook = load_playbook(open_playbook("dslc"))
    behaviors = [one for stage in playbook.stages for step in stage.steps for one in step.behaviors]
    opened = [at for at, one in enumerate(behaviors) if one.written_by == "model"]
    assert 8 <= len(opened) <= 20
    for at in opened:
        made = {name for cell in cells_of(behaviors[at]) for name in names_in_cell(cell.source).made}
        read = {
            name for one in behaviors[at + 1 :] for cell in cells_of(one) for name in names_in_cell(cell.source).read
        }
        assert not (made - set(behaviors[at].expected)) & read, f"{behaviors[at].file}:{behaviors[at].line}"


def test_in_minimal_everything_is_open() -> None:
    playbook = load_playbook(open_playbook("minimal"))
    written_by = {one.written_by for stage in playbook.stages for step in stage.steps for one in step.behaviors}
    assert written_by == {"model"}


async def test_a_change_that_gets_through_all_the_same_ends_the_run_and_says_so() -> None:
    # No reading of code finds every way: this map writes into the one it was made of.
    sly = "from collections import ChainMap\nmine = ChainMap(notes)\nmine['b'] = 2\nprint(len(df))"
    played = await play(model_planner(FakeChat([written(sly), SAID])), policies=AUTO)
    assert played.state.fsm is State.ERROR
    assert played.state.stopped is not None
    assert "has changed notes" in played.state.stopped.detail
    assert "score" not in played.state.variables
