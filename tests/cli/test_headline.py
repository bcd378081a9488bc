from __future__ import annotations

from typing import Any

import pytest

from cli.shell import Shell
from notebook_bcc.protocol.summary import Summary
from notebook_bcc.views.headline import headline, short_headline
from notebook_bcc.views.words import Words

SCORED = """
goal: Guess
stages:
  - id: only
    steps:
      - id: guess
        behaviors:
          - actions:
              - code: |
                  import json
                  from pathlib import Path
                  found = {"metric": "accuracy", "score": 0.8146, "interval_95": [0.7569, 0.8723]}
                  found["naive_forecast"] = 0.618
                  _ = Path("summary.json").write_text(json.dumps(found))
"""


def summary(**facts: Any) -> Summary:  # Any: JSON
    return Summary.parse({"metric": "rmse", **facts})


@pytest.mark.parametrize(
    ("facts", "english", "chinese"),
    [
        (
            {"metric": "accuracy", "score": 0.8146, "interval_95": [0.7569, 0.8723], "naive_forecast": 0.618},
            "accuracy 0.815 (0.757 to 0.872), naive 0.618",
            "accuracy 0.815（0.757 至 0.872），朴素预测 0.618",
        ),
        (
            {"score": 11943.71, "interval_95": [11054.2, 12833.2], "naive_forecast": 80512.9, "typical_error": 7712.35},
            "rmse 11,940 (11,050 to 12,830), naive 80,510; off by 7,710 on average",
            "rmse 11,940（11,050 至 12,830），朴素预测 80,510；平均误差 7,710",
        ),
        (
            {"metric": "log_rmse", "score": 0.1312, "interval_95": [0.1101, 0.1523], "typical_error": 15912.4},
            "log_rmse 0.131 (0.110 to 0.152); off by 15,900 on average",
            "log_rmse 0.131（0.110 至 0.152）；平均误差 15,900",
        ),
        ({"score": 4379.6, "interval_95": [2598.5, 6160.7]}, "rmse 4,380 (2,600 to 6,160)", None),
        ({"score": 58.316}, "rmse 58.3", "rmse 58.3"),
        ({"score": 0.0, "interval_95": [0, 0], "naive_forecast": -0.0}, "rmse 0.00 (0.00 to 0.00), naive 0.00", None),
        ({"score": 0.00001234}, "rmse 0.0000123", None),
        ({"score": 1.1, "naive_forecast": 1.2, "better_than_naive": True}, "rmse 1.10, naive 1.20", None),
        (
            {"score": 1.1, "naive_forecast": 1.0, "better_than_naive": False},
            "rmse 1.10, naive 1.00; NO BETTER than the naive forecast",
            "rmse 1.10，朴素预测 1.00；不比朴素预测好",
        ),
        (
            {"score": 0.9, "naive_forecast": 1.0, "better_than_naive": None},
            "rmse 0.900, naive 1.000; NOT SHOWN to be better than the naive forecast",
            "rmse 0.900，朴素预测 1.000；没有证据表明好于朴素预测",
        ),
    ],
)  # fmt: skip
def test_a_result_has_as_many_digits_as_it_deserves_and_no_powers_of_ten(
    facts: dict[str, Any], english: str, chinese: str | None
) -> None:
    assert headline(summary(**facts), Words("en")) == english
    assert chinese is None or headline(summary(**facts), Words("zh")) == chinese


def test_the_short_form_sets_the_naive_score_beside_the_other() -> None:
    assert (
        short_headline(summary(score=4400.3, interval_95=[3900, 4900], naive_forecast=11210)) == "rmse 4,400 (11,210)"
    )
    assert short_headline(summary(score=4.4)) == "rmse 4.40"


def test_a_metric_cannot_steer_the_terminal() -> None:
    assert headline(summary(metric="\x1b[31mred\nline", score=1.5), Words()) == "red line 1.50"


def test_the_end_of_a_run_the_status_and_the_list_say_how_good_the_result_is(shell: Shell) -> None:
    shell.write("scored.yaml", SCORED)
    said = "accuracy 0.815 (0.757 to 0.872), naive 0.618"
    last = shell("run", "scored.yaml").stdout.splitlines()[-2:]
    assert [line.split(maxsplit=1)[0] for line in last] == ["result:", "verified:"]
    assert last[0].endswith(said)
    assert f"result     {said}" in shell("status", "last").stdout
    assert "accuracy 0.815 (0.618)" in shell("list").stdout
    result = {"metric": "accuracy", "score": 0.8146, "interval_95": [0.7569, 0.8723], "naive_forecast": 0.618}
    assert [shell.json("list")[0]["result"], shell.json("status", "last")[0]["result"]] == [result, result]
    ended = next(one for one in shell.json("run", "scored.yaml") if one["kind"] == "run_ended")
    assert ended["result"] == result


def test_a_run_without_a_score_says_nothing_of_one(shell: Shell) -> None:
    shell.write("plain.yaml", SCORED.replace('"score": 0.8146', '"score": None'))
    assert "result:" not in shell("run", "plain.yaml").stdout
    assert "result" not in shell.json("list")[0]
