"""The first solver: alpha-beta search from a position to the end of the game.

It shares with the sweep the rules (lines, misère, what a score means) and the symmetries, and nothing
else: no index, no pages, no search code. That is what makes their agreement worth something.

`search` gives the exact score for the side to move when it lies strictly between alpha and beta; a
result of alpha or less is an upper bound of it, a result of beta or more a lower bound (fail-soft).

Before it looks at any move, a node counts the cells that would complete a line:
- its own: it wins now; two of the opponent's: it loses in two plies; one: that move is forced;
- else the soonest win is 3 plies away and the soonest loss 4, so the window can be cut to
  those, and to 0 on the side of a player whom no open line is left.
In misère play a node never completes a line unless it must; then it has lost.

The transposition table holds one 64-bit word for a position: two bits say whether the score is
exact or which bound it is, seven hold the score, and the rest the canonical position, which is the
smallest image under the symmetries. A word is read and written at once, so threads can share it.
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
"""What a search counts, at the start of its memory."""

_CELLS, _MISERE, _PRUNE, _LIMIT, _LINES, _LAST_LINE, _GROUP = range(4, 11)
_ORDER = 16
_IMAGES = _ORDER + 32
_BYTES = 4
_EXACT, _AT_LEAST, _AT_MOST = 1, 2, 3
_BUCKET = 4
_CELL_BITS = 27
_WORD_BITS = 9
_MULTIPLIER = -7046029254386353131  # 2**64 over the golden ratio: spreads keys over the table


class AlphaBeta:
    """A search of one game, with a table that all its searches share."""

    def __init__(
        self, game: Game, group: Sequence[Symmetry], *, prune: bool = True, table_bits: int = 20, limit: int = 0
    ) -> None:
        """Without `prune` it looks at every move of every position; `limit` nodes end a search undecided."""
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
        """Another search of the same game for another thread: it shares the table and counts for itself."""
        other = copy(self)
        other.memory = self.memory.copy()
        other.memory[:_CELLS] = 0
        return other

    def score(self, position: Position) -> int | None:
        """The exact score for the side to move; None if the search was given up at its limit."""
        over = position.score_if_over()
        if over is not None:
            return over
        own, their = (position.x, position.o) if position.mover == "X" else (position.o, position.x)
        self.memory[:_CELLS] = 0
        score = search(own, their, -127, 127, self.memory, self.table)
        return None if self.memory[ABANDONED] else int(score)

    @property
    def nodes(self) -> int:
        """How many positions were visited."""
        return int(self.memory[NODES])

    @property
    def cutoffs(self) -> int:
        """How often one move's score made all later moves of a position needless."""
        return int(self.memory[CUTOFFS])

    @property
    def hits(self) -> int:
        """How often a position was found in the table."""
        return int(self.memory[HITS])


def _image_rows(group: Sequence[Symmetry]) -> np.ndarray:
    """[byte, value, symmetry]: the image of eight cells under each symmetry, side by side."""
    rows = np.zeros((_BYTES, 256, len(group)), np.int64)
    for cell, moved in enumerate(np.array(group, np.int64).T):
        byte, bit = divmod(cell, 8)
        rows[byte, 1 << bit : 2 << bit] = rows[byte, : 1 << bit] | 1 << moved
    return rows


@helper
def _threats(own, their, memory):
    """The cells that complete a line of `own`, those that do of `their`, and whether each has a line open."""
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
def _row(cells, byte, memory):
    return _IMAGES + (byte << 8 | (cells >> 8 * byte & 255)) * memory[_GROUP]


@helper
def _key(own, their, memory):
    """The canonical position: the smallest image of `own`, then of `their`."""
    a, b, c, d = _row(own, 0, memory), _row(own, 1, memory), _row(own, 2, memory), _row(own, 3, memory)
    e, f, g, h = _row(their, 0, memory), _row(their, 1, memory), _row(their, 2, memory), _row(their, 3, memory)
    key = 1 << 62
    for i in range(memory[_GROUP]):
        mine = memory[a + i] | memory[b + i] | memory[c + i] | memory[d + i]
        yours = memory[e + i] | memory[f + i] | memory[g + i] | memory[h + i]
        key = min(key, mine << _CELL_BITS | yours)
    return key


@helper
def _find(key, table):
    """The slot of a position in the table, or the one to put it in."""
    mixed = key * _MULTIPLIER
    bucket = (mixed ^ mixed >> 32) & (len(table) - _BUCKET)
    for slot in range(bucket, bucket + _BUCKET):
        if table[slot] == 0 or table[slot] >> _WORD_BITS == key:
            return slot
    return bucket + (mixed >> 60 & (_BUCKET - 1))


@jit("int64(int64, int64, int64, int64, int64[::1], int64[::1])")
def search(own, their, alpha, beta, memory, table):
    """The score of a game that is not over, for the side whose cells are `own` and whose turn it is.

    `memory` is all that it knows in one array: each array that is handed down through the recursion is
    counted in and out at every node, and ten of them take longer than the search itself.
    """
    memory[NODES] += 1
    if memory[_LIMIT] and memory[NODES] > memory[_LIMIT]:
        memory[ABANDONED] = 1
        return 0
    misere, prune = memory[_MISERE], memory[_PRUNE]
    worth = memory[_CELLS] + 1 - bit_count(own | their)
    moves = ((1 << memory[_CELLS]) - 1) & ~(own | their)
    if moves == 0:
        return 0

    win, lose, own_open, their_open = _threats(own, their, memory)
    if prune:
        if misere:
            moves &= ~win
            if moves == 0:
                return 1 - worth
            upper, lower = (worth - 2) * their_open, (3 - worth) * own_open
        else:
            if win:
                return worth - 1
            if lose & (lose - 1):
                return 2 - worth
            if lose:
                moves = lose
            upper, lower = (worth - 3) * own_open, (4 - worth) * their_open
        if upper <= alpha or upper <= lower:
            return upper
        if lower >= beta:
            return lower
        alpha, beta = max(alpha, lower), min(beta, upper)

    key = _key(own, their, memory)
    slot = _find(key, table)
    word = table[slot]
    if word and word >> _WORD_BITS == key:
        memory[HITS] += 1
        score, bound = (word >> 2 & 127) - 64, word & 3
        if bound == _EXACT or (bound == _AT_LEAST and score >= beta) or (bound == _AT_MOST and score <= alpha):
            return score

    best, floor = -127, alpha
    group = _ORDER
    while moves:
        while moves & memory[group] == 0:
            group += 1
        cell = lowest(moves & memory[group])
        moves ^= 1 << cell
        if win >> cell & 1:
            score = 1 - worth if misere else worth - 1
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
