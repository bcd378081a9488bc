"""The names by which a goal's task and the table's facts are known to the planner and the kernel."""

from __future__ import annotations

from typing import Final

# The input that names a task, and the variables in which the kernel tells what goals may speak of.
TASK_INPUT: Final = "asked_task"
VARIABLES: Final = ("told_columns", "told_values", "told_cut", "row_count")
