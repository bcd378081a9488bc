"""The SQLite file of a journal: how it is made, opened and checked, and what SQLite's errors mean for a journal."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from notebook_bcc.errors import JournalCorrupt, JournalFailed, JournalFull, JournalTooNew
from notebook_bcc.journal.records import FORMAT_VERSION
from notebook_bcc.journal.sqlite.wal import WalFile, fsync_folder

APPLICATION_ID = 0x4E424343  # "NBCC": what `file` and we recognise a journal by

_BUSY_SECONDS = 5.0
_COLUMNS = "(seq INTEGER PRIMARY KEY, at TEXT, kind TEXT, body BLOB, crc INTEGER)"

# Errors that say nothing about the content of the file; anything else SQLite says while reading does.
_OUTSIDE_CAUSES = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_AUTH,
    }
)
_FULL_CAUSES = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


def connect(path: Path, options: str) -> sqlite3.Connection:
    """A connection that any thread may use, one at a time. Texts come as bytes: checksums are over bytes."""
    uri = f"{path.as_uri()}?{options}"
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.text_factory = bytes
    return db


def connect_reader(path: Path) -> tuple[sqlite3.Connection, bool]:
    """A read-only connection to a file that is a journal of ours, and whether it cannot see changes."""
    if not path.is_file():
        raise JournalFailed(f"there is no journal {path}")
    with reading(path):
        db, immutable = connect(path, "mode=ro"), False
        try:
            try:
                _check_format(path, db)
            except sqlite3.OperationalError as error:
                # In a folder without write permission SQLite cannot make its side files. Without a WAL there is no
                # writer either, and the file can be read as it stands.
                if _primary_code(error) not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                    raise
                if WalFile(path).size():
                    raise
                db.close()
                db, immutable = connect(path, "mode=ro&immutable=1"), True
                _check_format(path, db)
        except BaseException:
            db.close()
            raise
    return db, immutable


def connect_writer(path: Path) -> sqlite3.Connection:
    """A connection that may write. WAL and NORMAL: a commit is one write to the operating system, without an fsync."""
    with writing(path):
        db = connect(path, "mode=rw")
        try:
            (mode,) = db.execute("PRAGMA journal_mode=WAL").fetchone()
            if mode != b"wal":
                raise JournalFailed(f"journal {path} cannot be written: no write-ahead log on this file system")
            db.execute("PRAGMA synchronous=NORMAL")
            # The keeper checkpoints in a thread; this is the backstop for appends that leave it no gap.
            db.execute("PRAGMA wal_autocheckpoint=4000")
        except BaseException:
            db.close()
            raise
    return db


def raise_format(path: Path, db: sqlite3.Connection) -> None:
    """Mark a journal that is about to be continued as one of our format: an older version would misread what follows.
    The entries that are there stay as they are."""
    with writing(path, db):
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version < FORMAT_VERSION:
            db.execute(f"PRAGMA user_version = {FORMAT_VERSION}")


def _check_format(path: Path, db: sqlite3.Connection) -> None:
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise JournalCorrupt(path=str(path), reason="not a Notebook-BCC journal")
    if version > FORMAT_VERSION:
        raise JournalTooNew(path=str(path), found=version, known=FORMAT_VERSION)
    if version < 1:
        raise JournalCorrupt(path=str(path), reason=f"there is no format {version}")


def create_file(path: Path) -> None:
    """Make the file beside its place, then move it there: a kill in between leaves no half journal."""
    wal = WalFile(path)
    if path.exists() or wal.path.exists():
        raise JournalFailed(f"there is a journal at {path} already")
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    with flushing(path), writing(path):
        try:
            with contextlib.closing(connect(draft, "mode=rwc")) as db:
                db.executescript(
                    f"PRAGMA synchronous=OFF; PRAGMA application_id={APPLICATION_ID};"
                    f"PRAGMA user_version={FORMAT_VERSION};"
                    f"CREATE TABLE entries{_COLUMNS}; CREATE TABLE commands{_COLUMNS}; PRAGMA journal_mode=WAL;"
                )
            descriptor = os.open(draft, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            draft.rename(path)
        finally:
            draft.unlink(missing_ok=True)
        fsync_folder(path.parent)


def checkpoint(path: Path) -> None:
    """Copy the WAL into the database, as far as it goes without holding up anybody."""
    with writing(path), contextlib.closing(connect(path, "mode=rw")) as db:
        db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()


def structural_problem(path: Path) -> str | None:
    db, _ = connect_reader(path)
    with reading(path), contextlib.closing(db):
        (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
    return None if answer == b"ok" else str(answer.decode(errors="replace")).replace("\n", " ")


@contextlib.contextmanager
def reading(path: Path, last_good: int | None = None) -> Iterator[None]:
    """What SQLite says while reading, as one of our errors."""
    try:
        yield
    except sqlite3.Error as error:
        code = _primary_code(error)
        if code in _OUTSIDE_CAUSES and error.sqlite_errorcode != sqlite3.SQLITE_IOERR_SHORT_READ:
            raise JournalFailed(f"journal {path} cannot be read: {error}") from error
        raise JournalCorrupt(path=str(path), reason=str(error), last_good=last_good) from error


@contextlib.contextmanager
def writing(path: Path, db: sqlite3.Connection | None = None) -> Iterator[None]:
    """What SQLite says while writing, as one of our errors; a transaction that is not committed is undone."""
    try:
        yield
    except sqlite3.Error as error:
        code = _primary_code(error)
        if code in _FULL_CAUSES:
            raise JournalFull(path=str(path), reason=str(error)) from error
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise JournalCorrupt(path=str(path), reason=str(error)) from error
        if code == sqlite3.SQLITE_CONSTRAINT:
            raise JournalFailed(f"journal {path} was continued by another process: {error}") from error
        raise JournalFailed(f"journal {path} cannot be written: {error}") from error
    finally:
        if db is not None and db.in_transaction:
            db.rollback()


@contextlib.contextmanager
def flushing(path: Path) -> Iterator[None]:
    """What the operating system says while a file is brought to disk, as one of our errors."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            raise JournalFull(path=str(path), reason=str(error)) from error
        raise JournalFailed(f"journal {path} cannot be brought to disk: {error}") from error


def _primary_code(error: sqlite3.Error) -> int | None:
    """SQLite's code without its details; None for an error that Python's own layer found."""
    # Python's own errors of this class have no code.
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
