"""The dataclasses of the documents: plain and changeable, and turned into the protocol's values where they are used."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from engine.play import SKIP, one_step, play
from notebook_bcc import (
    ActionMetadata,
    ActionRegistry,
    ApiClient,
    CallablePlanner,
    ScriptStore,
    SectionProgress,
    WorkflowContext,
)
from notebook_bcc.errors import MessageInvalid
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.protocol import actions, observation
from notebook_bcc.protocol.messages import Request


def test_sections_are_made_by_place_and_their_lists_grow() -> None:
    sections = SectionProgress("loading", 2, ["introduction"], ["introduction", "loading"])
    sections.completed_sections.append("loading")
    sections.all += ["modeling"]
    sections.current_section_id = "modeling"
    assert dataclasses.asdict(sections) == {
        "current_section_id": "modeling",
        "current_section_number": 2,
        "completed_sections": ["introduction", "loading"],
        "all": ["introduction", "loading", "modeling"],
    }


def test_metadata_is_made_by_place_in_the_order_of_the_first_document_and_holds_all_of_the_third() -> None:
    metadata = ActionMetadata(False, False, True, "assessment", 2)
    assert (metadata.is_section, metadata.section_id, metadata.section_number) == (True, "assessment", 2)
    metadata.extra["colour"] = "red"
    assert ActionMetadata().extra == {}
    assert set(dataclasses.asdict(metadata)) == set(actions.ActionMetadata.model_fields)


@pytest.mark.parametrize("made", [SectionProgress, ActionMetadata, WorkflowContext])
def test_no_two_of_them_share_a_list(made: type[Any]) -> None:
    one, other = made(), made()
    for field in dataclasses.fields(one):
        value = getattr(one, field.name)
        assert value is not getattr(other, field.name) or not isinstance(value, list | dict)


def test_they_become_values_of_the_protocol_and_come_back() -> None:
    sections = SectionProgress("loading", 2, ["introduction"], ["introduction", "loading"])
    assert sections.to_message() == observation.SectionProgress.parse(dataclasses.asdict(sections))
    assert SectionProgress.from_message(sections.to_message()) == sections
    metadata = ActionMetadata(False, True, chapter_number=3, extra={"a": 1})
    assert ActionMetadata.from_message(metadata.to_message()) == metadata
    with pytest.raises(MessageInvalid, match="current_section_number"):
        SectionProgress("loading", "second").to_message()  # type: ignore[arg-type]


def test_a_state_may_hold_one(state: dict[str, Any]) -> None:
    asked: list[Request] = []

    def plan(request: Request) -> dict[str, Any]:
        asked.append(request)
        return {"targetAchieved": True}

    state["section_progress"] = SectionProgress("loading", 2, ["introduction"])
    with ApiClient(planner=CallablePlanner(plan=plan, generate=lambda request: [])) as client:
        client.send_feedback_sync("prices", "load", state)
    told = asked[0].observation.context.section_progress
    assert isinstance(told, observation.SectionProgress)
    assert told.completed_sections == ("introduction",)


def test_an_action_may_hold_one() -> None:
    with ScriptStore(kernel=ScriptedKernel()) as store:
        metadata = ActionMetadata(is_section=True, section_id="rows", section_number=1)
        assert store.exec_action({"action": "add", "content": "### Rows", "metadata": metadata})["success"]
        assert store.get_context()["section_progress"]["current_section_id"] == "rows"


@pytest.mark.anyio
async def test_an_action_of_a_handler_in_a_run_may_hold_one() -> None:
    def mark(script_store: Any, step: Any) -> Any:
        metadata = ActionMetadata(is_section=True, section_id="rows", section_number=1)
        return script_store.exec_action({"action": "add", "content": "### Rows", "metadata": metadata})["success"]

    played = await play(one_step([{"action": "mark"}]), policies=SKIP, registry=ActionRegistry({"mark": mark}))
    told = played.state.planner_context.section_progress
    assert isinstance(told, observation.SectionProgress)
    assert told.current_section_id == "rows"
