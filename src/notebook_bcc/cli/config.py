"""`nbcc config`: the settings in force, and where each came from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from notebook_bcc.cli.options.run import (
    InteractiveOption,
    JsonOption,
    KernelUrlOption,
    LangOption,
    MaxActionsOption,
    RunsOption,
    TokenFileOption,
    settings_of,
)
from notebook_bcc.settings import SECRETS, Settings, mask_password, variables

_MASK = "***"


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    variable: str
    value: str | int | float | bool
    source: str


async def config_command(
    runs: RunsOption = None,
    lang: LangOption = None,
    max_actions: MaxActionsOption = None,
    interactive: InteractiveOption = None,
    kernel_url: KernelUrlOption = None,
    token_file: TokenFileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the settings in force and where each came from: a flag, the environment, `.env` here, or the default.

    Options count as they would for the other commands. Tokens, and what an address may hold of a secret, are masked.
    """
    settings = settings_of(
        runs=runs,
        lang=lang,
        max_actions=max_actions,
        interactive=interactive,
        kernel_url=kernel_url,
        token_file=token_file,
    )
    rows = list(_rows(settings))
    if as_json:
        for row in rows:
            facts = {"name": row.name, "variable": row.variable, "value": row.value, "source": row.source}
            print(json.dumps(facts, ensure_ascii=False))
        return
    shown = [(row.variable, _text(row.value), row.source) for row in rows]
    width, length = max(len(row[0]) for row in shown), max(len(row[1]) for row in shown)
    for variable, value, source in shown:
        print(f"{variable:<{width}}  {value:<{length}}  {source}")


def _rows(settings: Settings) -> Iterator[_Row]:
    for name, variable in variables().items():
        value = getattr(settings, name)
        if name in SECRETS:
            value = _MASK if value else ""
        elif isinstance(value, Path):
            value = str(value)
        elif isinstance(value, str):
            value = mask_password(value)
        yield _Row(name, variable, value, settings.source_of(name))


def _text(value: str | float | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)
