"""The five documents beside this clone, known by their hashes, and the blocks that they print.

They are not part of the repository. Where one is missing, the tests that read it are skipped and say which; the same
promises are tested elsewhere on examples of our own. `NBCC_SEEDS` names another folder.
"""

from __future__ import annotations

import hashlib
import os
import re
import textwrap
import typing
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = Path(os.environ.get("NBCC_SEEDS") or ROOT.parent / "shared" / "seeds")
HASHES = {
    "000": "519ff63566d2c6c1b71246e9b77f4ec237dfba4d4088ca452d7f8feddf80b406",
    "001": "58d02cb361d4f2b7b3e36a6556cf3b8e3a4904d14bc526f4e2e7d786fbd93b02",
    "002": "ed627795937b30024e2697020ddad1207fed822223b4a0cf0f5d1fc0fec6de6d",
    "003": "34b55cc57b223276cdf2a587006b79bc0ccb36a2233e1a1e3c4bde07a3bc171d",
    "004": "9c3a1f6ea1df91ff8bd84ca8e6437bb969e3cc734ee22fb9078c458a88c47aca",
}
# What the documents take for imported.
TYPING = {name: getattr(typing, name) for name in ("Dict", "List", "Optional")}
_FENCE = re.compile(r"^( *)```([a-z]*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_MEMBER = re.compile(r'^"(\w+)": ', re.MULTILINE)


@cache
def documents() -> dict[str, str]:
    """The documents that are here, by number."""
    texts = [path.read_bytes() for path in sorted(FOLDER.glob("*.txt"))] if FOLDER.is_dir() else []
    by_hash = {hashlib.sha256(text).hexdigest(): text.decode("utf-8") for text in texts}
    return {name: by_hash[digest] for name, digest in HASHES.items() if digest in by_hash}


def page(name: str) -> str:
    """The text of a document. Skips the test where there is none with the hash it is known by."""
    if name not in documents():
        pytest.skip(
            f"document {name} (SHA-256 {HASHES[name][:12]}...) is not beside this clone (../shared/seeds):"
            " its blocks were NOT run. NBCC_SEEDS names another folder"
        )
    return documents()[name]


def blocks(name: str, language: str) -> dict[int, str]:
    """The fenced blocks of a language, by the line of their fence."""
    text = page(name)
    found = [match for match in _FENCE.finditer(text) if match[2] == language]
    return {text.count("\n", 0, match.start()) + 1: textwrap.dedent(match[3]) for match in found}


def block(name: str, line: int, language: str = "python") -> str:
    """The block whose fence is in this line, as printed."""
    return blocks(name, language)[line]


def members(text: str) -> str:
    """The block with members of an object that stand alone (`"steps": {`) bound to their names, which makes it code."""
    return _MEMBER.sub(r"\1 = ", text)


def inside(head: str, text: str) -> str:
    """The block as the body of a function: for what is printed with `yield`, `return` or `async for` alone."""
    return f"{head}\n{textwrap.indent(text, '    ')}"


def before(marker: str, text: str) -> str:
    """The block up to the part that the document marks, such as the one that it calls wrong."""
    assert marker in text
    return text[: text.index(marker)]
