"""Real servers for the whole test session, and a proxy that breaks connections to them."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60.0

# A kernel of a language we know nothing about: it says each line it is given as many times as the line says.
TOY_KERNEL = """
import sys, time
from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel

class Toy(Kernel):
    implementation = "toy"
    implementation_version = language_version = "1"
    banner = "toy"
    language_info = {"name": "toy", "version": "1", "file_extension": ".toy", "mimetype": "text/plain"}

    async def do_execute(self, code, silent, store_history=True, user_expressions=None, allow_stdin=False, **_):
        times, text = code.split(" ", 1)
        for index in range(int(times)):
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": f"{text} {index}\\n"})
            time.sleep(0.3 if text == "slowly" else 0)
        return {"status": "ok", "execution_count": self.execution_count, "payload": [], "user_expressions": {}}

IPKernelApp.launch_instance(kernel_class=Toy)
"""

# An ipykernel that, started anew while the file exists, does not say to the public that it deals with a control
# request: as when a server does not listen yet to a process just started.
MUTE_KERNEL = """
import pathlib, sys
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp

class Mute(IPythonKernel):
    def _publish_status(self, status, channel, parent=None):
        if channel != "control" or not pathlib.Path(__file__).with_name("mute").exists():
            super()._publish_status(status, channel, parent)

IPKernelApp.launch_instance(kernel_class=Mute)
"""


@dataclass(frozen=True)
class Server:
    url: str
    port: int
    token: str
    root: Path

    @property
    def kernels(self) -> Path:
        return self.root.parent / "data" / "kernels"

    def put(self, path: str, body: Any) -> Any:
        return self.ask("PUT", path, json.dumps(body).encode())

    def ask(self, method: str, path: str, body: bytes | None = None) -> Any:
        request = urllib.request.Request(
            f"{self.url}/{path}", data=body, method=method, headers={"Authorization": f"token {self.token}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            content = response.read()
        return json.loads(content) if content else None

    def kernel_ids(self) -> set[str]:
        return {kernel["id"] for kernel in self.ask("GET", "api/kernels")}


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A Jupyter Server as it comes, its output rate limits included."""
    settings: dict[str, dict[str, Any]] = {"ServerApp": {"port_retries": 0, "allow_root": True, "open_browser": False}}
    with _running("jupyter_server", "ServerApp", tmp_path_factory.mktemp("stock"), settings) as server:
        yield server


@pytest.fixture(scope="session")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A kernel gateway that speaks the older form of the websocket protocol."""
    settings: dict[str, dict[str, Any]] = {
        "KernelGatewayApp": {"port_retries": 0, "list_kernels": True, "allow_root": True},
        "JupyterWebsocketPersonality": {"list_kernels": True},
        "ZMQChannelsWebsocketConnection": {"kernel_ws_protocol": ""},
    }
    with _running("kernel_gateway", "KernelGatewayApp", tmp_path_factory.mktemp("gateway"), settings) as server:
        yield server


@contextmanager
def _running(module: str, app: str, folder: Path, settings: dict[str, dict[str, Any]]) -> Iterator[Server]:
    port, token, root = free_port(), secrets.token_hex(16), folder / "root"
    (root / "inner").mkdir(parents=True)
    kernels = folder / "data" / "kernels"
    for name, language, source in (("toy", "toy", TOY_KERNEL), ("mute", "python", MUTE_KERNEL)):
        (kernels / name).mkdir(parents=True)
        (kernels / name / "kernel.py").write_text(source, encoding="utf-8")
        argv = [sys.executable, str(kernels / name / "kernel.py"), "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": name.capitalize(), "language": language}
        (kernels / name / "kernel.json").write_text(json.dumps(spec))
    settings[app] |= {"ip": "127.0.0.1", "port": port}
    if app == "ServerApp":
        settings["ServerApp"] |= {"root_dir": str(root)}
        settings["IdentityProvider"] = {"token": token}
    else:
        settings[app] |= {"auth_token": token}
    config = folder / "config.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    places = {"JUPYTER_DATA_DIR": "data", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "runtime"}
    env = {**os.environ, **{name: str(folder / place) for name, place in places.items()}}
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", module, f"--config={config}"], stdout=log, stderr=log, cwd=root, env=env
    )
    server = Server(url=f"http://127.0.0.1:{port}", port=port, token=token, root=root)
    try:
        _wait_until_it_answers(server, process, folder / "log")
        yield server
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def _wait_until_it_answers(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError, urllib.error.URLError):
            server.ask("GET", "api/kernelspecs")
            return
        time.sleep(0.05)
    pytest.fail(f"no server: {log.read_text()}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Proxy:
    """Passes bytes on between clients and a server, until told to break what is open."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._transports: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.refuses = False
        self.was_cut = asyncio.Event()
        self.connections = 0
        # How many more bytes pass from the server to the client before all is cut; None for any number.
        self.allowance: int | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def cut_once(self, *, refuse: bool = False) -> Callable[[object], None]:
        """A callable that breaks every connection when it is first called, and does nothing afterwards."""
        was_cut = False

        def cut(_: object) -> None:
            nonlocal was_cut
            if not was_cut:
                was_cut, self.refuses = True, refuse
                self.cut()

        return cut

    def cut(self) -> None:
        """Break every connection at once, as a network does: what is on its way is lost."""
        self.was_cut.set()
        for transport in self._transports:
            transport.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        self.connections += 1
        upstream_reader, upstream = await asyncio.open_connection("127.0.0.1", self._target)
        self._transports |= {writer, upstream}
        out = asyncio.create_task(self._pump(reader, upstream, limited=False))
        back = asyncio.create_task(self._pump(upstream_reader, writer, limited=True))
        self._tasks |= {out, back}
        await asyncio.wait([out, back], return_when=asyncio.FIRST_COMPLETED)
        for transport in (writer, upstream):
            transport.transport.abort()
            self._transports.discard(transport)
        await asyncio.wait([out, back])

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, limited: bool) -> None:
        with suppress(OSError):
            while data := await reader.read(65_536):
                if limited and self.allowance is not None:
                    self.allowance -= len(data)
                    if self.allowance < 0:
                        self.allowance = None
                        self.cut()
                        return
                writer.write(data)
                await writer.drain()


@asynccontextmanager
async def proxy_to(server: Server) -> AsyncIterator[Proxy]:
    proxy = Proxy(server.port)
    listener = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        proxy.cut()
        await asyncio.wait_for(listener.wait_closed(), PATIENCE)
        if proxy._tasks:
            await asyncio.wait(proxy._tasks)


async def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
