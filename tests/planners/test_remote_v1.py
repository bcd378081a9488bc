"""A server of the first dialect: what it answers beside actions counts, and GET is enough."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from engine.play import SKIP, Played, play, workflow
from notebook_bcc.errors import PlannerAnswerInvalid
from notebook_bcc.journal.records import BehaviorJudged, PlanUpdateDecided
from notebook_bcc.planners.remote.planner import RemotePlanner
from notebook_bcc.protocol.messages import Options, Request
from notebook_bcc.protocol.observation import Current, Location, Observation, Progress, SectionProgress
from notebook_bcc.protocol.vocabulary import State

pytestmark = pytest.mark.anyio

CELL = {"type": "execute_code", "content": "x = 1"}
SECTION = {
    "type": "add_content",
    "content_type": "text",
    "content": "## Section 2",
    "metadata": {"is_section": True, "section_id": "assessment", "section_number": 2},
}
BESIDE: dict[str, Any] = {
    "behavior": {"id": "behavior_004", "iteration": 4, "target": "Section 2 is done"},
    "transition": {"strategy": "server_controlled", "next_stage_id": None, "continue_behaviors": False},
    "context_update": {
        "variables": {"data_shape": "(2930, 82)"},
        "todo_list_update": {"operation": "replace", "items": ["Section 3"]},
        "section_progress": {"current_section_id": "definition", "current_section_number": 3},
    },
    "metadata": {"estimated_remaining_behaviors": 2},
}


def _whole(answer: dict[str, Any]) -> httpx2.Response:
    body = httpx2.ByteStream(json.dumps(answer).encode())
    return httpx2.Response(
        200, stream=body, headers={"content-type": "application/json", "transfer-encoding": "chunked"}
    )


class FirstServer:
    """Answers `/v1/actions` with these objects, one after the other, and `/v1/reflection` with an own word or none."""

    def __init__(
        self, *answers: dict[str, Any], reflection: dict[str, Any], methods: tuple[str, ...] = ("POST",)
    ) -> None:
        self.answers = list(answers)
        self.reflection = reflection
        self.methods = methods
        self.heard: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.heard.append(request)
        if request.url.path == "/v1/reflection":
            asked = json.loads(request.content)
            judged = "behavior_feedback" in asked
            return _whole(self.reflection if judged else {"targetAchieved": False})
        if request.method not in self.methods:
            return httpx2.Response(405, headers={"allow": ", ".join(self.methods)})
        return _whole(self.answers.pop(0))

    async def play(self) -> Played:
        planner = RemotePlanner("http://127.0.0.1", dialect="v1", transport=httpx2.MockTransport(self))
        try:
            return await play(planner, policies=SKIP, start={"workflow": workflow("step")})
        finally:
            await planner.close()


async def test_what_comes_beside_the_actions_is_applied() -> None:
    server = FirstServer({**BESIDE, "actions": [SECTION, CELL]}, reflection={"targetAchieved": True})
    played = await server.play()
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    context = played.state.planner_context
    assert context.variables == {"data_shape": "(2930, 82)"}
    assert context.todo == ("Section 3",)
    assert context.estimated_remaining == 2
    assert isinstance(context.section_progress, SectionProgress)
    assert context.section_progress.current_section_id == "definition", "the planner's word comes after its actions"
    assert played.state.behaviors.completed[0].goal == "Section 2 is done"
    assert played.state.behaviors.completed[0].behavior_id == "behavior_001", "its id is a name to show"
    assert len(played.records(BehaviorJudged)) == 1


@pytest.mark.parametrize(
    ("transition", "reflection", "behaviors"),
    [
        pytest.param({"target_achieved": True}, {"metadata": {}}, 1, id="achieved, and nothing said after it"),
        pytest.param({"continue_behaviors": True}, {"metadata": {}}, 2, id="goes on, and nothing said after it"),
        pytest.param({"continue_behaviors": True}, {"targetAchieved": True}, 1, id="the word after the actions wins"),
    ],
)
async def test_the_transition_beside_actions_counts_where_the_reflection_is_silent(
    transition: dict[str, Any], reflection: dict[str, Any], behaviors: int
) -> None:
    first = {"actions": [CELL], "transition": transition}
    server = FirstServer(first, {"actions": [], "transition": {"target_achieved": True}}, reflection=reflection)
    played = await server.play()
    assert played.state.fsm is State.WORKFLOW_COMPLETED
    assert len(played.planner.generated) == behaviors
    assert played.state.steps.completed[0].achieved is True


async def test_a_plan_beside_actions_is_a_proposal_that_is_not_lost() -> None:
    plan = {"stages": [{"id": "stage", "steps": [{"id": "step"}]}, {"id": "more", "steps": [{"id": "x"}]}]}
    first = {"actions": [CELL], "transition": {"workflow_update": plan}}
    server = FirstServer(first, {"actions": [CELL]}, reflection={"targetAchieved": True})
    played = await server.play()
    assert [one.confirmed for one in played.records(PlanUpdateDecided)] == [True]
    assert [item.key for item in played.state.stages.completed] == ["stage", "more"]


async def test_where_post_is_refused_the_client_asks_by_get_with_a_body_and_a_query() -> None:
    server = FirstServer({"actions": [CELL]}, reflection={"targetAchieved": True}, methods=("GET",))
    played = await server.play()
    assert played.state.kernel.variables == {"x": 1}
    post, get = [one for one in server.heard if one.url.path == "/v1/actions"]
    assert (post.method, get.method) == ("POST", "GET")
    assert get.content == post.content
    assert dict(get.url.params) == {
        "current_stage_id": "stage",
        "current_step_id": "step",
        "behavior_id": "behavior_001",
        "behavior_iteration": "1",
    }


async def test_a_request_that_is_too_long_for_a_get_says_so() -> None:
    server = FirstServer(reflection={}, methods=("GET",))
    planner = RemotePlanner("http://127.0.0.1", dialect="v1", transport=httpx2.MockTransport(server))
    location = Location(current=Current(stage_id="s", step_id="t", behavior_id="b" * 2_000_000), progress=Progress())
    request = Request(observation=Observation(location=location), options=Options(request_id="r"))
    with pytest.raises(PlannerAnswerInvalid, match=r"GET /v1/actions: it takes no POST, .* too long for a GET"):
        await anext(planner.generate(request))
    await planner.close()


async def test_a_malformed_judgement_beside_actions_is_not_used_and_neither_are_they() -> None:
    server = FirstServer(*[{"actions": [CELL], "transition": 5}] * 4, reflection={})
    played = await server.play()
    assert played.state.fsm is State.ERROR
    assert played.state.kernel.variables == {}
