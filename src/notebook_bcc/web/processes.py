"""Runs started from the page: processes of their own, which outlive it."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import IO, Final

from notebook_bcc.errors import RunRefused

_LOOK_SECONDS: Final = 0.05
_PATIENCE_SECONDS: Final = 60.0
_LAST_WORDS: Final = 2_000
# A folder of the same name where this process was started must not be taken for the package.
_COMMAND: Final = ("-P", "-m", "notebook_bcc")


async def start_command(arguments: Sequence[str], *, begun: Callable[[], Awaitable[bool]]) -> None:
    """Start `nbcc` with these arguments in a session of its own, and wait until `begun` says that it works.

    Raises RunRefused with its last words where it ends before. It is not ended when this process is.
    """
    with tempfile.TemporaryFile() as said:
        pid = _spawned(arguments, said)
        deadline = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
        while not await begun():
            if _has_ended(pid):
                if await begun():
                    return
                raise RunRefused(_last_words(said) or "the run ended before it began")
            if asyncio.get_running_loop().time() > deadline:
                raise RunRefused(f"process {pid} has not begun after {_PATIENCE_SECONDS:g} seconds; it may still do")
            await asyncio.sleep(_LOOK_SECONDS)
    _reap_later(pid)


def _spawned(arguments: Sequence[str], said: IO[bytes]) -> int:
    """The process's number. A session of its own: what ends the terminal of this page does not end it."""
    with Path(os.devnull).open("rb") as nothing:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, *_COMMAND, *arguments],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, nothing.fileno(), 0),
                (os.POSIX_SPAWN_DUP2, said.fileno(), 1),
                (os.POSIX_SPAWN_DUP2, said.fileno(), 2),
            ],
            setsid=True,
        )


def _reap_later(pid: int) -> None:
    """Take notice of its end, so that no dead process is kept in the list of this machine."""
    if not _has_ended(pid):
        asyncio.get_running_loop().call_later(1.0, _reap_later, pid)


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _last_words(said: IO[bytes]) -> str:
    said.seek(0, os.SEEK_END)
    said.seek(max(0, said.tell() - _LAST_WORDS))
    return said.read().decode(errors="replace").strip().removeprefix("nbcc: ")
