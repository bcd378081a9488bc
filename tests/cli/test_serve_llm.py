"""`nbcc serve --planner llm`: a model at a fake endpoint behind our service, our client, a real kernel."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.services import command_at
from cli.shell import Background, Shell, wait_until
from cli.test_llm_run import ANSWERS, FOUND, KEY, TABLE, said
from llm.fake_model import FakeModel, Reply, events, in_a_thread
from notebook_bcc.cli.codes import Exit
from notebook_bcc.notebook.reading import read_notebook

pytest.importorskip("openai", reason="the extra `llm` is not installed")

COUNTING = {
    "playbook.yaml": """
name: {en: Counting}
goal: {en: Count.}
languages: [en]
stages: [count]
""",
    "stages/count.yaml": """
name: {en: Count}
goal: {en: Know the total.}
steps:
  - id: add
    name: {en: Add}
    goal: {en: Add up.}
    behaviors:
      - goal: {en: Add the two numbers.}
        expected: [total]
        actions:
          - chapter: {en: Adding}
          - cell: add
      - goal: {en: Say it.}
        actions:
          - text: {en: It is added.}
""",
    "cells/add.py": "total = 7\n",
}


@pytest.fixture
def houses(shell: Shell) -> Shell:
    shell.write("houses.csv", TABLE)
    return shell


@contextmanager
def served(
    folder: Path, fake: FakeModel, *more: str, playbook: str = "minimal", **environment: str
) -> Iterator[tuple[Background, str]]:
    """The command in front of a fake model, and its address."""
    options = ("--planner", "llm", "--model", f"{fake.address}/v1#m", "--planning-model", "none", "--port", "0")
    with command_at(folder, "serve", *options, "--playbook", playbook, *more, **environment) as (command, _):
        # The first address that is said is the model's.
        wait_until(lambda: " answers " in command.said or command.process.poll() is not None)
        (url,) = re.findall(r"^(http://\S+) answers", command.said, re.MULTILINE)
        yield command, url


def test_a_run_over_http_with_a_model_behind_it_is_completed(houses: Shell, tmp_path: Path) -> None:
    with in_a_thread(FakeModel(*ANSWERS)) as fake:
        with served(tmp_path / "service", fake, NBCC_LLM_KEY=KEY) as (command, url):
            done = houses("run", "houses.csv", "--target", "price", "--planner", url)
            assert "--share schema" in command.said
            command.process.send_signal(signal.SIGINT)
            assert command.exit_code() == Exit.COMPLETED, command.said
            assert KEY not in command.said
        assert fake.heard[0].headers["authorization"] == f"Bearer {KEY}"
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    (folder,) = houses.runs
    notebook = read_notebook(folder / "notebook.ipynb")
    assert notebook.run["verified"]["ok"] is True
    sources = [cell.source for cell in notebook.document.cells]
    assert "We read the table." in sources
    assert FOUND in sources
    prompts = json.dumps([one.body for one in fake.heard])
    assert "Zanzibar" not in prompts
    responses = [one["response"] for one in houses.json("show", "last") if one["kind"] == "planning_answered"]
    told = [one["metadata"]["models"] for one in responses if "models" in one.get("metadata", {})]
    assert sum(one["calls"] for one in told) == len(fake.heard)
    assert {one["cost"] for one in told} == {"unknown"}


def test_a_model_of_no_use_gives_way_to_the_playbook_over_http_too(houses: Shell, tmp_path: Path) -> None:
    with (
        in_a_thread(FakeModel(Reply([events("openai", ["I would rather not."])]))) as fake,
        served(tmp_path / "service", fake, "--budget-calls", "3") as (_, url),
    ):
        done = houses("run", "houses.csv", "--target", "price", "--planner", url, "--no-verify")
        assert len(fake.heard) == 3, "the budget of the service"
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert "the budget of 3 calls is used up" in done.stdout


def test_the_service_conforms(houses: Shell, tmp_path: Path) -> None:
    # One that needs no data: the kit has none, and no kernel.
    for name, text in COUNTING.items():
        path = tmp_path / "counting" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    fake = FakeModel(said("total = 3 + 4", text="We add."))
    with in_a_thread(fake), served(tmp_path / "service", fake, playbook=str(tmp_path / "counting")) as (_, url):
        done = houses("planner", "conform", url)
    assert done.returncode == Exit.COMPLETED, done.stdout + done.stderr
    assert "conforms" in done.stdout
    assert "FAILS" not in done.stdout
    assert fake.heard


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--planner", "llm"), "needs --model"),
        (("--planner", "llm", "--model", "gpt"), "openai:NAME"),
        (("--planner", "llm", "--model", "openai:gpt-4o-mini"), "OPENAI_API_KEY"),
        (("--planner", "llm", "--model", "http://127.0.0.1:1/v1#m", "--budget-cost", "1"), "price"),
        (("--planner", "llm", "--model", "http://127.0.0.1:1/v1#m", "--prompts", "nowhere"), "nowhere"),
        (("--planner", "llm", "--model", "http://127.0.0.1:1/v1#m", "--playbook", "nowhere"), "nowhere"),
        (("--planner", "llm", "--model", "http://127.0.0.1:1/v1#m", "--replay", "last"), "by a playbook"),
        (("--planner", "llm", "--model", "http://127.0.0.1:1/v1#m", "hello.yaml"), "by a playbook"),
        (("--planner", "remote", "--playbook", "minimal"), "cannot be served"),
        (("--playbook", "minimal", "--model", "openai:gpt-4o-mini"), "--planner llm"),
        (("--playbook", "minimal", "--budget-calls", "1"), "--planner llm"),
    ],
)
def test_bad_wishes_are_refused(shell: Shell, options: tuple[str, ...], message: str) -> None:
    done = shell("serve", "--port", "0", *options, OPENAI_API_KEY="")
    assert done.returncode == Exit.USAGE, done.stdout + done.stderr
    assert message in done.stderr
