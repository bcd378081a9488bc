"""The exploration shows training rows only, and says in words what it found."""

from __future__ import annotations

from pathlib import Path

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from playbooks.test_integrity_parse import play  # noqa: E402
from playbooks.test_integrity_rows import measured  # noqa: E402

BOTH = ("integrity", "exploration")


def test_a_quantity_gets_its_figures_and_words(tmp_path: Path) -> None:
    table = measured(500).assign(y=lambda rows: np.exp(rows["size"] / 3))
    table["noise"] = np.random.default_rng(0).normal(size=500)
    table["twin"] = table["noise"] + 0.001 * np.arange(500) / 500
    for name in ["size", "noise", "kind"]:
        table.loc[np.arange(500) % 9 == len(name), name] = None
    played = play(tmp_path, table, target="y", stages=BOTH)
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert drawn == ["10_target.png", "11_association.png", "12_strongest.png", "13_missing.png"]
    assert next(iter(played.names["association"])) == "size"
    assert played.names["correlated_groups"] == [["noise", "twin"]]
    assert "`size` goes with the target most" in played.prose
    assert "`noise` and `twin`" in played.prose


@pytest.mark.parametrize("scale", [0.001, 1, 100_000])
def test_a_logarithmic_axis_has_plain_numbers(tmp_path: Path, scale: float) -> None:
    table = measured(300).assign(y=lambda rows: scale * np.exp(rows["size"] / 2))
    played = play(tmp_path, table, target="y", stages=BOTH)
    assert played.names["target_summary"]["skew"] > 1.5
    assert not [text for text in played.drawn if "mathdefault" in text or "e+" in text or "e-" in text]


def test_classes_get_bars_and_shares(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    label = generator.choice(["no", "yes"], 600, p=[0.9, 0.1])
    table = (
        measured(600).drop(columns="y").assign(label=label, dose=(label == "yes") * 2.0 + generator.normal(size=600))
    )
    table["ward"] = np.where(label == "yes", generator.choice(["x", "y"], 600), "z")
    played = play(tmp_path, table, target="label", stages=BOTH)
    assert played.names["target_summary"]["most"] == "no"
    assert "a share of right answers says little here" in played.prose
    assert (tmp_path / "figures" / "12_strongest.png").exists()


def test_the_rows_set_aside_are_not_looked_at(tmp_path: Path) -> None:
    table = measured(500).assign(day=pd.date_range("2020-01-01", periods=500).astype(str))
    table.loc[400:, "size"] = np.nan
    played = play(tmp_path, table, target="y", stages=BOTH)
    assert played.names["missing_features"] == 0
    assert (tmp_path / "figures" / "14_time.png").exists()
    assert len(played.names["time_change"]) == 2


def test_large_tables_are_sampled_and_it_is_said(tmp_path: Path) -> None:
    played = play(tmp_path, measured(40_000), target="y", stages=BOTH)
    assert played.names["explored_rows"] == 20_000
    assert "use 20,000 of them, picked by chance" in played.prose


def test_a_table_without_target_is_described(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame(generator.normal(size=(200, 5)), columns=["a", "b", "c", "d $", "e"])
    table["f"] = table["a"] * 2 + 0.01 * table["b"]
    table["town"] = generator.choice(["Rome", "Oslo"], 200)
    played = play(tmp_path, table, stages=BOTH)
    assert played.names["strong_pairs"][0][:2] == ["a", "f"]
    assert "The strongest relation between numbers: `a` and `f`" in played.prose
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {"10_distributions.png", "11_pairs.png"}


@pytest.mark.parametrize("columns", [["town"], ["a"]])
def test_a_single_column_is_enough(tmp_path: Path, columns: list[str]) -> None:
    table = pd.DataFrame({"town": ["Rome", "Oslo"] * 30, "a": np.random.default_rng(0).normal(size=60)})[columns]
    played = play(tmp_path, table, stages=BOTH)
    assert "explore_findings" in played.steps
