"""What holds for every answer whatever was asked, and the manners of a server: methods, connections, tokens."""

from __future__ import annotations

import json

from notebook_bcc.conformance.check import Finding, fails, holds, skipped
from notebook_bcc.conformance.check_context import CheckContext


async def health(kit: CheckContext) -> Finding:
    """GET /health, for whoever starts and watches the server."""
    exchange = await kit.caller.send("GET", "/health")
    return holds() if 200 <= exchange.status <= 299 else fails(exchange.problem, exchange)


async def methods(kit: CheckContext) -> Finding:
    """A browser at /planning is told that this is not for it."""
    for method in ("GET", "HEAD"):
        exchange = await kit.caller.send(method, "/planning")
        if exchange.status != 405:
            return fails(f"{method} /planning: HTTP {exchange.status}, not 405", exchange)
    return holds()


async def token_wanted(kit: CheckContext) -> Finding:
    """A server that was given a token does not answer without it."""
    if not kit.caller.has_token:
        return skipped("no token was given to the kit")
    body = json.dumps(kit.start_request()).encode()
    exchange = await kit.caller.send("POST", "/planning", body, authorized=False)
    if exchange.status in (401, 403):
        return holds()
    return fails(f"asked without a token: HTTP {exchange.status}, not 401", exchange)


async def keep_alive(kit: CheckContext) -> Finding:
    """One connection serves one question after the other."""
    before = [await kit.caller.post("/planning", kit.start_request()) for _ in range(2)]
    if not all(exchange.status for exchange in before):
        return fails(before[-1].failure, before[-1])
    first, second = before
    if first.connection and first.connection == second.connection:
        return holds()
    return fails("each question needs a connection of its own", second)


async def no_redirect(kit: CheckContext) -> Finding:
    """Clients do not follow redirects: they would carry the token elsewhere."""
    await kit.transcript()
    for exchange in kit.caller.exchanges:
        if 300 <= exchange.status <= 399:
            return fails(f"HTTP {exchange.status} to {exchange.headers.get('location', 'nowhere')}", exchange)
    return holds(f"{len(kit.caller.exchanges)} answers")


async def no_compression(kit: CheckContext) -> Finding:
    """The kit asks for no compression, as clients do: they refuse a compressed answer unread."""
    await kit.transcript()
    for exchange in kit.caller.exchanges:
        coding = exchange.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("", "identity"):
            return fails(f"the answer is compressed ({coding})", exchange)
    return holds()


async def no_server_error(kit: CheckContext) -> Finding:
    """Nothing the kit sends may make a server fall over. 501 is no fall: it says that something is not there."""
    await kit.transcript()
    for exchange in kit.caller.exchanges:
        if 500 <= exchange.status <= 599 and exchange.status != 501:
            return fails(f"HTTP {exchange.status}", exchange)
    return holds(f"{len(kit.caller.exchanges)} answers")


async def no_broken_connection(kit: CheckContext) -> Finding:
    """Every answer comes, and comes whole."""
    await kit.transcript()
    for exchange in kit.caller.exchanges:
        if exchange.failure:
            return fails(exchange.failure, exchange)
    return holds()
