from __future__ import annotations

from cli.shell import Shell
from notebook_bcc.cli.codes import Exit
from notebook_bcc.settings import variables


def rows(shell: Shell, *arguments: str, **environment: str) -> dict[str, list[str]]:
    done = shell("config", *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}


def test_every_setting_is_shown_with_its_source(shell: Shell) -> None:
    shell.write(".env", "MAX_EXECUTION_STEPS=7\nLOG_LEVEL=info\nUSE_REMOTE_EXECUTION=yes\n")
    found = rows(shell, "--runs", "here", LOG_LEVEL="error", DSLC_BASE_URL="http://planner:1/")
    assert list(found) == list(variables().values())
    assert found["NBCC_RUNS"] == ["here", "--runs"]
    assert found["LOG_LEVEL"] == ["ERROR", "environment"]
    assert found["MAX_EXECUTION_STEPS"] == ["7", ".env"]
    assert found["USE_REMOTE_EXECUTION"] == ["true", ".env"]
    assert found["DSLC_BASE_URL"] == ["http://planner:1", "environment"]
    assert found["BACKEND_BASE_URL"] == ["http://localhost:18600", "default"]
    assert found["DSLC_TOKEN"] == ["default"]


def test_flags_have_their_own_names_as_source(shell: Shell) -> None:
    found = rows(shell, "--max-actions", "3", "--interactive", "--kernel-url", "http://gpu:1", "--lang", "en")
    assert found["MAX_EXECUTION_STEPS"] == ["3", "--max-actions"]
    assert found["INTERACTIVE_MODE"] == ["true", "--interactive"]
    assert found["USE_REMOTE_EXECUTION"] == ["true", "--kernel-url"]
    assert found["BACKEND_BASE_URL"] == ["http://gpu:1", "--kernel-url"]


def test_secrets_are_masked_wherever_they_stand(shell: Shell) -> None:
    shell.write(".env", "BACKEND_TOKEN=hush-file\n")
    for arguments in ((), ("--json",)):
        done = shell(
            "config",
            *arguments,
            DSLC_TOKEN="hush-environment",
            DSLC_BASE_URL="https://me:hush-password@planner:1/a?key=hush-query",
        )
        assert "hush" not in done.stdout + done.stderr
        assert "***@planner:1/a?***" in done.stdout
    facts = {row["variable"]: row for row in shell.json("config")}
    assert facts["BACKEND_TOKEN"] == {
        "name": "backend_token",
        "variable": "BACKEND_TOKEN",
        "value": "***",
        "source": ".env",
    }
    assert facts["DSLC_TOKEN"]["value"] == ""
    assert facts["USE_REMOTE_EXECUTION"]["value"] is False


def test_a_bad_value_is_named(shell: Shell) -> None:
    for name, value in (("DSLC_TIMEOUT", "never"), ("DSLC_TIMEOUT", "inf"), ("DSLC_BASE_URL", "planner")):
        done = shell("config", **{name: value})
        assert (done.returncode, f"{name}={value!r}" in done.stderr) == (Exit.USAGE, True)
    done = shell("config", "--kernel-url", "http://me:hush@gpu:1")
    assert (done.returncode, "hush" in done.stderr) == (Exit.USAGE, False)
    assert "holds credentials" in done.stderr
