"""Which models plan a run and what they may be told: the value that a run keeps, so that resume asks the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, ValidationError

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.llm.limits import Fallback, Share
from notebook_bcc.llm.providers.names import ModelName, parse_model
from notebook_bcc.llm.providers.prices import Prices, read_prices
from notebook_bcc.protocol.problems import problems_of

NO_MODEL: Final = "none"
"""In place of a model for planning: the playbook judges alone."""


class LlmChoice(BaseModel):
    """The models by the names that people write, and how far they are trusted. Holds no key."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    model: str
    planning_model: str = ""
    share: Share = "schema"
    fallback: Fallback = "playbook"
    images: bool = False
    """Whether figures go along as pictures; then all values may be told as well."""

    @property
    def generating(self) -> ModelName:
        """The model that writes. Raises SettingsInvalid."""
        return parse_model(self.model)

    @property
    def planning(self) -> ModelName | None:
        """The model that judges; None: the playbook alone. If nothing was said, the one that writes, unless it is on
        this machine: small models judge badly, and their calls take long.

        Raises SettingsInvalid.
        """
        if self.planning_model == NO_MODEL or (not self.planning_model and self.generating.is_local):
            return None
        return parse_model(self.planning_model or self.model)

    @property
    def names(self) -> tuple[ModelName, ...]:
        """Every model once."""
        found = (self.generating, self.planning)
        return tuple(dict.fromkeys(one for one in found if one is not None))


@dataclass(frozen=True, slots=True)
class ChoiceFiles:
    """What a run keeps of a choice. `prices` is a table of the user's own, `prompts` a folder of theirs."""

    choice: LlmChoice
    prices: Path | None = None
    prompts: Path | None = None

    def table(self) -> Prices:
        """The prices that count. Raises SettingsInvalid."""
        return read_prices(self.prices)


def read_choice(path: Path) -> LlmChoice:
    """The choice in a run's file. Raises MessageInvalid."""
    what = f"the run's choice of models {path}"
    try:
        return LlmChoice.model_validate_json(path.read_bytes())
    except OSError as error:
        problem = f"it cannot be read: {error.strerror or error}"
        raise MessageInvalid(what=what, problems=[("", problem)]) from error
    except ValidationError as error:
        raise MessageInvalid(what=what, problems=problems_of(error)) from error
