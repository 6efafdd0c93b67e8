"""Machines in live matches: who chooses their moves, and which of them have to search."""

import asyncio
import json
from typing import Any

from play.players.player import read_player
from play.server.desk import Desk
from play.server.live import LiveMatch
from play.server.problems import Problem
from play.server.worker import Worker
from solver.errors import Ttt4Error
from solver.games.rules import Rules
from solver.games.wide import WideRules


class Machine:
    """A machine's seat: the desk chooses its moves, or the worker where there is no store."""

    def __init__(self, desk: Desk, worker: Worker, loop: asyncio.AbstractEventLoop, live: LiveMatch, side: str) -> None:
        """Sit down on a side of a match; the worker is asked in the server's loop."""
        self._desk, self._worker, self._loop = desk, worker, loop
        self._live = live
        self._name = live.players[side]

    def choose(self, state: Any) -> int:
        """Return the move that the player with this name makes; called in a thread of its own."""
        rules, desk = self._live.rules, self._desk
        player = desk.behind(self._name)
        if player is None:
            raise Problem(503, "failed", f"learner {self._name!r} is not served any more")
        seed = f"{self._live.name} {self._live.version}"
        try:
            if searches(desk, rules, self._name):
                question = (rules.name, rules.encode(state), player, seed)
                work = self._worker.ask(self._live.asker, "choice", *question)
                asked = asyncio.run_coroutine_threadsafe(work, self._loop)
                return rules.read(json.loads(asked.result()))
            return desk.chosen(rules, state, player, seed)
        except Ttt4Error:
            raise
        except Exception as error:  # this machine's failure, and not the player's, who would forfeit
            raise Problem(503, "failed", f"no move could be chosen: {error}") from error


def has_searcher(desk: Desk, live: LiveMatch) -> bool:
    """Tell whether some machine in a match has to search."""
    return any(searches(desk, live.rules, name) for side, name in live.players.items() if side not in live.people)


def searches(desk: Desk, rules: Rules[Any], player: str) -> bool:
    """Tell whether a player of a game has to search for its moves, which takes long."""
    kind = read_player(player).kind
    if isinstance(rules, WideRules):
        return False
    return kind in ("search", "mcts", "run") or (kind in ("oracle", "first") and desk.stored(rules) is None)
