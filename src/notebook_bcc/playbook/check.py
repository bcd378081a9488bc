"""What is wrong with a playbook, before anything of it runs: every mistake with file, line and remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.playbook.assigned import assigned_names, assigns_by_template
from notebook_bcc.playbook.book import (
    Action,
    Playbook,
    PlaybookBehavior,
    PlaybookStage,
    PlaybookStep,
    Text,
    templates_of,
    templates_of_action,
    templates_of_produced,
)
from notebook_bcc.playbook.content import templates_of_content
from notebook_bcc.playbook.facts import INPUTS
from notebook_bcc.playbook.folder import FRONT, SHARED, PlaybookFiles
from notebook_bcc.playbook.needed import brought_by, cells_of
from notebook_bcc.playbook.reading import read_playbook
from notebook_bcc.playbook.templates.environment import Kind, Template
from notebook_bcc.protocol.cells import PROBE, replaced_probes
from notebook_bcc.protocol.deliverables import DeliverableKind

Problem = tuple[str, str]

_VARIABLES = frozenset({DeliverableKind.VALUE, DeliverableKind.TABLE})


def load_playbook(files: PlaybookFiles) -> Playbook:
    """The playbook in these files. Raises MessageInvalid with everything that is wrong."""
    reading = read_playbook(files)
    problems = reading.problems or (list(_problems(reading.playbook, files)) if reading.playbook is not None else [])
    if problems or reading.playbook is None:
        raise MessageInvalid(what=files.source, problems=problems)
    return reading.playbook


def check_playbook(files: PlaybookFiles) -> list[Problem]:
    """Every problem as (file:line, text), in the order of the files."""
    reading = read_playbook(files)
    found = list(reading.problems)
    if reading.playbook is not None:
        # A part that could not be read would be missed by what follows: only whole playbooks are looked at further.
        found += _problems(reading.playbook, files) if not found else _unused(reading.playbook, files, found)
    order = [FRONT, *files.texts]
    return sorted(dict.fromkeys(found), key=lambda each: _position(each[0], order))


def _problems(playbook: Playbook, files: PlaybookFiles) -> Iterator[Problem]:
    yield from _unused(playbook, files, [])
    for stage in playbook.stages:
        yield from _goals(stage)
        yield from _idle_conditions(stage)
    yield from _promises(playbook)
    yield from _probes(playbook)
    yield from _Flow.of(playbook).problems()


def _unused(playbook: Playbook, files: PlaybookFiles, found: Iterable[Problem]) -> Iterator[Problem]:
    """Files that nothing names. One that is wrong was named by something."""
    named = {template.at for template in _all_templates(playbook)} | {place.partition(":")[0] for place, _ in found}
    named |= {FRONT, *(stage.file for stage in playbook.stages)}
    for name in files.texts:
        if name not in named and (files.is_stage_file(name) or not found):
            yield name, f"nothing uses this file; {_remedy(name, files)}"


def _remedy(name: str, files: PlaybookFiles) -> str:
    if files.is_stage_file(name):
        return "name it under `stages`"
    if not files.flat and name.count("/") == 1:
        return f"move it to the folder of its stage, or to {SHARED}/"
    return "use it or remove it"


def _goals(stage: PlaybookStage) -> Iterator[Problem]:
    texts = [("stage", stage.goal, stage.name, stage.description)]
    texts += [(f"step {step.id!r}", step.goal.plainest, step.name, step.description) for step in stage.steps]
    for step in stage.steps:
        if not step.goal:
            yield f"{stage.file}:{step.line}", f"step {step.id!r} has no goal; say what it is for"
    for what, *parts in texts:
        for template in templates_of(*parts):
            if template.reads.names or template.reads.whole:
                yield (
                    f"{template.at}:{template.line}",
                    f"name, goal and description of a {what} stand in the plan before anything is known of `v`; use "
                    "`focus`, or a list of goals for the step, the last one plain",
                )


def _idle_conditions(stage: PlaybookStage) -> Iterator[Problem]:
    used = {name for rule in _rules_of(stage) for name in rule.conditions}
    for name, condition in stage.conditions.items():
        if name not in used:
            yield f"{stage.file}:{condition.line}", f"no rule uses the condition {name!r}; use it or remove it"


def _rules_of(stage: PlaybookStage) -> Iterator[Template]:
    rules: list[Template | None] = [stage.when]
    for step in stage.steps:
        rules += [step.when, step.seconds]
        for behavior in step.behaviors:
            rules += [*behavior.when, *(rule.that for rule in behavior.verify)]
            rules += [behavior.ask.options] if behavior.ask is not None else []
            rules += [action.when for action in (*behavior.actions, *behavior.on_error)]
    yield from (rule for rule in rules if rule is not None)


def _promises(playbook: Playbook) -> Iterator[Problem]:
    for stage in playbook.stages:
        for step in stage.steps:
            made: set[str] = set()
            anything = False
            for behavior in step.behaviors:
                sources = [each.source for each in cells_of(behavior)]
                anything = anything or any(assigns_by_template(source) for source in sources)
                made |= {name for source in sources for name in assigned_names(source)}
                made |= {each.promotion.variable_name for each in behavior.promotions}
                missing = [] if anything else [name for name in behavior.expected if name not in made]
                for name in missing:
                    yield (
                        f"{behavior.file}:{behavior.line}",
                        f"{name!r} is promised, and no cell of the step assigns it",
                    )


def _probes(playbook: Playbook) -> Iterator[Problem]:
    behaviors = [each for stage in playbook.stages for step in stage.steps for each in step.behaviors]
    actions = [action for behavior in behaviors for action in (*behavior.actions, *behavior.on_error)]
    asked = {action.options[PROBE] for action in actions if PROBE in action.options}
    replaced = {name for action in actions for name in replaced_probes(action.options)}
    for action in actions:
        place = f"{action.file}:{action.line}"
        if action.options.get(PROBE, "") not in {*replaced, ""}:
            yield place, f"nothing replaces the probe {action.options[PROBE]!r}; a reader would get it like any cell"
        for name in replaced_probes(action.options):
            if name not in asked:
                yield place, f"there is no probe {name!r} to replace"


@dataclass(frozen=True, slots=True)
class _Flow:
    """What exists when: a rule may speak of anything that comes to be, a template only of what came before it."""

    playbook: Playbook
    ever: frozenset[str]

    @classmethod
    def of(cls, playbook: Playbook) -> _Flow:
        behaviors = (each for stage in playbook.stages for step in stage.steps for each in step.behaviors)
        return cls(playbook, frozenset({INPUTS, *(name for each in behaviors for name in brought_by(each))}))

    def problems(self) -> Iterator[Problem]:
        before: set[str] = {INPUTS}
        yield from self._rules(each.when for each in self.playbook.deliverables)
        for each in self.playbook.deliverables:
            if each.kind in _VARIABLES and each.name not in self.ever:
                yield (
                    f"{FRONT}:{each.line}",
                    f"{each.name!r} is to be delivered, and no behavior promises or assigns it",
                )
        for stage in self.playbook.stages:
            yield from self._rules([*stage.conditions.values(), stage.when])
            yield from self._check_texts((stage.focus, stage.todo), before, _made_in(*stage.steps))
            for step in stage.steps:
                yield from self._rules([step.when, step.seconds])
                yield from self._check_texts((step.focus, step.goal, step.todo), before, _made_in(step))
                yield from self._texts(templates_of(step.done), before)
                for behavior in step.behaviors:
                    yield from self._behavior(stage, behavior, before)
                    before |= brought_by(behavior)

    def _behavior(self, stage: PlaybookStage, behavior: PlaybookBehavior, before: set[str]) -> Iterator[Problem]:
        during = before | brought_by(behavior)
        asked = list(templates_of_content(self.playbook, stage, behavior, recovering=False))
        yield from self._rules([*behavior.when, *(rule.that for rule in behavior.verify)])
        yield from self._rules(each for each in asked if each.kind is Kind.RULE)
        yield from self._texts(templates_of(behavior.goal, behavior.focus), before)
        yield from self._texts((each for each in asked if each.kind is not Kind.RULE), before)
        yield from self._texts(templates_of(*(rule.otherwise for rule in behavior.verify)), during)
        yield from self._texts(templates_of(*(each.description for each in behavior.promotions)), before)
        for template in templates_of_produced(behavior.produced):
            yield from self._unknown(template, self.ever if template.kind is Kind.RULE else during)
        recovery = [each for action in behavior.on_error for each in templates_of_action(action)]
        yield from self._rules(each for each in recovery if each.kind is Kind.RULE)
        yield from self._texts((each for each in recovery if each.kind is not Kind.RULE), during)

    def _rules(self, rules: Iterable[Template | None]) -> Iterator[Problem]:
        for rule in rules:
            yield from self._unknown(rule, self.ever) if rule is not None else ()

    def _texts(self, templates: Iterable[Template], known: set[str]) -> Iterator[Problem]:
        for template in templates:
            yield from self._unknown(template, known)

    def _check_texts(self, texts: Iterable[Text], before: set[str], during: set[str]) -> Iterator[Problem]:
        """Texts that are said again when more is known: only the plain one has to do with what came before."""
        for text in texts:
            yield from self._texts(templates_of(text), before | during if text.plainer is not None else before)

    def _unknown(self, template: Template, known: set[str] | frozenset[str]) -> Iterator[Problem]:
        for name, line in template.reads.variables:
            if name in known:
                continue
            place = f"{template.at}:{template.line + line - 1}"
            if name in self.ever:
                yield place, f"v.{name} is made later, or by the same behavior: put this text into the next behavior"
            else:
                close = difflib.get_close_matches(name, self.ever, 1)
                hint = f"did you mean v.{close[0]}?" if close else "promise it with `expected`"
                yield place, f"v.{name}: no behavior promises or assigns it; {hint}"


def _made_in(*steps: PlaybookStep) -> set[str]:
    return {name for step in steps for behavior in step.behaviors for name in brought_by(behavior)}


def _all_templates(playbook: Playbook) -> Iterator[Template]:
    for stage in playbook.stages:
        for step in stage.steps:
            for behavior in step.behaviors:
                actions: tuple[Action, ...] = (*behavior.actions, *behavior.on_error)
                for action in actions:
                    yield from templates_of_action(action)


def _position(place: str, order: list[str]) -> tuple[int, int]:
    file, _, line = place.partition(":")
    return (order.index(file) if file in order else len(order), int(line) if line.isdigit() else 0)
