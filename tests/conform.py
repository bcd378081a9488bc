"""The conformance kit against every planner of ours and the literal one of document 002: `make conform`.

Each of ours is `nbcc serve` in a process of its own, with a token. The playbook and the model judge by evidence: the
kit walks with a kernel. The model is a scripted endpoint on this machine: it writes cells that do not bring what was
promised, so that it is asked again and the playbook writes in the end. Exit code 1: a row fails, or a row that some
planner has to hold was skipped by all.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from llm.fake_chat import written
from llm.fake_model import FakeModel, Reply, events, in_a_thread
from notebook_bcc.conformance.caller import KitLimits
from notebook_bcc.conformance.check import Report
from notebook_bcc.conformance.evidence import Evidence, bundled_table
from notebook_bcc.conformance.kit import CHECKS, run_kit
from notebook_bcc.protocol.specs import LocalKernelSpec
from notebook_bcc.wiring import make_kernel
from seeds.literal_planner import literal_planner

NBCC = (sys.executable, "-c", "from notebook_bcc.cli.main import main; main()")
TOKEN = "a-token-of-good-length"
PATIENCE = 120.0
# A kernel, and a machine that does other things: what is bounded is a planner that never ends.
LIMITS = KitLimits(seconds=1800.0, answer_seconds=120.0, requests=2000, turns=2000)
READY = re.compile(rb"^(http://127\.0\.0\.1:\d{1,5}) answers ", re.MULTILINE)
SCRIPT = """\
name: Counting
goal: Count the numbers of a small table.
stages:
  - id: work
    goal: The numbers are counted.
    steps:
      - id: make
        goal: There is a table.
        expected_outputs: [table]
        behaviors:
          - goal: Make it.
            expected: [table]
            actions:
              - text: "## Numbers"
              - code: table = list(range(10))
      - id: look
        goal: Its length is known.
        behaviors:
          - goal: Count.
            context_filter: {variables_to_include: [table], variables_to_summarize: {table: shape_only}}
            actions:
              - code: print(len(table))
          - goal: Say it.
            actions:
              - text: Counted.
"""
# A planner that decides where its client goes: it leaves a step out, and ends another one early.
NAVIGATING = """\
name: Leaving out
goal: Two steps of three.
stages:
  - id: work
    goal: A number is known.
    steps:
      - id: make
        goal: There is a number.
        expected_outputs: [number]
        behaviors:
          - goal: Make it.
            expected: [number]
            actions:
              - code: number = 7
          - goal: Look whether more is needed.
            actions:
              - code: print(number)
            verdict: {targetAchieved: true, transition: {strategy: server_controlled, next_step_id: say}}
      - id: double
        goal: It is doubled, where that is needed.
        behaviors:
          - actions:
              - code: number *= 2
      - id: say
        goal: It is told.
        behaviors:
          - actions:
              - text: A number.
              - action: {action: next_event, event_type: COMPLETE_ACTION}
              - action: {action: end_phase, step_id: say}
"""
WRITTEN = written("looked = 1\nprint(looked)", text="A look at it.")


@dataclass(frozen=True)
class Judged:
    """One planner and what the kit found; without a report it could not be asked."""

    planner: str
    report: Report | None
    why: str = ""


@contextlib.asynccontextmanager
async def evidence(folder: Path) -> AsyncIterator[Evidence]:
    """A kernel in this folder, with the bundled table."""
    kernel = make_kernel(LocalKernelSpec(), cwd=folder, output_bytes=0)
    try:
        yield Evidence(kernel=kernel, variables=bundled_table(folder))
    finally:
        await kernel.close()


@contextlib.asynccontextmanager
async def served(*arguments: str, folder: Path) -> AsyncIterator[str]:
    """The address of `nbcc serve` with these arguments."""
    process = await asyncio.create_subprocess_exec(
        *(*NBCC, "serve", *arguments, "--port", "0"),
        cwd=folder,
        env={**os.environ, "DSLC_TOKEN": TOKEN, "NBCC_LLM_KEY": "sk-test-key-0123456789"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    assert process.stdout is not None
    said = b""
    try:
        async with asyncio.timeout(PATIENCE):
            while (found := READY.search(said)) is None:
                line = await process.stdout.readline()
                if not line:
                    raise RuntimeError(f"nbcc serve {' '.join(arguments)} did not start: {said.decode()}")
                said += line
        yield found[1].decode()
    finally:
        process.terminate()
        await process.communicate()


async def ours(planner: str, *arguments: str, folder: Path, with_kernel: bool) -> Judged:
    async with served(*arguments, folder=folder) as url:
        if not with_kernel:
            return Judged(planner, await run_kit(url, token=TOKEN, limits=LIMITS))
        work = folder / planner
        work.mkdir()
        async with evidence(work) as found:
            return Judged(planner, await run_kit(url, token=TOKEN, limits=LIMITS, evidence=found))


async def literal() -> Judged:
    try:
        with literal_planner() as planner:
            return Judged("literal 002", await run_kit(planner.url, limits=LIMITS))
    except pytest.skip.Exception as missing:
        return Judged("literal 002", None, str(missing))


async def judged(folder: Path) -> AsyncGenerator[Judged, None]:
    (folder / "counting.yaml").write_text(SCRIPT, encoding="utf-8")
    yield await ours("script", "counting.yaml", folder=folder, with_kernel=False)
    (folder / "leaving-out.yaml").write_text(NAVIGATING, encoding="utf-8")
    yield await ours("navigating", "leaving-out.yaml", folder=folder, with_kernel=False)
    yield await ours("playbook", "--playbook", "dslc", folder=folder, with_kernel=True)
    with in_a_thread(FakeModel(Reply([events("openai", [WRITTEN])]))) as model:
        chosen = ("--planner", "llm", "--playbook", "minimal", "--model", f"{model.address}/v1#m")
        yield await ours("model", *chosen, "--planning-model", "none", folder=folder, with_kernel=True)
        if not model.heard:
            raise RuntimeError("the model was never asked")
    yield await literal()


def lines_of(one: Judged) -> Iterator[str]:
    if one.report is None:
        yield f"SKIPPED {one.planner}: {one.why}"
        return
    report = one.report
    failing = [row for row in report.rows if row.result == "fails"]
    skipped = [row.id for row in report.rows if row.result == "skipped"]
    word = "FAILS  " if failing else "ok     "
    counted = f"{report.count('holds')} of {len(report.rows)} rows hold, {report.requests} requests"
    yield f"{word} {one.planner:<12} {counted}, {report.seconds:.1f} s" + (
        f"; nothing to see for {', '.join(skipped)}" if skipped else ""
    )
    for row in failing:
        yield f"        {row.id} ({row.severity}): {row.reason}"


async def run() -> int:
    bad, held = False, set[str]()
    with tempfile.TemporaryDirectory(prefix="nbcc-conform-", ignore_cleanup_errors=True) as folder:
        async with contextlib.aclosing(judged(Path(folder))) as found:
            async for one in found:
                print("\n".join(lines_of(one)), flush=True)
                if one.report is not None:
                    bad = bad or bool(one.report.count("fails"))
                    held |= {row.id for row in one.report.rows if row.result == "holds"}
    unseen = {check.id for check in CHECKS} - held
    if unseen:
        print(f"no planner was seen to hold: {', '.join(sorted(unseen))}")
    return 1 if bad or unseen else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(run()))
