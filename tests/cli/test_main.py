from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from cli.services import ear
from cli.shell import Shell
from notebook_bcc.cli.codes import MEANINGS, Exit, exit_of_error, exit_of_stop
from notebook_bcc.cli.main import COMMANDS, PLANNER_COMMANDS, finish
from notebook_bcc.errors import (
    BccError,
    JournalCorrupt,
    JournalFull,
    JournalTooNew,
    KernelDied,
    PlanInvalid,
    RunLocked,
    RunNotFound,
    SettingsInvalid,
)

# What only a run, an export or a service needs.
SANDBOXES = {"notebook_bcc.lifecycle.sandboxing", "notebook_bcc.sandbox.rungs"}
HEAVY = {"zmq", "nbformat", "jupyter_client", "markdown_it", "regex", "uvicorn"}


def test_help_names_every_command_and_every_exit_code(shell: Shell) -> None:
    done = shell("--help")
    assert done.returncode == 0
    for name in COMMANDS:
        assert f"\n  {name} " in done.stdout
    for code, meaning in MEANINGS.items():
        assert f"{code.value}  {meaning}" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_of_its_own(shell: Shell, name: str) -> None:
    done = shell(name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"Usage: nbcc {name}" in done.stdout


@pytest.mark.parametrize("name", PLANNER_COMMANDS)
def test_every_command_for_planner_authors_has_help_of_its_own(shell: Shell, name: str) -> None:
    assert f"\n  {name} " in shell("planner", "--help").stdout
    done = shell("planner", name, "--help")
    assert done.returncode == 0, done.stderr
    assert f"Usage: nbcc planner {name}" in done.stdout


@pytest.mark.parametrize("name", ["observe", "apply", "conform"])
def test_a_former_name_still_works_and_says_the_new_one(shell: Shell, name: str) -> None:
    done, now = shell(name, "--help"), shell("planner", name, "--help")
    assert done.returncode == 0
    assert done.stdout.replace(f"nbcc {name}", f"nbcc planner {name}", 1) == now.stdout
    assert done.stderr == f"nbcc: `nbcc {name}` is called `nbcc planner {name}` now\n"
    assert f"\n  {name} " not in shell("--help").stdout


def test_ask_under_its_former_name_says_the_new_one_and_asks_nobody(shell: Shell) -> None:
    request = str(shell.write("a request.json", "{}"))
    with ear() as planner:
        done = shell("ask", request, "--url", planner.url)
    assert (done.returncode, done.stdout, planner.heard) == (Exit.USAGE, "", [])
    assert done.stderr == f"nbcc: to send a request to a planner: nbcc planner ask '{request}' --url {planner.url}\n"


def test_help_loads_no_kernel_no_journal_and_no_models() -> None:
    code = (
        "import sys\nfrom notebook_bcc.cli.main import application\n"
        "try:\n    application()(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'zmq', 'pydantic', 'sqlite3', 'nbformat', 'yaml', 'jupyter_client'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("run", "--help"), {"notebook_bcc.engine.state", "notebook_bcc.journal.records", "rich", "httpx2", "jinja2"}),
        (("run", "--help"), {"notebook_bcc.llm.choice", "notebook_bcc.playbook.goals.parsing", *SANDBOXES}),
        (("list",), {"notebook_bcc.engine.runner", "notebook_bcc.kernel.local.kernel", "httpx2", "jinja2", "yaml"}),
        (("list",), {"notebook_bcc.engine.actions.builtin", "notebook_bcc.kernel.supervisor.link", *SANDBOXES}),
    ],
)
def test_a_command_loads_only_what_it_needs(arguments: tuple[str, ...], absent: set[str], tmp_path: Path) -> None:
    code = (
        "import sys\nfrom notebook_bcc.cli.main import application\n"
        f"try:\n    application()({list(arguments)!r})\nexcept SystemExit:\n    pass\n"
        f"print(sorted(set({sorted(absent | HEAVY)!r}) & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_printed(shell: Shell) -> None:
    assert shell("--version").stdout.startswith("nbcc ")


def test_an_unknown_command_or_option_is_a_usage_error(shell: Shell) -> None:
    assert shell("fly").returncode == Exit.USAGE
    assert shell("run", "--wings", "x.yaml").returncode == Exit.USAGE
    assert shell("run").returncode == Exit.USAGE


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("run", "x.csv", "--lang", "fr"), "'--lang': 'fr' is not one of 'en', 'zh'."),
        (("run", "x.csv", "--max-actions", "many"), "'--max-actions': must be a whole number"),
        (("prune", "--keep", "-1"), "'--keep': must be at least 0"),
    ],
)
def test_a_wrong_value_is_told_without_the_words_of_a_library(
    shell: Shell, arguments: tuple[str, ...], problem: str
) -> None:
    done = shell(*arguments)
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (
        Exit.USAGE,
        f"Error: Invalid value for {problem}",
    )


def test_run_help_is_enough_to_get_going(shell: Shell) -> None:
    text = shell("run", "--help").stdout
    start, end = text.index("$ cat > hello.yaml\n"), text.index("$ nbcc run hello.yaml")
    lines = text[start:end].splitlines()[1:-1]
    script = "\n".join(line[4:] for line in lines)
    shell.write("hello.yaml", script)
    done = shell("run", "hello.yaml", "--no-verify")
    assert done.returncode == 0, script + done.stdout + done.stderr


def test_a_bad_setting_is_named_with_its_source(shell: Shell) -> None:
    done = shell("list", LOG_LEVEL="loud")
    assert (done.returncode, "LOG_LEVEL='loud' (from environment)" in done.stderr) == (Exit.USAGE, True)
    shell.write(".env", "MAX_EXECUTION_STEPS=many\n")
    done = shell("list")
    assert (done.returncode, "(from .env)" in done.stderr) == (Exit.USAGE, True)


def test_a_reader_that_has_seen_enough_is_no_error(shell: Shell) -> None:
    command = f"{sys.executable} -c 'from notebook_bcc.cli.main import main; main()' fsm | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=shell.folder,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("level", ["ERROR", "DEBUG"])
def test_a_fault_of_ours_is_told_as_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    async def broken() -> int:
        raise RuntimeError("boom")

    monkeypatch.setenv("LOG_LEVEL", level)
    with pytest.raises(typer.Exit) as end:
        finish(broken())
    assert end.value.exit_code == Exit.INTERNAL
    said = capsys.readouterr().err
    assert "RuntimeError: boom" in said
    assert "LOG_LEVEL=DEBUG" in said
    assert ("Traceback" in said) is (level == "DEBUG")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RunLocked(run="r", holder="h"), Exit.LOCKED),
        (JournalCorrupt(path="p", reason="r"), Exit.JOURNAL),
        (JournalTooNew(path="p", found=9, known=1), Exit.JOURNAL),
        (JournalFull(path="p", reason="r"), Exit.STOPPED),
        (KernelDied(cause="c"), Exit.FAILED),
        (PlanInvalid([("a", "b")]), Exit.USAGE),
        (RunNotFound(run="r", where="w"), Exit.USAGE),
        (SettingsInvalid("x"), Exit.USAGE),
    ],
)
def test_every_kind_of_error_has_its_exit_code(error: BccError, code: Exit) -> None:
    assert exit_of_error(error) is code


def test_every_reason_to_stop_has_its_exit_code() -> None:
    reasons = ("completed", "failed", "cancelled", "limit", "paused", "waiting", "interrupted")
    assert [int(exit_of_stop(reason)) for reason in reasons] == [0, 1, 4, 3, 3, 3, 3]
