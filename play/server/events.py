"""Server-sent events: a match as it goes on, for players and for anybody who watches.

Each follower has one loop for what was and what comes: send what follows the last version sent, then wait for the
match's bell. There is no queue, so a follower who reads slowly costs nobody else anything.

    event: match     id: version   the whole match: at the start, and wherever something is missing
    event: step      id: version   one event, and where the match stands after it
    event: notice                  an offer to take back, or the match that follows this one
    event: beat                    nothing happened
"""

import asyncio
import json
from collections import Counter
from typing import Any

from play.server.allowance import is_loopback
from play.server.live import LiveMatch
from play.server.problems import ANYONE, Problem

MOST_STREAMS = 4_000
"""How many followers there may be."""

MOST_FROM_ONE = 100
"""How many of them may have one address, if it is not this machine's."""

HEARTBEAT = 5.0
"""After how many quiet seconds a beat is sent, by which a follower knows that the connection is alive."""

_AT_ONCE = 64

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    *ANYONE,
]


class Streams:
    """Counts the streams that are open."""

    def __init__(self) -> None:
        """Begin without streams."""
        self._open: Counter[str] = Counter()

    async def follow(self, live: LiveMatch, after: int | None, address: str, receive: Any, send: Any) -> None:
        """Send a match's events from the one after `after` on, for as long as somebody listens."""
        crowded = self._open[address] >= MOST_FROM_ONE and not is_loopback(address)
        if crowded or self._open.total() >= MOST_STREAMS:
            raise Problem(503, "too-many-streams", "too many browsers are following games: try again soon", wait=5.0)
        self._open[address] += 1
        wake = asyncio.Event()
        live.followers.add(wake)
        listening = asyncio.create_task(_until_gone(receive))
        listening.add_done_callback(lambda done: wake.set())
        try:
            await _follow(live, after, listening, wake, send)
        finally:
            live.followers.discard(wake)
            listening.cancel()
            self._open -= Counter({address: 1})  # which forgets an address without streams

    async def describe(self, send: Any) -> None:
        """Send what a stream begins with, and no events: the answer to HEAD."""
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        await send({"type": "http.response.body"})


async def _follow(
    live: LiveMatch, after: int | None, listening: "asyncio.Task[None]", wake: asyncio.Event, send: Any
) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
    text, noticed = b"retry: 1000\n\n", None
    at = after if after is not None and 0 <= after <= live.version else None
    loop = asyncio.get_running_loop()
    while not listening.done():
        wake.clear()
        if at is None:
            text += _event(b"match", live.whole, live.version)
            at, noticed = live.version, live.notice
        if live.version > at:
            upto = min(live.version, at + _AT_ONCE)
            text += b"".join(_event(b"step", live.steps[each], each + 1) for each in range(at, upto))
            at = upto
        if live.notice != noticed and at == live.version:
            noticed = live.notice
            text += _event(b"notice", json.dumps(noticed).encode())
        if text:
            await send({"type": "http.response.body", "body": text, "more_body": True})
            text = b""
        if at == live.version:
            beat = loop.call_later(HEARTBEAT, wake.set)
            await wake.wait()
            beat.cancel()
            if at == live.version and live.notice == noticed:
                text = b"event: beat\ndata: 0\n\n"


async def _until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(kind: bytes, data: bytes, ident: int | None = None) -> bytes:
    named = b"" if ident is None else b"id: %d\n" % ident
    return b"%sevent: %s\ndata: %s\n\n" % (named, kind, data)
