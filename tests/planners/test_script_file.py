"""Scripts as files: pleasant to write, and clear about what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from notebook_bcc.errors import MessageInvalid, PlanInvalid
from notebook_bcc.planners.interface import StreamWarning
from notebook_bcc.planners.marked_yaml import MOST_BYTES, load_marked
from notebook_bcc.planners.script.file import parse_script, read_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Break, Fail, Script
from notebook_bcc.protocol.actions import parse_action
from notebook_bcc.protocol.tracking import Promotion

SCRIPT = """\
name: Example
goal: show every key
sections: [Data, Model]
context_update:
  todo_list_update: {operation: replace, items: [load, model]}
stages:
  - id: data
    goal: have the data
    focus: look first
    expected_outputs: [df]
    steps:
      - id: load
        name: Load
        goal: read the table
        expected_outputs: [df]
        focus: one table only
        completed_update: {variables: {loaded: true}}
        behaviors:
          - goal: read
            expected: [df]
            validate: [df]
            promotions: [{variable: df, artifact_id: df@demo}]
            context_filter: {variables_to_include: [], focus_to_include: [behaviors]}
            actions:
              - title: Example
              - text: Read it.
            on_error:
              - text: It could not be read.
  - id: model
    steps:
      - id: fit
        accept_errors: true
        fail: {times: 2}
        behaviors:
          - break_after: 3
            fail: {times: 1, spare: true}
            actions:
              - steps: [fit, tune]
      - id: tune
        later: true
        behaviors:
          - actions: [{text: tune it}]
"""


def with_actions(actions: str) -> str:
    head = "stages:\n  - id: a\n    steps:\n      - id: b\n        behaviors:\n          - actions:\n"
    return head + indent(dedent(actions), " " * 14)


def actions_of(actions: str) -> list[Any]:
    behavior = parse_script(with_actions(actions)).steps["a", "b"].behaviors[0]
    return list(behavior.actions)


def problem_of(content: str | bytes) -> str:
    with pytest.raises(MessageInvalid) as caught:
        parse_script(content, source="script x.yaml")
    assert "x.yaml" in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("head", ["text", "observe", "think"])
def test_whatever_is_written_for_readers_may_say_where_its_numbers_came_from(head: str) -> None:
    first = actions_of(f"- {head}: Three rows.\n  numbers: [{{text: Three, variable: v.rows}}]\n")[0]
    assert first["metadata"] == {"extra": {"numbers": [{"text": "Three", "variable": "v.rows"}]}}


def test_a_script_with_every_key_is_read() -> None:
    script = parse_script(SCRIPT)
    load, fit = script.steps["data", "load"], script.steps["model", "fit"]
    assert [step.id for stage in script.workflow.stages for step in stage.steps] == ["load", "fit"]
    assert script.workflow.sections == ("Data", "Model")
    assert script.workflow.stages[0].steps[0].expected_outputs == ("df",)
    assert script.context_update.todo_list_update is not None
    assert script.stages["data"].focus == "look first"
    assert load.focus == "one table only"
    assert load.completed_update.variables == {"loaded": True}
    assert load.behaviors[0].expected == load.behaviors[0].validate == ("df",)
    assert load.behaviors[0].promotions == (Promotion(variable="df", artifact_id="df@demo"),)
    assert len(load.behaviors[0].on_error) == 1
    assert (fit.accept_errors, fit.fail) == (True, Fail(times=2))
    assert fit.behaviors[0].fail == Fail(times=1, fallback=True), "the old spelling is read"
    assert fit.behaviors[0].break_after == Break(3)
    assert ("model", "tune") in script.steps
    assert ScriptedPlanner.from_script(script, name="example").name == "example"


def test_the_former_name_of_replaces_is_read_and_sent_on_as_it_is() -> None:
    """A run that was begun with it gets the same actions when it goes on."""
    actions = actions_of("- text: It is three.\n  settles: [look]\n")
    assert actions[0]["metadata"] == {"extra": {"settles": ["look"]}}


def test_every_action_of_the_short_forms_is_an_action_of_the_protocol() -> None:
    actions = actions_of(
        """\
        - title: Bikes
        - chapter: Data
        - section: Load
        - text: |
            Some *words*.
        - observe: What was seen.
          id: seen
        - think: What now?
          agent: Analyst
        - code: |
            x = 1
            print(x)
        - code: y = 2
          id: later
          run: false
          folded: true
        - code: z = 3
          probe: look
        - text: It is three.
          replaces: [look]
        - exec: later
          need_output: false
          debug: true
        - action: {action: next_event, event_type: COMPLETE_BEHAVIOR}
        - action: {action: my_own, whatever: 1}
        """
    )
    for action in actions:
        parse_action(action)
    assert [action["action"] for action in actions] == [
        "update_title",
        "new_chapter",
        "new_section",
        "add",
        "add",
        "is_thinking",
        "finish_thinking",
        "add",
        "exec",
        "add",
        "add",
        "exec",
        "add",
        "exec",
        "next_event",
        "my_own",
    ]
    assert actions[4] == {
        "action": "add",
        "content": "What was seen.",
        "shot_type": "observation",
        "store_id": "seen",
    }
    assert actions[7]["content"] == "x = 1\nprint(x)"
    assert actions[8] == {"action": "exec", "codecell_id": "lastAddedCellId"}
    assert actions[9]["metadata"] == {"extra": {"folded": True}}
    assert actions[10]["metadata"] == {"extra": {"probe": "look"}}
    assert actions[12]["metadata"] == {"extra": {"replaces": ["look"]}}
    assert actions[13] == {"action": "exec", "codecell_id": "later", "need_output": False, "auto_debug": True}


def test_a_list_of_steps_becomes_a_change_of_the_plan_with_the_steps_whole() -> None:
    action = parse_script(SCRIPT).steps["model", "fit"].behaviors[0].actions[0]
    assert action["action"] == "update_stage_steps"
    assert action["stage_id"] == "model"
    assert [step["id"] for step in action["updated_steps"]] == ["fit", "tune"]


def test_what_is_no_action_is_sent_as_it_is_when_it_is_written_as_raw() -> None:
    assert actions_of("- raw: {content: no type}\n- raw: 7\n- warning: a bad line") == [
        {"content": "no type"},
        7,
        StreamWarning("a bad line"),
    ]


def test_repairs_may_stand_beside_their_cell() -> None:
    text = "- code: x = 1 / 0\n  id: risky\n  debug: true\n  repairs: ['x = 1 / 1', 'x = 1']"
    behavior = parse_script(with_actions(text)).steps["a", "b"].behaviors[0]
    assert behavior.repairs == {"risky": ("x = 1 / 1", "x = 1")}
    assert behavior.actions[1]["auto_debug"] is True


def test_words_that_yaml_once_took_for_booleans_and_dates_are_texts() -> None:
    value = load_marked("[yes, on, 2024-01-01, 1:30, 010, 1e3, 0x10, true, null, '1', .inf]", source="x").value
    assert value == ["yes", "on", "2024-01-01", "1:30", 10, 1000.0, 16, True, None, "1", ".inf"]


BROKEN: list[tuple[str, str]] = [
    ("stages: [", "line 2, column 1: this is not YAML"),
    ("stages:\n  - id: a\n bad", "line 3"),
    ("", "a script is a mapping"),
    ("- a\n- b", "a script is a mapping"),
    ("name: x", "stages is required"),
    ("stages: []\nname: 7", "line 2: name: a text is needed here; put it in quotes"),
    ("stages: {}", "line 1: stages must be a list"),
    ("stages:\n  - id: a\n    stepps: []", "line 3: stages.0.stepps: unknown key; did you mean 'steps'?"),
    ("stages: []\nzzz: 1", "line 2: zzz: unknown key; known here: name, goal"),
    ("stages:\n  - steps: []", "line 2: stages.0.id is required"),
    ("stages:\n  - id: ''", "line 2: stages.0.id"),
    ("stages:\n  - id: a\n    id: b", "line 3: stages.0: the key 'id' stands twice"),
    ("a: &x 1\nb: *x", "line 2: the alias *x is not allowed"),
    ("a: !!python/object/apply:os.system [ls]", "line 1: the tag"),
    ("a: !secret x", "line 1: the tag"),
    ("? [a, b]\n: 1", "line 1: a key must be a plain text"),
    ("a: 1\n---\nb: 1", "line 2: a second document begins"),
    ("[" * 500, "levels are nested"),
    (with_actions("- just words"), "line 7: stages.0.steps.0.behaviors.0.actions.0: an action is a mapping"),
    (with_actions("- text: a\n- txt: b"), "line 8: stages.0.steps.0.behaviors.0.actions.1: no word says what this is"),
    (with_actions("- text: a\n  code: b"), "'text' and 'code' cannot be one action"),
    (with_actions("- text: 7"), "actions.0.text: a text is needed here"),
    (with_actions("- code: a\n  ruun: true"), "actions.0.ruun: unknown key; did you mean 'run'?"),
    (with_actions("- code: a\n  run: maybe"), "actions.0.run: true or false"),
    (with_actions("- code: a\n  id: 'no spaces'"), "actions.0.id: a cell's id is"),
    (with_actions("- code: a\n  repairs: [b]"), "actions.0.repairs: a cell that has repairs needs an `id`"),
    (with_actions("- action: {content: b}"), "actions.0.action.action: the action has no type"),
    (with_actions("- action: {action: exec}"), "actions.0.action.codecell_id is required"),
    (with_actions("- action: {action: add, content: a, kontent: b}"), "did you mean 'content'? `raw` sends it"),
    (with_actions("- steps: [b, c]"), "actions.0.steps: stage 'a' has b; the list names 'c'"),
    (with_actions("- steps: [b]\n  stage: q"), "actions.0.stage: the script has no stage 'q'"),
    (SCRIPT.replace("variables_to_include", "variables_to_inklude"), "did you mean 'variables_to_include'?"),
    (SCRIPT.replace("operation: replace", "operation: forget"), "line 5: context_update.todo_list_update.operation"),
    (SCRIPT.replace("df@demo", "df"), "promotions.0.artifact_id"),
    ("stages: []\nfiles: [../secret.csv]", "line 2: files.0: '../secret.csv' must be a path inside"),
    ("stages: []\nfiles: [/etc/passwd]", "must be a path inside"),
    ("name: \x07", "this is not YAML"),
]


@pytest.mark.parametrize(("content", "message"), BROKEN)
def test_what_is_wrong_with_a_script_is_said_with_its_line_its_field_and_what_to_do(content: str, message: str) -> None:
    assert message in problem_of(content)


PLANS: list[tuple[str, str]] = [
    ("stages: []", "line 1: stages: a plan needs at least one stage"),
    ("stages:\n  - id: a\n  - id: a", "line 3: stages.1.id: 'a' is used twice"),
    ("stages:\n  - id: a\n    steps:\n    - id: b\n    - id: b", "line 5: stages.0.steps.1.id: 'b' is used twice"),
    (SCRIPT.replace("[fit, tune]", "[fit]"), "line 39: stages.1.steps.1: no plan of this script has such a step"),
]


@pytest.mark.parametrize(("content", "message"), PLANS)
def test_a_plan_that_contradicts_itself_is_refused_with_the_line(content: str, message: str) -> None:
    with pytest.raises(PlanInvalid) as caught:
        parse_script(content, source="script x.yaml")
    assert f"script x.yaml, {message}" in str(caught.value)


def test_several_problems_are_told_at_once() -> None:
    text = problem_of(with_actions("- text: 7\n- code: a\n  ruun: 1\n- nothing: 1"))
    assert [f"actions.{index}" in text for index in range(3)] == [True, True, True]


def test_a_file_that_is_too_large_or_no_text_is_refused() -> None:
    assert f"more than {MOST_BYTES} bytes" in problem_of(b"#" * (MOST_BYTES + 1))
    assert "not UTF-8" in problem_of(b"name: \xff\xfe")
    assert "not UTF-8" in problem_of("name: \ud800")


def test_a_bomb_of_aliases_is_refused_at_its_first_alias() -> None:
    bomb = "a: &a [x, x]\n" + "\n".join(f"{chr(98 + n)}: &{chr(98 + n)} [*{chr(97 + n)}]" for n in range(9))
    assert "line 2: the alias *a is not allowed" in problem_of(bomb)


def test_a_script_is_read_from_a_file_with_the_files_it_needs(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a\n1\n")
    path = tmp_path / "script.yaml"
    path.write_text("\ufefffiles: [data.csv]\nstages: [{id: a}]\n", encoding="utf-8")
    script = read_script(path)
    assert (script.files, script.folder) == (("data.csv",), str(tmp_path))
    path.write_text("files: [other.csv]\nstages: [{id: a}]\n")
    with pytest.raises(MessageInvalid, match=r"script\.yaml, line 1: files\.0: there is no file 'other\.csv'"):
        read_script(path)


def test_a_file_that_cannot_be_read_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(MessageInvalid, match=r"nowhere\.yaml .*cannot be read: No such file"):
        read_script(tmp_path / "nowhere.yaml")
    with pytest.raises(MessageInvalid, match="cannot be read"):
        read_script(tmp_path)


def attempt(content: str | bytes) -> Script | None:
    try:
        return parse_script(content)
    except MessageInvalid:
        return None


@settings(deadline=None)
@given(st.one_of(st.text(), st.binary(), st.text(alphabet="ab:-[]{}&*!|>'\"#%@,?~ \n\t0")))
def test_arbitrary_text_is_a_script_or_an_error_of_ours(content: str | bytes) -> None:
    attempt(content)


@settings(deadline=None)
@given(st.integers(0, len(SCRIPT)), st.integers(0, 40), st.text(max_size=12))
def test_a_damaged_script_is_a_script_or_an_error_of_ours(start: int, length: int, put: str) -> None:
    attempt(SCRIPT[:start] + put + SCRIPT[start + length :])


_leaf = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6))
_word = st.sampled_from(
    [
        "name",
        "goal",
        "stages",
        "steps",
        "id",
        "behaviors",
        "actions",
        "text",
        "code",
        "think",
        "stage",
        "action",
        "raw",
        "files",
        "fail",
        "times",
        "verdict",
        "context_update",
        "context_filter",
        "promotions",
        "repairs",
        "break_after",
        "expected",
        "later",
        "deferred",
        "variables",
    ]
)
_value = st.recursive(
    _leaf, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_word, inner, max_size=4), max_leaves=30
)


@settings(deadline=None)
@given(_value)
def test_any_nest_of_known_words_is_a_script_or_an_error_of_ours(value: Any) -> None:
    # JSON, with the escapes that JSON has, is YAML.
    stage = {"id": "a", "steps": [{"id": "b", "behaviors": [value]}]}
    attempt(json.dumps({"stages": [stage], "context_update": value}))
    attempt(json.dumps(value))
