"""A person at the console: asked before the plan changes, without blocking the run's other business."""

from __future__ import annotations

import asyncio
import getpass
import os
import sys

from rich.console import Console
from rich.text import Text

from notebook_bcc.cli.view.plain import View
from notebook_bcc.journal.records import PlanProposal
from notebook_bcc.protocol.messages import Question
from notebook_bcc.views.narration import safe
from notebook_bcc.views.words import Words

_OPTIONS_SHOWN = 40
_YES = frozenset({"y", "yes", "是", "接受"})
_NO = frozenset({"n", "no", "否", "拒绝"})
_WAIT = frozenset({"w", "wait", "稍后"})


class ConsolePerson:
    """Whoever sits at this terminal."""

    def __init__(self, view: View, words: Words) -> None:
        self._view = view
        self._words = words
        self._reading: asyncio.Task[str | None] | None = None

    def leave(self) -> None:
        """Whatever is being asked is left for later."""
        if self._reading is not None:
            self._reading.cancel()

    async def confirm(self, proposal: PlanProposal, diff: str) -> bool | None:
        """Show the change and wait for an answer; None when the person leaves it for later."""
        self._view.suspend()
        try:
            print(f"\n{self._words('proposal')}\n")
            show_diff(diff)
            return await self._choice()
        finally:
            self._view.resume()

    async def beyond_limit(self, limit: str) -> bool:
        """Whether to go on although a limit is reached."""
        self._view.suspend()
        try:
            print(self._words("beyond_limit", limit=safe(limit)), end="", flush=True)
            answer = await self._line()
            return answer is not None and answer.strip().casefold() in _YES
        finally:
            self._view.resume()

    async def answer(self, question: Question) -> str | None:
        """Put the planner's question; None when the person leaves it for later."""
        self._view.suspend()
        try:
            print(f"\n{safe(question.text)}\n")
            for line in option_lines(question, self._words, limit=_OPTIONS_SHOWN):
                print(line)
            return await self._chosen(question)
        finally:
            self._view.resume()

    async def _chosen(self, question: Question) -> str | None:
        while True:
            print(self._words("choose" if question.options else "type_answer"), end="", flush=True)
            typed = ((await self._line()) or "").strip()
            if not typed:
                return None
            meant = meant_option(typed, question)
            if meant is not None:
                return meant
            print(self._words("choose_again", count=len(question.options)), flush=True)

    async def _line(self) -> str | None:
        """A line, or None when the person has left."""
        self._reading = asyncio.ensure_future(read_line())
        try:
            return await self._reading
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return None
        finally:
            self._reading.cancel()
            self._reading = None

    async def _choice(self) -> bool | None:
        while True:
            print(self._words("accept"), end="", flush=True)
            answer = await self._line()
            if answer is None:
                return None
            word = answer.strip().casefold()
            if word in _YES:
                return True
            if word in _NO:
                return False
            if word in _WAIT:
                return None
            print(self._words("accept_again"), flush=True)


def user_name() -> str:
    """Who types this, for those who come second."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run under a number that has no name.
        return f"user {os.getuid()}"


def option_lines(question: Question, words: Words, *, limit: int) -> list[str]:
    """The options of a question, numbered, as many as are looked through."""
    shown = question.options[:limit]
    lines = [words("option", number=f"{number:>2}", option=safe(one)) for number, one in enumerate(shown, 1)]
    return lines + ([words("more", count=len(question.options) - limit)] if len(question.options) > limit else [])


def meant_option(typed: str, question: Question) -> str | None:
    """The option that was typed, as its name or its number; anything where there are no options."""
    options = question.options
    if not options or typed in options:
        return typed
    alike = [one for one in options if one.casefold() == typed.casefold()]
    if len(alike) == 1:
        return alike[0]
    number = int(typed) if typed.isascii() and typed.isdigit() else 0
    return options[number - 1] if 1 <= number <= len(options) else None


def show_diff(diff: str) -> None:
    """What changes, whole and in colour; what stays, one line each."""
    console = Console(highlight=False)
    for line in safe(diff).splitlines():
        style = {"+": "green", "-": "red"}.get(line[:1], "dim")
        stays = style == "dim"
        console.print(Text(f"  {line}", style=style), no_wrap=stays, overflow="ellipsis" if stays else "fold")
    console.print()


async def read_line() -> str | None:
    """The next line a person types; None at the end of input. Waiting for it can be cancelled."""
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def ready() -> None:
        if not typed.done():
            typed.set_result(sys.stdin.readline())

    # A thread blocked in input() could not be cancelled and would keep the process from ending.
    loop.add_reader(sys.stdin, ready)
    try:
        return await typed or None
    finally:
        loop.remove_reader(sys.stdin)
