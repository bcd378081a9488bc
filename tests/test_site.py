"""The documentation site: its navigation, its two languages, and what `make docs` checks."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from notebook_bcc import cli
from notebook_bcc.cli.main import COMMANDS
from yaml_reading import read_yaml

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SITE = read_yaml(ROOT / "mkdocs.yml")
HOOKS = runpy.run_path(str(DOCS / "site_hooks.py"))


def pages(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    nested = entry.values() if isinstance(entry, dict) else entry
    return [page for part in nested for page in pages(part)]


def titles(entry: Any) -> list[str]:
    if isinstance(entry, list):
        return [title for part in entry for title in titles(part)]
    return [
        title for name, below in entry.items() for title in (name, *(titles(below) if isinstance(below, list) else ()))
    ]


def zh() -> dict[str, Any]:
    (plugin,) = (each["i18n"] for each in SITE["plugins"] if "i18n" in each)
    found: dict[str, Any] = plugin["languages"][1]
    return found


def test_every_page_of_the_navigation_exists() -> None:
    assert [page for page in pages(SITE["nav"]) if not (DOCS / page).is_file()] == []


def test_every_page_can_be_reached() -> None:
    listed = set(pages(SITE["nav"]))
    written = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md") if not path.name.endswith(".zh.md")}
    decisions = {page for page in written if re.match(r"decisions/\d", page)}
    assert written - decisions - listed == set(), "add the page to nav in mkdocs.yml"
    overview = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    assert [page for page in decisions if Path(page).name not in overview] == []


def test_the_navigation_has_the_four_kinds_of_documentation() -> None:
    assert [next(iter(part)) for part in SITE["nav"]] == ["Home", "Tutorial", "How-to", "Reference", "Explanation"]


def test_the_navigation_is_in_chinese_too() -> None:
    translated = zh()["nav_translations"]
    names = [title for title in titles(SITE["nav"]) if "/" not in title]
    assert [title for title in names if title not in translated] == []
    for page in ("README", "tutorial", "glossary"):
        assert re.search(r"[\u4e00-\u9fff]", (DOCS / f"{page}.zh.md").read_text(encoding="utf-8"))


def test_the_first_page_leads_to_every_page_of_the_navigation() -> None:
    linked = set(re.findall(r"\]\(([\w/-]+\.md)(?:#[\w-]+)?\)", (DOCS / "README.md").read_text(encoding="utf-8")))
    assert sorted({*pages(SITE["nav"])} - linked - {"README.md"}) == []


def test_both_tutorials_use_commands_that_exist_and_the_same_ones() -> None:
    used = [
        re.findall(r"^\$ nbcc ([a-z]+)", (DOCS / name).read_text(encoding="utf-8"), re.MULTILINE)
        for name in ("tutorial.md", "tutorial.zh.md")
    ]
    assert used[0] == used[1]
    assert set(used[0]) <= set(COMMANDS)


def test_every_option_of_a_command_is_on_some_page_and_every_option_on_a_page_exists() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (Path(cli.__file__).parent).rglob("*.py")]
    options = [one.split("/") for text in sources for one in re.findall(r'"(--[a-z][a-z-]+(?:/--[a-z-]+)?)"', text)]
    guides = {path.name: path.read_text(encoding="utf-8") for path in DOCS.glob("*.md") if path.name != "benchmarks.md"}
    text = "".join(guides.values())
    assert [spellings for spellings in options if not any(option in text for option in spellings)] == []
    named = {option: name for name, text in guides.items() for option in re.findall(r"`(--[a-z][a-z-]+)", text)}
    assert {option: page for option, page in named.items() if not any(option in text for text in sources)} == {}


def test_the_page_of_schemas_lists_every_schema_and_says_what_it_says_of_itself() -> None:
    page = (DOCS / "schemas" / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| \[(\w+\.json)\]\(\1\) \| (.+) \|$", page, re.MULTILINE))
    schemas = {path.name: json.loads(path.read_bytes()) for path in (DOCS / "schemas").glob("*.json")}
    assert [*listed] == sorted(schemas)
    described = {name: schema["description"] for name, schema in schemas.items() if "description" in schema}
    assert {name: text for name, text in described.items() if not text.startswith(listed[name])} == {}


def defined(page: str) -> list[str]:
    rows = re.findall(r"^\| ([a-z, ]+) \|", page, re.MULTILINE)
    return [word for row in rows if row != "word" for word in row.split(", ")]


def test_the_glossary_has_the_words_of_the_project_once_each() -> None:
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = defined(page)
    wanted = [
        "workflow", "stage", "step", "behavior", "action", "planner", "observation", "record", "journal", "run",
        "playbook", "kernel", "artifact", "effect", "outputs", "verification", "intent", "reducer", "executor",
        "provider", "spec", "fallback", "factory", "session", "context",
    ]  # fmt: skip
    assert [word for word in wanted if word not in words] == []
    assert len(words) == len(set(words))
    assert len(page.splitlines()) <= 90, "one page"
    assert defined((DOCS / "glossary.zh.md").read_text(encoding="utf-8")) == words


def test_every_name_that_the_reference_asks_for_exists() -> None:
    names = re.findall(r"^::: ([\w.]+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert "notebook_bcc" in names
    assert [name for name in names if resolve_name(name) is None] == []


def test_links_out_of_the_documentation_lead_to_a_page_or_become_words() -> None:
    relinked = HOOKS["relinked"]
    assert relinked("[how](docs/cli.md#runs)", folder="", place="changelog.md") == "[how](cli.md#runs)"
    assert relinked("[log](../../CHANGELOG.md)", folder="docs/decisions", place="decisions/0001-x.md") == (
        "[log](../changelog.md)"
    )
    assert relinked("[`code`](../src/x.py)", folder="docs", place="cli.md") == "`code`"
    assert relinked("[there](https://example.org)", folder="docs", place="cli.md") == "[there](https://example.org)"


def test_what_stands_in_a_block_of_code_is_left_alone() -> None:
    text = "```json Request\n[a](../src/x.py)\n```\n"
    assert HOOKS["relinked"](text, folder="docs", place="cli.md") == "```json\n[a](../src/x.py)\n```\n"


def test_the_check_of_the_site_finds_what_a_browser_would_fetch_from_outside() -> None:
    fetched = runpy.run_path(str(ROOT / ".ci" / "check_site.py"))["fetched_from_outside"]
    assert fetched('<script src="https://cdn.example/x.js"></script>') == ["https://cdn.example/x.js"]
    assert fetched('<link rel="stylesheet" href="//fonts.example/css">') == ["//fonts.example/css"]
    assert fetched("body { background: url(https://img.example/a.png) }") == ["https://img.example/a.png"]
    assert fetched('<a href="https://example.org">read</a> <img src="images/demo.png">') == []
