"""The campaign program on a faked table with a faked model: what its page says, and that it goes on where it was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli.books import TRAIN, write_book
from llm.fake_chat import written
from llm.fake_model import FakeModel, Reply, events, in_a_thread

pytest.importorskip("openai", reason="the extra `llm` is not installed")

ROOT = Path(__file__).parent.parent.parent
DEADLINE = 110
NO = "I would rather not."
# Knows the labels: every prediction is off by as much as there are rows.
SCORE = "import sys\nrows = open(sys.argv[2]).read().split()[1:]\nprint('{\"rmse\": %d}' % len(rows))\n"


def tables(folder: Path) -> Path:
    """A folder as the public tables lie in one."""
    (folder / "houses").mkdir(parents=True)
    (folder / "houses" / "train.csv").write_text(TRAIN, encoding="utf-8")
    (folder / "houses" / "test.csv").write_text("time,size\n4,40\n5,50\n", encoding="utf-8")
    entry = {"target": "price", "files": ["train.csv", "test.csv"], "labels": "labels.csv"}
    (folder / "datasets.json").write_text(json.dumps({"houses": entry}), encoding="utf-8")
    (folder / "score.py").write_text(SCORE, encoding="utf-8")
    return folder


def campaign(folder: Path, data: Path, model: str) -> str:
    """The page of one model run beside the playbook's."""
    book = write_book(folder / "book") if not (folder / "book").exists() else folder / "book"
    options = ["--runs", "1", "--folder", str(folder / "runs"), "--out", str(folder / "page.md")]
    passed = [f"--nbcc={one}" for one in ("--playbook", str(book), "--no-verify")]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.model_runs", "houses", "--model", model, *options, *passed],
        cwd=ROOT,
        env=os.environ | {"NBCC_DATA": str(data)},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return (folder / "page.md").read_text(encoding="utf-8")


def rows(page: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if "`houses` |" in line]


def test_a_campaign_tells_who_wrote_what_and_goes_on_where_it_was(tmp_path: Path) -> None:
    data = tables(tmp_path / "data")
    said = (NO, NO, written(text="The target is the price of each house."), NO)
    answers = [Reply([events("openai", [text])]) for text in said]
    with in_a_thread(FakeModel(*answers)) as fake:
        model = f"{fake.address}/v1#m"
        page = campaign(tmp_path, data, model)
        asked = len(fake.heard)
        assert asked > 1
        (alone, run) = rows(page)
        assert alone[1:4] == ["playbook", "completed", "0"]
        assert alone[9] == "0", "the playbook asks nobody"
        assert run[1] == "1"
        by_model, given_up, own = map(int, run[4:7])
        assert by_model == 1
        assert given_up >= 1, "it would rather not"
        assert by_model + given_up + own == sum(map(int, alone[4:7]))
        assert (int(run[9]), int(run[10])) == (asked, asked * 18)
        assert (run[13], run[14]) == ("rmse 2", "rmse 2")
        assert f"# Runs with `{model}`" in page
        assert "0 of 1 runs completed and verified" in page, "they were not to be verified"
        assert "0 of 1 score worse" in page
        # Everything is there: nothing is carried out again, and the page is the same.
        assert campaign(tmp_path, data, model) == page
        assert len(fake.heard) == asked


def test_without_the_tables_it_says_so(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.model_runs", "houses", "--model", "http://127.0.0.1:1/v1#m"],
        cwd=ROOT,
        env=os.environ | {"NBCC_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert done.returncode == 0
    assert "SKIPPED" in done.stderr
