"""Completed items, artifacts and promotions."""

from __future__ import annotations

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.messages import ContextUpdate, ProgressUpdate
from notebook_bcc.protocol.observation import LevelProgress
from notebook_bcc.protocol.tracking import CompletedItem, Condensed, Promotion, condensed
from notebook_bcc.protocol.vocabulary import Level


def test_a_bare_id_is_read_as_a_completed_item() -> None:
    progress = LevelProgress.parse({"completed": ["load", {"step_id": "clean", "goal": "g"}]})

    assert [item.key for item in progress.completed] == ["load", "clean"]
    assert LevelProgress.parse(progress.to_json()) == progress


@pytest.mark.parametrize("name", ["stage_id", "step_id", "behavior_id", "id"])
def test_the_key_of_a_completed_item_is_the_id_it_has(name: str) -> None:
    assert CompletedItem.parse({name: "x"}).key == "x"
    assert CompletedItem().key == ""


def test_a_promotion_names_the_variable_of_its_artifact() -> None:
    promotion = Promotion.parse({"variable": "df_working", "artifact_id": "df_imputed@iter3"})

    assert promotion.variable_name == "df_imputed_iter3"


@pytest.mark.parametrize("artifact_id", ["", "df", "@v", "df@", "df@a@b"])
def test_an_artifact_id_has_a_base_and_a_version(artifact_id: str) -> None:
    with pytest.raises(MessageInvalid, match="artifact_id"):
        Promotion.parse({"variable": "x", "artifact_id": artifact_id})


def test_progress_updates_come_one_by_one_or_together() -> None:
    one = {"level": "steps", "focus": "look closer"}
    wanted = ProgressUpdate(level=Level.STEPS, focus="look closer")

    assert ContextUpdate().progress_updates == ()
    assert ContextUpdate.parse({"progress_update": one}).progress_updates == (wanted,)
    assert ContextUpdate.parse({"progress_update": [one, one]}).progress_updates == (wanted, wanted)


def test_an_item_is_condensed_once_however_often_it_is_told() -> None:
    item = CompletedItem(step_id="clean", goal="g", actions_taken=("a", "b"), achieved=True)
    short = condensed(item)

    assert condensed(item) is short
    assert condensed(short) is short
    assert short.to_dict() == {
        "step_id": "clean",
        "achieved": True,
        "missing_outputs": [],
        "condensed": {"actions": 2, "outputs": 0},
    }
    assert condensed(item.model_copy(update={"actions_taken": ("a",)})).condensed == Condensed(actions=1, outputs=0)
