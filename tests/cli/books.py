"""A small playbook that does what large ones do: it asks, changes its plan, estimates, and makes files."""

from __future__ import annotations

from pathlib import Path

FILES = {
    "playbook.yaml": """
name: {en: Small study, zh: 小型研究}
goal: {en: Know the table., zh: 了解这张表。}
languages: [en, zh]
inputs: [data, test, target, targets]
deliverables:
  - name: rows
  - {name: written, when: "inputs.target"}
stages: [look, make]
""",
    "stages/look.yaml": """
name: {en: Look, zh: 查看}
goal: {en: Know the table., zh: 了解这张表。}
steps:
  - id: load
    name: {en: Load, zh: 读取}
    goal: {en: Read the file., zh: 读取文件。}
    seconds: 90
    behaviors:
      - goal: {en: Read the file and its header., zh: 读取文件及表头。}
        expected: [rows, column_names]
        actions:
          - title: {en: Small study, zh: 小型研究}
          - chapter: {en: Look, zh: 查看}
          - cell: load
      - when: "not inputs.target"
        actions:
          - ask: {en: Which column is the target?, zh: 哪一列是目标？}
            options: v.column_names
            input: target
      - goal: {en: Look for a time column., zh: 寻找时间列。}
        actions:
          - text:
              en: "The target is {{ inputs.target | code }} of {{ inputs.data | code }}."
              zh: "目标是 {{ inputs.data | code }} 的 {{ inputs.target | code }} 列。"
          - replan: stage
            because: {en: There is a time column., zh: 存在时间列。}
  - id: order
    name: {en: Time order, zh: 时间顺序}
    goal: {en: Respect the order in time., zh: 遵循时间顺序。}
    when: "'time' in v.column_names"
    behaviors:
      - actions:
          - text: {en: Rows are in time order., zh: 数据按时间排序。}
""",
    "stages/make.yaml": """
name: {en: Make, zh: 制作}
goal: {en: Make the files., zh: 生成文件。}
steps:
  - id: files
    name: {en: Files, zh: 文件}
    goal: {en: Write what is delivered., zh: 写出交付文件。}
    seconds: 30
    behaviors:
      - actions:
          - chapter: {en: Make, zh: 制作}
          - cell: make
""",
    "cells/load.py": """
import csv

with open({{ inputs.data }}, encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
column_names = list(rows[0])
print(len(rows), "rows")
""",
    "cells/make.py": """
from pathlib import Path

Path("figures").mkdir(exist_ok=True)
Path("figures/01_target.png").write_bytes(b"PNG")
Path("model.pkl").write_bytes(b"model of " + {{ inputs.target }}.encode())
#% if inputs.target != "time"
written = ["model.pkl"]
#% endif
Path("summary.md").write_text("# Summary", encoding="utf-8")
Path("notebook.html").write_text("not the page", encoding="utf-8")
Path(".cache").write_text("hidden", encoding="utf-8")
Path("__pycache__").mkdir(exist_ok=True)
Path("__pycache__/x.pyc").write_bytes(b"")
#% if inputs.test is defined
with open({{ inputs.test }}, encoding="utf-8") as file:
    wanted = list(csv.DictReader(file))
Path("predictions.csv").write_text("prediction\\n" + "1\\n" * len(wanted), encoding="utf-8")
#% endif
""",
}
TRAIN = "time,size,price\n1,10,100\n2,20,200\n3,30,300\n"
PLAIN = "size,price\n10,100\n20,200\n"


def write_book(folder: Path) -> Path:
    """The playbook in a folder of that name."""
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
    return folder
