"""Tab completes commands, options and the ids of runs, in bash, zsh and fish."""

from __future__ import annotations

import pytest

from cli.shell import Shell


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_is_shown(shell: Shell, name: str) -> None:
    done = shell.process("--show-completion", name, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert (done.returncode, f"_NBCC_COMPLETE=complete_{name}" in done.stdout) == (0, True), done.stderr


@pytest.mark.parametrize(
    ("typed", "found"), [("nbcc verif", {"verify"}), ("nbcc export last --al", {"--all"}), ("nbcc show la", {"last"})]
)
def test_commands_options_and_words_are_completed(finished: Shell, typed: str, found: set[str]) -> None:
    assert complete(finished, typed) == found


def test_the_ids_of_runs_are_completed(finished: Shell, shell: Shell) -> None:
    run = finished.runs[0].name
    assert complete(finished, f"nbcc export {run[:6]}") == {run}
    assert complete(shell, f"nbcc show --runs {finished.folder}/nbcc-runs {run[:6]}") == {run}
    assert complete(shell, "nbcc show 20") == set()


def complete(shell: Shell, typed: str) -> set[str]:
    words = str(len(typed.split()) - 1)
    done = shell.process(_NBCC_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=words)
    assert done.stderr == ""
    return set(done.stdout.split())
