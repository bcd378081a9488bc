"""A real Jupyter Server of ours: kernels that outlive the program that uses them."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from notebook_bcc.errors import KernelFailed

HOST = "127.0.0.1"
PORT = 18600

# Runs in the server's process, whose standard input is a pipe that we hold: it closes when we end, however that
# happens. Then the server is told to stop, which ends its kernels; the folder with the token is ours to remove.
_LAUNCHER = """
import os, runpy, shutil, signal, sys, threading, time
pipe, nothing, folder = os.dup(0), os.open(os.devnull, os.O_RDONLY), sys.argv.pop()
os.dup2(nothing, 0)
def end_with_parent():
    os.read(pipe, 1)
    shutil.rmtree(folder, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(30)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=end_with_parent, daemon=True).start()
runpy.run_module("jupyter_server", run_name="__main__", alter_sys=True)
"""
_LAST_WORDS = 4_000
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Backend:
    """A server that answers. The token is left out of its repr: it is shown on purpose or not at all."""

    url: str
    token: str = field(repr=False)
    pid: int


async def serve_backend(
    root: Path,
    *,
    host: str = HOST,
    port: int = PORT,
    token: str = "",
    on_ready: Callable[[Backend], None],
) -> None:
    """Run a Jupyter Server until it ends or the task is cancelled. Raises KernelFailed when it ends by itself.

    It ends with this process too, however that ends.
    """
    async with _server(root, host=host, port=port, token=token, start_timeout=60.0, stop_timeout=15.0) as server:
        on_ready(server.backend)
        code = await server.process.wait()
        raise KernelFailed(f"the Jupyter server ended with exit code {code}; its last words: {server.last_words()}")


@asynccontextmanager
async def backend(
    root: Path,
    *,
    host: str = HOST,
    port: int = PORT,
    token: str = "",
    start_timeout: float = 60.0,
    stop_timeout: float = 15.0,
) -> AsyncIterator[Backend]:
    """A Jupyter Server as long as the context lasts; its kernels end with it.

    `root` is the folder that kernels' paths are relative to. Without a token one is made up. Output rate limits are
    off: what cells print arrives. Raises KernelFailed when jupyter-server is not installed, the port is taken, or the
    server does not answer in time.
    """
    async with _server(
        root, host=host, port=port, token=token, start_timeout=start_timeout, stop_timeout=stop_timeout
    ) as server:
        yield server.backend


@dataclass(slots=True)
class _BackendProcess:
    process: asyncio.subprocess.Process
    backend: Backend
    log: Path

    def last_words(self) -> str:
        with suppress(OSError):
            text = self.log.read_text(encoding="utf-8", errors="replace")[-_LAST_WORDS:]
            return text.replace(self.backend.token, "[token]").strip()
        return ""


@asynccontextmanager
async def _server(
    root: Path, *, host: str, port: int, token: str, start_timeout: float, stop_timeout: float
) -> AsyncIterator[_BackendProcess]:
    with tempfile.TemporaryDirectory(prefix="nbcc-backend-", ignore_cleanup_errors=True) as folder:
        token = token or secrets.token_urlsafe(32)
        config, log = Path(folder) / "jupyter_server_config.json", Path(folder) / "log"
        # A file that only we can read: a command line is visible to everybody on the machine.
        config.write_text(json.dumps(_settings(root, host, port, token)), encoding="utf-8")
        with log.open("wb") as stderr:
            # A session of its own: Ctrl-C at the terminal is for us, and we end the server properly.
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _LAUNCHER, f"--config={config}", folder),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )
        address = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        server = _BackendProcess(process, Backend(url=address, token=token, pid=process.pid), log)
        try:
            await _wait_until_it_answers(server, start_timeout)
            yield server
        finally:
            await _stop(process, stop_timeout)


def _settings(root: Path, host: str, port: int, token: str) -> dict[str, dict[str, object]]:
    return {
        "ServerApp": {
            "ip": host,
            "port": port,
            # A taken port is an error, not a reason to listen where nobody looks.
            "port_retries": 0,
            "root_dir": str(root.resolve()),
            "open_browser": False,
            "terminals_enabled": False,
            "allow_root": os.name == "posix" and os.geteuid() == 0,
        },
        "IdentityProvider": {"token": token},
        "ZMQChannelsWebsocketConnection": {"limit_rate": False},
    }


async def _wait_until_it_answers(server: _BackendProcess, seconds: float) -> None:
    url, headers = f"{server.backend.url}/api/status", {"Authorization": f"token {server.backend.token}"}
    deadline = time.monotonic() + seconds
    async with httpx2.AsyncClient(headers=headers, timeout=1.0, trust_env=False) as client:
        while server.process.returncode is None and time.monotonic() < deadline:
            with suppress(httpx2.HTTPError):
                response = await client.get(url)
                if response.status_code == 200:
                    return
                # Somebody else's server on that port: ours will say that it is taken.
            await asyncio.sleep(_POLL_SECONDS)
    if server.process.returncode is None:
        problem = f"did not answer at {server.backend.url} within {seconds:g} s"
    else:
        problem = f"did not start at {server.backend.url} (exit code {server.process.returncode})"
    raise KernelFailed(f"the Jupyter server {problem}; its last words: {server.last_words()}")


async def _stop(process: asyncio.subprocess.Process, seconds: float) -> None:
    """Politely first: a server that is told to stop ends its kernels."""
    for end in (process.terminate, process.kill):
        if process.returncode is None:
            with suppress(ProcessLookupError):
                end()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await process.wait()
