"""Do the two solvers agree? Compare the places of a page with searches of the positions that they hold.

The check relies on neither solver to know which place holds which position: it follows the index's
definition (count the masks upwards). Which positions a game can reach it takes from the rules. So it
catches a page that is filled wrongly in either way.
"""

import random

import numpy as np

from solver.errors import SolversDisagree
from solver.games.position import Position, is_reachable
from solver.index.places import UNREACHED, Half, Place, unrank
from solver.kernels.bits import bit_count, next_mask
from solver.kernels.jit import jit
from solver.search.alphabeta import AlphaBeta, search

_FOUND = 6
"""The size of `found`: whether there is a difference, X's cells, O's cells, the page's score, the search's score,
and the number of places compared."""


def check_all(solver: AlphaBeta, o_count: int, halves: np.ndarray, pages: np.ndarray) -> None:
    """Raise SolversDisagree unless a search of every position in the pages of some halves confirms its score."""
    found = np.zeros(_FOUND, np.int64)
    game = solver.game
    lines = np.array(game.lines, np.int64)
    _compare(o_count, halves, pages, lines, game.cells, game.misere, solver.memory, solver.table, found)
    if found[0]:
        _disagree(Position(solver.game, int(found[1]), int(found[2])), int(found[3]), int(found[4]))
    if found[5] != pages.size:
        raise SolversDisagree(f"only {found[5]:,} of {pages.size:,} places were compared")


def check_sample(
    solver: AlphaBeta,
    o_count: int,
    halves: np.ndarray,
    pages: np.ndarray,
    size: int,
    budget: float,
    rng: random.Random,
) -> tuple[int, int, int]:
    """Search up to `size` random places, until `budget` nodes are used; raise SolversDisagree at a difference.

    Return the number of places confirmed, the number of searches given up, and the nodes used.
    """
    confirmed = abandoned = nodes = 0
    for number in rng.sample(range(pages.size), min(size, pages.size)):
        if nodes > budget:
            break
        i, place = divmod(number, pages.shape[1])
        half = Half(int(halves[i]))
        position = Position(solver.game, half, unrank(half, solver.game.cells, o_count, Place(place)))
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
        f"alpha-beta says {says.get(searched, searched)}"
    )


@jit("void(int64, int64[::1], int8[:,::1], int64[::1], int64, boolean, int64[::1], int64[::1], int64[::1])")
def _compare(o_count, halves, pages, lines, cells, misere, memory, table, found):
    """Write to `found` the first place that a search does not confirm, if there is one."""
    for i in range(len(halves)):
        x = halves[i]
        win_score = cells + 1 - bit_count(x) - o_count
        mask = (1 << o_count) - 1
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
                own, their = (x, o) if bit_count(x) == o_count else (o, x)
                score = search(own, their, -127, 127, memory, table)
            elif common and bit_count(x) == o_count:
                score = win_score if misere else -win_score
            else:
                score = UNREACHED
            if score != pages[i, place]:
                found[0], found[1], found[2], found[3], found[4] = 1, x, o, pages[i, place], score
                return
            found[5] += 1
            mask = next_mask(mask)
