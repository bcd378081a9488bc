"""A few numbers about the service in Prometheus' text format. So few that a library for them would cost more."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0, 60.0, 300.0)


@dataclass(slots=True)
class _Durations:
    buckets: list[int] = field(default_factory=lambda: [0] * len(_BUCKETS))
    count: int = 0
    total: float = 0.0


@dataclass(frozen=True, slots=True)
class Counted:
    """Something that a planner counts itself since the process started. `name` is that of the counter, without the
    prefix of ours and without `_total`; `text` says what it is."""

    name: str
    text: str
    value: int


Counts = Callable[[], Iterable[Counted]]
"""What the planner has counted up to now."""


class Metrics:
    """Counted by this process since it started. Labels are paths of the service and numbers, never text of a client."""

    def __init__(self) -> None:
        self.in_progress = 0
        self._requests: Counter[tuple[str, int]] = Counter()
        self._durations: dict[str, _Durations] = {}
        self._replayed: Counter[str] = Counter()
        self._actions = 0
        self._broken = 0

    def request(self, endpoint: str, status: int, seconds: float) -> None:
        """One request has been answered; status 0 means that its client did not wait for it."""
        self._requests[endpoint, status] += 1
        durations = self._durations.get(endpoint)
        if durations is None:
            durations = self._durations[endpoint] = _Durations()
        durations.count += 1
        durations.total += seconds
        if (index := bisect_left(_BUCKETS, seconds)) < len(_BUCKETS):
            durations.buckets[index] += 1

    def replayed(self, endpoint: str) -> None:
        self._replayed[endpoint] += 1

    def actions(self, count: int) -> None:
        self._actions += count

    def broken(self) -> None:
        self._broken += 1

    def text(self, *, remembered: int, remembered_bytes: int, counted: Iterable[Counted] = ()) -> bytes:
        """The exposition, in a fixed order; last what the planner has counted."""
        lines: list[str] = []
        _family(lines, "requests_total", "counter", "Requests by endpoint and status; 0: the client went away.")
        for (endpoint, status), count in sorted(self._requests.items()):
            lines.append(f'nbcc_requests_total{{endpoint="{endpoint}",status="{status}"}} {count}')
        _family(lines, "request_seconds", "histogram", "From the head of a request to the end of its answer.")
        for endpoint, durations in sorted(self._durations.items()):
            _histogram(lines, endpoint, durations)
        _family(lines, "replayed_total", "counter", "Requests answered from memory.")
        for endpoint, count in sorted(self._replayed.items()):
            lines.append(f'nbcc_replayed_total{{endpoint="{endpoint}"}} {count}')
        single = (
            ("actions_sent_total", "counter", "Actions sent to clients.", self._actions),
            ("streams_broken_total", "counter", "Streams cut because the planner failed in them.", self._broken),
            ("requests_in_progress", "gauge", "Requests being answered.", self.in_progress),
            ("remembered_answers", "gauge", "Answers that a repeated request would get.", remembered),
            ("remembered_bytes", "gauge", "The size of those answers.", remembered_bytes),
            *((f"{one.name}_total", "counter", one.text, one.value) for one in counted),
        )
        for name, kind, text, value in single:
            _family(lines, name, kind, text)
            lines.append(f"nbcc_{name} {value}")
        return ("\n".join(lines) + "\n").encode()


def _family(lines: list[str], name: str, kind: str, text: str) -> None:
    lines += [f"# HELP nbcc_{name} {text}", f"# TYPE nbcc_{name} {kind}"]


def _histogram(lines: list[str], endpoint: str, durations: _Durations) -> None:
    label, below = f'endpoint="{endpoint}"', 0
    for bound, count in zip(_BUCKETS, durations.buckets, strict=True):
        below += count
        lines.append(f'nbcc_request_seconds_bucket{{{label},le="{bound:g}"}} {below}')
    lines += [
        f'nbcc_request_seconds_bucket{{{label},le="+Inf"}} {durations.count}',
        f"nbcc_request_seconds_sum{{{label}}} {durations.total:.6f}",
        f"nbcc_request_seconds_count{{{label}}} {durations.count}",
    ]
