"""NOTEBOOK_ID: a notebook on the backend that a run keeps up to date, from its first cell to its last word."""

from __future__ import annotations

import contextlib
import re
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import notebook_bcc as nb
from cli.services import command_at
from cli.shell import HELLO, Shell, wait_until
from kernel.servers import Server, free_port
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.content import content_digest
from notebook_bcc.notebook.reading import read_content

WAITING = """
stages:
  - id: only
    steps:
      - id: one
        behaviors:
          - actions: [{code: a = 1}]
          - actions:
              - code: |
                  import pathlib, time
                  while not pathlib.Path("GO").exists(): time.sleep(0.01)
"""


class Backend:
    """`nbcc backend` in a folder, and a shell in the same folder."""

    def __init__(self, folder: Path, url: str, token: str) -> None:
        self.shell = Shell(folder)
        self.server = Server(url=url, port=0, token=token, root=folder)
        self.at = {"USE_REMOTE_EXECUTION": "true", "BACKEND_BASE_URL": url, "BACKEND_TOKEN": token}

    def notebook(self, path: str) -> dict[str, Any]:
        content: dict[str, Any] = self.server.ask("GET", f"api/contents/{path}")["content"]
        return content

    def sources(self, path: str) -> list[str]:
        return [cell["source"] for cell in self.notebook(path)["cells"]]

    def seen(self, path: str) -> list[str]:
        """The same, and nothing while there is no notebook, or half of one: a server writes in place."""
        with contextlib.suppress(urllib.error.HTTPError):
            return self.sources(path)
        return []

    def has(self, path: str) -> bool:
        return (self.server.root / path).exists()

    @property
    def own(self) -> dict[str, Any]:
        """The notebook in the folder of the newest run."""
        return read_content(self.shell.runs[-1] / "notebook.ipynb")


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backend]:
    folder = tmp_path_factory.mktemp("backend")
    with command_at(folder, "backend", "--port", str(free_port())) as (command, url):
        (token,) = re.findall(r"^token .*: (\S+)$", command.said, re.MULTILINE)
        found = Backend(folder, url, token)
        found.shell.write("hello.yaml", HELLO)
        yield found


def test_the_backend_holds_the_notebook_under_its_id(backend: Backend) -> None:
    done = backend.shell("run", "hello.yaml", "--name", "id", NOTEBOOK_ID="notebook-123", **backend.at)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"on server: notebook-123.ipynb ({backend.server.url})" in done.stdout
    held = backend.notebook("notebook-123.ipynb")
    assert content_digest(held) == content_digest(backend.own)
    assert held["metadata"]["notebook_bcc"]["verified"]["ok"] is True
    assert [cell["source"] for cell in held["cells"]][-2:] == ['print("hello")', "sum(range(10))"]


def test_the_option_comes_before_the_environment_and_machines_are_told(backend: Backend) -> None:
    ended = next(
        entry
        for entry in backend.shell.json(
            *("run", "hello.yaml", "--no-verify", "--name", "option", "--notebook-id", "by-option"),
            NOTEBOOK_ID="by-environment",
            **backend.at,
        )
        if entry["kind"] == "run_ended"
    )
    assert ended["server_copy"] == f"by-option.ipynb ({backend.server.url})"
    assert (backend.has("by-option.ipynb"), backend.has("by-environment.ipynb")) == (True, False)


def test_the_notebook_is_seen_while_the_run_goes_on_and_an_edit_is_left_alone(backend: Backend, tmp_path: Path) -> None:
    shell, go = backend.shell, tmp_path / "go"
    shell.write("waiting.yaml", WAITING.replace("GO", str(go)))
    order = ("run", "waiting.yaml", "--no-verify", "--name", "waiting", "--notebook-id", "live")
    with shell.background(*order, **backend.at) as run:
        wait_until(lambda: run.process.poll() is not None or backend.seen("live.ipynb")[:1] == ["a = 1"])
        assert run.process.poll() is None, run.said
        edited = backend.notebook("live.ipynb")
        edited["cells"].append({"cell_type": "markdown", "id": "mine", "metadata": {}, "source": "Mine."})
        backend.server.put("api/contents/live.ipynb", {"type": "notebook", "format": "json", "content": edited})
        go.touch()
        assert run.exit_code() == 0, run.said
        said = run.said
    beside = f"live-{shell.runs[-1].name}.ipynb"
    assert "live.ipynb on" in said
    assert f"was edited since this run wrote it: it stays as it is, and the run's notebook is kept as {beside}" in said
    assert backend.sources("live.ipynb")[-1] == "Mine."
    assert content_digest(backend.notebook(beside)) == content_digest(backend.own)


def test_cancelling_a_run_that_has_stopped_writes_its_copy_again(backend: Backend) -> None:
    shell = backend.shell
    order = ("run", "hello.yaml", "--max-actions", "1", "--name", "cancelled", "--notebook-id", "cancelled")
    assert shell(*order, **backend.at).returncode == Exit.STOPPED
    assert "Go on with" in backend.sources("cancelled.ipynb")[-1]
    assert shell("cancel", "last", BACKEND_TOKEN=backend.server.token).returncode == 0
    assert "Start it over with" in backend.sources("cancelled.ipynb")[-1]
    assert content_digest(backend.notebook("cancelled.ipynb")) == content_digest(backend.own)


def test_a_run_that_goes_on_keeps_its_copy_or_gets_one(backend: Backend) -> None:
    shell, token = backend.shell, backend.server.token
    order = ("run", "hello.yaml", "--max-actions", "1", "--name", "resumed")
    assert shell(*order, "--notebook-id", "resumed", **backend.at).returncode == Exit.STOPPED
    done = shell("resume", "last", "--no-verify", "--max-actions", "0", BACKEND_TOKEN=token)
    assert done.returncode == 0, done.stdout + done.stderr
    assert content_digest(backend.notebook("resumed.ipynb")) == content_digest(backend.own)
    assert shell("verify", "last", BACKEND_TOKEN=token).returncode == 0
    assert backend.notebook("resumed.ipynb")["metadata"]["notebook_bcc"]["verified"]["ok"] is True
    assert shell(*order, **backend.at).returncode == Exit.STOPPED
    done = shell("resume", "last", "--no-verify", "--max-actions", "0", "--notebook-id", "later", BACKEND_TOKEN=token)
    assert done.returncode == 0, done.stdout + done.stderr
    assert content_digest(backend.notebook("later.ipynb")) == content_digest(backend.own)


def test_another_run_under_the_same_id_replaces_the_notebook_only_where_that_is_said(backend: Backend) -> None:
    order = ("run", "hello.yaml", "--no-verify", "--notebook-id", "shared", "--name")
    for name in ("first", "second"):
        done = backend.shell(*order, name, **backend.at)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "shared.ipynb on" in done.stdout + done.stderr
    assert backend.notebook("shared.ipynb")["metadata"]["notebook_bcc"]["run_id"].endswith("-first")
    done = backend.shell(*order, "third", "--overwrite", **backend.at)
    assert backend.notebook("shared.ipynb")["metadata"]["notebook_bcc"]["run_id"].endswith("-third")


def test_python_names_the_notebook_by_a_keyword(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(backend.shell.folder)
    for name, value in backend.at.items():
        monkeypatch.setenv(name, value)
    run = nb.run("hello.yaml", notebook_id="by-keyword", verify=False, progress=False)
    assert run.notebook is not None
    assert content_digest(backend.notebook("by-keyword.ipynb")) == content_digest(read_content(run.notebook))


def test_without_a_backend_the_option_is_refused_and_the_variable_waits_for_one(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    done = shell("run", "hello.yaml", "--notebook-id", "a")
    assert (done.returncode, shell.runs) == (Exit.USAGE, [])
    assert "give --kernel-url as well" in done.stderr
    done = shell("run", "hello.yaml", "--no-verify", "--max-actions", "1", NOTEBOOK_ID="a")
    assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
    done = shell("resume", "last", "--no-verify", "--notebook-id", "a")
    assert done.returncode == Exit.USAGE
    assert "no Jupyter Server has it" in done.stderr
    assert shell("run", "hello.yaml", "--notebook-id", "../a", "--kernel-url", "http://x").returncode == Exit.USAGE
