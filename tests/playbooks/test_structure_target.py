"""Stage `structure` of the built-in playbook: which column is to be predicted, fonts, languages, and real tables."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.playbook.templates.environment import Kind, Templates
from playbooks.rehearsal import DSLC, Rehearsal, at_work_in

HOUSES = "Id,SalePrice,LotArea,Sale_Type,Übergröße\n" + "".join(f"{i},{i}000,{i}50,WD,{i}\n" for i in range(1, 30))
CHINESE = "编号,面积,价格\n" + "".join(f"{i},{i}0,{i}00\n" for i in range(1, 30))
DATA = Path(os.environ.get("NBCC_DATA", Path(__file__).parents[3] / "shared" / "data"))


def opened(folder: Path, text: str, *, lang: str = "en", test: str | None = None, **inputs: Any) -> Rehearsal:
    """The stage played on this table (Any: inputs are whatever a run was told)."""
    (folder / "data.csv").write_text(text, encoding="utf-8")
    told: dict[str, Any] = {"data": "data.csv", **inputs}
    if "target" in told:
        told.setdefault("targets", [told["target"]])
    if test is not None:
        (folder / "test.csv").write_text(test, encoding="utf-8")
        told["test"] = "test.csv"
    play = Rehearsal(inputs=told, lang=lang)
    with at_work_in(folder):
        play.play("structure")
    return play


@pytest.mark.parametrize(
    ("said", "meant"),
    [("SalePrice", "SalePrice"), (" saleprice ", "SalePrice"), ("LOTAREA", "LotArea"), ("übergrösse", "Übergröße")],
)
def test_a_target_is_found_whatever_its_case_and_spaces(tmp_path: Path, said: str, meant: str) -> None:
    play = opened(tmp_path, HOUSES, target=said)
    assert play.names["target"] == meant
    assert play.names["target_source"] == "given"
    assert ("It was named as" in play.prose) == (said != meant)


@pytest.mark.parametrize("said", ["Sale", "price_of_sale", "Nothing", "SalePric", "LOT"])
def test_a_target_that_is_not_clear_is_asked_for_with_close_names(tmp_path: Path, said: str) -> None:
    play = opened(tmp_path, HOUSES, target=said)
    assert "target" not in play.names
    assert play.names["wanted_columns"] == {said: ""}
    assert 0 < len(play.names["close_names"]) <= 8
    assert f"no column `{said}`" in play.prose


def test_a_name_that_was_begun_is_offered_first(tmp_path: Path) -> None:
    play = opened(tmp_path, HOUSES, target="l")
    assert play.names["close_names"] == ["LotArea"]


def test_the_answer_to_the_question_is_the_target(tmp_path: Path) -> None:
    play = opened(tmp_path, HOUSES, target="Sale", target_column="SalePrice")
    assert play.names["target"] == "SalePrice"


def test_a_target_that_only_the_test_file_has_is_noticed(tmp_path: Path) -> None:
    play = opened(tmp_path, "a,b\n1,2\n2,3\n", test="a,b,yy\n1,2,3\n4,5,6\n", target="yy")
    assert play.names["wanted_in_test"] is True


def test_several_targets_are_a_list(tmp_path: Path) -> None:
    play = opened(tmp_path, HOUSES, target="SalePrice", targets=["SalePrice", "lotarea", "nowhere"])
    assert play.names["targets"] == ["SalePrice", "LotArea"]
    assert "target" not in play.names
    assert "Not all columns" in play.prose


@pytest.mark.parametrize(
    ("text", "goal", "columns"),
    [
        (HOUSES, "Predict the sale price from the lot area", ["SalePrice"]),
        (HOUSES, "predict prices", ["SalePrice"]),
        (HOUSES, "Forecast LotArea", ["LotArea"]),
        (HOUSES, "predict the future", []),
        (HOUSES, "estimate something about the sale", ["SalePrice", "Sale_Type"]),
        (CHINESE, "根据面积预测价格", ["价格"]),
    ],
)
def test_a_goal_in_words_names_the_target_when_it_is_clear(
    tmp_path: Path, text: str, goal: str, columns: list[str]
) -> None:
    play = opened(tmp_path, text, goal=goal)
    asked = play.facts()["asked"]
    assert asked["task"] == "predict"
    assert asked["targets"] == columns
    if len(columns) == 1:
        assert play.names["target"] == columns[0]
        assert play.names["target_source"] == "goal"
    else:
        assert "target" not in play.names


@pytest.mark.parametrize("goal", ["Sale prices of last year", None])
def test_without_a_wish_to_predict_there_is_no_target(tmp_path: Path, goal: str | None) -> None:
    play = opened(tmp_path, HOUSES, **({"goal": goal} if goal else {}))
    assert "target" not in play.names
    assert "No column is to be predicted" in play.prose


def test_hostile_names_stay_names(tmp_path: Path) -> None:
    hostile = ['"); import os; (', "{{ v }}", "a'b\"c", "$x_1$", "`code` *bold*", "%run", "\\n"]
    with (tmp_path / "data.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([hostile, *[[i, i + 1, i + 2, "a", "b", "c", "d"] for i in range(20)]])
    text = (tmp_path / "data.csv").read_text(encoding="utf-8")
    for name in hostile:
        play = opened(tmp_path, text, target=name)
        assert play.names["target"] == name
        assert list(play.names["raw"].columns) == hostile


def test_chinese_notebooks_look_for_a_font_and_speak_chinese(tmp_path: Path) -> None:
    play = opened(tmp_path, CHINESE, lang="zh", target="价格")
    assert isinstance(play.names["cjk_font"], str)
    assert "表共有 29 行、3 列" in play.prose
    assert "The table" not in play.prose


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("path", sorted(DSLC.glob("*/text/structure_*.md")), ids=lambda path: path.stem)
def test_every_text_can_be_read(path: Path, lang: str) -> None:
    assert Templates().read(path.read_text(encoding="utf-8"), kind=Kind.PROSE, at=path.name)


FILES = {
    # name: (target, rows, columns, rows of the test file)
    "dirty_insurance": ("Charges", 1107, 10, 277),
    "house_prices": ("SalePrice", 1460, 81, 1459),
    "pd_speech": ("class", 202, 752, 50),
    "telco_churn": ("Churn", 5634, 21, 1409),
    "tianchi_diabetes_gbk": ("血糖", 4514, 42, 1128),
    "used_cars": ("price", 3207, 12, 802),
}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"the public data are not at {DATA.name!r}; set NBCC_DATA")
@pytest.mark.parametrize("name", FILES)
def test_real_tables_are_read_right(tmp_path: Path, name: str) -> None:
    target, rows, columns, test_rows = FILES[name]
    for file in ("train.csv", "test.csv"):
        shutil.copy(DATA / name / file, tmp_path / file)
    play = Rehearsal(inputs={"data": "train.csv", "test": "test.csv", "target": target, "targets": [target]})
    with at_work_in(tmp_path):
        play.play("structure")
    assert play.names["raw"].shape == (rows, columns)
    assert play.names["test_row_count"] == test_rows
    assert play.names["target"] == target
    assert play.names["raw"][target].notna().mean() > 0.9
    assert not play.names["raw"].columns.str.contains("\ufffd").any()
    if name == "dirty_insurance":
        assert play.names["raw"]["BMI (kg/m²)"].dtype == float
        assert play.names["raw"]["Charges"].str.contains("€").any()
    if name == "telco_churn":
        assert play.names["raw"]["TotalCharges"].isna().sum() == 11
    if name == "used_cars":
        assert play.names["raw"]["price"].str.startswith("$").all()
