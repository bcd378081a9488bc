"""Completed items, artifacts and promotions."""

from __future__ import annotations

import pytest

from notebook_bcc.errors import MessageInvalid
from notebook_bcc.protocol.messages import ContextUpdate, ProgressUpdate
from notebook_bcc.protocol.observation import LevelProgress
from notebook_bcc.protocol.tracking import CompletedItem, Promotion
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
