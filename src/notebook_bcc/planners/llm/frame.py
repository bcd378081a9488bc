"""What of a behavior is not the model's to write: titles, headings and changes of the plan come from the guide.

Without them a notebook would have no chapters, and what the playbook's rules have found would change nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from notebook_bcc.planners.interface import ActionData, Generated

_BEFORE: Final = frozenset({"update_title", "new_chapter", "new_section"})
_AFTER: Final = frozenset({"update_workflow", "update_stage_steps", "end_phase", "next_event"})


@dataclass(frozen=True, slots=True)
class Frame:
    """A guide's behavior, taken apart. `contents` are the texts and cells that a model writes in its place."""

    before: tuple[ActionData, ...] = ()
    contents: tuple[str, ...] = ()
    after: tuple[ActionData, ...] = ()

    @property
    def is_all(self) -> bool:
        """Whether there is nothing in it for a model to write."""
        return not self.contents and bool(self.before or self.after)


def frame_of(items: Iterable[Generated]) -> Frame:
    """The frame of what a guide would write."""
    actions = [item for item in items if isinstance(item, ActionData) and isinstance(item.data, dict)]
    contents = [item.data.get("content") for item in actions if item.data.get("action") == "add"]
    return Frame(
        before=_of_kind(actions, _BEFORE),
        contents=tuple(one for one in contents if isinstance(one, str)),
        after=_of_kind(actions, _AFTER),
    )


def is_heading(item: Generated) -> bool:
    """Whether it is a title, a chapter or a section."""
    return isinstance(item, ActionData) and isinstance(item.data, dict) and item.data.get("action") in _BEFORE


def _of_kind(actions: Sequence[ActionData], kinds: frozenset[str]) -> tuple[ActionData, ...]:
    return tuple(item for item in actions if item.data.get("action") in kinds)
