"""A Jupyter Server of ours: it comes up, serves kernels without limits, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kernel.servers import PATIENCE, eventually, free_port
from notebook_bcc.errors import KernelFailed
from notebook_bcc.kernel.interface import Execution
from notebook_bcc.kernel.jupyter_server.backend import Backend, backend, serve_backend
from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel

pytestmark = pytest.mark.anyio


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"


def command_line(pid: int) -> str:
    place = Path(f"/proc/{pid}/cmdline")
    return place.read_text() if place.exists() else ""


async def test_it_serves_kernels_and_ends_with_them(tmp_path: Path, stdout: Callable[[Execution], str]) -> None:
    async with backend(tmp_path, port=free_port()) as server:
        assert len(server.token) >= 32
        assert server.token not in repr(server)
        assert server.token not in command_line(server.pid)
        kernel = JupyterServerKernel(server.url, token=server.token)
        await kernel.start()
        execution = await kernel.execute("import os\nprint('x' * 9_000_000)\npid = os.getpid()\nhere = os.getcwd()")
        assert len(stdout(execution)) == 9_000_001
        assert execution.variables.updated["here"] == str(tmp_path)
        pid = execution.variables.updated["pid"]
        assert isinstance(pid, int)
        await kernel.detach()
    await eventually(lambda: is_gone(pid))
    assert is_gone(server.pid)


async def test_in_the_foreground_it_runs_until_it_is_cancelled_or_ends(tmp_path: Path) -> None:
    ready: asyncio.Queue[Backend] = asyncio.Queue()
    task = asyncio.create_task(
        serve_backend(tmp_path, port=free_port(), token="of-our-choice", on_ready=ready.put_nowait)
    )
    server = await asyncio.wait_for(ready.get(), PATIENCE)
    assert server.token == "of-our-choice"
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(server.pid)
    task = asyncio.create_task(serve_backend(tmp_path, port=free_port(), on_ready=ready.put_nowait))
    server = await asyncio.wait_for(ready.get(), PATIENCE)
    os.kill(server.pid, signal.SIGKILL)
    with pytest.raises(KernelFailed, match="ended with exit code -9") as failed:
        await asyncio.wait_for(task, PATIENCE)
    assert server.token not in str(failed.value)


OTHER = """
import asyncio, sys
from pathlib import Path
from notebook_bcc.kernel.jupyter_server.backend import backend
from notebook_bcc.kernel.jupyter_server.kernel import JupyterServerKernel

async def main():
    async with backend(Path(sys.argv[1]), port=int(sys.argv[2])) as server:
        kernel = JupyterServerKernel(server.url, token=server.token)
        await kernel.start()
        execution = await kernel.execute("import os, signal; signal.signal(signal.SIGINT, signal.SIG_IGN); os.getpid()")
        print(server.pid, execution.outputs[0]["data"]["text/plain"], flush=True)
        await kernel.execute("import time; time.sleep(600)")

asyncio.run(main())
"""


async def test_it_ends_with_its_kernels_when_the_process_that_started_it_is_killed(tmp_path: Path) -> None:
    places = tmp_path / "root", tmp_path / "temporary"
    for place in places:
        place.mkdir()
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", OTHER, str(places[0]), str(free_port())),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(places[1])},
    )
    assert process.stdout is not None
    server, kernel = map(int, (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).split())
    assert not is_gone(server)
    assert not is_gone(kernel)
    process.kill()
    await process.wait()
    await eventually(lambda: is_gone(server) and is_gone(kernel))
    assert [path.name for path in places[1].iterdir() if path.name.startswith("nbcc-backend-")] == []


async def test_a_taken_port_is_an_error_with_the_servers_words(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(KernelFailed, match="is already in use") as failed:
            async with backend(tmp_path, port=port, token="secret-of-ours"):
                pass
    assert "secret-of-ours" not in str(failed.value)
