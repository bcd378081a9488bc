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
    "BccError",
    "Run",
    "RunEvent",
    "RunLocked",
    "RunNotFound",
    "RunRefused",
    "Score",
    "arun",
    "open",
    "run",
    "runs",
    "start",
]
# Of the documents that describe the protocol, and for IPython: importable, and not shown to those who look around.
PROMISED = [
    "ActionMetadata",
    "ActionRegistry",
    "ApiClient",
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
    "load_ipython_extension",
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
    assert {*NAMES, *PROMISED} <= set(dir(notebook_bcc))


@pytest.mark.parametrize("name", [*NAMES, *PROMISED])
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
        f"values = [getattr(notebook_bcc, name) for name in {[*NAMES, *PROMISED]}]\n"
        "print(json.dumps([len(values), threading.active_count()]))\n"
    )
    (tmp_path / ".env").write_text("DSLC_BASE_URL=not an address\n", encoding="utf-8")
    assert said_by(program, tmp_path, BACKEND_BASE_URL="nonsense") == [len(NAMES) + len(PROMISED), 1]
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_importing_the_package_takes_no_time_that_anybody_notices(tmp_path: Path) -> None:
    program = "import time\nbefore = time.process_time()\nimport notebook_bcc\nprint(time.process_time() - before)\n"
    took = min(float(str(said_by(program, tmp_path))) for _ in range(3))
    assert took < 0.15


def test_no_name_of_the_front_door_is_that_of_a_package_inside() -> None:
    inside = {path.stem for path in Path(notebook_bcc.__file__).parent.iterdir()}
    assert inside & {*NAMES, *PROMISED} == set()
