"""A file that is replaced whole or not at all, whenever the process or the machine dies."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from notebook_bcc.errors import NotebookFailed

# A temporary file this old belongs to a process that was killed while it wrote; a younger one may still be in use.
_ABANDONED_SECONDS = 3600.0


def replace_file(path: Path, parts: Iterable[bytes]) -> None:
    """Write `parts` to `path` so that a reader sees the old content or the new one, never a mixture.

    The content is on disk before the name points to it. An existing file keeps its mode, a link stays a link.
    Raises NotebookFailed, and then the old file is as it was and no temporary file is left.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _existing_mode(target)
        temporary = target.with_name(f"{_prefix(target)}{secrets.token_hex(6)}.tmp")
        _write_new(temporary, parts, mode)
        try:
            os.replace(temporary, target)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(target.parent)
    except OSError as error:
        raise NotebookFailed(path=str(path), reason=_reason(error, target)) from error


def remove_abandoned(path: Path) -> None:
    """Remove what killed processes left beside `path` while writing it. Never fails: it is only tidying."""
    target = Path(os.path.realpath(path))
    oldest = time.time() - _ABANDONED_SECONDS
    with suppress(OSError):
        for leftover in target.parent.glob(f"{_prefix(target)}*.tmp"):
            if leftover.stat().st_mtime < oldest:
                leftover.unlink(missing_ok=True)


def _prefix(target: Path) -> str:
    # Not made of the name itself: a long but allowed name would become too long.
    return f".nbcc-{crc32(os.fsencode(target.name)):08x}-"


def _existing_mode(target: Path) -> int | None:
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    return stat.S_IMODE(found.st_mode)


def _write_new(temporary: Path, parts: Iterable[bytes], mode: int | None) -> None:
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            if mode is not None:
                os.chmod(temporary, mode)
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        # Whatever ended the writing, a cancellation included: half a file must not stay.
        temporary.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    # Some file systems (and Windows) cannot sync a folder; the replaced name is then as durable as they make it.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _reason(error: OSError, target: Path) -> str:
    match error.errno:
        case errno.ENOENT:
            return f"the folder {target.parent} does not exist; create it, or choose another path"
        case errno.EISDIR:
            return "this is a folder; give the path of a file"
        case errno.ENOTDIR:
            return f"{target.parent} is not a folder; choose another path"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return f"writing in {target.parent} is not allowed; change its permissions, or choose another path"
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return "there is no room for it on the disk; the version written before is untouched. Free some room"
        case errno.ENAMETOOLONG:
            return "the name is too long for this file system"
        case _:
            return f"it cannot be written ({error.strerror or error}); the version written before is untouched"
