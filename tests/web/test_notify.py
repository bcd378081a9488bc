"""Somebody who looks elsewhere is told: once, and thrice where nobody hears it."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

from lifecycle.places import TWO_STEPS, Place
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.lifecycle.operations import cancel_run
from notebook_bcc.protocol.limits import Policies
from notebook_bcc.web.app import WebSettings
from notebook_bcc.web.notify import TRIES, Notifier
from notebook_bcc.web.runs import RunList

pytestmark = pytest.mark.anyio

SECRET = "hook-0123456789"
URL = f"http://hooks.test/{SECRET}"


class Hook:
    """An address that answers with these codes, the last one again and again."""

    def __init__(self, *codes: int) -> None:
        self.heard: list[dict[str, Any]] = []
        self.rests: list[float] = []
        self._codes = list(codes)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.heard.append(json.loads(request.content))
        return httpx2.Response(self._codes.pop(0) if len(self._codes) > 1 else self._codes[0])

    async def rest(self, seconds: float) -> None:
        self.rests.append(seconds)

    def notifier(self, place: Place) -> Notifier:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(self))
        return Notifier(RunList(place.root), URL, language="en", client=client, rest=self.rest)


async def looked(notifier: Notifier) -> None:
    await notifier.look()
    await notifier.sent()


async def test_a_run_that_waits_and_one_that_is_done_are_told_once_each(place: Place) -> None:
    hook = Hook(204)
    notifier = hook.notifier(place)
    await looked(notifier)
    state = await place.start(policies=Policies(confirm="ask"))
    waiting = place.last.run_id
    await looked(notifier)
    await looked(notifier)
    place.script = TWO_STEPS
    await place.start()
    await looked(notifier)
    assert [(one["run"], one["what"]) for one in hook.heard] == [(waiting, "waiting"), (place.last.run_id, "done")]
    assert hook.heard[0]["id"] == f"{waiting}:{state.machine.entered}:waiting"
    assert hook.heard[0]["waits"] == "change"


async def test_what_was_so_before_and_what_a_person_cancelled_is_not_told(place: Place) -> None:
    await place.start(policies=Policies(confirm="ask"))
    hook = Hook(204)
    notifier = hook.notifier(place)
    await looked(notifier)
    await cancel_run(place.last, comment="", factories=place.factories)
    await looked(notifier)
    assert hook.heard == []


async def test_a_run_that_fails_is_told(place: Place) -> None:
    hook = Hook(204)
    notifier = hook.notifier(place)
    await looked(notifier)
    await place.start(policies=Policies(confirm="reject"))
    await looked(notifier)
    assert [one["what"] for one in hook.heard] == ["failed"]


async def test_an_address_that_fails_is_tried_three_times_with_the_same_id(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    hook = Hook(500)
    notifier = hook.notifier(place)
    await looked(notifier)
    await place.start(policies=Policies(confirm="ask"))
    await looked(notifier)
    assert len(hook.heard) == TRIES
    assert len({one["id"] for one in hook.heard}) == 1
    assert hook.rests == [2.0, 4.0]
    assert "hooks.test" in caplog.text
    assert SECRET not in caplog.text


async def test_an_address_that_recovers_is_told_once_more_and_no_more(place: Place) -> None:
    hook = Hook(503, 200)
    notifier = hook.notifier(place)
    await looked(notifier)
    await place.start(policies=Policies(confirm="ask"))
    await looked(notifier)
    assert len(hook.heard) == 2


@pytest.mark.parametrize("url", ["hooks.test", "file:///etc/passwd", "http://", "http://[x"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid):
        WebSettings(notify=url)
