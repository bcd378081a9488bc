"""The prompt templates as files: those of the package, and those of a user's folder in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.llm.prompt.parts import PromptTemplate, read_template
from notebook_bcc.planners.model_exchange import Task
from notebook_bcc.protocol.vocabulary import Language

TASKS: Final[tuple[Task, ...]] = ("generate", "judge", "repair")
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")
SLOTS: Final = (
    "goal", "stage", "step", "behavior", "focus", "expected", "variables", "effects", "problems", "suggestion", "facts",
    "figures", "files", "steps", "form", "code", "error",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PromptFiles:
    """Every template, by task and language."""

    templates: Mapping[tuple[Task, Language], PromptTemplate]

    def of(self, task: Task, language: Language) -> PromptTemplate:
        return self.templates[task, language]


def read_prompts(folder: Path | None = None) -> PromptFiles:
    """All templates; `generate.en.md` in the user's folder replaces ours of that name. Raises SettingsInvalid."""
    ours = resources.files("notebook_bcc.llm") / "prompts"
    names = {f"{task}.{language}.md": (task, language) for task in TASKS for language in LANGUAGES}
    if folder is not None:
        _check_folder(folder, names)
    found: dict[tuple[Task, Language], PromptTemplate] = {}
    for name, key in names.items():
        theirs = folder / name if folder is not None else None
        place: Traversable = theirs if theirs is not None and theirs.is_file() else ours / name
        found[key] = read_template(_read(place), source=str(place), known=SLOTS)
    return PromptFiles(templates=found)


def _check_folder(folder: Path, names: Mapping[str, object]) -> None:
    """A file that nothing reads is a misspelt one."""
    if not folder.is_dir():
        raise SettingsInvalid(f"the folder of prompts {folder} does not exist")
    strange = sorted(path.name for path in folder.glob("*.md") if path.name not in names)
    if strange:
        raise SettingsInvalid(f"prompts {', '.join(strange)} in {folder} are not used; names are {', '.join(names)}")


def _read(place: Traversable) -> str:
    try:
        return place.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"prompt {place} cannot be read: {error}") from error
