"""The descriptor of the WAL follows the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from notebook_bcc.journal.sqlite.wal import WalFile


def open_descriptors(path: Path) -> int:
    """How many descriptors of this process are open on a file."""
    here = os.stat(path)
    count = 0
    for descriptor in range(256):
        try:
            status = os.fstat(descriptor)
        except OSError:
            continue
        count += (status.st_dev, status.st_ino) == (here.st_dev, here.st_ino)
    return count


def test_one_descriptor_is_kept_from_flush_to_flush(tmp_path: Path) -> None:
    wal = WalFile(tmp_path / "journal.db")
    wal.path.write_bytes(b"frames")
    wal.flush()
    wal.flush()
    assert open_descriptors(wal.path) == 1
    wal.close()
    assert open_descriptors(wal.path) == 0


def test_a_file_that_was_replaced_is_opened_again(tmp_path: Path) -> None:
    wal = WalFile(tmp_path / "journal.db")
    wal.path.write_bytes(b"frames")
    wal.flush()
    wal.path.rename(tmp_path / "old")
    wal.path.write_bytes(b"others")
    wal.flush()
    assert (open_descriptors(tmp_path / "old"), open_descriptors(wal.path)) == (0, 1)
    wal.close()


def test_a_missing_file_is_an_error_and_has_no_size(tmp_path: Path) -> None:
    wal = WalFile(tmp_path / "journal.db")
    assert wal.size() == 0
    with pytest.raises(FileNotFoundError):
        wal.flush()


def test_a_flush_that_comes_too_late_does_nothing(tmp_path: Path) -> None:
    wal = WalFile(tmp_path / "journal.db")
    wal.path.write_bytes(b"frames")
    wal.close()
    wal.close()
    wal.flush()
    assert open_descriptors(wal.path) == 0
