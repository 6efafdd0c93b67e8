"""`ttt4-play engine`, also installed as `pbrain-ttt4`: play for a manager that speaks the Gomocup protocol."""

from typing import TYPE_CHECKING, Any

import click

from solver.cli.console import GameType, command_errors
from solver.games.board import BoardGame
from solver.games.lines import Game, lines_only

if TYPE_CHECKING:
    from play.gomocup.thinking import Thinker

_FIRST_NODES = 200


@click.command(short_help="Be a brain for Gomocup managers.", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--game", type=GameType(solvable=False), metavar="GAME",
    help="The game that is played; START must fit its board.  [default: five in a row on any board]",
)  # fmt: skip
@command_errors
def engine(game: BoardGame[Any] | None) -> None:
    """Speak the Gomocup protocol on standard input and output: a brain for Piskvork and other managers.

    It plays five in a row, where more than five win too, on boards of up to 400 cells, or another game of lines by
    --game. pbrain-ttt4 is the same command under the name that managers ask for.
    """
    named = None if game is None else lines_only(game)
    from play.gomocup.brain import Brain  # only now: other commands do without
    from play.gomocup.service import Service

    Service(Brain(_loaded, named)).run()


def _loaded(game: Game, table_bits: int) -> "Thinker":
    """Return an engine that has thought once, so that all its code is loaded before its first move is timed."""
    from solver.engine.engine import Engine  # only now: it takes the better part of a second

    made = Engine(game, table_bits=table_bits)
    if game.cells > 1:
        made.think(0, 1 << game.cells // 2, nodes=_FIRST_NODES)
    made.forget()
    return made
