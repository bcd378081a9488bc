"""A planner made of the documents' snippets serves `nbcc run`, and keeps the protocol."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cli.shell import Shell
from notebook_bcc.conformance.kit import run_kit
from notebook_bcc.notebook.reading import read_notebook
from seeds.literal_planner import literal_planner

# Brings the table; the rest is the planner's.
SCRIPT = """
name: Loading
goal: Load the table
files: [data.csv]
stages:
  - id: data_analysis
    steps:
      - id: load_data
        behaviors: [{actions: [{text: "Not asked for."}]}]
"""
# What the documents say nothing of, and so the planner does not have; and two actions that none of its answers uses.
NOT_THERE = {
    "context-filter",
    "end-phase",
    "navigation",
    "next-event",
    "token-wanted",
    "v1-actions-post",
    "v1-actions-get",
    "v1-reflection",
    "v1-whole",
}


def test_a_run_is_carried_out_by_a_planner_of_snippets(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.write("data.csv", "a,b\n" + "".join(f"{number},x\n" for number in range(1000)))
    shell.write("loading.yaml", SCRIPT)
    with literal_planner() as planner:
        done = shell("run", "loading.yaml", "--planner", planner.url, "--max-behaviors", "2", "--no-verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert planner.asked.count("/generating") == 1
    cells = list(read_notebook(shell.runs[0] / "notebook.ipynb").document.cells)
    assert [cell.type.value for cell in cells if "pd.read_csv" in cell.source] == ["code"]
    assert any(cell.source.startswith("## ") for cell in cells)


@pytest.mark.anyio
async def test_a_planner_of_snippets_keeps_the_protocol() -> None:
    with literal_planner() as planner:
        report = await asyncio.wait_for(run_kit(planner.url), 60)
    assert [(row.id, row.reason) for row in report.rows if row.result == "fails"] == []
    assert {row.id for row in report.rows if row.result == "skipped"} <= NOT_THERE
    assert report.conforms
