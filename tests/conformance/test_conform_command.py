from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.shell import Shell
from conformance.broken_servers import AlwaysAchieved, Sound, StrictFields
from conformance.hosting import PATIENCE, hosted
from notebook_bcc.cli.codes import Exit
from notebook_bcc.conformance.kit import CHECKS

TOKEN = "a-token-of-good-length"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


@contextlib.contextmanager
def served(server: Sound) -> Iterator[str]:
    """The server in a thread of its own: the command has an event loop of its own."""
    ready, stop = threading.Event(), threading.Event()
    address: list[str] = []

    async def serve() -> None:
        async with hosted(server.app) as url:
            address.append(url)
            ready.set()
            await asyncio.to_thread(stop.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield address[0]
    finally:
        stop.set()
        thread.join(PATIENCE)


def test_the_table_has_a_row_for_every_check(shell: Shell) -> None:
    with served(Sound()) as url:
        done = shell("planner", "conform", url)
    assert (done.returncode, done.stderr) == (Exit.COMPLETED, "")
    rows = done.stdout.splitlines()[: len(CHECKS)]
    for check, row in zip(CHECKS, rows, strict=True):
        sign, severity, name, section, *_ = row.split()
        assert sign in ("ok", "-")
        assert (severity, name, section) == (check.severity, check.id, check.section)
    assert f"{url} conforms: 47 hold, 0 required and 0 recommended fail, 9 skipped" in done.stdout


def test_a_failing_row_shows_what_was_sent_and_what_came_back(shell: Shell) -> None:
    with served(StrictFields()) as url:
        done = shell("planner", "conform", url, "--only", "unknown-fields")
    assert done.returncode == Exit.FAILED
    row, sent, got = done.stdout.splitlines()[:3]
    assert row.startswith("FAILS  required     unknown-fields")
    assert sent.split()[:3] == ["sent", "POST", "/planning"]
    assert got.split()[:4] == ["got", "HTTP", "500", "application/json:"]
    assert "does not conform" in done.stdout


def test_what_is_only_recommended_does_not_decide(shell: Shell) -> None:
    with served(AlwaysAchieved()) as url:
        done = shell("planner", "conform", url, "--only", "feedback-errors")
    assert done.returncode == Exit.COMPLETED
    assert "FAILS  recommended  feedback-errors" in done.stdout


def test_machines_get_one_object_a_row_and_one_for_all(shell: Shell) -> None:
    with served(StrictFields()) as url:
        rows: list[dict[str, Any]] = shell.json("planner", "conform", url, "--token", TOKEN)
    assert [row["id"] for row in rows[:-1]] == [check.id for check in CHECKS]
    assert {row["kind"] for row in rows[:-1]} == {"check"}
    assert (rows[-1]["kind"], rows[-1]["conforms"], rows[-1]["fails"]) == ("report", False, 2)
    assert TOKEN not in json.dumps(rows)


def test_a_token_may_come_from_a_file(shell: Shell) -> None:
    path = shell.write("token", f"{TOKEN}\n")
    with served(Sound()) as url:
        done = shell("planner", "conform", url, "--token-file", str(path), "--only", "token-wanted")
        both = shell("planner", "conform", url, "--token-file", str(path), "--token", TOKEN)
    assert "FAILS  recommended  token-wanted" in done.stdout
    assert both.returncode == Exit.USAGE


def test_nobody_there_and_nonsense_are_told_apart_from_a_server_that_fails(shell: Shell) -> None:
    for arguments, said in [
        (("http://127.0.0.1:9",), "refused"),
        (("nonsense",), "http://"),
        (("http://127.0.0.1:9", "--only", "flying"), "there is no check 'flying'"),
    ]:
        done = shell("planner", "conform", *arguments)
        assert done.returncode == Exit.USAGE
        assert said in done.stderr
        assert done.stdout == ""
