"""The actions of a behavior: read from the file, and written out when their turn comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.planners.script.shorthand import LABEL, StepsOf, expand, unknown
from notebook_bcc.planners.script.values import ScriptedAction
from notebook_bcc.playbook.book import Action, Ask, Text, templates_of_action
from notebook_bcc.playbook.facts import traced_facts
from notebook_bcc.playbook.folder import SHARED, PlaybookFiles
from notebook_bcc.playbook.templates.environment import Facts, Kind, Template
from notebook_bcc.playbook.templates.grammar import ITEM
from notebook_bcc.playbook.templates.placing import Written
from notebook_bcc.playbook.templates.tracing import source_of, untraced
from notebook_bcc.playbook.texts import Places, TextReader
from notebook_bcc.protocol.cells import BARS, NUMBERS, PROBE

# The words whose value is a text of this playbook, and what the text becomes.
_TEXTS: Mapping[str, Kind] = {
    "text": Kind.PROSE,
    "observe": Kind.PROSE,
    "code": Kind.CELL,
    "chapter": Kind.PROSE,
    "section": Kind.PROSE,
    "title": Kind.PLAIN,
    "think": Kind.PLAIN,
}
# The words whose text becomes a cell that says where its numbers came from.
_NOTED = ("text", "observe")
# The words whose value names a file, and the short form that its text makes.
_FILES: Mapping[str, str] = {"cell": "code", "say": "text", "finding": "observe"}
_OURS = (*_FILES, "replan", "ask")
_SCOPES = ("stage", "workflow")
_EXPRESSIONS = ("when", "each", BARS)
_JOINED = "joined"

# Any, throughout: as the file has it; each form checks what it uses.
Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ActionGroup:
    """Actions up to a question, or a question alone, or what comes after the last one."""

    actions: tuple[Action, ...] = ()
    ask: Ask | None = None
    when: Template | None = None


@dataclass(frozen=True, slots=True)
class PlaybookActionReader:
    """Reads the actions of one stage."""

    texts: TextReader
    files: PlaybookFiles
    places: Places
    steps: StepsOf
    stage_id: str

    def groups(self, items: Sequence[Any], path: str) -> list[ActionGroup]:
        """The actions, cut where something is asked. The last group never asks."""
        groups: list[ActionGroup] = []
        waiting: list[Action] = []
        for index, item in enumerate(items):
            at = f"{path}.{index}"
            if isinstance(item, dict) and "ask" in item:
                groups += [ActionGroup(tuple(waiting))] if waiting else []
                groups += self._ask(item, at)
                waiting = []
            else:
                waiting += self._action(item, at)
        return [*groups, ActionGroup(tuple(waiting))]

    def plain(self, items: Sequence[Any], path: str) -> tuple[Action, ...]:
        """Actions among which nothing is asked."""
        for index, item in enumerate(items):
            if isinstance(item, dict) and "ask" in item:
                self.places.say(f"{path}.{index}.ask", "a question cannot be asked here; ask it in a behavior")
        return tuple(action for index, item in enumerate(items) for action in self._action(item, f"{path}.{index}"))

    def _ask(self, item: Item, path: str) -> list[ActionGroup]:
        known = ("ask", "input", "options", "when")
        for name in item:
            if name not in known:
                self.places.say(f"{path}.{name}", unknown(name, known))
        answer = item.get("input")
        if not isinstance(answer, str) or not answer.isidentifier():
            self.places.say(path, "`input: NAME` says which input the answer becomes")
            return []
        if not self._is_text(item["ask"], f"{path}.ask"):
            return []
        options = item.get("options")
        if options is not None and not isinstance(options, str):
            self.places.say(f"{path}.options", 'the options are an expression, such as "v.column_names"')
            options = None
        ask = Ask(
            text=self.texts.text(item["ask"], self.places, f"{path}.ask", Kind.PROSE),
            input=answer,
            options=self.texts.rule(options, self.places, f"{path}.options"),
        )
        return [ActionGroup(ask=ask, when=self._when(item, path))]

    def _action(self, item: Any, path: str) -> list[Action]:
        if not isinstance(item, dict):
            self.places.say(path, "an action is a mapping such as `text: ...`")
            return []
        if "repairs" in item:
            self.places.say(f"{path}.repairs", "a playbook has no repairs; use `on_error` of the behavior")
            return []
        rest = {name: value for name, value in item.items() if name not in (*_EXPRESSIONS, _JOINED)}
        head = next((name for name in _OURS if name in rest), None)
        read = self._replan if head == "replan" else self._file if head in _FILES else self._short
        each, bars = self._expression(item, "each", path), self._expression(item, BARS, path)
        joined = self._joined(item, path)
        made = [replace(one, each=each, bars=bars, joined=joined) for one in read(rest, path, self._when(item, path))]
        self._check_item(made, path)
        return made

    def _joined(self, item: Item, path: str) -> bool:
        joined = item.get(_JOINED, False)
        if not isinstance(joined, bool):
            self.places.say(f"{path}.{_JOINED}", "true or false is needed here")
        elif joined and (PROBE in item or not {"cell", "code"} & item.keys()):
            self.places.say(f"{path}.{_JOINED}", "only a cell that is no probe can go into the cell before it")
        return joined is True

    def _expression(self, item: Item, name: str, path: str) -> Template | None:
        value = item.get(name)
        if value is not None and not isinstance(value, str):
            self.places.say(f"{path}.{name}", 'an expression in quotes is needed here, such as "v.findings"')
            return None
        return self.texts.rule(value, self.places, f"{path}.{name}")

    def _check_item(self, made: Sequence[Action], path: str) -> None:
        for action in made:
            reads = {fact for template in templates_of_action(action) for fact in template.reads.facts}
            if ITEM in reads and action.each is None:
                self.places.say(path, "there is no `item` here; write `each: EXPRESSION` beside the action")

    def _short(self, item: Item, path: str, when: Template | None) -> list[Action]:
        head = next((name for name in _TEXTS if name in item), None)
        if head is None:
            name = next(iter(item), "")
            if not self._expands(item, path):
                return []
            options = {key: value for key, value in item.items() if key != name}
            return [self._made(name, path, given=item[name], options=options, when=when)]
        texts = [head, *([LABEL] if head == "think" and LABEL in item else [])]
        if not all(self._is_text(item[name], f"{path}.{name}") for name in texts):
            return []
        if not self._expands({**item, **dict.fromkeys(texts, "x")}, path):
            return []
        options = {key: value for key, value in item.items() if key not in (head, LABEL)}
        text = self.texts.text(item[head], self.places, f"{path}.{head}", _TEXTS[head])
        label = self.texts.text(item[LABEL], self.places, f"{path}.{LABEL}") if LABEL in item else Text()
        return [replace(self._made(head, path, text=text, options=options, when=when), label=label)]

    def _file(self, item: Item, path: str, when: Template | None) -> list[Action]:
        head = next(name for name in _FILES if name in item)
        name = item[head]
        if not isinstance(name, str) or not name:
            self.places.say(f"{path}.{head}", "the name of a file is needed here")
            return []
        options = {key: value for key, value in item.items() if key != head}
        if not self._expands({_FILES[head]: "x", **options}, path):
            return []
        return [self._made(_FILES[head], path, text=self._of_file(head, name, path), options=options, when=when)]

    def _of_file(self, head: str, name: str, path: str) -> Text:
        kind = Kind.CELL if head == "cell" else Kind.PROSE
        names = (
            {self.texts.languages[0]: f"cells/{name}.py"}
            if head == "cell"
            else {each: f"text/{name}.{each}.md" for each in self.texts.languages}
        )
        read: dict[str, Template] = {}
        located = self.files.locate(self.stage_id, names.values())
        for (language, short), file in zip(names.items(), located, strict=True):
            if file not in self.files.texts:
                self.places.say(f"{path}.{head}", self._no_file(file, short))
            elif (template := self.texts.template(self.files.texts[file], kind, file)) is not None:
                read[language] = template
        return Text(read)

    def _no_file(self, file: str, short: str) -> str:
        other = next(iter(self.files.of_stages(short)), None)
        if other is None:
            return f"there is no file {file}"
        return f"there is no file {file}; {other} belongs to another stage: move it to {SHARED}/{short}"

    def _replan(self, item: Item, path: str, when: Template | None) -> list[Action]:
        for name in item:
            if name not in ("replan", "because"):
                self.places.say(f"{path}.{name}", unknown(name, ("replan", "because", "when")))
        if item["replan"] not in _SCOPES:
            self.places.say(f"{path}.replan", f"use one of: {', '.join(_SCOPES)}")
            return []
        because = Text()
        if "because" in item and self._is_text(item["because"], f"{path}.because"):
            because = self.texts.text(item["because"], self.places, f"{path}.because", Kind.PROSE)
        return [self._made("replan", path, given=item["replan"], when=when, because=because)]

    def _expands(self, item: Item, path: str) -> bool:
        try:
            expand([item], steps=self.steps, stage_id=self.stage_id)
        except MessageInvalid as error:
            for where, problem in error.problems:
                rest = where.partition(".")[2]
                words = f"{problem}, {', '.join(_OURS)}" if "use one of" in problem else problem
                self.places.say(f"{path}.{rest}" if rest else path, words)
            return False
        return True

    def _is_text(self, value: Any, path: str) -> bool:
        good = isinstance(value, str) or (
            isinstance(value, dict) and bool(value) and all(isinstance(each, str) for each in value.values())
        )
        if not good:
            self.places.say(path, "a text is needed here, or one for each language")
        return good

    def _when(self, item: Item, path: str) -> Template | None:
        rule = item.get("when")
        if rule is not None and not isinstance(rule, str | bool):
            self.places.say(f"{path}.when", "a rule is an expression in quotes")
            return None
        return self.texts.rule(rule, self.places, f"{path}.when")

    def _made(
        self,
        head: str,
        path: str,
        *,
        text: Text = Text(),  # noqa: B008  (a frozen value)
        given: Any = None,
        options: Mapping[str, Any] | None = None,
        when: Template | None = None,
        because: Text = Text(),  # noqa: B008
    ) -> Action:
        line = self.places.line(path)
        return Action(head, self.places.file, line, text, given, options or {}, when, because)


def write_out(action: Action, facts: Facts, *, steps: StepsOf, stage_id: str) -> Sequence[ScriptedAction]:
    """The actions that this one stands for, with what is known now. A text that comes out empty is left away.

    The numbers of a text are noted beside it, with the variables that they came from.
    """
    facts = traced_facts(facts) if action.head in _NOTED else facts
    if action.each is None:
        return _written(action, facts, steps, stage_id)
    items = action.each.value(facts)
    if not isinstance(items, list | tuple):
        return ()
    return [one for item in items for one in _written(action, {**facts, ITEM: item}, steps, stage_id)]


def _written(action: Action, facts: Facts, steps: StepsOf, stage_id: str) -> Sequence[ScriptedAction]:
    if not action.text:
        return expand([{action.head: action.given, **action.options}], steps=steps, stage_id=stage_id).actions
    written = action.text.written(facts)
    if not written.text.strip():
        return ()
    notes, drawn = notes_of(written), {}
    if action.bars is not None:
        bars = action.bars.value(facts) or []
        notes += [{"text": BARS, "variable": source_of(bars)}] if source_of(bars) else []
        drawn = {BARS: untraced(bars)}
    said = {LABEL: action.label.render(facts)} if action.label else {}
    noted = {NUMBERS: notes} if notes else {}
    return expand(
        [{action.head: written.text, **action.options, **drawn, **said, **noted}], steps=steps, stage_id=stage_id
    ).actions


def notes_of(written: Written) -> list[dict[str, Any]]:
    """Where the numbers of a text came from, as the metadata of its cell says it."""
    return [
        {"text": text, "variable": source, "start": start, "end": end} for text, source, start, end in written.notes
    ]
