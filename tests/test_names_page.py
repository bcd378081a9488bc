"""The page that translates the documents' names: what it names here exists."""

from __future__ import annotations

import re
from pathlib import Path
from pkgutil import resolve_name

import notebook_bcc.compat
from notebook_bcc.compat.aliases import ALIASES
from notebook_bcc.compat.config import Config
from notebook_bcc.protocol.actions import BUILTIN_ACTIONS

PAGE = (Path(__file__).parents[1] / "docs" / "protocol" / "names.md").read_text(encoding="utf-8")


def test_every_name_of_ours_on_the_page_exists() -> None:
    named = sorted(set(re.findall(r"`(notebook_bcc(?:\.\w+)+)(?:\(\))?`", PAGE)))
    assert len(named) > 20
    for name in named:
        module, _, last = name.rpartition(".")
        assert hasattr(resolve_name(module), last) or resolve_name(name), name


def test_every_name_that_compat_offers_is_on_the_page() -> None:
    wanted = set(notebook_bcc.compat.__all__) - {"remove_aliases", "plain_observation"}
    assert [name for name in sorted(wanted) if name not in PAGE] == []


def test_every_alias_every_setting_and_every_action_is_on_the_page() -> None:
    assert [name for name in ALIASES if "." in name and f"from {name} import" not in PAGE] == []
    assert all(getattr(Config, name) for name in re.findall(r"`([A-Z]+_(?:BASE|API)_URL)`", PAGE))
    assert [name for name in BUILTIN_ACTIONS if f"`{name}`" not in PAGE] == []
