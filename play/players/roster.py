"""The roster: makes the players of one game by name, and holds the oracles that they share."""

import os
from collections.abc import Callable
from contextlib import ExitStack
from time import monotonic
from typing import TYPE_CHECKING, Any

from oracle.oracle import SECONDS, Oracle
from play.players.machines import FirstPlayer, LevelPlayer, OraclePlayer, RandomPlayer, TacticalPlayer
from play.players.player import (
    BEST_LEVEL,
    Player,
    PlayerError,
    folder_of,
    is_large,
    read_player,
    require_player_of,
    why_without,
)
from solver.engine import takes
from solver.errors import GameError, Ttt4Error
from solver.folders import find_store, is_named
from solver.games.board import BoardGame, require_solvable
from solver.games.board_rules import BoardRules
from solver.games.cell_rules import SetRules
from solver.games.line_rules import LineRules
from solver.games.lines import Game
from solver.games.rules import Rules
from solver.games.wide import WideRules
from solver.kernels.loading import LOADING
from solver.kinds import kind_of
from solver.own_code import load_own, one_line

if TYPE_CHECKING:
    import random

    from play.players.levels import NodeSearch
    from play.players.mcts import LinePlayouts

_SIGNATURES = {
    "chances": "chances(x, o)",
    "choose_many": "choose_many(x, o)",
    "choices": "choices(state)",
    "choose": "choose(state)",
}
"""The methods by which players can be asked for moves."""

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
        self._live: Any = None
        self._levels: NodeSearch | None = None
        self._playouts: LinePlayouts | None = None
        self._waits: dict[str, Callable[[float], object]] = {}
        self._book: Any = None
        self._runs: dict[str, Player] = {}
        self._guests = self._open.enter_context(ExitStack())

    def __enter__(self) -> "Roster":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close what the players share, and end programs; it may be closed again."""
        self._open.close()

    def oracle(self, *, live: bool = False) -> Oracle:
        """Return the oracle that all players share; with `live`, one that always searches."""
        game = board_of(self.rules, "an oracle")
        store, always_live, seconds = self._arguments
        live = live or always_live or self._estimates()
        if live not in self._oracles:
            oracle = Oracle(game, None if live else store, live=live, seconds=seconds)
            self._oracles[live] = self._open.enter_context(oracle)
        return self._oracles[live]

    def ready(self) -> None:
        """Wait until all that players load in the background is there, so that none begins weaker than it is."""
        deadline = monotonic() + LOADING
        if self._live:
            self._live.compiled(deadline)
        for wait in self._waits.values():
            wait(deadline)

    def forget(self) -> None:
        """Forget what searching players have found, and end programs, so that no game depends on those before it."""
        if self._live:
            self._live.forget()
        for oracle in self._oracles.values():
            oracle.forget()
        self._guests.close()

    @property
    def stores(self) -> set[str]:
        """The paths of the stores that the shared oracles read."""
        return {oracle.path for oracle in self._oracles.values()}

    def player(self, who: Contestant, seed: int | str) -> Player | None:
        """Return the player with that name, or the one given; None for a human. Raise PlayerError if there is none."""
        if not isinstance(who, str):
            return made(who, self.rules, seed, called(who))
        kind, level = read_player(who)
        if kind == "human":
            return None
        if kind == "own":
            return made(load_own(who), self.rules, seed, who.strip())
        require_player_of(self.rules, who)
        if isinstance(self.rules, WideRules):
            from play.players.wide import wide_player  # only now: other games do without

            return wide_player(self.rules, kind, level, seed)
        if kind in ("search", "priority", "mcts") and isinstance(self.rules, BoardRules) and self.rules.captures:
            return self._of_duel(self.rules.game, kind, level, seed)
        if kind == "run":
            return self._run(folder_of(who))
        if kind == "gomocup":
            return self._guest(who)
        if (kind == "search" and is_large(self.rules)) or (kind in ("oracle", "first") and self._estimates()):
            return self._of_large_board(kind, level, seed)
        if kind in ("search", "first"):
            return FirstPlayer(self.oracle(live=kind == "search"))
        if kind == "oracle" and level == BEST_LEVEL:
            return OraclePlayer(self.oracle())

        import random  # only now: a game against the oracle does not wait for it

        rng = random.Random(str(seed))
        if kind == "oracle":
            return LevelPlayer(self.oracle(), level, rng)
        if kind == "rules":
            return TacticalPlayer(set_rules_of(self.rules, "the player 'rules'"), rng)
        if kind == "mcts":
            return self._of_playouts(level, rng)
        return RandomPlayer(self.rules, rng)

    def _of_large_board(self, kind: str, level: int, seed: int | str) -> Player:
        """Return a player that searches a board of lines that is too large to settle."""
        from play.players import levels  # only now: small boards do without

        store, live, _ = self._arguments
        if store and not live:
            require_solvable(lines_of(self.rules, "levels"))  # a store was named, and there can be none
        if kind == "first" or level == BEST_LEVEL:
            oracle = self.oracle(live=True)
            oracle.load()
            self._waits["oracle"] = oracle.load
            return FirstPlayer(oracle) if kind == "first" else OraclePlayer(oracle)
        self._levels = self._levels or levels.NodeSearch(lines_of(self.rules, "levels"))
        if levels.LEVELS[level].depth:
            self._waits["levels"] = self._levels.compiled
        return levels.LargeBoardPlayer(self._levels, level, seed)

    def _of_playouts(self, playouts: int, rng: "random.Random") -> Player:
        """Return a player of random games, in compiled code if it is a game of lines."""
        from play.players import mcts  # only now: most games do without

        if not isinstance(self.rules, LineRules) or not takes(self.rules.game):
            return mcts.MctsPlayer(self.rules, playouts, rng)
        self._playouts = self._playouts or mcts.LinePlayouts(self.rules.game)
        self._waits["mcts"] = self._playouts.compiled
        return mcts.LineMctsPlayer(self._playouts, self.rules, playouts, rng)

    def _run(self, folder: str) -> Player:
        """Return a trained run, which is loaded once."""
        if folder not in self._runs:
            from play.lab.playing import RunPlayer  # only now: others do without numpy and numba

            self._runs[folder] = RunPlayer(lines_of(self.rules, "trained runs"), folder)
        return self._runs[folder]

    def _guest(self, name: str) -> Player:
        """Return a program that plays, started, so that none has to start while its move is timed."""
        from play.gomocup.manager import GomocupPlayer, read_guest  # only now: others do without processes

        guest = read_guest(name)
        seconds = self._arguments[2] if guest.seconds is None else guest.seconds
        player = GomocupPlayer(lines_of(self.rules, "programs that play"), guest.command, seconds)
        self._guests.callback(player.close)
        player.start()
        return player

    def _of_duel(self, game: Any, kind: str, level: int, seed: int | str) -> Player:
        """Return a player of the duel; all that search share what they find."""
        import random

        from play.players import duel  # only now: other games do without
        from solver.duel.live import COMPILED_CELLS

        if kind == "priority":
            return duel.PriorityPlayer(game, random.Random(str(seed)))
        if kind == "mcts":
            rng = random.Random(str(seed))
            if game.cells <= COMPILED_CELLS:
                return duel.PlayoutPlayer(game, level, rng)
            return self._of_playouts(level, rng)
        if self._live is None:
            kind_of_game = kind_of(game)
            self._live = kind_of_game.search(game, kind_of_game.symmetries(game), self._arguments[2])
        if self._book is None and level == BEST_LEVEL and self._has_store(game):
            self._book = duel.open_book(self.oracle(), self._live)
        return duel.SearchPlayer(self._live, level, seed, self._book)

    def _estimates(self) -> bool:
        """Tell whether the oracle estimates: the board is too large to settle, and has no store."""
        store, live, _ = self._arguments
        if not is_large(self.rules) or (store and not live):
            return False
        game = lines_of(self.rules, "levels")
        return live or game.cells > game.solvable_cells or not (is_named() or os.path.exists(find_store(game)))

    def _has_store(self, game: BoardGame[Any]) -> bool:
        """Tell whether there is a file that may be the game's store."""
        store, live, _ = self._arguments
        return not live and game.cells <= game.solvable_cells and os.path.exists(find_store(game, store))


def set_rules_of(rules: Rules[Any], what: str) -> SetRules:
    """Return rules that keep sets of cells; raise GameError, saying what only those have, for other games."""
    if isinstance(rules, SetRules):
        return rules
    raise GameError(why_without(rules, what) or f"only games on a board have {what}, and {rules.name} is not one")


def board_of(rules: Rules[Any], what: str) -> BoardGame[Any]:
    """Return the game of two sides on a board that rules are of; raise GameError, saying what only those have, else."""
    if isinstance(rules, BoardRules):
        return rules.game
    raise GameError(why_without(rules, what) or f"only games on a board have {what}, and {rules.name} is not one")


def lines_of(rules: Rules[Any], what: str) -> Game:
    """Return the game of lines of two sides that rules are of; raise GameError, saying what only those have, else."""
    if isinstance(rules, LineRules):
        return rules.game
    raise GameError(why_without(rules, what) or f"only games of lines have {what}, and {rules.name} is not one")


def called(who: Contestant) -> str:
    """Return what to call a contestant in tables."""
    if isinstance(who, str):
        return who.strip()
    name = getattr(who, "name", None) or getattr(who, "__name__", None) or type(who).__name__
    return str(name)


def made(
    what: Any, rules: Rules[Any], seed: int | str, name: str, methods: tuple[str, ...] = ("choose",)
) -> Player:  # fmt: skip
    """Return a player of the user's own: the object itself, or what its class or function makes.

    It must have one of the methods, by which players are asked for moves.
    """

    def has_one(player: Any) -> bool:
        return any(callable(getattr(player, method, None)) for method in methods)

    try:
        ready = not isinstance(what, type) and has_one(what)
        player: Player = what if ready else what(rules, seed)
        able = has_one(player)
    except Ttt4Error:
        raise
    except (Exception, SystemExit) as error:  # it is not our code
        raise PlayerError(f"no player {name!r}: {one_line(error)}") from error
    if not able:
        raise PlayerError(
            f"no player {name!r}: what it returns has no {' or '.join(map(_SIGNATURES.__getitem__, methods))}"
        )
    return player
