"""The API: what each operation does. play/server/documented.py has the table of them."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Any

from play.match import MOVED, RESIGNED
from play.records.json_form import record_as_dict
from play.records.text import Record
from play.server.allowance import BEGIN, LINES, LOOKUP, SEARCH, Allowance, charge, require_affordable
from play.server.desk import Desk
from play.server.events import Streams
from play.server.games import GameList, game_facts, wide_facts
from play.server.live import LiveMatch
from play.server.lookup import Lookup
from play.server.machine import has_searcher
from play.server.matches import Matches
from play.server.operations import Reply, Request
from play.server.problems import Headers, Problem
from play.server.requests import LONGEST_SEED, Batch, Begin, MoveStep, Step, Undo, decoded, read_body
from play.server.seats import seat_of, token_of
from play.server.worker import Worker
from solver.errors import GameError
from solver.games.board import DEFAULT_GAME
from solver.games.board_rules import BoardRules
from solver.games.cell_rules import SetRules
from solver.games.lines import Game
from solver.games.wide import WideRules
from solver.store.store import Store
from solver.text import shown

_VERSION = re.compile(r"[0-9]{1,7}")


class Api:
    """The operations, on the parts of a server that they need."""

    def __init__(self, desk: Desk, worker: Worker, allowance: Allowance) -> None:
        """Answer from a desk and its worker; `matches` is set once the server runs."""
        self.desk = desk
        self.worker = worker
        self.allowance = allowance
        self.lookup = Lookup(desk, worker, allowance)
        self.list = GameList(desk)
        self.streams = Streams()
        self.matches: Matches

    async def position(self, request: Request) -> None:
        """Answer a look-up, which has a quick way of its own."""
        await self.lookup.handle(request.scope, request.receive, request.send)

    async def positions(self, request: Request) -> Reply:
        """Answer a batch of look-ups."""
        asked = decoded(await read_body(request.scope, request.receive), Batch)
        return Reply(await self.lookup.batch(asked, request.address))

    async def games(self, request: Request) -> Reply:
        """List games."""
        charge(self.allowance, request.address, LOOKUP)
        return Reply(self.list.as_json())

    async def game(self, request: Request) -> Reply:
        """Describe a game."""
        charge(self.allowance, request.address, LOOKUP)
        name = request.named["name"]
        try:
            rules = self.desk.rules(name)
        except GameError as error:
            raise Problem(404, "no-game", str(error)) from error
        if isinstance(rules, WideRules):
            return _json(wide_facts(rules))
        if not isinstance(rules, SetRules):
            return _json({"name": rules.name, "sides": list(rules.sides), "cells": None})
        game = rules.game
        size = sum(map(int.bit_count, game.lines)) if isinstance(game, Game) else game.cells
        charge(self.allowance, request.address, size * LINES)
        if not isinstance(rules, BoardRules):
            return _json({**game_facts(game, None, None), "name": rules.name, "sides": list(rules.sides)})
        roster = self.desk.stored(rules)
        if roster:
            with Store(roster.oracle().path, game) as store:
                return _json(game_facts(game, len(store.manifest.symmetries), store.manifest.facts()))
        if game.cells > game.settled_cells:
            return _json(game_facts(game, None, None))
        return _json(game_facts(game, json.loads(await self.worker.ask(request.address, "symmetries", name)), None))

    async def puzzle(self, request: Request) -> Reply:
        """Make a puzzle."""
        asked = request.words
        name, seed, day = asked.get("game", DEFAULT_GAME), asked.get("seed"), asked.get("date")
        outcome, stars = asked.get("outcome"), asked.get("stars")
        if outcome not in (None, "win", "draw") or stars not in (None, *"12345"):
            raise Problem(400, "bad-query", "outcome is win or draw, and stars a number from 1 to 5")
        if (seed is not None and day is not None) or len(seed or "") > LONGEST_SEED:
            raise Problem(400, "bad-query", f"give one of date and seed, and a seed of at most {LONGEST_SEED} letters")
        level = int(stars) if stars else None
        return await self._worked_out(
            request.address, "puzzle", name, _day(day) if seed is None else seed, outcome, level
        )

    async def begin(self, request: Request) -> Reply:
        """Begin a match."""
        asked = decoded(await read_body(request.scope, request.receive), Begin)
        charge(self.allowance, request.address, BEGIN)
        live = await self.matches.begin(asked.game, asked.players, asked.board, request.address)
        live.asker = request.address
        return self._seated(live, sorted(live.people, key=list(live.rules.sides).index))

    async def match(self, request: Request) -> Reply:
        """Return a match as it stands."""
        charge(self.allowance, request.address, LOOKUP)
        return Reply(self.matches.find(request.named["id"]).whole)

    async def events(self, request: Request) -> None:
        """Send a match's events as they happen."""
        charge(self.allowance, request.address, LOOKUP)
        live = self.matches.find(request.named["id"])
        if request.scope["method"] == "HEAD":
            await self.streams.describe(request.send)
            return
        after = request.words.get("after")
        if after is not None and not _VERSION.fullmatch(after):
            raise Problem(400, "bad-query", f"after is a version, not {shown(after, 24)}")
        last = request.header(b"last-event-id") or after
        known = int(last) if last and _VERSION.fullmatch(last) else None
        await self.streams.follow(live, known, request.address, request.receive, request.send)

    async def move(self, request: Request) -> Reply:
        """Make a move."""
        live, side, asked = await self._step(request, MoveStep)

        move = live.rules.read(asked.move)
        name = live.rules.write(move)
        return Reply(
            await self.matches.change(
                live, asked.version, lambda draft: draft.play(side, move), side, asked.id, MOVED, name
            )
        )

    async def undo(self, request: Request) -> Reply:
        """Take back a move, or ask for it, agree to it or decline it."""
        live, side, asked = await self._step(request, Undo)
        body, done = await self.matches.undo(live, asked.version, side, asked.id, asked.agree)
        return Reply(body, 200 if done else 202)

    async def resign(self, request: Request) -> Reply:
        """Give up."""
        live, side, asked = await self._step(request, Step)
        return Reply(
            await self.matches.change(live, asked.version, lambda draft: draft.resign(side), side, asked.id, RESIGNED)
        )

    async def rematch(self, request: Request) -> Reply:
        """Begin the match that follows, or find it if the other player has begun it."""
        live = self.matches.find(request.named["id"])
        side = self._seat(live, request)
        charge(self.allowance, request.address, BEGIN)
        await read_body(request.scope, request.receive)
        begun, seat = await self.matches.rematch(live, side, request.address)
        begun.asker = request.address
        return self._seated(begun, [seat])

    async def review(self, request: Request) -> Reply:
        """Grade the moves of a match."""
        live = self.matches.find(request.named["id"])
        record = json.dumps(record_as_dict(Record(live.match)))
        return await self._worked_out(request.address, "review", live.rules.name, record)

    async def _worked_out(self, address: str, task: str, game: str, *question: Any) -> Reply:
        """Return what the worker answers to a question about many positions of a game."""
        charge(self.allowance, address, LOOKUP)
        stored = self.desk.stored(self.desk.rules(game))
        found = self.desk.game(game)
        bounded = task == "review" and isinstance(found, Game) and found.cells > found.settled_cells
        if not stored and not bounded and found.cells > found.quick_cells:
            raise Problem(409, "no-store", f"{game} has no store here, and searching it would take too long")
        return Reply(await self.worker.ask(address, task, game, *question))

    async def _step(self, request: Request, shape: type[Any]) -> tuple[LiveMatch, str, Any]:
        """Return the match that a request is about, the side that sent it, and what it asks for."""
        charge(self.allowance, request.address, LOOKUP)
        body = await read_body(request.scope, request.receive)
        live = self.matches.find(request.named["id"])
        side = self._seat(live, request)
        asked = decoded(body, shape)
        if has_searcher(self.desk, live):
            require_affordable(self.allowance, request.address, SEARCH)
        live.asker = request.address
        return live, side, asked

    def _seat(self, live: LiveMatch, request: Request) -> str:
        return seat_of(live.key, live.ident, live.people, request.header(b"authorization"))

    def _seated(self, live: LiveMatch, sides: Sequence[str]) -> Reply:
        """Return a match with the tokens of some of its seats, and where it can be found."""
        tokens = {side: token_of(live.key, live.ident, side) for side in sides}
        here = f"/api/matches/{live.name}"
        links = {"match": here, "events": f"{here}/events", "watch": f"/match/{live.name}"}
        seats = {side: f"/match/{live.name}#{side}.{token}" for side, token in tokens.items()}
        whole = {**json.loads(live.whole), "tokens": tokens, "links": {**links, "seats": seats}}
        return _json(whole, 201, [(b"location", here.encode())])


def _json(what: Any, status: int = 200, headers: Headers = []) -> Reply:  # noqa: B006 - it is never changed
    return Reply(json.dumps(what).encode(), status, headers)


def _day(text: str | None) -> str:
    """Return a date as text, by default today's in UTC; raise Problem if it is none."""
    try:
        return (date.fromisoformat(text) if text else datetime.now(UTC).date()).isoformat()
    except ValueError:
        raise Problem(400, "bad-query", f"date {shown(text)} is not a date: write 2026-11-19") from None
