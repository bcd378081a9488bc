"""Every way a cell or a kernel can fail, against a real kernel: each has one known outcome."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from notebook_bcc.errors import KernelDied, KernelStartFailed
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.local.kernel import LocalKernel

pytestmark = pytest.mark.anyio
Text = Callable[[Execution], str]
PATIENCE = 60.0


class Beginning:
    """An `on_output` that says when the cell has printed something: it is running by then."""

    def __init__(self) -> None:
        self.seen = asyncio.Event()

    def __call__(self, output: dict[str, Any]) -> None:
        self.seen.set()

    async def wait(self) -> None:
        await asyncio.wait_for(self.seen.wait(), PATIENCE)


async def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true"
        await asyncio.sleep(0.02)


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def entries(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()]


@pytest.fixture
async def impatient() -> AsyncIterator[LocalKernel]:
    kernel = LocalKernel(interrupt_grace=1.0, terminate_grace=0.5)
    await kernel.start()
    yield kernel
    await kernel.close()


async def test_a_kernel_killed_during_a_cell_is_reported_with_the_signal_and_what_it_printed(
    kernel: LocalKernel,
) -> None:
    beginning = Beginning()
    source = "print('so far', flush=True)\nwhile True: pass"
    task = asyncio.create_task(kernel.execute(source, on_output=beginning))
    await beginning.wait()
    assert kernel.pid is not None
    os.kill(kernel.pid, signal.SIGKILL)
    with pytest.raises(KernelDied) as died:
        await asyncio.wait_for(task, PATIENCE)
    assert died.value.cause == "killed by signal 9 (SIGKILL); often the system's out-of-memory killer"
    assert died.value.exit_code == -9
    assert died.value.outputs == ({"output_type": "stream", "name": "stdout", "text": "so far\n"},)
    assert not kernel.is_alive


async def test_a_kernel_killed_between_cells_is_noticed_and_can_be_restarted(kernel: LocalKernel) -> None:
    assert kernel.pid is not None
    os.kill(kernel.pid, signal.SIGKILL)
    await eventually(lambda: not kernel.is_alive)
    for _ in range(2):
        with pytest.raises(KernelDied, match="SIGKILL"):
            await kernel.execute("1")
    with pytest.raises(KernelDied, match="SIGKILL"):
        await kernel.summarize({"x": "shape_only"})
    await kernel.restart()
    assert (await kernel.execute("1")).succeeded


async def test_a_kernel_killed_just_before_a_cell_is_sent_does_not_hang(kernel: LocalKernel) -> None:
    assert kernel.pid is not None
    os.kill(kernel.pid, signal.SIGKILL)
    with pytest.raises(KernelDied, match="SIGKILL"):
        await asyncio.wait_for(kernel.execute("1"), PATIENCE)


async def test_memory_that_is_refused_is_the_cells_error(kernel: LocalKernel) -> None:
    execution = await kernel.execute(
        "import resource\nold = resource.getrlimit(resource.RLIMIT_AS)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, old[1]))\nblock = bytearray(8 * 2**30)"
    )
    assert execution.error is not None
    assert execution.error.name == "MemoryError"
    assert (await kernel.execute("resource.setrlimit(resource.RLIMIT_AS, old)")).succeeded


async def test_an_exit_of_the_process_is_reported_with_its_code(kernel: LocalKernel) -> None:
    with pytest.raises(KernelDied) as died:
        await asyncio.wait_for(kernel.execute("print('x', flush=True)\nimport os\nos._exit(3)"), PATIENCE)
    assert died.value.exit_code == 3
    assert "exit code 3" in died.value.cause


async def test_a_subprocess_of_a_kernel_that_died_by_itself_is_ended(kernel: LocalKernel, tmp_path: Path) -> None:
    # Its number by a file: what a process prints in its last moment may not leave it any more.
    told = tmp_path / "child"
    source = (
        "import os, pathlib, subprocess\nchild = subprocess.Popen(['sleep', '600'])\n"
        f"pathlib.Path({str(told)!r}).write_text(str(child.pid))\nos._exit(3)"
    )
    with pytest.raises(KernelDied):
        await asyncio.wait_for(kernel.execute(source), PATIENCE)
    child = int(told.read_text())
    try:
        deadline = time.monotonic() + 5.0
        while not is_gone(child):
            assert time.monotonic() < deadline, "the subprocess has outlived its kernel"
            await asyncio.sleep(0.02)
    finally:
        if not is_gone(child):
            os.kill(child, signal.SIGKILL)


async def test_a_crash_in_c_code_leaves_last_words(kernel: LocalKernel) -> None:
    # What was logged before is not what it died of, however much it is.
    source = "import ctypes, os\nos.write(2, b'a warning, and no end of it. ' * 100)\nctypes.string_at(0)"
    with pytest.raises(KernelDied) as died:
        await asyncio.wait_for(kernel.execute(source), PATIENCE)
    assert "signal 11 (SIGSEGV); its last words: Fatal Python error: Segmentation fault" in died.value.cause


@pytest.mark.parametrize("source", ["import sys; sys.exit(1)", "exit()", "quit()", "raise SystemExit"])
async def test_a_cell_that_exits_fails_and_the_kernel_goes_on(kernel: LocalKernel, source: str) -> None:
    await kernel.execute("kept = 1")
    execution = await kernel.execute(source)
    assert execution.error is not None
    assert execution.error.name == "SystemExit"
    # ipykernel ends a tenth of a second after a polite exit(): the cell after next would be the one to notice.
    later = await kernel.execute("import time\ntime.sleep(0.3)\nkept")
    assert later.outputs[-1]["data"]["text/plain"] == "1"
    assert (await kernel.execute("kept")).succeeded


@pytest.mark.parametrize("source", ["input('name? ')", "import getpass; getpass.getpass()"])
async def test_a_cell_that_asks_a_person_fails_at_once(kernel: LocalKernel, source: str) -> None:
    execution = await asyncio.wait_for(kernel.execute(source), PATIENCE)
    assert execution.error is not None
    assert execution.error.name == "StdinNotImplementedError"


async def test_a_cell_over_its_time_is_interrupted_and_keeps_what_it_printed(kernel: LocalKernel) -> None:
    execution = await kernel.execute("x = 1\nprint('partial')\nwhile True: pass", time_limit=1)
    assert execution.error is not None
    assert execution.error.name == "CellTimeout"
    assert "longer than 1 s" in execution.error.message
    stream, error = execution.outputs
    assert stream["text"] == "partial\n"
    assert error["ename"] == "CellTimeout"
    assert execution.variables.updated == {"x": 1}
    after = await kernel.execute("x")
    assert after.succeeded


@pytest.mark.parametrize(
    "source",
    [
        "import time\ntime.sleep(600)",
        "import asyncio\nawait asyncio.sleep(600)",
        "import subprocess\nsubprocess.run(['sleep', '600'])",
        "import time\ntry: time.sleep(600)\nexcept KeyboardInterrupt: pass",
    ],
)
async def test_waiting_cells_are_interrupted_too(kernel: LocalKernel, source: str) -> None:
    execution = await asyncio.wait_for(kernel.execute(source, time_limit=0.5), PATIENCE)
    assert execution.error is not None
    assert execution.error.name == "CellTimeout"
    assert execution.outputs[-1]["ename"] == "CellTimeout"
    assert (await kernel.execute("1")).succeeded


async def test_a_cell_that_swallows_interrupts_is_killed_with_its_kernel(impatient: LocalKernel) -> None:
    source = (
        "import time\nprint('stubborn', flush=True)\n"
        "while True:\n    try:\n        time.sleep(600)\n    except KeyboardInterrupt: pass"
    )
    with pytest.raises(KernelDied) as died:
        await asyncio.wait_for(impatient.execute(source, time_limit=3), PATIENCE)
    assert "longer than 3 s, did not stop when it was interrupted and was killed (SIGTERM)" in died.value.cause
    assert died.value.outputs[0]["text"] == "stubborn\n"
    assert not impatient.is_alive
    await impatient.restart()
    assert (await impatient.execute("1")).succeeded


async def test_a_cell_that_swallows_every_signal_is_killed_with_its_kernel_and_children(impatient: LocalKernel) -> None:
    beginning = Beginning()
    source = (
        "import signal, subprocess, sys\nfor number in (2, 15): signal.signal(number, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-uc', 'import signal, time; "
        "[signal.signal(s, signal.SIG_IGN) for s in (2, 15)]; print(); time.sleep(600)'], stdout=subprocess.PIPE)\n"
        "child.stdout.readline()\nprint(child.pid, flush=True)\nwhile True: pass"
    )
    with pytest.raises(KernelDied) as died:
        await asyncio.wait_for(impatient.execute(source, time_limit=10, on_output=beginning), PATIENCE)
    assert "was killed (SIGKILL)" in died.value.cause
    child = int(died.value.outputs[0]["text"])
    await eventually(lambda: is_gone(child))


async def test_cancelling_interrupts_the_cell_and_leaves_a_usable_kernel(kernel: LocalKernel, stdout: Text) -> None:
    for _ in range(3):
        beginning = Beginning()
        source = "print('begun', flush=True)\nwhile True: pass"
        task = asyncio.create_task(kernel.execute(source, on_output=beginning))
        await beginning.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stdout(await kernel.execute("print('usable')")) == "usable\n"


async def test_cancelling_before_the_cell_has_begun_leaves_a_usable_kernel(kernel: LocalKernel, stdout: Text) -> None:
    task = asyncio.create_task(kernel.execute("while True: pass"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, PATIENCE)
    assert stdout(await kernel.execute("print('usable')")) == "usable\n"


async def test_interrupt_stops_the_running_cell(kernel: LocalKernel) -> None:
    beginning = Beginning()
    task = asyncio.create_task(kernel.execute("print('begun', flush=True)\nwhile True: pass", on_output=beginning))
    await beginning.wait()
    await kernel.interrupt()
    execution = await asyncio.wait_for(task, PATIENCE)
    assert execution.error is not None
    assert execution.error.name == "KeyboardInterrupt"


async def test_interrupting_an_idle_kernel_does_nothing(kernel: LocalKernel) -> None:
    await kernel.interrupt()
    assert (await kernel.execute("1")).succeeded


async def test_closing_during_a_cell_ends_it(kernel: LocalKernel) -> None:
    beginning = Beginning()
    task = asyncio.create_task(kernel.execute("print('begun', flush=True)\nwhile True: pass", on_output=beginning))
    await beginning.wait()
    await kernel.close()
    with pytest.raises(KernelDied):
        await asyncio.wait_for(task, PATIENCE)


async def test_closing_leaves_no_process_no_child_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    kernel = LocalKernel()
    await kernel.start()
    execution = await kernel.execute("import subprocess\nchild = subprocess.Popen(['sleep', '600'])\nchild.pid")
    child, pid = int(execution.outputs[0]["data"]["text/plain"]), kernel.pid
    assert pid is not None
    assert entries(tmp_path) == []
    descriptors = psutil.Process().num_fds()
    await kernel.close()
    assert is_gone(pid)
    await eventually(lambda: is_gone(child))
    assert entries(tmp_path) == []
    assert psutil.Process().num_fds() < descriptors


async def test_a_long_path_for_temporary_files_falls_back_to_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    kernel = LocalKernel()
    await kernel.start()
    try:
        assert (await kernel.execute("1")).succeeded
    finally:
        await kernel.close()
    assert entries(deep) == []


async def test_an_unknown_kernel_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(KernelStartFailed, match=r"no such kernel.*python3"):
        await LocalKernel(name="no-such-kernel").start()


@pytest.mark.parametrize(
    ("argv", "reason"),
    [
        ([sys.executable, "-c", "raise RuntimeError('broken on purpose')"], "broken on purpose"),
        (["/no/such/program", "{connection_file}"], "cannot be run"),
        ([], "no command"),
        ([sys.executable, "-c", "import sys; sys.exit(5)"], "exit code 5"),
    ],
)
async def test_a_broken_kernel_fails_quickly_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], reason: str
) -> None:
    _write_kernelspec(tmp_path, monkeypatch, {"argv": argv, "display_name": "Broken", "language": "python"})
    kernel = LocalKernel(name="broken")
    with pytest.raises(KernelStartFailed) as failed:
        await asyncio.wait_for(kernel.start(), PATIENCE)
    assert reason in failed.value.reason
    assert not kernel.is_alive
    await kernel.close()


async def test_a_kernelspec_that_is_no_json_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _write_kernelspec(tmp_path, monkeypatch, {})
    (folder / "kernel.json").write_text("{ not json", encoding="utf-8")
    with pytest.raises(KernelStartFailed, match=r"kernel\.json cannot be read"):
        await LocalKernel(name="broken").start()


async def test_a_kernel_that_never_answers_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    argv = [sys.executable, "-c", "import sys, time; print('thinking', file=sys.stderr, flush=True); time.sleep(600)"]
    _write_kernelspec(tmp_path, monkeypatch, {"argv": argv, "display_name": "Mute", "language": "python"})
    kernel = LocalKernel(name="broken", start_timeout=2)
    with pytest.raises(KernelStartFailed, match="no answer within 2 s; its last words: thinking"):
        await kernel.start()


def _write_kernelspec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: dict[str, Any]) -> Path:
    folder = tmp_path / "kernels" / "broken"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps(spec), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return folder


PARENT = """
import asyncio, sys
from notebook_bcc.kernel.local.kernel import LocalKernel

async def main():
    kernel = LocalKernel()
    await kernel.start()
    print(kernel.pid, flush=True)
    await kernel.execute(sys.argv[1])
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize("source", ["1", "while True: pass", "sum(range(10**12))"])
def test_a_kernel_ends_when_its_parent_is_killed(source: str, tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}
    parent = subprocess.Popen([sys.executable, "-c", PARENT, source], stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
    finally:
        parent.kill()
        parent.communicate()
    asyncio.run(eventually(lambda: is_gone(pid)))
    assert entries(tmp_path) == []


async def test_a_text_that_is_no_unicode_is_an_error_of_its_cell(kernel: LocalKernel, stdout: Text) -> None:
    async with asyncio.timeout(PATIENCE):
        done = await kernel.execute("print(1)  # \ud800")
    assert done.error is not None
    assert done.error.name == "UnicodeEncodeError"
    assert "surrogates" in done.outputs[0]["evalue"]
    assert stdout(await kernel.execute("print(1)")) == "1\n"


# As ipykernel 7.0 does now and then: what came on the control channel before it was ready got no answer.
FORGETFUL = """
import runpy
from ipykernel.kernelbase import Kernel
dispatch, forgotten = Kernel.dispatch_control, []
async def dispatch_control(self, message):
    if not forgotten:
        forgotten.append(message)
        return
    await dispatch(self, message)
Kernel.dispatch_control = dispatch_control
runpy.run_module("ipykernel_launcher", run_name="__main__", alter_sys=True)
"""


async def test_a_kernel_that_loses_the_first_control_request_starts_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stdout: Text
) -> None:
    argv = [sys.executable, "-c", FORGETFUL, "-f", "{connection_file}"]
    name = _write_kernelspec(
        tmp_path, monkeypatch, {"argv": argv, "display_name": "Forgetful", "language": "python"}
    ).name
    kernel = LocalKernel(name=name, start_timeout=PATIENCE)
    await kernel.start()
    try:
        assert stdout(await kernel.execute("print(1)")) == "1\n"
    finally:
        await kernel.close()
