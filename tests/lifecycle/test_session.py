"""What is delivered at the end of a run, whatever becomes of the verification."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from lifecycle.places import Place, drain
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.notebook.reading import read_notebook

pytestmark = pytest.mark.anyio

CHANGING = """
stages:
  - id: only
    steps:
      - id: first
        behaviors: [{actions: [{code: "import os; print(os.urandom(8).hex())"}]}]
"""


class Stuck(ScriptedKernel):
    """Starts and then waits for ever; says when."""

    def __init__(self, waiting: asyncio.Event) -> None:
        super().__init__()
        self._waiting = waiting

    async def start(self) -> None:
        await super().start()
        self._waiting.set()
        await asyncio.Event().wait()


def grow(folder: Path) -> None:
    with (folder / "large.bin").open("wb") as file:
        # A hole: it takes no room on the disk.
        file.truncate(1_000_000_001)


async def test_a_run_whose_inputs_are_too_large_to_verify_is_delivered_and_says_why(place: Place) -> None:
    async with place.starting() as session:
        await drain(session)
        grow(session.folder.inputs)
        (session.folder.work / "made.csv").write_text("a")
        delivery = await session.deliver(verify=True)
    assert delivery.verification is None
    assert "1,000,000,001 bytes" in delivery.unverified
    assert f"nbcc verify {place.last.notebook} --inputs FOLDER" in delivery.unverified
    assert [one.name for one in delivery.files] == ["made.csv"]
    assert delivery.report is not None
    assert delivery.report.exists()


async def test_a_run_whose_verification_has_no_kernel_is_delivered_and_says_why(place: Place) -> None:
    async with place.starting() as session:
        await drain(session)
        place.kernel = lambda: ScriptedKernel(start_failure="no such kernel")
        delivery = await session.deliver(verify=True)
    assert "no such kernel" in delivery.unverified
    assert delivery.report is not None


async def test_a_verification_that_is_skipped_is_left_and_the_rest_is_delivered(place: Place) -> None:
    waiting = asyncio.Event()
    async with place.starting() as session:
        await drain(session)
        place.kernel = lambda: Stuck(waiting)
        async with asyncio.timeout(30):
            task = asyncio.create_task(session.deliver(verify=True))
            await waiting.wait()
            session.skip_verification()
            session.skip_verification()
            delivery = await task
    assert (delivery.verification, delivery.unverified, delivery.skipped) == (None, "", True)
    assert delivery.report is not None
    assert not place.kernels[-1].is_alive


async def test_skipping_before_the_verification_began_skips_it(place: Place) -> None:
    async with place.starting() as session:
        await drain(session)
        session.skip_verification()
        delivery = await session.deliver(verify=True)
    assert (delivery.verification, delivery.skipped) == (None, True)
    assert len(place.kernels) == 1


async def test_a_verification_that_has_failed_is_not_forgotten_when_it_is_skipped_too_late(place: Place) -> None:
    place.script = CHANGING
    async with place.starting() as session:
        await drain(session)
        async with asyncio.timeout(30):
            task = asyncio.create_task(session.deliver(verify=True))
            while not read_notebook(session.folder.notebook).run.get("verified"):  # noqa: ASYNC110
                await asyncio.sleep(0)  # the file is what tells
            session.skip_verification()
            delivery = await task
    assert delivery.verification is not None
    assert not delivery.verification.ok
    assert not delivery.skipped
