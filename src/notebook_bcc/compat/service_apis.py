"""`planning_api` and `generating_api`: the two halves of a planning service, as the fourth document calls them."""

from __future__ import annotations

from typing import Any

from notebook_bcc.compat.api_client import Actions, ApiClient, Feedback, State


class PlanningAPI:
    """Asks for judgements, each once, by a client that stays its owner's."""

    def __init__(self, client: ApiClient | None = None) -> None:
        """Without a client: one for the service where `Config` says."""
        self._client = client if client is not None else ApiClient()

    def check_step_goal(self, observation: State) -> dict[str, Any]:
        """Whether the goal is reached, before anything is generated. Raises what `send_feedback_sync` raises."""
        return self._client.send_feedback_sync(None, None, observation)

    def call(self, observation: State) -> dict[str, Any]:
        """The same, under the name that the retry loop uses."""
        return self.check_step_goal(observation)

    def send_feedback(self, observation: State, behavior_feedback: Feedback) -> dict[str, Any]:
        """What follows the behavior that ended. Raises what `send_feedback_sync` raises."""
        return self._client.send_feedback_sync(None, None, observation, behavior_feedback)


class GeneratingAPI:
    """Asks for the actions of one behavior, by a client that stays its owner's."""

    def __init__(self, client: ApiClient | None = None) -> None:
        """Without a client: one for the service where `Config` says."""
        self._client = client if client is not None else ApiClient()

    def get_actions(self, observation: State) -> Actions:
        """All of them, in order. Raises what `fetch_behavior_actions_sync` raises."""
        return self._client.fetch_behavior_actions_sync(None, None, observation)
