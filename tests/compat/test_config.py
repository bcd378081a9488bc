"""Config: process-wide, above the environment, above the file, and silent until it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from notebook_bcc import Config
from notebook_bcc.errors import SettingsInvalid


def test_the_defaults_are_those_of_the_documents() -> None:
    assert Config.get_api_config() == {
        "dslc_base_url": "http://localhost:28600",
        "feedback_api_url": "http://localhost:28600/planning",
        "behavior_api_url": "http://localhost:28600/generating",
        "generate_api_url": "http://localhost:28600/generate",
        "backend_base_url": "http://localhost:18600",
        "notebook_id": None,
        "use_remote_execution": False,
    }


def test_what_is_set_at_run_time_counts_for_every_address_made_of_it() -> None:
    Config.set_dslc_url("http://planner.example:28600/")
    Config.set_backend_url("https://kernels.example")
    Config.set_notebook_id("notebook-123")
    told = Config.get_api_config()
    assert told["feedback_api_url"] == "http://planner.example:28600/planning"
    assert told["behavior_api_url"] == "http://planner.example:28600/generating"
    assert told["generate_api_url"] == "http://planner.example:28600/generate"
    assert (told["backend_base_url"], told["notebook_id"]) == ("https://kernels.example", "notebook-123")


def test_a_set_value_stands_above_the_environment_above_the_file(
    monkeypatch: pytest.MonkeyPatch, untouched_settings: Path
) -> None:
    (untouched_settings / ".env").write_text("DSLC_BASE_URL=http://file:1\nNOTEBOOK_ID=from-file\n", encoding="utf-8")
    assert Config.get_api_config()["dslc_base_url"] == "http://file:1"
    monkeypatch.setenv("DSLC_BASE_URL", "http://environment:2")
    assert Config.get_api_config()["dslc_base_url"] == "http://environment:2"
    Config.set_dslc_url("http://set:3")
    assert Config.get_api_config()["dslc_base_url"] == "http://set:3"
    assert Config.get_api_config()["notebook_id"] == "from-file"
    Config.reset()
    assert Config.get_api_config()["dslc_base_url"] == "http://environment:2"


def test_no_notebook_id_can_be_set_over_one_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTEBOOK_ID", "somebody-else")
    Config.set_notebook_id(None)
    assert Config.get_api_config()["notebook_id"] is None


@pytest.mark.parametrize("url", ["", "planner:28600", "ftp://planner", "http://", "http:///planning"])
def test_an_address_that_is_none_is_refused_and_changes_nothing(url: str) -> None:
    with pytest.raises(SettingsInvalid, match="address"):
        Config.set_dslc_url(url)
    assert Config.get_api_config()["dslc_base_url"] == "http://localhost:28600"


def test_the_names_of_the_documents_are_attributes_with_the_values_in_force(untouched_settings: Path) -> None:
    assert Config.DSLC_BASE_URL == "http://localhost:28600"
    assert Config.FEEDBACK_API_URL == "http://localhost:28600/planning"
    assert Config.BEHAVIOR_API_URL == "http://localhost:28600/generating"
    assert Config.GENERATE_API_URL == "http://localhost:28600/generate"
    assert Config.BACKEND_BASE_URL == "http://localhost:18600"
    assert (Config.NOTEBOOK_ID, Config.MAX_EXECUTION_STEPS, Config.INTERACTIVE_MODE) == (None, 0, False)
    assert (Config.LOG_LEVEL, Config.USE_REMOTE_EXECUTION) == ("WARNING", False)
    (untouched_settings / ".env").write_text("DSLC_BASE_URL=http://file.example:1\nMAX_EXECUTION_STEPS=7\n")
    assert (Config.GENERATE_API_URL, Config.MAX_EXECUTION_STEPS) == ("http://file.example:1/generate", 7)
    Config.set_dslc_url("http://call.example:1")
    assert Config.BEHAVIOR_API_URL == "http://call.example:1/generating"


def test_an_attribute_that_is_no_setting_is_missing_and_one_that_is_cannot_be_overwritten() -> None:
    with pytest.raises(AttributeError, match="'Config' has no attribute 'DSLC_URL'"):
        Config.DSLC_URL  # noqa: B018
    with pytest.raises(AttributeError, match="set_dslc_url"):
        Config.DSLC_BASE_URL = "http://elsewhere:1"
    assert not hasattr(Config, "__wrapped__")
