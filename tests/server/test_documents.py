"""The pages about the endpoints: each command is run as it stands there, and its answer is the one shown."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import httpx2
import pytest

from notebook_bcc.server.app import App
from notebook_bcc.server.openapi import openapi

DOCS = Path(__file__).parents[2] / "docs"
# A translation shows the same blocks, word for word: tests/test_translations.py.
PAGES = [path for path in sorted((DOCS / "endpoints").glob("*.md")) if not path.name.endswith(".zh.md")]
ADDRESS = "http://127.0.0.1:28600"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A service in a process of its own, in front of the script that the pages name."""
    command = [sys.executable, str(Path(__file__).with_name("worker.py")), str(DOCS / "endpoints" / "example.yaml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        yield worker.stdout.readline().strip()
        worker.terminate()
        assert worker.wait(30) in (0, -15)


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Each command with the kind and text of the block after it, empty where no answer is shown."""
    fences = FENCE.findall(page.read_text(encoding="utf-8"))
    following = zip_longest(fences, fences[1:], fillvalue=("", ""))
    return [(text, *(("", "") if after[0] == "sh" else after)) for (kind, text), after in following if kind == "sh"]


def by_client(command: str) -> str:
    """The answer to a command of curl, asked by our own client: a bare machine has no curl."""
    name, *words = shlex.split(command.replace("\\\n", ""))
    assert name == "curl"
    headers: dict[str, str] = {}
    sent: list[str] = []
    addresses: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "-H":
            key, _, value = next(rest).partition(": ")
            headers[key] = value
        elif word in ("-d", "--data-urlencode"):
            sent.append(next(rest))
        elif word.startswith("http://"):
            addresses.append(word)
        else:
            assert word in ("-sS", "-G", "--no-buffer"), f"this test does not know the option {word!r} of curl"
    [address] = addresses
    if not sent or "-G" in words:
        return httpx2.get(address, params=dict(one.split("=", 1) for one in sent), headers=headers, timeout=60).text
    [body] = sent
    return httpx2.post(address, headers=headers, content=body, timeout=60).text


def by_curl(command: str) -> str:
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


NO_CURL = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed: our own client asks instead")


@pytest.mark.parametrize("ask", [by_client, pytest.param(by_curl, marks=NO_CURL)])
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_answers_what_the_page_shows(page: Path, ask: Callable[[str], str], address: str) -> None:
    commands = blocks(page)
    assert commands
    for command, kind, shown in commands:
        assert ADDRESS in command
        answer = ask(command.replace(ADDRESS, address))
        if kind == "ndjson":
            assert answer == shown
        elif kind == "json":
            # The version is the one thing that changes without the page becoming wrong.
            got, expected = json.loads(answer), json.loads(shown)
            assert {**got, "version": None} == {**expected, "version": None}
        else:
            assert answer


def test_every_endpoint_has_a_page_that_the_overview_links_to() -> None:
    titles = " ".join(page.read_text(encoding="utf-8").partition("\n")[0] for page in PAGES)
    overview = (DOCS / "server.md").read_text(encoding="utf-8")
    for path in openapi(version="1", token=False)["paths"]:
        assert path in titles
        assert path in overview
    for page in PAGES:
        assert f"(endpoints/{page.name})" in overview


def test_every_status_and_limit_that_there_is_stands_in_the_overview() -> None:
    overview = (DOCS / "server.md").read_text(encoding="utf-8")
    sources = Path(sys.modules[openapi.__module__].__file__ or "").parent.glob("*.py")
    codes = {code for file in sources for code in re.findall(r'Problem\(\s*\d{3},\s*"(\w+)"', file.read_text())}
    assert len(codes) > 15
    assert not [code for code in codes if f"`{code}`" not in overview]


def test_the_python_of_the_overview_builds_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DOCS.parent)
    [source] = [
        text for kind, text in FENCE.findall((DOCS / "server.md").read_text(encoding="utf-8")) if kind == "python"
    ]
    building, _, running = source.strip().rpartition("\n")
    assert running == "asyncio.run(serve(app, ready=print))"
    names: dict[str, object] = {}
    exec(compile(building, "server.md", "exec"), names)
    assert isinstance(names["app"], App)
