"""The short form of `make conform`: what we serve holds every row of the kit, and its payloads are small."""

from __future__ import annotations

import re
import statistics
from collections import defaultdict
from pathlib import Path

import httpx2
import pytest

from conform import LIMITS, NOBODY, WRITTEN, evidence
from llm.fake_chat import FakeChat
from llm.test_planner import PRICES
from notebook_bcc.conformance.check import Report
from notebook_bcc.conformance.kit import run_kit
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.service import ModelService
from notebook_bcc.planners.interface import Planner
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.limits import Budget
from server.living import service

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-good-length"
COUNTED = re.compile(rb'"request_id": ?"conform-[0-9a-f]{8}\.[0-9]+"')
PLANNING, GENERATING = 16 * 1024, 5 * 1024


class Recorded(httpx2.AsyncHTTPTransport):
    """The way to a server; keeps the size of every question of the workflow that the kit drives, by path."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: dict[str, list[int]] = defaultdict(list)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        # The ids of the course are counted; those of the checks say that they are.
        if COUNTED.search(body):
            self.sizes[request.url.path].append(len(body))
        return await super().handle_async_request(request)


async def report_of(planner: Planner, folder: Path, recorded: Recorded | None = None) -> Report:
    """What the kit finds with a kernel in this folder."""
    async with service(planner, token=TOKEN) as client, evidence(folder) as found:
        url = str(client.base_url)
        return await run_kit(url, token=TOKEN, limits=LIMITS, evidence=found, transport=recorded)


def assert_holds(report: Report) -> None:
    assert [(row.id, row.reason) for row in report.rows if row.result == "fails"] == []
    assert {row.id for row in report.rows if row.result == "skipped"} == NOBODY


async def test_the_playbook_holds_every_row_and_keeps_its_payloads_small(tmp_path: Path) -> None:
    recorded = Recorded()
    planner = PlaybookPlanner(load_playbook(open_playbook("dslc")))
    assert_holds(await report_of(planner, tmp_path, recorded))
    assert len(recorded.sizes["/planning"]) > 40
    assert statistics.mean(recorded.sizes["/planning"]) <= PLANNING
    assert statistics.mean(recorded.sizes["/generating"]) <= GENERATING


async def test_a_model_holds_every_row(tmp_path: Path) -> None:
    model = FakeChat([WRITTEN])

    def made() -> LlmPlanner:
        account = Account(budget=Budget(), prices=PRICES, secrets=[])
        base = PlaybookPlanner(load_playbook(open_playbook("minimal")), has_model=True)
        return LlmPlanner(
            base=base, generating=Asker(model, account, timeout=30.0), planning=None, prompts=read_prompts()
        )

    assert_holds(await report_of(ModelService(made, budget=Budget(), fallback="playbook"), tmp_path))
    assert model.asked
