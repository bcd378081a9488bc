"""Values that are too large for a record: the run writes them to `values/NAME.json`, its answer holds them whole."""

from __future__ import annotations

import json
from typing import Any, Final

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.lifecycle.folder import RunFolder
from notebook_bcc.protocol.deliverables import ANSWER_FILE, AnswerItem, DeliverableKind, RunAnswer

# Bytes that a value may have within `answer.json`; of a larger one it names the file.
LARGEST_VALUE: Final = 1_000_000


def with_whole_values(answer: RunAnswer, folder: RunFolder) -> RunAnswer:
    """The answer with the values that the run has written to files."""
    return answer.model_copy(update={"deliverables": tuple(_whole(one, folder) for one in answer.deliverables)})


def read_answer(folder: RunFolder) -> RunAnswer | None:
    """What the run answers; None where its plan has named nothing, or it was not delivered."""
    try:
        return RunAnswer.parse((folder.path / ANSWER_FILE).read_bytes())
    except (OSError, MessageInvalid):
        return None


def _whole(item: AnswerItem, folder: RunFolder) -> AnswerItem:
    name = f"values/{item.name}.json"
    if item.kind is not DeliverableKind.VALUE or not item.produced or not folder.has_product(name):
        return item
    path = folder.work / name
    if path.stat().st_size > LARGEST_VALUE:
        return item.model_copy(update={"file": name})
    try:
        value: Any = json.loads(path.read_bytes())  # Any: JSON
    except (OSError, ValueError, RecursionError):
        return item
    return item.model_copy(update={"value": value})
