"""Whether a pairing or a sum of weights holds, worked out cell by cell; no code is shared with what finds them."""

from collections.abc import Sequence
from fractions import Fraction

from solver.certificates.refusals import Refuted
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
    whole = [{*pair} for pair in pairs]
    stopped = ""
    for side, other in (("X", o), ("O", x)):
        lines = [cells for cells in _lines(game) if not any(other >> cell & 1 for cell in cells)]
        if all(any(pair <= cells for pair in whole) for cells in lines):
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
        for cells in _lines(game):
            if not any(other >> cell & 1 for cell in cells):
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


def _lines(game: Game) -> list[frozenset[int]]:
    return [frozenset(cell for cell in range(line.bit_length()) if line >> cell & 1) for line in game.lines]
