from __future__ import annotations

from pathlib import Path

import pytest

from cli.shell import HELLO, Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Shell:
    """A place with one completed run; tests look at it and do not change it."""
    shell = Shell(tmp_path_factory.mktemp("finished"))
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    return shell
