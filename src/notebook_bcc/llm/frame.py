"""What of a behavior is not the model's to write: titles, headings and changes of the plan come from the base planner.

Without them a notebook would have no chapters, and what the playbook's rules have found would change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from notebook_bcc.planners.interface import ActionData, Generated

_SAVED: Final = re.compile(r"\.savefig\(\s*[\"']([^\"']+)[\"']")
_BEFORE: Final = frozenset({"update_title", "new_chapter", "new_section"})
_AFTER: Final = frozenset({"update_workflow", "update_stage_steps", "end_phase", "next_event"})


@dataclass(frozen=True, slots=True)
class Frame:
    """A base planner's behavior, taken apart. `contents` are the texts and cells that a model writes in its place;
    `cells` are those of them that are code."""

    before: tuple[ActionData, ...] = ()
    contents: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    after: tuple[ActionData, ...] = ()

    @property
    def is_prose(self) -> bool:
        """Whether only texts are written."""
        return bool(self.contents) and not self.cells

    @property
    def files(self) -> tuple[str, ...]:
        """The figures that its cells save."""
        return tuple(name for cell in self.cells for name in _SAVED.findall(cell))

    @property
    def draws(self) -> bool:
        """Whether its cells show a figure."""
        return any("plt.show(" in cell or ".savefig(" in cell for cell in self.cells)

    @property
    def is_all(self) -> bool:
        """Whether there is nothing in it for a model to write."""
        return not self.contents and bool(self.before or self.after)


def frame_of(items: Iterable[Generated]) -> Frame:
    """The frame of what a base planner would write."""
    actions = [item for item in items if isinstance(item, ActionData) and isinstance(item.data, dict)]
    added = [item.data for item in actions if item.data.get("action") == "add"]
    written = [one for one in added if isinstance(one.get("content"), str)]
    return Frame(
        before=_of_kind(actions, _BEFORE),
        contents=tuple(one["content"] for one in written),
        cells=tuple(one["content"] for one in written if one.get("shot_type") == "action"),
        after=_of_kind(actions, _AFTER),
    )


def is_heading(item: Generated) -> bool:
    """Whether it is a title, a chapter or a section."""
    return isinstance(item, ActionData) and isinstance(item.data, dict) and item.data.get("action") in _BEFORE


def _of_kind(actions: Sequence[ActionData], kinds: frozenset[str]) -> tuple[ActionData, ...]:
    return tuple(item for item in actions if item.data.get("action") in kinds)
