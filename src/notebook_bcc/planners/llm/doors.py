"""Opens the door that a model's name asks for."""

from __future__ import annotations

from notebook_bcc.planners.llm.anthropic_door import AnthropicModel
from notebook_bcc.planners.llm.chat import ChatModel
from notebook_bcc.planners.llm.naming import Access
from notebook_bcc.planners.llm.openai_door import OpenAiModel


def open_model(access: Access) -> ChatModel:
    """The model, ready to be asked. Raises SettingsInvalid when its library is not installed."""
    return AnthropicModel(access) if access.model.vendor == "anthropic" else OpenAiModel(access)
