"""R of the POMDP: how far an action or a move brought the run towards its goal. Pure and deterministic.

The default adds up, with the weights of `GoalReward`:

* for each expected output that an action brings into being: its share of what the behavior, step and stage expect;
* for an action that failed: a penalty; for every action and every second it took: a small cost;
* for a completed behavior: a penalty for the share of expected outputs that are missing;
* for a completed step: a bonus if its target was achieved and nothing is missing, else a penalty;
* for the completed workflow: a bonus; for an error: a penalty.

Anything with the two methods of `Reward` can take its place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from notebook_bcc.engine.fold.tracking import unique
from notebook_bcc.engine.state import RunState
from notebook_bcc.journal.records import ActionCompleted
from notebook_bcc.protocol.vocabulary import Event


class Reward(Protocol):
    """What a user may put in place of the default."""

    def of_action(self, state: RunState, completed: ActionCompleted) -> float:
        """The reward for an action; `state` is the one before it."""
        ...

    def of_move(self, state: RunState, event: Event) -> float:
        """The reward for any other transition; `state` is the one before it."""
        ...


@dataclass(frozen=True, slots=True)
class GoalReward:
    """Reward from goal attainment, errors and cost."""

    output: float = 1.0
    error: float = -0.5
    action: float = -0.01
    second: float = -0.001
    missing: float = -0.5
    step: float = 1.0
    unachieved: float = -1.0
    workflow: float = 5.0
    failure: float = -2.0

    def of_action(self, state: RunState, completed: ActionCompleted) -> float:
        value = self.action + self.second * completed.seconds
        if not completed.success:
            value += self.error
        expected = unique(state.behaviors.outputs.expected, state.steps.outputs.expected, state.stages.outputs.expected)
        if expected and completed.variables:
            known = state.kernel.variables
            fresh = [name for name in expected if name in completed.variables and name not in known]
            value += self.output * len(fresh) / len(expected)
        return round(value, 6)

    def of_move(self, state: RunState, event: Event) -> float:
        match event:
            case Event.COMPLETE_BEHAVIOR:
                expected = state.behaviors.outputs.expected
                missing = [name for name in expected if name not in state.kernel.variables]
                return round(self.missing * len(missing) / len(expected), 6) if missing else 0.0
            case Event.COMPLETE_STEP:
                achieved = state.verdict is not None and state.verdict.response.target_achieved
                complete = all(name in state.kernel.variables for name in state.steps.outputs.expected)
                return self.step if achieved and complete else self.unachieved
            case Event.COMPLETE_WORKFLOW:
                return self.workflow
            case Event.FAIL:
                return self.failure
            case _:
                return 0.0
