"""Whether a pairing or a sum of weights holds, worked out cell by cell; no code is shared with what finds them."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from solver.certificates.refusals import Refuted
from solver.games.board import cells_of
from solver.games.lines import Game


def check_pairing(game: Game, x: int, o: int, pairs: Sequence[tuple[int, int]]) -> str:
    """Return the sides that the pairs stop: "XO", "X", "O" or ""; raise Refuted unless they are disjoint and empty.

    A side that is stopped never completes a line, whoever is to move.
    """
    _require_cells(game, x, o)
    used: set[int] = set()
    for pair in pairs:
        for cell in pair:
            if not 0 <= cell < game.cells or (x | o) >> cell & 1:
                raise Refuted(f"cell {cell} of a pair is not an empty cell of {game.name}")
            if cell in used:
                raise Refuted(f"cell {game.cell_name(cell)!r} is in a pair twice")
            used.add(cell)
    mates = {cell: mate for a, b in pairs for cell, mate in ((a, b), (b, a))}
    stopped = ""
    for side, other in (("X", o), ("O", x)):
        if all(any(mates.get(cell) in cells for cell in cells) for cells in _lines(game, other)):
            stopped += side
    return stopped


def check_weights(game: Game, x: int, o: int) -> str:
    """Return the sides that weights alone show never to complete a line: "XO", "X", "O" or ""."""
    _require_cells(game, x, o)
    to_move = "X" if x.bit_count() == o.bit_count() else "O"
    stopped = ""
    for side, other in (("X", o), ("O", x)):
        total = Fraction(0)
        by_cell = dict.fromkeys(range(game.cells), Fraction(0))
        for cells in _lines(game, other):
            empty = [cell for cell in cells if not (x | o) >> cell & 1]
            total += Fraction(1, 2 ** len(empty))
            for cell in empty:
                by_cell[cell] += Fraction(1, 2 ** len(empty))
        if total + (max(by_cell.values()) if side == to_move else 0) < 1:
            stopped += side
    return stopped


def _require_cells(game: Game, x: int, o: int) -> None:
    if game.misere:
        raise Refuted(f"pairs and weights say nothing of {game.name}, in which completing a line loses")
    if x & o or (x | o) & ~game.full or min(x, o) < 0:
        raise Refuted(f"cells {x:#x} of X and {o:#x} of O overlap, or are not all on the board of {game.name}")


def _lines(game: Game, other: int) -> Iterator[set[int]]:
    """Yield the cells of each line in which `other` has none."""
    for line in game.lines:
        if not line & other:
            yield set(cells_of(line))
