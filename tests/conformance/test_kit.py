from __future__ import annotations

import json
import logging
import re
from pathlib import Path

import httpx2
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from conformance.broken_servers import (
    BROKEN,
    Broken,
    Buffered,
    NeedsEvidence,
    NeverEnds,
    OldDialect,
    OldDialectByGetOnly,
    Sound,
    StrictFields,
)
from conformance.hosting import hosted
from engine.play import run_code, scripted, workflow
from notebook_bcc.conformance.caller import KitLimits
from notebook_bcc.conformance.check import Report, ReportRow
from notebook_bcc.conformance.kit import CHECKS, run_kit
from notebook_bcc.errors import PlannerUnreachable, SettingsInvalid
from notebook_bcc.planners.script.planner import ScriptedPlanner
from notebook_bcc.planners.script.values import Behavior
from notebook_bcc.protocol.messages import ContextFilter
from server.living import service

pytestmark = pytest.mark.anyio

DOCS = Path(__file__).parents[2] / "docs"
TOKEN = "a-token-of-good-length"
# What a server may leave to its client.
OPTIONAL = {"navigation", "end-phase", "next-event"}
LEFT_OUT = OPTIONAL | {"context-filter", "token-wanted"}
V1 = {"v1-actions-post", "v1-actions-get", "v1-reflection", "v1-whole"}
QUICK = KitLimits(behaviors_per_step=5)


def failed(report: Report) -> set[str]:
    return {row.id for row in report.rows if row.result == "fails"}


def row_of(report: Report, check: str) -> ReportRow:
    return next(row for row in report.rows if row.id == check)


def two_steps() -> ScriptedPlanner:
    """A planner with everything the kit can meet: outputs, filters, errors to recover from, several behaviors."""
    seen = ContextFilter(variables_to_include=("table",), variables_to_summarize={"table": "shape_only"})
    plan = workflow({"id": "load", "expected_outputs": ["table"]}, "look")
    first = Behavior(actions=run_code("table = [1, 2, 3]"), expected=("table",), goal="a table")
    return scripted(
        plan,
        {
            "load": [first],
            "look": [Behavior(actions=run_code("len(table)"), context_filter=seen), Behavior(actions=[])],
        },
    )


async def test_our_own_server_keeps_everything() -> None:
    async with service(two_steps(), token=TOKEN) as client:
        report = await run_kit(str(client.base_url), token=TOKEN)
    assert [row for row in report.rows if row.result == "fails"] == []
    assert {row.id for row in report.rows if row.result == "skipped"} == OPTIONAL
    assert report.conforms
    assert "remembered" in row_of(report, "repeated-planning").reason


async def test_a_small_sound_server_keeps_everything_it_has() -> None:
    async with hosted(Sound().app) as url:
        report = await run_kit(url)
    assert failed(report) == set()
    assert {row.id for row in report.rows if row.result == "skipped"} == LEFT_OUT | V1


@pytest.mark.parametrize("make", [NeedsEvidence, OldDialect, OldDialectByGetOnly])
async def test_a_server_that_asks_for_evidence_or_speaks_the_first_dialect_keeps_everything(
    make: type[Sound],
) -> None:
    async with hosted(make().app) as url:
        report = await run_kit(url)
    assert failed(report) == set()
    spoken = {NeedsEvidence: V1, OldDialect: set(), OldDialectByGetOnly: {"v1-actions-post"}}[make]
    assert {row.id for row in report.rows if row.result == "skipped"} == LEFT_OUT | spoken


async def test_a_body_of_a_get_that_nobody_reads_does_not_spoil_the_next_question() -> None:
    closes: list[bool] = []

    class Unread(OldDialect):
        async def old(self, http: Request) -> Response:
            if http.method == "GET":
                closes.append(http.headers.get("connection") == "close")
            return await super().old(http)

    async with hosted(Unread().app) as url:
        await run_kit(url, only=["v1-actions-get"])
    assert closes == [True]


async def test_a_row_holds_the_whole_exchange() -> None:
    async with hosted(StrictFields().app) as url:
        row = row_of(await run_kit(url, only=["unknown-fields"]), "unknown-fields")
    method, path, sent = row.sent.split(" ", 2)
    assert (method, path) == ("POST", "/planning")
    assert "conform_unknown" in json.loads(sent)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.make.__name__)
async def test_a_broken_server_fails_in_its_rows_and_in_no_others(
    broken: Broken, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    async with hosted(broken.make().app) as url:
        report = await run_kit(url, limits=QUICK)
    assert failed(report) == broken.rows
    assert report.conforms is broken.conforms
    shown = [row for row in report.rows if row.result == "fails"]
    assert all(row.reason and row.sent and row.got for row in shown)


def test_every_check_is_failed_by_some_server() -> None:
    # The token has a test of its own: the kit must be given one.
    assert {check.id for check in CHECKS} - {row for broken in BROKEN for row in broken.rows} == {"token-wanted"}


async def test_a_server_that_never_ends_a_step_is_asked_within_bounds() -> None:
    async with hosted(NeverEnds().app) as url:
        report = await run_kit(url, limits=KitLimits(behaviors_per_step=3))
        assert "did not end within 3 behaviors" in row_of(report, "workflow-ends").reason
        report = await run_kit(url, limits=KitLimits(turns=7))
        assert "not at the end after 7 moves" in row_of(report, "workflow-ends").reason
        report = await run_kit(url, limits=KitLimits(requests=6))
        assert report.requests == 6
        assert "bound of 6 requests" in row_of(report, "workflow-ends").reason


async def test_a_server_that_does_not_answer_in_time_is_said_to_be_slow() -> None:
    async def answer(request: httpx2.Request) -> httpx2.Response:
        if request.url.path == "/health":
            return httpx2.Response(200, json={})
        raise httpx2.ReadTimeout("silence")

    report = await run_kit("http://planner.example", transport=httpx2.MockTransport(answer))
    assert "nothing came within" in row_of(report, "start").reason
    assert not report.conforms


async def test_an_endless_answer_is_cut_off() -> None:
    async with hosted(Buffered().app) as url:
        report = await run_kit(url, limits=KitLimits(answer_bytes=100), only=["start"])
    assert "longer than 100 bytes" in row_of(report, "start").reason


class Echo(Sound):
    """Says what it was told, at the wrong moment."""

    async def planning(self, http: Request) -> Response:
        told = f"you said {http.headers.get('authorization')}"
        return PlainTextResponse(told, 500, headers={"location": told})


async def test_the_token_is_sent_and_shown_nowhere() -> None:
    async with hosted(Echo().app) as url:
        report = await run_kit(url, token=TOKEN)
    assert TOKEN not in repr(report)
    assert "you said Bearer ***" in row_of(report, "start").got


async def test_a_server_that_ignores_the_token_is_found_out() -> None:
    async with hosted(Sound().app) as url:
        report = await run_kit(url, token=TOKEN)
    assert failed(report) == {"token-wanted"}
    assert report.conforms


async def test_the_password_of_an_address_is_shown_nowhere() -> None:
    async with hosted(StrictFields().app) as url:
        report = await run_kit(url.replace("//", "//someone:opensesame@"))
    assert "opensesame" not in repr(report)
    assert report.server == url


async def test_only_the_checks_that_were_named_are_made() -> None:
    heard: list[ReportRow] = []
    async with hosted(StrictFields().app) as url:
        report = await run_kit(url, only=["no-server-error", "start"], on_row=heard.append)
        again = await run_kit(url, only=["unknown-fields"])
    assert [row.id for row in report.rows] == ["start", "no-server-error"]
    assert report.rows == tuple(heard)
    assert report.conforms
    assert failed(again) == {"unknown-fields"}
    assert "conform_unknown" in again.rows[0].sent
    assert "HTTP 500" in again.rows[0].got


async def test_what_makes_no_sense_is_refused_before_anything_is_sent() -> None:
    for url, only, token in [
        ("ftp://x", [], None),
        ("nonsense", [], None),
        ("http://x", ["flying"], None),
        ("http://x", [], "two words"),
    ]:
        with pytest.raises(SettingsInvalid):
            await run_kit(url, only=only, token=token)


async def test_nothing_that_listens_is_unreachable() -> None:
    with pytest.raises(PlannerUnreachable, match="refused"):
        await run_kit("http://127.0.0.1:9")


def test_every_check_names_a_section_that_exists() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    for check in CHECKS:
        page, _, anchor = check.section.partition("#")
        headings = re.findall(r"^#+ (.*)$", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
        anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
        assert anchor in anchors, check.section


def test_the_page_lists_every_check_and_counts_the_broken_servers() -> None:
    page = (DOCS / "conformance.md").read_text(encoding="utf-8")
    for check in CHECKS:
        assert f"| `{check.id}` | {check.title} | {check.severity} |" in page
    assert f"{len(BROKEN)} servers with one fault" in page
