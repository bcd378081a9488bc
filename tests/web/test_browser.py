"""The page in a real Chromium: runs are started, watched and steered, and nothing of a cell runs in it."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from conformance.hosting import hosted
from lifecycle.places import Place
from notebook_bcc.journal.records import Command
from notebook_bcc.kernel.interface import CellError, Execution
from notebook_bcc.kernel.scripted import ScriptedKernel
from notebook_bcc.lifecycle.history import load_state
from notebook_bcc.lifecycle.operations import cancel_run
from notebook_bcc.protocol.cells import Output
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.protocol.vocabulary import State
from notebook_bcc.web.export import static_page
from notebook_bcc.wiring import journals
from web.living import CHANGES, page_of

playwright = pytest.importorskip(
    "playwright.async_api", reason="NOT TESTED: playwright is not installed; it is in the extra `dev`"
)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(CHROMIUM is None, reason="NOT TESTED: there is no Chromium on the PATH; try `make browser`"),
]

BOOM = "window.top.executed=(window.top.executed||0)+1"
SVG = f"<svg xmlns='http://www.w3.org/2000/svg' onload=\"{BOOM}\"><script>{BOOM}</script></svg>"
# Every place of a run's page that can be opened.
TABS = ("findings", "variables", "outputs", "events", "exchange", "states", "files")
PAYLOADS = [
    f"<script>{BOOM}</script>",
    f"<script type=module>{BOOM}</script>",
    f"<ScRiPt >{BOOM}</sCrIpT>",
    f"<script\n>{BOOM}</script\n>",
    f'<img src=x onerror="{BOOM}">',
    f'<img src="data:image/png;base64,x" onerror="{BOOM}">',
    f"<img/src=x/onerror={BOOM}>",
    f'<svg onload="{BOOM}">',
    f"<svg><script>{BOOM}</script></svg>",
    f'<svg><animate onbegin="{BOOM}" attributeName=x dur=1s>',
    f"<svg><foreignObject><script>{BOOM}</script></foreignObject></svg>",
    f"<svg><a xlink:href='javascript:{BOOM}'><text y=9>x</text></a></svg>",
    f"<math><mtext><script>{BOOM}</script></mtext></math>",
    f'<math><maction actiontype="statusline" xlink:href="javascript:{BOOM}">x</maction></math>',
    f'<math href="javascript:{BOOM}">x</math>',
    f'<a id=click href="javascript:{BOOM}">x</a>',
    f'<a href=" &#106;avascript:{BOOM}">x</a>',
    f'<a href="data:text/html,<script>{BOOM}</script>">x</a>',
    f'<iframe srcdoc="<script>{BOOM}</script>"></iframe>',
    f'<iframe src="javascript:{BOOM}"></iframe>',
    f"<iframe src='data:text/html,<script>{BOOM}</script>'></iframe>",
    f'<object data="javascript:{BOOM}"></object>',
    f'<embed src="javascript:{BOOM}">',
    f'<form action="javascript:{BOOM}"><button>x</button></form>',
    f'<input autofocus onfocus="{BOOM}">',
    f'<details open ontoggle="{BOOM}">x</details>',
    f'<video><source onerror="{BOOM}"></video>',
    f'<audio src=x onerror="{BOOM}"></audio>',
    f'<body onload="{BOOM}">',
    f'<div style="background:url(javascript:{BOOM})">x</div>',
    f"<style>@import 'javascript:{BOOM}';</style>",
    f'<link rel=stylesheet href="javascript:{BOOM}">',
    f'<meta http-equiv=refresh content="0;url=javascript:{BOOM}">',
    f'<base href="javascript:{BOOM}//">',
    f'<noscript><p title="</noscript><img src=x onerror={BOOM}>"></noscript>',
    f"<template><script>{BOOM}</script></template>",
    f'<marquee onstart="{BOOM}">x</marquee>',
    f"</pre></div><script>{BOOM}</script>",
    f"--><script>{BOOM}</script><!--",
    f"]]><script>{BOOM}</script>",
    f"\x1b[31m<script>{BOOM}</script>\x1b[0m",
    f"\x1b]8;;javascript:{BOOM}\x07link\x1b]8;;\x07",
    f"[x](javascript:{BOOM}) ![x](javascript:{BOOM})",
    f"$\\href{{javascript:{BOOM}}}{{x}}$ $\\text{{<img src=x onerror={BOOM}>}}$",
]


# Milliseconds: the machine is not ours alone.
PATIENCE = 200_000


@contextlib.asynccontextmanager
async def looking(**options: Any) -> AsyncIterator[Any]:  # Any: a Page; playwright may be missing
    async with playwright.async_playwright() as started:
        # A container has no sandbox of its own to offer, and nothing here comes from outside.
        chromium = await started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = await chromium.new_context(locale="en-US", **options)
        context.set_default_timeout(PATIENCE)
        yield await context.new_page()
        await chromium.close()


def hostile_script() -> str:
    """Each payload as text, as markdown, as printed text, as HTML, as a picture, as an error, as a name."""
    shown = [f"show({json.dumps(one)})" for one in PAYLOADS]
    actions = [{"text": one} for one in PAYLOADS] + [{"code": one} for one in shown]
    behaviors = [{"focus": PAYLOADS[0], "actions": actions}]
    steps = [{"id": "only", "name": PAYLOADS[4], "goal": PAYLOADS[7], "behaviors": behaviors}]
    return json.dumps({"goal": PAYLOADS[0], "stages": [{"id": "all", "name": PAYLOADS[5], "steps": steps}]})


def hostile(source: str) -> Execution:
    """Displays what the cell asks for in every form that an output has."""
    payload = json.loads(source.removeprefix("show(").removesuffix(")"))
    forms = (
        ("text/html", payload),
        ("image/svg+xml", payload + SVG),
        ("text/markdown", payload),
        ("text/latex", payload),
    )
    outputs: list[Output] = [
        {"output_type": "display_data", "data": {mime: text, "text/plain": payload}, "metadata": {}}
        for mime, text in forms
    ]
    return Execution(outputs=(*outputs, {"output_type": "stream", "name": "stdout", "text": payload}))


async def test_a_run_is_started_watched_confirmed_after_a_reload_and_seen_to_its_end(tmp_path: Path) -> None:
    script = tmp_path / "changes.yaml"
    script.write_text(CHANGES, encoding="utf-8")
    async with hosted(page_of(tmp_path / "runs")) as address, looking() as page:
        await page.goto(f"{address}/#/new")
        await page.fill("input[name=path]", str(script))
        await page.click("form button.main")
        await page.wait_for_selector("#confirm")
        assert "Leave out" in await page.inner_text(".diff")
        await page.reload()
        await page.wait_for_selector("#confirm")
        await page.keyboard.press("y")
        await page.wait_for_selector("text=after the change")
        await page.wait_for_selector(".state.completed")
        assert not await page.query_selector("#confirm")
        await page.goto(f"{address}/#/")
        await page.wait_for_selector(".row .state.completed")


async def test_whoever_answers_second_is_told_who_was_first(place: Place) -> None:
    state = await place.start(policies=Policies(confirm="ask"))
    async with hosted(page_of(place.root)) as address, looking() as page:
        await page.goto(f"{address}/#/run/{place.last.run_id}")
        await page.wait_for_selector("#reject")
        reader = place.factories.journals.reader(place.last.journal_spec)
        command = Command(kind="confirm", by="Ada", answers=state.machine.entered)
        await reader.post(command, at=place.factories.timestamp())
        await reader.close()
        await page.keyboard.press("n")
        await page.fill(".ask input", "no")
        await page.click("#reject")
        await page.wait_for_selector(".said")
        assert "by Ada" in await page.inner_text(".said")


@pytest.mark.parametrize("way", ["live", "file"])
async def test_nothing_that_a_cell_holds_is_executed(place: Place, tmp_path: Path, way: str) -> None:
    assert len(PAYLOADS) >= 34
    place.script, place.kernel = hostile_script(), lambda: ScriptedKernel(hostile)
    await place.start()
    kept = tmp_path / "page.html"
    kept.write_text(await static_page(place.last, "en", made="now"), encoding="utf-8")
    async with hosted(page_of(place.root)) as address, looking() as page:
        await page.goto(f"{address}/#/run/{place.last.run_id}" if way == "live" else kept.as_uri())
        await page.wait_for_selector(".cell", state="attached")
        for link in await page.query_selector_all("main a"):
            target = await link.get_attribute("href") or "#"
            assert target.startswith(("#", "http", "mailto:")), target
        await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        for tab in TABS:
            if await page.query_selector(f"#tab-{tab}"):
                await page.click(f"#tab-{tab}")
        await page.wait_for_timeout(300)
        assert await page.evaluate("window.executed") is None
        assert await page.evaluate("document.querySelectorAll('main iframe, main script, main object').length") == 0
        assert len(await page.query_selector_all(".cell")) == 2 * len(PAYLOADS)


async def test_a_page_in_one_file_shows_the_same_without_a_server(place: Place, tmp_path: Path) -> None:
    await place.start(policies=Policies(confirm="ask"))
    kept = tmp_path / "page.html"
    kept.write_text(await static_page(place.last, "zh", made="2026"), encoding="utf-8")
    problems: list[str] = []
    async with looking() as page:
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        await page.goto(kept.as_uri())
        await page.wait_for_selector("h1:has-text('Leaks')")
        assert "计划" in await page.inner_text("nav")
        assert not await page.query_selector("#confirm")
        await page.click("#tab-states")
        await page.wait_for_selector(".machine .here")
    assert not problems


async def test_seven_tabs_have_one_stream_between_them(place: Place) -> None:
    await place.start(policies=Policies(confirm="ask"))
    app = page_of(place.root)
    streams: list[str] = []

    async def counting(scope: Any, receive: Any, send: Any) -> None:  # Any: as ASGI has it
        if scope["type"] == "http" and scope["path"].endswith("/stream"):
            streams.append("open")
            try:
                await app(scope, receive, send)
            finally:
                streams.remove("open")
        else:
            await app(scope, receive, send)

    async with hosted(counting) as address, looking() as first:
        tabs = [first, *[await first.context.new_page() for _ in range(6)]]
        for tab in tabs:
            await tab.goto(f"{address}/#/run/{place.last.run_id}")
            await tab.wait_for_selector("#confirm")
        await first.wait_for_timeout(500)
        assert len(streams) == 1
        await cancel_run(place.last, comment="", factories=place.factories)
        for tab in tabs:
            await tab.wait_for_selector("#confirm", state="detached")
        await app.close()


SPEAKING = """
goal: Say how many
stages:
  - id: only
    name: Counting
    steps:
      - id: count
        name: Count
        behaviors:
          - focus: Count the rows
            actions:
              - code: rows = 800
              - action: {action: add, shot_type: dialogue, content: "There are 800 rows.",
                  metadata: {extra: {numbers: [{text: "800", variable: v.rows, cell: cell-1, start: 10, end: 13}]}}}
              - text: "[to a heading](#nowhere)"
              - action: {action: add, shot_type: action, content: "1 / 0"}
              - action: {action: exec, codecell_id: lastAddedCellId, keep_debug_button_visible: true}
"""


def failing(source: str) -> Execution:
    if source == "1 / 0":
        error: Output = {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "no", "traceback": ["no"]}
        return Execution(outputs=(error,), error=CellError("ZeroDivisionError", "no", ("no",)))
    return Execution()


async def test_a_number_leads_to_its_cell_and_a_failed_cell_can_be_debugged(place: Place) -> None:
    place.script, place.kernel = SPEAKING, lambda: ScriptedKernel(failing)
    await place.start()
    async with hosted(page_of(place.root)) as address, looking() as page:
        await page.goto(f"{address}/#/run/{place.last.run_id}")
        await page.click("a.number")
        await page.wait_for_selector("#tab-variables[aria-selected=true]")
        assert await page.evaluate("document.activeElement.id") == "c-cell-1"
        failed = page.locator(".cell.failed")
        assert not await failed.locator(".body").is_visible()
        await failed.locator("summary").first.click()
        await failed.locator("button.debug").click()
        await page.wait_for_selector(".debugging button.main")
        await page.click("text=to a heading")
        assert await page.query_selector(".debugging")
        assert "/run/" in page.url


async def test_an_approval_survives_a_reload_in_its_middle(place: Place) -> None:
    await place.start(policies=Policies(confirm="ask"))
    async with hosted(page_of(place.root)) as address, looking() as page:
        await page.goto(f"{address}/#/run/{place.last.run_id}")
        await page.wait_for_selector("#confirm")
        await page.keyboard.press("e")
        await page.wait_for_selector(".ask textarea:focus")
        await page.keyboard.press("Escape")
        await page.wait_for_selector(".ask textarea", state="detached")
        await page.keyboard.press("n")
        await page.wait_for_selector(".ask input:focus")
        await page.keyboard.type("not yet")
        await page.reload()
        await page.wait_for_selector("#confirm")
        await page.keyboard.press("?")
        await page.wait_for_selector(".keys")
        # Nothing was sent but what a person has confirmed.
        await page.keyboard.press("Escape")
        await page.wait_for_selector(".keys", state="detached")
        assert (await load_state(place.last, journals())).fsm is State.STEP_UPDATE_PENDING


@pytest.mark.parametrize(("scheme", "width", "tabs"), [("light", 1400, TABS[2:4]), ("dark", 390, TABS[5:6])])
async def test_there_is_nothing_serious_to_hinder_anybody(
    place: Place, scheme: str, width: int, tabs: tuple[str, ...]
) -> None:
    axe = importlib.util.find_spec("axe_playwright_python")
    if axe is None or axe.origin is None:
        pytest.skip("NOT TESTED: axe-playwright-python is not installed; it is in the extra `dev`")
    script = Path(axe.origin).with_name("axe.min.js").read_text(encoding="utf-8")
    await place.start(policies=Policies(confirm="ask"))
    found: list[str] = []

    async def look(page: Any, name: str) -> None:  # Any: a Page
        await page.evaluate(script)
        violations = (await page.evaluate("axe.run(document, {resultTypes: ['violations']})"))["violations"]
        found.extend(
            f"{name}: {one['id']} {one['nodes'][0]['html'][:120]}"
            for one in violations
            if one["impact"] in ("serious", "critical")
        )

    screen = {"color_scheme": scheme, "viewport": {"width": width, "height": 900}}
    async with hosted(page_of(place.root)) as address, looking(**screen) as page:
        for path, ready in (("", ".row"), ("new", "form"), (f"run/{place.last.run_id}", "#confirm")):
            await page.goto(f"{address}/#/{path}")
            await page.wait_for_selector(ready)
            await look(page, path)
        for tab in tabs:
            await page.click(f"#tab-{tab}")
            await look(page, tab)
        await page.click("#edit")
        await look(page, "edit")
    assert not found
