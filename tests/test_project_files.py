"""What the files around the code promise to people who join, use or publish the project."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import notebook_bcc
from notebook_bcc.playbook.folder import builtin_playbooks, open_playbook
from notebook_bcc.protocol.secret_variables import SECRET_VARIABLES
from yaml_reading import read_yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ISSUE_FORMS = [path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def steps(workflow: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for job in workflow["jobs"].values():
        yield from job["steps"]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):", MAKEFILE, re.MULTILINE))


def test_hosted_tests_run_on_every_python_that_the_classifiers_name() -> None:
    named = {line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)}
    workflow = read_yaml(ROOT / ".github" / "workflows" / "test.yml")
    assert set(workflow["jobs"]["tests"]["strategy"]["matrix"]["python"]) == named
    assert f">={min(named, key=lambda text: int(text[2:]))}" == PROJECT["requires-python"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_calls_make_targets_that_exist_and_may_only_read(path: Path) -> None:
    workflow = read_yaml(path)
    assert workflow["permissions"] == {"contents": "read"}
    called = [step["run"].split() for step in steps(workflow) if step.get("run", "").startswith("make ")]
    assert called
    assert {name for _, *names in called for name in names} <= targets()
    assert all(step["with"]["persist-credentials"] is False for step in steps(workflow) if "checkout" in str(step))


def test_hosted_tests_check_lint_types_tests_documentation_and_wheel() -> None:
    workflow = read_yaml(ROOT / ".github" / "workflows" / "test.yml")
    run = {step.get("run") for step in steps(workflow)}
    assert {"make lint", "make test", "make docs", "make release"} <= run


def test_publishing_needs_a_tag_and_no_stored_credential() -> None:
    workflow = read_yaml(ROOT / ".github" / "workflows" / "publish.yml")
    assert workflow["on"] == {"push": {"tags": ["v*"]}}
    assert workflow["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert not re.search(r"secrets\.|password|(?<!id-)token", str(workflow))


def test_hooks_run_the_projects_own_tools_and_download_nothing() -> None:
    for repository in read_yaml(ROOT / ".pre-commit-config.yaml")["repos"]:
        assert repository["repo"] == "local"
        for hook in repository["hooks"]:
            assert hook["language"] == "system"
            assert hook["entry"].startswith(".venv/bin/python -m ")


@pytest.mark.parametrize("path", ISSUE_FORMS, ids=lambda path: path.name)
def test_an_issue_form_has_a_name_a_description_and_labelled_fields(path: Path) -> None:
    form = read_yaml(path)
    assert form["name"]
    assert form["description"]
    assert all(field["attributes"].get("label") for field in form["body"] if field["type"] != "markdown")


def test_the_security_page_says_what_each_sandbox_leaves_open_and_how_to_report() -> None:
    page = read("SECURITY.md")
    for text in ("no sandbox: a cell runs with your rights", "yes before Landlock version 6", "macOS and Windows"):
        assert text in page
    assert "Report a vulnerability" in page
    assert "@" not in page, "no mail address that nobody reads"


def test_the_security_page_names_every_secret_that_is_kept_from_kernels() -> None:
    assert [name for name in sorted(SECRET_VARIABLES) if f"`{name}`" not in read("SECURITY.md")] == []


def test_the_changelog_has_this_version_and_a_place_for_what_comes() -> None:
    headings = re.findall(r"^## (.+)$", read("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert notebook_bcc.__version__ in headings


def test_an_item_of_the_changelog_has_at_most_two_sentences() -> None:
    items = re.findall(r"^- (.*?)(?=^- |^#|^$|\Z)", read("CHANGELOG.md"), re.MULTILINE | re.DOTALL)
    assert [item for item in items if len(re.findall(r"[.!?](?:\s+[A-Z`]|\s*$)", item)) > 2] == []


def test_lines_of_the_first_pages_fit_a_screen() -> None:
    names = ["README.md", "CONTRIBUTING.md", *(str(path) for path in (ROOT / "docs" / "decisions").glob("0*.md"))]
    for name in names:
        text = re.sub(r"^```.*?^```$", "", read(name), flags=re.MULTILINE | re.DOTALL)
        # Tables cannot be wrapped, nor can a link or a command that is longer than a line.
        lines = [line for line in text.splitlines() if len(line) > 100 and not line.startswith("|")]
        assert [line for line in lines if " " in line.strip()[2:100]] == [], name


def release() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / ".ci" / "check_release.py"))


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(folder)],
        cwd=ROOT,
        capture_output=True,
        timeout=100,
        check=True,
    )
    return folder


def test_wheel_and_sdist_hold_the_package_and_nothing_else(dist: Path) -> None:
    check, version = release(), notebook_bcc.__version__
    (wheel,) = dist.glob("*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    files = check["wheel_files"](wheel)
    assert check["wheel_problems"](files, version) == []
    assert check["sdist_problems"](check["sdist_files"](sdist), version) == []
    assert "notebook_bcc/py.typed" in files
    for book in builtin_playbooks():
        held = {name.removeprefix(f"notebook_bcc/playbooks/{book}/") for name in files if f"/playbooks/{book}/" in name}
        assert held >= set(open_playbook(book).texts)
        assert not open_playbook(book).flat


def test_the_check_of_a_release_finds_what_is_missing_and_what_must_not_be_there(dist: Path) -> None:
    check, version = release(), notebook_bcc.__version__
    (wheel,) = dist.glob("*.whl")
    files = check["wheel_files"](wheel)
    del files["notebook_bcc/py.typed"]
    files["tests/test_fsm.py"] = b""
    files["notebook_bcc/.env"] = b"TOKEN=1"
    files["notebook_bcc/notes.txt"] = b"key = 'sk-" + b"a1B2" * 10 + b"'"
    found = "\n".join(check["wheel_problems"](files, version))
    for wanted in ("lacks notebook_bcc/py.typed", "holds tests/test_fsm.py", "/.env looks", "notes.txt looks"):
        assert wanted in found
    assert check["wheel_problems"](files, "9.9") != []
