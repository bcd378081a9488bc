"""The short form of `make conform`: what we serve holds every row of the kit, and its payloads are small."""

from __future__ import annotations

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Set
from pathlib import Path

import httpx2
import pytest

from conform import LIMITS, NAVIGATING, WRITTEN, evidence
from llm.fake_chat import FakeChat
from llm.test_planner import PRICES
from notebook_bcc.conformance.check import Report
from notebook_bcc.conformance.kit import run_kit
from notebook_bcc.llm.client import Account, Asker
from notebook_bcc.llm.planner import LlmPlanner
from notebook_bcc.llm.prompt.files import read_prompts
from notebook_bcc.llm.service import ModelService
from notebook_bcc.planners.interface import Planner
from notebook_bcc.planners.script.file import parse_script
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.playbook.check import load_playbook
from notebook_bcc.playbook.folder import open_playbook
from notebook_bcc.playbook.planner import PlaybookPlanner
from notebook_bcc.protocol.limits import Budget
from notebook_bcc.protocol.messages import Request
from notebook_bcc.protocol.observation import LevelProgress
from server.living import service

pytestmark = pytest.mark.anyio

TOKEN = "a-token-of-good-length"
# What these planners leave to their client.
OPTIONAL = {"navigation", "end-phase", "next-event"}
COUNTED = re.compile(rb'"request_id": ?"conform-[0-9a-f]{8}\.[0-9]+"')
PLANNING, GENERATING = 16 * 1024, 5 * 1024


class Recorded(httpx2.AsyncHTTPTransport):
    """The way to a server; keeps every question of the workflow that the kit drives, by path."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[str, list[bytes]] = defaultdict(list)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = await request.aread()
        # The ids of the course are counted; those of the checks say that they are.
        if COUNTED.search(body):
            self.asked[request.url.path].append(body)
        return await super().handle_async_request(request)


async def report_of(planner: Planner, folder: Path, recorded: Recorded | None = None) -> Report:
    """What the kit finds with a kernel in this folder."""
    async with service(planner, token=TOKEN) as client, evidence(folder) as found:
        url = str(client.base_url)
        return await run_kit(url, token=TOKEN, limits=LIMITS, evidence=found, transport=recorded)


def assert_holds(report: Report, *, skipped: Set[str] = frozenset(OPTIONAL)) -> None:
    assert [(row.id, row.reason) for row in report.rows if row.result == "fails"] == []
    assert {row.id for row in report.rows if row.result == "skipped"} == skipped


async def test_the_playbook_holds_every_row_and_its_payloads_are_small_and_rich(tmp_path: Path) -> None:
    recorded = Recorded()
    planner = PlaybookPlanner(load_playbook(open_playbook("dslc")))
    assert_holds(await report_of(planner, tmp_path, recorded))
    assert len(recorded.asked["/planning"]) > 40
    assert statistics.mean(map(len, recorded.asked["/planning"])) <= PLANNING
    assert statistics.mean(map(len, recorded.asked["/generating"])) <= GENERATING
    assert_planning_is_rich([Request.parse(json.loads(body)) for body in recorded.asked["/planning"]])
    assert_generating_is_rich([Request.parse(json.loads(body)) for body in recorded.asked["/generating"]])


def assert_planning_is_rich(asked: list[Request]) -> None:
    """As in document 000: artifacts with their parents, findings, tasks that come and go."""
    done = {
        item.stage_id: item.outputs_produced
        for each in asked
        for item in (each.observation.location.progress.stages or LevelProgress()).completed
        if item.condensed is None
    }
    artifacts = {one.artifact_id: one.parent for outputs in done.values() for one in outputs.artifacts}
    assert artifacts["df_raw@structure"] is None
    assert artifacts["df_clean@integrity"] == "df_raw@structure"
    assert artifacts["look@exploration"] == "train@integrity"
    assert all(outputs.key_findings for stage, outputs in done.items() if stage != "report")
    assert done["integrity"].validation
    assert done["integrity"].findings
    todo = [each.observation.context.todo_list for each in asked]
    assert todo[0] == ()
    assert {("Clean the values and set rows aside", "Explore the training rows", "Write the report")} <= set(todo)
    assert ("Write the report",) in todo


def assert_generating_is_rich(asked: list[Request]) -> None:
    """Once the table is known, every request has a focus and a goal about its columns and numbers."""
    known = [each for each in asked if each.observation.location.current.stage_id not in (None, "structure")]
    assert known
    for each in known:
        location = each.observation.location
        steps, behaviors = location.progress.steps, location.progress.behaviors
        assert steps is not None
        assert behaviors is not None
        for text in (steps.focus, location.goals.behavior or ""):
            assert "`" in text, location
            assert re.search(r"[0-9]", text), location
    assert any(each.observation.location.progress.behaviors.focus for each in known)  # type: ignore[union-attr]
    shown = [each.observation.context.variables for each in known]
    assert any(str(each.get("train", "")).startswith("DataFrame(") for each in shown)


async def test_a_script_that_navigates_holds_every_row() -> None:
    planner = ScriptedPlanner.from_script(parse_script(NAVIGATING))
    async with service(planner, token=TOKEN) as client:
        assert_holds(await run_kit(str(client.base_url), token=TOKEN, limits=LIMITS), skipped=set())


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
