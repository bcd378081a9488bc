"""Whether a kernel has the packages that a run will import, as far as that can be known without starting it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from notebook_bcc.errors import RunRefused
from notebook_bcc.kernel.local.process import find_kernelspec
from notebook_bcc.lifecycle.heads.reading import OLD_EXCEL

# What analysing a table takes: the `ml` extra. What reading one takes besides, by the file's suffix.
ANALYSIS: Final = ("pandas", "sklearn", "matplotlib")
READERS: Final[Mapping[str, str]] = {".xlsx": "openpyxl", ".parquet": "pyarrow", ".feather": "pyarrow"}

_OLD_READER: Final = "xlrd"
_INSTALL_ANALYSIS: Final = 'pip install "notebook-bcc[ml]"'
_OURS: Final = ("python", "python3", f"python{sys.version_info.major}.{sys.version_info.minor}")


def check_packages(
    kernel: str, files: Iterable[Path], *, interpreter: str = "", packages: Iterable[str] = ANALYSIS
) -> None:
    """Raises RunRefused, with the command that helps, if packages are missing in the environment of this kernel.

    Only a kernel of our own interpreter is looked into; another one tells by itself. Raises KernelStartFailed.
    """
    if (interpreter or find_kernelspec(kernel).argv[0]) not in (*_OURS, sys.executable):
        return
    if missing := _missing(packages):
        raise RunRefused(
            f"analysing a table needs {', '.join(missing)}, which this Python does not have; install with: "
            f"{_INSTALL_ANALYSIS}"
        )
    for file in files:
        if _is_old_excel(file) and _missing((_OLD_READER,)):
            helps = f"save it as .xlsx, or install {_OLD_READER}, which reads it: pip install {_OLD_READER}"
            raise RunRefused(f"{file.name!r} is an old Excel workbook (.xls): {helps}")
        reader = READERS.get(file.suffix.lower())
        if reader is not None and _missing((reader,)):
            raise RunRefused(f"reading {file.name!r} needs {reader}; install it with: pip install {reader}")


def _is_old_excel(file: Path) -> bool:
    """By its first bytes: the ending of a name can be wrong."""
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(OLD_EXCEL)) == OLD_EXCEL


def _missing(packages: Iterable[str]) -> list[str]:
    return [name for name in packages if find_spec(name) is None]
