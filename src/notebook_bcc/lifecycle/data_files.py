"""Data files that a run may begin with: which kinds there are, and how the run is told of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from notebook_bcc.errors import RunRefused
from notebook_bcc.lifecycle.folder import INPUTS_FOLDER, Input
from notebook_bcc.playbook.goals.names import TASK_INPUT

# How a file's name ends, and what the run is told about its form. Separator and encoding are for the run to find out.
FORMATS: Final[Mapping[str, str]] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".xlsx": "excel",
    ".xls": "excel",
    ".parquet": "parquet",
    ".feather": "feather",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".sqlite": "sqlite",
    ".db": "sqlite",
}
SCRIPTS: Final = (".yaml", ".yml")

PACKED: Final = (".gz", ".zip", ".bz2", ".xz")
_GOALS: Final[Mapping[str, tuple[str, str]]] = {
    # language: (with a target, without one)
    "en": ("Predict {target} from {data}", "Explore {data}"),
    "zh": ("根据 {data} 预测 {target}", "探索 {data}"),
}
# Names that say nothing of what a file is about: the folder tells such files apart.
_COMMON_NAMES: Final = frozenset({"data", "dataset", "input", "table", "test", "train", "training"})
_BETWEEN: Final[Mapping[str, str]] = {"en": ", ", "zh": "、"}


@dataclass(frozen=True, slots=True)
class DataSpec:
    """What a person said about the data. Empty texts were not said."""

    data: Path
    test: Path | None = None
    targets: tuple[str, ...] = ()
    goal: str = ""
    time: str = ""
    group: str = ""
    kind: str = ""
    keep: tuple[str, ...] = ()
    sheet: str = ""
    table: str = ""
    task: str = ""
    lang: str = "en"


def is_script(path: Path) -> bool:
    """Whether the file is a script by its name."""
    return path.suffix.lower() in SCRIPTS


def format_of(path: Path) -> str:
    """The form of a data file by its name; a folder holds Parquet files. Raises RunRefused for a name that no form
    has."""
    if path.is_dir():
        return "parquet"
    suffix = path.suffix.lower()
    if suffix in PACKED:
        inner = path.with_suffix("").suffix.lower()
        if FORMATS.get(inner, "csv") == "csv":
            return "csv"
    if suffix in FORMATS:
        return FORMATS[suffix]
    known = ", ".join(FORMATS)
    raise RunRefused(
        f"{str(path)!r} is no data file that nbcc knows by its name: it may end in {known}, or in "
        f"{', '.join(f'.csv{one}' for one in PACKED)} and the like; a script ends in {' or '.join(SCRIPTS)}"
    )


def parquet_files(folder: Path) -> list[Path]:
    """The files of a table that is kept as a folder of Parquet files. Names that begin with `.` or `_` are not data."""
    found = (path for path in folder.rglob("*.parquet") if path.is_file())
    return sorted(path for path in found if not any(part[0] in "._" for part in path.relative_to(folder).parts))


def data_inputs(spec: DataSpec) -> tuple[Input, ...]:
    """The files of the run under the names they get in its working directory. Raises RunRefused."""
    format_of(spec.data)
    files = _files_of(spec.data, name=f"{INPUTS_FOLDER}/{_data_name(spec)}")
    if spec.test is not None:
        format_of(spec.test)
        files += _files_of(spec.test, name=f"{INPUTS_FOLDER}/{_test_name(spec.test, spec)}")
    return tuple(files)


def inputs_variable(spec: DataSpec) -> dict[str, Any]:
    """What the run is told about its data, in its variable `inputs`; what was not said is not there."""
    data = f"{INPUTS_FOLDER}/{_data_name(spec)}"
    said: dict[str, Any] = {"data": data, "format": format_of(spec.data), "lang": spec.lang}
    if spec.test is not None:
        said["test"] = f"{INPUTS_FOLDER}/{_test_name(spec.test, spec)}"
    if spec.targets:
        said |= target_inputs(spec.targets)
    for name in ("goal", "time", "group", "kind", "sheet", "table"):
        if value := getattr(spec, name):
            said[name] = value
    if spec.task:
        said[TASK_INPUT] = spec.task
    if spec.keep:
        said["keep"] = list(spec.keep)
    return said


def target_inputs(targets: tuple[str, ...]) -> dict[str, Any]:
    """The inputs that name the target: the first one, and all of them."""
    return {"target": targets[0], "targets": list(targets)}


def answer_inputs(answers: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The inputs that a person's answers make; several targets are all of them targets."""
    said = list(answers)
    targets = tuple(value for name, value in said if name == "target")
    return dict(said) | (target_inputs(targets) if targets else {})


def default_goal(spec: DataSpec) -> str:
    """A goal in the run's language, for somebody who has named none."""
    with_target, without = _GOALS[spec.lang]
    target = _BETWEEN[spec.lang].join(spec.targets)
    return (with_target if target else without).format(target=target, data=_data_name(spec))


def _files_of(path: Path, *, name: str) -> list[Input]:
    if not path.is_dir():
        return [Input(source=path, name=name)]
    return [Input(source=file, name=f"{name}/{file.relative_to(path).as_posix()}") for file in parquet_files(path)]


def _data_name(spec: DataSpec) -> str:
    # `.` and `..` have names as well.
    return os.path.basename(os.path.abspath(spec.data))


def _test_name(test: Path, spec: DataSpec) -> str:
    return _free_name(test.name, taken=_data_name(spec))


def default_name(spec: DataSpec) -> str:
    """What a run is called that nobody has named: as its data file, after the folder if many files have that name."""
    stem = spec.data.name.partition(".")[0]
    folder = spec.data.absolute().parent.name
    return f"{folder}-{stem}" if stem.casefold() in _COMMON_NAMES and folder else stem


def _free_name(name: str, *, taken: str) -> str:
    # Some file systems know no difference between upper and lower case.
    if name.casefold() != taken.casefold():
        return name
    stem, dot, suffixes = name.partition(".")
    return f"{stem}-test{dot}{suffixes}"
