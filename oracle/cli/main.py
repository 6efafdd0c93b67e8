"""`ttt4-query`: who wins from a position, how soon, and what every move leads to."""

import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import click

from oracle.cli.options import any_game_option, live_option, time_option
from oracle.cli.page import page
from oracle.cli.why import why
from oracle.oracle import Oracle
from solver import __version__
from solver.cli.console import CUT_OFF, command_errors, plain_where_asked, store_option
from solver.cli.streams import require_open
from solver.errors import BoardError, Ttt4Error
from solver.games.board import BoardGame
from solver.games.board_text import after_moves, parse

_LONGEST_LINE = 1 << 20


class _BoardCommand(click.Command):
    """A command that takes `-X-/-O-/---` for a board, not for an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" not in args:
            boards = [arg for arg in args if re.fullmatch(r"-[0-9]*[XxOo._\-/][XxOo._\-/0-9]*", arg)]
            args = [*(arg for arg in args if arg not in boards), "--", *boards]
        return super().parse_args(ctx, args)


@click.command("ttt4-query", cls=_BoardCommand, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("board", required=False)
@click.option("--moves", metavar="MOVES", help="The moves that led to the position, instead of BOARD: 'b2 c3 a1'.")
@any_game_option
@store_option
@live_option
@time_option
@click.option("--why", "reason", is_flag=True, help="Say why too: the proof, if there is one. JSON has it anyway.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.version_option(__version__, prog_name="ttt4-query")
@command_errors
def main(
    board: str | None,
    moves: str | None,
    game: BoardGame[Any],
    store: str | None,
    live: bool,
    seconds: float,
    reason: bool,
    as_json: bool,
) -> None:
    """Say who wins from BOARD with best play, how soon, and what every move leads to.

    BOARD is its rows from the top, joined by /, with X, O and . for an empty cell: X.../.O../..../.... .
    With - boards are read from standard input, one a line, and each is answered with one line of JSON.

    Answers come from the game's store, which ttt4-solve build makes, or else from a live search.

    Exit codes: 0 done, 1 not settled, or some lines were not boards, 2 wrong usage or a bad board, 3 no such
    store, 4 a damaged store, 129 hung up, 130 interrupted, 141 the reader left, 143 terminated.
    """
    if (board is None) == (moves is None):
        raise click.UsageError("give one of BOARD, - and --moves: ttt4-query X.../.O../..../....")
    plain_where_asked()
    try:
        position = None
        if board != "-":
            position = parse(game, board) if board is not None else after_moves(game, moves or "")
        with Oracle(game, store, live=live, seconds=seconds) as oracle:
            if position is None:
                sys.exit(_answer_lines(oracle))
            analysis = oracle.analysis(position)
            click.echo(analysis.as_json() if as_json else page(oracle, position, analysis))
            if reason and not as_json:
                click.echo(f"\n{why(position, analysis)}")
            if not analysis.settled:
                sys.exit(1)
    except Ttt4Error as error:
        if as_json:
            click.echo(_error_json(error, board if board is not None else moves))
        raise


def _answer_lines(oracle: Oracle) -> int:
    """Answer each line of standard input; return the exit code, which is 1 if some lines were not boards."""
    require_open(0)
    failed = 0
    for line in _lines(sys.stdin.buffer):
        board = line.decode(errors="replace").strip()
        try:
            answer = oracle.analysis(board).as_json()
        except BoardError as error:
            answer = _error_json(error, board)
            failed = 1
        try:
            sys.stdout.write(answer + "\n")
            sys.stdout.flush()  # the asker may wait for this answer before it asks again
        except BrokenPipeError:
            os._exit(CUT_OFF)  # there may be boards that got no answer
    return failed


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the lines of a stream, each cut off after a million bytes: no line of a board is nearly as long."""
    while line := stream.readline(_LONGEST_LINE):
        rest = line
        while not rest.endswith(b"\n") and len(rest) == _LONGEST_LINE:
            rest = stream.readline(_LONGEST_LINE)
        yield line


def _error_json(error: Ttt4Error, board: str | None) -> str:
    return json.dumps({"error": error.kind, "message": str(error), "board": board})
