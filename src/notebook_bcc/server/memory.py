"""Which requests were answered before, so that a repeated one is not planned again."""

from __future__ import annotations

import asyncio
import functools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from notebook_bcc.protocol.messages import Options
from notebook_bcc.server.answers import Answer
from notebook_bcc.server.rounds import Rounds
from notebook_bcc.server.settings import ServerSettings

Key = tuple[str, ...]


@dataclass(slots=True)
class _Kept:
    answer: Answer
    used: float


class Memory:
    """The answers being given and, within bounds of count, bytes and age, those that were given well.

    A failure is not remembered: whoever asks again is planned for again. Each process remembers its own; alike answers
    from several processes are the planner's business.
    """

    def __init__(self, settings: ServerSettings, *, rounds: Rounds, clock: Callable[[], float]) -> None:
        self._settings = settings
        self._rounds = rounds
        self._clock = clock
        self._running: dict[Key, Answer] = {}
        self._unnamed: set[Answer] = set()
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def kept_bytes(self) -> int:
        return self._bytes

    def answer(self, key: Key | None) -> tuple[Answer, bool]:
        """The answer of that key and whether there was one; a new one is the caller's to set to work at once."""
        if key is not None and (known := self._find(key)) is not None:
            return known, True
        made = Answer(
            rounds=self._rounds,
            seconds=self._settings.answer_seconds,
            most_bytes=self._settings.answer_bytes,
            # Nobody can ask again for an answer without a key.
            linger=0 if key is None else self._settings.linger_seconds,
            settled=functools.partial(self._settle, key),
        )
        if key is None:
            self._unnamed.add(made)
        else:
            self._running[key] = made
        return made, False

    async def close(self) -> None:
        """Stop every answer that is being given."""
        under_way = [*self._running.values(), *self._unnamed]
        for answer in under_way:
            answer.stop(ConnectionError("the service is being stopped"))
        await asyncio.gather(*(answer.wait() for answer in under_way))

    def _find(self, key: Key) -> Answer | None:
        if (running := self._running.get(key)) is not None:
            return running
        kept = self._kept.get(key)
        now = self._clock()
        if kept is None or kept.used <= now - self._settings.remembered_seconds:
            return None
        kept.used = now
        self._kept.move_to_end(key)
        return kept.answer

    def _settle(self, key: Key | None, answer: Answer) -> None:
        if key is None:
            self._unnamed.discard(answer)
            return
        del self._running[key]
        if answer.failure is None:
            self._kept[key] = _Kept(answer, self._clock())
            self._bytes += answer.size
            self._forget_old()

    def _forget_old(self) -> None:
        """Least recently used first, which is also the order of age."""
        limits = self._settings
        oldest = self._clock() - limits.remembered_seconds
        while self._kept and (
            len(self._kept) > limits.remembered_answers
            or self._bytes > limits.remembered_bytes
            or next(iter(self._kept.values())).used <= oldest
        ):
            _, forgotten = self._kept.popitem(last=False)
            self._bytes -= forgotten.answer.size


def key_of(endpoint: str, options: Options) -> Key | None:
    """What names a request, if it carries both its ids. One id alone may be another client's as well."""
    if not (options.run_id and options.request_id):
        return None
    key = (endpoint, options.run_id, options.request_id)
    wanted = options.repair
    return key if wanted is None else (*key, wanted.cell_id, str(wanted.attempt))
