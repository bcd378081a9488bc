"""Who is let in, and what a page of another site can do: nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.places import Place
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.server.settings import ServerSettings
from notebook_bcc.web.app import WebSettings
from web.living import ADDRESS, OWNER, WATCHER, asked, page_of

pytestmark = pytest.mark.anyio


async def test_without_its_token_the_page_tells_nothing(tmp_path: Path) -> None:
    async with asked(page_of(tmp_path, token=OWNER)) as client:
        for path in ("/api/about", "/api/runs", "/api/stream", "/api/compare"):
            assert (await client.get(path)).status_code == 401
        assert (await client.get("/?token=a-token-somebody-guessed")).status_code == 401
        assert (await client.get("/")).status_code == 200


async def test_a_token_becomes_a_cookie_of_this_site_alone(tmp_path: Path) -> None:
    async with asked(page_of(tmp_path, token=OWNER)) as client:
        answer = await client.get("/", params={"token": OWNER})
        cookie = answer.headers["set-cookie"].lower()
        assert answer.status_code == 303
        assert "token" not in answer.headers["location"]
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert OWNER not in cookie
        assert (await client.get("/api/about")).json()["role"] == "owner"
        behind = await client.get("/", params={"token": OWNER}, headers={"x-forwarded-proto": "https"})
        assert "secure" not in cookie
        assert "secure" in behind.headers["set-cookie"].lower()


async def test_a_watcher_sees_everything_and_changes_nothing(place: Place) -> None:
    await place.start(policies=Policies(confirm="ask"))
    app = page_of(place.root, token=OWNER, watch=WATCHER)
    async with asked(app, authorization=f"Bearer {WATCHER}") as client:
        run = f"/api/runs/{place.last.run_id}"
        assert (await client.get("/api/about")).json()["role"] == "watcher"
        assert (await client.get(run)).status_code == 200
        for path in ("/api/runs", *(f"{run}/{one}" for one in ("answer", "pause", "cancel", "resume", "delete"))):
            assert (await client.post(path, json={"word": "delete"})).status_code == 403
    assert place.last.path.exists()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.test"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"host": "evil.test:28680"}, 421),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"origin": ADDRESS, "sec-fetch-site": "same-origin"}, 200),
    ],
)
async def test_only_the_page_itself_can_change_something(place: Place, headers: dict[str, str], status: int) -> None:
    await place.start(policies=Policies(confirm="ask"))
    sent = {"content-type": "application/json", **headers}
    async with asked(page_of(place.root)) as client:
        path = f"/api/runs/{place.last.run_id}/cancel"
        answer = await client.post(path, content=b"{}", headers=sent)
    assert answer.status_code == status


async def test_every_answer_forbids_scripts_that_are_not_the_pages_own(tmp_path: Path) -> None:
    async with asked(page_of(tmp_path)) as client:
        for path in ("/", "/static/page.js", "/static/vendor/preact.mjs", "/api/runs", "/nothing"):
            policy = (await client.get(path)).headers["content-security-policy"]
            assert "script-src 'self'" in policy
            assert "default-src 'none'" in policy


async def test_under_a_base_path_everything_is_there_and_nowhere_else(tmp_path: Path) -> None:
    async with asked(page_of(tmp_path, base_path="/nbcc")) as client:
        assert (await client.get("/nbcc/api/runs")).json() == {"runs": []}
        assert (await client.get("/nbcc/static/page.css")).status_code == 200
        assert (await client.get("/api/runs")).status_code == 404


def test_a_page_that_others_can_reach_needs_a_token() -> None:
    with pytest.raises(SettingsInvalid):
        ServerSettings(host="0.0.0.0")
    with pytest.raises(SettingsInvalid):
        WebSettings(watch_token=WATCHER)
    with pytest.raises(SettingsInvalid):
        WebSettings(base_path="nbcc/")
