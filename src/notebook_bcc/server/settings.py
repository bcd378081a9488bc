"""Where the service listens, whom it lets in, and how much it takes on."""

from __future__ import annotations

import ipaddress
import secrets
from dataclasses import dataclass, field

from notebook_bcc.errors import SettingsInvalid

DEFAULT_PORT = 28600
# The JSON parser stops there by itself; a deeper limit could not be kept.
DEEPEST_JSON = 200
_SHORTEST_TOKEN = 16
_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """One service. Raises SettingsInvalid for what would be open to everyone or makes no sense.

    `names` are further values of the Host header that are answered; with a loopback address only they, `localhost` and
    loopback addresses are, so that no web page can reach the service under a name of its own (DNS rebinding).
    """

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    token: str | None = field(default=None, repr=False)
    names: tuple[str, ...] = ()

    body_bytes: int = 32 * _MIB
    json_depth: int = DEEPEST_JSON
    string_bytes: int = 8 * _MIB
    """The longest text in a request."""
    body_seconds: float = 30.0
    """Until a request has arrived whole: 408."""
    concurrent: int = 100
    """Requests being answered at the same time; one more gets 503."""
    connections: int = 1000
    """Open connections, idle ones too; one more gets 503 and is closed."""
    head_seconds: float = 30.0
    """Until the head of a request is there: 408, and the connection is closed."""

    answer_seconds: float = 300.0
    """How long the planner may take for its answer, in a stream for its next action: 504, or the stream breaks."""
    line_bytes: int = 16 * _MIB
    answer_bytes: int = 64 * _MIB
    """The longest action and the longest answer; beyond it the planner is at fault: 502, or the stream breaks."""

    remembered_answers: int = 1000
    remembered_bytes: int = 64 * _MIB
    remembered_seconds: float = 3600.0
    linger_seconds: float = 30.0
    """How long a stream whose client has gone waits for it to ask again before the planner is stopped."""

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if isinstance(value, int | float) and value < 0:
                raise SettingsInvalid(f"the server's {name} cannot be {value}: it must not be negative")
        if self.port > 65535:
            raise SettingsInvalid(f"the server's port cannot be {self.port}: it must be from 0 (any free one) to 65535")
        if not 0 < self.json_depth <= DEEPEST_JSON:
            raise SettingsInvalid(f"the server's json_depth is {self.json_depth}; it must be from 1 to {DEEPEST_JSON}")
        if self.token is not None and (len(self.token) < _SHORTEST_TOKEN or not _is_plain(self.token)):
            raise SettingsInvalid(
                f"the server's token needs at least {_SHORTEST_TOKEN} printable ASCII characters without spaces"
            )
        if self.token is None and not self.is_loopback:
            raise SettingsInvalid(
                f"{self.host!r} can be reached by others: give the server a token, or let it listen on 127.0.0.1"
            )

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine can connect."""
        return is_loopback(self.host)


def is_loopback(host: str) -> bool:
    """Whether this address is reached from this machine only. A name other than localhost counts as not."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def new_token() -> str:
    """A token nobody can guess. Whoever asks for it shows it once; it is written nowhere."""
    return secrets.token_urlsafe(32)


def _is_plain(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token
