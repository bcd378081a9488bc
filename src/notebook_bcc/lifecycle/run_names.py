"""How a run is named in a command that somebody is to type."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

# In the current folder, where nothing else is said.
DEFAULT_RUNS: Final = Path("nbcc-runs")


def typed(path: Path, *, usual: Path = DEFAULT_RUNS) -> str:
    """The run in this folder, for a command in the current one: its id, with `--runs` unless runs are `usual` there."""
    return f"{path.name}{runs_option(path.absolute().parent, usual=usual)}"


def runs_option(root: Path, *, usual: Path = DEFAULT_RUNS) -> str:
    """` --runs ROOT`, or nothing where runs are usually kept there."""
    place = unusual_place(root, usual=usual)
    return f" --runs {shlex.quote(str(place))}" if place is not None else ""


def unusual_place(root: Path, *, usual: Path = DEFAULT_RUNS) -> Path | None:
    """The folder that runs are kept in as somebody here would type it; None where they usually are."""
    if usual.absolute().resolve() == root.resolve():
        return None
    here, place = Path.cwd(), root.absolute()
    return place.relative_to(here) if place.is_relative_to(here) else place
