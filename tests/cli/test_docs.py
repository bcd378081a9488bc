from __future__ import annotations

from pathlib import Path

from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.main import COMMANDS
from notebook_bcc.settings import read_settings

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def test_the_page_names_every_command_and_every_exit_code() -> None:
    for name in COMMANDS:
        assert f"`nbcc {name}" in PAGE, name
    for code in Exit:
        assert f"| {code.value} |" in PAGE, code


def test_the_page_names_every_setting(tmp_path: Path) -> None:
    names = {"NBCC_RUNS", "NBCC_LANG", "LOG_LEVEL", "MAX_EXECUTION_STEPS", "INTERACTIVE_MODE", "DSLC_BASE_URL"}
    names |= {"BACKEND_BASE_URL", "NOTEBOOK_ID", "USE_REMOTE_EXECUTION"}
    for name in names:
        assert f"`{name}`" in PAGE
    given = dict.fromkeys(("MAX_EXECUTION_STEPS", "INTERACTIVE_MODE", "USE_REMOTE_EXECUTION"), "1")
    assert read_settings(environment=given, folder=tmp_path).max_execution_steps == 1
