"""The live view on a real terminal: a pseudo-terminal that a person types into."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from cli.books import TRAIN, write_book
from cli.shell import COMMAND, DEADLINE, Shell
from notebook_bcc.cli.codes import Exit

PROPOSING = """
stages:
  - id: only
    name: The only stage
    steps:
      - id: first
        behaviors: [{actions: [{code: a = 1}, {steps: [first, extra]}]}]
      - id: extra
        later: true
        behaviors: [{actions: [{code: a + 1}]}]
"""
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass
class Terminal:
    """What a person at a terminal sees and types."""

    master: int
    process: subprocess.Popen[bytes]
    seen: bytearray = field(default_factory=bytearray)

    def wait_for(self, text: str) -> None:
        """Look at the screen until this has been on it."""
        end = time.monotonic() + DEADLINE
        while text not in self.text:
            if time.monotonic() > end or not self._read():
                pytest.fail(f"{text!r} was never shown:\n{self.text}")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def exit_code(self) -> int:
        while self._read():
            pass
        return self.process.wait(DEADLINE)

    @property
    def text(self) -> str:
        return _ESCAPES.sub("", self.seen.decode(errors="replace"))

    def _read(self) -> bool:
        ready, _, _ = select.select([self.master], [], [], DEADLINE)
        if not ready:
            return False
        try:
            content = os.read(self.master, 65_536)
        except OSError:
            # Linux says EIO when the last program on the terminal has ended.
            return False
        self.seen += content
        return bool(content)


@contextmanager
def terminal(shell: Shell, *arguments: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    environment = shell.environment(TERM="xterm-256color", COLUMNS="80", LINES="24")
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=shell.folder,
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait(DEADLINE)
        os.close(master)


def test_a_person_is_shown_the_change_of_the_plan_and_accepts_it(shell: Shell) -> None:
    shell.write("propose.yaml", PROPOSING)
    with terminal(shell, "run", "propose.yaml", "--no-verify") as screen:
        screen.wait_for("[y]es")
        assert "+   extra" in screen.text
        screen.type("perhaps\n")
        screen.wait_for("Please answer")
        screen.type("y\n")
        assert screen.exit_code() == Exit.COMPLETED, screen.text
        assert "the change of the plan was accepted" in screen.text
        assert "The only stage" in screen.text


def test_a_person_may_leave_the_answer_for_later(shell: Shell) -> None:
    shell.write("propose.yaml", PROPOSING)
    with terminal(shell, "run", "propose.yaml", "--no-verify", "--lang", "zh") as screen:
        screen.wait_for("是否接受")
        screen.type("w\n")
        assert screen.exit_code() == Exit.STOPPED, screen.text
    assert shell.json("status", "last")[0]["status"] == "waiting"


def test_an_interactive_run_asks_at_a_limit(shell: Shell) -> None:
    shell.write("propose.yaml", PROPOSING)
    options = ("--confirm", "auto", "--no-verify", "--interactive", "--max-actions", "3")
    with terminal(shell, "run", "propose.yaml", *options) as screen:
        screen.wait_for("Go on for as long again?")
        screen.type("y\n")
        assert screen.exit_code() == Exit.COMPLETED, screen.text


def test_a_person_is_asked_what_the_planner_must_know_and_the_run_goes_on(shell: Shell) -> None:
    shell.write("train.csv", TRAIN)
    write_book(shell.folder / "book")
    with terminal(shell, "run", "train.csv", "--playbook", "book", "--no-verify") as screen:
        screen.wait_for("Number or name")
        assert "3. price" in screen.text
        assert "left" in screen.text, "the playbook's estimate is shown"
        screen.type("9\n")
        screen.wait_for("Please answer with one of the 3")
        screen.type("3\n")
        screen.wait_for("[y]es")
        screen.type("y\n")
        assert screen.exit_code() == Exit.COMPLETED, screen.text
        assert "model.pkl" in screen.text


def test_a_question_may_be_left_for_later_with_ctrl_c(shell: Shell) -> None:
    shell.write("train.csv", TRAIN)
    write_book(shell.folder / "book")
    with terminal(shell, "run", "train.csv", "--playbook", "book", "--no-verify") as screen:
        screen.wait_for("Number or name")
        screen.process.send_signal(signal.SIGINT)
        assert screen.exit_code() == Exit.STOPPED, screen.text
        assert "--set target=" in screen.text
