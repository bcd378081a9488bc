"""Document 003, the actions: its Python blocks, carried out as printed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import pytest

from engine.play import SKIP, one_step, play
from notebook_bcc import ActionMetadata, ScriptStore
from notebook_bcc.compat import install_aliases, remove_aliases
from notebook_bcc.journal.records import ActionCompleted
from notebook_bcc.kernel.scripted import ScriptedKernel
from seeds.pages import block

# The document writes some Python values in JSON's way.
JSON_WORDS = {"true": True, "false": False, "null": None}


@pytest.fixture
def store() -> Iterator[ScriptStore]:
    with ScriptStore(kernel=ScriptedKernel()) as made:
        yield made


@pytest.fixture
def aliases() -> Iterator[None]:
    install_aliases()
    yield
    ScriptStore.unregister_custom_action("my_action")
    remove_aliases()


def values(line: int) -> list[Any]:
    """What the expressions of a block are."""
    tree = ast.parse(block("003", line))
    return [eval(ast.unparse(one), dict(JSON_WORDS)) for one in tree.body]


def test_205_an_output_has_the_form_of_the_notebook_format(store: ScriptStore) -> None:
    (printed,) = values(205)
    store.exec_action({"action": "add", "shot_type": "action", "content": "6 * 7"})
    (output,) = store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})["outputs"]
    assert output["output_type"] == printed["output_type"]
    assert set(printed) <= set(output)
    assert output["data"].keys() >= printed["data"].keys()


def test_402_a_new_plan_gives_the_flag_for_the_state_machine(store: ScriptStore) -> None:
    (printed,) = values(402)
    plan = {"name": "plan", "stages": [{"id": "one", "steps": [{"id": "a"}]}]}
    assert store.exec_action({"action": "update_workflow", "updated_workflow": plan}).items() >= printed.items()


def test_474_metadata_has_these_fields_and_defaults_and_one_of_ours() -> None:
    (printed,) = values(474)
    assert asdict(ActionMetadata()) == {**printed, "once": False}


@pytest.mark.usefixtures("aliases")
def test_511_custom_actions_are_registered_in_three_ways_by_the_documents_own_lines() -> None:
    # The block uses a handler before it defines it, and a result that the reader fills in.
    names: dict[str, Any] = {"my_handler": lambda script_store, step: "first", "result": "from the block"}
    exec(compile(block("003", 511), "003:511", "exec"), names)
    with names["store"] as store:
        assert store.exec_action({"action": "my_action"})["result"] == "first"
    with ScriptStore(kernel=ScriptedKernel(), registry=names["registry"]) as store:
        assert store.exec_action({"action": "my_action"})["result"] == "from the block"


@pytest.mark.anyio
@pytest.mark.usefixtures("aliases")
async def test_511_what_the_block_registers_reaches_a_run() -> None:
    def my_handler(script_store: Any, step: Any) -> Any:
        return script_store.exec_action({"action": "add", "content": "by my handler"})["success"]

    names: dict[str, Any] = {"my_handler": my_handler, "result": None}
    exec(compile(block("003", 511), "003:511", "exec"), names)
    played = await play(one_step([{"action": "my_action"}]), policies=SKIP)
    assert played.records(ActionCompleted)[0].result is True
    assert played.sources == ["by my handler"]


def test_563_an_action_without_its_required_field_is_an_error(store: ScriptStore) -> None:
    wrong, right = values(563)
    assert "codecell_id" in store.exec_action(wrong)["error"]
    content = {"action": "add", "shot_type": "action", "content": "1", "store_id": right["codecell_id"]}
    assert store.exec_action(content)["success"]
    assert store.exec_action(right)["success"]


@pytest.mark.parametrize("line", [572, 577])
def test_types_that_nobody_handles_are_skipped_with_a_warning_or_refused_when_strict(
    line: int, store: ScriptStore
) -> None:
    # The document throws for one name that nobody knows and warns of another: `strict_actions` decides which.
    (action,) = values(line)
    assert store.exec_action(action)["skipped"]
    with ScriptStore(kernel=ScriptedKernel(), strict_actions=True) as strict:
        assert action["action"] in strict.exec_action(action)["error"]


def test_584_a_failure_is_told_with_these_fields(store: ScriptStore) -> None:
    (printed,) = values(584)
    store.exec_action({"action": "add", "shot_type": "action", "content": "nobody"})
    result = store.exec_action({"action": "exec", "codecell_id": "lastAddedCellId"})
    assert set(printed) <= set(result)
    assert result["success"] is printed["success"]
    assert "NameError" in result["error"]
