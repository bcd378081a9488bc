"""A person at the console: asked before the plan changes, without blocking the run's other business."""

from __future__ import annotations

import asyncio
import sys

from rich.console import Console
from rich.text import Text

from notebook_bcc.cli.narration import safe
from notebook_bcc.cli.view import View
from notebook_bcc.cli.words import Words
from notebook_bcc.journal.records import PlanProposal

_YES = frozenset({"y", "yes", "是", "接受"})
_NO = frozenset({"n", "no", "否", "拒绝"})
_WAIT = frozenset({"w", "wait", "稍后"})


class ConsolePerson:
    """Whoever sits at this terminal."""

    def __init__(self, view: View, words: Words) -> None:
        self._view = view
        self._words = words

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
            answer = await read_line()
            return answer is not None and answer.strip().casefold() in _YES
        finally:
            self._view.resume()

    async def _choice(self) -> bool | None:
        while True:
            print(self._words("accept"), end="", flush=True)
            answer = await read_line()
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
