"""Look-ups: `GET /api/position` and `POST /api/positions`, from answers that are kept as bytes.

The answer to a position never changes once it is exact, so it is made once, and the same bytes are sent to everybody
who asks for it in the same words. A batch finds and leaves its answers in the same place.
"""

import asyncio
import json
import time
from collections import OrderedDict
from typing import Any, NamedTuple
from urllib.parse import quote
from zlib import adler32, crc32

from play.server.allowance import BATCH, LOOKUP, Allowance, address_of, charge
from play.server.desk import Desk
from play.server.problems import ANYONE, Problem, as_problem, error_dict, error_reply, json_messages, typed_and_long
from play.server.requests import Batch, words_of
from play.server.worker import Worker
from solver.errors import Ttt4Error
from solver.games.board import DEFAULT_GAME, BoardPosition
from solver.games.board_text import after_moves, parse

_KEPT_BYTES = 48 << 20
"""How much room the kept answers may take."""

_OVERHEAD = 1000
"""About how many bytes an answer takes besides its own."""

_AT_ONCE = 32
"""After how many boards of a batch others get their turn."""

_BATCH_SECONDS = 30.0
"""After how many seconds no more boards of a batch are searched."""

_FOREVER: Any = (b"cache-control", b"public, max-age=86400, immutable")

Messages = tuple[dict[str, Any], dict[str, Any]]


class Kept(NamedTuple):
    """An answer as it is sent, all of it bytes."""

    body: bytes
    etag: bytes
    headers: tuple[tuple[bytes, bytes], ...]

    def messages(self, scope: Any) -> Messages:
        """Return the messages that send it, or that tell somebody who has it that it has not changed."""
        for name, value in scope["headers"]:
            if name == b"if-none-match" and _matches(value, self.etag):
                return {"type": "http.response.start", "status": 304, "headers": self.headers[2:]}, _whole(b"")
        return {"type": "http.response.start", "status": 200, "headers": self.headers}, _whole(self.body)


class Lookup:
    """Answers for single positions and batches; `handle` is an ASGI application, because it must be quick."""

    def __init__(self, desk: Desk, worker: Worker, allowance: Allowance) -> None:
        """Answer from a desk's stores, and by the worker for games without one."""
        self._desk = desk
        self._worker = worker
        self._allowance = allowance
        self._kept: OrderedDict[bytes, Kept] = OrderedDict()
        self._bytes = 0

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer `GET /api/position`."""
        query = scope["query_string"]
        kept = self._kept.get(query)
        if kept is not None:
            wait = self._allowance.charge(address_of(scope), LOOKUP)
            if not wait:
                self._kept.move_to_end(query)
                start, body = kept.messages(scope)
                await send(start)
                await send(body)
                return
        try:
            charge(self._allowance, address_of(scope), LOOKUP)
            start, body = await self._asked(query, scope)
        except Ttt4Error as error:
            start, body = error_reply(as_problem(error))
        await send(start)
        await send(body)

    async def batch(self, asked: Batch, address: str) -> bytes:
        """Return the answers to boards in order, with an error in place of each invalid board."""
        charge(self._allowance, address, max(1.0, len(asked.boards) * BATCH))
        game = self._desk.game(asked.game)
        stored = self._desk.stored(self._desk.rules(asked.game)) is not None
        head = f"game={quote(asked.game, safe=',')}&board="
        answers, deadline = [], time.monotonic() + _BATCH_SECONDS
        for number, board in enumerate(asked.boards):
            if number % _AT_ONCE == _AT_ONCE - 1:
                await asyncio.sleep(0)  # others are waiting
            query = (head + quote(board)).encode()  # the query that asks for the same
            kept = self._kept.get(query)
            if kept is not None:
                answers.append(kept.body)
                continue
            try:
                if not stored and time.monotonic() > deadline:
                    raise Problem(503, "busy", "the batch took too long: ask again for this board", wait=1.0)
                answers.append(await self._position(query, parse(game, board), address, stored=stored))
            except Ttt4Error as error:
                answers.append(_error_of(error))
        return b"[" + b",".join(answers) + b"]"

    async def _asked(self, query: bytes, scope: Any) -> Messages:
        """Return the answer to a query that was not asked before."""
        words = words_of(query, ("game", "board", "moves"))
        if ("board" in words) == ("moves" in words):
            raise Problem(400, "bad-query", "give one of board and moves: ?game=4,4,4&board=X.../.O../..../....")
        name = words.get("game", DEFAULT_GAME)
        rules = self._desk.rules(name)
        game = self._desk.game(name)
        stored = self._desk.stored(rules) is not None
        position = after_moves(game, words["moves"]) if "moves" in words else parse(game, words["board"])
        body = await self._position(query, position, address_of(scope), stored=stored)
        kept = self._kept.get(query)
        return kept.messages(scope) if kept else json_messages(200, body, [(b"cache-control", b"no-store"), *ANYONE])

    async def _position(self, query: bytes, position: BoardPosition, address: str, *, stored: bool) -> bytes:
        """Return the answer to a position that an address asks for, and keep it if it is exact."""
        name = position.game.notation
        if stored:
            body, exact = self._desk.position(name, position).encode(), True
        else:
            body = await self._worker.ask(address, "position", name, str(position))
            exact = json.loads(body)["exact"]
        if exact:
            self._keep(query, _kept(body))
        return body

    def _keep(self, query: bytes, kept: Kept) -> None:
        if query in self._kept:
            return
        self._kept[query] = kept
        self._bytes += len(query) + len(kept.body) + _OVERHEAD
        while self._bytes > _KEPT_BYTES:
            old, dropped = self._kept.popitem(last=False)
            self._bytes -= len(old) + len(dropped.body) + _OVERHEAD


def _kept(body: bytes) -> Kept:
    etag = b'"%08x%08x"' % (crc32(body), adler32(body))
    return Kept(body, etag, (*typed_and_long(body), (b"etag", etag), _FOREVER, *ANYONE))


def _whole(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body}


def _matches(header: bytes, etag: bytes) -> bool:
    return header.strip() == b"*" or any(tag.strip().removeprefix(b"W/") == etag for tag in header.split(b","))


def _error_of(error: Ttt4Error) -> bytes:
    return json.dumps(error_dict(as_problem(error))).encode()
