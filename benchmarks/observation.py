"""A full observation as a long run would send it: 50 variables, 200 effects, 300 cells, about 280 KB of UTF-8."""

from __future__ import annotations

import random
from typing import Any

Json = dict[str, Any]  # Any: JSON, which is what is being measured

COLUMNS = ("SensorTop", "SensorBase", "Alley", "Fence", "Hearth", "Frontage", "Porch", "PorchYear", "PorchFinish")
COLUMNS_MORE = (*COLUMNS, "PorchState", "CellarView", "CellarType", "CellarState", "WallArea", "Driveway")


def full_request(
    *,
    variables: int = 50,
    effects: int = 200,
    cells: int = 300,
    moves: int = 100,
    done: tuple[int, int, int] = (3, 6, 20),
) -> Json:
    """The body of a POST to /planning, decoded; always the same one for the same sizes.

    `done` are the completed stages, steps and behaviors.
    """
    dice = random.Random(20)
    return {
        "observation": {"location": _location(done), "context": _context(dice, variables, effects, cells, moves)},
        "options": {"stream": False},
    }


def _location(done: tuple[int, int, int]) -> Json:
    stages, steps, behaviors = done
    return {
        "current": {
            "stage_id": "cleaning",
            "step_id": "fill_gaps",
            "behavior_id": "behavior_021",
            "behavior_iteration": 21,
        },
        "progress": {
            "stages": _level("stage", stages, "本阶段：检查全部列，逐列说明处理理由。\n"),
            "steps": _level("step", steps, "本步骤：按语义分组填补缺失值，保留填补记录。\n"),
            "behaviors": _level("behavior", behaviors, "本次行为：填补高缺失率的列，并核对结果。\n"),
        },
        "goals": {"stage": "得到可以建模的数据表", "step": "处理所有缺失值", "behavior": "填补缺失率最高的五列"},
    }


def _level(name: str, done: int, focus: str) -> Json:
    return {
        "completed": [_completed(name, number) for number in range(done)],
        "current": f"{name}_{done:03d}",
        "iteration": done,
        "remaining": ["find_outliers", "check_ranges"],
        "focus": focus * 18,
        "current_outputs": {"expected": ["table", "report"], "produced": ["gap_counts"], "in_progress": ["table_work"]},
    }


def _completed(name: str, number: int) -> Json:
    return {
        f"{name}_id": f"{name}_{number:03d}",
        "goal": "统计每一列的缺失情况",
        "actions_taken": ["计算每列缺失的数量与比例", "画出缺失的分布图"],
        "outputs_produced": {
            "variables": ["gap_counts", "gap_patterns"],
            "artifacts": [
                {
                    "artifact_id": f"gap_counts@{name}_{number:03d}",
                    "variable_name": f"gap_counts_{name}_{number:03d}",
                    "description": "每列缺失数量的字典",
                    "created_at": "2026-01-15T10:10:00Z",
                }
            ],
            "key_findings": ["19 列有缺失，总缺失率 6.0%"],
        },
    }


def _context(dice: random.Random, variables: int, effects: int, cells: int, moves: int) -> Json:
    move = {
        "from": "action_running",
        "event": "COMPLETE_ACTION",
        "to": "action_completed",
        "timestamp": "2026-01-15T10:23:45.123456Z",
    }
    printed = [_effect(dice, number) for number in range(effects)]
    return {
        "variables": {f"value_{number:02d}": _variable(dice, number) for number in range(variables)},
        "effects": {"current": printed[-3:], "history": printed[:-3]},
        "notebook": {
            "title": "House prices: cleaning",
            "cell_count": cells,
            "last_cell_type": "code",
            "last_output": "{'many gaps': [...]}",
            "cells": [_cell(dice, number) for number in range(cells)],
        },
        "FSM": {
            "state": "behavior_running",
            "last_transition": "NEXT_BEHAVIOR -> behavior_running",
            "timestamp": "2026-01-15T10:23:45.123456Z",
            "history": [dict(move) for _ in range(moves)],
        },
    }


def _variable(dice: random.Random, number: int) -> Any:  # Any: a kernel's value as JSON
    match number % 5:
        case 0:
            return f"DataFrame(1460×{60 + number})"
        case 1:
            return {name: {"count": dice.randrange(1460), "rate": round(dice.random(), 3)} for name in COLUMNS_MORE}
        case 2:
            return {"many": list(COLUMNS[:5]), "weights": [round(dice.random(), 4) for _ in range(20)]}
        case 3:
            return [f"{name}: int64 -> object" for name in COLUMNS]
        case _:
            return dice.random() * 1000


def _effect(dice: random.Random, number: int) -> str:
    if number % 3 == 0:
        return "\n".join(f"{name:16s}{dice.randrange(1460)}" for name in COLUMNS_MORE[:10]) + "\ndtype: int64"
    if number % 3 == 1:
        return "门廊相关列的缺失：\n" + "\n".join(f"{name:16s}81 (100.0%)" for name in COLUMNS[4:]) + "\n同样的 81 行"
    return "类型转换：\nSubClass: int64 -> object\nOverall: int64 -> object\n转换完成"


def _cell(dice: random.Random, number: int) -> Json:
    if number % 4 == 0:
        text = f"## 第 {number} 步：缺失值\n\n" + "按语义分组逐一填补，并写明每一列的理由与结果。" * 4
        return {
            "id": f"cell-{number}",
            "cell_type": "markdown",
            "metadata": {"shot_type": "dialogue"},
            "source": text,
            "outputs": [],
            "execution_count": None,
        }
    printed = "\n".join(f"{name:16s}{dice.randrange(1460)}" for name in COLUMNS[:8])
    return {
        "id": f"cell-{number}",
        "cell_type": "code",
        "metadata": {"shot_type": "action"},
        "source": "\n".join(f"table['{name}'] = table['{name}'].fillna('none')" for name in COLUMNS[:8]),
        "outputs": [{"output_type": "stream", "name": "stdout", "text": printed}],
        "execution_count": number,
    }
