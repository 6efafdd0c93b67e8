"""The right side of a screen: who plays, the value over the game as a small graph, and the moves."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from play.screen.canvas import SIDES, Area, Canvas, Look

GRAPH_ROWS = 5


class Listed(NamedTuple):
    """A move in the list of moves."""

    side: str
    text: str
    sign: str = ""
    """What its grade adds: `?` if it changed the outcome."""


def draw_players(canvas: Canvas, area: Area, players: Sequence[tuple[str, str]], to_move: str | None) -> None:
    """Write who plays which side, and whose turn it is."""
    for row, (side, name) in enumerate(players):
        turn = side == to_move
        canvas.put(area.row + row, area.column, "▸" if turn else " ", Look.BOLD)
        canvas.put(area.row + row, area.column + 2, side, SIDES.get(side, Look.BOLD))
        canvas.put(area.row + row, area.column + 4, name, Look.BOLD if turn else Look.PLAIN, area.columns - 4)


def draw_graph(
    canvas: Canvas, area: Area, values: Mapping[int, float], plies: int, at: int, sides: Sequence[str]
) -> None:
    """Draw the value after each ply: wins of the first side on top, draws in the middle; a click goes to the ply."""
    room = area.columns - 2
    first = max(0, min(at - room // 2, plies + 1 - room))
    for row, name in ((0, sides[0]), (GRAPH_ROWS // 2, "="), (GRAPH_ROWS - 1, sides[1])):
        canvas.put(area.row + row, area.column, name, SIDES.get(name, Look.DIM))
    for ply in range(first, min(plies + 1, first + room)):
        column = area.column + 2 + ply - first
        canvas.put(area.row + GRAPH_ROWS // 2, column, "─", Look.DIM)
        value = values.get(ply)
        if value is not None:
            row = round((1 - value) / 2 * (GRAPH_ROWS - 1))
            look = SIDES.get(sides[0] if value > 0 else sides[1], Look.BOLD) if value else Look.BOLD
            canvas.put(area.row + row, column, "●", look)
            if ply == at:
                canvas.add_look(Area(area.row + row, column, 1, 1), Look.REVERSED)
        canvas.spot(Area(area.row, column, GRAPH_ROWS, 1), f"ply {ply}")


def draw_moves(canvas: Canvas, area: Area, moves: Sequence[Listed], at: int, sides: int = 2) -> None:
    """List the moves, as many a row as there are sides, with the one before the position shown; a click goes there."""
    count = -(-len(moves) // sides)
    first = max(0, min(max(0, at - 1) // sides - area.rows // 2, count - area.rows))
    width = max([6, *(len(move.side + move.text + move.sign) + 3 for move in moves)])
    for number in range(first, min(count, first + area.rows)):
        row = area.row + number - first
        canvas.put(row, area.column, f"{number + 1:>3}.", Look.DIM)
        for ply in range(sides * number, min(sides * (number + 1), len(moves))):
            column = area.column + 5 + ply % sides * width
            _draw_move(canvas, row, column, moves[ply], is_current=ply + 1 == at)
            canvas.spot(Area(row, column, 1, width), f"ply {ply + 1}")


def _draw_move(canvas: Canvas, row: int, column: int, move: Listed, *, is_current: bool) -> None:
    end = canvas.put(row, column, move.side, SIDES.get(move.side, Look.BOLD))
    look = Look.LOSS | Look.BOLD if move.sign else Look.PLAIN
    canvas.put(row, end + 1, move.text + move.sign, look | (Look.REVERSED if is_current else Look(0)))
