"""What models cost, as far as it is known: a table that comes with the package, or a file of the user's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.protocol.problems import problems_of

# A dated version of a model costs what the model costs; any other ending is another model.
_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest|0)\Z")
_MILLION = 1_000_000


class Price(BaseModel):
    """US dollars for a million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Dollars."""
        return (input_tokens * self.input + output_tokens * self.output) / _MILLION


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str
    note: str = ""
    models: dict[str, Price]


@dataclass(frozen=True, slots=True)
class Prices:
    """The prices that are known, and when they were."""

    as_of: str
    note: str
    models: Mapping[str, Price]

    def of(self, model: str) -> Price | None:
        """The price of a model by its full name (`openai:NAME`, `URL#NAME`); None is unknown, which is not nothing."""
        return self.models.get(model) or self.models.get(_DATED.sub("", model))


def read_prices(path: Path | None = None) -> Prices:
    """The table in a file of the user's, else the one of the package. Raises SettingsInvalid."""
    try:
        text = path.read_text(encoding="utf-8") if path is not None else _bundled()
        table = _Table.model_validate_json(text)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"price table {path} cannot be read: {error}") from error
    except ValidationError as error:
        where, problem = problems_of(error)[0]
        raise SettingsInvalid(f"price table {path}: {where} {problem}") from error
    return Prices(as_of=table.as_of, note=table.note, models=table.models)


def _bundled() -> str:
    return (resources.files("notebook_bcc.llm") / "prices.json").read_text(encoding="utf-8")
