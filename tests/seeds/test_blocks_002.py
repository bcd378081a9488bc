"""Document 002, the API: its Python blocks, settings and messages, carried out as printed."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from notebook_bcc import ApiClient, CallablePlanner, Config
from notebook_bcc.compat import install_aliases, remove_aliases
from notebook_bcc.settings import read_settings
from seeds.pages import block, inside
from seeds.states import step_state

ACTIONS = [{"action": "add", "content": "Hello", "shot_type": "dialogue"}, {"action": "finish_thinking"}]


@pytest.fixture(autouse=True)
def untouched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    for name in ("DSLC_BASE_URL", "BACKEND_BASE_URL", "NOTEBOOK_ID", "LOG_LEVEL"):
        monkeypatch.delenv(name, raising=False)
    Config.reset()
    yield
    Config.reset()
    remove_aliases()


def test_016_the_default_addresses_are_ours() -> None:
    names: dict[str, Any] = {}
    exec(block("002", 16), names)
    printed = {name: value for name, value in names.items() if name.isupper()}
    assert len(printed) == 4
    assert {name: getattr(Config, name) for name in printed} == printed


def test_030_the_settings_file_is_read(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(block("002", 30, "bash"), encoding="utf-8")
    settings = read_settings(environment={}, folder=tmp_path)
    assert (settings.dslc_base_url, settings.backend_base_url) == (
        "http://your-server:28600",
        "http://your-backend:18600",
    )
    assert (settings.notebook_id, settings.log_level) == ("optional-notebook-id", "INFO")
    assert (settings.max_execution_steps, settings.interactive_mode, settings.use_remote_execution) == (0, False, True)


def test_049_settings_are_changed_while_a_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    install_aliases()
    names: dict[str, Any] = {}
    exec(compile(block("002", 49), "002:49", "exec"), names)
    assert names["Config"] is Config
    assert names["api_config"]["dslc_base_url"] == "http://new-server:28600"
    assert names["api_config"]["feedback_api_url"] == "http://new-server:28600/planning"
    assert names["api_config"]["behavior_api_url"] == "http://new-server:28600/generating"
    assert names["api_config"]["notebook_id"] == "notebook-123"
    assert "new-backend:18600" in capsys.readouterr().out


class Chunks:
    """The body of a response, in pieces that end anywhere but inside a character."""

    def __init__(self, text: str, size: int) -> None:
        self._pieces = [text[start : start + size].encode() for start in range(0, len(text), size)]

    async def iter_any(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece


@pytest.mark.anyio
@pytest.mark.parametrize("line", [234, 329])
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_a_stream_is_read_by_the_documents_own_loop(line: int, size: int) -> None:
    text = "".join(json.dumps({"action": action}, ensure_ascii=False) + "\n" for action in ACTIONS)
    names: dict[str, Any] = {"json": json}
    # The first of the two blocks takes a buffer as given.
    body = block("002", line) if line == 329 else 'buffer = ""\n' + block("002", line)
    exec(compile(inside("async def read(response):", body), f"002:{line}", "exec"), names)
    assert [one async for one in names["read"](SimpleNamespace(content=Chunks(text, size)))] == ACTIONS


@pytest.mark.anyio
@pytest.mark.parametrize("line", [399, 413])
async def test_actions_are_fetched_as_the_sample_for_errors_does_it(
    line: int, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[Any] = []
    planner = CallablePlanner(plan=lambda request: {"targetAchieved": False}, generate=lambda request: ACTIONS)
    with ApiClient(planner=planner) as client:
        client.send_feedback_sync("data_analysis", "load_data", step_state())
        names: dict[str, Any] = {
            "fetch_behavior_actions": client.fetch_behavior_actions,
            "process_action": done.append,
            "json": json,
            "logger": logging.getLogger("002"),
        }
        exec(compile(inside("async def sample():", block("002", line)), f"002:{line}", "exec"), names)
        await names["sample"]()
    assert done == ACTIONS
    assert caplog.records == []


@pytest.mark.anyio
@pytest.mark.parametrize("line", [399, 413])
async def test_what_goes_wrong_on_the_way_reaches_the_samples_handlers(
    line: int, caplog: pytest.LogCaptureFixture
) -> None:
    def generate(request: Any) -> Iterator[Any]:
        yield ACTIONS[0]
        raise OSError("the line is down")

    done: list[Any] = []
    planner = CallablePlanner(plan=lambda request: {"targetAchieved": False}, generate=generate)
    with ApiClient(planner=planner) as client:
        client.send_feedback_sync("data_analysis", "load_data", step_state())
        names = {
            "fetch_behavior_actions": client.fetch_behavior_actions,
            "process_action": done.append,
            "json": json,
            "logger": logging.getLogger("002"),
        }
        exec(compile(inside("async def sample():", block("002", line)), f"002:{line}", "exec"), names)
        await names["sample"]()  # type: ignore[operator]
    assert "the line is down" in caplog.text


def test_485_a_state_without_progress_is_refused_in_these_words() -> None:
    # An error message that goes over two lines, not code: its words are compared.
    printed = " ".join(block("002", 485).split('"')[1].split())
    with pytest.raises(ValueError) as refused, ApiClient() as client:
        client.send_feedback_sync("data_analysis", "load_data", {})
    assert printed in str(refused.value)
