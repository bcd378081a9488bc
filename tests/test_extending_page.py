"""The page on extending: its Python runs, one block after the other, its commands work, and its tables are complete."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.engine.actions.nesting import NestingContext
from notebook_bcc.journal.interface import Journal
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.planners.interface import Planner

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "extending.md"
TEXT = PAGE.read_text(encoding="utf-8")


def blocks(kind: str) -> list[re.Match[str]]:
    return list(re.finditer(rf"^```{kind}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL))


def members(protocol: type) -> list[str]:
    return [name for name, _ in inspect.getmembers(protocol) if not name.startswith("_")]


def test_every_block_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    found = blocks("python")
    assert len(found) >= 8
    for block in found:
        # Blank lines before it: an error names the line of the page.
        before = "\n" * TEXT[: block.start(1)].count("\n")
        exec(compile(before + block[1], str(PAGE), "exec"), names)


def test_every_command_of_the_page_works(tmp_path: Path) -> None:
    commands = [line.removeprefix("$ ") for block in blocks("console") for line in block[1].splitlines()]
    assert commands
    for command in commands:
        program, *words = shlex.split(command)
        assert program == "nbcc"
        main = [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()"]
        done = subprocess.run([*main, *words], cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stderr


def test_the_page_counts_and_names_what_an_interface_asks_for() -> None:
    assert re.search(r"the\s+eight\s+members\s+of\s+\[`kernel/interface.py`\]", TEXT)
    assert len(members(Kernel)) == 8
    assert re.search(r"the\s+seven methods of \[`journal/interface.py`\]", TEXT)
    assert len(members(Journal)) == 7
    assert [name for name in members(Planner) if f"`{name}`" not in TEXT] == []


def test_what_the_page_says_a_handler_may_use_is_there() -> None:
    (table,) = re.findall(r"^\| of the context \| \|\n(.*?)\n\n", TEXT, re.MULTILINE | re.DOTALL)
    named = re.findall(r"`(?:await )?(\w+)[(`]", re.sub(r"\|[^|]*\|$", "|", table, flags=re.MULTILINE))
    here = {*dir(NestingContext), "document"}
    assert {"exec_action", "exec_action_async", "variables", "document"} <= set(named) <= here
