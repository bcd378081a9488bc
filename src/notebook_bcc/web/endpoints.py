"""The page's requests: what is shown of runs, and what is done with them."""

from __future__ import annotations

import asyncio
import getpass
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from notebook_bcc.errors import JournalFailed
from notebook_bcc.journal.encoding import encode_record
from notebook_bcc.journal.interface import Entry
from notebook_bcc.lifecycle.folder import RunFolder, run_id
from notebook_bcc.lifecycle.history import load_state, read_entries
from notebook_bcc.lifecycle.operations import answer_run, cancel_run, pause_run
from notebook_bcc.lifecycle.order import ResumeOrder
from notebook_bcc.lifecycle.removal import delete_run
from notebook_bcc.lifecycle.replies import answered_question
from notebook_bcc.protocol.vocabulary import Language
from notebook_bcc.server.problems import Problem
from notebook_bcc.settings import Settings
from notebook_bcc.views.words import Words
from notebook_bcc.web.access import PageAccess, Role
from notebook_bcc.web.files import opened_file
from notebook_bcc.web.orders import NewRun, edited_proposal, number_of, resume_arguments, text_of
from notebook_bcc.web.processes import start_command
from notebook_bcc.web.runs import RunList, compared
from notebook_bcc.web.stream import EventStream, run_events
from notebook_bcc.web.watch import RunWatches
from notebook_bcc.web.words import page_words
from notebook_bcc.wiring import journals, run_factories

Json = dict[str, Any]  # Any: JSON

_MOST_BODY: Final = 100_000
_MOST_EVENTS: Final = 200
_MOST_RUNS: Final = 20
_MOST_STREAMS: Final = 100
_LONGEST_RECORD: Final = 200_000
_CHUNK: Final = 256 * 1024


class PageEndpoints:
    """Everything under `/api`. Nothing of a run is worked out here: journals are read, commands posted or started."""

    def __init__(self, settings: Settings, *, access: PageAccess) -> None:
        self._settings = settings
        self._access = access
        self._list = RunList(settings.runs)
        self._watches = RunWatches()
        self._closing = asyncio.Event()
        self._streams = 0

    async def close(self) -> None:
        """End all streams and stop following runs. Runs that were started here go on."""
        self._closing.set()
        await self._watches.close()

    async def about(self, request: Request) -> Response:
        """What the page needs before it shows anything: its words, and what this visitor may do."""
        role = self._role(request)
        language = self._language(request)
        return JSONResponse({"role": role, "language": language, "words": page_words(language)})

    async def runs(self, request: Request) -> Response:
        self._role(request)
        return JSONResponse({"runs": await self._list.rows(Words(self._language(request)))})

    async def run(self, request: Request) -> Response:
        self._role(request)
        async with self._watches.watching(self._folder(request)) as watch:
            return JSONResponse(watch.page(self._language(request)))

    async def compare(self, request: Request) -> Response:
        self._role(request)
        one, two = (self._named(request.query_params.get(name, "")) for name in ("one", "two"))
        async with self._watches.watching(one) as left, self._watches.watching(two) as right:
            return JSONResponse(compared(left, right, Words(self._language(request))))

    async def events(self, request: Request) -> Response:
        """Entries of the journal after a number, oldest first, those of some kinds only where they are named."""
        self._role(request)
        after = _number(request.query_params.get("after", "0"))
        kinds = frozenset(filter(None, request.query_params.get("kinds", "").split(",")))
        found: list[Json] = []
        last = after
        async with aclosing(read_entries(self._folder(request), journals(), after=after)) as entries:
            async for entry in entries:
                last = entry.seq
                if not kinds or entry.record.kind in kinds:
                    found.append(_event(entry))
                if len(found) == _MOST_EVENTS:
                    break
        return JSONResponse({"events": found, "last": last, "more": len(found) == _MOST_EVENTS})

    async def stream(self, request: Request) -> Response:
        self._role(request)
        named = request.query_params.getlist("run")[:_MOST_RUNS]
        if self._streams >= _MOST_STREAMS:
            raise Problem(503, "too_many_streams", f"{self._streams} browsers look on already.")
        # A run that is gone must not end the stream of all the others.
        folders = [self._list.folder(name) for name in named]
        given = request.headers.get("last-event-id") or request.query_params.get("after", "")
        cursors = [_number(one) for one in given.split(",")] if given else []
        cursors += [0] * (len(folders) - len(cursors))
        listed = self._list if "list" in request.query_params else None
        events = run_events(folders, cursors, watches=self._watches, listed=listed, language=self._language(request))
        return EventStream(self._counted(events), closing=self._closing)

    async def file(self, request: Request) -> Response:
        """A file as an attachment: a browser keeps it and shows nothing of it."""
        self._role(request)
        name = request.path_params["name"]
        descriptor = await asyncio.to_thread(opened_file, self._folder(request), name)
        if descriptor is None:
            raise Problem(404, "no_such_file", "The run has no such file.")
        headers = {
            "content-disposition": f"attachment; filename*=UTF-8''{quote(name.rpartition('/')[2], safe='')}",
            "content-security-policy": "sandbox; default-src 'none'",
            "content-length": str(size := os.fstat(descriptor).st_size),
        }
        return StreamingResponse(_chunks(descriptor, size), headers=headers, media_type="application/octet-stream")

    async def start(self, request: Request) -> Response:
        """Start a run in a process of its own."""
        order = NewRun.read(await self._order(request))
        wanted = run_id(order.name, run_factories(self._settings).now())
        while self._list.folder(wanted) is not None:
            wanted += "-2"
        arguments = [*order.arguments(wanted)]
        arguments[1:1] = self._common(request)
        folder = RunFolder(self._settings.runs / wanted)
        await start_command(arguments, begun=lambda: _has_more(folder, 0))
        return JSONResponse({"run": wanted}, 201)

    async def resume(self, request: Request) -> Response:
        body = await self._order(request)
        folder = self._folder(request)
        restart = text_of(body, "restart")
        if restart not in ("", "behavior", "reset"):
            raise Problem(422, "invalid", "restart: `behavior` or `reset` is wanted.")
        await self._go_on(request, folder, restart=restart)
        return JSONResponse({"run": folder.run_id})

    async def pause(self, request: Request) -> Response:
        comment = text_of(await self._order(request), "comment")
        await pause_run(self._folder(request), comment=comment, factories=run_factories(self._settings))
        return JSONResponse({})

    async def cancel(self, request: Request) -> Response:
        comment = text_of(await self._order(request), "comment")
        done = await cancel_run(self._folder(request), comment=comment, factories=run_factories(self._settings))
        return JSONResponse({"outcome": done})

    async def delete(self, request: Request) -> Response:
        """Delete a run, for those who say so in a word."""
        body, folder = await self._order(request), self._folder(request)
        if text_of(body, "word") != "delete":
            raise Problem(422, "invalid", "word: type `delete`.")
        await delete_run(folder, root=self._settings.runs, factories=run_factories(self._settings))
        self._watches.forget(folder.run_id)
        return JSONResponse({})

    async def answer(self, request: Request) -> Response:
        """Answer what waits: `answers` is its number. Whoever comes second learns who was first (409)."""
        body, folder = await self._order(request), self._folder(request)
        number = number_of(body, "answers")
        if "reply" in body:
            await self._reply(request, folder, number, text_of(body, "reply"))
            return JSONResponse({"outcome": "asked"})
        if not isinstance(body.get("confirmed"), bool):
            raise Problem(422, "invalid", "confirmed: true or false is wanted.")
        state = await load_state(folder, journals())
        edited = edited_proposal(state, body.get("edited")) if body["confirmed"] else None
        outcome = await answer_run(
            folder,
            confirmed=body["confirmed"],
            comment=text_of(body, "comment"),
            by=f"{_user()} on the page",
            answers=number,
            edited=edited,
            factories=run_factories(self._settings),
        )
        if outcome == "left":
            # Nobody carries the run out: it goes on from here with this answer.
            await self._go_on(request, folder)
        return JSONResponse({"outcome": outcome})

    async def _reply(self, request: Request, folder: RunFolder, number: int, reply: str) -> None:
        """Refused by the run's own rules where it was answered before, or another question waits."""
        if not reply:
            raise Problem(422, "invalid", "reply: an answer is wanted.")
        state = await load_state(folder, journals())
        order = ResumeOrder(inputs={state.question.input: reply} if state.question is not None else {}, answers=number)
        answered_question(state, order)
        await self._go_on(
            request, folder, inputs={name: str(value) for name, value in order.inputs.items()}, answers=number
        )

    async def _go_on(
        self,
        request: Request,
        folder: RunFolder,
        *,
        restart: str = "",
        inputs: dict[str, str] | None = None,
        answers: int = 0,
    ) -> None:
        """Let a process of its own take the run up."""
        before = (await load_state(folder, journals())).seq
        arguments = resume_arguments(folder.run_id, restart=restart, inputs=inputs or {}, answers=answers)
        arguments[1:1] = self._common(request)
        await start_command(arguments, begun=lambda: _has_more(folder, before))

    def _common(self, request: Request) -> list[str]:
        return [f"--runs={self._settings.runs.absolute()}", f"--lang={self._language(request)}"]

    async def _order(self, request: Request) -> Json:
        """The body of a change. Raises Problem for whoever may only look, and for what is no object."""
        if self._role(request) != "owner":
            raise Problem(403, "read_only", "With this token runs can be watched, and not changed.")
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > _MOST_BODY:
                raise Problem(413, "too_large", f"The body is larger than {_MOST_BODY} bytes.")
        try:
            found = json.loads(body or b"{}")
        except (ValueError, RecursionError) as error:
            raise Problem(400, "invalid_json", f"The body is not JSON: {error}.") from error
        if not isinstance(found, dict):
            raise Problem(422, "invalid", "The body must be an object.")
        return found

    def _role(self, request: Request) -> Role:
        return self._access.role(request.headers)

    def _language(self, request: Request) -> Language:
        wanted = request.query_params.get("lang", "")
        return "zh" if wanted == "zh" else "en" if wanted == "en" else self._settings.lang

    def _folder(self, request: Request) -> RunFolder:
        return self._named(request.path_params["run"])

    def _named(self, name: str) -> RunFolder:
        folder = self._list.folder(name)
        if folder is None:
            raise Problem(404, "no_such_run", "There is no such run.")
        return folder

    async def _counted(self, events: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        self._streams += 1
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
        finally:
            self._streams -= 1


async def _has_more(folder: RunFolder, after: int) -> bool:
    """Whether the journal has an entry after that one. A run that is not there yet has none."""
    if not folder.journal.exists():
        return False
    try:
        async with aclosing(read_entries(folder, journals(), after=after)) as entries:
            return await anext(entries, None) is not None
    except JournalFailed:
        # It is being made.
        return False


def _event(entry: Entry) -> Json:
    body = encode_record(entry.record)
    text = body[:_LONGEST_RECORD].decode(errors="replace")
    return {"seq": entry.seq, "at": entry.at, "kind": entry.record.kind, "raw": text}


async def _chunks(descriptor: int, size: int) -> AsyncIterator[bytes]:
    """As much as was promised: the file may grow while it is sent."""
    try:
        while size > 0 and (chunk := await asyncio.to_thread(os.read, descriptor, min(size, _CHUNK))):
            size -= len(chunk)
            yield chunk
    finally:
        os.close(descriptor)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _user() -> str:
    """Who carries this page, for those who come second."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return f"user {os.getuid()}"
