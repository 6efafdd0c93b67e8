"""The desk: does the work that questions take. The server has one for what is quick, its worker another.

Each task takes names and texts and returns JSON, so that it can be asked for from another process.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from oracle.oracle import Oracle
from play.players.player import PlayerError, chosen, may_resume, read_player
from play.players.roster import Roster, board_of
from play.puzzles import make_puzzle
from play.records.json_form import record_from_json
from play.review import Review, review_match
from solver.errors import GameError, StoreMismatch
from solver.folders import find_store
from solver.games.board import Board, BoardGame
from solver.games.board_rules import BoardRules
from solver.games.registry import find_game, may_be_recorded
from solver.games.rules import Rules
from solver.text import shown

LARGEST_BOARD = 400
"""The largest board that is served, in cells."""

_ROSTERS = 16
"""How many games without a store are kept ready."""


class Desk:
    """Answers for every game, each from its store if there is one, else by live search."""

    def __init__(
        self, store: str | None = None, *, live: bool = False, seconds: float = 2.0, own: Iterable[Rules[Any]] = ()
    ) -> None:
        """Look for stores in the usual places or where named; `own` are the rules of games that only code can name."""
        self.settings = (store, live, seconds)
        self.own = {rules.name: rules for rules in own}
        self._stored: dict[str, Roster] = {}
        self._searching: OrderedDict[str, Roster] = OrderedDict()
        self._books: dict[str, str] = {}
        """The paths of stores that have only the first moves of a game, so that the rest has to be searched."""
        self.rules: Callable[[str], Rules[Any]] = lru_cache(256)(self._rules)

    def close(self) -> None:
        """Close all stores."""
        for roster in (*self._stored.values(), *self._searching.values()):
            roster.__exit__()

    def game(self, name: str) -> BoardGame[Any]:
        """Return a game on a board; raise GameError if it is none."""
        return board_of(self.rules(name), "positions to look up")

    def stored(self, rules: Rules[Any]) -> Roster | None:
        """Return the players of a game that has a store of every position; None if it has none."""
        roster = self._stored.get(rules.name)
        return roster or self._opened(rules)

    def roster(self, rules: Rules[Any]) -> Roster:
        """Return the players of a game, who search live where there is no store."""
        roster = self.stored(rules) or self._searching.get(rules.name)
        if roster is None:
            book = self._books.get(rules.name)
            roster = Roster(rules, book, live=book is None, seconds=self.settings[2])
            self._searching[rules.name] = roster
            if len(self._searching) > _ROSTERS:
                self._searching.popitem(last=False)[1].__exit__()
        return roster

    def oracle(self, name: str) -> Oracle:
        """Return the oracle of a game on a board."""
        return self.roster(self.rules(name)).oracle()

    def position(self, game: str, board: Board) -> str:
        """Return all that is known of a position."""
        return self.oracle(game).analysis(board).as_json()

    def choice(self, game: str, state: str, player: str, seed: str) -> str:
        """Return the move that a player makes."""
        rules = self.rules(game)
        machine = self.roster(rules).player(player, seed)
        if machine is None:
            raise PlayerError(f"{player!r} is not a machine")
        return json.dumps(rules.write(chosen(machine, rules.decode(state))))

    def review(self, game: str, record: str) -> str:
        """Return the grades of a match, recorded as JSON."""
        rules = self.rules(game)
        return json.dumps(review_dict(review_match(self.roster(rules).oracle(), record_from_json(record, rules).match)))

    def puzzle(self, game: str, seed: str, outcome: str | None, stars: int | None) -> str:
        """Return the puzzle that a seed makes."""
        return json.dumps(make_puzzle(self.oracle(game), seed, outcome=outcome, stars=stars)._asdict())

    def symmetries(self, game: str) -> str:
        """Return the number of symmetries of a game on a board."""
        return json.dumps(len(self.oracle(game).symmetries))

    def _rules(self, name: str) -> Rules[Any]:
        if name in self.own:
            return self.own[name]
        if not may_be_recorded(name) or len(name) > 80:
            raise GameError(f"no game {shown(name)} is served: write rows,columns,k, duel, or a name from /api/games")
        sizes = [int(part) for part in name.split(",")[:2] if part.strip().isdecimal()]
        if len(sizes) == 2:
            _require_served(name, sizes[0] * sizes[1])  # before its lines are made, which are many
        rules = find_game(name)
        _require_served(rules.name, board_of(rules, "a board").cells)
        return rules

    def _opened(self, rules: Rules[Any]) -> Roster | None:
        store, live, seconds = self.settings
        if (
            live
            or rules.name in self._books
            or not isinstance(rules, BoardRules)
            or rules.game.cells > rules.game.solvable_cells
        ):
            return None
        path = find_store(rules.game, store)
        if not os.path.exists(path):
            return None
        roster = Roster(rules, path, seconds=seconds)
        try:
            whole = roster.oracle().source == "store"
        except StoreMismatch:  # one file was named for all games, and is another's
            return None
        if not whole:
            self._books[rules.name] = path
            roster.__exit__()
            return None
        self._stored[rules.name] = roster
        return roster


def _require_served(name: str, cells: int) -> None:
    if cells > LARGEST_BOARD:
        raise GameError(f"game {shown(name)} has {cells} cells: at most {LARGEST_BOARD} are served")


def served_player(name: str) -> str:
    """Return a player's name, stripped; raise PlayerError if there is none, or if it is somebody's own code."""
    read_player(name)
    if not may_resume(name):
        raise PlayerError(f"player {shown(name)} is code of your own, which is not served")
    return name.strip()


def review_dict(review: Review) -> dict[str, Any]:
    """Return a review as JSON has it."""
    return {
        "moves": [{**move._asdict(), "changed": move.changed} for move in review.moves],
        "turning_point": review.turning_point and review.turning_point.number,
        "exact": review.exact,
    }
