"""How entries and commands lie in a table: place, time, kind, body and a checksum over the four.

The two implementations of a journal share this form, so that what the double accepts the real one accepts as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

from pydantic import ValidationError

from notebook_bcc.errors import JournalCorrupt, JournalFailed, MessageInvalid
from notebook_bcc.journal.encoding import decode_record, encode_record
from notebook_bcc.journal.interface import Entry, PostedCommand
from notebook_bcc.journal.records import Command

Row = tuple[int, bytes, bytes, bytes, int]


def pack_entries(entries: Sequence[Entry], *, after: int) -> list[Row]:
    """The rows of entries that follow `after`. Raises ValueError on a gap, JournalFailed on what JSON cannot hold."""
    rows = []
    for seq, entry in enumerate(entries, after + 1):
        if entry.seq != seq:
            raise ValueError(f"entry {entry.seq} cannot follow entry {seq - 1}: nothing was written")
        try:
            body = encode_record(entry.record)
        except ValueError as error:
            raise JournalFailed(f"record {seq} ({entry.record.kind}) cannot be written as JSON: {error}") from error
        rows.append(pack(seq, entry.at, entry.record.kind, body))
    return rows


def pack_command(seq: int, at: str, command: Command) -> Row:
    """The row of a command."""
    return pack(seq, at, command.kind, command.model_dump_json(exclude_defaults=True).encode())


def pack(seq: int, at: str, kind: str, body: bytes) -> Row:
    """A row with its checksum."""
    time, name = at.encode(), kind.encode()
    return seq, time, name, body, _checksum(seq, time, name, body)


def unpack_entry(row: Sequence[object], *, seq: int, path: str) -> Entry:
    """The entry of a row that should be at `seq`. Raises JournalCorrupt."""
    at, kind, body = _verified(row, seq=seq, path=path)
    try:
        return Entry(seq, at, decode_record(kind, body))
    except MessageInvalid as error:
        raise JournalCorrupt(path=path, reason=f"record {seq}: {error}", last_good=seq - 1) from error


def unpack_command(row: Sequence[object], *, seq: int, path: str) -> PostedCommand:
    """The command of a row that should be at `seq`. Raises JournalCorrupt."""
    at, _, body = _verified(row, seq=seq, path=path)
    try:
        return PostedCommand(seq, at, Command.model_validate_json(body))
    except ValidationError as error:
        raise JournalCorrupt(path=path, reason=f"command {seq} cannot be read: {error}") from error


def _verified(row: Sequence[object], *, seq: int, path: str) -> tuple[str, str, bytes]:
    match row:
        case (int(place), bytes(at), bytes(kind), bytes(body), int(crc)) if crc == _checksum(place, at, kind, body):
            if place == seq:
                return at.decode(), kind.decode(), body
            reason = f"row {place} was found where {seq} should be"
        case _:
            reason = f"the checksum of row {seq} is wrong"
    raise JournalCorrupt(path=path, reason=reason, last_good=seq - 1)


def _checksum(seq: int, at: bytes, kind: bytes, body: bytes) -> int:
    return crc32(body, crc32(b"%d\0%b\0%b\0" % (seq, at, kind)))
