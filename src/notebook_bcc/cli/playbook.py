"""`nbcc playbook`: list the playbooks, show one, check one, or begin one of your own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.codes import Exit
from notebook_bcc.errors import MessageInvalid, SettingsInvalid
from notebook_bcc.playbook.book import Playbook, PlaybookBehavior, PlaybookStage, PlaybookStep, Text
from notebook_bcc.playbook.check import check_playbook, load_playbook
from notebook_bcc.playbook.folder import builtin_playbooks, copy_playbook, open_playbook
from notebook_bcc.playbook.layout import by_stage
from notebook_bcc.playbook.templates.environment import Template
from notebook_bcc.views.narration import safe


class PlaybookSubcommand(StrEnum):
    """What can be done with a playbook."""

    LIST = "list"
    SHOW = "show"
    CHECK = "check"
    NEW = "new"


async def playbook_command(
    subcommand: Annotated[
        PlaybookSubcommand, typer.Argument(help="list, show, check or new.", metavar="list|show|check|new")
    ],
    name: Annotated[
        str, typer.Argument(help="A folder, or the name of a built-in playbook; for `new` the folder to make.")
    ] = "",
    source: Annotated[
        str, typer.Option("--from", help="For `new`: the playbook to copy.", metavar="NAME|DIR")
    ] = "minimal",
    lang: Annotated[str, typer.Option("--lang", help="For `show`: the language of the texts.")] = "",
) -> int:
    """Look at playbooks, or begin one of your own.

    `list` names the built-in ones, `show` prints stages, steps, rules and promises, `check` names every mistake with
    file and line and ends with 2 if there is one, `new` copies a playbook into a folder to edit, with a folder for each
    stage.
    """
    if subcommand is PlaybookSubcommand.LIST:
        return _list()
    if not name:
        raise SettingsInvalid(
            f"which playbook? nbcc playbook {subcommand} NAME; built in: {', '.join(builtin_playbooks())}"
        )
    match subcommand:
        case PlaybookSubcommand.SHOW:
            return _show(name, lang)
        case PlaybookSubcommand.CHECK:
            return _check(name)
        case PlaybookSubcommand.NEW:
            return _new(name, source)


def _list() -> int:
    for name in builtin_playbooks():
        try:
            playbook = load_playbook(open_playbook(name))
            print(f"{name:<12} {_said(playbook.goal, '')}")
        except MessageInvalid as error:
            print(f"{name:<12} it has {len(error.problems)} mistakes: nbcc playbook check {name}")
    return Exit.COMPLETED


def _check(name: str) -> int:
    files = open_playbook(name)
    problems = check_playbook(files)
    for place, problem in problems:
        print(safe(f"{place}: {problem}"))
    if files.flat:
        print(
            "nbcc: this playbook has the old layout; the new form is STAGE/stage.yaml with STAGE/cells and STAGE/text. "
            f"To write it: nbcc playbook new FOLDER --from {name}",
            file=sys.stderr,
        )
    if problems:
        print(f"nbcc: {name} has {len(problems)} mistakes", file=sys.stderr)
        return Exit.USAGE
    print(f"{name}: {len(files.texts)} files, no mistakes")
    return Exit.COMPLETED


def _new(name: str, source: str) -> int:
    written = copy_playbook(by_stage(open_playbook(source)), Path(name))
    print(f"{name}: {len(written)} files, copied from {source}. Edit them, then: nbcc playbook check {name}")
    return Exit.COMPLETED


def _show(name: str, lang: str) -> int:
    playbook = load_playbook(open_playbook(name))
    if lang and lang not in playbook.languages:
        raise SettingsInvalid(f"{name} has no texts in {lang!r}; it has: {', '.join(playbook.languages)}")
    for line in _lines(playbook, lang):
        print(safe(line))
    return Exit.COMPLETED


def _lines(playbook: Playbook, lang: str) -> Iterator[str]:
    yield f"{_said(playbook.name, lang)}: {_said(playbook.goal, lang)}"
    yield f"languages: {', '.join(playbook.languages)}; inputs: {', '.join(playbook.inputs)}"
    for number, stage in enumerate(playbook.stages, start=1):
        yield ""
        yield from _stage(number, stage, lang)


def _stage(number: int, stage: PlaybookStage, lang: str) -> Iterator[str]:
    yield f"{number} {stage.id}: {_said(stage.goal, lang) or _said(stage.name, lang)}"
    for name, condition in stage.conditions.items():
        yield f"  {name} means {condition.source}"
    yield from _rule("  when", stage.when)
    if stage.expected_outputs:
        yield f"  promises {', '.join(stage.expected_outputs)}"
    for step in stage.steps:
        yield f"  {step.id}: {_said(step.goal, lang)}"
        yield from _step(step, lang)


def _step(step: PlaybookStep, lang: str) -> Iterator[str]:
    yield from _rule("    when", step.when)
    if step.seconds is not None and step.seconds.source != "0":
        yield f"    takes about {step.seconds.source} s"
    for number, behavior in enumerate(step.behaviors, start=1):
        yield f"    {number} {_said(behavior.goal, lang) or '-'}"
        yield from _behavior(behavior, lang)


def _behavior(behavior: PlaybookBehavior, lang: str) -> Iterator[str]:
    for rule in behavior.when:
        yield from _rule("      when", rule)
    if behavior.ask is not None:
        yield f"      asks for {behavior.ask.input}: {_said(behavior.ask.text, lang)}"
    for name, value in (
        ("does", [_action_label(action.head, action.text, action.given) for action in behavior.actions]),
        ("promises", behavior.expected),
        ("promotes", [f"{each.promotion.variable} to {each.promotion.artifact_id}" for each in behavior.promotions]),
        ("verifies", [rule.that.source.strip() for rule in behavior.verify]),
        ("on error", [_action_label(action.head, action.text, action.given) for action in behavior.on_error]),
    ):
        if value:
            yield f"      {name} {', '.join(value)}"


def _action_label(head: str, text: Text, given: object) -> str:
    files = {each.at for each in text.versions.values() if not each.at.endswith(".yaml")}
    if files:
        return sorted(files)[0]
    return f"{head} {given}" if isinstance(given, str) else head


def _rule(word: str, rule: Template | None) -> Iterator[str]:
    if rule is not None:
        yield f"{word} {rule.source.strip()}"


def _said(text: Text, lang: str) -> str:
    """The text as it is written, in this language or the first: a template stays one."""
    versions = text.plainest.versions
    found = versions.get(lang) or next(iter(versions.values()), None)
    return " ".join(found.source.split()) if found is not None else ""
