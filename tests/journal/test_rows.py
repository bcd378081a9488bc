"""The checksum of a row finds every change of one byte, and rows in the wrong place."""

from __future__ import annotations

import pytest

from notebook_bcc.errors import JournalCorrupt
from notebook_bcc.journal.interface import Entry
from notebook_bcc.journal.records import Command, Warned
from notebook_bcc.journal.sqlite.rows import pack, pack_command, pack_entries, unpack_command, unpack_entry

ENTRY = Entry(7, "2026-01-02T03:04:05Z", Warned(message="m"))


def test_a_row_gives_its_entry() -> None:
    (row,) = pack_entries([ENTRY], after=6)
    assert unpack_entry(row, seq=7, path="p") == ENTRY


def test_any_changed_byte_is_found() -> None:
    (row,) = pack_entries([ENTRY], after=6)
    for column in (1, 2, 3):
        value = row[column]
        assert isinstance(value, bytes)
        for place in range(len(value)):
            for bit in range(8):
                changed = bytearray(value)
                changed[place] ^= 1 << bit
                damaged = (*row[:column], bytes(changed), *row[column + 1 :])
                with pytest.raises(JournalCorrupt, match="checksum of row 7") as caught:
                    unpack_entry(damaged, seq=7, path="p")
                assert caught.value.last_good == 6


@pytest.mark.parametrize("column", range(5))
@pytest.mark.parametrize("value", [None, 0, 3.5, b"", "text"])
def test_a_column_of_another_type_is_found(column: int, value: object) -> None:
    (row,) = pack_entries([ENTRY], after=6)
    with pytest.raises(JournalCorrupt):
        unpack_entry((*row[:column], value, *row[column + 1 :]), seq=7, path="p")


def test_bytes_that_moved_to_the_next_column_are_found() -> None:
    seq, at, kind, body, crc = pack(1, "2026", "warned", b'{"message":"m"}')
    with pytest.raises(JournalCorrupt):
        unpack_entry((seq, at + kind[:1], kind[1:], body, crc), seq=1, path="p")


def test_a_whole_row_in_the_wrong_place_is_found() -> None:
    (row,) = pack_entries([ENTRY], after=6)
    with pytest.raises(JournalCorrupt, match="row 7 was found where 5 should be") as caught:
        unpack_entry(row, seq=5, path="p")
    assert caught.value.last_good == 4


def test_a_whole_row_that_is_no_record_is_told_apart_from_a_damaged_one() -> None:
    with pytest.raises(JournalCorrupt, match="'of_the_future' is not a known kind"):
        unpack_entry(pack(1, "2026", "of_the_future", b"{}"), seq=1, path="p")


def test_a_command_is_checked_as_well() -> None:
    row = pack_command(1, "2026", Command(kind="cancel", comment="c"))
    assert unpack_command(row, seq=1, path="p").command == Command(kind="cancel", comment="c")
    with pytest.raises(JournalCorrupt, match="checksum"):
        unpack_command((*row[:4], row[4] ^ 1), seq=1, path="p")
    with pytest.raises(JournalCorrupt, match="command 1"):
        unpack_command(pack(1, "2026", "dance", b'{"kind":"dance"}'), seq=1, path="p")
