"""Which requests were answered before, so that a repeated one is not planned again."""

from __future__ import annotations

import asyncio
import functools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b

from notebook_bcc.protocol.messages import Options, Request
from notebook_bcc.server.answers import Answer, Parts
from notebook_bcc.server.settings import ServerSettings

Key = tuple[str, ...]
_DIGEST_BYTES = 16


@dataclass(slots=True)
class _Kept:
    answer: Answer
    used: float


class Memory:
    """The answers being given and, within bounds of count, bytes and age, those that were given well.

    A failure is not remembered: whoever asks again is planned for again. Each process remembers its own; alike answers
    from several processes are the planner's business.
    """

    def __init__(self, settings: ServerSettings, *, clock: Callable[[], float]) -> None:
        self._settings = settings
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

    def answer(self, key: Key | None, make: Callable[[], Parts]) -> tuple[Answer, bool]:
        """The answer of that key, ready or being given, and whether there was one; `make` begins a new one."""
        known = None if key is None else self._find(key)
        return (known, True) if known is not None else (self._begin(key, make()), False)

    async def close(self) -> None:
        """Stop every answer that is being given."""
        under_way = [*self._running.values(), *self._unnamed]
        for answer in under_way:
            answer.stop(ConnectionError("the service is being stopped"))
        await asyncio.gather(*(answer.wait() for answer in under_way))

    def _find(self, key: Key) -> Answer | None:
        if (running := self._running.get(key)) is not None:
            return running
        now = self._clock()
        self._forget_old(now)
        kept = self._kept.get(key)
        if kept is None:
            return None
        kept.used = now
        self._kept.move_to_end(key)
        return kept.answer

    def _begin(self, key: Key | None, parts: Parts) -> Answer:
        made = Answer(
            parts,
            seconds=self._settings.answer_seconds,
            most_bytes=self._settings.answer_bytes,
            # Nobody can ask again for an answer without a key.
            linger=0 if key is None else self._settings.linger_seconds,
            ended=functools.partial(self._ended, key),
        )
        if key is None:
            self._unnamed.add(made)
        else:
            self._running[key] = made
        return made

    def _ended(self, key: Key | None, answer: Answer) -> None:
        if key is None:
            self._unnamed.discard(answer)
            return
        del self._running[key]
        if answer.failure is None:
            now = self._clock()
            self._kept[key] = _Kept(answer, now)
            self._bytes += answer.size
            self._forget_old(now)

    def _forget_old(self, now: float) -> None:
        """Least recently used first, which is also the order of age."""
        limits = self._settings
        kept, oldest = self._kept, now - limits.remembered_seconds
        while kept and (
            len(kept) > limits.remembered_answers
            or self._bytes > limits.remembered_bytes
            or kept[next(iter(kept))].used <= oldest
        ):
            _, forgotten = kept.popitem(last=False)
            self._bytes -= forgotten.answer.size


def key_of(endpoint: str, request: Request) -> Key | None:
    """What names a request, if it carries both its ids. One id alone may be another client's as well.

    What was asked belongs to it: a run that is begun anew under its id, or by somebody else, counts its requests as the
    first one did. The other options do not: how often a request was sent, or by which version.
    """
    options = request.options
    if not (options.run_id and options.request_id):
        return None
    asked = request.model_copy(update={"options": Options(repair=options.repair)})
    digest = blake2b(asked.to_json(), digest_size=_DIGEST_BYTES).hexdigest()
    return (endpoint, options.run_id, options.request_id, digest)
