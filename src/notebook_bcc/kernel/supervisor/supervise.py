"""One kernel's supervisor: starts it, outlives whoever asked for it, and ends it with all that it has started.

A script of the standard library alone, run in a session of its own by `python -I -S supervise.py`: a closed terminal, a
Ctrl-C or a kill -9 of `nbcc` does not reach it. It gets its order as JSON on standard input, and one end of a socket
pair as its first connection. More connections come by the socket `control` in the order's folder. On each of them a
line of JSON is a message.

Somebody is there as long as a connection is open that holds the kernel. Whether a cell runs the kernel says through a
pipe: `+` when a cell begins, `-` when it has ended. If nobody is there, the kernel ends after the idle time, and a cell
that runs by its own limit.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import Any

CONTROL = "control"
STATE = "state.json"
NOTE = "ended-"
LEFT_AT_MOST = 4
MEMORY_SHARE = 0.25
# How long a cell may go on that nobody waits for and that has no limit of its own.
ALONE_SECONDS = 24 * 3600.0
_LOOK_SECONDS = 5.0
_GRACE_SECONDS = 10.0
_LARGEST_LOG = 8_000_000
_KEPT_LOG = 1_000_000
_LARGEST_MESSAGE = 1_000_000
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_LINUX = sys.platform == "linux"


@dataclass(frozen=True)
class Process:
    """What the system knows of a process. `started` tells it from a later one of the same number."""

    pid: int
    parent: int
    group: int
    started: str
    memory: int
    cpu: float


def process_table() -> dict[int, Process]:
    """All processes that can be seen; empty where there is no /proc."""
    found = {}
    for name in os.listdir("/proc") if _LINUX else ():
        if name.isdigit() and (one := read_process(int(name))) is not None:
            found[one.pid] = one
    return found


def read_process(pid: int) -> Process | None:
    """None when there is no such process, or only what is left of one that has ended."""
    if not _LINUX:
        found = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return Process(pid, 0, 0, found.stdout.strip(), 0, 0.0) if found.stdout.strip() else None
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            # The name in brackets may hold anything, brackets too.
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    if fields[0] in "ZX":
        return None
    cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    memory = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return Process(pid, int(fields[1]), int(fields[2]), fields[19], memory, cpu)


def is_running(pid: int, started: str) -> bool:
    """Whether that very process still exists."""
    found = read_process(pid)
    return found is not None and found.started == started


def family(pid: int) -> list[Process]:
    """The processes that descend from one, without itself; where they cannot be seen, none."""
    table = process_table()
    inside = {pid}
    grew = True
    while grew:
        more = {one.pid for one in table.values() if one.parent in inside} - inside
        inside |= more
        grew = bool(more)
    return [table[one] for one in sorted(inside - {pid}) if one in table]


def whole_memory() -> int:
    """The memory of the machine, or of the control group that this process is in, in bytes."""
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    with contextlib.suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max", encoding="ascii") as file:
        whole = min(whole, int(file.read()))
    return whole


@dataclass
class Peer:
    socket: socket.socket
    holds: bool = False
    received: bytearray = field(default_factory=bytearray)

    def tell(self, **message: Any) -> None:
        # Who does not read is not waited for: the buffer of a socket holds thousands of such lines.
        with contextlib.suppress(OSError):
            self.socket.send(json.dumps(message).encode() + b"\n", getattr(socket, "MSG_NOSIGNAL", 0))


class Supervisor:
    """Owns the kernel's process, the socket `control` and the folder, and removes the folder at its end."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self._idle: float = order["idle"]
        self._folder: str = order["folder"]
        self._connections: list[Peer] = []
        self._selector = selectors.DefaultSelector()
        self._limit: float | None = None
        self._busy_since: float | None = None
        self._idle_since = time.monotonic()
        self._left_since: float | None = None
        self._left_at = 0.0
        self._ran = False
        self._overdue: float | None = None
        self._looked = time.monotonic()
        self._ended: int | None = None
        self._why = ""
        self._me = read_process(os.getpid())

    def run(self) -> None:
        """Start the kernel and stay until it has ended."""
        self._hear_signals()
        self._connect(Peer(socket.socket(fileno=self._order["client"]), holds=True))
        if not self._start():
            return
        if self._idle > 0:
            self._listen()
        while self._ended is None:
            for key, _ in self._selector.select(self._next_look()):
                key.data()
            self._look()
        self._end_family()
        self._keep_end()
        for folder in (self._folder, *self._order["folders"]):
            shutil.rmtree(folder, ignore_errors=True)
        for connection in self._connections:
            connection.tell(ended=self._ended, why=self._why)

    def _hear_signals(self) -> None:
        here, self._wakes = socket.socketpair()
        for end in (here, self._wakes):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno())
        # Handlers and not SIG_IGN, which the kernel would inherit.
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.signal(signal.SIGTERM, lambda *_: self._end("its supervisor was asked to end"))
        self._selector.register(here, selectors.EVENT_READ, lambda: self._signalled(here))

    def _signalled(self, here: socket.socket) -> None:
        here.recv(4096)
        self._reap()

    def _start(self) -> bool:
        order = self._order
        source, sink = os.pipe()
        os.set_blocking(source, False)
        try:
            process = subprocess.Popen(
                order["argv"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                cwd=order["cwd"],
                pass_fds=[*order["pass_fds"], sink],
                start_new_session=True,
                preexec_fn=_ends_with_parent(),
            )
        except OSError as error:
            self._connections[0].tell(failed=str(error))
            return False
        # Its end is seen by `_reap`, which hears of every child.
        process.returncode = 0
        self._kernel = process.pid
        found = read_process(process.pid)
        self._started = found.started if found is not None else ""
        os.close(sink)
        for descriptor in order["pass_fds"]:
            os.close(descriptor)
        self._selector.register(source, selectors.EVENT_READ, lambda: self._cells(source))
        self._connections[0].tell(started=process.pid, sink=sink)
        return True

    def _listen(self) -> None:
        # By a relative name: a path may be longer than the name of a socket.
        os.chdir(self._folder)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(CONTROL)
        listener.listen()
        self._selector.register(listener, selectors.EVENT_READ, lambda: self._connect(Peer(listener.accept()[0])))
        self._write_state()

    def _connect(self, connection: Peer) -> None:
        connection.socket.setblocking(False)
        self._connections.append(connection)
        self._selector.register(connection.socket, selectors.EVENT_READ, lambda: self._read(connection))

    def _read(self, connection: Peer) -> None:
        try:
            data = connection.socket.recv(65_536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        connection.received += data
        while data and b"\n" in connection.received:
            line, _, rest = bytes(connection.received).partition(b"\n")
            connection.received[:] = rest
            # A kernel is not to end by a message of another version of ours.
            with contextlib.suppress(ValueError, KeyError, TypeError):
                self._obey(connection, json.loads(line))
        if not data or len(connection.received) > _LARGEST_MESSAGE:
            self._selector.unregister(connection.socket)
            self._connections.remove(connection)
            connection.socket.close()
            self._count_holders()

    def _obey(self, connection: Peer, message: dict[str, Any]) -> None:
        if "hold" in message:
            connection.holds = True
            self._count_holders()
            connection.tell(state=self._state())
        elif "ask" in message:
            connection.tell(state=self._state())
        elif "signal" in message:
            self._signal(message["signal"])
        elif "limit" in message:
            self._limit = message["limit"]
        elif "end" in message:
            self._end(message["end"])

    def _count_holders(self) -> None:
        held = any(connection.holds for connection in self._connections)
        if held == (self._left_since is None):
            return
        self._left_since, self._left_at = (None, 0.0) if held else (time.monotonic(), time.time())
        if self._idle > 0:
            self._write_state()
            # At once: whoever comes next finds no more kernels than may be left.
            self._looked = -_LOOK_SECONDS if not held else self._looked

    def _cells(self, source: int) -> None:
        data = os.read(source, 65_536)
        if not data:
            self._selector.unregister(source)
            data = b"-"
        now = time.monotonic()
        self._ran = self._ran or b"+" in data
        self._overdue = None if b"+" in data else self._overdue
        self._busy_since = now if data.endswith(b"+") else None
        self._idle_since = now

    def _next_look(self) -> float | None:
        return 60.0 if self._left_since is None else 0.5 if self._idle < 60 or self._overdue else _LOOK_SECONDS

    def _look(self) -> None:
        if self._ended is not None:
            return
        self._trim_log()
        if self._left_since is None:
            return
        now = time.monotonic()
        if self._idle <= 0:
            self._end("the process that used it ended")
        elif self._busy_since is None and not self._ran:
            self._end("nobody was there to use it")
        elif self._busy_since is None and now - max(self._left_since, self._idle_since) >= self._idle:
            self._end(f"nobody took it up within {_span(self._idle)}")
        elif self._busy_since is not None:
            self._look_at_cell(now)
        if self._ended is None and now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._write_state()
            self._make_room()
            self._look_at_limits()

    def _look_at_cell(self, now: float) -> None:
        since = self._busy_since or now
        limit = self._limit if self._limit is not None else ALONE_SECONDS
        if self._overdue is None and now - since >= limit:
            self._overdue = now
            if self._order["hears_signals"]:
                self._signal(signal.SIGINT)
        elif self._overdue is not None and now - self._overdue >= _GRACE_SECONDS:
            self._end(f"a cell ran longer than {_span(limit)} while nobody was there, and did not stop")

    def _look_at_limits(self) -> None:
        """While somebody is there, that one watches more closely."""
        members, order = family(os.getpid()), self._order
        if order["memory_bytes"] and sum(one.memory for one in members) > order["memory_bytes"]:
            self._end("it took more memory than --max-memory allows while nobody was there")
        elif order["processes"] and len(members) > order["processes"]:
            self._end("it had more processes than --max-processes allows while nobody was there")

    def _make_room(self) -> None:
        """End this kernel if newer ones that were left leave it no room: the oldest ends first."""
        room, seats = whole_memory() * MEMORY_SHARE, LEFT_AT_MOST
        for state in sorted(_left_ones(os.path.dirname(self._folder)), key=lambda one: -one["left_at"]):
            seats, room = seats - 1, room - state["memory"]
            if state["kernel"] != self._kernel:
                continue
            if seats < 0:
                self._end(f"more than {LEFT_AT_MOST} kernels were left; the oldest ends first", note=True)
            elif room < 0:
                self._end("the kernels that were left took more than a quarter of the memory", note=True)
            return

    def _state(self) -> dict[str, Any]:
        members = family(os.getpid())
        now = time.monotonic()
        return {
            "pid": os.getpid(),
            "started": self._me.started if self._me is not None else "",
            "kernel": self._kernel,
            "kernel_started": self._started,
            **self._order["about"],
            "run": self._order["run"],
            "left_at": self._left_at,
            "busy": None if self._busy_since is None else now - self._busy_since,
            "overdue": self._overdue is not None,
            "limit": self._limit,
            "idle": self._idle,
            "memory": sum(one.memory for one in members),
            "cpu": sum(one.cpu for one in members),
        }

    def _write_state(self) -> None:
        path = os.path.join(self._folder, STATE)
        # A full disk must not end a kernel.
        with contextlib.suppress(OSError):
            with open(f"{path}.new", "w", encoding="utf-8", opener=_private) as file:
                json.dump(self._state(), file)
            os.replace(f"{path}.new", path)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._kernel, number)

    def _end(self, why: str, *, note: bool = False) -> None:
        if self._ended is not None or self._why:
            return
        self._why = why
        if note:
            self._write_note()
        self._signal(signal.SIGKILL)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if pid == self._kernel:
                self._ended = os.waitstatus_to_exitcode(status)

    def _end_family(self) -> None:
        """What cells have started and left behind, in its group or, where it was adopted, out of it."""
        self._signal(signal.SIGKILL)
        deadline = time.monotonic() + _GRACE_SECONDS
        while (members := family(os.getpid())) and time.monotonic() < deadline:
            for one in members:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(one.pid, signal.SIGKILL)
            self._reap()
            select.select([], [], [], 0.01)

    def _keep_end(self) -> None:
        if not self._order["end"]:
            return
        with (
            contextlib.suppress(OSError),
            open(self._order["end"], "w", encoding="utf-8", opener=_private) as file,
        ):
            json.dump({"code": self._ended, "why": self._why, "at": time.time()}, file)

    def _write_note(self) -> None:
        root, name = os.path.split(self._folder)
        with (
            contextlib.suppress(OSError),
            open(os.path.join(root, f"{NOTE}{name}.json"), "w", encoding="utf-8", opener=_private) as file,
        ):
            json.dump({"run": self._order["run"], "why": self._why}, file)

    def _trim_log(self) -> None:
        with contextlib.suppress(OSError):
            size = os.fstat(2).st_size
            if size > _LARGEST_LOG:
                kept = os.pread(2, _KEPT_LOG, size - _KEPT_LOG)
                os.ftruncate(2, 0)
                os.write(2, b"[... the beginning was cut ...]\n" + kept)


def _ends_with_parent() -> Any:
    """What the kernel's process does first: it is to end with its supervisor, however that ends."""
    if not _LINUX:
        return None
    parent, prctl = os.getpid(), ctypes.CDLL(None).prctl
    # Processes that cells detach from the kernel become ours, so that they can be ended.
    prctl(_PR_SET_CHILD_SUBREAPER, 1)

    def end_with_parent() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return end_with_parent


def _left_ones(root: str) -> list[dict[str, Any]]:
    """The states of the kernels of this user that nobody holds and that still run."""
    found = []
    for name in os.listdir(root):
        with contextlib.suppress(OSError, ValueError, KeyError):
            with open(os.path.join(root, name, STATE), encoding="utf-8") as file:
                state = json.load(file)
            if state["left_at"] and is_running(state["pid"], state["started"]):
                found.append(state)
    return found


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _span(seconds: float) -> str:
    return f"{seconds / 60:g} minutes" if seconds >= 120 else f"{seconds:g} s"


if __name__ == "__main__":
    Supervisor(json.loads(sys.stdin.read())).run()
