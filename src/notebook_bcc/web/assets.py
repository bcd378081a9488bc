"""The page's own files: scripts, styles, and the two libraries as their makers publish them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

_CELLS: Final = "cells.css"


def static_names() -> list[str]:
    """The page's own files, by their paths."""
    root = files("notebook_bcc.web") / "static"
    own = [one.name for one in root.iterdir() if one.is_file()]
    return [_CELLS, *own] + [f"vendor/{one.name}" for one in (root / "vendor").iterdir()]


def static_text(name: str) -> str:
    """One of the page's own files. How cells look is said once, beside the exporters."""
    if name == _CELLS:
        return (files("notebook_bcc.notebook.export") / _CELLS).read_text(encoding="utf-8")
    return (files("notebook_bcc.web") / "static").joinpath(*name.split("/")).read_text(encoding="utf-8")
