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
