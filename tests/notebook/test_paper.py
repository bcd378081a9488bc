from __future__ import annotations

from notebook_bcc.notebook.export.paper import Fit, fit


def table(headers: list[str], values: list[str]) -> str:
    head = "".join(f"<th>{name}</th>" for name in headers)
    body = "".join(f"<td>{value}</td>" for value in values)
    return (
        f"<table><thead><tr><th></th>{head}</tr></thead><tbody><tr><th>0</th>{body}</tr></tbody></table><p>1 rows</p>"
    )


def test_a_small_table_is_printed_as_it_is() -> None:
    assert fit(table(["a", "b"], ["1", "2"])) is None
    assert fit("<p>no table</p>") is None


def test_no_word_or_number_of_a_usual_table_is_broken() -> None:
    names = ["PassengerId", "Survived", "Pclass", "Name", "Sex", "Age", "SibSp", "Parch", "Ticket", "Fare", "Cabin"]
    names += ["Embarked", "Destination"]
    values = ["1", "0", "3", "Braund, Mr. Owen Harris", "female", "22", "1", "0", "STON/O2. 3101282", "71.2833", "C123"]
    values += ["Southampton", "Massachusetts"]
    how = fit(table(names, values))
    assert how is not None
    assert (how.lying, how.breaks_headers, how.breaks_values) == (False, False, False)
    assert 6.5 <= how.size < 8.8


def test_long_headers_are_broken_before_the_page_is_turned() -> None:
    how = fit(table([f"MoSubClass{number}" for number in range(20)], ["1234.5"] * 20))
    assert how == Fit(5.4, breaks_headers=True)


def test_a_table_that_is_wider_than_a_page_lies_and_its_numbers_stay_whole() -> None:
    how = fit(table(["column"] * 25, ["1234567"] * 25))
    assert how is not None
    assert (how.lying, how.breaks_values) == (True, False)


def test_only_what_fits_nowhere_is_broken_inside_numbers() -> None:
    how = fit(table(["column"] * 60, ["1234567"] * 60))
    assert how == Fit(5.0, lying=True, breaks_headers=True, breaks_values=True)


def test_chinese_headers_may_be_broken_between_any_two_characters() -> None:
    assert fit(table(["红细胞平均血红蛋白浓度"] * 8, ["1"] * 8)) is None
    assert fit(table(["redcellsmeanhaemoglobin"] * 8, ["1"] * 8)) is not None
