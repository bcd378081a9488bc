"""Connections within bounds that uvicorn lacks: how many there are, and how long the head of a request may take."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from notebook_bcc.server.problems import Problem, retry_after


def bounded_connections(*, most: int, head_seconds: float) -> type[H11Protocol]:
    """uvicorn's protocol on h11, which bounds the size of a head, with these two bounds more.

    One connection too many is answered 503 and closed; one whose head is not there in time 408, and closed.
    """

    class BoundedConnection(H11Protocol):
        def __init__(self, *args: Any, **options: Any) -> None:  # Any: passed on as uvicorn gives it
            super().__init__(*args, **options)
            self._deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
            super().connection_made(transport)
            if len(self.connections) > most:
                message = f"There are {most} connections already; try again in a moment."
                self._refuse(Problem(503, "too_many_connections", message, headers=retry_after(1)))
            else:
                self._await_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                # The head is there: what follows has time limits of its own.
                self._stop_waiting()
            elif self._deadline is None:
                self._await_head()

        def _await_head(self) -> None:
            message = f"The head of the request did not arrive within {head_seconds:g} seconds."
            problem = Problem(408, "head_too_slow", message)
            self._deadline = asyncio.get_running_loop().call_later(head_seconds, self._refuse, problem)

        def _stop_waiting(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _refuse(self, problem: Problem) -> None:
            """Nobody has read a request yet: the answer is written as it goes over the wire."""
            self._deadline = None
            response = problem.response()
            response.headers["connection"] = "close"
            head = [b"HTTP/1.1 %d Refused" % problem.status]
            head += [name + b": " + value for name, value in response.raw_headers]
            self.transport.write(b"\r\n".join([*head, b"", bytes(response.body)]))
            self.transport.close()

    return BoundedConnection
