"""What of the data may be told: secrets are planted everywhere, and looked for in all that comes out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from notebook_bcc.llm.limits import Share
from notebook_bcc.llm.prompt.sharing import Sharing, sharing
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import Context, Current, Location, Observation, Progress

SECRETS = ["Jane Q. Doe", "jane@doe.example", "ACME-7781-X", "4929123412341234", "1987-03-14", "Zürich-Nord", "张三丰"]
VARIABLES: dict[str, Any] = {  # Any: JSON
    "table": "DataFrame(344×7)",
    "columns": ["species", "body mass (g)", "sex"],
    "numeric_columns": ["body mass (g)"],
    "time_column": "",
    "inputs": {"data": "penguins.csv", "target": "species", "lang": "en"},
    "target": "species",
    "row_count": 344,
    "missing_share": 0.0312,
    "model": "RandomForestClassifier",
    "scores": {"accuracy": 0.93, "f1": 0.91},
    "missing_by_column": {"species": 0, "sex": 11},
    "best_customer": SECRETS[0],
    "mails": [SECRETS[1], SECRETS[1]],
    "most_common": {SECRETS[2]: 12, "other": 3},
    "nested": {"species": {"top": SECRETS[5], "freq": 152}},
    "card": int(SECRETS[3]),
    "born": SECRETS[4],
    "name_columns": [f"{SECRETS[6]}{n}" for n in range(20)],
    "salaries": [52340, 48210, 39007],
}
EFFECTS = [
    "      name            mail  salary\n0  Jane Q. Doe  jane@doe.example  52340\n1  X  y@z.example  48210",
    "0    52340\n1    48210\n2    39007\nName: salary, dtype: int64",
    "Jane Q. Doe    12\nACME-7781-X     3\nName: count, dtype: int64",
    "Jane Q. Doe, 4929123412341234",
    "Jane,jane@doe.example,ACME-7781-X,52340",
    "the best customer is Jane Q. Doe from Zürich-Nord, born 1987-03-14, card 4929123412341234",
    "['Jane Q. Doe', 'ACME-7781-X']",
    "array([52340, 48210, 39007, 48210])",
    "[[52340 48210 39007]\n [52340 48210 39007]]",
    "{'name': 'Jane Q. Doe', 'salary': 52340, 'mail': 'jane@doe.example'}",
    "客户 张三丰 缺失",
    "| name | salary |\n|---|---|\n| Jane Q. Doe | 52340 |",
    "'Jane Q. Doe'",
    "Jane Q. Doe        52340      3",
]
ERRORS = [
    "Traceback (most recent call last)\n  File 'x', line 3\n    df.loc['Jane Q. Doe']\nKeyError: 'Jane Q. Doe'",
    "ValueError: could not convert string to float: 'ACME-7781-X'",
    'ValueError: time data "1987-03-14" doesn\'t match format "%Y", at position 3',
    "ValueError: Jane Q. Doe is not in list\nJane Q. Doe again",
    "KeyError: \"['Zürich-Nord'] not in index\"",
    "pandas.errors.ParserError: Error tokenizing data. Jane Q. Doe,52340",
    "AssertionError: 张三丰",
]
NUMBERS_OF_CELLS = ["52340", "48210", "39007"]


def made(level: Share, variables: dict[str, Any] | None = None) -> Sharing:
    context = Context(variables=VARIABLES if variables is None else variables)
    return sharing(
        Request(observation=Observation(location=Location(current=Current(), progress=Progress()), context=context)),
        level=level,
    )


def everything(found: Sharing) -> str:
    """All that a prompt could be made of."""
    source = "x = df[df.name == 'Jane Q. Doe']  # ACME-7781-X"
    texts = [*found.variables()]
    texts += [found.effect(text) for text in EFFECTS + ERRORS]
    texts += [found.error(text, source="df.loc[key]") for text in ERRORS]
    texts += [found.words(f"Look at {secret}.") for secret in (SECRETS[0], SECRETS[2], SECRETS[5])]
    texts += [found.code(source)]
    return "\n".join(texts)


@pytest.mark.parametrize("level", ["schema", "none"])
@pytest.mark.parametrize("secret", [*SECRETS, *NUMBERS_OF_CELLS, "Doe", "ACME", "Zürich", "doe.example", "12341234"])
def test_no_planted_secret_comes_out(level: Share, secret: str) -> None:
    told = everything(made(level))
    assert secret not in told
    assert json.dumps(secret)[1:-1] not in told


@pytest.mark.parametrize("name", ["species", "body mass", "penguins", "row_count", "344", "0.0312", "sex", "table"])
def test_with_none_not_even_names_and_numbers_come_out(name: str) -> None:
    assert name not in everything(made("none"))


@pytest.mark.parametrize("secret", SECRETS)
def test_with_values_everything_comes_out(secret: str) -> None:
    assert secret in everything(made("values"))


def test_the_schema_tells_names_types_shapes_and_aggregates() -> None:
    told = "\n".join(made("schema").variables())
    for line in [
        "table: DataFrame(344×7)",
        'columns: ["species", "body mass (g)", "sex"]',
        "row_count: 344",
        "missing_share: 0.0312",
        "model: RandomForestClassifier",
        "scores: {accuracy: 0.93, f1: 0.91}",
        "missing_by_column: {species: 0, sex: 11}",
        'target: "species"',
        "best_customer: a text of 11 characters",
        "mails: a list of 2 texts",
        "most_common: a dict of 2 entries",
        "salaries: a list of 3 numbers",
        "card: 4.929e+15",
    ]:
        assert line in told.splitlines(), told
    assert 'data: "penguins.csv"' in told


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("accuracy: 0.93", ["accuracy: 0.93"]),
        ("(344, 7)", ["(344, 7)"]),
        ("rows 344, missing 19 (5.5%)", ["rows 344, missing 19 (5.5%)"]),
        ("       body mass (g)\ncount   342.0\nmean   4201.7\nmax    6300.0", ["count   342.0", "mean   4201.7"]),
        ("species    0\nsex       11\ndtype: int64", ["species    0", "sex       11", "dtype: int64"]),
        ("Adelie    152\nGentoo    124\nName: count, dtype: int64", ["[withheld]    152", "[withheld]    124"]),
        ("1,234,567 rows", ["1.235e+06 rows"]),
    ],
)
def test_aggregates_in_printed_texts_stay(text: str, kept: list[str]) -> None:
    told = made("schema").effect(text)
    for line in kept:
        assert line in told


def test_an_error_keeps_its_kind_and_what_the_code_itself_names() -> None:
    found = made("schema")
    told = found.error("NameError: name 'tabel' is not defined", source="tabel.shape")
    assert told == "NameError: name 'tabel' is not defined"
    told = found.error("KeyError: 'speces'", source="df['speces']")
    assert "speces" in told
    assert found.error("ZeroDivisionError: division by zero") == "ZeroDivisionError: division by zero"
    assert made("none").error("KeyError: 'x'", source="df['x']") == "KeyError"


def test_a_list_that_only_pretends_to_hold_columns_is_not_believed() -> None:
    told = "\n".join(made("schema").variables())
    assert "name_columns: a list of 20 texts" in told


def test_code_is_told_without_texts_when_nothing_is_shared() -> None:
    told = made("none").code("x = df[\"species\"]  # penguins\ny = f'{x} sex'")
    assert "species" not in told
    assert "sex" not in told
    assert "x = df[" in told


def test_more_secrets_than_can_be_looked_for_leave_nothing_to_tell() -> None:
    names = [f"customer number {number}" for number in range(5_001)]
    told = made("schema", {"customers": names})
    for name in (names[0], names[-1]):
        assert name not in told.code(f"best = {name!r}")
        assert name not in told.words(f"The best is {name}.")
