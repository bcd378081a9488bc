"""Figures: told in words at every level that allows it, and sent as pictures only where everything may be told."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from engine.play import AUTO, one_step, play, run_code
from llm.fake_chat import FakeChat, judged, written
from notebook_bcc.engine.observation.figures import figures_of
from notebook_bcc.journal.records import ModelAsked
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.limits import Share
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.providers.prices import Prices
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.cells import Cell
from notebook_bcc.protocol.limits import Budget, Policies
from notebook_bcc.protocol.vocabulary import CellType

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (800).to_bytes(4) + (450).to_bytes(4) + b"\x08\x02").decode()
DRAW = 'fig, ax = plt.subplots()\nax.hist(price)\nax.set_title("Zanzibar of price")\nax.set_xlabel("price")\nplt.show()'


def picture(**metadata: Any) -> dict[str, Any]:
    return {
        "output_type": "display_data",
        "data": {"image/png": PNG, "text/plain": "<Figure size 800x450 with 1 Axes>"},
        "metadata": metadata,
    }


def cell(*outputs: dict[str, Any], source: str = DRAW, number: int = 1) -> Cell:
    return Cell(id=f"cell-{number}", type=CellType.CODE, source=source, outputs=outputs)


def test_a_figure_is_told_by_its_size_and_by_what_the_code_calls_it() -> None:
    (found,) = figures_of([cell(picture())], most=3)
    assert (found.width, found.height, found.media_type) == (800, 450, "image/png")
    assert found.labels == ("title: Zanzibar of price", "xlabel: price")
    assert found.text == "<Figure size 800x450 with 1 Axes>"
    assert found.data is None


def test_the_caption_is_the_one_of_the_metadata() -> None:
    (found,) = figures_of([cell(picture(**{"image/png": {"alt": "Prices by size"}}))], most=3)
    assert found.caption == "Prices by size"


def test_the_newest_are_told_and_bytes_only_when_asked_for() -> None:
    cells = [cell(picture(), picture(), number=at) for at in range(4)]
    found = figures_of(cells, most=3, with_bytes=True)
    assert [one.cell_id for one in found] == ["cell-2", "cell-3", "cell-3"]
    assert found[0].data == PNG


def test_what_is_no_picture_of_ours_is_passed_over() -> None:
    odd = {"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}}
    assert (
        figures_of([cell(odd, {"output_type": "stream", "text": "x"}, {"output_type": "display_data"})], most=3) == ()
    )
    torn = {"output_type": "display_data", "data": {"image/png": "not base64 !"}}
    assert figures_of([cell(torn)], most=3)[0].width is None


async def ran(share: Share, *, images: bool) -> tuple[FakeChat, FakeChat, list[ModelAsked]]:
    def execute(source: str) -> Execution:
        return Execution(outputs=(picture(),), execution_count=1)

    account = Account(budget=Budget(), prices=Prices("today", "", {}))
    model = FakeChat([written(DRAW), written("plt.show()")])
    judge = FakeChat([judged(True)])
    planner = LlmPlanner(
        base=one_step(Behavior(actions=run_code(DRAW), goal="Draw."), Behavior(actions=run_code("1"), goal="Again.")),
        generating=Asker(model, account, timeout=30.0),
        planning=Asker(judge, account, timeout=30.0),
        prompts=read_prompts(),
        share=share,
        images=images,
    )
    policies = Policies(confirm="auto", notebook_detail="figures") if images else AUTO
    played = await play(planner, policies=policies, kernel=ScriptedKernel(execute))
    return model, judge, played.records(ModelAsked)


@pytest.mark.anyio
async def test_with_values_and_images_the_picture_goes_along_and_the_journal_only_counts_it() -> None:
    model, judge, asked = await ran("values", images=True)
    assert [len(messages[-1].images) for messages in judge.asked][:1] == [1]
    assert judge.asked[0][-1].images[0].base64 == PNG
    assert "Zanzibar of price" in judge.asked[0][-1].images[0].caption
    assert len(model.asked[1][-1].images) == 1
    assert PNG not in str(asked)
    assert "[1 picture sent]" in asked[1].prompt[-1].content


@pytest.mark.anyio
@pytest.mark.parametrize("share", ["values", "schema", "none"])
async def test_without_images_a_figure_is_told_in_words(share: Share) -> None:
    model, judge, _ = await ran(share, images=False)
    assert not any(message.images for messages in (*model.asked, *judge.asked) for message in messages)
    said = judge.asked[0][-1].content
    assert "800×450 pixels; 1 axes" in said
    assert ("Zanzibar" in said) == (share == "values")


@pytest.mark.anyio
async def test_less_than_values_keeps_pictures_back_whatever_was_asked_for() -> None:
    model, judge, _ = await ran("schema", images=True)
    assert not any(message.images for messages in (*model.asked, *judge.asked) for message in messages)
