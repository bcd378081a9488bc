"""Write the tables and diagrams of docs/protocol/state-machine.md and its translation anew from the code's table.

Run from anywhere, in an environment that has the project: python docs/build_state_machine.py
"""

from __future__ import annotations

from pathlib import Path

from notebook_bcc.fsm.diagram import PageWords, fill_document

FOLDER = Path(__file__).parent / "protocol"

CHINESE = PageWords(
    columns=("状态", "事件", "下一状态", "负责方"),
    endpoint="端点",
    why="原因",
    title="{group}（{count} 行）",
    drawn="{title}：图示",
    translations={
        "Core": "核心",
        "Dynamic update": "动态更新",
        "Error and cancel": "出错与取消",
        "Recovery": "恢复",
        "Planning": "Planning",
        "Generating": "Generating",
        "Client": "客户端",
        "a new plan is proposed": "提议了新计划",
        "new steps are proposed": "提议了新步骤",
        "plan accepted": "接受新计划",
        "plan declined": "拒绝新计划",
        "the wait goes on": "继续等待",
        "steps accepted": "接受新步骤",
        "steps declined": "拒绝新步骤",
        "the stage failed": "阶段失败",
        "cancelled in a stage": "在阶段中被取消",
        "the step failed": "步骤失败",
        "cancelled in a step": "在步骤中被取消",
        "the behavior failed": "行为失败",
        "cancelled in a behavior": "在行为中被取消",
        "the action failed": "动作失败",
        "cancelled in an action": "在动作中被取消",
        "the action's result did not hold": "动作的结果不成立",
        "cancelled after an action": "动作之后被取消",
        "the behavior's result did not hold": "行为的结果不成立",
        "cancelled after a behavior": "行为之后被取消",
        "the step's result did not hold": "步骤的结果不成立",
        "cancelled after a step": "步骤之后被取消",
        "cancelled after a stage": "阶段之后被取消",
        "cancelled while a plan waits": "新计划待定时被取消",
        "cancelled while new steps wait": "新步骤待定时被取消",
        "start over from nothing": "从零开始",
        "restart the workflow": "重新开始整个工作流",
        "restart the behavior": "重新开始该行为",
    },
)
PAGES = {"state-machine.md": PageWords(), "state-machine.zh.md": CHINESE}


def pages() -> dict[Path, str]:
    """Each page, filled from the table."""
    paths = {FOLDER / name: words for name, words in PAGES.items()}
    return {path: fill_document(path.read_text(encoding="utf-8"), words) for path, words in paths.items()}


def main() -> None:
    """Change the pages only between their markers."""
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
