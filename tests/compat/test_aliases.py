"""The import lines of the documents: asked for once, all or none, and never in anybody's way."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import notebook_bcc
from notebook_bcc.compat import install_aliases, remove_aliases
from notebook_bcc.compat.aliases import ALIASES
from notebook_bcc.errors import AliasTaken
from notebook_bcc.kernel.local.kernel import LocalKernel

LINES = """
from config import Config
from stores.script_store import ScriptStore
from stores.action_registry import ActionRegistry
import config, stores.script_store
"""


@pytest.fixture(autouse=True)
def no_aliases() -> Iterator[None]:
    remove_aliases()
    yield
    remove_aliases()


def imported() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(LINES, names)
    return names


def test_the_import_lines_of_the_documents_give_our_names_after_one_call() -> None:
    install_aliases()
    names = imported()
    assert names["Config"] is notebook_bcc.Config
    assert names["ScriptStore"] is notebook_bcc.ScriptStore
    assert names["ActionRegistry"] is notebook_bcc.ActionRegistry
    assert names["stores"].script_store.ScriptStore is notebook_bcc.ScriptStore


def test_the_module_of_settings_has_the_addresses_in_force() -> None:
    install_aliases()
    config = imported()["config"]
    assert config.FEEDBACK_API_URL == "http://localhost:28600/planning"
    config.Config.set_dslc_url("http://planner.example:1")
    assert config.GENERATE_API_URL == "http://planner.example:1/generate"
    with pytest.raises(AttributeError, match="NOWHERE"):
        config.NOWHERE  # noqa: B018


def test_without_the_call_no_such_module_exists() -> None:
    with pytest.raises(ModuleNotFoundError, match="config"):
        imported()


def test_it_may_be_called_twice_and_taken_back() -> None:
    install_aliases()
    first = sys.modules["config"]
    install_aliases()
    assert sys.modules["config"] is first
    remove_aliases()
    assert not {*ALIASES} & {*sys.modules}
    remove_aliases()


@pytest.mark.parametrize("name", sorted(ALIASES))
def test_a_module_that_is_imported_already_is_left_alone_and_nothing_is_installed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = type(sys)(name)
    monkeypatch.setitem(sys.modules, name, theirs)
    with pytest.raises(AliasTaken, match=f"another module '{name}'"):
        install_aliases()
    assert sys.modules[name] is theirs
    assert {*ALIASES} & {*sys.modules} == {name}


@pytest.mark.parametrize("made", ["config.py", "stores/__init__.py", "stores/plain.txt"])
def test_a_module_that_could_be_imported_is_a_refusal_that_names_its_place(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / made).parent.mkdir(exist_ok=True)
    (tmp_path / made).write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    with pytest.raises(AliasTaken, match=str(tmp_path)):
        install_aliases()
    assert not {*ALIASES} & {*sys.modules}


def test_importing_everything_of_ours_installs_nothing(tmp_path: Path) -> None:
    program = (
        "import sys, notebook_bcc, notebook_bcc.compat as compat\n"
        "[getattr(notebook_bcc, name) for name in dir(notebook_bcc)]\n"
        "[getattr(compat, name) for name in compat.__all__]\n"
        "print([name for name in ('config', 'stores') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.anyio
async def test_a_kernel_of_a_process_with_aliases_has_none() -> None:
    install_aliases()
    kernel = LocalKernel()
    await kernel.start()
    try:
        execution = await kernel.execute("import config")
    finally:
        await kernel.close()
    assert execution.error is not None
    assert execution.error.name == "ModuleNotFoundError"
