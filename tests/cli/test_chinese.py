"""The command line in Chinese: every command, option and error has a text, and the language is known before parsing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from cli.shell import Shell
from notebook_bcc import errors
from notebook_bcc.cli.chinese.errors import error_templates, in_chinese
from notebook_bcc.cli.chinese.help import help_texts, wrapped
from notebook_bcc.cli.codes import MEANINGS, Exit
from notebook_bcc.cli.main import COMMANDS, PLANNER_COMMANDS, application, reader_language, with_language_last
from notebook_bcc.lifecycle import data_check
from notebook_bcc.lifecycle.summary import STATUSES
from notebook_bcc.views.words import Words

CHINESE = re.compile("[\u4e00-\u9fff]")
LOADED = {name: module for table in (COMMANDS, PLANNER_COMMANDS) for name, (module, _) in table.items() if module}


def command_of(name: str) -> Any:  # Any: the library's own class has no public name
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(getattr(import_module(LOADED[name]), f"{name}_command"))
    return get_command(app)


def option_texts() -> Iterator[str]:
    for command in (application(), *map(command_of, LOADED)):
        context = command.make_context("nbcc", [], resilient_parsing=True)
        yield from (one.help for one in command.get_params(context) if one.help)


def test_every_option_and_argument_has_a_chinese_text_and_none_is_left_over() -> None:
    assert set(help_texts()["options"]) == set(option_texts())
    assert all(CHINESE.search(text) for text in help_texts()["options"].values())


def test_every_command_has_a_chinese_summary_and_help() -> None:
    texts = help_texts()["commands"]
    assert set(texts) == {*COMMANDS, *PLANNER_COMMANDS, "nbcc"}
    assert all(CHINESE.search(one["help"]) for one in texts.values())
    assert all(CHINESE.search(one["summary"]) for name, one in texts.items() if name != "nbcc")


@pytest.mark.parametrize("name", LOADED)
def test_the_chinese_help_of_a_command_shows_the_same_command_lines(name: str) -> None:
    def lines(text: str) -> list[str]:
        return re.findall(r"^ +(?:\$ )?(nbcc(?: [!-~]+)+)", text, re.MULTILINE)

    assert lines(help_texts()["commands"][name]["help"]) == lines(command_of(name).help)


def test_every_exit_code_is_explained() -> None:
    assert set(help_texts()["exit_codes"]) == {int(code) for code in MEANINGS}


@pytest.mark.parametrize(
    ("arguments", "environment", "language"),
    [
        ([], {}, "en"),
        ([], {"LANG": "zh_CN.UTF-8"}, "zh"),
        ([], {"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ([], {"LC_MESSAGES": "zh_TW", "LANG": "C"}, "zh"),
        (["run", "--lang", "zh"], {}, "zh"),
        (["run", "--lang=zh"], {}, "zh"),
        (["run", "--lang", "en"], {"LANG": "zh_CN.UTF-8"}, "en"),
        ([], {"NBCC_LANG": "zh"}, "zh"),
        ([], {"NBCC_LANG": "nonsense"}, "en"),
    ],
)
def test_the_language_is_known_before_arguments_are_parsed(
    arguments: list[str], environment: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG", "NBCC_LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert reader_language(arguments) == language


def test_lines_are_as_wide_as_the_screen_and_begin_with_no_comma() -> None:
    lines = list(wrapped("中文一行，很长的一行 with-some-words，结束。", 12))
    assert lines == ["中文一行，很", "长的一行", "with-some-words，", "结束。"]


def templates_of_classes() -> Iterator[str]:
    """What each class of error says, with `X` for its facts."""
    for node in ast.walk(ast.parse(Path(errors.__file__).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__":
            yield from (filled(one) for one in node.args if isinstance(one, ast.JoinedStr))


def filled(text: ast.JoinedStr) -> str:
    return "".join(str(one.value) if isinstance(one, ast.Constant) else "X" for one in text.values)


def test_every_class_of_error_has_a_chinese_text() -> None:
    found = list(templates_of_classes())
    assert len(found) >= 15
    assert [text for text in found if not CHINESE.search(in_chinese(text))] == []


def test_a_template_has_its_facts_in_chinese_too() -> None:
    for english, chinese in error_templates().items():
        places = sorted({int(one) for one in re.findall(r"\{(\d)\}", chinese)})
        assert places == list(range(english.count("{}"))) or "is being {}" in english, english
        assert CHINESE.search(chinese), english


def test_the_reason_within_an_error_is_translated_and_facts_stay() -> None:
    said = in_chinese("Invalid value for '--max-actions': must be a whole number")
    assert said == "'--max-actions' 的值无效：必须是整数"
    assert in_chinese("something that nobody knows") == "something that nobody knows"


def test_every_status_of_a_run_has_a_word() -> None:
    assert all(Words("zh")(f"status_{one}") for one in STATUSES)


def typed_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The whole program: the shell of the other tests begins behind the place where the language is found."""
    command = [sys.executable, "-c", "from notebook_bcc.cli.main import main; main()", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=False)


def test_list_status_and_errors_are_chinese_where_the_reader_is(shell: Shell) -> None:
    shell.write("good.yaml", "stages: [{id: a, steps: [{id: b, behaviors: [{actions: [{text: done}]}]}]}]\n")
    shell("run", "good.yaml", "--no-verify", "--id", "one")
    assert "状态" in shell("list", "--lang", "zh").stdout
    assert "已完成" in shell("status", "one", "--lang", "zh").stdout
    refused = typed_in(shell.folder, "resume", "one", "--lang", "zh")
    assert (refused.returncode, "已完成，无需继续" in refused.stderr) == (Exit.USAGE, True)
    wrong = typed_in(shell.folder, "status", "--lang", "zh")
    assert (wrong.returncode, "缺少参数" in wrong.stderr) == (Exit.USAGE, True)


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        (["--lang", "zh", "run", "a.csv"], ["run", "a.csv", "--lang", "zh"]),
        (["--lang=zh", "list"], ["list", "--lang=zh"]),
        (["run", "a.csv", "--lang", "zh"], ["run", "a.csv", "--lang", "zh"]),
        (["--lang", "zh", "--help"], ["--lang", "zh", "--help"]),
        (["--lang", "zh"], ["--lang", "zh"]),
        ([], []),
    ],
)
def test_the_language_may_be_said_before_the_command(typed: list[str], read: list[str]) -> None:
    assert with_language_last(typed) == read


def test_every_refusal_of_the_data_that_were_named_is_chinese() -> None:
    source = Path(data_check.__file__).read_text(encoding="utf-8")
    calls = [each for each in ast.walk(ast.parse(source)) if isinstance(each, ast.Call)]
    raised = [each.args[0] for each in calls if isinstance(each.func, ast.Name) and each.func.id == "RunRefused"]
    assert len(raised) > 12
    for message in raised:
        assert isinstance(message, ast.JoinedStr)
        said = "".join(str(part.value) if isinstance(part, ast.Constant) else "'x'" for part in message.values)
        assert CHINESE.search(in_chinese(said)), said


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        (
            "--target 'pric': 'a.csv' has no such column; did you mean 'price'? It has: 'price', 'area'",
            "--target 'pric'：'a.csv' 中没有这一列；是否想用 'price'？已有：'price', 'area'",
        ),
        (
            "data file 'b.csv' does not exist. Data files there: 'a.csv'",
            "数据文件 'b.csv' 不存在。该处的数据文件：'a.csv'",
        ),
        (
            "--target 'x': the column has no value but '1' in 'a.csv', so there is nothing to predict",
            "--target 'x'：'a.csv' 中这一列只有一个值 '1'，没有可预测的内容",
        ),
    ],
)
def test_what_was_meant_is_said_in_chinese_as_well(english: str, chinese: str) -> None:
    assert in_chinese(english) == chinese
