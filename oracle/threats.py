"""Threats: which cells complete a line with the next stone, and which make two such threats at once.

They are read off the lines, without any search: what a player has to look at first on a large board.
"""

from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.position import Position

Threats = dict[str, list[str]]
"""Names of cells by what claiming one does for the side to move:

`completes` a line; `blocks` one that the other side would complete; `makes_two` threats at once, so that one reply does
not stop both; `stops_two` that the other side would make. Where completing a line loses, only `completes` has cells.
"""


def threats_of(position: Position) -> Threats:
    """Return the threats in a position that is not over."""
    game, x, o = position.game, position.x, position.o
    own, their = (x, o) if position.mover == "X" else (o, x)
    completes, makes_two = _seen(game, own, their)
    blocks, stops_two = _seen(game, their, own)
    found = {"completes": completes, "blocks": blocks, "makes_two": makes_two, "stops_two": stops_two}
    if game.misere:
        found = dict.fromkeys(found, 0) | {"completes": completes}
    return {name: [game.cell_name(cell) for cell in cells_of(cells)] for name, cells in found.items()}


def _seen(game: Game, own: int, their: int) -> tuple[int, int]:
    """Return the cells that complete a line for the side of `own`, and the others that make two threats for it."""
    gaps, follow = 0, dict[int, int]()
    for line in game.lines:
        if line & their:
            continue
        missing = line & ~own
        rest = missing & (missing - 1)
        if not rest:
            gaps |= missing
        elif not rest & (rest - 1):
            first = missing ^ rest
            follow[first] = follow.get(first, 0) | rest
            follow[rest] = follow.get(rest, 0) | first
    two = sum(cell for cell, then in follow.items() if then & (then - 1))
    return gaps, two & ~gaps
