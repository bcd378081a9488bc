"""Stage `structure` of the built-in playbook on text files as they are found in the wild."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from playbooks.rehearsal import Rehearsal, at_work_in

CITIES = ["北京", "上海", "广州", "深圳", "杭州", "成都"]


def opened(folder: Path, data: bytes | str, test: bytes | str | None = None, **inputs: Any) -> Rehearsal:
    """The stage played on a file of these bytes (Any: inputs are whatever a run was told)."""
    (folder / "data.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    told: dict[str, Any] = {"data": "data.csv", **inputs}
    if "target" in told:
        told.setdefault("targets", [told["target"]])
    if test is not None:
        (folder / "test.csv").write_bytes(test if isinstance(test, bytes) else test.encode())
        told["test"] = "test.csv"
    play = Rehearsal(inputs=told)
    with at_work_in(folder):
        play.play("structure")
    assert all(len(cell.splitlines()) <= 45 for cell in play.cells)
    return play


def column(play: Rehearsal, name: str) -> list[Any]:
    return list(play.names["raw"][name].dropna())


def table(separator: str = ",", rows: int = 30, city: list[str] | None = None) -> str:
    cities = city or ["Rome", "Oslo", "Bonn"]
    lines = [separator.join(["id", "city", "size"])]
    lines += [separator.join([str(i), cities[i % len(cities)], f"{i + 0.5}"]) for i in range(1, rows + 1)]
    return "\n".join(lines) + "\n"


def test_a_plain_file_is_read_with_one_short_call(tmp_path: Path) -> None:
    play = opened(tmp_path, table(), target="size")
    assert play.delivered[0].endswith('data = "data.csv"')
    assert "    return pd.read_csv(path)\n\n\nraw = read_table(data)\n" in play.delivered[2]
    assert len(play.delivered) <= 6
    assert play.names["row_count"] == 30
    assert play.names["target"] == "size"
    assert play.names["readable"] is True
    assert play.names["problem"] == ""


@pytest.mark.parametrize(
    ("encoding", "cities", "found"),
    [
        ("utf-8", CITIES, "utf-8"),
        ("utf-8-sig", CITIES, "utf-8-sig"),
        ("utf-16", CITIES, "utf-16"),
        ("utf-16-le", ["Rome", "Oslo"], "utf-16-le"),
        ("utf-16-be", ["Rome", "Oslo"], "utf-16-be"),
        ("gbk", CITIES, "gb18030"),
        ("gb18030", [*CITIES, "㐀村"], "gb18030"),
        ("big5", ["臺北市中山區", "高雄市左營區", "臺中市北屯區"], "big5"),
        ("latin-1", ["Münster", "Orléans", "Ávila"], "cp1252"),
        ("cp1252", ["Münster €", "“Orléans”", "–Ávila"], "cp1252"),
        ("cp1251", ["Москва", "Тверь", "Псков"], "cp1251"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";"])
def test_the_encoding_is_found(tmp_path: Path, encoding: str, cities: list[str], found: str, separator: str) -> None:
    play = opened(tmp_path, table(separator, city=cities).encode(encoding))
    assert play.names["file_facts"]["encoding"] == found
    assert set(column(play, "city")) == set(cities)
    assert column(play, "id") == list(range(1, 31))


def test_a_few_broken_bytes_do_not_change_the_encoding(tmp_path: Path) -> None:
    play = opened(tmp_path, table(city=CITIES).encode() + b"31,\xff,3\n")
    assert play.names["file_facts"]["encoding"] == "utf-8"
    assert play.names["row_count"] == 31
    assert column(play, "city")[:6] == [*CITIES[1:], CITIES[0]]
    assert "1 character does not fit" in play.prose


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", "  "])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_the_separator_is_found(tmp_path: Path, separator: str, ending: str) -> None:
    play = opened(tmp_path, table(separator).replace("\n", ending))
    assert list(play.names["raw"].columns) == ["id", "city", "size"]
    assert play.names["row_count"] == 30
    assert column(play, "size")[0] == 1.5


def test_quoted_separators_and_line_breaks_stay_in_their_field(tmp_path: Path) -> None:
    play = opened(tmp_path, 'a;b;c\n1;"x; y";"two\nlines"\n2;"say ""hi""";z\n3;q;"last\none"\n')
    assert column(play, "b") == ["x; y", 'say "hi"', "q"]
    assert column(play, "c") == ["two\nlines", "z", "last\none"]


def test_spaces_behind_every_separator_are_no_part_of_the_values(tmp_path: Path) -> None:
    play = opened(tmp_path, "a, b, c\n" + "".join(f'{i}, "x, y", ?\n' for i in range(9)) + "9, z, 5\n")
    assert column(play, "b")[-2:] == ["x, y", "z"]
    assert column(play, "c") == [5]


def test_lists_inside_fields_are_not_taken_for_columns(tmp_path: Path) -> None:
    play = opened(tmp_path, "id,tags,size\n" + "".join(f"{i},a;b;c,{i}.5\n" for i in range(20)))
    assert list(play.names["raw"].columns) == ["id", "tags", "size"]


def test_a_decimal_comma_is_respected(tmp_path: Path) -> None:
    lines = ["Größe;Preis;Datum;n"] + [f"{i},5;{i}.234,{i:02d};1{i % 9}.10.2017;{i}" for i in range(1, 30)]
    play = opened(tmp_path, "\n".join(lines))
    assert play.names["file_facts"]["decimal"] == ","
    assert column(play, "Größe")[:2] == [1.5, 2.5]
    assert column(play, "Preis")[:2] == [1234.01, 2234.02]
    assert column(play, "Datum")[0] == "11.10.2017"
    assert "Preis" in play.names["grouped_numbers"]


def test_thousands_become_numbers_only_where_all_values_are_such(tmp_path: Path) -> None:
    lines = ["pay,codes,price,room"] + [f'"{i},200.50","1,{i}","${i},300 ",{i}' for i in range(1, 30)]
    play = opened(tmp_path, "\n".join([*lines, '"3","1,2,3","$5 ",4']))
    assert column(play, "pay")[:2] == [1200.5, 2200.5]
    assert column(play, "codes")[-1] == "1,2,3"
    assert column(play, "price")[0] == "$1,300 "


def test_the_test_file_gets_the_types_of_the_data(tmp_path: Path) -> None:
    play = opened(
        tmp_path,
        "zip,pay,y\n" + "".join(f'0{i}234,"1,{i}00",{i}\n' for i in range(1, 9)),
        "zip,pay\n" + "".join(f'{i}1234,"9,{i}00"\n' for i in range(1, 9)),
        target="y",
    )
    assert column(play, "zip")[0] == "01234"
    assert play.names["raw_test"]["zip"].tolist()[0] == "11234"
    assert play.names["raw_test"]["pay"].tolist()[0] == 9100
    assert play.names["test_row_count"] == 8


def test_the_test_file_may_be_written_differently(tmp_path: Path) -> None:
    play = opened(tmp_path, table(city=CITIES).encode("gbk"), table(";", city=CITIES).encode("utf-16"), target="size")
    assert set(play.names["raw_test"]["city"]) == set(CITIES)
    assert play.names["test_facts"]["encoding"] == "utf-16"


def test_codes_and_long_numbers_keep_every_digit(tmp_path: Path) -> None:
    lines = ["code,long,month,n"] + [f"00{i},{9007199254740993 + i},{i:02d},{i}" for i in range(10, 30)]
    play = opened(tmp_path, "\n".join(lines))
    assert column(play, "code")[0] == "0010"
    assert column(play, "long")[0] == "9007199254741003"
    assert column(play, "month")[0] == 10


def test_lines_above_and_below_the_table_are_left_out_and_said(tmp_path: Path) -> None:
    data = "Sales report, 2024\nmade by hand\n\n" + table() + "\nSource: the office\n"
    play = opened(tmp_path, data)
    assert list(play.names["raw"].columns) == ["id", "city", "size"]
    assert play.names["row_count"] == 30
    assert column(play, "id") == list(range(1, 31))
    assert "Sales report" in play.prose
    assert "Source: the office" in play.prose


def test_a_title_padded_with_separators_is_no_row_of_names(tmp_path: Path) -> None:
    play = opened(tmp_path, "Report;;\n;;\n" + table(";"))
    assert list(play.names["raw"].columns) == ["id", "city", "size"]
    assert column(play, "id")[0] == 1


def test_comments_are_left_out_wherever_they_stand(tmp_path: Path) -> None:
    lines = table().splitlines()
    play = opened(tmp_path, "\n".join(["# a comment", "# b, c, d", *lines[:10], "# another", *lines[10:]]))
    assert play.names["row_count"] == 30
    assert column(play, "size")[-1] == 30.5


def test_rows_that_do_not_fit_are_counted_and_said(tmp_path: Path) -> None:
    lines = table(rows=200).splitlines()
    lines[5:5] = ["4,Rome", "900,Rome,Italy,1.5", "901,Oslo,2.5,,"]
    play = opened(tmp_path, "\n".join(lines))
    assert play.names["file_facts"]["misfits"] == {"too short": 1, "too long": 1, "padded": 1}
    assert play.names["row_count"] == 202
    assert 901 in column(play, "id")
    assert 900 not in column(play, "id")
    assert "1 row is too short" in play.prose
    assert "900 Rome Italy 1.5" in play.prose
    assert play.names["raw"]["size"].dtype == float


def test_a_long_first_row_changes_nothing(tmp_path: Path) -> None:
    lines = table().splitlines()
    play = opened(tmp_path, "\n".join([lines[0], "99,a,b,c,d", *lines[1:]]))
    assert play.names["row_count"] == 30
    assert column(play, "id")[0] == 1


def test_a_header_that_is_repeated_is_left_out(tmp_path: Path) -> None:
    play = opened(tmp_path, table() + table())
    assert play.names["row_count"] == 60
    assert play.names["raw"]["id"].dtype == int


def test_separators_at_the_end_of_every_row_make_no_column(tmp_path: Path) -> None:
    head, *rows = table().splitlines()
    play = opened(tmp_path, "\n".join([head, *(f"{row}," for row in rows)]))
    assert list(play.names["raw"].columns) == ["id", "city", "size"]
    assert column(play, "size")[0] == 1.5


def test_row_names_without_a_heading_get_one(tmp_path: Path) -> None:
    head, *rows = table().splitlines()
    play = opened(tmp_path, "\n".join([head, *(f"r{i},{row}" for i, row in enumerate(rows))]))
    assert list(play.names["raw"].columns) == ["row_name", "id", "city", "size"]
    assert column(play, "size")[0] == 1.5


@pytest.mark.parametrize(
    "rows",
    [
        [f"{i}.1,{i * 7 % 5},{i * 3 % 11}" for i in range(2, 40)],
        [f"5.{i},3.{i},Iris-{'ab'[i % 2]}" for i in range(40)],
        [f"{'px'[i % 2]},{'xyz'[i % 3]},{'nm'[i % 2]}" for i in range(40)],
    ],
)
def test_a_first_row_of_values_is_no_row_of_names(tmp_path: Path, rows: list[str]) -> None:
    play = opened(tmp_path, "\n".join(rows))
    assert list(play.names["raw"].columns) == ["column_1", "column_2", "column_3"]
    assert play.names["row_count"] == len(rows)
    assert "The first row holds values, not names" in play.prose


def test_years_as_names_are_names(tmp_path: Path) -> None:
    rows = [f"land{i},{i}.5,{i}.1,{i}.2,{i}.3" for i in range(20)]
    play = opened(tmp_path, "\n".join(["country,2018,2019,2020,2021", *rows]))
    assert list(play.names["raw"].columns) == ["country", "2018", "2019", "2020", "2021"]


def test_a_test_file_without_names_gets_those_of_the_data(tmp_path: Path) -> None:
    play = opened(tmp_path, "a,b,y\n1.5,2,3\n2.5,3,4\n3.5,1,2\n", "7.5,8\n9.5,1\n", target="y")
    assert list(play.names["raw_test"].columns) == ["a", "b"]
    assert play.names["test_row_count"] == 2


def test_names_are_made_unique_tidy_and_complete(tmp_path: Path) -> None:
    play = opened(tmp_path, 'a, a ,,价格 (元),"x\ny",a_2,😀\n1,2,3,4,5,6,7\n2,3,4,5,6,7,8\n')
    assert list(play.names["raw"].columns) == ["a", "a_2", "column_3", "价格 (元)", "x y", "a_2_2", "😀"]
    assert "were changed" in play.prose
    assert play.names["needs_font"] is True


def test_markers_of_missing_values_are_found_counted_and_replaced(tmp_path: Path) -> None:
    words = ["?", "NA", "-", "–", "null", "n/a", "#N/A", " ", "k.A.", "None"]
    rows = [f"{i},{words[i % 10] if i % 2 else i},ok" for i in range(100)]
    play = opened(tmp_path, "\n".join(["id,value,note", *rows]))
    assert play.names["raw"]["value"].dtype == float
    assert play.names["raw"]["value"].isna().sum() == 50
    assert play.names["file_facts"]["markers"]["NA"] == 10
    assert "`NA` (10)" in play.prose


def test_plus_and_minus_are_values(tmp_path: Path) -> None:
    rows = [f"{i},{'+-'[i % 2]},{'-' if i % 5 == 0 else i}" for i in range(40)]
    play = opened(tmp_path, "\n".join(["id,sign,n", *rows]), target="sign")
    assert set(column(play, "sign")) == {"+", "-"}
    assert play.names["raw"]["n"].isna().sum() == 8


def test_none_is_a_class_of_the_target_and_missing_elsewhere(tmp_path: Path) -> None:
    rows = [f"{i},{['None', 'Mild'][i % 2]},{'None' if i % 4 == 0 else i}" for i in range(40)]
    play = opened(tmp_path, "\n".join(["id,illness,n", *rows]), target="illness")
    assert set(column(play, "illness")) == {"None", "Mild"}
    assert play.names["raw"]["n"].isna().sum() == 10


def test_values_that_may_mean_unknown_are_named_and_kept(tmp_path: Path) -> None:
    rows = [f"{-999 if i % 3 == 0 else i},{'unknown' if i % 2 else 'a'}" for i in range(30)]
    play = opened(tmp_path, "\n".join(["n,word", *rows]))
    assert play.names["unclear_values"] == {"word: unknown": 15, "n: -999": 10}
    assert (play.names["raw"]["n"] == -999).sum() == 10


def test_an_unclosed_quote_does_not_swallow_the_file(tmp_path: Path) -> None:
    rows = [f"{i},{chr(34) if i == 5 else ''}pipe {i},{i}.5" for i in range(40)]
    play = opened(tmp_path, "\n".join(["id,what,size", *rows]))
    assert play.names["row_count"] == 40
    assert "never closed" in play.prose


@pytest.mark.parametrize("text", ["value\n1\n2\n3\n", "text\nhello, you\nthis is\na, b, c, d\nfine\n", "5\n7\n9\n"])
def test_one_column_is_a_table(tmp_path: Path, text: str) -> None:
    play = opened(tmp_path, text)
    assert play.names["column_count"] == 1
    assert play.names["row_count"] == text.count("\n") - (not text.startswith("5"))


def test_one_row_is_a_table(tmp_path: Path) -> None:
    assert opened(tmp_path, "a,b\n1,x\n").names["row_count"] == 1


def test_one_giant_field_is_read(tmp_path: Path) -> None:
    play = opened(tmp_path, "id,text\n" + "".join(f'{i},"{"long, text " * 30000}"\n' for i in range(4)))
    assert play.names["row_count"] == 4


def test_ten_thousand_columns_are_read_and_sixty_are_listed(tmp_path: Path) -> None:
    head = ",".join(f"x{i}" for i in range(10_000))
    rows = [",".join(str((i * j) % 97) for j in range(10_000)) for i in range(20)]
    play = opened(tmp_path, "\n".join([head, *rows]), target="x77")
    assert play.names["column_count"] == 10_000
    assert play.names["target"] == "x77"
    assert any(len(each) == 60 for each in play.shown if each is not None)


def test_three_thousand_untidy_columns_are_read(tmp_path: Path) -> None:
    rows = [";".join(f"{(i * j) % 97},5" for j in range(3_000)) for i in range(12)]
    play = opened(tmp_path, "\n".join([";".join(["same "] * 3_000), *rows]))
    assert play.names["raw"].shape == (12, 3_000)
    assert play.names["raw"].columns[-1] == "same_3000"


def test_many_codes_are_named_by_their_variable(tmp_path: Path) -> None:
    head = ",".join(f"code{i}" for i in range(300))
    play = opened(tmp_path, "\n".join([head, *[",".join(f"00{i + j}" for j in range(300)) for i in range(9)]]))
    assert column(play, "code299")[0] == "00299"
