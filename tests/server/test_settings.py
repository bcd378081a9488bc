"""Settings that would leave the service open to everyone are refused."""

from __future__ import annotations

from typing import Any

import pytest

from notebook_bcc.errors import SettingsInvalid
from notebook_bcc.server.settings import ServerSettings, is_loopback, new_token
from server.living import TOKEN


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_a_loopback_address_needs_no_token(host: str) -> None:
    assert is_loopback(host)
    assert ServerSettings(host=host).token is None


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.168.1.5", "box.lan", "localhost.evil"])
def test_any_other_address_needs_one(host: str) -> None:
    with pytest.raises(SettingsInvalid, match="token"):
        ServerSettings(host=host)
    assert ServerSettings(host=host, token=TOKEN).host == host


@pytest.mark.parametrize("token", ["", "short", "x" * 15, "x" * 20 + " ", "ä" * 20, "x" * 20 + "\n"])
def test_a_token_that_is_weak_or_cannot_stand_in_a_header_is_refused(token: str) -> None:
    with pytest.raises(SettingsInvalid, match="token"):
        ServerSettings(token=token)


def test_a_new_token_is_long_and_another_each_time() -> None:
    tokens = {new_token() for _ in range(10)}
    assert len(tokens) == 10
    assert min(map(len, tokens)) >= 40
    assert ServerSettings(host="0.0.0.0", token=tokens.pop()).names == ()


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(ServerSettings(token=TOKEN))


@pytest.mark.parametrize(
    "wrong", [{"body_bytes": -1}, {"port": 65536}, {"json_depth": 0}, {"json_depth": 201}, {"answer_seconds": -0.1}]
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsInvalid, match=next(iter(wrong))):
        ServerSettings(**wrong)
