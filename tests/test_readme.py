"""What the README shows is true, word for word apart from times and ids."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
READMES = {"README.md": [], "README.zh-CN.md": ["--lang", "zh"]}


def blocks(text: str, kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def told(text: str) -> list[str]:
    """The lines without what differs from run to run."""
    lines = [re.sub(r"\d\d:\d\d:\d\d|\d{8}-\d{6}|\d+\.\d\d (?:s|秒)", "...", line) for line in text.splitlines()]
    return [line.strip() for line in lines if line.strip()]


@pytest.mark.parametrize("name", READMES)
def test_the_example_runs_and_says_what_the_readme_says(name: str, tmp_path: Path) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    (script,) = blocks(text, "yaml")
    shown = next(block for block in blocks(text, "console") if "nbcc run words.yaml" in block)
    (tmp_path / "words.yaml").write_text(script, encoding="utf-8")
    command = [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()", "run", "words.yaml"]
    run = subprocess.run(
        [*command, *READMES[name]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=110,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    said = told(run.stdout)
    assert [line for line in told(shown)[1:] if line not in said] == []


@pytest.mark.parametrize("name", READMES)
def test_every_file_the_readme_links_to_exists(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / name).read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []


@pytest.mark.parametrize("name", READMES)
def test_install_example_and_picture_come_before_line_sixty(name: str) -> None:
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()[:60]
    assert any(line.startswith("![") for line in lines)
    assert any("make demo" in line for line in lines)
