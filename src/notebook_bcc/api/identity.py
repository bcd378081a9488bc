"""What an id of the caller's own stands for: the same id with another order is refused, and told what differs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from notebook_bcc.api.options import RunOptions
from notebook_bcc.api.run_names import opened_by, typed
from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.folder import INPUTS_FOLDER, Input, RunFolder
from notebook_bcc.lifecycle.order import RunOrder
from notebook_bcc.playbook.folder import builtin_playbooks
from notebook_bcc.protocol.plain import canonical_bytes
from notebook_bcc.wiring import DEFAULT_PLAYBOOK

_DIGEST = "sha256:"


def identity_of(order: RunOrder, options: RunOptions, *, lang: str, digests: Mapping[str, str]) -> dict[str, str]:
    """What was ordered, by name. Limits, budgets, outputs, the view and our version do not count.

    `digests`, by `data` and `test`, replace those of files that were written for this call. Raises RunRefused.
    """
    data, test = _inputs(order, options)
    choice = order.models.choice if order.models is not None else None
    said = {
        "data": digests.get("data") or _digest(data),
        "test": digests.get("test") or _digest(test),
        "target": ", ".join(options.targets),
        "goal": options.goal,
        "task": options.task,
        "variables": (canonical_bytes(options.variables) or b"").decode() if options.variables else "",
        "time": options.time,
        "group": options.group,
        "kind": options.kind or "",
        "keep": ", ".join(options.kept),
        "sheet": options.sheet,
        "table": options.table,
        "playbook": _playbook(order, options),
        "planner": str(order.planner_spec),
        "actions": _digest([Input(order.actions, "actions")] if order.actions is not None else []),
        "model": f"{choice.model} {choice.planning_model}".strip() if choice is not None else "",
        "language": lang,
    }
    return {name: value for name, value in said.items() if value}


def check_identity(folder: RunFolder, before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raises RunRefused unless the run of this id was begun by the same order."""
    run_id = folder.run_id
    if not before:
        raise RunRefused(
            f"run {run_id!r} was begun without an id of its own, so it cannot be told whether this is the same order; "
            f"go on with {opened_by(folder)}.resume() or: nbcc resume {typed(folder)}"
        )
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if names:
        found = "; ".join(_difference(name, before.get(name, ""), now.get(name, "")) for name in names)
        raise RunRefused(f"run {run_id!r} was begun by another order: {found}. Choose another id, or delete that run")


def _difference(name: str, before: str, now: str) -> str:
    if before.startswith(_DIGEST) and now.startswith(_DIGEST):
        return f"{name} has other content now"
    texts = ["another file" if one.startswith(_DIGEST) else repr(one) if one else "none" for one in (before, now)]
    return f"{name} was {texts[0]} and is {texts[1]} now"


def _inputs(order: RunOrder, options: RunOptions) -> tuple[list[Input], list[Input]]:
    """The files of the data, a script first, and those of the test rows."""
    if order.script is not None:
        return [Input(order.script, ""), *order.inputs], []
    tests = Path(options.test).resolve() if options.test is not None else None
    is_test = [tests is not None and one.source.resolve().is_relative_to(tests) for one in order.inputs]
    pairs = list(zip(order.inputs, is_test, strict=True))
    return [one for one, test in pairs if not test], [one for one, test in pairs if test]


def _playbook(order: RunOrder, options: RunOptions) -> str:
    """The name of a built-in one, whose content goes with our version; of others what they say."""
    if order.playbook is None:
        return ""
    name = str(options.playbook) or DEFAULT_PLAYBOOK
    if name in builtin_playbooks():
        return name
    texts = hashlib.sha256()
    for file, text in sorted(order.playbook.texts.items()):
        texts.update(f"{file}\0{text}\0".encode())
    return f"{_DIGEST}{texts.hexdigest()}"


def _digest(files: Iterable[Input]) -> str:
    """Of the content: what one file is called, and where it lies, does not matter."""
    found = []
    for one in files:
        # Of a table that is a folder of files the names inside it count.
        name = "/".join(one.name.removeprefix(f"{INPUTS_FOLDER}/").split("/")[1:])
        try:
            with one.source.open("rb") as file:
                found.append(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}")
        except OSError as error:
            raise RunRefused(f"data file {str(one.source)!r} cannot be read: {error.strerror or error}") from error
    if not found:
        return ""
    return f"{_DIGEST}{hashlib.sha256(chr(10).join(sorted(found)).encode()).hexdigest()}"
