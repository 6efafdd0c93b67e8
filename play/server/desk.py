"""The desk: does the work that questions take. The server has one for what is quick, its worker another.

Each task takes names and texts and returns JSON, so that it can be asked for from another process.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

from oracle.oracle import Oracle
from play.players.player import RUN, PlayerError, chosen, may_resume, read_player
from play.players.roster import Roster, board_of, set_rules_of
from play.puzzles import make_puzzle
from play.records.json_form import record_from_json
from play.review import Review, review_match
from solver.errors import GameError, StoreMismatch
from solver.folders import find_store
from solver.games.board import Board, BoardGame
from solver.games.board_rules import BoardRules
from solver.games.lines import NARROW_CELLS
from solver.games.notation import read_size
from solver.games.registry import find_game, may_be_recorded
from solver.games.rules import Rules
from solver.games.wide import WideRules
from solver.text import shown

_ROSTERS = 16
"""How many games without a store are kept ready."""


class Desk:
    """Answers for every game, each from its store if there is one, else by live search."""

    def __init__(
        self, store: str | None = None, *,
        live: bool = False, seconds: float = 2.0, own: Iterable[Rules[Any]] = (), runs: Iterable[str] = (),
    ) -> None:  # fmt: skip
        """Look for stores in the usual places or where named.

        `own` are the rules of games that only code can name, and `runs` the folders of learners that are served.
        """
        self.settings = (store, live, seconds)
        self.own = {rules.name: rules for rules in own}
        self.runs = served_runs(runs)
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
        return json.dumps(rules.write(self.chosen(rules, rules.decode(state), player, seed)))

    def chosen(self, rules: Rules[Any], state: Any, player: str, seed: str) -> int:
        """Return the move that a player makes in a state."""
        _require_harmless(player)
        machine = self.roster(rules).player(player, seed)
        if machine is None:
            raise PlayerError(f"{player!r} is not a machine")
        return chosen(machine, state)

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

    def player(self, name: str, rules: Rules[Any]) -> str:
        """Return a player's name, stripped; raise PlayerError if the game has none such, or none that is served."""
        name = name.strip()
        kind = read_player(name).kind
        _require_harmless(name)
        if kind == "run" and name not in self.runs:
            raise PlayerError(f"no learner {shown(name)} is served: ttt4-play serve --run FOLDER serves one")
        if kind == "run" and self.runs[name].game != rules.name:
            raise PlayerError(f"learner {name!r} has learned {self.runs[name].game}, not {rules.name}")
        return name

    def behind(self, name: str) -> str | None:
        """Return the name by which rosters know a player; None for a trained run that is not served any more."""
        if read_player(name).kind != "run":
            return name
        return f"{RUN}{self.runs[name].folder}" if name in self.runs else None

    def _rules(self, name: str) -> Rules[Any]:
        if name in self.own:
            return self.own[name]
        if not may_be_recorded(name) or len(name) > 80:
            raise GameError(f"no game {shown(name)} is served: write rows,columns,k, duel, or a name from /api/games")
        size = read_size(name.rpartition(":")[2])
        if ":" in name and size:
            _require_narrow(name, size.cells)  # before its lines are made, which are many
        rules = find_game(name)
        if not isinstance(rules, WideRules):
            _require_narrow(rules.name, set_rules_of(rules, "a board").game.cells)
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


def _require_harmless(player: str) -> None:
    """Raise PlayerError for a player that would load code, or start a program."""
    if not may_resume(player):
        raise PlayerError(f"player {shown(player)} is code or a program of your own, which is not served")


def _require_narrow(name: str, cells: int) -> None:
    if cells > NARROW_CELLS:
        raise GameError(f"game {shown(name)} has {cells} cells: at most {NARROW_CELLS} are served of such a game")


class ServedRun(NamedTuple):
    """A trained run that the operator serves: its folder, which nobody else needs to know, and its game."""

    folder: str
    game: str


def served_runs(folders: Iterable[str]) -> dict[str, ServedRun]:
    """Return trained runs by the names under which they are served, `run:NAME`: the last part of the folder."""
    found: dict[str, ServedRun] = {}
    for folder in folders:
        from play.lab.runs import Run  # only now: others do without numpy

        name = f"{RUN}{os.path.basename(os.path.abspath(folder)).strip()}"
        if name in found:
            raise PlayerError(f"two runs are called {name!r}: rename a folder")
        run = Run.open(folder)
        run.require_trained()
        found[name] = ServedRun(os.path.abspath(folder), run.game.notation)
    return found


def review_dict(review: Review) -> dict[str, Any]:
    """Return a review as JSON has it."""
    return {
        "moves": [{**move._asdict(), "changed": move.changed} for move in review.moves],
        "turning_point": review.turning_point and review.turning_point.number,
        "exact": review.exact,
    }
