"""Do the two solvers agree? Every place of a page against a search of the position that it holds.

Which place holds which position is taken from the index's definition (count the masks upwards), and
which positions a game can reach from the rules, so that a page filled wrongly in either way is caught.
"""

import random

import numpy as np

from solver.errors import SolversDisagree
from solver.games.position import Position, is_reachable
from solver.index.places import UNREACHED, Half, Place, unrank
from solver.kernels.bits import bit_count, next_mask
from solver.kernels.jit import jit
from solver.search.alphabeta import AlphaBeta, search

_FOUND = 5  # in `found`: whether a difference was, X's cells, O's cells, the page's score, the search's


def check_all(solver: AlphaBeta, os: int, halves: np.ndarray, pages: np.ndarray) -> None:
    """Nothing, if searching every position of some halves' pages confirms it; else SolversDisagree."""
    found = np.zeros(_FOUND, np.int64)
    game = solver.game
    lines = np.array(game.lines, np.int64)
    _compare(os, halves, pages, lines, game.cells, game.misere, solver.memory, solver.table, found)
    if found[0]:
        _disagree(Position(solver.game, int(found[1]), int(found[2])), int(found[3]), int(found[4]))


def check_sample(
    solver: AlphaBeta, os: int, halves: np.ndarray, pages: np.ndarray, size: int, budget: float, rng: random.Random
) -> tuple[int, int, int]:
    """Search up to `size` places drawn at random, until so many nodes were visited.

    Gives how many were confirmed, how many given up, and the nodes.
    """
    confirmed = abandoned = nodes = 0
    for number in rng.sample(range(pages.size), min(size, pages.size)):
        if nodes > budget:
            break
        i, place = divmod(number, pages.shape[1])
        half = Half(int(halves[i]))
        position = Position(solver.game, half, unrank(half, solver.game.cells, os, Place(place)))
        searched = solver.score(position) if is_reachable(position) else UNREACHED
        nodes += solver.nodes
        if searched is None:
            abandoned += 1
        elif searched != pages[i, place]:
            _disagree(position, int(pages[i, place]), searched)
        else:
            confirmed += 1
    return confirmed, abandoned, nodes


def _disagree(position: Position, swept: int, searched: int) -> None:
    says = {UNREACHED: "that no game reaches it"}
    raise SolversDisagree(
        f"board {str(position)!r} of {position.game.name}: the sweep says {says.get(swept, swept)}, "
        f"alpha-beta {says.get(searched, searched)}"
    )


@jit("void(int64, int64[::1], int8[:,::1], int64[::1], int64, boolean, int64[::1], int64[::1], int64[::1])")
def _compare(os, halves, pages, lines, cells, misere, memory, table, found):
    """Stop at the first place that a search does not confirm, and tell in `found` which."""
    for i in range(len(halves)):
        x = halves[i]
        worth = cells + 1 - bit_count(x) - os
        mask = (1 << os) - 1
        for place in range(pages.shape[1]):
            o, b = 0, 0
            for cell in range(cells):
                if not x >> cell & 1:
                    o |= (mask >> b & 1) << cell
                    b += 1
            common = x | o
            for line in lines:
                if line & o == line:
                    common &= line
            if common == x | o:
                own, their = (x, o) if bit_count(x) == os else (o, x)
                score = search(own, their, -127, 127, memory, table)
            elif common and bit_count(x) == os:
                score = worth if misere else -worth
            else:
                score = UNREACHED
            if score != pages[i, place]:
                found[0], found[1], found[2], found[3], found[4] = 1, x, o, pages[i, place], score
                return
            mask = next_mask(mask)
