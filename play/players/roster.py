"""The roster: makes the players of one game by name, and holds the oracles that they share."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from oracle.oracle import SECONDS, Oracle
from play.players.machines import FirstPlayer, LevelPlayer, OraclePlayer, RandomPlayer, TacticalPlayer
from play.players.player import BEST_LEVEL, Player, PlayerError, read_player
from solver.errors import GameError, Ttt4Error
from solver.games.board import BoardGame
from solver.games.board_rules import BoardRules
from solver.games.line_rules import LineRules
from solver.games.lines import Game
from solver.games.rules import Rules
from solver.own_code import load_own, one_line

Contestant = str | Player | Callable[[Rules[Any], int | str], Player]
"""Who can be asked to play: a name, a player, or what makes one from rules and a seed, such as a class."""


class Roster:
    """Makes the players of a game; a context manager that closes what they share."""

    def __init__(
        self, rules: Rules[Any], store: str | None = None, *, live: bool = False, seconds: float = SECONDS
    ) -> None:
        """Make players for `rules`; their oracle has the store from the usual place, or the one named."""
        self.rules = rules
        self._open = ExitStack()
        self._arguments = store, live, seconds
        self._oracles: dict[bool, Oracle] = {}

    def __enter__(self) -> "Roster":
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def oracle(self, *, live: bool = False) -> Oracle:
        """Return the oracle that all players share; with `live`, one that always searches."""
        game = board_of(self.rules, "an oracle")
        store, always_live, seconds = self._arguments
        live = live or always_live
        if live not in self._oracles:
            oracle = Oracle(game, None if live else store, live=live, seconds=seconds)
            self._oracles[live] = self._open.enter_context(oracle)
        return self._oracles[live]

    @property
    def stores(self) -> set[str]:
        """The paths of the stores that the shared oracles read."""
        return {oracle.path for oracle in self._oracles.values()}

    def player(self, who: Contestant, seed: int | str) -> Player | None:
        """Return the player with that name, or the one given; None for a human. Raise PlayerError if there is none."""
        if not isinstance(who, str):
            return _made(who, self.rules, seed, called(who))
        kind, level = read_player(who)
        if kind == "human":
            return None
        if kind == "own":
            return _made(load_own(who), self.rules, seed, who.strip())
        if kind in ("search", "first"):
            return FirstPlayer(self.oracle(live=kind == "search"))
        if kind == "oracle" and level == BEST_LEVEL:
            return OraclePlayer(self.oracle())

        import random  # only now: a game against the oracle does not wait for it

        rng = random.Random(str(seed))
        if kind == "oracle":
            return LevelPlayer(self.oracle(), level, rng)
        if kind == "rules":
            return TacticalPlayer(lines_of(self.rules, "the player 'rules'"), rng)
        return RandomPlayer(self.rules, rng)


def board_of(rules: Rules[Any], what: str) -> BoardGame[Any]:
    """Return the game on a board that rules are of; raise GameError, saying what only those have, for other games."""
    if isinstance(rules, BoardRules):
        return rules.game
    raise GameError(f"only games on a board have {what}, and {rules.name} is not one")


def lines_of(rules: Rules[Any], what: str) -> Game:
    """Return the game of lines that rules are of; raise GameError, saying what only those have, for other games."""
    if isinstance(rules, LineRules):
        return rules.game
    raise GameError(f"only games of lines have {what}, and {rules.name} is not one")


def called(who: Contestant) -> str:
    """Return what to call a contestant in tables."""
    if isinstance(who, str):
        return who.strip()
    name = getattr(who, "name", None) or getattr(who, "__name__", None) or type(who).__name__
    return str(name)


def _made(what: Any, rules: Rules[Any], seed: int | str, name: str) -> Player:
    """Return a player of the user's own: the object itself, or what its class or function makes."""
    try:
        ready = not isinstance(what, type) and callable(getattr(what, "choose", None))
        player: Player = what if ready else what(rules, seed)
        able = callable(getattr(player, "choose", None))
    except Ttt4Error:
        raise
    except (Exception, SystemExit) as error:  # it is not our code
        raise PlayerError(f"no player {name!r}: {one_line(error)}") from error
    if not able:
        raise PlayerError(f"no player {name!r}: what it returns has no choose(state)")
    return player
