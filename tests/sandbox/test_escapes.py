"""Nothing gets out of a sandbox but what the pages say."""

from __future__ import annotations

import ctypes
import json
import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.kernel.local.kernel import LocalKernel
from notebook_bcc.kernel.local.launcher import Launcher, PlainLauncher
from notebook_bcc.lifecycle.sandboxing import SandboxLauncher
from notebook_bcc.sandbox.bubblewrap import Bubblewrap
from notebook_bcc.sandbox.inside.confine import landlock_abi
from notebook_bcc.sandbox.interface import Rung, Sandbox
from notebook_bcc.sandbox.landlock import Landlock
from notebook_bcc.sandbox.rungs import try_rung
from sandbox.escapes import BEGIN, ESCAPES, SIGNALS, cell

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform != "linux", reason="both sandboxes need Linux")]

SECRET = "hush-hush"
# Landlock knows signals and abstract sockets from this version on.
SCOPES = 6
SIGNALLED = set(SIGNALS)
# In a folder of its own that has the name of one outside they succeed: whether they got out is seen outside.
CHANGES = {
    name for name in ESCAPES if name.startswith(("write", "append", "empty", "delete", "make a folder", "move", "put"))
} | {"open the journal as a database", "take the lock"}
INSIDE = """
import tempfile
open('made.txt', 'w').write('x')
tempfile.NamedTemporaryFile().write(b'x')
print(len(open({inputs!r} + '/data.csv').read()))
"""


@dataclass
class Outside:
    """What is there outside, and what has come out."""

    facts: dict[str, Any]
    datagrams: socket.socket
    free: int

    @property
    def has_heard(self) -> bool:
        with suppress(BlockingIOError):
            return bool(self.datagrams.recv(100))
        return False

    @property
    def can_reach_in(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.free), 1):
            return True
        return False


@pytest.fixture
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Outside]:
    folders = {name: tmp_path / name for name in ("outside", "home", "run", "run/work", "run/inputs")}
    for folder in folders.values():
        folder.mkdir()
    # The last one is made by what looks for kernelspecs, in our own process.
    for name in ("outside/removable", "home/.ssh", "home/.ipython"):
        (tmp_path / name).mkdir()
    for name in (
        "outside/secret.txt",
        "home/.ssh/id_rsa",
        "run/journal.sqlite",
        "run/run.lock",
        "outside/removable.txt",
    ):
        (tmp_path / name).write_text(SECRET)
    (tmp_path / "run/inputs/data.csv").write_text("a,b\n1,2\n")
    (tmp_path / "run/work/link-made-before").symlink_to(tmp_path / "outside/secret.txt")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("NBCC_TEST_VARIABLE", "OPENAI_API_KEY", "SSH_AUTH_SOCK"):
        monkeypatch.setenv(name, SECRET)
    text = ctypes.create_string_buffer(SECRET.encode())
    with ExitStack() as stack:
        shared = Path("/dev/shm") / f"nbcc-{uuid.uuid4().hex}"
        temporary = Path("/tmp") / f"nbcc-test-{uuid.uuid4().hex}"
        for path in (shared, temporary):
            path.write_text(SECRET)
            stack.callback(path.unlink)
        kinds: dict[str, tuple[int, int, Any]] = {
            "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            "free": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            "stream": (socket.AF_UNIX, socket.SOCK_STREAM, str(tmp_path / "s")),
            "datagram": (socket.AF_UNIX, socket.SOCK_DGRAM, str(tmp_path / "d")),
            "abstract": (socket.AF_UNIX, socket.SOCK_STREAM, f"\0nbcc-{uuid.uuid4().hex}"),
        }
        made = {}
        for name, (family, kind, address) in kinds.items():
            made[name] = stack.enter_context(socket.socket(family, kind))
            made[name].bind(address)
            if kind == socket.SOCK_STREAM and name != "free":
                made[name].listen()
        made["udp"].setblocking(False)
        free = made["free"].getsockname()[1]
        made["free"].close()
        other = subprocess.Popen([sys.executable, "-c", "input()", "nbcc-other-process"], stdin=subprocess.PIPE)
        stack.callback(other.wait)
        stack.callback(other.kill)
        assert other.stdin is not None
        stack.enter_context(other.stdin)
        yield Outside(
            {
                "outside": str(tmp_path / "outside"),
                "secret": str(tmp_path / "outside/secret.txt"),
                "home": str(tmp_path / "home"),
                "run": str(tmp_path / "run"),
                "work": str(tmp_path / "run/work"),
                "inputs": str(tmp_path / "run/inputs"),
                "temporary": str(temporary),
                "shared_memory": str(shared),
                "tcp": made["tcp"].getsockname()[1],
                "udp": made["udp"].getsockname()[1],
                "free": free,
                "stream_socket": str(tmp_path / "s"),
                "datagram_socket": str(tmp_path / "d"),
                "abstract": kinds["abstract"][2],
                "nbcc": os.getpid(),
                "other": other.pid,
                "address": ctypes.addressof(text),
                "message_queue": False,
                "is_shared_host": False,
            },
            made["udp"],
            free,
        )


def needs(rung: Rung) -> None:
    report = try_rung(rung)
    if not report.works:
        pytest.skip(f"NOT TESTED: {rung} does not work here: {report.why}")


def tree(outside: Outside) -> dict[str, tuple[int, float, bytes]]:
    """Everything outside the working directory, as it is: a file of the same name inside is not the one outside."""
    root = Path(outside.facts["outside"]).parent
    kept = [path for path in root.rglob("*") if not path.is_relative_to(outside.facts["work"]) and not path.is_socket()]
    return {
        str(path): (
            path.stat().st_mode,
            path.stat().st_mtime if path.is_file() else 0.0,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in kept
    }


async def attempts(launcher: Launcher, outside: Outside, escapes: Mapping[str, str]) -> dict[str, str]:
    """What each of them said, in one kernel. What is allowed inside works there."""
    work, inputs = Path(outside.facts["work"]), outside.facts["inputs"]
    kernel = LocalKernel(cwd=work, launcher=launcher)
    said = {}
    try:
        await kernel.start()
        begun = await kernel.execute(BEGIN.format(place=json.dumps(outside.facts)))
        assert begun.error is None, begun.error
        for name, body in escapes.items():
            done = await kernel.execute(cell(body), time_limit=30)
            said[name] = "".join(one.get("text", "") for one in done.outputs).strip() or str(done.error)
        if outside.can_reach_in:
            said["listen for others"] = "True"
        inside = await kernel.execute(INSIDE.format(inputs=inputs))
    finally:
        await kernel.close()
    assert inside.error is None, inside.error
    assert inside.outputs[0]["text"] == "8\n"
    assert (work / "made.txt").read_text() == "x"
    if outside.has_heard:
        said["send a datagram"] = "True"
    return said


async def escaped(sandbox: Sandbox, outside: Outside) -> set[str]:
    before = tree(outside)
    launcher = SandboxLauncher(sandbox, readable=[Path(outside.facts["inputs"])], network=False)
    said = await attempts(launcher, outside, ESCAPES)
    after = tree(outside)
    assert after == before
    return {name for name, text in said.items() if text == "True"} - CHANGES


def test_there_are_at_least_sixty_ways_to_try() -> None:
    assert len(ESCAPES) >= 60


async def test_without_a_sandbox_they_succeed_so_that_the_table_means_something(outside: Outside) -> None:
    harmless = {
        name: body
        for name, body in ESCAPES.items()
        if name.startswith(("read", "list", "see", "find", "connect", "send", "signal", "append"))
    }
    said = await attempts(PlainLauncher(), outside, harmless)
    assert sum(text == "True" for text in said.values()) >= 30, said


async def test_nothing_gets_out_of_bubblewrap(outside: Outside) -> None:
    needs("bubblewrap")
    assert await escaped(Bubblewrap(), outside) == set()


@pytest.mark.parametrize("abi", [1, 2, 4, 99])
async def test_nothing_gets_out_of_landlock_but_signals_before_its_sixth_version(outside: Outside, abi: int) -> None:
    needs("landlock")
    expected = SIGNALLED if min(abi, landlock_abi()) < SCOPES else set()
    assert await escaped(Landlock(abi=abi), outside) == expected
