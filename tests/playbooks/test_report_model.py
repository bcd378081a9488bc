"""The model that is delivered: it reads new rows by their names, and says what it cannot read or has never seen."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from notebook_bcc.playbook.templates.environment import Kind, Templates
from playbooks.rehearsal import Rehearsal, at_work_in, cell_file

pandas = pytest.importorskip("pandas")
dummy = pytest.importorskip("sklearn.dummy")
ensemble = pytest.importorskip("sklearn.ensemble")

HEADER = ["城市", "面积 (平米)", "房间", "价格 "]


def houses(rows: int, seed: int = 1) -> list[list[str]]:
    draw = random.Random(seed)
    return [
        [
            draw.choice(["罗马", "奥斯陆"]),
            f"{draw.uniform(30, 150):.2f}",
            str(draw.randint(1, 6)),
            f"{draw.gauss(9, 2):.2f}",
        ]
        for _ in range(rows)
    ]


def text(rows: list[list[str]], *, header: list[str] | None) -> bytes:
    lines = [";".join(header)] if header else []
    lines += [";".join(field.replace(".", ",") for field in row) for row in rows]
    return ("\n".join(lines) + "\n").encode("gbk")


def saved(folder: Path, name: str, target: str, estimator: Any = None) -> Any:  # Any: scikit-learn, a pickle
    """The model of a table. Its estimator learns nothing unless one is given: most tests ask how it reads rows."""
    play = Rehearsal(inputs={"data": name, "target": target, "targets": [target]})
    with at_work_in(folder):
        play.play("structure")
        play.play("integrity")
        play.names |= {"model": estimator or dummy.DummyRegressor(), "given_features": play.names["candidate_columns"]}
        for cell in ("report_model_class", "report_model"):
            source = cell_file(cell).read_text(encoding="utf-8")
            play.run(Templates().read(source, kind=Kind.CELL, at=cell).render(play.facts()))
        return pickle.loads((folder / "model.pkl").read_bytes())


@pytest.fixture
def model(tmp_path: Path) -> Any:  # Any: what a pickle holds
    (tmp_path / "data.csv").write_bytes(text(houses(60), header=HEADER))
    return saved(tmp_path, "data.csv", "价格")


def read(model: Any, folder: Path, content: bytes) -> Any:  # Any: a model and a table
    (folder / "new.csv").write_bytes(content)
    return model.read(folder / "new.csv")


def test_a_model_is_kept_once_and_packed(tmp_path: Path) -> None:
    """The forest of 5,600 customers took 51 MB: the recipe held what it had learnt before, and nothing was packed."""
    lines = [f"{one[1]},{one[2]},{one[3]}" for one in houses(400)]
    (tmp_path / "data.csv").write_text("\n".join(["size,rooms,price", *lines]))
    forest = ensemble.ExtraTreesRegressor(20, random_state=0)
    learnt = forest.fit([[number, 1] for number in range(400)], range(400))
    model = saved(tmp_path, "data.csv", "price", learnt)
    assert not hasattr(model.estimator, "estimators_")
    plain = len(pickle.dumps(model.estimator_))
    assert (tmp_path / "model.pkl").stat().st_size < plain / 2
    rows = model.read(tmp_path / "data.csv")
    again = ensemble.ExtraTreesRegressor(20, random_state=0).fit(model.ready(rows), rows["price"])
    assert list(model.predict(rows)) == list(again.predict(model.ready(rows)))


def test_columns_are_found_by_name_in_any_order_and_without_the_target(tmp_path: Path, model: Any) -> None:
    rows = read(model, tmp_path, text([["3", "50.5", "罗马"]], header=["房间", "面积 (平米)", "城市 "]))
    assert rows.to_dict("records") == [{"房间": 3, "面积 (平米)": 50.5, "城市": "罗马"}]
    assert model.doubts(rows) == {"unread": {}, "unknown": {}}


def test_a_missing_column_is_named_as_in_the_file(tmp_path: Path, model: Any) -> None:
    with pytest.raises(ValueError, match="needs are missing: '面积 \\(平米\\)', '房间'"):
        model.predict(read(model, tmp_path, text([["罗马"], ["罗马"]], header=["城市"])))


def test_values_that_cannot_be_read_and_unknown_categories_are_counted(tmp_path: Path, model: Any) -> None:
    new = [["罗马", "50.5", "2"], ["巴黎", "x", "3"], ["柏林", "1.5", "many"], ["巴黎", "", "4"]]
    rows = read(model, tmp_path, text(new, header=HEADER[:-1]))
    assert model.doubts(rows) == {
        "unread": {"面积 (平米)": [1, ["x"]], "房间": [1, ["many"]]},
        "unknown": {"城市": [3, ["巴黎", "柏林"]]},
    }
    assert list(model.ready(rows)["面积 (平米)"].dropna()) == [50.5, 1.5]


def test_rows_without_names_are_read_with_and_without_the_target(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_bytes(text(houses(60), header=None))
    model = saved(tmp_path, "data.csv", "column_2")
    new = houses(3, 2)
    whole = read(model, tmp_path, text(new, header=None))
    assert list(whole.columns) == ["column_1", "column_2", "column_3", "column_4"]
    part = read(model, tmp_path, text([[row[0], *row[2:]] for row in new], header=None))
    assert part.equals(whole.drop(columns="column_2"))


def test_a_workbook_is_read_by_names_too(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    table = pandas.DataFrame(houses(60), columns=HEADER).astype(dict.fromkeys(HEADER[1:], float))
    table.to_excel(tmp_path / "data.xlsx", sheet_name="Houses", index=False)
    model = saved(tmp_path, "data.xlsx", "价格")
    table.iloc[:3, [2, 1, 0]].to_excel(tmp_path / "new.xlsx", sheet_name="Houses", index=False)
    rows = model.read(tmp_path / "new.xlsx")
    assert rows["城市"].tolist() == table["城市"].tolist()[:3]
    assert rows["房间"].tolist() == table["房间"].tolist()[:3]


def test_a_number_in_groups_among_others_is_read_and_what_is_none_is_counted(tmp_path: Path) -> None:
    draw = random.Random(5)
    lines = ["income,age,score"]
    lines += [
        f'"{draw.randint(1, 9)},{draw.randint(100, 999)}.50",{draw.randint(20, 60)},{draw.random():.3f}'
        for _ in range(60)
    ]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    model = saved(tmp_path, "data.csv", "score")
    rows = read(model, tmp_path, b'income,age\n"1,234.50",30\nnone of it,40\n1500,50\n')
    assert model.doubts(rows)["unread"] == {"income": [1, ["none of it"]]}
    assert model.ready(rows)["income"].tolist()[::2] == [1234.5, 1500]


def test_rows_that_are_all_text_are_read_like_those_of_a_typed_file(tmp_path: Path) -> None:
    table = pandas.DataFrame(
        {
            "town": ["Rome", "Oslo"] * 30,
            "code": ["007", "011", "013"] * 20,
            "day": pandas.date_range("2020-01-01", periods=60),
            "sold": [True, False, False] * 20,
            "rooms": [1, 2, 3, 4] * 15,
            "size": [float(row[1]) for row in houses(60)],
            "price": [float(row[3]) for row in houses(60)],
        }
    )
    table.to_parquet(tmp_path / "data.parquet")
    model = saved(tmp_path, "data.parquet", "price")
    table.to_csv(tmp_path / "new.csv", index=False)
    rows = pandas.read_csv(tmp_path / "new.csv", dtype="str")
    expected = model.ready(model.read(tmp_path / "data.parquet"))
    pandas.testing.assert_frame_equal(model.ready(rows), expected, check_dtype=False)
    assert model.doubts(rows) == {"unread": {}, "unknown": {}}


def test_a_model_that_fails_under_other_versions_names_them(model: Any, tmp_path: Path) -> None:
    rows = read(model, tmp_path, text(houses(3), header=HEADER))
    # Whatever another scikit-learn does to what was learnt: it cannot answer.
    model.estimator_ = None
    with pytest.raises(AttributeError):
        model.predict(rows)
    model.versions_ = {**model.versions_, "pandas": "0.1"}
    with pytest.raises(ValueError, match="missing: '房间'"):
        model.predict(rows.drop(columns="房间"))
    said = rf"cannot predict here: it was made with pandas 0\.1 \(here {pandas.__version__}\); requirements\.txt"
    with pytest.raises(RuntimeError, match=said):
        model.predict(rows)
