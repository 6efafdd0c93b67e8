"""What a player is, how players are named, and how one is asked for a move.

human        asks at the terminal
random       any move
rules        win, block, then the middle, corners, edges (games of lines, of any number of sides)
priority     captures, keeps the other side from capturing, takes new ground (the duel)
search       a live search, without a store; search:0 to search:10 in the duel and on boards too large to solve
mcts         random games from every move, more from those that do well; mcts:N plays N of them, 10,000 by default
oracle       makes a best move where scores are known, and sets traps; oracle:0 to oracle:10, from random to best
first        the oracle's first best move, which sets no traps
run:FOLDER   what a learner has learned: ttt4-play train makes such a folder
gomocup:PATH a program that speaks the Gomocup protocol (play/gomocup/manager.py)
MODULE:NAME  one of your own: NAME(rules, seed) returns it
"""

from operator import index
from typing import Any, NamedTuple, Protocol

from solver.errors import Ttt4Error
from solver.games.board_rules import BoardRules
from solver.games.cell_rules import CellRules
from solver.games.line_rules import LineRules
from solver.games.lines import NARROW_CELLS, SETTLED_CELLS
from solver.games.rules import Rules
from solver.games.wide import WideRules
from solver.own_code import is_own, one_line
from solver.text import shown

BEST_LEVEL = 10

SECONDS_A_MOVE = 10.0
"""How long a player may think in the arena, unless the user says otherwise."""

PLAYOUTS = 10_000
MOST_PLAYOUTS = 1_000_000

KINDS = ("human", "random", "rules", "priority", "search", "mcts", "oracle", "first")

MULTIPLAYER = ("mcts", "rules", "random")
"""The machines for games of more than two sides, the usual opponent first: nothing solves or searches those."""

LEVELLED = ("oracle", "search")
"""The kinds of players that have levels."""

WIDE = (*LEVELLED, "rules", "random")
"""The machines for boards of more than 400 cells."""

WIDE_LEVEL = 4
"""The highest level on boards of more than 400 cells: those above it look ahead, and these only glance."""

RUN = "run:"
"""What the name of a trained run begins with; its folder follows."""

GOMOCUP = "gomocup:"
"""What the name of a program that speaks the Gomocup protocol begins with; its command follows."""


class PlayerError(Ttt4Error):
    """No such player, or one that failed to name a move; `__cause__` is its own exception, if it raised one."""

    kind = "bad-player"
    exit_code = 2


class Player(Protocol):
    """Chooses moves. All but a human are reproducible from a seed, once what they load in the background is there."""

    def choose(self, state: Any) -> int:
        """Return the move to make in a state in which this player is to move."""


class PlayerName(NamedTuple):
    """A player's name, read."""

    kind: str
    """One of KINDS, `run`, `gomocup` or `own`."""
    level: int = BEST_LEVEL
    """From 0 to 10; for `mcts`, how many games it plays out."""


def read_player(name: str) -> PlayerName:
    """Return a player's kind and level; raise PlayerError, with the names that exist, if there is no such player."""
    if name.strip().startswith(RUN) and folder_of(name):
        return PlayerName("run")
    if name.strip().startswith(GOMOCUP) and name.strip() != GOMOCUP:
        return PlayerName("gomocup")
    kind, colon, level = name.strip().partition(":")
    if kind in KINDS and not colon:
        return PlayerName(kind, PLAYOUTS) if kind == "mcts" else PlayerName(kind)
    if kind in LEVELLED and level in map(str, range(BEST_LEVEL + 1)):
        return PlayerName(kind, int(level))
    if kind == "mcts" and level.isascii() and level.isdigit() and 0 < int(level[:9]) <= MOST_PLAYOUTS:
        return PlayerName(kind, int(level[:9]))
    if is_own(name):
        return PlayerName("own")
    raise PlayerError(
        f"no player {name!r}: choose {', '.join(KINDS)}, oracle:0 to oracle:{BEST_LEVEL}, search:0 to "
        f"search:{BEST_LEVEL}, mcts:N, a trained run as run:FOLDER, a program as gomocup:PATH, or your own as "
        "MODULE:NAME"
    )


def folder_of(name: str) -> str:
    """Return the folder of a trained run, `run:FOLDER`."""
    return name.strip().removeprefix(RUN).strip()


def require_player_of(rules: Rules[Any], name: str) -> None:
    """Raise PlayerError if the game has no such player."""
    kind, level = read_player(name)
    what = f"the player {shown(name.strip(), 40)}"
    if missing := why_without(rules, what):
        there = MULTIPLAYER if is_multiplayer(rules) else WIDE
        if kind not in (*there, "human", "own") or (kind in LEVELLED and level > best_level(rules)):
            raise PlayerError(missing)
        return
    lines, board = isinstance(rules, LineRules), isinstance(rules, BoardRules)
    capture = isinstance(rules, BoardRules) and rules.captures
    where = ""
    if kind in ("rules", "run", "gomocup") and not lines:
        where = "of lines"
    elif kind == "priority" and not capture:
        where = "of capture"
    elif kind == "search" and level < BEST_LEVEL and board and not capture and not is_large(rules):
        where = f"of capture, and of lines on more than {SETTLED_CELLS} cells,"
    elif kind in ("search", "oracle", "first") and not board:
        where = "on a board"
    if where:
        raise PlayerError(f"only games {where} have {what}, and {rules.name} is not one")


def is_multiplayer(rules: Rules[Any]) -> bool:
    """Tell whether it is a game of lines of more than two sides."""
    return isinstance(rules, CellRules) and len(rules.sides) > 2


def is_large(rules: Rules[Any]) -> bool:
    """Tell whether it is a game of lines on a board that is too large to settle without a store."""
    return isinstance(rules, WideRules) or (
        isinstance(rules, LineRules) and rules.game.cells > rules.game.settled_cells
    )


def best_level(rules: Rules[Any]) -> int:
    """Return the highest level that players of a game have, if any have levels."""
    return WIDE_LEVEL if isinstance(rules, WideRules) else BEST_LEVEL


def why_without(rules: Rules[Any], what: str) -> str:
    """Return why a game on a board is without something for its size or its sides, and who plays it; else nothing."""
    if isinstance(rules, WideRules):
        return (
            f"only boards of up to {NARROW_CELLS} cells have {what}, and {rules.name} has {rules.game.cells:,}: its "
            f"players are human, random, rules, oracle:0 to oracle:{WIDE_LEVEL} and MODULE:NAME"
        )
    if is_multiplayer(rules):
        return (
            f"only games of two sides have {what}, and {rules.name} has {len(rules.sides)}: its players are human, "
            "random, rules, mcts, mcts:N and MODULE:NAME"
        )
    return ""


def may_resume(name: str) -> bool:
    """Tell whether a record can bring this player back: a file must not load code, nor start a program."""
    return read_player(name).kind not in ("own", "gomocup")


def chosen(player: Player, state: Any) -> int:
    """Return the move that a player names; raise PlayerError if it names none, whatever it does instead."""
    try:
        move = player.choose(state)
        if not hasattr(move, "__index__"):
            raise TypeError(f"a move is a number, not {shown(move, 24)}")
        return index(move)
    except Ttt4Error:
        raise
    except (Exception, SystemExit) as error:  # it may not be our code
        raise PlayerError(one_line(error)) from error
