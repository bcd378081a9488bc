"""A planner that answers anything the protocol allows, and much that it does not: the same for the same question."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from typing import Any

from notebook_bcc.errors import PlannerUnreachable, StreamBroken
from notebook_bcc.planners.interface import ActionData, Generated, StreamWarning
from notebook_bcc.protocol.messages import PlanningResponse, Request

PLAN: dict[str, Any] = {
    "name": "chaos",
    "stages": [
        {"id": "one", "steps": [{"id": "a", "expected_outputs": ["x"]}, {"id": "b"}]},
        {"id": "two", "steps": []},
        {"id": "three", "steps": [{"id": "c"}, {"id": "d", "expected_outputs": ["never"]}]},
    ],
}
SOURCES = ["x = 1", "y = 2\nprint(y)", "1/0", "print('ä 漢')", "z = [1, 2]", "del y", "df_working = {'a': 1}", "x += 1"]
STEPS = [{"id": "a"}, {"id": "b"}, {"id": "late"}, {"id": "c"}]

# How often a question in this state is answered with "achieved".
ACHIEVED = {"behavior_completed": 0.6}


class ChaosPlanner:
    """Every answer is drawn from the seed and the request's id, so a repeated question gets the same answer.

    `fickle` makes generated answers depend on the attempt as well, as a language model's do.
    """

    name = "chaos"

    def __init__(self, seed: int, *, fickle: bool = False) -> None:
        self._seed = seed
        self._fickle = fickle

    async def plan(self, request: Request) -> PlanningResponse:
        dice, attempt = self._dice(request)
        if attempt <= dice.choice([0] * 30 + [1, 2, 9]):
            raise PlannerUnreachable(planner=self.name, reason="chaos", retry_after=0.0)
        update: dict[str, Any] = {}
        state = request.observation.context.fsm
        asked_in = state.state if state is not None else "idle"
        if asked_in == "idle" and dice.random() < 0.98:
            update["workflow_update"] = PLAN
        if dice.random() < 0.5:
            update["stage_steps_update"] = {"stage_id": "two", "updated_steps": dice.sample(STEPS, 2)}
        if dice.random() < 0.05:
            update["stage_steps_update"] = {"updated_steps": dice.sample(STEPS, dice.randrange(4))}
        if dice.random() < 0.05:
            update["workflow_update"] = {"stages": dice.sample(PLAN["stages"], 2)}
        if dice.random() < 0.2:
            update["variables"] = {"told": dice.randrange(9)}
            update["todo_list_update"] = {"operation": dice.choice(["add", "remove", "replace"]), "items": ["t"]}
            update["progress_update"] = {"level": dice.choice(["stages", "steps", "behaviors"]), "focus": "look"}
        if dice.random() < 0.1:
            update["promotions"] = [{"variable": dice.choice(["df_working", "x", "no"]), "artifact_id": "p@1"}]
        advice: dict[str, Any] = {"continue_behaviors": dice.random() < 0.3}
        if dice.random() < 0.05:
            advice |= {"next_stage_id": dice.choice(["one", "three", "nowhere"]), "strategy": "server_controlled"}
        return PlanningResponse.parse(
            {
                "targetAchieved": dice.random() < ACHIEVED.get(asked_in, 0.1),
                "transition": advice,
                "context_update": update,
                "context_filter": _filter(dice) if dice.random() < 0.4 else None,
            }
        )

    async def generate(self, request: Request, *, fallback: bool = False) -> AsyncIterator[Generated]:
        dice, attempt = self._dice(request)
        if attempt <= dice.choice([0] * 20 + [1, 9]) and not (fallback and dice.random() < 0.5):
            raise PlannerUnreachable(planner=self.name, reason="chaos", retry_after=0.0)
        if self._fickle:
            dice = random.Random(f"{self._seed}/{request.options.request_id}/{attempt}")
        breaks = dice.random() < 0.1
        actions = [action for _ in range(dice.randrange(6)) for action in _actions(dice)]
        for sent, action in enumerate(actions):
            if breaks and sent == 2:
                raise StreamBroken(planner=self.name, received=sent, reason="chaos")
            yield StreamWarning("a bad line") if dice.random() < 0.05 else ActionData(action)

    async def repair(self, request: Request) -> str | None:
        dice, _ = self._dice(request)
        return dice.choice([None, "x = 3", "1/0", "y = 2\nprint(y)"])

    async def close(self) -> None:
        """There is nothing to release."""

    def _dice(self, request: Request) -> tuple[random.Random, int]:
        return random.Random(f"{self._seed}/{request.options.request_id}"), request.options.attempt or 1


def _filter(dice: random.Random) -> dict[str, Any]:
    return {
        "variables_to_include": dice.sample(["x", "y", "ghost"], 2),
        "variables_to_summarize": {"z": dice.choice(["shape_only", "head_only", "last_2_only", "describe_only"])},
        "effects_config": {"current_limit": dice.randrange(3), "patterns": {"include": [dice.choice(["a", "("])]}},
        "focus_to_include": ["behaviors"],
        "outputs_tracking": {
            "expected_variables": dice.sample(["x", "df_working", "never"], 1),
            "promotions": dice.choice([[], [{"variable": "df_working", "artifact_id": "df_done@v1"}]]),
        },
    }


def _actions(dice: random.Random) -> list[Any]:
    run = {"action": "exec", "codecell_id": "lastAddedCellId", "auto_debug": dice.random() < 0.2}
    code = {"action": "add", "content": dice.choice(SOURCES), "shot_type": "action"}
    if dice.random() < 0.6:
        return [code, run]
    return [
        dice.choice(
            [
                run,
                {"action": "add", "content": "text", "shot_type": "dialogue"},
                {
                    "action": "add",
                    "content": "seen",
                    "shot_type": "observation",
                    "store_id": dice.choice(["s1", "s 2"]),
                },
                {"action": "new_chapter", "content": "Chapter"},
                {"action": "new_section", "content": "Section"},
                {"action": "is_thinking", "thinking_text": "hm"},
                {"action": "finish_thinking"},
                {"action": "update_title", "title": "Title"},
                {"action": "update_workflow", "updated_workflow": PLAN},
                {"action": "update_stage_steps", "stage_id": "three", "updated_steps": dice.sample(STEPS, 2)},
                {"action": "end_phase"},
                {"action": "next_event", "event_type": dice.choice(["COMPLETE_BEHAVIOR", "START_STEP", "nonsense"])},
                {"action": "unheard_of", "anything": 1},
                {"action": "exec"},
                {"content": "no type"},
                "not an object",
            ]
        )
    ]
