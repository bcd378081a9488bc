"""The page's own files: small, complete, and the libraries as their makers publish them."""

from __future__ import annotations

import hashlib
import json
import re
from importlib.resources import files

from notebook_bcc.web.assets import static_names, static_text
from notebook_bcc.web.export import bundle
from notebook_bcc.web.words import catalogue

LARGEST = 250_000
SCRIPTS = [name for name in static_names() if name.endswith(".js")]


def test_the_libraries_are_unchanged() -> None:
    vendor = files("notebook_bcc.web") / "static" / "vendor"
    kept = json.loads((vendor / "vendor.json").read_text(encoding="utf-8"))
    assert {one["file"] for one in kept} == {one.name for one in vendor.iterdir() if one.name.endswith(".mjs")}
    for one in kept:
        assert hashlib.sha256((vendor / one["file"]).read_bytes()).hexdigest() == one["sha256"]
        assert (vendor / one["licence_file"]).is_file()


def test_the_page_is_small() -> None:
    assert sum(len(static_text(name).encode()) for name in static_names()) < LARGEST


def test_the_page_says_nothing_that_has_no_translation() -> None:
    said = {name for script in SCRIPTS for name in re.findall(r'\bword\("([a-z_]+)"', static_text(script))}
    assert said <= set(catalogue())


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name in static_names():
        if not name.endswith(("LICENSE", ".json", ".svg")):
            assert not re.search(r"https?://(?!www\.w3\.org/)", static_text(name)), name


def test_the_scripts_fit_into_one() -> None:
    script = bundle()
    assert not re.search(r"^(?:import|export)\b", script, re.MULTILINE)
    assert "</script" not in script
