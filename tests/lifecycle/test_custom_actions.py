"""Handlers from a file of a run's own, and from installed packages."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from notebook_bcc.engine.actions.registry import ActionRegistry
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.lifecycle.custom_actions import registry_with

FILE = """
from dataclasses import dataclass

@dataclass
class Heard:
    word: str

def whisper(context, action):
    return Heard(action.word.lower()).word

def register(registry):
    registry.register_handler("whisper", whisper)
"""


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE, encoding="utf-8")
    return path


@pytest.fixture
def untouched() -> Iterator[None]:
    before = set(ActionRegistry.for_all())
    yield
    for name in set(ActionRegistry.for_all()) - before:
        ActionRegistry.unregister_for_all(name)


def package(folder: Path, source: str, *, entry: str = "shout = shouting:register") -> None:
    """An installed package that offers custom actions."""
    (folder / "shouting.py").write_text(source, encoding="utf-8")
    facts = folder / "shouting-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n", encoding="utf-8")
    (facts / "entry_points.txt").write_text(f"[notebook_bcc.actions]\n{entry}\n", encoding="utf-8")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that packages are installed in."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    sys.modules.pop("shouting", None)


def test_a_file_registers_in_the_registry_of_its_run_and_in_no_other(written: Path) -> None:
    assert registry_with(written).knows("whisper")
    assert not registry_with(None).knows("whisper")
    assert not ActionRegistry().knows("whisper")


@pytest.mark.usefixtures("untouched")
def test_a_file_may_register_for_the_class_as_the_documents_show(tmp_path: Path) -> None:
    path = tmp_path / "classwide.py"
    line = 'ScriptStore.register_custom_action("classwide", lambda script_store, step: 1)'
    path.write_text(f"from notebook_bcc import ScriptStore\n{line}\n", encoding="utf-8")
    assert registry_with(path).knows("classwide")
    assert registry_with(path).knows("classwide")


def test_an_installed_package_offers_its_actions_to_every_run(installed: Path, written: Path) -> None:
    package(installed, "def register(registry):\n    registry.register_handler('shout', lambda context, action: 1)")
    assert registry_with(None).knows("shout")
    both = registry_with(written)
    assert both.knows("shout")
    assert both.knows("whisper")


def test_the_file_of_a_run_counts_over_a_package(installed: Path, written: Path) -> None:
    package(installed, "def register(registry):\n    registry.register_handler('whisper', print)")
    assert registry_with(None).own_handlers["whisper"] is print
    assert registry_with(written).own_handlers["whisper"] is not print


@pytest.mark.parametrize(
    ("source", "entry", "reason"),
    [
        ("def register(registry):\n    1 / 0", "shout = shouting:register", "ZeroDivisionError: division by zero"),
        ("import nowhere_to_be_found", "shout = shouting:register", "cannot be loaded: ModuleNotFoundError"),
        ("register = 3", "shout = shouting:register", "is not a function that takes a registry"),
        ("", "shout = shouting:register", "cannot be loaded: AttributeError"),
    ],
)
def test_a_package_that_is_broken_is_named(installed: Path, source: str, entry: str, reason: str) -> None:
    package(installed, source, entry=entry)
    with pytest.raises(SettingsInvalid, match=r"custom actions 'shout' of shouting \(shouting:register\)") as failed:
        registry_with(None)
    assert reason in str(failed.value)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("x = 1\n", "registers nothing: define `def register(registry)`"),
        ("def register(registry):\n    registry.register_handler('x', 3)", "the handler of 'x' is not callable"),
        ("def register(", "SyntaxError"),
        ("\n\nraise ValueError('no')", "ValueError: no"),
        ("def register(): ...", "TypeError"),
        ("\0", "cannot be used"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(tmp_path: Path, source: str, reason: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8")
    with pytest.raises(SettingsInvalid, match=f"actions {path}") as failed:
        registry_with(path)
    assert reason in str(failed.value)


def test_an_error_of_the_file_says_its_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("def f():\n    raise ValueError('no')\nf()\n", encoding="utf-8")
    with pytest.raises(SettingsInvalid, match=r"ValueError: no \(.*mine\.py, line 2\)"):
        registry_with(path)


def test_a_file_that_is_not_there_or_no_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="cannot be read: No such file"):
        registry_with(tmp_path / "nowhere.py")
    (tmp_path / "mine.txt").write_text("", encoding="utf-8")
    with pytest.raises(SettingsInvalid, match=r"its name ends in \.py"):
        registry_with(tmp_path / "mine.txt")
