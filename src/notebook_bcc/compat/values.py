"""The dataclasses of the first document: plain, changeable, made by place or by keyword.

The protocol's own values are frozen. `SectionProgress` and `ActionMetadata` have twins there, and are turned into them
wherever they are handed to something of ours.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Self

from notebook_bcc.protocol import actions, observation


@dataclass
class WorkflowContext:
    """Where a client is in its plan, and in the actions of the behavior under way."""

    current_stage_id: str | None = None
    current_step_id: str | None = None
    current_behavior_id: str | None = None
    current_behavior_actions: list[Any] = field(default_factory=list)  # Any: actions as they came, or parsed
    current_action_index: int = 0


@dataclass
class SectionProgress:
    """Which sections of the text are written, and which are planned."""

    current_section_id: str | None = None
    current_section_number: int | None = None
    completed_sections: list[str] = field(default_factory=list)
    all: list[str] = field(default_factory=list)

    def to_message(self) -> observation.SectionProgress:
        """The frozen value of the protocol. Raises MessageInvalid naming a field of another type."""
        return observation.SectionProgress.parse(asdict(self))

    @classmethod
    def from_message(cls, message: observation.SectionProgress) -> Self:
        """What a context tells, to be changed."""
        return cls(
            message.current_section_id,
            message.current_section_number,
            list(message.completed_sections),
            list(message.all),
        )


@dataclass
class ActionMetadata:
    """What an action says about the cell it makes. First the fields in the order that 001 prints, then those of 003,
    then ours."""

    is_step: bool = False
    is_chapter: bool = False
    is_section: bool = False
    section_id: str | None = None
    section_number: int | None = None
    chapter_id: str | None = None
    chapter_number: int | None = None
    finished_thinking: bool = False
    thinking_text: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    once: bool = False

    def to_message(self) -> actions.ActionMetadata:
        """The frozen value of the protocol. Raises MessageInvalid naming a field of another type."""
        return actions.ActionMetadata.parse(asdict(self))

    @classmethod
    def from_message(cls, message: actions.ActionMetadata) -> Self:
        """What an action says, to be changed."""
        return cls(**{name: getattr(message, name) for name in cls.__dataclass_fields__})


def unwrapped(value: Any) -> Any:  # Any: what a caller wrote into a state or an action
    """The value with the dataclasses of this module as the dicts that go over the wire, however deep they are."""
    if isinstance(value, SectionProgress | ActionMetadata):
        return value.to_message().to_dict()
    if isinstance(value, dict):
        return {name: unwrapped(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [unwrapped(one) for one in value]
    return value
