"""Matches: begins, finds and changes live matches, and lets the machines in them move.

A change is tried on a copy, written to the log, and only then published. If another server on the same log was
quicker, its events are published, and the change is refused as stale.
"""

import asyncio
import json
import secrets
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from play.match import TOOK_BACK
from play.players.player import PlayerError, read_player, require_player_of
from play.server.desk import Desk
from play.server.fair_queue import MOST_WAITING
from play.server.live import LiveMatch
from play.server.log import Crowded, Log
from play.server.log_rows import ID_BYTES, MatchDamaged
from play.server.machine import Machine, searches
from play.server.problems import Problem, as_problem
from play.server.retention import MOST_MATCHES
from play.server.seats import KEY_BYTES, rematch_of
from play.server.worker import Worker
from play.session import Session
from solver.advice import with_advice
from solver.errors import Ttt4Error
from solver.games.rules import Rules, set_up

MOST_EVENTS = 2_500
"""How many events a match may have, not counting its last: a game of 400 cells, taken back five times over."""

MOST_ENTRY_BYTES = 512 << 10
"""How much room they may take in the log: more than so many events of ordinary length."""

LOADED = 1_000
"""How many matches are held in memory, besides those that somebody follows."""

LOADED_BYTES = 32 << 20
"""How much room their steps may take."""

_WATCHED = 0.25
"""How often, in seconds, the log is looked at for what other servers wrote."""

_HOUSEKEEPING = 3600.0


class Matches:
    """All live matches of a server."""

    def __init__(self, log: Log, desk: Desk, worker: Worker) -> None:
        """Play the matches that a log has, and new ones."""
        self.log = log
        self.desk = desk
        self.worker = worker
        self.loop = asyncio.get_running_loop()
        self._loaded: OrderedDict[bytes, LiveMatch] = OrderedDict()
        self._quick, self._searching = ThreadPoolExecutor(2, "machine"), ThreadPoolExecutor(MOST_WAITING, "search")
        self._making_room = asyncio.Lock()
        log.in_use = self._in_use
        self._tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._keep_house())]

    async def close(self) -> None:
        """Let no machine move any more."""
        machines = [live.machine for live in self._loaded.values() if live.machine]
        for task in (*self._tasks, *machines):
            task.cancel()
        for threads in (self._quick, self._searching):
            threads.shutdown(wait=False, cancel_futures=True)

    async def begin(
        self, game: str, players: dict[str, str], board: str | None, creator: str, mode: str | None = None
    ) -> LiveMatch:
        """Begin a match for an address, in the mode of a game of play/server/duel_rest.py if it is one."""
        rules = self.desk.rules(game)
        unknown = players.keys() - set(rules.sides)
        if unknown:
            sides = ", ".join(rules.sides)
            raise Problem(400, "bad-side", f"no side {sorted(unknown)[0]!r}: the sides are {sides}")
        named = {side: self.desk.player(players.get(side, "human"), rules) for side in rules.sides}
        if not any(read_player(name).kind == "human" for name in named.values()):
            raise Problem(400, "bad-player", "no seat is a person's: let at least one player be human")
        if board is not None:
            board = rules.encode(set_up(rules, board))
        for name in named.values():
            require_player_of(rules, name)
        return await self._begin(secrets.token_bytes(ID_BYTES), rules, named, board, creator, mode)

    async def rematch(self, live: LiveMatch, side: str, creator: str) -> tuple[LiveMatch, str]:
        """Return the match that follows one that has ended, and the asker's new side: each takes the next one's.

        It counts as begun by the address that asks first.
        """
        if live.match.outcome is None:
            raise Problem(409, "not-over", "the match goes on: a rematch is for when it has ended")
        ident = rematch_of(live.key, live.ident)
        sides = list(live.rules.sides)
        seats = dict(zip(sides, sides[1:] + sides[:1], strict=True))
        try:
            return self.find(ident.hex()), seats[side]
        except Problem as problem:
            if problem.status != 404:
                raise
        players = {seats[old]: name for old, name in live.players.items()}
        players = {each: players[each] for each in sides}
        begun = await self._begin(ident, live.rules, players, live.first.get("board"), creator)
        live.say(rematch=begun.name)
        return begun, seats[side]

    def find(self, name: str) -> LiveMatch:
        """Return a match by its id; raise Problem if there is none."""
        try:
            ident = bytes.fromhex(name)
        except ValueError:
            ident = b""
        live = self._loaded.get(ident)
        if live is None:
            entries = self.log.events(ident) if len(ident) == ID_BYTES else []
            if not entries:
                raise no_match(name)
            live = self._load(ident, entries)
        self._loaded.move_to_end(ident)
        live.used = time.monotonic()
        return live

    async def change(
        self, live: LiveMatch, version: int | None, act: Callable[[Session], None], by: str, ident: str | None,
        event: str, move: str | None = None,
    ) -> bytes:  # fmt: skip
        """Let a player change a match; return the step, or the one that the same request has led to before.

        Without a version the change is one to the match as it stands, and without an id no request is the same.
        """
        async with live.changing:
            told = live.told(by, ident, event, move)
            if told is not None:
                return told
            if version is not None:
                require_version(live, version)
            return await self._made(live, act, by, ident, event, move)

    async def ask_machine(self, live: LiveMatch) -> bytes:
        """Let the machine whose turn it is, and which nobody else has asked, make its move, and return the step."""
        version = live.version
        live.machine = asyncio.create_task(self._machine_moves_if_asked(live))
        if not await asyncio.shield(live.machine):  # whoever asked may be gone before it has moved
            raise stale(live)
        return live.steps[version]

    async def undo(
        self, live: LiveMatch, version: int, side: str, ident: str, agree: bool | None
    ) -> tuple[bytes, bool]:
        """Let a player take a move back, ask others to allow that (`agree` is None), or answer that player.

        Return the step and True if a move was taken back; else the match, with what it now offers, and False.
        """
        async with live.changing:
            told = live.told(side, ident, TOOK_BACK)
            if told is not None:
                return told, True
            if (side, ident) in live.asked:
                return live.whole, False
            require_version(live, version)
            asker = live.undo_asked_by
            if live.rematch:
                raise Problem(409, "rematch-begun", "a rematch has begun: this match has ended for good")
            if agree and side not in live.undo_waits_for:
                raise Problem(409, "no-offer", "nobody else has asked to take a move back")
            if agree is None and asker not in (None, side):
                raise Problem(409, "asked-already", f"{asker} has asked already: agree or decline")
            if agree is False and asker not in (None, side) and side not in live.undo_waits_for:
                raise Problem(409, "no-offer", "you are not asked: who has left or agreed has no more say")
            asked = self._asked_to_undo(live, side) if agree is None else set(live.undo_waits_for) - {side}
            asked &= set(live.undo_waits_for) if asker == side else asked
            if agree is False or asked:
                live.asked.add((side, ident))
                waits = tuple(each for each in live.rules.sides if each in asked and agree is not False)
                live.say(undo_asked_by=(asker or side) if waits else None, undo_waits_for=waits)
                return live.whole, False
            return await self._made(live, lambda draft: draft.undo(asker or side), side, ident, TOOK_BACK), True

    def _asked_to_undo(self, live: LiveMatch, side: str) -> set[str]:
        """Return the people who have to agree: those who still play, and those that it would bring back.

        It is refused if there is nothing to take back.
        """
        draft = self.draft(live)
        draft.undo(side)
        return live.people - {side} - (set(live.match.gone) & set(draft.match.gone))

    def draft(self, live: LiveMatch) -> Session:
        """Return a session on a copy of a match, to try a change on."""
        machines = [side for side in live.rules.sides if side not in live.people]
        return live.draft({side: Machine(self.desk, self.worker, self.loop, live, side) for side in machines})

    async def _made(
        self, live: LiveMatch, act: Callable[[Session], None], by: str, ident: str | None, event: str,
        move: str | None = None,
    ) -> bytes:  # fmt: skip
        """Make a change, with the match's lock held, and return its step."""
        draft = self.draft(live)
        act(draft)
        too_long = live.version >= MOST_EVENTS or live.entry_bytes >= MOST_ENTRY_BYTES
        if too_long and draft.match.outcome is None:
            raise Problem(409, "too-long", f"a match has at most {MOST_EVENTS:,} steps: resign, and begin another")
        if await self._written(live, live.entries_of(draft, by, ident), played=True):
            self._let_machine_move(live)
            return live.steps[-1]
        told = live.told(by, ident, event, move)
        if told is None:
            raise stale(live)
        return told

    async def _written(self, live: LiveMatch, entries: Sequence[bytes], *, played: bool = False) -> bool:
        """Write and publish a match's next events; return False if another server was quicker, and publish its own."""
        if await self.log.append(live.ident, live.version + 1, entries, played=played):
            live.publish(entries)
            return True
        self._catch_up(live)
        return False

    def _catch_up(self, live: LiveMatch) -> None:
        entries = self.log.events(live.ident, live.version + 1)
        if entries:
            live.publish(entries)
            self._let_machine_move(live)
        elif not self.log.events(live.ident):
            self._loaded.pop(live.ident, None)
            raise no_match(live.name)

    async def _begin(
        self, ident: bytes, rules: Rules[Any], players: dict[str, str], board: str | None, creator: str,
        mode: str | None = None,
    ) -> LiveMatch:  # fmt: skip
        first = {"game": rules.name, "players": players, "board": board, "created": int(time.time())}
        first |= {"key": secrets.token_hex(KEY_BYTES)} | ({"mode": mode} if mode else {})
        entries = [json.dumps(first).encode()]
        try:
            await self.log.append(ident, 0, entries, creator=creator)
        except Crowded as crowded:
            await self._make_room(crowded)
            try:
                await self.log.append(ident, 0, entries, creator=creator)
            except Crowded as again:
                raise _too_many(again.creator, self.log.most_of_one) from again
        return self.find(ident.hex())

    async def _make_room(self, crowded: Crowded) -> None:
        most = MOST_MATCHES if crowded.creator is None else self.log.most_of_one
        async with self._making_room:
            made = await asyncio.to_thread(self.log.retention.make_room, crowded.creator, most, self._in_use())
        if not made:
            raise _too_many(crowded.creator, most)

    def _in_use(self) -> set[bytes]:
        """Return the matches that somebody follows or is about to change."""
        return {ident for ident, live in list(self._loaded.items()) if not live.idle}

    def _load(self, ident: bytes, entries: Sequence[bytes]) -> LiveMatch:
        live = self._loaded[ident] = self._restored(ident, entries)
        after = rematch_of(live.key, ident)
        with suppress(Ttt4Error):  # it may be damaged, which is no reason to withhold this one
            if live.match.outcome and self.log.events(after):
                live.say(rematch=after.hex())
        self._forget()
        self._let_machine_move(live)
        return live

    def _restored(self, ident: bytes, entries: Sequence[bytes]) -> LiveMatch:
        """Return the match that entries make; raise MatchDamaged if they make none, as those of a forged backup may."""
        try:
            rules = self.desk.rules(json.loads(entries[0])["game"])
            return LiveMatch(ident, rules, entries)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise MatchDamaged(ident, ": its events make no match") from error

    def _forget(self, before: float = 0.0) -> None:
        """Drop matches from memory that nobody follows: those not used since a time, and as many as take too much."""
        size = sum(live.size for live in self._loaded.values())
        for ident, live in list(self._loaded.items())[:-1]:
            crowded = len(self._loaded) > LOADED or size > LOADED_BYTES
            if live.idle and (crowded or live.used < before):
                size -= live.size
                del self._loaded[ident]

    def _let_machine_move(self, live: LiveMatch) -> None:
        if live.machine_to_move and live.machine is None and not live.waits:
            live.machine = asyncio.create_task(self._machine_moves(live))

    async def _machine_moves(self, live: LiveMatch) -> None:
        """Let machines move for as long as it is their turn."""
        pause = 1.0
        try:
            while live.machine_to_move:
                try:
                    await self._machine_moves_once(live)
                    pause = 1.0
                except Ttt4Error as error:  # the worker is busy, the disk is full, a store is damaged
                    print(f"Error: match {live.name} waits: {with_advice(as_problem(error))}", file=sys.stderr)
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, 30.0)
        finally:
            live.machine = None

    async def _machine_moves_if_asked(self, live: LiveMatch) -> bool:
        try:
            return await self._machine_moves_once(live)
        finally:
            live.machine = None

    async def _machine_moves_once(self, live: LiveMatch) -> bool:
        """Let a machine make its move; return False if the match has gone on meanwhile."""
        draft, version, side = self.draft(live), live.version, live.match.to_move or ""
        threads = self._searching if searches(self.desk, live.rules, live.players[side]) else self._quick
        try:
            move = await self.loop.run_in_executor(threads, draft.choose)
            draft.play(side, move)
        except PlayerError as error:
            draft.forfeit(side, error)
        async with live.changing:
            if live.version != version:  # a person has taken a move back, or resigned
                return False
            return await self._written(live, live.entries_of(draft, None, None))

    async def _watch(self) -> None:
        """Take over what other servers write to the same log."""
        behind: set[LiveMatch] = set()
        while True:
            await asyncio.sleep(_WATCHED)
            if self.log.written_elsewhere():
                behind.update(self._loaded.values())
            for live in [live for live in behind if not live.changing.locked()]:  # else it may be published twice
                behind.discard(live)
                try:
                    self._catch_up(live)
                except Exception as error:  # the others are to go on
                    print(f"Error: match {live.name} cannot be followed: {error}", file=sys.stderr)

    async def _keep_house(self) -> None:
        """Drop matches that nobody has played for long."""
        while True:
            try:
                self._forget(time.monotonic() - _HOUSEKEEPING)
                await asyncio.to_thread(self.log.retention.tidy, set(self._loaded))
            except Exception as error:  # the next time may be better
                print(f"Error: old matches are still kept: {error}", file=sys.stderr)
            await asyncio.sleep(_HOUSEKEEPING)


def no_match(name: str) -> Problem:
    """Return the problem of a request about a match that is not there."""
    return Problem(404, "no-match", f"there is no match {name[:40]!r}: it may have expired")


def require_version(live: LiveMatch, version: int) -> None:
    """Raise Problem, with the match as it stands, if a request is about another version of it."""
    if version != live.version:
        raise stale(live)


def stale(live: LiveMatch) -> Problem:
    """Return the problem of a request that came too late, with the match as it stands."""
    message = f"the match is at version {live.version} by now"
    return Problem(409, "stale-version", message, match=json.loads(live.whole))


def _too_many(creator: str | None, most: int) -> Problem:
    """Return the problem of a request for one match more than an address, or everybody, may have."""
    if creator is None:
        return Problem(503, "too-many-matches", "too many matches are kept: try again later", wait=60.0)
    message = (
        f"your address has begun {most:,} matches that are still kept: play on in one of them, or ask the operator"
    )
    return Problem(429, "too-many-begun", message, wait=3600.0)
