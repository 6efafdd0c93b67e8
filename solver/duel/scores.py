"""The score of any position of the duel, answered from a store: solver/duel/index.py says where it is."""

from typing import cast

from solver.duel.index import DuelIndex
from solver.errors import BoardError, StoreError, StoreMismatch
from solver.games.board import BoardPosition, cells_of
from solver.games.duel import Duel, movers
from solver.index.places import UNREACHED, Half
from solver.source import Look, settled
from solver.store.cached import CachedPages
from solver.store.store import Store


class DuelScores(CachedPages):
    """Scores of the duel."""

    def __init__(self, store: Store) -> None:
        """Answer from an open store, which `close` closes."""
        super().__init__(store)
        self._game = cast(Duel, store.game)
        self.index = DuelIndex(self._game, store.manifest.symmetries)
        self._pages: dict[tuple[int, int], memoryview] = {}

    def score(self, position: BoardPosition) -> int:
        """Return the margin for the side to move; raise BoardError if no game reaches the position."""
        if position.game != self._game:
            of = f"of game {self._game.name!r}, not of {position.game.name!r}"
            raise StoreMismatch(f"store {self.store.path!r} is {of}", self.store.path, position.game)
        over = position.checked().score_if_over()
        if over is not None:
            return over
        score = self._score(position.x, position.o)
        if score == UNREACHED:
            raise BoardError(f"no game reaches board {str(position)!r}")
        return score

    def look(self, x: int, o: int, deadline: float) -> Look:
        """Return the margin of every move of an open position."""
        if self._score(x, o) == UNREACHED:
            raise BoardError(f"no game reaches board {str(self._game.at(x, o))!r}")
        return settled([(cell, self._child(x, o, cell)) for cell in cells_of(self._game.legal(x, o))])

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's margin, which the caller knows."""
        for cell in cells_of(self._game.legal(x, o)):
            if self._child(x, o, cell) == score:
                return cell
        raise self.store.damaged(f"no move from board {str(self._game.at(x, o))!r} has its score")

    def _child(self, x: int, o: int, cell: int) -> int:
        """Return the margin of a move."""
        x_after, o_after, over = self._game.after(x, o, cell)
        if over:
            return -(self._game.at(x_after, o_after).score_if_over() or 0)
        score = self._score(x_after, o_after)
        if score == UNREACHED:
            raise self._contradiction(x_after, o_after)
        return -score

    def _score(self, x: int, o: int) -> int:
        """Return what the store has at a position's place."""
        filled = x | o
        number, place = self.index.locate(filled, movers(x, o)[0])
        empty = self._game.cells - filled.bit_count()
        page = self._pages.get((empty, number))
        score = int((self._load(empty, number) if page is None else page)[place])
        if score != UNREACHED and (abs(score) > self._game.cells or (score - self._game.cells) % 2):
            raise self.store.damaged(f"it gives board {str(self._game.at(x, o))!r} the margin {score}")
        return score

    def _load(self, empty: int, number: int) -> memoryview:
        """Read the record with a page, and cache all pages in it."""
        key, found = self.store.find(empty, Half(number)) or (b"\xff", [])
        pages = {(key[0], int(other)): page for other, page in found}
        if (empty, number) not in pages:
            pages[empty, number] = self._missing(empty, number)
        self._keep(pages)
        return pages[empty, number]

    def _missing(self, empty: int, number: int) -> memoryview:
        """Return the page that stands for one that is not in the store; raise StoreDamaged if all must be."""
        raise self.store.damaged(f"page {number:#x} with {empty} cells empty is missing")

    def _contradiction(self, x: int, o: int) -> StoreError:
        """Return the error for a position that the store marks as unreached though a move leads there."""
        return self.store.damaged(f"it marks board {str(self._game.at(x, o))!r} as unreached")
