"""Executes single cells of the built-in playbook on a table that is ready for a model."""

from __future__ import annotations

import io
from collections.abc import Iterable
from contextlib import redirect_stdout
from typing import Any

import numpy as np
import pandas as pd

from playbooks.rehearsal import Rehearsal, cell_file

METHOD = ("integrity_split", "method_target", "method_metric", "method_effort", "method_folds", "method_baseline")
COLUMNS = ("model_kinds", "model_for_linear", "model_for_trees")
COMPARED = ("model_compare", "model_blend", "model_model")
MEASURED = ("predict_evaluate", "predict_tested", "predict_interval", "predict_scores")
# Any, throughout: variables of cells are whatever they are.


def notebook(table: pd.DataFrame, task: str, *, target: str = "y", time: str = "", group: str = "") -> Rehearsal:
    """A notebook in which the table is clean and the question known."""
    used = table.drop(columns=[name for name in (target, time, group) if name])
    numbers = used.select_dtypes("number").columns.tolist()
    played = Rehearsal(inputs={"data": "table.csv", "target": target})
    played.names |= {
        "np": np, "pd": pd, "target": target, "task": task, "df_clean": table, "raw": table, "can_model": True,
        "time_column": time, "group_column": group, "numeric_columns": numbers,
        "category_columns": [name for name in used if name not in numbers], "text_columns": [], "missing_features": 0,
        "class_counts": {str(label): int(count) for label, count in table[target].value_counts().head(30).items()},
    }  # fmt: skip
    return played


def carry_out(played: Rehearsal, cells: Iterable[str]) -> dict[str, Any]:
    """The variables after these cells, each written with what was known when its turn came."""
    with redirect_stdout(io.StringIO()):
        for cell in cells:
            played.run(played.written(cell_file(cell)))
    return played.names


def few_candidates(played: Rehearsal, *names: str) -> None:
    """Only these of the candidates: fits take their time."""
    kind = "numbers" if played.names["task"] == "regression" else "classes"
    carry_out(played, [f"model_candidates_{kind}"])
    played.names["candidates"] = {name: played.names["candidates"][name] for name in names}
