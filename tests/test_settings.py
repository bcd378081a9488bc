from __future__ import annotations

from pathlib import Path

import pytest

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.settings import Settings, read_settings


def read(folder: Path, *, env_file: str | None = None, environment: dict[str, str] | None = None) -> Settings:
    if env_file is not None:
        (folder / ".env").write_text(env_file, encoding="utf-8")
    return read_settings(environment=environment or {}, folder=folder)


def test_without_any_wish_the_defaults_stand(tmp_path: Path) -> None:
    settings = read(tmp_path)
    assert settings == Settings()
    assert settings.source_of("log_level") == "default"
    assert settings.dslc_base_url == "http://localhost:28600"
    assert settings.backend_base_url == "http://localhost:18600"


def test_a_flag_beats_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("NBCC_RUNS=from-file\nLOG_LEVEL=info\nMAX_EXECUTION_STEPS=3\n")
    settings = read_settings(
        flags={"runs": Path("from-flag"), "log_level": None},
        environment={"NBCC_RUNS": "from-environment", "LOG_LEVEL": "error"},
        folder=tmp_path,
    )
    assert (settings.runs, settings.source_of("runs")) == (Path("from-flag"), "--runs")
    assert (settings.log_level, settings.source_of("log_level")) == ("ERROR", "environment")
    assert (settings.max_execution_steps, settings.source_of("max_execution_steps")) == (3, ".env")


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("NOTEBOOK_ID=plain", "plain"),
        ("export NOTEBOOK_ID = spaced ", "spaced"),
        ("NOTEBOOK_ID='single # kept'", "single # kept"),
        ('NOTEBOOK_ID="double" # a remark', "double"),
        ("NOTEBOOK_ID=value # a remark", "value"),
        ("NOTEBOOK_ID=a#b", "a#b"),
        ("NOTEBOOK_ID=first\nNOTEBOOK_ID=last", "last"),
        ("NOTEBOOK_ID=\n", ""),
        ("NOTEBOOK_ID=# only a remark", ""),
        ("\ufeffNOTEBOOK_ID=after-a-mark", "after-a-mark"),
        ("not a setting at all\n# NOTEBOOK_ID=no\nNOTEBOOK_ID=数据", "数据"),
    ],
)
def test_the_file_is_read_as_shells_read_it(tmp_path: Path, line: str, value: str) -> None:
    assert read(tmp_path, env_file=line).notebook_id == value


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("LOG_LEVEL", "loud"),
        ("MAX_EXECUTION_STEPS", "many"),
        ("MAX_EXECUTION_STEPS", "-1"),
        ("INTERACTIVE_MODE", "maybe"),
        ("USE_REMOTE_EXECUTION", "2"),
        ("DSLC_BASE_URL", "localhost:28600"),
        ("BACKEND_BASE_URL", "ftp://host"),
        ("NBCC_RUNS", ""),
        ("NBCC_LANG", "fr"),
    ],
)
def test_a_bad_value_names_the_variable_and_its_source(tmp_path: Path, variable: str, text: str) -> None:
    with pytest.raises(SettingsInvalid, match=rf"{variable}=.*\(from environment\)"):
        read(tmp_path, environment={variable: text})
    with pytest.raises(SettingsInvalid, match=rf"{variable}=.*\(from .env\)"):
        read(tmp_path, env_file=f"{variable}={text}")


@pytest.mark.parametrize(("text", "value"), [("true", True), ("Yes", True), ("1", True), ("off", False), ("", False)])
def test_switches_are_read_in_every_usual_spelling(tmp_path: Path, text: str, value: bool) -> None:
    assert read(tmp_path, environment={"INTERACTIVE_MODE": text}).interactive_mode is value


def test_a_folder_called_env_is_not_a_settings_file(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()
    assert read(tmp_path) == Settings()


@pytest.mark.parametrize(
    ("environment", "lang"),
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "NBCC_LANG": "en"}, "en"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
    ],
)
def test_the_language_follows_the_locale_unless_it_is_chosen(
    tmp_path: Path, environment: dict[str, str], lang: str
) -> None:
    assert read(tmp_path, environment=environment).lang == lang
