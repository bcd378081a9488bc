"""Makes the provider that a model's name asks for."""

from __future__ import annotations

from importlib.util import find_spec

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.chat import ChatModel
from notebook_bcc.llm.providers.anthropic import AnthropicModel
from notebook_bcc.llm.providers.names import Access, ModelName
from notebook_bcc.llm.providers.openai import OpenAiModel


def open_model(access: Access) -> ChatModel:
    """The model, ready to be asked. Raises SettingsInvalid when its library is not installed."""
    return AnthropicModel(access) if access.model.vendor == "anthropic" else OpenAiModel(access)


def check_library(model: ModelName) -> None:
    """Raises SettingsInvalid unless the library for this model is there. Loads nothing."""
    if find_spec("anthropic" if model.vendor == "anthropic" else "openai") is None:
        raise SettingsInvalid(f"model {model} needs: pip install 'notebook-bcc[llm]'")
