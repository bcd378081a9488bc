"""Which view a command shows: for machines, for nobody, for a terminal, or plain lines."""

from __future__ import annotations

import sys

from notebook_bcc.cli.view.live import LiveView
from notebook_bcc.cli.view.plain import JsonView, PlainView, QuietView, View
from notebook_bcc.views.words import Words


def choose_view(words: Words, *, as_json: bool, quiet: bool, verifies: bool = True) -> View:
    """JSON or nothing if asked for, the live view on a terminal, plain lines elsewhere."""
    if as_json:
        return JsonView()
    if quiet:
        return QuietView()
    return LiveView(words, verifies=verifies) if is_terminal() else PlainView(words)


def is_terminal() -> bool:
    """Whether somebody sits in front of our output and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()
