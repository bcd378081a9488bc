"""Words for failures, and how long a server wants to be left alone."""

from __future__ import annotations

import httpx2
import pytest

from notebook_bcc.planners.remote.failures import (
    LONGEST_RETRY_AFTER,
    is_passing,
    one_line,
    refusal,
    retry_after,
    server_message,
)

NOW = 1_800_000_000.0  # Fri, 15 Jan 2027 08:00:00 GMT


def wish(value: str, *, date: str | None = None) -> float | None:
    headers = {"retry-after": value} | ({} if date is None else {"date": date})
    return retry_after(httpx2.Headers(headers), now=NOW)


def test_seconds_are_taken_as_they_are() -> None:
    assert wish("7") == 7.0
    assert wish(" 0 ") == 0.0
    assert wish("1.5") == 1.5


def test_a_date_is_measured_from_the_servers_own_clock() -> None:
    for year in (1999, 2027, 2090):
        at, date = f"Fri, 15 Jan {year} 08:00:30 GMT", f"Fri, 15 Jan {year} 08:00:00 GMT"
        assert wish(at, date=date) == 30.0, "a skewed clock changed the wait"


def test_a_date_without_the_servers_clock_is_measured_from_ours_and_bounded() -> None:
    assert wish("Fri, 15 Jan 2027 08:00:30 GMT") == 30.0
    assert wish("Fri, 15 Jan 2090 08:00:30 GMT") == LONGEST_RETRY_AFTER
    assert wish("Fri, 15 Jan 1999 08:00:30 GMT") is None


@pytest.mark.parametrize("value", ["", "soon", "-5", "nan", "inf", "1e9", "0x10", "Fri, 99 Foo 2027", "9" * 5000])
def test_a_wish_that_makes_no_sense_is_none(value: str) -> None:
    assert wish(value) is None


def test_a_wish_is_bounded() -> None:
    assert wish("999999999999") == LONGEST_RETRY_AFTER


def test_what_may_pass_is_told_from_what_will_not() -> None:
    passing = {status for status in range(300, 600) if is_passing(status)}
    assert {408, 425, 429, 500, 502, 503, 504} <= passing
    assert not passing & {301, 302, 400, 401, 403, 404, 405, 409, 413, 415, 422, 501, 505}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"error": "no such place"}', "no such place"),
        (b'{"error": {"message": "deeper"}}', "deeper"),
        (
            b'{"error": {"message": "Not valid.", "problems": [{"path": "a.b", "problem": "missing"}]}}',
            "Not valid. a.b: missing",
        ),
        (b'{"detail": [{"loc": ["a"], "msg": "missing"}]}', "a: missing"),
        (b"plain\n words\x1b[31m", "plain words [31m"),
        (b"", ""),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"[" * 10_000, "[" * 300 + "..."),
        (b"null", "null"),
    ],
)
def test_what_the_server_says_is_one_line(body: bytes, said: str) -> None:
    assert server_message(body, content_type="application/json") == said


def test_a_page_for_browsers_says_nothing() -> None:
    assert server_message(b"<html>Bad gateway</html>", content_type="text/html; charset=utf-8") == ""


def test_a_redirect_names_its_target() -> None:
    response = httpx2.Response(307, headers={"location": "https://elsewhere.test/planning"})
    assert "https://elsewhere.test/planning" in refusal(response, b"")


def test_a_status_without_a_name_is_shown() -> None:
    assert refusal(httpx2.Response(599), b"") == "HTTP 599"


def test_a_long_text_is_cut_where_it_is_seen() -> None:
    assert one_line("x" * 10**6) == "x" * 300 + "..."
