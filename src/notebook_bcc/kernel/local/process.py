"""A kernel's process: launched from its kernelspec, watched, signalled, ended, with its last words kept."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from jupyter_client.connect import write_connection_file
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager, NoSuchKernel

from notebook_bcc.errors import KernelStartFailed
from notebook_bcc.kernel.interface import KernelUsage
from notebook_bcc.kernel.local.launcher import Launch, Launcher
from notebook_bcc.kernel.local.usage import ResourceLimits
from notebook_bcc.kernel.supervisor.folders import END, LOG, Lifetime, make_folder, open_log
from notebook_bcc.kernel.supervisor.link import Message, SupervisorLink, start_supervisor
from notebook_bcc.protocol.secret_variables import SECRET_VARIABLES

# The longest path a unix socket can have is 107 bytes on Linux and 103 on macOS; "-5" is appended to ours.
_LONGEST_SOCKET_PATH = 100
# A quarter of a kernel's start is the import of its debugger, which nobody can reach: the sockets' names are removed.
# `inside/unattended` allows it again, for cells that import debugpy themselves.
_WITHOUT_DEBUGGER = (
    "import runpy, sys; sys.modules['debugpy.server'] = None; "
    "runpy.run_module('ipykernel_launcher', run_name='__main__', alter_sys=True)"
)
_CONNECTION = "connection.json"
_LAST_WORDS = 8_192
# How the report of a crash begins, which faulthandler writes.
_CRASH = "Fatal Python error"
_KILL_SECONDS = 10.0
_SIGNALLED = 128


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
    """A kernel's process, spoken to by way of its supervisor. In a session of its own; its sockets and key are in a
    private folder until we are connected or, for a kernel that lasts, until its end."""

    def __init__(
        self,
        link: SupervisorLink,
        *,
        name: str,
        spec: KernelSpec,
        connection: Connection,
        folder: Path,
        log: int,
        started: Message,
        in_pid_namespace: bool,
        interrupt_by_message: bool,
        seal: str = "",
    ) -> None:
        """Owns `link` and the descriptor `log`."""
        self._name = name
        self._link = link
        self._log = log
        self._said_starting = 0
        self._on_end: Callable[[], None] = lambda: None
        # Why we ended it ourselves, where a limit was exceeded.
        self.exceeded = ""
        self._in_pid_namespace = in_pid_namespace
        self.spec = spec
        self.connection = connection
        self.folder = folder
        self.pid: int = started["started"]
        self.sink: int = started["sink"]
        self.interrupt_by_message = interrupt_by_message or spec.interrupt_mode == "message"
        self.seal = seal
        link.ended.add_done_callback(lambda _: self._on_end())

    @property
    def exit_code(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        if not self._link.ended.done():
            return None
        code = self._link.ended.result()[0]
        # Whoever stands between us and a process in a namespace of its own tells its signals as a shell does.
        return _SIGNALLED - code if self._in_pid_namespace and code > _SIGNALLED else code

    @property
    def last_words(self) -> str:
        """The end of what it wrote to its own standard error (not what cells wrote)."""
        if self._log < 0:
            return ""
        size = os.fstat(self._log).st_size
        # A log that was cut is shorter than it was.
        start = max(0, size - _LAST_WORDS, self._said_starting if self._said_starting <= size else 0)
        return os.pread(self._log, _LAST_WORDS, start).decode("utf-8", "replace").strip()

    def has_started(self) -> None:
        """What it has said until now has not ended it: ipykernel 7.0 logs an error at every start."""
        if self._log >= 0:
            self._said_starting = os.fstat(self._log).st_size

    def when_ended(self, call: Callable[[], None]) -> None:
        self._on_end = call

    def cause(self) -> str:
        """Why it ended, in words."""
        if self.exceeded:
            return f"it was ended: {self.exceeded}"
        words = self.last_words
        # What was logged before a crash has not ended the process.
        words = words[max(0, words.rfind(_CRASH)) :]
        if len(words) > 2_000:
            # A crash report says what happened at its beginning, an exception at its end.
            words = f"{words[:1_000]}\n[... {len(words) - 2_000} characters cut ...]\n{words[-1_000:]}"
        why = self._link.ended.result()[1] if self._link.ended.done() else ""
        return (why or describe_exit(self.exit_code)) + (f"; its last words: {words}" if words else "")

    def send(self, number: signal.Signals) -> None:
        """Signal the whole group, so that a cell's subprocesses get it too. No error when it is gone."""
        self._link.send(signal=int(number))

    def expect_cell(self, time_limit: float | None) -> None:
        """Say how long the next cell may run, for the case that nobody is there to stop it."""
        self._link.send(limit=time_limit)

    async def usage(self) -> KernelUsage:
        """What the kernel takes with all processes that cells have started. Raises KernelFailed."""
        state = await self._link.ask(ask="state")
        return KernelUsage(memory_bytes=state["memory"], cpu_seconds=state["cpu"])

    async def wait(self, seconds: float) -> bool:
        """Whether it ended within that time."""
        await asyncio.wait([self._link.ended], timeout=seconds)
        return self._link.ended.done()

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
        shutil.rmtree(self.folder, ignore_errors=True)

    def release(self) -> None:
        """Let go of the process, which goes on if it has not ended and is to last. May be called twice."""
        self.when_ended(lambda: None)
        self._link.close()
        if self._log >= 0:
            os.close(self._log)
            self._log = -1


async def launch_process(
    *,
    name: str,
    arguments: Sequence[str],
    lean: bool,
    cwd: str | None,
    env: Mapping[str, str] | None,
    launcher: Launcher,
    limits: ResourceLimits,
    lifetime: Lifetime,
) -> KernelProcess:
    """Start a kernel with a supervisor of its own. `arguments` and `lean` are for ipykernel; other kernels are not
    touched by them. Raises KernelStartFailed."""
    spec = find_kernelspec(name)
    folder, log, link = Path(), -1, None
    try:
        folder = make_folder(lifetime)
        log = open_log(lifetime, folder)
        connection = _connect(folder, name)
        settings = {key: Template(value).safe_substitute(os.environ) for key, value in spec.env.items()}
        whole = {**_inherited(), **settings, **(env or {})}
        command = _command(spec, folder, arguments, lean=lean)
        launch = launcher.prepare(command, folder=folder, cwd=cwd, env=whole)
        try:
            link = await start_supervisor(
                _order(launch, limits, lifetime, folder), env=launch.env, log=log, pass_fds=launch.pass_fds
            )
        finally:
            for descriptor in launch.pass_fds:
                os.close(descriptor)
        started = await link.started
        if "failed" in started:
            reason = f"{launch.argv[0]!r} cannot be run: {started['failed']}"
            raise KernelStartFailed(kernel=name, reason=reason)
    except BaseException as error:
        if link is not None:
            link.close()
        if log >= 0:
            os.close(log)
        if folder != Path():
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            reason = f"it cannot be started: {error.strerror or error}"
            raise KernelStartFailed(kernel=name, reason=reason) from error
        raise
    return KernelProcess(
        link,
        name=name,
        spec=spec,
        connection=connection,
        folder=folder,
        log=log,
        started=started,
        in_pid_namespace=launch.in_pid_namespace,
        interrupt_by_message=launch.interrupt_by_message,
        seal=launch.seal,
    )


def join_process(link: SupervisorLink, state: Message, *, name: str, folder: Path) -> KernelProcess:
    """The process of a kernel that was left, from what its supervisor says. Raises KernelStartFailed, OSError."""
    return KernelProcess(
        link,
        name=name,
        spec=find_kernelspec(name),
        connection=_read_connection(folder / _CONNECTION),
        folder=folder,
        log=os.open(state["log"], os.O_RDONLY | os.O_CLOEXEC) if os.path.exists(state["log"]) else -1,
        started={"started": state["kernel"], "sink": -1},
        in_pid_namespace=state["in_pid_namespace"],
        interrupt_by_message=state["interrupt_by_message"],
    )


def _order(launch: Launch, limits: ResourceLimits, lifetime: Lifetime, folder: Path) -> Message:
    kept = None if lifetime.folder is None else lifetime.folder / folder.name
    return {
        "argv": launch.argv,
        "cwd": launch.cwd,
        "folder": str(folder),
        "folders": [str(one) for one in launch.folders],
        "memory_bytes": limits.memory_bytes,
        "processes": limits.processes,
        "end": str(kept.with_suffix(END)) if kept is not None else "",
        "idle": lifetime.idle,
        "run": lifetime.run,
        "hears_signals": not launch.interrupt_by_message,
        "about": {
            "log": str(kept.with_suffix(LOG)) if kept is not None else "",
            "in_pid_namespace": launch.in_pid_namespace,
            "interrupt_by_message": launch.interrupt_by_message,
        },
    }


def _connect(folder: Path, name: str) -> Connection:
    sockets = str(folder / "k")
    ipc = sys.platform != "win32" and len(os.fsencode(sockets)) <= _LONGEST_SOCKET_PATH
    write_connection_file(
        str(folder / _CONNECTION),
        transport="ipc" if ipc else "tcp",
        ip=sockets if ipc else "127.0.0.1",
        key=os.urandom(32).hex().encode("ascii"),
        kernel_name=name,
    )
    return _read_connection(folder / _CONNECTION)


def _read_connection(path: Path) -> Connection:
    found = json.loads(path.read_text(encoding="utf-8"))
    ports = {channel: found[f"{channel}_port"] for channel in ("shell", "iopub", "control")}
    return Connection(transport=found["transport"], ip=found["ip"], key=found["key"].encode("ascii"), ports=ports)


def _command(spec: KernelSpec, folder: Path, arguments: Sequence[str], *, lean: bool) -> list[str]:
    places = {
        "connection_file": str(folder / _CONNECTION),
        "prefix": sys.prefix,
        "resource_dir": spec.resource_dir,
    }
    command = [re.sub(r"\{(\w+)\}", lambda m: places.get(m[1], m[0]), part) for part in spec.argv]
    if command[0] in ("python", "python3", f"python3.{sys.version_info.minor}"):
        # Our own environment's Python, which need not be first on PATH.
        command[0] = sys.executable
    if lean and command[1:3] == ["-m", "ipykernel_launcher"]:
        command[1:3] = ["-c", _WITHOUT_DEBUGGER]
    if any("ipykernel" in part for part in command):
        command += arguments
    return command


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
