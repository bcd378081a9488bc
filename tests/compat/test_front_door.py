"""The top package: the names it has, and what importing it does not do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import notebook_bcc

SOURCE = Path(notebook_bcc.__file__).parents[1]
NAMES = [
    "ActionMetadata",
    "ActionRegistry",
    "ApiClient",
    "BccError",
    "CallablePlanner",
    "Config",
    "LocalKernel",
    "MemoryJournal",
    "RunStarted",
    "Runner",
    "ScriptStore",
    "SectionProgress",
    "StateMachine",
    "Workflow",
    "WorkflowContext",
    "WorkflowEvent",
    "get_transition_history",
    "prepare_generating_payload",
    "visualize_state_machine",
]


def said_by(program: str, folder: Path, **variables: str) -> object:
    """What a fresh interpreter prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(SOURCE), **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout)


def test_the_front_door_has_exactly_these_names() -> None:
    assert notebook_bcc.__all__ == NAMES
    assert set(NAMES) <= set(dir(notebook_bcc))


@pytest.mark.parametrize("name", NAMES)
def test_each_name_is_the_thing_that_its_module_makes(name: str) -> None:
    value = getattr(notebook_bcc, name)
    assert getattr(value, "__name__", name) in (name, "Event")
    assert vars(notebook_bcc)[name] is value


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Wokflow"):
        notebook_bcc.__getattr__("Wokflow")
    with pytest.raises(ImportError):
        exec("from notebook_bcc import Wokflow", {})


def test_importing_the_package_loads_nothing_reads_nothing_and_starts_nothing(tmp_path: Path) -> None:
    program = (
        "import json, sys, threading\n"
        "import notebook_bcc\n"
        "ours = sorted(name for name in sys.modules if name.startswith('notebook_bcc.'))\n"
        "heavy = sorted({'pydantic', 'zmq', 'asyncio', 'httpx2', 'sqlite3', 'yaml'} & set(sys.modules))\n"
        "print(json.dumps([ours, heavy, threading.active_count(), notebook_bcc.__version__]))\n"
    )
    (tmp_path / ".env").write_text("DSLC_BASE_URL=not an address\n", encoding="utf-8")
    assert said_by(program, tmp_path) == [[], [], 1, notebook_bcc.__version__]
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_loading_every_name_reads_no_settings_and_touches_no_file(tmp_path: Path) -> None:
    program = (
        "import json, threading\n"
        "import notebook_bcc\n"
        "values = [getattr(notebook_bcc, name) for name in notebook_bcc.__all__]\n"
        "print(json.dumps([len(values), threading.active_count()]))\n"
    )
    (tmp_path / ".env").write_text("DSLC_BASE_URL=not an address\n", encoding="utf-8")
    assert said_by(program, tmp_path, BACKEND_BASE_URL="nonsense") == [len(NAMES), 1]
    assert [path.name for path in tmp_path.iterdir()] == [".env"]
