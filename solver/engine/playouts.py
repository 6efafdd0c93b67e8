"""Monte Carlo tree search of games of lines, compiled: random games that see threats.

A playout goes down the tree by the rule UCT, adds what follows the position that it comes to, and plays on from there.
It completes a line if it can, else it blocks one of the other side, else a fork ends it; else it draws two cells near
the stones, and claims the more promising one. In misère it claims no cell that completes a line of its own, if it can.
The tree holds the most promising moves of a position, and the more often it was visited, the more of them are tried. A
position whose end is forced is marked, and not played again.

The tree is a few arrays; the children of a position stand next to each other, the most promising first. The state of
the board is the engine's (solver/engine/board.py).
"""

import numpy as np

from solver.engine.board import CELL, EMPTY, MISERE, NEAR, ONE, OPEN, PLY, TAKEN, TWO, WORDS, place, put, take_back
from solver.engine.kernels import worth_of
from solver.engine.tables import near_cells, tables_of, words_of
from solver.engine.threats import find_defences, find_fork, find_gaps
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.kernels.bits import bit_count, lowest
from solver.kernels.chance import below, next_random, seeded
from solver.kernels.jit import helper, jit

_CHILDREN_A_PLAYOUT = 12
_ROOM = 1 << 22
"""The tree has room for so many positions for each playout, and for so many in all; then it grows no more."""

_WIDEST = 40
"""How many moves of a position are in the tree, at most, below the root."""

_FIRST, _WIDENS = 2, 0.4
"""How many of them are tried at once; and as many more as this power of the number of visits."""

_BONUS = 0.5
"""How much moves that were tried seldom are preferred."""

_ROOT, _ALL, _HERE, _DEFENCE, _LISTED = range(PLY, PLY + 5 * WORDS, WORDS)
"""Where sets of cells stand in the engine's state: those near stones at the root, all, those near stones in the
position that a playout has reached, and those that stop forks there; then a list of its moves."""

FIRST_CHILD, CHILDREN, CLAIMED, VISITS, FORCED = range(5)
"""Columns of the tree; FORCED is 1 if the side that moved there wins, -1 if it loses, as far as the tree sees."""


class Playouts:
    """Plays random games from positions of one game. One thread at a time may ask it."""

    def __init__(self, game: Game) -> None:
        """Prepare to play a game."""
        self.game = game
        self._c, self._fresh = tables_of(game)
        self._s = self._fresh.copy()
        self._near = near_cells(game)
        self._middle = max(range(game.cells), key=lambda cell: (len(game.lines_through[cell]), -_aside(game, cell)))

    def best(self, own: int, other: int, playouts: int, seed: int) -> int:
        """Return the cell that did best in so many random games, for the side of `own`, which is to move."""
        shares = self.shares(own, other, playouts, seed)
        return max(shares, key=shares.__getitem__)

    def shares(self, own: int, other: int, playouts: int, seed: int) -> dict[int, float]:
        """Return how often each move was tried, as a share: near 0 if it loses by force, 1 if it wins by force."""
        self._set_up(own, other)
        room = min(playouts * _CHILDREN_A_PLAYOUT, _ROOM) + 2 * self.game.cells
        tree, points = np.zeros((room, 5), np.int32), np.zeros(room)
        path = np.zeros((2, self.game.cells + 2), np.int32)
        side = (own | other).bit_count() % 2
        grow(self._c, self._s, side, playouts, seed & (1 << 62) - 1, tree, points, path)
        start, count = tree[0, FIRST_CHILD], tree[0, CHILDREN]
        children = tree[start : start + count]
        tried = children[:, VISITS] * np.where(children[:, FORCED] < 0, 1e-9, 1.0)
        if tree[0, FORCED] < 0:
            tried = np.where(children[:, FORCED] > 0, 1.0, 0.0)
        return dict(zip(children[:, CLAIMED].tolist(), (tried / tried.sum()).tolist(), strict=True))

    def _set_up(self, own: int, other: int) -> None:
        """Put the stones on an empty board."""
        self._s[:] = self._fresh
        side, near = (own | other).bit_count() % 2, 0
        for cells, mover in ((own, side), (other, 1 - side)):
            for cell in cells_of(cells):
                put(self._c, self._s, cell, mover)
                near |= self._near[cell]
        if not own | other:
            near = self._near[self._middle] | 1 << self._middle
        if self.game.misere or not near & ~(own | other):
            near = self.game.full
        self._s[_ROOT : _ROOT + WORDS], self._s[_ALL : _ALL + WORDS] = words_of(near), words_of(self.game.full)


def _aside(game: Game, cell: int) -> int:
    """Return how far a cell is from the middle of the board."""
    row, column = divmod(game.squares[cell], game.columns)
    return abs(2 * row + 1 - game.rows) + abs(2 * column + 1 - game.columns)


@helper
def add_near(c, s, cell):
    """Add the cells near one to those that may be claimed."""
    near = NEAR + 2 * WORDS * cell
    for word in range(WORDS):
        s[_HERE + word] |= (c[near + 2 * word] & 0xFFFFFFFF) | c[near + 2 * word + 1] << 32


@helper
def fill_near(s):
    """Return how many cells may be claimed, which are all if those near stones are taken."""
    count = 0
    for word in range(WORDS):
        count += bit_count(s[_HERE + word] & ~s[TAKEN + word])
    if count:
        return count
    for word in range(WORDS):
        s[_HERE + word] = s[_ALL + word]
    return s[EMPTY]


@helper
def claimable(s, number):
    """Return the cell with a number among those that may be claimed."""
    for word in range(WORDS):
        cells = s[_HERE + word] & ~s[TAKEN + word]
        here = bit_count(cells)
        if number < here:
            while number:
                cells &= cells - 1
                number -= 1
            return word << 6 | lowest(cells)
        number -= here
    return -1


@helper
def any_cell(s, side, state):
    """Return a random cell; in misère one that completes no line of the side, if there is any."""
    count = fill_near(s)
    first = below(state, count)
    cell = claimable(s, first)
    for i in range(1, count if s[MISERE] else 1):
        if not s[CELL + 4 * cell + side] >> ONE:
            break
        cell = claimable(s, (first + i) % count)
    return cell


@helper
def promise(s, cell, side):
    """Return how promising a move is. In misère a cell on few open lines is: it leaves the others to the other side."""
    own, other = worth_of(s, cell, side), worth_of(s, cell, 1 - side)
    if not s[MISERE]:
        return 2 * own + other
    return 0 if s[CELL + 4 * cell + side] >> ONE else max(1, 100_000 - 2 * own - other)


@helper
def better_of_two(s, side, state):
    """Return the more promising one of two random cells, and the next random number."""
    state = next_random(state)
    one = any_cell(s, side, state)
    state = next_random(state)
    two = any_cell(s, side, state)
    return (two if promise(s, two, side) > promise(s, one, side) else one), state


@helper
def forced_move(c, s, side, last):
    """Return the cell that completes a line, else one that stops one, else one that makes a fork, else -1."""
    other = 1 - side
    if s[MISERE]:
        return -1
    if s[OPEN + 8 * side + 1]:
        return find_gaps(c, s, side, -1)[0]
    if s[OPEN + 8 * other + 1]:
        return find_gaps(c, s, other, last)[0]
    return find_fork(c, s, side, _HERE, 0) if s[OPEN + 8 * side + 2] >= 2 else -1


@helper
def play_out(c, s, side, last, state, trail, depth):
    """Play to the end; return who wins (2 for nobody), how long the trail is then, and the next random number."""
    while s[EMPTY]:
        cell = forced_move(c, s, side, last)
        if cell >= 0 and (s[OPEN + 8 * side + 1] or not s[OPEN + 8 * (1 - side) + 1]):
            return side, depth, state
        if cell < 0:
            cell, state = better_of_two(s, side, state)
            if s[CELL + 4 * cell + side] >> ONE:
                return 1 - side, depth, state
        place(c, s, cell, side)
        add_near(c, s, cell)
        trail[depth] = cell
        depth += 1
        last = cell
        side = 1 - side
    return 2, depth, state


@helper
def list_cells(s, side, only):
    """List the cells near stones, each with how promising it is; with `only`, defences and own threats alone."""
    count = 0
    for word in range(WORDS):
        cells = s[_HERE + word] & ~s[TAKEN + word]
        while cells:
            bit = lowest(cells)
            cells &= cells - 1
            cell = word << 6 | bit
            if not only or s[_DEFENCE + word] >> bit & 1 or s[CELL + 4 * cell + side] >> TWO:
                s[_LISTED + count] = promise(s, cell, side) << 9 | cell
                count += 1
    return count


@helper
def list_moves(c, s, side):
    """List the moves of a position in which none is forced, and return how many there are."""
    count, only = 0, 0
    if not s[MISERE] and s[OPEN + 8 * (1 - side) + 2] >= 2:
        only = find_defences(c, s, 1 - side, _HERE, _DEFENCE)
    if only:
        count = list_cells(s, side, only)
    if count == 0:
        fill_near(s)
        count = list_cells(s, side, 0)
    return count


@helper
def add_children(c, s, side, last, tree, node, used, widest):
    """Add the moves of a position to the tree, the most promising first; return how many positions there are then."""
    tree[node, FIRST_CHILD] = used
    forced = forced_move(c, s, side, last)
    if forced >= 0:
        tree[node, CHILDREN] = 1
        tree[used, CLAIMED] = forced
        return used + 1
    listed = list_moves(c, s, side)
    count = min(listed, widest)
    for i in range(count):
        best = i
        for j in range(i + 1, listed):
            if s[_LISTED + j] > s[_LISTED + best]:
                best = j
        tree[used + i, CLAIMED] = s[_LISTED + best] & 511
        s[_LISTED + best] = s[_LISTED + i]
    tree[node, CHILDREN] = count
    return used + count


@helper
def chosen_child(tree, points, node):
    """Return the child to go to: the one with the best mean result and a bonus, of those that are tried by now."""
    start, visits = tree[node, FIRST_CHILD], tree[node, VISITS]
    count = min(tree[node, CHILDREN], _FIRST + int(visits**_WIDENS))
    best, chosen, logarithm = -2.0, -1, np.log(visits + 1.0)
    for child in range(start, start + count):
        tried = tree[child, VISITS]
        if tree[child, FORCED]:
            worth = 2.0 * tree[child, FORCED] + 1.0
        elif tried == 0:
            return child
        else:
            worth = points[child] / tried + _BONUS * np.sqrt(logarithm / tried)
        if worth > best:
            best, chosen = worth, child
    return chosen


@helper
def settle(tree, node):
    """Mark a position whose end is forced by its children: the side that moved there loses if one of them wins."""
    start, count = tree[node, FIRST_CHILD], tree[node, CHILDREN]
    lost = count > 0
    for child in range(start, start + count):
        if tree[child, FORCED] > 0:
            tree[node, FORCED] = -1
            return
        if tree[child, FORCED] == 0:
            lost = False
    if lost:
        tree[node, FORCED] = 1


@helper
def go_down(c, s, root_side, tree, points, path, used):
    """Go down the tree to a position to play on from; return how deep it is, who has won (-1: nobody yet), and `used`.

    A position gets its children when it is first left.
    """
    node, depth, side, last = 0, 0, root_side, -1
    while True:
        if tree[node, CHILDREN] == 0:
            if (node and tree[node, VISITS] == 0) or used + len(path[1]) > len(tree):
                return depth, -1, used
            used = add_children(c, s, side, last, tree, node, used, _WIDEST)
        node = chosen_child(tree, points, node)
        last = tree[node, CLAIMED]
        path[1, depth] = last
        depth += 1
        path[0, depth] = node
        ends = s[CELL + 4 * last + side] >> ONE
        place(c, s, last, side)
        add_near(c, s, last)
        if ends:
            tree[node, FORCED] = -1 if s[MISERE] else 1
            return depth, (1 - side if s[MISERE] else side), used
        if s[EMPTY] == 0:
            return depth, 2, used
        side = 1 - side


@helper
def count_result(tree, points, path, depth, root_side, winner):
    """Count a result in every position that a playout came through."""
    for i in range(depth, -1, -1):
        at = path[0, i]
        mover = root_side if i & 1 else 1 - root_side
        tree[at, VISITS] += 1
        points[at] += 0.5 if winner == 2 else 1.0 if winner == mover else 0.0
        if i < depth and tree[path[0, i + 1], FORCED]:
            settle(tree, at)


@jit("int64(int32[::1], int64[::1], int64, int64, int64, int32[:,::1], float64[::1], int32[:,::1])")
def grow(c, s, root_side, playouts, seed, tree, points, path):
    """Play random games from the root, and count their results along the way; return the size of the tree.

    `points` are those of the side that moved to a position; `path` has the positions of a playout, and its moves.
    """
    state = seeded(seed, 0)
    for word in range(WORDS):
        s[_HERE + word] = s[_ROOT + word]
    used = add_children(c, s, root_side, -1, tree, 0, 1, len(path[0]))
    for _ in range(playouts):
        if tree[0, FORCED]:
            break
        for word in range(WORDS):
            s[_HERE + word] = s[_ROOT + word]
        depth, winner, used = go_down(c, s, root_side, tree, points, path, used)
        length = depth
        if winner < 0:
            side = root_side if depth & 1 == 0 else 1 - root_side
            last = path[1, depth - 1] if depth else -1
            winner, length, state = play_out(c, s, side, last, state, path[1], depth)
        for i in range(length - 1, -1, -1):
            take_back(c, s, path[1, i], root_side if i & 1 == 0 else 1 - root_side)
        count_result(tree, points, path, depth, root_side, winner)
    return used
