"""Plays stages of the built-in playbook without an engine: renders their cells and executes them in a namespace.

What a rule or a template sees is what the kernel's probe would show: the limits of an observation hold here too. What
would be delivered of the notebook must do without its probes: the first stages, which are quick and have most of them,
run once more in a fresh namespace; of the others no name may be left that only a probe has made.
Every delivered cell of these is run twice in a row as well, as readers do: nothing may come out differently.
"""

from __future__ import annotations

import ast
import functools
import json
import linecache
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import notebook_bcc
from notebook_bcc.kernel.inside.probe import Values, encode
from notebook_bcc.lifecycle.saver import delivered_document
from notebook_bcc.notebook.cells import Cells
from notebook_bcc.notebook.document import Document
from notebook_bcc.planners.marked_yaml import Marked, load_marked
from notebook_bcc.playbook.book import Text
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.content import have_room
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.goals.asked import asked_of
from notebook_bcc.playbook.goals.tasks import TaskWords
from notebook_bcc.playbook.templates.environment import Kind, Template, Templates
from notebook_bcc.playbook.templates.filters import number_text
from notebook_bcc.playbook.texts import Places, TextReader
from notebook_bcc.protocol.cells import PROBE, REPLACES, Cell
from notebook_bcc.protocol.vocabulary import CellType

DSLC = Path(notebook_bcc.__file__).parent / "playbooks" / "dslc"
_QUICK = ("structure", "integrity")
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_NUMBER = re.compile(r"-?\d+(?:[,.]\d+)*")
_SHOWN = Values(max_items=200, max_chars=8_000)
# Any, throughout: variables and YAML are whatever they are.


@functools.cache
def _tasks() -> tuple[TaskWords, ...]:
    return load_playbook(open_playbook(str(DSLC))).tasks


def stage_file(stage: str) -> Path:
    return DSLC / stage / "stage.yaml"


def cell_file(name: str) -> Path:
    """The cell of this name, whichever stage has it."""
    (path,) = DSLC.glob(f"*/cells/{name}.py")
    return path


def text_file(name: str, lang: str) -> Path:
    (path,) = DSLC.glob(f"*/text/{name}.{lang}.md")
    return path


@dataclass(frozen=True)
class Told:
    """A focus or goal as it would be told: `place` is stage/step.number of the behavior."""

    place: str
    name: str
    text: str
    is_plain: bool

    def check(self, names: Mapping[str, Any]) -> None:
        """It names a column of the table and a number, and every number in it is one of the kernel's."""
        tables = [names[each] for each in ("raw", "df_clean", "train", "X") if each in names]
        columns = {_plain(str(name)) for table in tables if hasattr(table, "columns") for name in table.columns}
        spans = {_plain(found[2]) for found in _SPAN.finditer(self.text)}
        assert columns.intersection(spans), f"no column: {self}"
        numbers = _NUMBER.findall(_SPAN.sub("", self.text))
        assert numbers, f"no number: {self}"
        known = {number_text(value) for each in names.values() for value in _numbers_in(each)}
        assert set(numbers) <= known, f"not the kernel's: {set(numbers) - known} in {self}"


def _plain(name: str) -> str:
    return " ".join(name.split())


def _numbers_in(value: Any, depth: int = 0) -> Iterator[int | float]:
    """The numbers that an observation shows of a variable: those of scalars and of small containers."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        yield value
    elif isinstance(value, dict | list | tuple) and len(value) <= 200 and depth < 3:
        for each in value.values() if isinstance(value, dict) else value:
            yield from _numbers_in(each, depth + 1)


@dataclass
class Rehearsal:
    """A namespace, what the run was given, and the notebook that comes of it."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    lang: str = "en"
    goal: str = ""
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    cells: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    replans: list[str] = field(default_factory=list)
    shown: list[Any] = field(default_factory=list)
    drawn: list[str] = field(default_factory=list)
    document: list[Cell] = field(default_factory=list)
    reader: dict[str, Any] = field(default_factory=dict)
    conditions: dict[str, Template] = field(default_factory=dict)
    told: list[Told] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    artifacts: dict[str, str | None] = field(default_factory=dict)
    modified: list[str] = field(default_factory=list)
    read: int = 0

    @property
    def delivered(self) -> list[str]:
        """The code cells that a reader would get."""
        return [cell.source for cell in self._kept() if cell.type is CellType.CODE]

    @property
    def prose(self) -> str:
        return "\n\n".join(self.texts)

    def facts(self) -> dict[str, Any]:
        """What the planner would be told now."""
        visible = {
            name: json.loads(encode(_SHOWN.show(value)))
            for name, value in self.names.items()
            if not name.startswith("_") and not callable(value) and type(value).__name__ != "module"
        }
        told = {"v": visible, "inputs": dict(self.inputs), "lang": self.lang, "goal": self.goal, "effects": []}
        done = {"steps_done": list(self.steps), "stages_done": []}
        told["asked"] = asked_of(self.inputs, visible, _tasks(), lang=self.lang).plain()
        return {**told, **done, "errors": [], "missing": [], "has_model": False}

    def play(self, stage: str) -> None:
        """All steps of a stage whose rules hold when their turn comes."""
        path = stage_file(stage)
        plan = load_marked(path.read_bytes(), source=path.name).value
        self.conditions = {
            name: Templates().read(rule, kind=Kind.RULE, at=path.name)
            for name, rule in plan.get("conditions", {}).items()
        }
        if not self._holds(plan, path):
            return
        self.reader = self.reader or _copies(self.names)
        for step in plan["steps"]:
            if self._holds(step, path):
                self._step(step, path, plan)
        self._run_again() if stage in _QUICK else self._check_names()

    def _check_names(self) -> None:
        """A promise of the delivered cells, read and not run: fits take their time."""
        kept = {cell.id for cell in self._kept()}
        code = [cell for cell in self.document if cell.type is CellType.CODE]
        probed = {name for cell in code if cell.id not in kept for name in _names(cell.source, ast.Store)}
        made = {name for cell in code if cell.id in kept for name in _names(cell.source, ast.Store)}
        wanted = {name for cell in code if cell.id in kept for name in _names(cell.source, ast.Load)}
        assert not (wanted & probed) - made, "only a probe has made what a delivered cell needs"

    def _run_again(self) -> None:
        """What is delivered of this stage, with nothing but what was delivered before it."""
        again, twice = Rehearsal(names=self.reader), Rehearsal(names=_copies(self.reader))
        new = {cell.id for cell in self.document[self.read :]}
        for cell in self._kept():
            if cell.id in new and cell.type is CellType.CODE:
                again.run(cell.source)
                twice.run(cell.source)
                twice.run(cell.source)
        assert twice.facts()["v"] == again.facts()["v"], "a cell that is run twice does something else"
        self.read = len(self.document)

    def _kept(self) -> Cells:
        cells = Cells()
        for cell in self.document:
            cells = cells.appended(cell)
        return delivered_document(Document(cells=cells)).cells

    def _step(self, step: Mapping[str, Any], path: Path, stage: Mapping[str, Any]) -> None:
        for number, behavior in enumerate(step["behaviors"]):
            if self._holds(behavior, path):
                place = f"{path.parent.name}/{step['id']}.{number}"
                self._tell(place, path, stage=stage, step=step, behavior=behavior)
                self._behavior(behavior, path)
        missing = [name for name in step.get("expected_outputs", []) if name not in self.names]
        assert not missing, f"step {step['id']} did not make {missing}"
        self.steps.append(step["id"])

    def _behavior(self, behavior: Mapping[str, Any], path: Path) -> None:
        # One behavior is one answer: all of it is rendered before any of it runs.
        facts = self.facts()
        answer: list[str] = []
        first = len(self.document)
        for action in [each for each in behavior["actions"] if self._holds(each, path)]:
            if "cell" in action:
                source = self._render(cell_file(action["cell"]), Kind.CELL, facts)
                if action.get("joined") and self._is_open(first) and have_room(answer[-1], source):
                    answer[-1] = self._join(source, action)
                else:
                    answer.append(source)
                    self._note(CellType.CODE, source, action)
            elif "say" in action:
                text = self._render(text_file(action["say"], self.lang), Kind.PROSE, facts)
                self.texts.append(text)
                self._note(CellType.MARKDOWN, text, action)
            elif "finding" in action:
                items = [None]
                if "each" in action:
                    items = Templates().read(action["each"], kind=Kind.RULE, at=path.name).value(facts)
                for item in items:
                    text = self._render(text_file(action["finding"], self.lang), Kind.PROSE, {**facts, "item": item})
                    self.texts.append(text)
                    self.findings.append(text)
                    self._note(CellType.MARKDOWN, text, action)
            elif "think" in action:
                self.thoughts.append(self._text(action["think"], path).render(facts))
                assert self._text(action["label"], path).render(facts)
            elif "text" in action:
                source = action["text"][self.lang]
                self.texts.append(Templates().read(source, kind=Kind.PROSE, at=path.name).render(facts))
                self._note(CellType.MARKDOWN, self.texts[-1], action)
            elif "replan" in action:
                because = Templates().read(action["because"][self.lang], kind=Kind.PLAIN, at=path.name)
                self.replans.append(f"{action['replan']}: {because.render(facts)}")
        for source in answer:
            self.cells.append(source)
            self.run(source)
        missing = [name for name in behavior.get("expected", []) if name not in self.names]
        assert not missing, f"behavior {behavior['goal']!r} did not make {missing}"
        for rule in behavior.get("verify", []):
            assert self._is_true(rule["that"], path), rule["else"]
        for promotion in behavior.get("promotions", []):
            assert promotion["keep_name"], "delivered cells go on using the name"
            assert promotion["variable"] in self.names
            self.artifacts[promotion["artifact_id"]] = promotion.get("parent")
        self._produced(behavior.get("outputs_produced", {}), path)

    def _is_open(self, first: int) -> bool:
        """Whether the last cell is one of this behavior (the first of which has this number) that others may join."""
        last = self.document[-1] if len(self.document) > first else None
        return last is not None and last.type is CellType.CODE and PROBE not in last.metadata["extra"]

    def _join(self, source: str, action: Mapping[str, Any]) -> str:
        last = self.document.pop()
        whole = f"{last.source.rstrip()}\n\n{source.lstrip()}"
        replaced = [*last.metadata["extra"].get(REPLACES, []), *action.get(REPLACES, [])]
        self._note(CellType.CODE, whole, {**action, REPLACES: replaced} if replaced else action)
        return whole

    def _tell(self, place: str, path: Path, **parts: Mapping[str, Any]) -> None:
        """What the planner would tell of this place, with the facts of now."""
        facts = self.facts()
        texts = [(f"{level} focus", part["focus"]) for level, part in parts.items() if "focus" in part]
        for name, part in [*texts, ("behavior goal", parts["behavior"].get("goal", ""))]:
            text = self._text(part, path)
            said, plain = text.render(facts), text.plainest.render(facts)
            self.told.append(Told(place, name, said, is_plain=said == plain))
            if said != plain:
                self.told[-1].check(self.names)
        for level in ("stage", "step"):
            self._text(parts[level].get("todo", ""), path).render(facts)

    def _produced(self, part: Mapping[str, Any], path: Path) -> None:
        facts = self.facts()
        for name in ("validation", "findings"):
            assert self._text(part.get(name, ""), path).render(facts) or name not in part
        if "modified_features" in part:
            rule = Templates().read(part["modified_features"], kind=Kind.RULE, at=path.name)
            changed = rule.value(facts)
            assert isinstance(changed, list)
            self.modified += changed

    def _text(self, part: Any, path: Path) -> Text:
        problems: list[tuple[str, str]] = []
        reader = TextReader(Templates(), ("en", "zh"), problems)
        part = tuple(part) if isinstance(part, list) else part
        text = reader.texts(part, Places(path.name, Marked(None, {}), problems), "")
        assert not problems
        return text

    def _note(self, kind: CellType, source: str, action: Mapping[str, Any]) -> None:
        extra = {name: action[name] for name in (PROBE, REPLACES) if name in action}
        count = 1 if kind is CellType.CODE else None
        number = len(self.document)
        self.document.append(Cell(f"cell-{number}", kind, source, execution_count=count, metadata={"extra": extra}))

    def run(self, source: str) -> None:
        """One cell, as a kernel would."""
        # As in a kernel, each cell has a file name of its own under which its source is found.
        file = f"<cell {hash(source)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, file, "exec"), self.names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), file, "eval"), self.names)
            self.shown.append(value)
            if hasattr(value, "_repr_html_"):
                value._repr_html_()
        if "plt" in self.names:
            self._look_at_figures(self.names["plt"])

    def _look_at_figures(self, plt: Any) -> None:
        figures = [plt.figure(number) for number in plt.get_fignums()]
        for figure in figures:
            figure.canvas.draw()
            _check_sight(figure)
            texts = figure.findobj(lambda artist: hasattr(artist, "get_text") and artist.get_visible())
            self.drawn += [text.get_text() for text in texts if text.get_text()]
        plt.close("all")  # as the inline backend does after each cell

    def _holds(self, part: Mapping[str, Any], path: Path) -> bool:
        rule = part.get("when")
        return rule is None or self._is_true(rule, path)

    def _is_true(self, rule: str, path: Path) -> bool:
        read = Templates().read(rule, kind=Kind.RULE, at=path.name, conditions=self.conditions)
        return read.holds(self.facts())

    def written(self, path: Path) -> str:
        """The cell of this file as it would be written now."""
        return self._render(path, Kind.CELL, self.facts())

    def rendered(self, path: Path) -> str:
        """The text of this file as it would read now."""
        return self._render(path, Kind.PROSE, self.facts())

    def _render(self, path: Path, kind: Kind, facts: Mapping[str, Any]) -> str:
        return Templates().read(path.read_text(encoding="utf-8"), kind=kind, at=path.name).render(facts)


def _check_sight(figure: Any) -> None:
    """No legend lies over bars or over other axes, and no grid runs through a matrix."""
    for ax in figure.axes:
        if legend := ax.get_legend():
            bars = [bar.get_window_extent() for container in ax.containers for bar in getattr(container, "patches", ())]
            assert not any(legend.get_window_extent().overlaps(bar) for bar in bars), "a legend covers bars"
        assert not any(legend.get_window_extent().overlaps(ax.get_window_extent()) for legend in figure.legends)
        lines = [*ax.get_xgridlines(), *ax.get_ygridlines()] if ax.images else []
        assert not any(line.get_visible() for line in lines), "a grid runs through a matrix"


def _names(source: str, use: type[ast.Load | ast.Store]) -> set[str]:
    tree = ast.parse(source)
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, use)}
    if use is ast.Store:
        defined = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef))
        imports = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
        found |= {node.name for node in defined}
        found |= {(one.asname or one.name).partition(".")[0] for node in imports for one in node.names}
        found |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return found


def _copies(names: Mapping[str, Any]) -> dict[str, Any]:
    """The same values, tables copied: cells change them."""
    return {name: value.copy() if hasattr(value, "columns") else value for name, value in names.items()}


@contextmanager
def at_work_in(folder: Path) -> Iterator[Path]:
    """The working directory of a kernel."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        (folder / "figures").mkdir(exist_ok=True)
        yield folder
    finally:
        os.chdir(before)
