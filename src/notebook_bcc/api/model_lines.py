"""Which models a run will ask, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from notebook_bcc.llm.limits import Share
from notebook_bcc.views.words import Words

if TYPE_CHECKING:
    from notebook_bcc.llm.choice import ChoiceFiles
    from notebook_bcc.views.narration import Tone

_SHARED: Final[Mapping[Share, str]] = {"values": "share_values", "schema": "share_schema", "none": "share_none"}


def model_lines(files: ChoiceFiles, words: Words) -> list[tuple[str, Tone]]:
    """Which models will be asked, where, and what they may be told: to be said before anything is."""
    said: list[tuple[str, Tone]] = []
    for model in files.choice.names:
        key = "model_local" if model.is_local else "model_away"
        tone: Tone = "info" if model.is_local else "warning"
        said.append((words(key, model=model, address=model.address), tone))
    return [*said, (words(_SHARED[files.choice.share]), "info")]
