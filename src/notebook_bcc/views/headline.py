"""How good a result is, in one line: the score, its interval, and what a forecast without any learning reaches."""

from __future__ import annotations

import math

from notebook_bcc.protocol.summary import Summary
from notebook_bcc.views.narration import one_line
from notebook_bcc.views.words import Words

# Two digits of the uncertainty count; the rest is noise.
_DIGITS_OF_DOUBT = 2
_DIGITS = 3
_MOST_DECIMALS = 9
_METRIC_LENGTH = 40


def headline(summary: Summary, words: Words) -> str:
    """`accuracy 0.815 (0.757 to 0.872), naive 0.618`."""
    decimals = _decimals(summary)
    text = f"{_metric(summary)} {number(summary.score, decimals)}"
    if summary.interval_95 is not None:
        low, high = (number(edge, decimals) for edge in summary.interval_95)
        text += words("result_interval", low=low, high=high)
    if summary.naive_forecast is not None:
        text += words("result_naive", naive=number(summary.naive_forecast, decimals))
    if summary.typical_error is not None:
        error = number(summary.typical_error, _decimals_of(summary.typical_error, _DIGITS))
        text += words("result_error", error=error)
    # A reader of this line alone must not take a useless model for a good one.
    if summary.better_than_naive is False:
        text += words("result_no_better")
    elif summary.better_than_naive is None and "better_than_naive" in summary.model_fields_set:
        text += words("result_not_shown")
    return text


def short_headline(summary: Summary) -> str:
    """`accuracy 0.815 (0.618)`: the score, and the naive one."""
    decimals = _decimals(summary)
    text = f"{_metric(summary)} {number(summary.score, decimals)}"
    return text if summary.naive_forecast is None else f"{text} ({number(summary.naive_forecast, decimals)})"


def number(value: float, decimals: int) -> str:
    """`0.815`, or `11,940` where tens are what counts (-1 decimals): never `1.194e+04`."""
    rounded = round(value, decimals)
    # A zero has no sign that would mean something.
    return f"{rounded + 0.0:,.{max(0, decimals)}f}"


def _metric(summary: Summary) -> str:
    return one_line(summary.metric, limit=_METRIC_LENGTH)


def _decimals(summary: Summary) -> int:
    """Enough for the score on its own, and for its uncertainty."""
    own = _decimals_of(summary.score, _DIGITS)
    low, high = summary.interval_95 if summary.interval_95 is not None else (0.0, 0.0)
    return max(own, _decimals_of((high - low) / 2, _DIGITS_OF_DOUBT)) if high > low else own


def _decimals_of(value: float, digits: int) -> int:
    """How many decimals show so many digits that count; below zero from the tens on."""
    if not value:
        return digits - 1
    return min(_MOST_DECIMALS, digits - 1 - math.floor(math.log10(abs(value))))
