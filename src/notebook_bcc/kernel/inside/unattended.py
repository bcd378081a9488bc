"""Makes an ipykernel process fit to run unattended, from inside. Its source is sent there, like the probe's.

- What is written to file descriptors 1 and 2 (by C code, by subprocesses) belongs to the cell that wrote it, whole:
  ipykernel's own watcher reads it in pieces of 1,000 bytes, which tears characters, and at any time later.
- `exit()` and `quit()` raise SystemExit, as `sys.exit()` does: a cell cannot end a run's kernel by politeness.
- A thread's output goes to the cell that started it, not to whichever cell is running.
- A crash leaves a traceback as the process's last words.
- When the client is slow, output waits instead of being dropped.
- The variables that changed go out with every cell's reply, failed cells included.
- A process that a cell forks never speaks as the kernel: what it prints, displays and raises is text of its cell, and
  it leaves when the cell ends.
- A cell costs the same after thousands of them.

Private names of ipykernel and of the standard library are used where nothing else would do, each with its reason.
"""

from __future__ import annotations

import _thread
import asyncio
import codecs
import faulthandler
import os
import select
import sys
import threading
import time
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import zmq

PAYLOAD = "notebook_bcc.variables"
_PIPE_CAPACITY = 1_048_576
# Of one message of text, in characters: a client that keeps only some of the text must not have to hold it all.
_LARGEST = 1_000_000
# Of a line that a forked process has not ended, in characters.
_LONGEST_LINE = 8_192
_INPUTS_KEPT = 100
_LOOK_SECONDS = 0.001
_QUEUED_MESSAGES = 50


class CapturedStream:
    """stdout or stderr: the stream object that cells print to, and the file descriptor below it, as one."""

    def __init__(self, number: int, stream: Any) -> None:
        self._stream = stream
        self._publisher = stream.pub_thread
        self._write, self._flush = stream.write, stream.flush
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._looked = 0.0
        self._unsent = 0
        # Held from reading the pipe to writing what was read, or pieces would change places.
        self._moving = threading.RLock()
        _dismiss_watcher(number, stream)
        self.original = os.dup(number)
        self.source, sink = os.pipe()
        os.set_blocking(self.source, False)
        os.dup2(sink, number)
        # What `subprocess.run(..., stdout=sys.stdout)` asks for: `fileno()` gives nothing else.
        stream._original_stdstream_copy = sink
        stream.write, stream.flush = self.write, self.flush
        self._number = number
        self._child: ForkedStream | None = None
        os.register_at_fork(after_in_child=self._after_fork)

    def write(self, text: str) -> int:
        """Print: after what was written below Python before this, and in messages of bounded size."""
        __tracebackhide__ = True
        if self._child is not None:
            return self._child.write(text)
        # At most every millisecond: a look at the pipe lets other threads run, which a loop that prints would pay for.
        # Never for the end of a line, which `print` writes on its own.
        now = time.monotonic()
        if now - self._looked > _LOOK_SECONDS and text != "\n":
            self._looked = now
            self.empty()
        if not isinstance(text, str) or len(text) <= _LARGEST:
            self._put(text)
        else:
            for start in range(0, len(text), _LARGEST):
                self._put(text[start : start + _LARGEST])
        return len(text)

    def flush(self) -> None:
        if self._child is not None:
            self._child.flush()
        else:
            self._unsent = 0
            self._flush()

    def pass_on(self) -> int:
        """Move what is in the pipe to the stream; how many bytes that was."""
        with self._moving:
            try:
                data = os.read(self.source, 65_536)
            except BlockingIOError:
                return 0
            self.reopen()
            self._put(self._decode(data))
            return len(data)

    def empty(self) -> None:
        """Pass on all that was written until now; not more, as a background process may write for ever."""
        moved = 0
        while moved < _PIPE_CAPACITY and (count := self.pass_on()):
            moved += count

    def reopen(self) -> None:
        """A cell that closed its stdout closed it for itself, not for the cells after it."""
        if self._stream.pub_thread is None:
            self._stream.pub_thread = self._publisher

    def _put(self, text: str) -> None:
        __tracebackhide__ = True
        self._write(text)
        self._unsent += len(text)
        if self._unsent > _LARGEST:
            self.flush()

    def _after_fork(self) -> None:
        if self._child is None:
            # Without a reader a child that outlives the kernel gets an error, instead of waiting for ever.
            os.close(self.source)
        self._child = ForkedStream(self._number)


class ForkedStream:
    """stdout or stderr of a forked process, written to the descriptor: the kernel reads it there, as it reads any
    process's. The kernel's buffers and locks are not used: text in them would be sent twice, and a lock that another
    thread held at the fork is never released.

    Whole lines are written, as `print` writes in pieces and several processes may print; the rest waits for `flush`.
    """

    def __init__(self, number: int) -> None:
        self._number = number
        self._line = ""
        self._lock = threading.RLock()

    def write(self, text: str) -> int:
        __tracebackhide__ = True
        with self._lock:
            lines, end, self._line = (self._line + text).rpartition("\n")
            self._write_all(lines + end)
            if len(self._line) > _LONGEST_LINE:
                self.flush()
        return len(text)

    def flush(self) -> None:
        with self._lock:
            line, self._line = self._line, ""
            self._write_all(line)

    def _write_all(self, text: str) -> None:
        data = text.encode("utf-8", "replace")
        while data:
            data = data[os.write(self._number, data) :]


class KernelAgent:
    """What stays in the kernel: looks after the streams, and lists variables when a cell has ended."""

    def __init__(self, shell: Any, changes: Callable[[], str]) -> None:
        self._shell = shell
        self._changes = changes
        self._loop = asyncio.get_running_loop()
        self._streams = [CapturedStream(1, sys.stdout), CapturedStream(2, sys.stderr)]

    def start(self) -> None:
        # Not a `threading.Thread`: ipykernel 7.0 would keep all that it passes on for the request that started it.
        _thread.start_new_thread(self._watch, ())
        # Only now: the watcher itself belongs to no cell.
        if hasattr(self._shell, "set_thread_parent"):
            # ipykernel 7.0 has no such method, and looks after threads itself.
            self._adopt_threads()
        faulthandler.enable(file=self._streams[1].original)
        self._shell.ask_exit = _refuse_to_exit
        if sys.modules.get("debugpy.server", sys) is None:
            # ipykernel was kept from importing it, for a quicker start; cells may.
            del sys.modules["debugpy.server"]
        self._shell.events.register("post_run_cell", self._cell_ended)
        self._shell.run_cell_async = _leaving(self._shell.run_cell_async)
        os.register_at_fork(after_in_child=self._after_fork)
        _wait_for_slow_readers(self._shell.kernel.iopub_thread)

    def _watch(self) -> None:
        poll = select.poll()
        sources = {stream.source: stream for stream in self._streams}
        for source in sources:
            poll.register(source, select.POLLIN)
        while True:
            for source, _ in poll.poll():
                sources[source].pass_on()

    def _cell_ended(self, _result: Any) -> None:
        try:
            for stream in self._streams:
                stream.reopen()
                stream.empty()
            # IPython binds every cell's text to a name of its own (`_i12`), for ever; `In[12]` has it too.
            self._shell.user_ns.pop(f"_i{self._shell.execution_count - _INPUTS_KEPT}", None)
            payload = {"source": PAYLOAD, "changes": self._changes()}
            self._shell.payload_manager.write_payload(payload)
        except KeyboardInterrupt:
            # The cell has ended: there is nothing left to interrupt, and the client asks again for what is missing.
            return

    def _after_fork(self) -> None:
        self._shell.kernel.session.send = _print_message
        # IPython's advice for whoever tries to leave it by SystemExit.
        warnings.filterwarnings("ignore", message="To exit: use")
        # A child that awaits would go on in the kernel's loop, whose sockets it shares with the kernel.
        self._loop.call_soon(_leave_loop)

    def _adopt_threads(self) -> None:
        # The second of the two methods is private, and the only one that runs in the new thread whatever a subclass
        # overrides. Any: the type checker does not know it.
        shell, kind = self._shell, cast(Any, threading.Thread)
        start, bootstrap = kind.start, kind._bootstrap_inner

        def start_here(thread: Any) -> None:
            thread._notebook_bcc_parent = shell.get_parent()
            start(thread)

        def run_for_its_cell(thread: Any) -> None:
            # Nothing to undo: the setting belongs to this thread, and ends with it.
            shell.set_thread_parent(thread._notebook_bcc_parent)
            bootstrap(thread)

        kind.start, kind._bootstrap_inner = start_here, run_for_its_cell


def _dismiss_watcher(number: int, stream: Any) -> None:
    """End ipykernel's own watcher, which a kernel that others have started has: it would hang at the kernel's end."""
    if not getattr(stream, "_should_watch", False):
        return
    stream._should_watch = False
    # It wakes up when there is something to read, and then looks whether it is still wanted.
    os.write(number, b"\0")
    stream.watch_fd_thread.join()
    os.dup2(stream._original_stdstream_copy, number)


def _leaving(run_cell: Any) -> Any:
    """The same function, which a process that was forked in it does not return from."""

    @wraps(run_cell)
    async def run_cell_and_leave(*args: Any, **kwargs: Any) -> Any:
        process, result = os.getpid(), None
        try:
            result = await run_cell(*args, **kwargs)
        finally:
            if os.getpid() != process:
                _leave(_exit_code(result))
        return result

    return run_cell_and_leave


def _exit_code(result: Any) -> int:
    """As Python's own: what SystemExit says, else whether there was an error."""
    error = None if result is None else result.error_in_exec
    if not isinstance(error, SystemExit):
        return 0 if result is not None and result.success else 1
    if error.code is None or isinstance(error.code, int):
        return (error.code or 0) & 0xFF
    sys.stderr.write(f"{error.code}\n")
    return 1


def _leave(code: int) -> None:
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _leave_loop() -> None:
    sys.stderr.write("A forked process cannot await, as the event loop is the kernel's. It was ended.\n")
    _leave(1)


def _print_message(_stream: Any, message: Any, content: Any = None, *_: Any, **__: Any) -> None:
    """Stands in for a session's `send` in a forked process: displays, results and errors become text."""
    if isinstance(message, dict):
        message, content = message["header"]["msg_type"], message["content"]
    if message in ("display_data", "update_display_data", "execute_result"):
        left_out = f"[{', '.join(content['data'])} of a forked process left out]"
        sys.stdout.write(content["data"].get("text/plain", left_out) + "\n")
    elif message == "error" and content["ename"] != "SystemExit":
        sys.stderr.write("\n".join(content["traceback"]) + "\n")


def _refuse_to_exit() -> None:
    raise SystemExit


def _wait_for_slow_readers(publisher: Any) -> None:
    def set_options() -> None:
        publisher.socket.setsockopt(zmq.XPUB_NODROP, 1)
        # What is queued here is still to be read when a cell that prints for ever has been stopped.
        publisher.socket.setsockopt(zmq.SNDHWM, _QUEUED_MESSAGES)

    # In the socket's own thread: zmq sockets are not to be shared.
    publisher.schedule(set_options)
