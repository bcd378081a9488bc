"""A kernel's process: launched from its kernelspec, watched, signalled, ended, with its last words kept."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from string import Template

from jupyter_client.connect import write_connection_file
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel
from jupyter_client.launcher import launch_kernel

from notebook_bcc.errors import KernelStartFailed
from notebook_bcc.protocol.secret_variables import SECRET_VARIABLES

# The longest path a unix socket can have is 107 bytes on Linux and 103 on macOS; "-5" is appended to ours.
_LONGEST_SOCKET_PATH = 100
# A quarter of a kernel's start is the import of its debugger, which nobody can reach: the sockets' names are removed.
# `inside/unattended` allows it again, for cells that import debugpy themselves.
_WITHOUT_DEBUGGER = (
    "import runpy, sys; sys.modules['debugpy.server'] = None; "
    "runpy.run_module('ipykernel_launcher', run_name='__main__', alter_sys=True)"
)
_LAST_WORDS = 8_192
# How the report of a crash begins, which faulthandler writes.
_CRASH = "Fatal Python error"
_POLL_SECONDS = 0.1
_KILL_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a kernel listens, and the key that signs every message."""

    transport: str
    ip: str
    key: bytes
    ports: Mapping[str, int]

    def address(self, channel: str) -> str:
        port = self.ports[channel]
        return f"ipc://{self.ip}-{port}" if self.transport == "ipc" else f"tcp://{self.ip}:{port}"


def find_kernelspec(name: str) -> KernelSpec:
    """The kernelspec of that name. Raises KernelStartFailed when it is missing, broken or not for a local process."""
    manager = KernelSpecManager()
    try:
        spec = manager.get_kernel_spec(name)
    except NoSuchKernel as error:
        known = ", ".join(sorted(manager.find_kernel_specs())) or "none"
        raise KernelStartFailed(kernel=name, reason=f"no such kernel is installed; installed: {known}") from error
    except (OSError, ValueError, TypeError) as error:
        raise KernelStartFailed(kernel=name, reason=f"its kernel.json cannot be read: {error}") from error
    if not spec.argv:
        raise KernelStartFailed(kernel=name, reason="its kernel.json has no command (argv is empty)")
    provisioner = spec.metadata.get("kernel_provisioner", {}).get("provisioner_name", "local-provisioner")
    if provisioner != "local-provisioner":
        raise KernelStartFailed(kernel=name, reason=f"it needs the provisioner {provisioner!r}, not a local process")
    return spec


class KernelProcess:
    """Runs in a process group of its own. Its sockets and key are in a private folder until we are connected."""

    def __init__(
        self, *, name: str, arguments: Sequence[str], lean: bool, cwd: str | None, env: Mapping[str, str] | None
    ) -> None:
        """`arguments` and `lean` are for ipykernel; other kernels are not touched by them. Raises KernelStartFailed."""
        self._name = name
        self.spec = find_kernelspec(name)
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._on_end: Callable[[], None] = lambda: None
        self._words = bytearray()
        self._pidfd: int | None = None
        self._poll: asyncio.TimerHandle | None = None
        self._folder = Path(tempfile.mkdtemp(prefix="nbcc-"))
        try:
            self.connection = self._connect()
            self._process = self._launch(self._command(arguments, lean=lean), cwd, env)
        except BaseException:
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        self.pid: int = self._process.pid
        assert self._process.stderr is not None
        self._stderr = self._process.stderr
        os.set_blocking(self._stderr.fileno(), False)
        self._loop.add_reader(self._stderr.fileno(), self._read_words)
        self._watch()

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._ended.result() if self._ended.done() else None

    @property
    def last_words(self) -> str:
        """The end of what it wrote to its own standard error (not what cells wrote)."""
        with suppress(ValueError):
            self._read_words()
        return self._words.decode("utf-8", "replace").strip()

    def when_ended(self, call: Callable[[], None]) -> None:
        self._on_end = call

    def cause(self) -> str:
        """Why it ended, in words."""
        words = self.last_words
        # What was logged before a crash has not ended the process.
        words = words[max(0, words.rfind(_CRASH)) :]
        if len(words) > 2_000:
            # A crash report says what happened at its beginning, an exception at its end.
            words = f"{words[:1_000]}\n[... {len(words) - 2_000} characters cut ...]\n{words[-1_000:]}"
        return describe_exit(self.exit_code) + (f"; its last words: {words}" if words else "")

    def send(self, number: signal.Signals) -> None:
        """Signal the whole group, so that a cell's subprocesses get it too. No error when it is gone."""
        if self.exit_code is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, number)

    async def wait(self, seconds: float) -> bool:
        """Whether it ended within that time."""
        await asyncio.wait([self._ended], timeout=seconds)
        return self._ended.done()

    async def end(self, *, patience: float) -> signal.Signals | None:
        """SIGTERM, then SIGKILL after `patience` seconds; the signal that did it, None if it had ended before."""
        if self.exit_code is not None:
            return None
        self.send(signal.SIGTERM)
        if await self.wait(patience):
            return signal.SIGTERM
        await self.kill()
        return signal.SIGKILL

    async def kill(self) -> None:
        self.send(signal.SIGKILL)
        # Not for ever: a process that waits for a broken disk cannot be ended by anyone.
        await self.wait(_KILL_SECONDS)

    def remove_folder(self) -> None:
        """Connected sockets need no names: nobody else gets in any more, and a kill -9 of us leaves nothing behind."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def release(self) -> None:
        """Close what belongs to the process, which has ended. May be called twice."""
        if not self._stderr.closed:
            self._loop.remove_reader(self._stderr.fileno())
            self._stderr.close()
        self._unwatch()
        self.remove_folder()

    def _connect(self) -> Connection:
        sockets = str(self._folder / "k")
        ipc = sys.platform != "win32" and len(os.fsencode(sockets)) <= _LONGEST_SOCKET_PATH
        key = os.urandom(32).hex().encode("ascii")
        _, found = write_connection_file(
            str(self._folder / "connection.json"),
            transport="ipc" if ipc else "tcp",
            ip=sockets if ipc else "127.0.0.1",
            key=key,
            kernel_name=self._name,
        )
        ports = {"shell": found["shell_port"], "iopub": found["iopub_port"], "control": found["control_port"]}
        return Connection(transport=found["transport"], ip=found["ip"], key=key, ports=ports)

    def _command(self, arguments: Sequence[str], *, lean: bool) -> list[str]:
        places = {
            "connection_file": str(self._folder / "connection.json"),
            "prefix": sys.prefix,
            "resource_dir": self.spec.resource_dir,
        }
        command = [re.sub(r"\{(\w+)\}", lambda m: places.get(m[1], m[0]), part) for part in self.spec.argv]
        if command[0] in ("python", "python3", f"python3.{sys.version_info.minor}"):
            # Our own environment's Python, which need not be first on PATH.
            command[0] = sys.executable
        if lean and command[1:3] == ["-m", "ipykernel_launcher"]:
            command[1:3] = ["-c", _WITHOUT_DEBUGGER]
        if any("ipykernel" in part for part in command):
            command += arguments
        return command

    def _launch(self, command: list[str], cwd: str | None, env: Mapping[str, str] | None) -> subprocess.Popen[bytes]:
        settings = {key: Template(value).safe_substitute(os.environ) for key, value in self.spec.env.items()}
        try:
            process: subprocess.Popen[bytes] = launch_kernel(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=cwd,
                env={**_inherited(), **settings, **(env or {})},
            )
        except OSError as error:
            raise KernelStartFailed(kernel=self._name, reason=f"{command[0]!r} cannot be run: {error}") from error
        return process

    def _read_words(self) -> None:
        with suppress(BlockingIOError):
            data = os.read(self._stderr.fileno(), 65_536)
            self._words += data
            del self._words[:-_LAST_WORDS]
            if not data:
                self._loop.remove_reader(self._stderr.fileno())

    def _watch(self) -> None:
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            self._poll = self._loop.call_later(_POLL_SECONDS, self._look)
        else:
            self._loop.add_reader(self._pidfd, self._look)

    def _look(self) -> None:
        code = self._process.poll()
        if code is None:
            if self._pidfd is None:
                self._poll = self._loop.call_later(_POLL_SECONDS, self._look)
            return
        self._unwatch()
        # A subprocess that a cell left behind is in the group still; nobody else will end it.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        if not self._ended.done():
            self._ended.set_result(code)
            self._on_end()

    def _unwatch(self) -> None:
        if self._poll is not None:
            self._poll.cancel()
        if self._pidfd is not None:
            self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = None


def describe_exit(code: int | None) -> str:
    """An exit code in words; a signal by its name."""
    if code is None:
        return "it does not answer"
    if code >= 0:
        return f"its process ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = "unknown signal"
    hint = "; often the system's out-of-memory killer" if -code == signal.SIGKILL else ""
    return f"killed by signal {-code} ({name}){hint}"


def _inherited() -> dict[str, str]:
    """Our environment without our own secrets: what runs in a cell has no business with them.

    A backend for figures that a shell asks for is left out too: in a notebook figures are shown where they are drawn.
    Threads of numeric libraries that wait for each other spin for some microseconds and then sleep. Where they spun on,
    a fit was seen to take ten times as long beside busy neighbours; where they slept at once, two to six times alone.
    """
    kept = {name: value for name, value in os.environ.items() if name not in SECRET_VARIABLES | {"MPLBACKEND"}}
    return kept if "OMP_WAIT_POLICY" in kept else {"GOMP_SPINCOUNT": "1000", **kept}
