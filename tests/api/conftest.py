"""A folder of its own to stand in, with small things to carry out."""

from __future__ import annotations

from pathlib import Path

import pytest

WORDS = """
goal: Which words does a sentence use most?
stages:
  - id: words
    steps:
      - id: count
        behaviors:
          - actions:
              - title: Counting words
              - code: |
                  from collections import Counter
                  counts = Counter("to be or not to be".split())
              - code: counts.most_common(2)
"""
OURS = ("NBCC_RUNS", "NBCC_LANG", "LOG_LEVEL", "MAX_EXECUTION_STEPS", "INTERACTIVE_MODE", "USE_REMOTE_EXECUTION")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder but for a script, `words.yaml`, and no settings of ours."""
    for name in OURS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.yaml").write_text(WORDS, encoding="utf-8")
    return tmp_path
