"""Which names the cells and texts of a playbook rely on, read from their templates: an estimate that errs towards too
many. What a language model writes between them must leave these alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from notebook_bcc.planners.code_names import CodeNames, code_names
from notebook_bcc.playbook.assigned import assigned_names
from notebook_bcc.playbook.book import Playbook, PlaybookBehavior, templates_of, templates_of_action
from notebook_bcc.playbook.templates.environment import Kind, Template

# What a template puts in is a value or a name that only the run knows.
_SLOT: Final = re.compile(r"\{\{(?:(?!\{\{).)*?\}\}|\{%(?:(?!\{%).)*?%\}", re.DOTALL)
_UNKNOWN: Final = "_"
_MAGIC: Final = re.compile(r"^%.*$", re.MULTILINE)
_WORD: Final = re.compile(r"[^\W\d]\w*")


def brought_by(behavior: PlaybookBehavior) -> set[str]:
    """What a behavior may leave in the kernel: what it promises, and what its cells assign."""
    names = {*behavior.expected, *(each.promotion.variable_name for each in behavior.promotions)}
    return names.union(*(assigned_names(cell.source) for cell in cells_of(behavior)))


def cells_of(behavior: PlaybookBehavior) -> Iterator[Template]:
    """The templates of its cells, those for a failure included."""
    for action in (*behavior.actions, *behavior.on_error):
        yield from (template for template in templates_of(action.text) if template.kind is Kind.CELL)


def needed_names(playbook: Playbook) -> frozenset[str]:
    """Every name that some part of the playbook promises, or reads without having made it itself."""
    names: set[str] = set()
    for behavior in (each for stage in playbook.stages for step in stage.steps for each in step.behaviors):
        names.update(behavior.expected, behavior.validate, (each.promotion.variable for each in behavior.promotions))
        for action in (*behavior.actions, *behavior.on_error):
            names.update(*(template.reads.names for template in templates_of_action(action)))
        for cell in cells_of(behavior):
            names |= names_in_cell(cell.source).read
    return frozenset(names - {_UNKNOWN})


def names_in_cell(source: str) -> CodeNames:
    """The names in the template of a cell, every branch of it taken; of one that is no Python every word."""
    text = _MAGIC.sub("", _SLOT.sub(_UNKNOWN, source))
    try:
        return code_names(text)
    except SyntaxError:
        return CodeNames(read=frozenset(_WORD.findall(text)), made=assigned_names(text))
