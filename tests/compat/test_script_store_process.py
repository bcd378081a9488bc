"""ScriptStore and the process of its kernel: Ctrl-C, the death of either, and what is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import notebook_bcc
from notebook_bcc import ScriptStore

SOURCE = Path(notebook_bcc.__file__).parents[1]
PATIENCE = 60.0


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def add_and_run(store: ScriptStore, source: str) -> dict[str, object]:
    store.exec_action({"action": "add", "shot_type": "action", "content": source})
    return store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})


def test_an_interrupt_ends_the_wait_and_the_cell_and_the_store_goes_on(tmp_path: Path) -> None:
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("only the main thread is interrupted by Ctrl-C")
    begun = tmp_path / "begun"

    def press_ctrl_c() -> None:
        wait_until(begun.exists)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with ScriptStore() as store:
        add_and_run(store, "x = 1")
        presser = threading.Thread(target=press_ctrl_c)
        presser.start()
        with pytest.raises(KeyboardInterrupt):
            add_and_run(store, f"import pathlib\npathlib.Path({str(begun)!r}).touch()\nwhile True: pass")
        presser.join()
        result = add_and_run(store, "x + 1")
        assert result["effects"] == ["2"]


def test_a_kernel_that_a_cell_killed_is_rebuilt_for_the_next_cell() -> None:
    with ScriptStore() as store:
        add_and_run(store, "x = 20")
        died = add_and_run(store, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
        assert died["error_name"] == "KernelDied"
        assert add_and_run(store, "x + 1")["effects"] == ["21"]


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks at processes by way of /proc")
@pytest.mark.parametrize("ending", ["", "raise SystemExit(0)"])
def test_a_program_that_forgets_to_close_its_store_leaves_no_kernel_behind(tmp_path: Path, ending: str) -> None:
    program = (
        "from notebook_bcc import ScriptStore\n"
        "store = ScriptStore()\n"
        "store._registry.register_handler('nothing', lambda script_store, step: None)\n"
        "store.exec_action({'action': 'nothing'})\n"
        "store.exec_action({'action': 'add', 'shot_type': 'action', 'content': 'import os; print(os.getpid())'})\n"
        "print(store.exec_action({'action': 'exec', 'codecell_id': 'lastAddedCellId'})['effects'][0])\n"
        f"{ending}\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr == ""
    wait_until(lambda: not is_running(int(done.stdout)))
