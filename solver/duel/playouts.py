"""Monte Carlo tree search of the duel, compiled: the same rule as play/players/mcts.py, some hundred times as fast.

The tree is a few arrays. A position's children stand next to each other, and are all made when it is first left.
"""

from collections.abc import Sequence

import numpy as np

from solver.kernels.bits import bit_count, lowest
from solver.kernels.chance import below, next_random
from solver.kernels.jit import helper, jit

_CHILDREN_A_PLAYOUT = 12
"""The tree has room for so many positions for each playout; if they are used up, it grows no more."""


def best_of_playouts(neighbours: Sequence[int], own: int, other: int, playouts: int, bonus: float, seed: int) -> int:
    """Return the cell that was tried most in so many random games, for the side to move, whose tiles are `own`."""
    shares = shares_of_playouts(neighbours, own, other, playouts, bonus, seed)
    return max(shares, key=shares.__getitem__)


def shares_of_playouts(
    neighbours: Sequence[int], own: int, other: int, playouts: int, bonus: float, seed: int
) -> dict[int, float]:  # fmt: skip
    """Return how often each move was tried in so many random games, as a share."""
    room = playouts * _CHILDREN_A_PLAYOUT + 2 * len(neighbours)
    sides = np.zeros((2, room), np.int64)
    links, visits = np.zeros((3, room), np.int64), np.zeros(room, np.int64)
    points, path = np.zeros(room), np.zeros(len(neighbours) + 2, np.int64)
    near = np.array(neighbours, np.int64)
    sides[0, 0], sides[1, 0] = own, other
    _grow(playouts, bonus, seed | 1, near, sides, links, visits, points, path)
    children = slice(int(links[0, 0]), int(links[0, 0] + links[1, 0]))
    tried = visits[children]
    return dict(zip(links[2, children].tolist(), (tried / tried.sum()).tolist(), strict=True))


@helper
def _legal(own, other, near):
    """Return the cells that the side to move may fill."""
    empty = ((1 << len(near)) - 1) & ~(own | other)
    found, rest = 0, empty
    while rest:
        cell = lowest(rest)
        rest &= rest - 1
        if near[cell] & own:
            found |= 1 << cell
    return found if found else empty


@helper
def _play_out(own, other, near, state):
    """Play at random to the end; return 2 if the side to move wins, 1 for a draw, else 0, and the next number."""
    full, turns = (1 << len(near)) - 1, 0
    while own | other != full:
        legal = _legal(own, other, near)
        state = next_random(state)
        for _ in range(below(state, bit_count(legal))):
            legal &= legal - 1
        cell = lowest(legal)
        own, other = other & ~near[cell], own | other & near[cell] | 1 << cell
        turns += 1
    margin = bit_count(own) - bit_count(other)
    if turns & 1:
        margin = -margin
    return (2 if margin > 0 else 1 if margin == 0 else 0), state


@jit("void(int64, float64, int64, int64[::1], int64[:,::1], int64[:,::1], int64[::1], float64[::1], int64[::1])")
def _grow(playouts, bonus, state, near, sides, links, visits, points, path):
    """Play random games from the root, and count their results along the way.

    `sides` are the tiles of the side to move and the other's; `links` where the children begin, how many there are, and
    the cell that leads here. `points` are those of the side that moved here.
    """
    used = 1
    full = (1 << len(near)) - 1
    for _ in range(playouts):
        node, depth = 0, 0
        path[0] = 0
        while sides[0, node] | sides[1, node] != full:
            own, other = sides[0, node], sides[1, node]
            if links[1, node] == 0:
                if node and (visits[node] == 0 or used + len(near) >= len(visits)):
                    break
                legal = _legal(own, other, near)
                links[0, node] = used
                links[1, node] = bit_count(legal)
                while legal:
                    cell = lowest(legal)
                    legal &= legal - 1
                    sides[0, used], sides[1, used] = other & ~near[cell], own | other & near[cell] | 1 << cell
                    links[2, used] = cell
                    used += 1
            best, chosen, logarithm = -1.0, 0, np.log(visits[node] + 1.0)
            state = next_random(state)
            start, count = links[0, node], links[1, node]
            first = ((state >> 20) & 0xFFFFFF) % count
            for i in range(count):
                child = start + (first + i) % count
                if visits[child] == 0:
                    worth = 1e9
                else:
                    worth = points[child] / visits[child] + bonus * np.sqrt(logarithm / visits[child])
                if worth > best:
                    best, chosen = worth, child
            node = chosen
            depth += 1
            path[depth] = node
        result, state = _play_out(sides[0, node], sides[1, node], near, state)
        value = 1.0 - result / 2.0
        for i in range(depth, -1, -1):
            visits[path[i]] += 1
            points[path[i]] += value
            value = 1.0 - value
