"""How far a model is let go, and what happens when it is not up to its task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Share = Literal["values", "schema", "none"]
Fallback = Literal["playbook", "stop"]


@dataclass(frozen=True, slots=True)
class LlmLimits:
    """How far the model is let go. `tries` is how often it may attempt one behavior before the base planner does it."""

    tries: int = 2
    repairs: int = 2
    patience: int = 3
    prompt_tokens: int = 4_000
    answer_tokens: int = 1_500
    text_tokens: int = 400
    judge_tokens: int = 200

    @classmethod
    def small(cls) -> LlmLimits:
        """For a model on this machine: what it reads and writes takes seconds, and long texts confuse it."""
        return cls(tries=1, repairs=1, prompt_tokens=1_600, answer_tokens=450, text_tokens=160, judge_tokens=120)
