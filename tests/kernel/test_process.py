"""What an exit code means, in words."""

from __future__ import annotations

import signal

import pytest

from notebook_bcc.kernel.local.process import Connection, describe_exit


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (0, "its process ended with exit code 0"),
        (3, "its process ended with exit code 3"),
        (-signal.SIGKILL, "killed by signal 9 (SIGKILL); often the system's out-of-memory killer"),
        (-signal.SIGSEGV, "killed by signal 11 (SIGSEGV)"),
        (-200, "killed by signal 200 (unknown signal)"),
        (None, "it does not answer"),
    ],
)
def test_an_exit_in_words(code: int | None, words: str) -> None:
    assert describe_exit(code) == words


def test_an_address_by_transport() -> None:
    ports = {"shell": 1, "iopub": 2, "control": 3}
    assert Connection(transport="ipc", ip="/tmp/k", key=b"", ports=ports).address("iopub") == "ipc:///tmp/k-2"
    assert Connection(transport="tcp", ip="127.0.0.1", key=b"", ports=ports).address("shell") == "tcp://127.0.0.1:1"
