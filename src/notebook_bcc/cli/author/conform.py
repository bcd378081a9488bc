"""`nbcc planner conform`: does a DSLC server keep the protocol? A table of what holds and what does not."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import typer

from notebook_bcc.cli.codes import Exit
from notebook_bcc.cli.options.run import JsonOption, TokenFileOption
from notebook_bcc.conformance.caller import KitLimits
from notebook_bcc.conformance.check import Report, ReportRow
from notebook_bcc.conformance.evidence import Evidence, bundled_table
from notebook_bcc.conformance.exchange import shortened
from notebook_bcc.conformance.kit import CHECKS, DEFAULT_GOAL, run_kit
from notebook_bcc.errors import PlannerUnreachable, SettingsInvalid
from notebook_bcc.protocol.specs import LocalKernelSpec
from notebook_bcc.settings import read_token
from notebook_bcc.views.narration import one_line, safe
from notebook_bcc.wiring import make_kernel

_SIGNS = {"holds": "ok", "fails": "FAILS", "skipped": "-"}


async def conform_command(
    url: Annotated[str, typer.Argument(help="The server's address, such as http://127.0.0.1:28600.", metavar="URL")],
    token: Annotated[
        str | None,
        typer.Option(
            "--token", help="Sent as a bearer token, and shown nowhere; others may see it in `ps`.", metavar="TOKEN"
        ),
    ] = None,
    token_file: TokenFileOption = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only this check; may be given again.", metavar="ID")
    ] = None,
    goal: Annotated[str, typer.Option("--goal", help="What the kit's workflow is to reach.")] = DEFAULT_GOAL,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long the kit may take in all.")] = 300.0,
    answer_seconds: Annotated[
        float, typer.Option("--answer-seconds", min=0.1, help="How long one answer may take.")
    ] = 30.0,
    kernel: Annotated[
        bool,
        typer.Option(
            "--kernel", help="Execute what the server wants, in a kernel of this machine, on a small bundled table."
        ),
    ] = False,
    as_json: JsonOption = False,
) -> int:
    """Play the client against a DSLC server and say what of the protocol it keeps.

    The server is asked some 70 questions, more where its workflow is longer. Nothing is executed: the kit has no
    kernel and plays every action as if it had succeeded. A planner that judges by what its code found needs --kernel:
    then the code of the server runs here, with your rights. Ends with 0 when all that is required holds, with 1 when
    something does not, with 2 when nothing answers.
    """
    if token is not None and token_file is not None:
        raise SettingsInvalid("give --token or --token-file, not both")
    if token_file is not None:
        token = read_token(token_file)
    limits = KitLimits(seconds=seconds, answer_seconds=answer_seconds)
    on_row = _print_json if as_json else _print_row
    try:
        async with _evidence() if kernel else contextlib.nullcontext() as evidence:
            report = await run_kit(
                url, token=token, only=only or (), goal=goal, limits=limits, evidence=evidence, on_row=on_row
            )
    except PlannerUnreachable as error:
        print(f"nbcc: {safe(str(error))}", file=sys.stderr)
        return Exit.USAGE
    print(_summary_json(report) if as_json else f"\n{_summary(report)}")
    return Exit.COMPLETED if report.conforms else Exit.FAILED


@contextlib.asynccontextmanager
async def _evidence() -> AsyncIterator[Evidence]:
    """A kernel in a folder that is removed afterwards, with the bundled table in it."""
    with tempfile.TemporaryDirectory(prefix="nbcc-conform-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        kernel = make_kernel(LocalKernelSpec(), cwd=folder, output_bytes=0)
        try:
            yield Evidence(kernel=kernel, variables=bundled_table(folder))
        finally:
            await kernel.close()


def _print_row(row: ReportRow) -> None:
    said = f"{row.title}: {one_line(row.reason)}" if row.reason else row.title
    print(
        f"{_SIGNS[row.result]:<6} {row.severity:<12} {row.id:<{_IDS}}  {row.section:<{_SECTIONS}}  {said}", flush=True
    )
    if row.result == "fails":
        for name, text in (("sent", row.sent), ("got", row.got)):
            if text:
                print(f"{'':<6} {name:<5} {one_line(shortened(text), limit=700)}", flush=True)


def _print_json(row: ReportRow) -> None:
    print(json.dumps({"kind": "check", **dataclasses.asdict(row)}, ensure_ascii=False), flush=True)


def _summary(report: Report) -> str:
    failed, advised = report.count("fails", "required"), report.count("fails", "recommended")
    verdict = "conforms" if report.conforms else "does not conform"
    counts = f"{report.count('holds')} hold, {failed} required and {advised} recommended fail"
    return (
        f"{report.server} {verdict}: {counts}, {report.count('skipped')} skipped "
        f"({report.requests} requests, {report.seconds:.1f} s)"
    )


def _summary_json(report: Report) -> str:
    counts = {
        "holds": report.count("holds"),
        "fails": report.count("fails", "required"),
        "advised": report.count("fails", "recommended"),
        "skipped": report.count("skipped"),
    }
    summary = {"server": report.server, "conforms": report.conforms, **counts}
    return json.dumps({"kind": "report", **summary, "requests": report.requests, "seconds": report.seconds})


_IDS = max(len(check.id) for check in CHECKS)
_SECTIONS = max(len(check.section) for check in CHECKS)
