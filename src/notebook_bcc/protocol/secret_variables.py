"""Which variables of the environment hold secrets: we read them, and no cell gets to see them.

A key or token that is not in this list cannot be read by the program, so that none is forgotten where it is kept away.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Vendor = Literal["openai", "anthropic", "url"]
"""Whose model is asked; `url`: any endpoint that answers as OpenAI does."""

MODEL_KEYS: Final[Mapping[Vendor, str]] = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "url": "NBCC_LLM_KEY",
}
"""The key of each vendor. That of one vendor is never sent to another, nor to a URL."""

TOKENS: Final[Mapping[str, str]] = {"dslc_token": "DSLC_TOKEN", "backend_token": "BACKEND_TOKEN"}
"""The tokens among the settings."""

# What the libraries of vendors would read by themselves.
_OF_LIBRARIES: Final = ("ANTHROPIC_AUTH_TOKEN",)

SECRET_VARIABLES: Final = frozenset({*MODEL_KEYS.values(), *TOKENS.values(), *_OF_LIBRARIES})
