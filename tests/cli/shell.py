"""The real command line: in this process, which is quick, or in one of its own, which can be killed."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from notebook_bcc.cli.main import application

COMMAND = [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()"]
DEADLINE = 100

HELLO = """
name: Hello
goal: Say hello and count
stages:
  - id: start
    name: The start
    steps:
      - id: greet
        name: Greet
        behaviors:
          - actions:
              - title: Greetings
              - code: print("hello")
                id: hello
              - code: sum(range(10))
"""


@dataclass(frozen=True)
class Done:
    """How a command ended and what it said."""

    returncode: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Background:
    """A command that is being carried out."""

    process: subprocess.Popen[bytes]
    output: Path

    def press(self, number: signal.Signals, *, until: str) -> None:
        """Send a signal and wait for what the command says to it."""
        self.process.send_signal(number)
        wait_until(lambda: until in self.said)

    def exit_code(self) -> int:
        return self.process.wait(DEADLINE)

    @property
    def said(self) -> str:
        return self.output.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Shell:
    """A folder to type commands in."""

    folder: Path

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def environment(self, **more: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in _OURS}
        return kept | {"LC_ALL": "C.UTF-8", "COLUMNS": "200"} | more

    def __call__(self, *arguments: str, **environment: str) -> Done:
        """Type a command and wait for its end."""
        out, err = io.StringIO(), io.StringIO()
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            with (
                mock.patch.dict(os.environ, self.environment(**environment), clear=True),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                self.folder.joinpath("nothing").open("w+") as nothing,
                mock.patch.object(sys, "stdin", nothing),
            ):
                application()(list(arguments), prog_name="nbcc")
        except SystemExit as end:
            code = end.code
        finally:
            os.chdir(before)
        return Done(int(code or 0), out.getvalue(), err.getvalue())

    def process(self, *arguments: str, **environment: str) -> Done:
        """The same in a process of its own."""
        done = subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            timeout=DEADLINE,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def background(self, *arguments: str, **environment: str) -> Iterator[Background]:
        """Type a command and do not wait; it is gone when the block ends."""
        output = self.folder / "output.txt"
        with output.open("w", encoding="utf-8") as file:
            process = subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=self.folder,
                env=self.environment(**environment),
                stdout=file,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
            )
            try:
                yield Background(process, output)
            finally:
                process.kill()
                process.wait(DEADLINE)

    def json(self, *arguments: str, **environment: str) -> list[dict[str, Any]]:
        """What a command says to machines."""
        return [json.loads(line) for line in self(*arguments, "--json", **environment).stdout.splitlines()]

    @property
    def runs(self) -> list[Path]:
        root = self.folder / "nbcc-runs"
        return sorted(root.iterdir()) if root.exists() else []


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for a condition outside of this process; fails after a generous time."""
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("the condition did not come true")
        time.sleep(0.05)


_OURS = {
    "NBCC_RUNS",
    "NBCC_LANG",
    "LOG_LEVEL",
    "MAX_EXECUTION_STEPS",
    "INTERACTIVE_MODE",
    "DSLC_BASE_URL",
    "BACKEND_BASE_URL",
    "NOTEBOOK_ID",
    "USE_REMOTE_EXECUTION",
    "DSLC_TOKEN",
    "DSLC_TIMEOUT",
    "BACKEND_TOKEN",
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
}
