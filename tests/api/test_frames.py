"""A table in memory as a file, in every form that a run can begin with, and back."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest

from notebook_bcc.api.frames import digest_of, is_frame, read_frame, write_frame
from notebook_bcc.errors import RunRefused

TABLE = pandas.DataFrame({"size": [10, 20], "town": ["Köln", "北京"]})


@pytest.mark.parametrize(
    ("form", "read"),
    [
        ("parquet", pandas.read_parquet),
        ("csv", pandas.read_csv),
        ("feather", pandas.read_feather),
        ("json", pandas.read_json),
        ("jsonl", lambda path: pandas.read_json(path, lines=True)),
        ("excel", pandas.read_excel),
    ],
)
def test_a_frame_is_the_same_when_it_is_read_again(form: str, read: object, tmp_path: Path) -> None:
    assert callable(read)
    pandas.testing.assert_frame_equal(read(write_frame(TABLE, tmp_path, name="a b/c", form=form)), TABLE)
    assert [path.stem for path in tmp_path.iterdir()] == ["a-b-c"]


def test_a_form_that_no_frame_is_written_in_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunRefused, match="sqlite"):
        write_frame(TABLE, tmp_path, name="x", form="sqlite")


def test_an_index_with_a_name_is_a_column_and_one_without_is_left_out(tmp_path: Path) -> None:
    named = TABLE.set_index("town")
    assert list(pandas.read_parquet(write_frame(named, tmp_path, name="named")).columns) == ["town", "size"]
    counted = TABLE.sort_values("size", ascending=False)
    assert list(pandas.read_parquet(write_frame(counted, tmp_path, name="counted")).index) == [0, 1]


def test_columns_that_are_called_by_numbers_or_levels_get_texts_for_names(tmp_path: Path) -> None:
    numbers = pandas.DataFrame([[1, 2]])
    assert list(pandas.read_parquet(write_frame(numbers, tmp_path, name="n")).columns) == ["0", "1"]
    levels = pandas.DataFrame([[1, 2]], columns=pandas.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert list(pandas.read_parquet(write_frame(levels, tmp_path, name="l")).columns) == ["a x", "a y"]


def test_the_same_content_has_the_same_digest_and_another_one_has_not() -> None:
    assert digest_of(TABLE.copy()) == digest_of(TABLE)
    lists = pandas.DataFrame({"a": [[1], [2]]})
    assert digest_of(lists) == digest_of(lists.copy(deep=True))
    others = [TABLE.assign(size=[10, 21]), TABLE.rename(columns={"size": "x"}), TABLE.iloc[::-1], TABLE.head(1), lists]
    assert len({digest_of(one) for one in [TABLE, *others]}) == 6


def test_predictions_are_read_as_a_frame() -> None:
    assert is_frame(read_frame(b"price\n1\n2\n"))
    assert list(read_frame(b"price\n1\n2\n")["price"]) == [1, 2]
    assert not is_frame("houses.csv")
