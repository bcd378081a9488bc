"""Plays stages of the built-in playbook without an engine: renders their cells and executes them in a namespace.

What a rule or a template sees is what the kernel's probe would show: the limits of an observation hold here too.
`%%writefile` and `%run` are done by hand: they are all the magic that the cells use.
"""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import notebook_bcc
from notebook_bcc.kernel.probe import Values, encode
from notebook_bcc.planners.marked_yaml import load_marked
from notebook_bcc.planners.playbook.templates import Kind, Templates

DSLC = Path(notebook_bcc.__file__).parent / "playbooks" / "dslc"
_SHOWN = Values(max_items=200, max_chars=8_000)
# Any, throughout: variables and YAML are whatever they are.


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
        return {**told, "errors": [], "missing": [], "steps_done": list(self.steps), "stages_done": []}

    def play(self, stage: str) -> None:
        """All steps of a stage whose rules hold when their turn comes."""
        path = DSLC / "stages" / f"{stage}.yaml"
        plan = load_marked(path.read_bytes(), source=path.name).value
        if not self._holds(plan, path):
            return
        for step in plan["steps"]:
            if self._holds(step, path):
                self._step(step, path)

    def _step(self, step: Mapping[str, Any], path: Path) -> None:
        for behavior in step["behaviors"]:
            if self._holds(behavior, path):
                self._behavior(behavior, path)
        missing = [name for name in step.get("expected_outputs", []) if name not in self.names]
        assert not missing, f"step {step['id']} did not make {missing}"
        self.steps.append(step["id"])

    def _behavior(self, behavior: Mapping[str, Any], path: Path) -> None:
        # One behavior is one answer: all of it is rendered before any of it runs.
        facts, answer = self.facts(), []
        for action in [each for each in behavior["actions"] if self._holds(each, path)]:
            if "cell" in action:
                answer.append(self._render(DSLC / "cells" / f"{action['cell']}.py", Kind.CELL, facts))
            elif "say" in action:
                text = self._render(DSLC / "text" / f"{action['say']}.{self.lang}.md", Kind.PROSE, facts)
                self.texts.append(text)
            elif "text" in action:
                source = action["text"][self.lang]
                self.texts.append(Templates().read(source, kind=Kind.PROSE, at=path.name).render(facts))
            elif "replan" in action:
                because = Templates().read(action["because"][self.lang], kind=Kind.PLAIN, at=path.name)
                self.replans.append(f"{action['replan']}: {because.render(facts)}")
        for source in answer:
            self.cells.append(source)
            self.run(source)
        missing = [name for name in behavior.get("expected", []) if name not in self.names]
        assert not missing, f"behavior {behavior['goal']['en']!r} did not make {missing}"
        for rule in behavior.get("verify", []):
            assert Templates().read(rule["that"], kind=Kind.RULE, at=path.name).holds(self.facts()), rule["else"]
        for promotion in behavior.get("promotions", []):
            self.names[promotion["artifact_id"].replace("@", "_")] = self.names.pop(promotion["variable"])

    def run(self, source: str) -> None:
        """One cell, as a kernel would."""
        if source.startswith("%%writefile"):
            first, _, body = source.partition("\n")
            with Path(first.split()[-1]).open("a" if "-a" in first.split() else "w", encoding="utf-8") as file:
                file.write(body + "\n")
            return
        if source.startswith("%run"):
            first, _, source = source.partition("\n")
            exec(compile(Path(first.split()[-1]).read_text(encoding="utf-8"), first.split()[-1], "exec"), self.names)
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "<cell>", "exec"), self.names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), self.names)
            self.shown.append(value)
            if hasattr(value, "_repr_html_"):
                value._repr_html_()
        if "plt" in self.names:
            self.names["plt"].close("all")  # as the inline backend does after each cell

    def _holds(self, part: Mapping[str, Any], path: Path) -> bool:
        rule = part.get("when")
        return rule is None or Templates().read(rule, kind=Kind.RULE, at=path.name).holds(self.facts())

    def _render(self, path: Path, kind: Kind, facts: Mapping[str, Any]) -> str:
        return Templates().read(path.read_text(encoding="utf-8"), kind=kind, at=path.name).render(facts)


@contextmanager
def at_work_in(folder: Path) -> Iterator[Path]:
    """The working directory of a kernel: modules written there can be imported, and are forgotten afterwards."""
    before = Path.cwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    written = ("prepare", "derive")
    for name in written:
        sys.modules.pop(name, None)
    try:
        (folder / "figures").mkdir(exist_ok=True)
        yield folder
    finally:
        os.chdir(before)
        sys.path.remove(str(folder))
        for name in written:
            sys.modules.pop(name, None)
