"""A Jupyter Server as it comes, its output rate limits included: where a remote kernel is measured."""

from __future__ import annotations

import json
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 60.0


@dataclass(frozen=True, slots=True)
class StockServer:
    """A server that answers."""

    url: str
    token: str = field(repr=False)


@contextmanager
def stock_server(folder: Path) -> Iterator[StockServer]:
    """As long as the context lasts. Only its address, its token and its folder are set."""
    root, config = folder / "root", folder / "config.json"
    root.mkdir(parents=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    server = StockServer(url=f"http://127.0.0.1:{port}", token=secrets.token_hex(16))
    settings: dict[str, dict[str, object]] = {
        "ServerApp": {"ip": "127.0.0.1", "port": port, "port_retries": 0, "root_dir": str(root)},
        "IdentityProvider": {"token": server.token},
    }
    settings["ServerApp"] |= {"open_browser": False, "allow_root": True}
    config.write_text(json.dumps(settings), encoding="utf-8")
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-m", "jupyter_server", f"--config={config}"]
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=root)
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


def _wait_until_it_answers(server: StockServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    request = urllib.request.Request(f"{server.url}/api/status", headers={"Authorization": f"token {server.token}"})
    while process.poll() is None and time.monotonic() < deadline:
        with suppress(OSError, urllib.error.URLError), urllib.request.urlopen(request, timeout=5):
            return
        time.sleep(0.05)
    raise AssertionError(f"no Jupyter Server: {log.read_text(errors='replace')[-2000:]}")
