"""Rows that are no observations, values that cannot be, and columns that cannot help: counted, said, acted on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
pd = pytest.importorskip("pandas")

from playbooks.test_integrity_parse import play  # noqa: E402


def measured(rows: int = 300, seed: int = 100) -> Any:
    """A plain table of numbers and a category, with a target that follows from them."""
    generator = np.random.default_rng(seed)
    table = pd.DataFrame({"size": generator.normal(10, 2, rows), "kind": generator.choice(["a", "b", "c"], rows)})
    table["y"] = 3 * table["size"] + generator.normal(size=rows)
    return table


def test_copies_rows_of_totals_and_rows_without_target_are_dropped_and_said(tmp_path: Path) -> None:
    table = measured()
    table.loc[5, "y"] = np.nan
    total = pd.DataFrame({"size": [table["size"].sum()], "kind": ["TOTAL"], "y": [table["y"].sum()]})
    table = pd.concat([table, table.iloc[:7].drop(index=5), total], ignore_index=True)
    played = play(tmp_path, table, target="y")
    assert played.names["total_rows"] == [306]
    assert played.names["copied_rows"] == 6
    assert played.names["untargeted_rows"] == 1
    assert len(played.names["df_clean"]) == 299
    assert "1 row is a line of totals" in played.prose
    assert "6 rows are exact copies" in played.prose


def test_a_last_row_of_sums_is_found_without_a_word(tmp_path: Path) -> None:
    table = pd.DataFrame({"bus": range(1, 41), "rail": range(3, 43), "y": [1.5 * row for row in range(1, 41)]})
    table.loc[40] = table.sum()
    played = play(tmp_path, table, target="y")
    assert played.names["total_rows"] == [40]


def test_rows_that_agree_by_chance_are_kept(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    table = pd.DataFrame({name: generator.choice(["x", "y", "z"], 500) for name in ["a", "b", "c"]})
    table["label"] = generator.choice(["good", "bad"], 500)
    played = play(tmp_path, table, target="label")
    assert played.names["copied_rows"] > 400
    assert len(played.names["df_clean"]) == 500
    assert "they are kept" in played.prose


def test_rows_of_the_test_file_that_are_known_are_counted(tmp_path: Path) -> None:
    table = measured()
    table["id"] = range(300)
    test = pd.concat([measured(40, seed=7), table.iloc[:9]]).drop(columns="y")
    test["id"] = range(1000, 1049)
    played = play(tmp_path, table, target="y", test=test)
    assert played.names["test_overlap"] == 9
    assert "9 of the 49 rows of the test file" in played.prose


def test_codes_for_missing_and_impossible_values_become_missing(tmp_path: Path) -> None:
    table = measured()
    generator = np.random.default_rng(1)
    table["age"] = generator.integers(18, 70, 300).astype(float)
    table["height"] = generator.normal(170, 8, 300)
    table["income"] = generator.lognormal(3, 1, 300)
    table.loc[[3, 4], "age"] = [150.0, -2.0]
    table.loc[[5, 6], "height"] = 0.0
    table.loc[[7, 8, 9], "size"] = -999.0
    played = play(tmp_path, table, target="y")
    clean = played.names["df_clean"]
    assert clean["age"].isna().sum() == 2
    assert clean["height"].isna().sum() == 2
    assert clean["size"].isna().sum() == 3
    assert clean["income"].notna().all()
    assert played.names["mended_values"] == 7
    assert "`size`: -999 stands for a missing value" in played.prose


def test_frost_is_a_temperature_and_a_code_among_temperatures_is_not(tmp_path: Path) -> None:
    table = measured()
    generator = np.random.default_rng(3)
    table["temperature_c"], table["气温"] = generator.uniform(8, 25, 300), generator.uniform(8, 25, 300)
    table.loc[[5, 6], "temperature_c"] = -99.0
    table.loc[[7, 8], "气温"] = [-1.5, 0.0]
    played = play(tmp_path, table, target="y")
    assert played.names["missing_codes"] == {"temperature_c": [-99.0]}
    assert played.names["only_positive"] == {}
    assert played.names["df_clean"]["temperature_c"].isna().sum() == 2
    assert played.names["df_clean"]["气温"].notna().all()
    assert "zero or less" not in played.prose + "".join(played.cells)


def test_what_is_treated_as_missing_is_not_reported_as_perhaps_true(tmp_path: Path) -> None:
    table = measured()
    table["height"] = np.random.default_rng(4).normal(170, 1, 300)
    table["age"] = np.random.default_rng(5).uniform(30, 40, 300).round()
    table.loc[[5, 6], "height"], table.loc[[7, 8], "age"] = 0.0, [900.0, -2.0]
    played = play(tmp_path, table, target="y")
    assert played.names["only_positive"] == {"height": 2}
    assert played.names["limits"] == {"age": [0, 120]}
    assert played.names["far_values"] == {}
    assert played.names["negative_values"] == {}


def test_a_zero_that_means_none_is_left_alone_and_its_description_becomes_a_category(tmp_path: Path) -> None:
    table = measured(400)
    generator = np.random.default_rng(2)
    table["pool_area"] = np.where(np.arange(400) % 25 == 0, 0.0, generator.normal(50, 5, 400))
    table["pool_kind"] = np.where(table["pool_area"] > 0, generator.choice(["round", "square"], 400), None)
    played = play(tmp_path, table, target="y")
    assert played.names["means_none"] == {"pool_kind": "pool_area"}
    assert played.names["only_positive"] == {}
    clean = played.names["df_clean"]
    assert (clean["pool_kind"] == "none").sum() == 16
    assert "Missing seems to mean *none*" in played.prose


def test_columns_that_cannot_help_are_named_with_the_reason(tmp_path: Path) -> None:
    table = measured()
    table["id"] = range(1, 301)
    table["code"] = [f"K{row:05}" for row in range(300)]
    table["empty"], table["always"], table["again"] = np.nan, "EUR", table["size"]
    table["only_now"] = np.random.default_rng(5).normal(size=300)
    test = table.drop(columns=["y", "only_now"]).assign(id=range(400, 700))
    played = play(tmp_path, table, target="y", test=test)
    assert played.names["dropped_columns"] == {
        "id": "identifier",
        "code": "identifier",
        "empty": "empty",
        "always": "constant",
        "again": "duplicate column",
        "only_now": "not in test",
    }
    assert played.names["numeric_columns"] == ["size"]
    assert played.names["category_columns"] == ["kind"]
    assert "`only_now`: not in the test file" in played.prose


@pytest.mark.filterwarnings("ignore:Glyph")  # the font is chosen in an earlier stage
def test_chinese_text_says_the_same(tmp_path: Path) -> None:
    table = measured()
    table["编号"] = range(300)
    table = pd.concat([table, table.iloc[:4]], ignore_index=True)
    played = play(tmp_path, table, target="y", lang="zh", stages=("integrity", "exploration"))
    assert "4 行与其他行完全相同" in played.prose
    assert "`编号`：标识列" in played.prose
    assert "{" not in played.prose
    assert "None" not in played.prose


def test_thousands_of_columns_are_borne(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    wide = pd.DataFrame(generator.normal(size=(60, 4_000)), columns=[f"gene {at}" for at in range(4_000)])
    wide["y"] = generator.normal(size=60)
    played = play(tmp_path, wide, target="y", stages=("integrity", "exploration"))
    assert len(played.names["numeric_columns"]) == 4_000
    assert len(played.names["association"]) == 12


def test_more_text_columns_than_can_be_listed_are_prepared_all_the_same(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    wide = pd.DataFrame({f"q{at}": generator.choice(["yes ", "no", "$5"], 60) for at in range(300)})
    prices = pd.DataFrame(
        {f"p{at}": [f"${number:,}" for number in generator.integers(1000, 9999, 60)] for at in range(300)}
    )
    wide = pd.concat([wide, prices], axis=1).assign(y=generator.normal(size=60))
    played = play(tmp_path, wide, target="y")
    assert len(played.names["number_texts"]) == 300
    assert len(played.names["category_columns"]) == 300
    one = played.names["prepare"](wide.iloc[[3]])
    assert one["p7"].iloc[0] == float(wide["p7"].iloc[3].replace("$", "").replace(",", ""))


def test_what_cannot_be_listed_stays_with_all_it_goes_by(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    table = pd.DataFrame(1, index=range(60), columns=[f"same {at}" for at in range(250)])
    table = table.assign(
        kind=generator.choice(["a", "b"], 60), x=generator.normal(size=60), y=generator.normal(size=60)
    )
    played = play(tmp_path, table, target="y")
    assert played.names["numeric_columns"] == ["x"]
    assert any("def useless(" in cell for cell in played.delivered)
    assert any("def number_inside(" in cell for cell in played.delivered)
    listed = play(tmp_path, table[["kind", "x", "y"]], target="y")
    assert not any("def useless(" in cell or "def number_inside(" in cell for cell in listed.delivered)


def test_one_giant_text_column_is_text(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    words = np.array(["good", "bad", "room", "food", "nice", "old", "new", "clean"])
    reviews = [" ".join(generator.choice(words, 200)) for _ in range(300)]
    played = play(tmp_path, pd.DataFrame({"review": reviews, "stars": generator.integers(1, 6, 300)}), target="stars")
    assert played.names["text_columns"] == ["review"]
    assert played.names["can_model"]
