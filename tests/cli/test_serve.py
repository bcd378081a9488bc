from __future__ import annotations

import json
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from cli.services import command_at, fetch
from cli.shell import DEADLINE, HELLO, Shell, wait_until
from notebook_bcc.cli.codes import Exit


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_script_is_served_on_one_line_until_a_signal(tmp_path: Path, number: signal.Signals) -> None:
    Shell(tmp_path).write("hello.yaml", HELLO)
    with command_at(tmp_path, "serve", "hello.yaml", "--port", "0") as (command, url):
        assert fetch(f"{url}/health") == 200
        assert fetch(f"{url}/metrics") == 200
        command.process.send_signal(number)
        assert command.exit_code() == Exit.COMPLETED, command.said
        assert len(command.said.splitlines()) == 1, command.said


def test_without_anything_said_the_built_in_playbook_is_served(tmp_path: Path) -> None:
    with command_at(tmp_path, "serve", "--port", "0") as (command, url):
        assert command.said == f"{url} answers planning and generating requests from dslc; Ctrl-C stops it\n"
        with urllib.request.urlopen(f"{url}/health", timeout=DEADLINE) as response:
            named = json.load(response)["planner"]
        shell = Shell(tmp_path)
        shell.write("rows.csv", "a,b\n" + "".join(f"{number},{number % 3}\n" for number in range(40)))
        order = ("rows.csv", "--target", "b", "--max-actions", "3")
        done = shell("run", *order, "--planner", url)
        assert done.returncode == Exit.STOPPED, done.stdout + done.stderr
        first, *_ = [entry for entry in shell.json("show", "last") if entry["kind"] == "planning_answered"]
        assert shell("run", *order).returncode == Exit.STOPPED
        embedded, *_ = [entry for entry in shell.json("show", "last") if entry["kind"] == "planning_answered"]
    assert named == "playbook"
    assert first["response"]["context_update"] == embedded["response"]["context_update"]


def test_on_another_address_a_token_is_made_up_and_shown_once(tmp_path: Path) -> None:
    Shell(tmp_path).write("hello.yaml", HELLO)
    with command_at(tmp_path, "serve", "hello.yaml", "--port", "0", "--host", "0.0.0.0") as (command, url):
        here = url.replace("0.0.0.0", "127.0.0.1")
        (token,) = re.findall(r"^token .*: (\S+)$", command.said, re.MULTILINE)
        assert fetch(f"{here}/metrics") == 401
        assert fetch(f"{here}/metrics", token=token) == 200
        assert "unencrypted" in command.said
        command.process.send_signal(signal.SIGINT)
        assert command.exit_code() == Exit.COMPLETED
        assert command.said.count(token) == 1


def test_a_given_token_is_wanted_and_never_shown(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.write("hello.yaml", HELLO)
    shell.write("token", "a-token-of-good-length\n")
    with command_at(tmp_path, "serve", "hello.yaml", "--port", "0", "--token-file", "token") as (command, url):
        assert fetch(f"{url}/metrics") == 401
        assert fetch(f"{url}/metrics", token="a-token-of-good-length") == 200
        assert "a-token-of-good-length" not in command.said


def test_the_metrics_count_what_a_model_took(tmp_path: Path) -> None:
    # Nobody listens there: the service does not ask its model before it is asked itself.
    model = ("--planner", "llm", "--model", "http://127.0.0.1:9/v1#m", "--playbook", "minimal")
    with command_at(tmp_path, "serve", *model, "--port", "0") as (command, _):
        wait_until(lambda: "answers planning" in command.said)
        (url,) = re.findall(r"^(http://\S+) answers", command.said, re.MULTILINE)
        with urllib.request.urlopen(f"{url}/metrics", timeout=DEADLINE) as response:
            assert "\nnbcc_model_calls_total 0\n" in response.read().decode()


def test_the_line_speaks_chinese(tmp_path: Path) -> None:
    Shell(tmp_path).write("hello.yaml", HELLO)
    with command_at(tmp_path, "serve", "hello.yaml", "--port", "0", "--lang", "zh") as (command, _):
        assert "按 Ctrl-C 停止" in command.said


def test_what_cannot_be_served_is_refused(shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    shell.write("bad.yaml", "stages: [")
    shell.write("short", "abc")
    for arguments, message in (
        (("--playbook", "dslc", "--replay", "last"), "give one thing to plan from"),
        (("hello.yaml", "--replay", "last"), "give one thing to plan from"),
        (("--replay", "last"), "no run 'last'"),
        (("bad.yaml",), "line"),
        (("none.yaml",), "none.yaml"),
        (("hello.yaml", "--host", "256.1.1.1", "--port", "0"), "256.1.1.1"),
        (("hello.yaml", "--token-file", "short"), "at least 16"),
        (("hello.yaml", "--token-file", "nowhere"), "token file nowhere cannot be read"),
    ):
        done = shell("serve", *arguments)
        assert done.returncode == Exit.USAGE, (arguments, done.stderr)
        assert message in done.stderr, (arguments, done.stderr)


def test_a_port_in_use_is_said(tmp_path: Path, shell: Shell) -> None:
    shell.write("hello.yaml", HELLO)
    with command_at(tmp_path, "serve", "hello.yaml", "--port", "0") as (_, url):
        done = shell("serve", "hello.yaml", "--port", url.rpartition(":")[2])
        assert (done.returncode, "cannot listen" in done.stderr) == (Exit.USAGE, True)
