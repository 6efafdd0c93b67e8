"""`ttt4-query`: look a position up."""

import click

from solver import __version__
from solver.console import command_errors, game_option, store_option
from solver.folders import store_path
from solver.game import Game
from solver.position import parse
from solver.store import Store


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("board")
@game_option
@store_option
@click.version_option(__version__, prog_name="ttt4-query")
@command_errors
def main(board: str, game: Game, store: str | None) -> None:
    """Tell who wins from BOARD with best play, and in how many plies.

    BOARD is its rows from the top, joined by /, with X, O and . for an empty cell: X.../.O../..../....
    It needs a store, which ttt4-solve build makes.
    """
    position = parse(game, board)
    with Store(store_path(game, store), game) as opened:
        score = opened.score(position)
    if position.over:
        click.echo(f"The game is over: {position.winner + ' has won' if position.winner else 'a draw'}.")
        return
    plies = game.cells + 1 - abs(score) - position.stones
    winner = position.mover if score > 0 else "XO"[position.mover == "X"]
    verdict = f"{winner} wins in {plies} {'ply' if plies == 1 else 'plies'}" if score else "a draw"
    click.echo(f"{position.mover} to move: {verdict}, with best play.")
