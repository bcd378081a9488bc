"""`nbcc models check` at an endpoint that answers what the test wrote down."""

from __future__ import annotations

import json

import pytest

from cli.shell import Shell
from llm.fake_model import FakeModel, Reply, events, in_a_thread, refusal
from notebook_bcc.cli.codes import Exit

pytest.importorskip("openai", reason="the extra `llm` is not installed")

GOOD = ['{"actions": [{"colour": ', '"red"}, {"colour": "blue"}]}']


def test_everything_that_works_is_said(shell: Shell) -> None:
    with in_a_thread(FakeModel(Reply([events("openai", GOOD)]))) as fake:
        done = shell("models", "check", f"{fake.address}/v1#m", NBCC_LLM_KEY="sk-hush-hush")
    assert done.returncode == Exit.COMPLETED, done.stderr
    rows = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines()}
    assert rows == {"reachable": "works", "streaming": "works", "schema": "works", "speed": "info", "price": "info"}
    assert "unknown" in done.stdout
    assert "hush" not in done.stdout + done.stderr
    assert "sk-hush-hush" in fake.heard[0].headers["authorization"]


def test_what_does_not_work_is_said_and_the_model_can_be_used(shell: Shell) -> None:
    whole = Reply([events("openai", ["red, green and blue"])])
    with in_a_thread(FakeModel(whole, refusal("400 Bad Request", "no response_format here"), whole)) as fake:
        done = shell("models", "check", f"{fake.address}/v1#m", "--json")
    assert done.returncode == Exit.COMPLETED
    found = {row["what"]: row["works"] for row in map(json.loads, done.stdout.splitlines())}
    assert found == {"reachable": True, "streaming": False, "schema": False, "speed": None, "price": None}


def test_a_model_that_does_not_answer_is_a_failure(shell: Shell) -> None:
    with in_a_thread(FakeModel(refusal("401 Unauthorized", "wrong key sk-hush-hush"))) as fake:
        done = shell("models", "check", f"{fake.address}/v1#m", NBCC_LLM_KEY="sk-hush-hush")
    assert done.returncode == Exit.FAILED
    assert "NBCC_LLM_KEY" in done.stdout
    assert "hush" not in done.stdout + done.stderr


@pytest.mark.parametrize("model", ["gpt", "openai:gpt-4o", "http://u:hush@127.0.0.1/v1#m"])
def test_a_name_or_key_that_is_missing_is_bad_usage(shell: Shell, model: str) -> None:
    done = shell("models", "check", model, OPENAI_API_KEY="")
    assert done.returncode == Exit.USAGE
    assert "hush" not in done.stdout + done.stderr
