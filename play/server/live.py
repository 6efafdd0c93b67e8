"""A live match: its events as they are sent, and a bell for those who follow it.

Everything here is published, which means that it is on disk. A change is tried on a copy of the match first, and
published when the log has it.
"""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from play.match import Match
from play.players.player import Player, read_player
from play.records.json_form import captures, event_dict, event_from, record_as_dict
from play.records.text import Record
from play.server.problems import Problem
from play.session import Session
from solver.games.cell_rules import CellRules
from solver.games.rules import Rules, set_up
from solver.games.wide import WideRules


class LiveMatch:
    """A match that is played and followed through the server."""

    def __init__(self, ident: bytes, rules: Rules[Any], entries: Sequence[bytes]) -> None:
        """Bring back the match that the log has: what it began with, and its events."""
        self.ident = ident
        self.rules = rules
        self.first: dict[str, Any] = json.loads(entries[0])
        self.key = bytes.fromhex(self.first["key"])
        self.entry_bytes = sum(map(len, entries[:1]))
        self.players: dict[str, str] = self.first["players"]
        self.people = {side for side, name in self.players.items() if read_player(name).kind == "human"}
        self.mode: str | None = self.first.get("mode")
        board = self.first.get("board")
        self.match: Match[Any] = Match(rules, set_up(rules, board) if board else None)
        self.changing = asyncio.Lock()
        self.steps: list[bytes] = []
        self.followers: set[asyncio.Event] = set()
        self.undo_asked_by: str | None = None
        self.undo_waits_for: tuple[str, ...] = ()
        """The sides that have been asked, and have not agreed yet."""
        self.rematch: str | None = None
        self.asked: set[tuple[str, str]] = set()
        self.machine: asyncio.Task[Any] | None = None
        self.asker = ""
        """The address whose request its machine moves for."""
        self.used = time.monotonic()
        self.size = 0
        self._notices = 0
        self._ids: dict[tuple[str, str], tuple[int, str, str | None]] = {}
        self._whole: bytes | None = None
        self.publish(entries[1:])

    @property
    def name(self) -> str:
        """The match's id as text."""
        return self.ident.hex()

    @property
    def version(self) -> int:
        """The number of events."""
        return len(self.steps)

    @property
    def machine_to_move(self) -> bool:
        """Whether a machine's move is due."""
        return self.match.to_move is not None and self.match.to_move not in self.people

    @property
    def waits(self) -> bool:
        """Whether its machine moves only when somebody asks: so in the games of play/server/duel_rest.py."""
        return self.mode is not None

    @property
    def idle(self) -> bool:
        """Whether nobody follows it, and nobody is about to change it."""
        return not self.followers and not self.changing.locked() and not self.machine

    @property
    def notice(self) -> dict[str, Any]:
        """What followers are told besides events: an offer to take back, and the match that follows this one.

        The number of notices tells which of two is newer. Notices are not in the log: after a restart an offer has to
        be made again, and other servers on the log do not hear of it.
        """
        return {
            "undo_asked_by": self.undo_asked_by, "undo_waits_for": list(self.undo_waits_for), "rematch": self.rematch,
            "notices": self._notices,
        }  # fmt: skip

    @property
    def whole(self) -> bytes:
        """The match as it stands, as JSON."""
        if self._whole is None:
            record = Record(self.match, self.players)
            own = {"id": self.name, "players": self.players, "sides": list(self.rules.sides), **self.notice}
            self._whole = json.dumps({**own, **record_as_dict(record), **self._now()}).encode()
        return self._whole

    def draft(self, machines: Mapping[str, Player]) -> Session:
        """Return a session on a copy of the match, to try a change on."""
        players = {side: None if side in self.people else machines[side] for side in self.players}
        return Session(Record(self.match.copy()), players)

    def entries_of(self, draft: Session, by: str | None, ident: str | None) -> list[bytes]:
        """Return what happened in a draft as the log keeps it; the last event has the request that asked for it."""
        found = [event_dict(self.rules, event) for event in draft.match.events[self.version :]]
        if by and ident:
            found[-1] |= {"by": by, "id": ident}
        return [json.dumps(entry).encode() for entry in found]

    def publish(self, entries: Sequence[bytes]) -> None:
        """Let events happen that the log has, and tell everybody."""
        self.entry_bytes += sum(map(len, entries))
        for entry in map(json.loads, entries):
            self.match.add(event_from(self.rules, entry))
            self.undo_asked_by, self.undo_waits_for = None, ()
            self.asked.clear()
            asked = entry.pop("by", None), entry.pop("id", None)
            now = self._result() if isinstance(self.rules, WideRules) else self._now()
            self.steps.append(json.dumps({"version": self.version + 1, **entry, **now}).encode())
            self.size += len(self.steps[-1])
            self._ids[asked] = self.version, entry["event"], entry.get("move")
        self._whole = None
        self.ring()

    def say(self, **notice: Any) -> None:
        """Change what followers are told besides events, and tell them."""
        for name, value in notice.items():
            setattr(self, name, value)
        self._notices += 1
        self._whole = None
        self.ring()

    def told(self, by: str, ident: str | None, event: str, move: str | None = None) -> bytes | None:
        """Return the step that a player's request has led to already; None if it was not made before, or has no id.

        Raise Problem if the same id was used for another request.
        """
        if ident is None:
            return None
        version, *before = self._ids.get((by, ident), (0, event, move))
        if before != [event, move]:
            raise Problem(409, "id-reused", f"the id {ident!r} was used for another step: give each its own")
        return self.steps[version - 1] if version else None

    def ring(self) -> None:
        """Wake everybody who follows."""
        for follower in self.followers:
            follower.set()

    def _now(self) -> dict[str, Any]:
        """Return where the match stands, as each step says it."""
        match, rules = self.match, self.rules
        return {"state": rules.encode(match.state), **self._legal(), **self._result(), **captures(match)}

    def _legal(self) -> dict[str, list[str]]:
        """Return the moves that can be made; nothing of a wide board, where every empty cell can be claimed."""
        match, rules = self.match, self.rules
        if isinstance(rules, WideRules):
            return {}
        return {"legal": [] if match.given_up else [rules.write(move) for move in rules.legal(match.state)]}

    def _result(self) -> dict[str, Any]:
        """Return whose turn it is, or how the match has ended: all that a step on a wide board says."""
        match, outcome = self.match, self.match.outcome
        return {
            "to_move": match.to_move,
            "outcome": outcome and outcome.as_dict(),
            "ending": _ending(self.rules, match.state),
        }


def _ending(rules: Rules[Any], state: Any) -> list[str]:
    """Return the cells of the lines that ended a game."""
    if not isinstance(rules, CellRules) or not rules.outcome(state):
        return []
    return [rules.write(cell) for cell in sorted(rules.ending(state))]
