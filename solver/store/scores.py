"""The score of any position, from a store: a look at one place where X is to move, at a few of one page where O is."""

from collections.abc import Iterator

from solver.errors import StoreDamaged, StoreMismatch
from solver.games.position import Position, cells_of, check
from solver.index.places import UNREACHED, Half, rank
from solver.store.store import Store

_KEPT = 1 << 16
"""How many scores with O to move are kept, each being the largest of several."""


class Scores:
    """What a store says of positions, and what follows from it by one move."""

    def __init__(self, store: Store) -> None:
        """Answer from an open store."""
        self.store = store
        self._game = store.game
        self._index = store.index
        self._o_moves = store.derived

    def score(self, position: Position) -> int:
        """The score for the side to move; BoardError if no game reaches the position."""
        game, x, o = position.game, position.x, position.o
        if game is not self._game and game != self._game:
            raise StoreMismatch(f"store {self.store.path!r} is of game {self._game.name!r}, not of {game.name!r}")
        x_count, o_count = x.bit_count(), o.bit_count()
        if not x & o and 0 <= x | o <= game.full:
            # What is in memory was found right before, and spares a look at all lines.
            half, o_mask, _ = self._index.locate(x, o)
            if x_count == o_count:
                page = self.store.held(game.cells - 2 * x_count, half)
                if page is not None and (score := page[rank(half, o_mask)]) != UNREACHED:
                    return score
            elif x_count == o_count + 1 and (known := self._o_moves.get((half, o_mask))) is not None:
                return known
        over = check(position).score_if_over()
        if over is not None:
            return over
        half, o_mask, _ = self._index.locate(x, o)
        return self._with_x_to_move(half, o_mask) if x_count == o_count else self._with_o_to_move(half, o_mask)

    def children(self, x: int, o: int) -> Iterator[tuple[int, int]]:
        """Each cell that can be claimed in a position that is not over, and the score for who claims it, in order.

        Pages are looked at as the caller goes on, so whoever stops at a move pays for no later one.
        """
        game, locate = self._game, self._index.locate
        free = game.full & ~(x | o)
        if x.bit_count() > o.bit_count():
            half, o_mask, symmetry_id = locate(x, o)
            g = self._index.group[symmetry_id]
            page = self.store.page(free.bit_count() - 1, half)
            for cell in cells_of(free):
                score = page[rank(half, o_mask | 1 << g[cell])]
                if score == UNREACHED:
                    raise self._never(half, o_mask | 1 << g[cell])
                yield cell, -score
            return
        empty = free.bit_count()
        won = -empty if game.misere else empty
        for cell in cells_of(free):
            after = x | 1 << cell
            if game.completes(after, cell):
                yield cell, won
                continue
            half, o_mask, _ = locate(after, o)
            known = self._o_moves.get((half, o_mask))
            yield cell, -(self._with_o_to_move(half, o_mask) if known is None else known)

    def _with_x_to_move(self, half: Half, o_mask: int) -> int:
        score = self.store.page(self._game.cells - 2 * half.bit_count(), half)[rank(half, o_mask)]
        if score == UNREACHED:
            raise self._never(half, o_mask)
        return score

    def _with_o_to_move(self, half: Half, o_mask: int) -> int:
        """The largest score that a move of O's has: all of them lead into one page."""
        free = self._game.full & ~(half | o_mask)
        best = 0
        if free:
            page = self.store.page(free.bit_count() - 1, half)
            replies = [page[rank(half, o_mask | 1 << cell)] for cell in cells_of(free)]
            best = -min(replies)
            if best == -UNREACHED:
                raise self._never(half, o_mask)
        if len(self._o_moves) >= _KEPT:
            self._o_moves.clear()
        self._o_moves[half, o_mask] = best
        return best

    def _never(self, x: int, o: int) -> StoreDamaged:
        return self.store.damaged(f"it says that no game reaches or leaves board {str(Position(self._game, x, o))!r}")
