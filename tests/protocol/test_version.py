"""Which versions of the protocol are known, and what is said of the others."""

from __future__ import annotations

import pytest

from notebook_bcc.protocol.messages import Options
from notebook_bcc.protocol.version import PROTOCOL_VERSION, version_remark


@pytest.mark.parametrize("version", [None, PROTOCOL_VERSION, "2", "1", "1.9", 1, 2, 1.5, "0.0.1"])
def test_what_is_ours_or_older_needs_no_remark(version: str | float | None) -> None:
    assert version_remark(Options.parse({"protocol_version": version}).protocol_version) == ""


@pytest.mark.parametrize("version", ["2.0.1", "2.1", "3", 3, 99.5, "10.0"])
def test_a_newer_one_is_read_and_said(version: str | float) -> None:
    read = Options.parse({"protocol_version": version}).protocol_version
    assert version_remark(read) == f"protocol version '{version}' is newer than those known here, up to 2.0"


@pytest.mark.parametrize("version", ["", "new", "2.x", "-1", "²", "9" * 1_000_000])
def test_what_is_no_version_is_said_in_short(version: str) -> None:
    assert 0 < len(version_remark(version)) < 150
