"""The page that lists every promise of the documents with the test that holds it."""

from __future__ import annotations

import ast
import re
from functools import cache

from notebook_bcc.conformance.kit import CHECKS
from seeds.pages import HASHES, ROOT, blocks

PAGE = (ROOT / "docs" / "protocol" / "promises.md").read_text(encoding="utf-8")
# What no test holds yet, row by row. A row that leaves this set names its test on the page.
PENDING: set[int] = set()
# What is promised of our own planners and pages, not of the protocol.
ELSEWHERE = {215, 216}
ROW = re.compile(r"^\| (\d+) \| (.*?) \| (.*?) \| (.*) \|$", re.MULTILINE)
TEST = re.compile(r"`tests/([\w/]+\.py)::(\w+)`")
BLOCK = re.compile(r"^\| (00\d):(\d+) \| (.*?) \| (.*) \|$", re.MULTILINE)


KIT_ROW = re.compile(r"^\| `([a-z0-9-]+)` \| ([0-9, to]+) \|$", re.MULTILINE)
UNSEEN_ROW = re.compile(r"^\| (?:the client|Python names|this project)[^|]* \| ([0-9, to]+) \|$", re.MULTILINE)


def numbers(text: str) -> list[int]:
    """`1, 3 to 5` as numbers."""
    found: list[int] = []
    for part in text.split(", "):
        first, _, last = part.partition(" to ")
        found += range(int(first), int(last or first) + 1)
    return found


def rows() -> dict[int, str]:
    return {int(number): holder for number, _, _, holder in ROW.findall(PAGE)}


@cache
def functions_of(path: str) -> frozenset[str]:
    file = ROOT / "tests" / path
    if not file.is_file():
        return frozenset()
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_"))


def test_there_are_two_hundred_and_eighteen_promises_in_order() -> None:
    assert [int(number) for number, *_ in ROW.findall(PAGE)] == list(range(1, 219))


def test_every_test_that_the_page_names_exists() -> None:
    named = TEST.findall(PAGE)
    assert len(named) > 218
    assert [f"{path}::{name}" for path, name in named if name not in functions_of(path)] == []


def test_every_promise_has_a_test_or_says_why_not() -> None:
    assert {number for number, holder in rows().items() if holder == "pending"} == PENDING
    assert {number for number, holder in rows().items() if holder.startswith("comes with ")} == ELSEWHERE
    held = {number for number, holder in rows().items() if TEST.search(holder)}
    assert held | PENDING | ELSEWHERE == set(range(1, 219))


def test_no_promise_rests_only_on_a_test_that_needs_the_documents() -> None:
    """They are not part of the repository: a clone without them must be able to hold every promise."""
    reading = {"seeds/test_blocks_000.py", "seeds/test_blocks_001.py", "seeds/test_blocks_002.py"}
    reading |= {"seeds/test_blocks_003.py", "seeds/test_blocks_004.py"}
    reading |= {"seeds/test_literal_clients.py", "seeds/test_literal_planner.py", "protocol/test_seeds.py"}
    for number, holder in rows().items():
        paths = {path for path, _ in TEST.findall(holder)}
        assert not paths or paths - reading, number


def test_every_promise_has_a_row_of_the_kit_or_is_none_that_a_client_can_see() -> None:
    seen = [number for _, text in KIT_ROW.findall(PAGE) for number in numbers(text)]
    unseen = [number for text in UNSEEN_ROW.findall(PAGE) for number in numbers(text)]
    assert sorted(seen + unseen) == list(range(1, 219))
    assert set(unseen) >= ELSEWHERE


def test_every_row_of_the_kit_has_its_promises_or_is_said_to_go_beyond_the_documents() -> None:
    section = PAGE[PAGE.index("## Rows of the conformance kit") : PAGE.index("## The blocks of code")]
    assert sorted(re.findall(r"`([a-z0-9-]+)`", section)) == sorted(check.id for check in CHECKS)


def test_every_block_of_code_in_the_documents_has_a_row() -> None:
    listed = {(name, int(line)) for name, line, *_ in BLOCK.findall(PAGE)}
    printed = {(name, line) for name in HASHES for line in blocks(name, "python")}
    assert listed == printed | {("002", 30), ("002", 378)}


def test_every_block_is_carried_out_or_its_row_says_why_not() -> None:
    for name, line, how, holder in BLOCK.findall(PAGE):
        assert TEST.search(holder), f"{name}:{line}"
        assert how
