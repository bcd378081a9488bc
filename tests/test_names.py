"""One class name, one meaning: a reader who finds a class by its name has found the right one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import notebook_bcc

PACKAGE = Path(notebook_bcc.__file__).parent
# Names of 0.1.0 that are kept on purpose, and templates that are no modules.
EXEMPT = ("compat", "playbooks")


def classes_by_name() -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE)
        if place.parts[0] not in EXEMPT:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in (each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)):
                found[node.name].append(place.as_posix())
    return found


def test_no_two_classes_have_the_same_name() -> None:
    assert {name: places for name, places in classes_by_name().items() if len(places) > 1} == {}
