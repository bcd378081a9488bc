"""A webhook: one POST when a run waits for somebody, is done or has failed."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import urlsplit

import httpx2

from notebook_bcc.engine.inbox import UPDATE_PENDING
from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.lifecycle.summary import RunSummary
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.views.narration import one_line
from notebook_bcc.views.words import Words
from notebook_bcc.web.runs import RunList, row

LOG = logging.getLogger(__name__)

What = Literal["waiting", "done", "failed"]

TRIES: Final = 3
_LOOK_SECONDS: Final = 2.0
_REST_SECONDS: Final = 2.0
_PATIENCE_SECONDS: Final = 10.0
_WHAT: Final[dict[str, What]] = {
    "waiting": "waiting",
    "completed": "done",
    "failed": "failed",
    "killed": "failed",
    "interrupted": "failed",
    "limit": "failed",
}
# What a run list says that is worth sending on; its data and its cells stay here.
_SENT: Final = ("run", "goal", "status", "waits", "steps", "result", "answer", "cost", "time", "detail", "lacks")


@dataclass(frozen=True, slots=True)
class _Moment:
    """What became of a run, and the entry of its journal that says so: it may wait twice."""

    what: What
    number: int


class Notifier:
    """Tells an address what becomes of runs from now on. What was so when it came is not told."""

    def __init__(
        self,
        runs: RunList,
        url: str,
        *,
        language: Language,
        client: httpx2.AsyncClient | None = None,
        rest: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._runs = runs
        self._url = checked_address(url)
        self._words = Words(language)
        self._client = client or httpx2.AsyncClient(timeout=_PATIENCE_SECONDS, follow_redirects=False)
        self._rest = rest
        self._known: dict[str, _Moment | None] | None = None
        self._sending: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Look on while the block runs."""
        looking = asyncio.create_task(self._watch(), name="notify")
        try:
            yield
        finally:
            for task in (looking, *self._sending):
                task.cancel()
            await asyncio.gather(looking, *self._sending, return_exceptions=True)
            await self._client.aclose()

    async def _watch(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """Send what is new since the last look."""
        found = {one.folder.run_id: one for one in await self._runs.summaries()}
        now = {name: _moment(one) for name, one in found.items()}
        before, self._known = self._known, now
        if before is None:
            return
        for name, moment in now.items():
            if moment is not None and moment != before.get(name):
                task = asyncio.create_task(self._send(self._message(found[name], moment)))
                self._sending.add(task)
                task.add_done_callback(self._sending.discard)

    async def sent(self) -> None:
        """Wait until nothing is on its way."""
        await asyncio.gather(*self._sending)

    def _message(self, summary: RunSummary, moment: _Moment) -> dict[str, Any]:  # Any: JSON
        shown = row(summary, self._words)
        return {
            "id": f"{summary.folder.run_id}:{moment.number}:{moment.what}",
            "what": moment.what,
            **{name: shown[name] for name in _SENT if shown.get(name)},
        }

    async def _send(self, message: dict[str, Any]) -> None:  # Any: JSON
        """One POST; where it fails, twice more. The message keeps its id."""
        problem = ""
        for turn in range(TRIES):
            if turn:
                await self._rest(_REST_SECONDS**turn)
            try:
                answer = await self._client.post(self._url, json=message)
            except httpx2.HTTPError as error:
                # Its text may hold the address, and that a secret.
                problem = type(error).__name__
                continue
            if answer.is_success:
                return
            problem = f"HTTP {answer.status_code}"
        host = urlsplit(self._url).hostname
        LOG.warning("%s could not be told that %s: %s", host, one_line(message["id"]), problem)


def checked_address(url: str) -> str:
    """The address. Raises SettingsInvalid for what is none."""
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not is_one:
        raise SettingsInvalid("--notify wants an address that begins with http:// or https://")
    return url


def _moment(summary: RunSummary) -> _Moment | None:
    state = summary.state
    if state is None:
        # Its journal may just be being made.
        return None
    if state.fsm in UPDATE_PENDING and summary.status in ("running", "waiting"):
        return _Moment("waiting", state.machine.entered)
    what = _WHAT.get(summary.status)
    return _Moment(what, state.seq if summary.status != "waiting" else state.judged) if what is not None else None
