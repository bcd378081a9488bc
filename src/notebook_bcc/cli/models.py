"""`nbcc models check`: does a language model answer, and what does it know?"""

from __future__ import annotations

import dataclasses
import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.options.run import JsonOption
from notebook_bcc.llm.checking import CheckResult, check_model
from notebook_bcc.llm.providers.names import access, parse_model
from notebook_bcc.llm.providers.prices import read_prices
from notebook_bcc.llm.providers.registry import open_model
from notebook_bcc.settings import read_model_keys
from notebook_bcc.views.narration import safe

_SIGNS = {True: "works", False: "FAILS", None: "info"}


class ModelsSubcommand(StrEnum):
    """What can be done with a model."""

    CHECK = "check"


async def models_command(
    subcommand: Annotated[ModelsSubcommand, typer.Argument(help="check.", metavar="check")],
    model: Annotated[
        str, typer.Argument(help="openai:NAME, anthropic:NAME, or URL#NAME of a compatible endpoint.", metavar="MODEL")
    ],
    seconds: Annotated[float, typer.Option("--seconds", min=0.1, help="How long one answer may take.")] = 120.0,
    prices: Annotated[Path | None, typer.Option("--prices", help="A price table of your own.", metavar="FILE")] = None,
    as_json: JsonOption = False,
) -> int:
    """Ask a model two short questions and say what works: reachable, streaming, schema, speed, price.

    The key is read from the environment: OPENAI_API_KEY, ANTHROPIC_API_KEY, and for a URL NBCC_LLM_KEY (not all need
    one). Ends with 0 when the model can be used, also without schemas, and with 1 when it does not answer.

    \b
      nbcc models check openai:gpt-4o-mini
      nbcc models check http://127.0.0.1:11434/v1#llama3.1
    """
    found = parse_model(model)
    table = read_prices(prices)
    opened = open_model(access(found, read_model_keys()))
    reached = False
    try:
        async for finding in check_model(opened, prices=table, timeout=seconds):
            reached = reached or (finding.what == "reachable" and bool(finding.works))
            print(_json(finding) if as_json else _row(finding), flush=True)
    finally:
        await opened.close()
    return Exit.COMPLETED if reached else Exit.FAILED


def _row(finding: CheckResult) -> str:
    return f"{_SIGNS[finding.works]:<6} {finding.what:<10} {safe(finding.said)}"


def _json(finding: CheckResult) -> str:
    return json.dumps(dataclasses.asdict(finding), ensure_ascii=False)
