"""Machines with other fonts than this one, as matplotlib sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")
font_manager = pytest.importorskip("matplotlib.font_manager")
ttLib = pytest.importorskip("fontTools.ttLib")

CHINESE = "Noto Sans CJK SC"
# Characters, punctuation and the wide forms of Latin letters.
_CHINESE_LETTERS = (range(0x4E00, 0xA000), range(0x3000, 0x3040), range(0xFF00, 0xFFF0))


@contextmanager
def fonts(kind: str, folder: Path) -> Iterator[None]:
    """`here`: those of this machine; `bundled`: those that matplotlib brings along; `chinese`: one more."""
    manager = font_manager.fontManager
    before = list(manager.ttflist)
    if kind != "here":
        manager.ttflist[:] = [entry for entry in before if _is_bundled(entry.fname)]
    with matplotlib.rc_context():
        try:
            if kind == "chinese":
                manager.addfont(_chinese_font(folder))
            yield
        finally:
            manager.ttflist[:] = before


def drawable() -> set[int]:
    """The characters that figures can show with the fonts that are set now."""
    families = matplotlib.rcParams["font.family"]
    paths = [font_manager.findfont(family) for family in families]
    return {code for path in paths for code in font_manager.get_font(path).get_charmap()}


def _is_bundled(path: str) -> bool:
    return Path(path).is_relative_to(matplotlib.get_data_path())


def _chinese_font(folder: Path) -> Path:
    """A font of this name that has a shape, of whatever form, for every Chinese character."""
    font = ttLib.TTFont(font_manager.findfont("DejaVu Sans"))
    for table in font["cmap"].tables:
        if table.isUnicode():
            table.cmap |= {code: "H" for letters in _CHINESE_LETTERS for code in letters}
    for record in font["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = CHINESE
    path = folder / "chinese.ttf"
    font.save(path)
    return path
