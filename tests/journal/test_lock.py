"""One holder at a time, also within one process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from notebook_bcc.errors import JournalFailed, RunLocked
from notebook_bcc.journal.lock import RunLock, lock_holder


def test_a_lock_names_its_holder(tmp_path: Path) -> None:
    with RunLock(tmp_path / "lock"):
        holder = lock_holder(tmp_path / "lock")
        assert holder is not None
        assert (holder.pid, holder.since[:2], holder.since[-1]) == (os.getpid(), "20", "Z")
        assert str(os.getpid()) in str(holder)


def test_nobody_holds_a_lock_that_was_never_taken_or_was_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    assert lock_holder(path) is None
    assert not path.exists()
    with RunLock(path):
        pass
    assert lock_holder(path) is None


def test_the_same_process_cannot_take_it_twice(tmp_path: Path) -> None:
    path = tmp_path / "rain" / "lock"
    path.parent.mkdir()
    with RunLock(path) as lock:
        with pytest.raises(RunLocked, match=f"run 'rain' is being carried out by process {os.getpid()}"):
            RunLock(path).acquire()
        with pytest.raises(RunLocked, match="this process"):
            lock.acquire()
        assert lock_holder(path) is not None
    with RunLock(path):
        assert lock_holder(path) is not None


def test_a_lock_is_given_back_when_an_error_passes(tmp_path: Path) -> None:
    with pytest.raises(KeyError), RunLock(tmp_path / "lock"):
        raise KeyError("x")
    with RunLock(tmp_path / "lock", run="again"):
        pass


def test_a_lock_can_be_given_back_twice_and_taken_again(tmp_path: Path) -> None:
    lock = RunLock(tmp_path / "lock")
    lock.acquire()
    lock.release()
    lock.release()
    lock.acquire()
    lock.release()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}', '{"pid": 1, "host": "h", "since": "s", "more": 1}'])
def test_a_holder_that_cannot_be_read_is_still_a_holder(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lock"
    with RunLock(path):
        path.write_text(text, encoding="utf-8")
        assert str(lock_holder(path)) == "another process"
        with pytest.raises(RunLocked, match="another process"):
            RunLock(path).acquire()


def test_a_longer_text_of_an_earlier_holder_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.write_text("x" * 1000, encoding="utf-8")
    with RunLock(path):
        holder = lock_holder(path)
        assert holder is not None
        assert holder.pid == os.getpid()


def test_a_lock_needs_its_folder(tmp_path: Path) -> None:
    with pytest.raises(JournalFailed, match="cannot be opened"):
        RunLock(tmp_path / "nowhere" / "lock").acquire()
