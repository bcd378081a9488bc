"""A playbook of the old, flat layout in the layout by stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.book import Playbook, PlaybookStage, templates_of_action
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import FRONT, RESERVED, SHARED, STAGE, PlaybookFiles


def by_stage(files: PlaybookFiles) -> PlaybookFiles:
    """The same playbook with a folder for each stage. Raises MessageInvalid where it is flat and has mistakes."""
    if not files.flat:
        return files
    names = new_names(load_playbook(files))
    return PlaybookFiles(files.source, {names[name]: text for name, text in files.texts.items()})


def new_names(playbook: Playbook) -> Mapping[str, str]:
    """The name of each file of a flat playbook in the layout by stages. A file that several stages use is shared."""
    names = {FRONT: FRONT}
    for stage in playbook.stages:
        if stage.id in RESERVED:
            raise MessageInvalid(what=stage.file, problems=[("", f"a stage cannot be called {stage.id!r}; rename it")])
        names[stage.file] = f"{stage.id}/{STAGE}"
        for file in _content(stage):
            folder = SHARED if file in names and names[file] != f"{stage.id}/{file}" else stage.id
            names[file] = f"{folder}/{file}"
    return names


def _content(stage: PlaybookStage) -> Iterator[str]:
    behaviors = [behavior for step in stage.steps for behavior in step.behaviors]
    for action in (action for each in behaviors for action in (*each.actions, *each.on_error)):
        yield from (template.at for template in templates_of_action(action) if template.at != stage.file)
