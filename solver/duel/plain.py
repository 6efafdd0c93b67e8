"""Exact search of the duel in plain Python: slow, at hand at once, and a witness to the compiled code.

Alpha-beta with a table, in questions of yes or no: is the margin at least so much? A tile without an empty neighbour
is settled: it can neither be turned nor bear a new tile beside it. So a position's future depends on its empty cells
and on who has the other tiles. The table is keyed by these, and holds the margin that is still to come, without settled
tiles. The number of settled tiles bounds the margin. Moves that leave the opponent the fewest replies come first: they
are not the best, but what they prove costs least.

solver/duel/search.py has the same ideas, compiled, and shares no code with this file.
"""

from time import monotonic

from solver.errors import NotSettled
from solver.games.board import cells_of
from solver.games.duel import Duel

_KEPT = 4_000_000
"""How many positions are remembered, at most."""

GLANCE = 3
"""How many plies are looked ahead quickly, at most."""

_FAR = 1 << 20

_NODES_A_LOOK_AT_THE_CLOCK = 128


class PlainSearch:
    """Searches positions of one board, and remembers what it has proved."""

    def __init__(self, game: Duel) -> None:
        """Search a board's positions."""
        self._game = game
        self._known: dict[int, tuple[int, int]] = {}
        self._deadline = 0.0
        self._nodes = 0

    def bounds(self, own: int, other: int, low: int, high: int, deadline: float) -> int:
        """Return the margin for the side to move, or a bound of it; raise NotSettled at the deadline.

        A result of `low` or less is an upper bound, and one of `high` or more a lower bound.
        """
        self._deadline = deadline
        lower, upper = -self._game.cells, self._game.cells
        ask = 1
        while lower < upper and lower < high and upper > low:
            ask = min(max(ask, low + 1, lower + 1), high, upper)
            value = self._visit(own, other, ask - 1, ask)
            if value >= ask:
                lower = value
                ask = value + 1
            else:
                upper = ask = value
        return upper if upper <= low else lower

    def forget(self) -> None:
        """Forget what was proved, so that what follows is as in a new search."""
        self._known.clear()

    def _visit(self, own: int, other: int, alpha: int, beta: int) -> int:
        game = self._game
        self._nodes += 1
        if self._nodes % _NODES_A_LOOK_AT_THE_CLOCK == 0 and monotonic() > self._deadline:
            raise NotSettled("the time is up")
        empty = game.full & ~(own | other)
        open_cells = game.reach(empty)
        mine, theirs = (own & ~open_cells).bit_count(), (other & ~open_cells).bit_count()
        settled = mine - theirs
        most = game.cells - mine - theirs
        if not empty:
            return settled
        if settled + most <= alpha:
            return settled + most
        if settled - most >= beta:
            return settled - most
        key = empty << game.cells | own & open_cells
        least, greatest = self._known.get(key, (-most, most))
        if least == greatest or settled + least >= beta:
            return settled + least
        if settled + greatest <= alpha:
            return settled + greatest
        best, start = least, max(alpha - settled, least)
        floor, ceiling = start, min(beta - settled, greatest)
        for _, mine_after, theirs_after in self._moves(own, other, empty):
            best = max(best, -self._visit(theirs_after, mine_after, -ceiling - settled, -floor - settled) - settled)
            floor = max(floor, best)
            if floor >= ceiling:
                break
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known[key] = best if best > start else least, best if best < ceiling else greatest
        return settled + best

    def _moves(self, own: int, other: int, empty: int) -> list[tuple[int, int, int]]:
        """Return both sides' tiles after each legal move, those first after which the opponent has fewest replies."""
        game = self._game
        found = []
        for cell in cells_of(game.reach(own) & empty or empty):
            turned = other & game.neighbours[cell]
            theirs, left = other & ~turned, empty & ~(1 << cell)
            replies = game.reach(theirs) & left or left
            found.append((replies.bit_count(), own | 1 << cell | turned, theirs))
        found.sort()
        return found

    def glance(self, own: int, other: int, depth: int, seed: int) -> int:
        """Return the cell to fill that looks best some plies ahead; `seed` picks among equally good ones."""
        game, best = self._game, -_FAR
        found: list[int] = []
        empty = game.full & ~(own | other)
        for cell in cells_of(game.reach(own) & empty or empty):
            turned = other & game.neighbours[cell]
            value = -self._guess(other & ~turned, own | 1 << cell | turned, -_FAR, 1 - best, depth - 1)
            if value > best:
                best, found = value, []
            if value == best:
                found.append(cell)
        from random import Random  # only now: an exact search draws nothing by lot

        return Random(seed).choice(found)

    def _guess(self, own: int, other: int, alpha: int, beta: int, depth: int) -> int:
        """Return an estimate of the margin for the side to move, some plies ahead."""
        game = self._game
        empty = game.full & ~(own | other)
        if depth <= 0 or not empty:
            return game.estimate(own, other)
        best = -_FAR
        for _, mine_after, theirs_after in self._moves(own, other, empty):
            best = max(best, -self._guess(theirs_after, mine_after, -beta, -max(alpha, best), depth - 1))
            if best >= beta:
                break
        return best
