"""The first solver: alpha-beta search from a position to the end of the game.

It shares the rules (lines, misère, the meaning of a score) and the symmetries with the sweep, and nothing
else: no index, no pages, no search code. The two solvers are independent, so their agreement is evidence.

`search` is fail-soft. A result strictly between alpha and beta is the exact score for the side to
move; a result of alpha or less is an upper bound, a result of beta or more a lower bound.

Before it tries any move, a node collects the cells that would complete a line:

- a cell for the side to move: it wins now;
- two cells for the opponent: the side to move loses in 2 plies; one cell: that move is forced;
- none: the earliest win is 3 plies away and the earliest loss 4, so the window is narrowed to their
  scores; a player without an open line cannot win, so that player's side of the window is cut to 0.

In misère play a node completes a line only if it has no other move; then it has lost.

The transposition table has one 64-bit word for a position: 2 bits for the kind of score (exact, or
which bound), 7 bits for the score, and the rest for the position's key. A key has one digit in base 3
for each cell: 0 empty, 1 `own`, 2 `their`; 32 digits take 51 bits. The key of a position is the smallest
of the keys of its images under the symmetries. Words are read and written atomically, so threads can
share the table.
"""

from collections.abc import Sequence
from copy import copy

import numpy as np

from solver.games.lines import Game
from solver.games.position import Position
from solver.index.symmetry import Symmetry
from solver.kernels.bits import bit_count, lowest
from solver.kernels.jit import helper, jit

NODES, CUTOFFS, HITS, ABANDONED = range(4)
"""Indexes into a search's memory: what it counts."""

_CELLS, _MISERE, _PRUNE, _LIMIT, _LINES, _LAST_LINE, _GROUP = range(4, 11)
_ORDER = 16
_IMAGES = _ORDER + 32
_BYTES = 4
_EXACT, _AT_LEAST, _AT_MOST = 1, 2, 3
_BUCKET = 4
_WORD_BITS = 9
_MULTIPLIER = -7046029254386353131  # 2**64 over the golden ratio: spreads keys over the table


class AlphaBeta:
    """Alpha-beta search of one game, with a transposition table that all its searches share."""

    def __init__(
        self, game: Game, group: Sequence[Symmetry], *, prune: bool = True, table_bits: int = 20, limit: int = 0
    ) -> None:
        """Prepare to search `game`. Without `prune`, try every move; with a `limit`, give up after that many nodes."""
        self.game = game
        images = _image_rows(group).ravel()
        lines = _IMAGES + len(images)
        self.table = np.zeros(1 << table_bits, np.int64)
        self.memory = np.zeros(lines + len(game.lines), np.int64)
        self.memory[_CELLS : _GROUP + 1] = game.cells, game.misere, prune, limit, lines, len(self.memory), len(group)
        busyness = [len(lines) for lines in game.lines_through]
        for i, most in enumerate(sorted(set(busyness), reverse=True)):
            self.memory[_ORDER + i] = sum(1 << cell for cell, busy in enumerate(busyness) if busy == most)
        self.memory[_IMAGES:lines] = images
        self.memory[lines:] = game.lines

    def beside(self) -> "AlphaBeta":
        """Return a search for another thread: it shares the table and has counters of its own."""
        other = copy(self)
        other.memory = self.memory.copy()
        other.memory[:_CELLS] = 0
        return other

    def score(self, position: Position) -> int | None:
        """Return the exact score for the side to move; None if the search was given up at its limit."""
        over = position.score_if_over()
        if over is not None:
            return over
        own, their = (position.x, position.o) if position.mover == "X" else (position.o, position.x)
        self.memory[:_CELLS] = 0
        score = search(own, their, -127, 127, self.memory, self.table)
        return None if self.memory[ABANDONED] else int(score)

    @property
    def nodes(self) -> int:
        """The number of positions visited."""
        return int(self.memory[NODES])

    @property
    def cutoffs(self) -> int:
        """How often a move's score made the remaining moves of a position irrelevant."""
        return int(self.memory[CUTOFFS])

    @property
    def hits(self) -> int:
        """How often the table had an entry for a position."""
        return int(self.memory[HITS])


def _image_rows(group: Sequence[Symmetry]) -> np.ndarray:
    """Return a table [byte, value, symmetry_id]: the key of the image of eight `own` cells under each symmetry."""
    rows = np.zeros((_BYTES, 256, len(group)), np.int64)
    for cell, moved in enumerate(np.array(group, np.int64).T):
        byte, bit = divmod(cell, 8)
        rows[byte, 1 << bit : 2 << bit] = rows[byte, : 1 << bit] + 3**moved
    return rows


@helper
def _threats(own, their, memory):
    """Return the cells that complete a line for `own` and for `their`, and whether each has an open line."""
    win = lose = own_open = their_open = 0
    for i in range(memory[_LINES], memory[_LAST_LINE]):
        line = memory[i]
        if line & their == 0:
            own_open = 1
            gap = line & ~own
            if gap & (gap - 1) == 0:
                win |= gap
        if line & own == 0:
            their_open = 1
            gap = line & ~their
            if gap & (gap - 1) == 0:
                lose |= gap
    return win, lose, own_open, their_open


@helper
def _bounds(moves, win, lose, own_open, their_open, misere, win_score):
    """Return the moves to consider, and a lower and an upper bound of the score; equal bounds are the score."""
    if misere:
        moves &= ~win
        if moves == 0:
            return moves, 1 - win_score, 1 - win_score
        return moves, (3 - win_score) * own_open, (win_score - 2) * their_open
    if win:
        return moves, win_score - 1, win_score - 1
    if lose & (lose - 1):
        return moves, 2 - win_score, 2 - win_score
    return lose or moves, (4 - win_score) * their_open, (win_score - 3) * own_open


@helper
def _row(cells, byte, memory):
    """Return where the keys of the images of one byte of a set start."""
    return _IMAGES + (byte << 8 | (cells >> 8 * byte & 255)) * memory[_GROUP]


@helper
def _key(own, their, memory):
    """Return the smallest key of an image. Keys of separate cells are added, and `their` cells count twice."""
    a, b, c, d = _row(own, 0, memory), _row(own, 1, memory), _row(own, 2, memory), _row(own, 3, memory)
    e, f, g, h = _row(their, 0, memory), _row(their, 1, memory), _row(their, 2, memory), _row(their, 3, memory)
    key = 1 << 62
    for i in range(memory[_GROUP]):
        mine = memory[a + i] + memory[b + i] + memory[c + i] + memory[d + i]
        yours = memory[e + i] + memory[f + i] + memory[g + i] + memory[h + i]
        key = min(key, mine + 2 * yours)
    return key


@helper
def _find(key, table):
    """Return the slot of a position in the table, or the slot to store it in."""
    mixed = key * _MULTIPLIER
    bucket = (mixed ^ mixed >> 32) & (len(table) - _BUCKET)
    for slot in range(bucket, bucket + _BUCKET):
        if table[slot] == 0 or table[slot] >> _WORD_BITS == key:
            return slot
    return bucket + (mixed >> 60 & (_BUCKET - 1))


@helper
def _look_up(key, word, alpha, beta, memory):
    """Return whether the word of a slot decides the position under this window, and the score in it."""
    if word == 0 or word >> _WORD_BITS != key:
        return False, 0
    memory[HITS] += 1
    score, bound = (word >> 2 & 127) - 64, word & 3
    return bound == _EXACT or (bound == _AT_LEAST and score >= beta) or (bound == _AT_MOST and score <= alpha), score


@jit("int64(int64, int64, int64, int64, int64[::1], int64[::1])")
def search(own, their, alpha, beta, memory, table):
    """Return the score of an open position for the side to move, whose cells are `own`.

    `memory` holds everything in one array: numba updates a reference count for each array that it
    passes down the recursion, and for ten arrays that takes longer than the search itself.
    """
    memory[NODES] += 1
    if memory[_LIMIT] and memory[NODES] > memory[_LIMIT]:
        memory[ABANDONED] = 1
        return 0
    misere, prune = memory[_MISERE], memory[_PRUNE]
    win_score = memory[_CELLS] + 1 - bit_count(own | their)
    moves = ((1 << memory[_CELLS]) - 1) & ~(own | their)
    if moves == 0:
        return 0

    win, lose, own_open, their_open = _threats(own, their, memory)
    if prune:
        moves, lower, upper = _bounds(moves, win, lose, own_open, their_open, misere, win_score)
        if upper <= alpha or upper <= lower:
            return upper
        if lower >= beta:
            return lower
        alpha, beta = max(alpha, lower), min(beta, upper)

    key = _key(own, their, memory)
    slot = _find(key, table)
    known, score = _look_up(key, table[slot], alpha, beta, memory)
    if known:
        return score

    best, floor = -127, alpha
    group = _ORDER
    while moves:
        while moves & memory[group] == 0:
            group += 1
        cell = lowest(moves & memory[group])
        moves ^= 1 << cell
        if win >> cell & 1:
            score = 1 - win_score if misere else win_score - 1
        else:
            score = -search(their, own | 1 << cell, -beta, -floor, memory, table)
            if memory[ABANDONED]:
                return 0
        best = max(best, score)
        if prune:
            floor = max(floor, best)
            if floor >= beta:
                memory[CUTOFFS] += moves != 0
                break
    bound = _AT_LEAST if best >= beta else _AT_MOST if best <= alpha else _EXACT
    table[slot] = key << _WORD_BITS | (best + 64) << 2 | bound
    return best
