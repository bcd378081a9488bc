"""What the built-in playbook tells of a run: every focus and goal names a column and a number of this very table.

That the numbers are the kernel's is checked by the rehearsal wherever a stage is played, in all tests of this folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from playbooks.rehearsal import Rehearsal, at_work_in

pytestmark = pytest.mark.timeout(300)

# Before the table is read nothing is known of it; these are said where there is none, or about another file.
PLAIN = ("structure/setup", "structure/open", "structure/load")
WITHOUT_FITS = ("structure", "integrity", "exploration", "methodology")
WHOLE = (*WITHOUT_FITS, "modelling", "predictability", "stability", "report")


def flats(rows: int = 120) -> Any:
    draws = np.random.default_rng(0)
    area = draws.uniform(20, 120, rows).round(1)
    return pd.DataFrame(
        {
            "number": np.arange(1, rows + 1),
            "area": area,
            "floor": np.where(draws.random(rows) < 0.2, np.nan, draws.integers(0, 9, rows)),
            "kind": draws.choice(["old", "new", "loft"], rows),
            "rent": (9 * area + draws.normal(0, 60, rows)).round(2),
        }
    )


def patients(rows: int = 90) -> Any:
    draws = np.random.default_rng(1)
    age = draws.integers(20, 80, rows)
    return pd.DataFrame(
        {
            "age": age,
            "ward": draws.choice(["a", "b"], rows),
            "weight": draws.normal(70, 9, rows).round(1),
            "ill": np.where(age + draws.normal(0, 12, rows) > 55, "yes", "no"),
        }
    )


def played(folder: Path, table: Any, target: str, stages: tuple[str, ...], **given: Any) -> Rehearsal:
    folder.mkdir(exist_ok=True)
    with at_work_in(folder):
        table.to_csv("data.csv", index=False)
        named = {"target": target, "targets": [target]} if target else {}
        done = Rehearsal(inputs={"data": "data.csv", "format": "csv", **named}, **given)
        for stage in stages:
            done.play(stage)
    return done


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Rehearsal:
    """A whole run; tests look at it and do not change it."""
    return played(tmp_path_factory.mktemp("whole"), flats(), "rent", WHOLE)


def test_every_focus_and_goal_is_written_from_facts_once_the_table_is_known(whole: Rehearsal) -> None:
    plain = [each for each in whole.told if each.is_plain and not each.place.startswith(PLAIN)]
    assert plain == []
    assert {each.name for each in whole.told} == {"stage focus", "step focus", "behavior focus", "behavior goal"}
    # A finding is an observation, and its first line a key finding.
    first = [text.strip().splitlines()[0] for text in whole.findings]
    assert len(first) > 15
    assert all(line[0] not in "|{-" and len(line) > 20 for line in first), first
    assert "The table has 120 rows and 5 columns." in first


def test_every_stage_leaves_an_artifact_whose_parent_is_an_earlier_one(whole: Rehearsal) -> None:
    assert whole.artifacts == {
        "df_raw@structure": None,
        "df_clean@integrity": "df_raw@structure",
        "train@integrity": "df_clean@integrity",
        "holdout@integrity": "df_clean@integrity",
        "look@exploration": "train@integrity",
        "association@exploration": "train@integrity",
        "folds@methodology": "train@integrity",
        "model@modelling": "folds@methodology",
        "estimate@predictability": "model@modelling",
        "stability@stability": "model@modelling",
        "final_model@report": "model@modelling",
    }


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_two_tables_are_told_in_different_texts(tmp_path: Path, lang: str) -> None:
    one = played(tmp_path / "one", flats(), "rent", WITHOUT_FITS, lang=lang)
    other = played(tmp_path / "other", patients(), "ill", WITHOUT_FITS, lang=lang)
    told = {(each.place, each.name): each.text for each in one.told if not each.is_plain}
    again = {(each.place, each.name): each.text for each in other.told if not each.is_plain}
    same = [place for place in told.keys() & again.keys() if told[place] == again[place]]
    assert len(told.keys() & again.keys()) > 60
    assert same == []


def test_a_table_without_a_target_is_told_by_its_own_columns(tmp_path: Path) -> None:
    done = played(tmp_path, flats(), "", ("structure", "integrity", "exploration", "report"))
    assert [each for each in done.told if each.is_plain and not each.place.startswith(PLAIN)] == []
    assert "train@integrity" in done.artifacts


def test_thoughts_stand_where_the_plan_turns(tmp_path: Path) -> None:
    days = pd.date_range("2021-03-01", periods=120).astype(str)
    dated = flats().assign(day=days).sort_values("day")
    (by_time,) = played(tmp_path / "time", dated, "rent", WITHOUT_FITS[:2]).thoughts
    assert by_time.startswith("Rows picked by chance")
    assert "day runs from 2021-03-01 to 2021-06-28" in by_time
    given_away = flats().assign(twice=flats()["rent"] * 2)
    (by_leak,) = played(tmp_path / "leak", given_away, "rent", WITHOUT_FITS[:2]).thoughts
    assert by_leak.startswith("twice: what was seen in 96 rows")
    assert played(tmp_path / "plain", flats(), "rent", WITHOUT_FITS[:2]).thoughts == []


def test_what_was_changed_is_named_as_modified_features(tmp_path: Path) -> None:
    table = flats().assign(price=[f"{value:,.0f} EUR" for value in flats()["rent"] * 100])
    table.loc[::10, "area"] = -999
    done = played(tmp_path, table, "rent", WITHOUT_FITS[:2])
    assert {"price", "area"} <= set(done.modified)
