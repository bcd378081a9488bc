"""Jupyter messages as bytes: built, signed, checked and parsed, without any I/O.

Written here instead of using jupyter_client's Session because a Session parses every date of every message and walks
its content twice: on a cell that prints much, that is most of the client's time. The signature is still checked.
"""

from __future__ import annotations

import getpass
import hmac
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from notebook_bcc.kernel.inside.ledger import NUMBER

_DELIMITER = b"<IDS|MSG>"
PROTOCOL_VERSION = "5.4"

# A message's content: JSON from another program, opaque until a reader picks it apart.
Content = dict[str, Any]


class MessageUnreadable(ValueError):
    """Frames that are no message of ours: wrong shape, wrong signature or not JSON. To be skipped, not trusted."""


@dataclass(frozen=True, slots=True)
class KernelMessage:
    """One message, received. `parent` is the id of the request it answers or belongs to, "" when there is none.
    `number` is set by the ledger in the kernel, None without one."""

    kind: str
    parent: str
    content: Content
    number: int | None = None


class Wire:
    """Speaks for one client session with one key."""

    def __init__(self, key: bytes, session: str) -> None:
        self._mac = hmac.new(key, digestmod="sha256")
        self._session = session
        self._user = user_name()
        # Not from 1: an earlier process may have used this session.
        self._sent = time.time_ns() // 1_000

    def request(self, kind: str, content: Content) -> tuple[str, list[bytes]]:
        """The id of a new request, and its frames."""
        self._sent += 1
        message_id = f"{self._session}_{self._sent}"
        header = {
            "msg_id": message_id,
            "username": self._user,
            "session": self._session,
            "date": datetime.now(UTC).isoformat(),
            "msg_type": kind,
            "version": PROTOCOL_VERSION,
        }
        body = [orjson.dumps(header), b"{}", b"{}", encode(content)]
        return message_id, [_DELIMITER, self._sign(body), *body]

    def parse(self, frames: Sequence[bytes]) -> KernelMessage:
        """Raises MessageUnreadable."""
        # On shell there is no identity left, on iopub one topic frame: the delimiter is first or second.
        try:
            start = frames.index(_DELIMITER, 0, 8)
            signature, *body = frames[start + 1 : start + 6]
        except ValueError as error:
            raise MessageUnreadable("no delimiter or no signature") from error
        if len(body) != 4:
            raise MessageUnreadable(f"{len(body)} parts instead of 4")
        if not hmac.compare_digest(self._sign(body), signature):
            raise MessageUnreadable("the signature does not fit the key")
        try:
            return KernelMessage(
                kind=decode(body[0])["msg_type"],
                parent=decode(body[1]).get("msg_id", ""),
                content=decode(body[3]),
                # Most metadata is empty.
                number=_number(decode(body[2])) if len(body[2]) > 2 else None,
            )
        except (KeyError, AttributeError, ValueError) as error:
            raise MessageUnreadable(f"not a message: {error}") from error

    def _sign(self, body: Sequence[bytes]) -> bytes:
        mac = self._mac.copy()
        for part in body:
            mac.update(part)
        return mac.hexdigest().encode("ascii")


def _number(metadata: Content) -> int | None:
    number = metadata.get(NUMBER)
    return number if type(number) is int else None


def encode(content: Content) -> bytes:
    """JSON that every kernel reads, of any text that Python holds."""
    try:
        return orjson.dumps(content)
    except orjson.JSONEncodeError:
        # Lone surrogates in a cell's source: the standard library writes them as escapes, Python accepts them so.
        return json.dumps(content).encode("ascii")


def decode(part: bytes) -> Content:
    """Raises ValueError when it is no JSON."""
    try:
        decoded: Content = orjson.loads(part)
    except orjson.JSONDecodeError:
        # A kernel may send lone surrogates, integers of any length, or bytes that are not UTF-8: readable all the same.
        decoded = json.loads(part.decode("utf-8", "replace"))
    return decoded


def user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):
        return "nobody"
