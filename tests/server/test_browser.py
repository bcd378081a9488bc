"""A page of another origin, in a real Chromium, cannot make the service work."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from conformance.hosting import hosted
from server.living import Counting, port_of, service

playwright = pytest.importorskip(
    "playwright.async_api", reason="NOT TESTED: playwright is not installed; it is in the extra `dev`"
)
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(CHROMIUM is None, reason="NOT TESTED: there is no Chromium on the PATH; try `make browser`"),
]

QUERY = urlencode({"stage_id": "s", "step_id": "t", "behavior_iteration": 1})
BODY = '{"observation": {"location": {"current": {"stage_id": "s", "step_id": "t"}, "progress": {}}}}'
# Every way a page has to send a request elsewhere without asking first.
WAYS = {
    "image": "new Image().src = address + '/v1/actions?' + query",
    "script": "element('script')",
    "frame": "element('iframe')",
    "fetch without CORS": "fetch(address + '/v1/actions?' + query, {mode: 'no-cors'}).catch(() => 0)",
    "fetch with CORS": "fetch(address + '/v1/actions?' + query).catch(() => 0)",
    "text posted": "fetch(address + '/planning', {mode: 'no-cors', method: 'POST', body: sent}).catch(() => 0)",
    "beacon": "navigator.sendBeacon(address + '/generating', sent)",
    "form": "document.body.append(form('POST')); document.forms[0].submit()",
    "form that gets": "document.body.append(form('GET')); document.forms[0].submit()",
    "navigation": "location.href = address + '/v1/actions?' + query",
}
FUNCTIONS = """
function element(name) {
  document.body.append(Object.assign(document.createElement(name), {src: address + '/v1/actions?' + query}));
}
function form(method) {
  const made = document.createElement('form'), path = method == 'GET' ? '/v1/actions' : '/planning';
  Object.assign(made, {method, enctype: 'text/plain', action: address + path});
  const field = method == 'GET' ? {name: 'step_id', value: 't'} : {name: sent.slice(0, -1) + ', "x": "', value: '"}'};
  made.append(Object.assign(document.createElement('input'), field));
  return made;
}
"""


@contextlib.asynccontextmanager
async def browser(*arguments: str) -> AsyncIterator[Any]:  # Any: a Browser; playwright may be missing
    async with playwright.async_playwright() as started:
        # A container has no sandbox of its own to offer, and nothing here comes from outside.
        chromium = await started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", *arguments])
        yield chromium
        await chromium.close()


def pages(address: str) -> Starlette:
    """A page at `/` with a frame for each way, and the pages in the frames, which try to reach the service."""

    async def show_all(request: Request) -> Response:
        return HTMLResponse("".join(f'<iframe src="/way?{urlencode({"name": name})}"></iframe>' for name in WAYS))

    async def show(request: Request) -> Response:
        known = f"const address = '{address}', query = '{QUERY}', sent = '{BODY}';"
        return HTMLResponse(f"<body><script>{known}{FUNCTIONS}{WAYS[request.query_params['name']]}</script></body>")

    return Starlette(routes=[Route("/", show_all), Route("/way", show)])


async def refused(client: httpx2.AsyncClient) -> int:
    """How many questions were refused so far."""
    counts = (await client.get("/metrics")).text.splitlines()
    asked = [line for line in counts if line.startswith("nbcc_requests_total{") and 'status="403"' in line]
    return sum(int(float(line.rpartition(" ")[2])) for line in asked)


async def test_no_way_that_a_page_of_another_origin_has_makes_the_planner_work() -> None:
    counting = Counting()
    async with (
        service(counting.planner) as client,
        hosted(pages(f"http://127.0.0.1:{port_of(client)}")) as elsewhere,
        browser() as chromium,
    ):
        page = await chromium.new_page()
        await page.goto(elsewhere, wait_until="commit")
        while await refused(client) < len(WAYS) and not counting.asked:
            await page.wait_for_timeout(20)
        assert not counting.asked
        # The person at the browser may ask: what is refused above is refused for where it came from.
        answer = await page.goto(f"{client.base_url}/v1/actions?{QUERY}")
        assert answer is not None
        assert answer.status == 200
        assert counting.asked


async def test_a_page_under_a_name_that_was_made_to_point_here_makes_nobody_work() -> None:
    counting = Counting()
    async with (
        service(counting.planner) as client,
        browser("--host-resolver-rules=MAP rebound.test 127.0.0.1") as chromium,
    ):
        page = await chromium.new_page()
        answer = await page.goto(f"http://rebound.test:{port_of(client)}/v1/actions?{QUERY}")
        assert answer is not None
        assert answer.status == 421
        assert not counting.asked
