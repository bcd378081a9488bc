"""A small sound playbook, to be spoiled in one place at a time."""

from __future__ import annotations

from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import PlaybookFiles
from notebook_bcc.playbook.planner import PlaybookPlanner

SOUND = {
    "playbook.yaml": """\
name: {en: Test, zh: 测试}
goal: {en: See it work., zh: 看它运行。}
languages: [en, zh]
inputs: [data, target]
stages: [load, model]
todo:
  - {en: Load it, zh: 读取}
""",
    "stages/load.yaml": """\
name: {en: Load, zh: 读取}
goal: {en: Have the table., zh: 得到表。}
expected_outputs: [table]
focus: {en: Look first., zh: 先看。}
steps:
  - id: read
    name: {en: Read, zh: 读}
    goal: {en: Read it., zh: 读取它。}
    expected_outputs: [table, rows]
    seconds: 2
    done: {en: Load it, zh: 读取}
    behaviors:
      - goal: {en: Read the file., zh: 读取文件。}
        expected: [table, rows]
        verify:
          - that: "v.rows > 0"
            else: {en: "There are no rows in {{ inputs.data }}.", zh: 没有数据行。}
        actions:
          - chapter: {en: Load, zh: 读取}
          - say: intro
          - cell: read
        on_error:
          - text: {en: "It failed: {{ errors | first }}", zh: 失败。}
      - when: "v.rows > 2"
        goal: {en: "Say that {{ v.rows }} rows are many.", zh: 说明行数多。}
        actions:
          - text: {en: "{{ v.rows | num }} rows.", zh: "{{ v.rows | num }} 行。"}
          - observe: {en: Odd., zh: 奇数。}
            when: "v.rows is odd"
  - id: target
    goal: {en: Know the target., zh: 知道目标。}
    seconds: "v.rows * 2"
    behaviors:
      - actions:
          - text: {en: Before., zh: 之前。}
          - ask: {en: "Which of the {{ v.rows }}?", zh: 哪个？}
            options: "['a', 'b']"
            input: target
          - code: "target = {{ inputs.target }}"
        expected: [target]
  - id: extra
    goal: {en: More rows., zh: 更多行。}
    when: "v.rows is defined and many"
    behaviors: [{actions: [{code: extra = 1}]}]
  - id: change
    goal: {en: Think again., zh: 再想想。}
    behaviors:
      - actions:
          - replan: stage
            because: {en: The rules say so., zh: 规则如此。}
          - replan: workflow
conditions:
  many: "v.rows > 2"
""",
    "stages/model.yaml": """\
name: {en: Model, zh: 建模}
goal: {en: Have a model., zh: 得到模型。}
when: "v.rows is not defined or v.rows > 1"
steps:
  - id: fit
    goal: {en: Fit it., zh: 拟合。}
    when: "v.target"
    seconds: 10
    behaviors:
      - expected: [model]
        promotions: [{variable: model, artifact_id: model@fit}]
        actions: [{code: "model = [{{ v.target }}]"}]
""",
    "cells/read.py": "table = {{ inputs.data }}.split()\nrows = len(table)\n",
    "text/intro.en.md": "About {{ inputs.data }}.\n",
    "text/intro.zh.md": "关于 {{ inputs.data }}。\n",
}


def files(**changed: str) -> PlaybookFiles:
    """The sound playbook with other files; a name is written with `__` for `/` and without its ending."""
    names = {name.replace("/", "__").rpartition(".")[0].replace(".", "_"): name for name in SOUND}
    return PlaybookFiles("playbook test", {**SOUND, **{names[key]: text for key, text in changed.items()}})


def planner() -> PlaybookPlanner:
    return PlaybookPlanner(load_playbook(files()))
