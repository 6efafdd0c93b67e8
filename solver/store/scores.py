"""The score of any position, answered from a store.

With X to move the score is one byte of a page. With O to move it follows from the scores one move
later, which are all in one page. solver/store/store.py says why.
"""

from collections.abc import Iterator
from typing import cast

from solver.errors import StoreError, StoreMismatch
from solver.games.board import cells_of
from solver.games.lines import lines_only
from solver.games.position import Position, check
from solver.index.places import UNREACHED, Half, Index, Page, Score, rank
from solver.source import Look, settled
from solver.store.cached import CachedPages
from solver.store.store import Store

_O_TO_MOVE_SCORES = 1 << 16
"""How many scores with O to move are cached: each is the best of several."""


class Scores(CachedPages):
    """Scores of a game of lines."""

    def __init__(self, store: Store) -> None:
        """Answer from an open store, which `close` closes."""
        super().__init__(store)
        game = self._game = lines_only(store.game)
        self.index = Index(game, store.manifest.symmetries)
        self._pages: dict[Half, Page] = {}
        self._o_to_move: dict[tuple[Half, int], Score] = {}

    def forget(self) -> None:
        """Empty the caches."""
        super().forget()
        self._o_to_move.clear()

    def score(self, position: Position) -> Score:
        """Return the score for the side to move; raise BoardError if no game reaches the position."""
        game, x, o = position.game, position.x, position.o
        if game is not self._game and game != self._game:
            raise StoreMismatch(
                f"store {self.store.path!r} is of game {self._game.name!r}, not of {game.name!r}", self.store.path, game
            )
        x_count, o_count = x.bit_count(), o.bit_count()
        if not x & o and 0 <= x | o <= game.full:
            # No check of the lines is needed: pages exist for open halves only and mark illegal positions as
            # UNREACHED, and every score with O to move was checked before it was cached.
            half, o_mask, _ = self.index.locate(x, o)
            if x_count == o_count:
                page = self._pages.get(half)
                if page is not None and (score := page[rank(half, o_mask)]) != UNREACHED:
                    return score
            elif x_count == o_count + 1 and (known := self._o_to_move.get((half, o_mask))) is not None:
                return known
        over = check(position).score_if_over()
        if over is not None:
            return Score(over)
        half, o_mask, _ = self.index.locate(x, o)
        return self._x_to_move_score(half, o_mask) if x_count == o_count else self._o_to_move_score(half, o_mask)

    def look(self, x: int, o: int, deadline: float) -> Look:
        """Return the score of every move of an open position."""
        return settled(list(self._children(x, o)))

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's score, which the caller knows."""
        for cell, kept in self._children(x, o):
            if kept == score:
                return cell
        raise self.store.damaged(f"no move from board {self._board(x, o)!r} has its score")

    def page(self, half: Half) -> Page:
        """Return the half's page where X is to move."""
        page = self._pages.get(half)
        return self._load(half) if page is None else page

    def _children(self, x: int, o: int) -> Iterator[tuple[int, int]]:
        """Yield each legal cell in order, with its score. Pages are read one by one, as the caller goes on."""
        game, locate = self._game, self.index.locate
        free = game.full & ~(x | o)
        if x.bit_count() > o.bit_count():
            half, o_mask, symmetry_id = locate(x, o)
            g, page = self.index.group[symmetry_id], self.page(half)
            for cell in cells_of(free):
                after = o_mask | 1 << g[cell]
                score = page[rank(half, after)]
                if score == UNREACHED:
                    raise self._contradiction(half, after)
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
            known = self._o_to_move.get((half, o_mask))
            yield cell, -(self._o_to_move_score(half, o_mask) if known is None else known)

    def _x_to_move_score(self, half: Half, o_mask: int) -> Score:
        """Return the score at the place of a legal position."""
        score = self.page(half)[rank(half, o_mask)]
        if score == UNREACHED:
            raise self._contradiction(half, o_mask)
        return score

    def _o_to_move_score(self, half: Half, o_mask: int) -> Score:
        """Return the best score of any move of O's; all of these moves lead into one page."""
        free = self._game.full & ~(half | o_mask)
        best = 0
        if free:
            page = self.page(half)
            replies = [page[rank(half, o_mask | 1 << cell)] for cell in cells_of(free)]
            best = -min(replies)
            if best == -UNREACHED:
                raise self._contradiction(half, o_mask)
        if len(self._o_to_move) >= _O_TO_MOVE_SCORES:
            self._o_to_move.clear()
        score = self._o_to_move[half, o_mask] = Score(best)
        return score

    def _load(self, half: Half) -> Page:
        """Read the record with the half's page, and cache all pages in it."""
        x_count = half.bit_count()
        empty = self._game.cells - 2 * x_count
        key, halves = self.store.record(empty, half)
        # A record that mixes layers is damaged; do not let one of its pages pass for another size.
        pages = {other: cast(Page, page) for other, page in halves if other.bit_count() == x_count}
        if key[0] != empty or half not in pages:
            raise self.store.damaged(f"half {half:#x} is missing from its record")
        self._keep(pages)
        return pages[half]

    def _contradiction(self, x: int, o: int) -> StoreError:
        """Return the error for a legal position that the store marks as unreached, or one with such a child."""
        return self.store.damaged(f"it marks board {self._board(x, o)!r} or a child of it as unreached")

    def _board(self, x: int, o: int) -> str:
        return str(Position(self._game, x, o))
