from __future__ import annotations

from typing import Any

import pytest

from conformance.broken_servers import Json, Sound
from conformance.hosting import hosted
from notebook_bcc.conformance.caller import Caller
from notebook_bcc.conformance.check_context import CheckContext
from notebook_bcc.conformance.transcript import Transcript
from notebook_bcc.conformance.walk import PLAYED

pytestmark = pytest.mark.anyio


async def walked(server: Sound) -> Transcript:
    async with hosted(server.app) as url:
        caller = Caller(url)
        try:
            return await CheckContext(caller, run_id="walk", goal="a table").transcript()
        finally:
            await caller.close()


def questions(transcript: Transcript) -> list[str]:
    return [each.question for each in transcript.judged]


async def test_the_kit_asks_at_every_state_and_shows_what_a_client_would_show() -> None:
    transcript = await walked(Sound())
    at_step = ["step", "feedback", "step_end"]
    assert questions(transcript) == ["start", "stage", *at_step, *at_step, "stage_end"]
    first, last = transcript.judged[0].request, transcript.judged[-1].request
    assert first["observation"]["location"]["current"] == {"behavior_iteration": 0}
    assert first["observation"]["location"]["goals"] == {"workflow": "a table"}
    told = next(each.request for each in transcript.judged if each.question == "feedback")
    assert told["behavior_feedback"]["actions_executed"] == told["behavior_feedback"]["actions_succeeded"] == 2
    assert told["behavior_feedback"]["errors"] == []
    assert told["observation"]["context"]["variables"] == {"table": PLAYED}
    assert last["observation"]["context"]["FSM"]["last_transition"] == "COMPLETE_STAGE -> stage_completed"
    steps = last["observation"]["location"]["progress"]["steps"]
    assert [item["step_id"] for item in steps["completed"]] == ["load", "look"]
    ids = [each.request["options"]["request_id"] for each in transcript.judged]
    assert len(set(ids)) == len(ids)


class WithoutPlan(Sound):
    """Says what it thinks of any step."""

    def judge(self, request: Json) -> Json:
        told = request.get("behavior_feedback") is not None
        return {"targetAchieved": told}

    def actions(self, request: Json) -> list[Any]:
        return [{"action": "add", "shot_type": "dialogue", "content": "thought about it"}]


async def test_without_a_plan_of_the_server_the_kit_goes_on_with_its_own() -> None:
    transcript = await walked(WithoutPlan())
    assert (transcript.plan_of, transcript.stopped) == ("kit", "")
    assert len(transcript.generated) == 2


class Deferring(Sound):
    """Two stages; the steps of the second come when it begins. Leaves the first one early."""

    def plan(self) -> Json:
        return {"stages": [*super().plan()["stages"], {"id": "more"}]}

    def check_position(self, request: Json) -> None:
        """It knows them all."""

    def judge(self, request: Json) -> Json:
        answer = super().judge(request)
        current = request["observation"]["location"]["current"]
        if self.state(request) == "stage_running" and current["stage_id"] == "more":
            steps = [{"id": "load", "expected_outputs": ["table"]}, {"id": "look"}]
            return {"targetAchieved": False, "context_update": {"stage_steps_update": {"updated_steps": steps}}}
        if self.state(request) == "step_completed" and current == {**current, "stage_id": "work", "step_id": "load"}:
            advice = {"strategy": "server_controlled", "next_stage_id": "more"}
            return {"targetAchieved": False, "transition": advice}
        return answer

    def achieved(self, request: Json) -> bool:
        return request.get("behavior_feedback") is not None


async def test_steps_that_come_later_and_places_that_the_server_names_are_followed() -> None:
    transcript = await walked(Deferring())
    assert transcript.stopped == ""
    places = [
        each.request["observation"]["location"]["current"] for each in transcript.judged if each.question == "step"
    ]
    assert [(each["stage_id"], each["step_id"]) for each in places] == [
        ("work", "load"),
        ("more", "load"),
        ("more", "look"),
    ]


class EndsPhases(Sound):
    def actions(self, request: Json) -> list[Any]:
        return [*super().actions(request), {"action": "new_section", "content": "Done"}, {"action": "end_phase"}]

    def achieved(self, request: Json) -> bool:
        return False


async def test_end_phase_completes_a_step_whatever_the_judgement() -> None:
    transcript = await walked(EndsPhases())
    assert transcript.stopped == ""
    told = next(each.request for each in transcript.judged if each.question == "feedback")
    assert told["behavior_feedback"]["sections_added"] == 1
