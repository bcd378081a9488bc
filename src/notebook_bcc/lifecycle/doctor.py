"""What works on this machine and what does not, found out by trying: kernel, packages, sandboxes, fonts, disk."""

from __future__ import annotations

import asyncio
import json
import platform
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from notebook_bcc import __version__
from notebook_bcc.errors import BccError
from notebook_bcc.kernel.interface import Kernel
from notebook_bcc.lifecycle.factories import RunFactories
from notebook_bcc.lifecycle.packages import ANALYSIS
from notebook_bcc.notebook.export.pdf import BROWSERS
from notebook_bcc.protocol.specs import DEFAULT_KERNEL, LocalKernelSpec
from notebook_bcc.sandbox.interface import RUNGS
from notebook_bcc.sandbox.rungs import RungReport

KERNEL: Final = "kernel"

_FONT_FOLDERS: Final = ("/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "/Library/Fonts")
_CHINESE_FONTS: Final = ("cjk", "wqy", "sourcehan", "simsun", "simhei", "msyh", "pingfang", "heiti", "ukai", "uming")
_LITTLE_DISK: Final = 1_000_000_000
_PACKAGES: Final = {"sklearn": "scikit-learn"}
_ASK: Final = """
import importlib.metadata, json
def _version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
print(json.dumps({{name: _version(name) for name in {names!r}}}))
"""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was tried. `works` None: only said. `help` is what to do about it, empty where nothing need be."""

    what: str
    works: bool | None
    said: str
    help: str = ""


async def examine(runs: Path, factories: RunFactories) -> AsyncIterator[Diagnosis]:
    """Each as soon as it is known."""
    yield Diagnosis("versions", None, f"nbcc {__version__}, Python {platform.python_version()}, {platform.platform()}")
    async for one in _kernel(factories):
        yield one
    reports = []
    for rung in RUNGS:
        reports.append(await asyncio.to_thread(factories.try_rung, rung))
        yield _rung(reports[-1])
    yield _sandbox(reports)
    yield await asyncio.to_thread(_fonts)
    yield _pdf()
    yield _disk(runs)


async def _kernel(factories: RunFactories) -> AsyncIterator[Diagnosis]:
    with tempfile.TemporaryDirectory(prefix="nbcc-doctor-") as folder:
        kernel = factories.make_kernel(LocalKernelSpec(), cwd=Path(folder), output_bytes=0)
        try:
            await kernel.start()
            found = kernel.identity
            yield Diagnosis(KERNEL, True, f"{found.display_name}, {found.language} {found.language_version}")
            yield await _packages(kernel)
        except BccError as error:
            yield Diagnosis(KERNEL, False, str(error), "pip install ipykernel")
        finally:
            await kernel.close()


async def _packages(kernel: Kernel) -> Diagnosis:
    names = [_PACKAGES.get(name, name) for name in ANALYSIS]
    done = await kernel.execute(_ASK.format(names=names))
    versions = json.loads(done.outputs[0]["text"]) if done.succeeded and done.outputs else {}
    missing = [name for name in names if not versions.get(name)]
    if missing:
        said = f"the {DEFAULT_KERNEL} kernel lacks {', '.join(missing)}: scripts run, tables are not analysed"
        return Diagnosis("packages", False, said, 'pip install "notebook-bcc[ml]"')
    return Diagnosis("packages", True, ", ".join(f"{name} {versions[name]}" for name in names))


def _rung(report: RungReport) -> Diagnosis:
    gaps = "".join(f"; {gap}" for gap in report.gaps)
    return Diagnosis(report.rung, report.works, report.why + gaps, report.help)


def _sandbox(reports: Sequence[RungReport]) -> Diagnosis:
    working = next((one.rung for one in reports if one.works), None)
    if working is None:
        said = "code of a model, or of a planner on another machine, is refused without --sandbox off"
        return Diagnosis("sandbox", False, said, next((one.help for one in reports if one.help), ""))
    return Diagnosis("sandbox", True, f"code of a model, or of a planner elsewhere, runs in {working}")


def _fonts() -> Diagnosis:
    places = [Path(one) for one in _FONT_FOLDERS]
    names = (path.name.casefold() for place in places if place.is_dir() for path in place.rglob("*.[toTO]t[fcFC]"))
    found = next((name for name in names if any(part in name for part in _CHINESE_FONTS)), "")
    if found:
        return Diagnosis("fonts", True, f"Chinese in figures: {found}")
    return Diagnosis("fonts", None, "Chinese in figures shows as boxes: no such font", "apt-get install fonts-noto-cjk")


def _pdf() -> Diagnosis:
    found = next((name for name in BROWSERS if shutil.which(name)), "")
    if found:
        return Diagnosis("pdf", True, f"printed by {found}")
    return Diagnosis("pdf", None, "reports are not printed as PDF: there is no Chromium", "apt-get install chromium")


def _disk(runs: Path) -> Diagnosis:
    place = runs.absolute()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    return Diagnosis("disk", free > _LITTLE_DISK, f"{free / 1e9:.1f} GB free for runs in {runs}")
