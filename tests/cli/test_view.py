"""Plain lines for logs: enough to see that work goes on, no more."""

from __future__ import annotations

import io

from notebook_bcc.cli.view.plain import PlainView
from notebook_bcc.lifecycle.verify import SecondsLeft
from notebook_bcc.views.words import Words


def test_a_long_verification_tells_every_half_minute_how_far_it_is() -> None:
    out, now = io.StringIO(), 100.0
    view = PlainView(Words("en"), out=out, clock=lambda: now)
    for number, seconds in ((1, 0.0), (2, 1.0), (3, 28.0), (4, 2.0), (5, 29.0), (6, 40.0)):
        now += seconds
        view.verifying(number, 6, SecondsLeft(cell=10.0, after=80.0))
    assert [line.split()[2] for line in out.getvalue().splitlines()] == ["1", "4", "6"]
    assert "left" in out.getvalue()
