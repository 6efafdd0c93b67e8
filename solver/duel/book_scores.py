"""Scores of the duel from a book, which has the first moves of a game, and from live search beyond."""

from solver.duel.index import BOOK_TILES, page_size
from solver.duel.live import LiveDuel
from solver.duel.scores import DuelScores
from solver.games.board import BoardPosition
from solver.index.places import UNREACHED
from solver.source import Look
from solver.store.store import Store


class BookScores(DuelScores):
    """A source that answers from a book, and searches live what is not in it."""

    name = "book"

    def __init__(self, store: Store, seconds: float) -> None:
        """Answer from an open store; search for up to `seconds`."""
        super().__init__(store)
        self.seconds = seconds
        self._live = LiveDuel(self._game, store.manifest.symmetries, seconds)

    def knows(self, stones: int) -> bool:
        """Tell whether the positions after a move are in the book, too."""
        return stones < BOOK_TILES

    def _missing(self, empty: int, number: int) -> memoryview:
        """Return a page of positions that play does not reach: a book has no others left out."""
        return memoryview(bytes([UNREACHED & 0xFF]) * page_size(self._game, empty)).cast("b")

    def deadline(self) -> float:
        """Return the time by which an answer that starts now must be given."""
        return self._live.deadline()

    def score(self, position: BoardPosition) -> int:
        """Return the margin for the side to move; raise NotSettled if it is not in the book and takes too long."""
        return super().score(position) if position.stones <= BOOK_TILES else self._live.score(position)

    def look(self, x: int, o: int, deadline: float) -> Look:
        """Return what the book knows of a position, and what is found out about its moves by the deadline."""
        tiles = (x | o).bit_count()
        if tiles < BOOK_TILES:
            return super().look(x, o, deadline)
        return self._live.look(x, o, deadline, self.score(self._game.at(x, o)) if tiles == BOOK_TILES else None)

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's margin; raise NotSettled if time is short."""
        if (x | o).bit_count() < BOOK_TILES:
            return super().first_best(x, o, score, deadline)
        return self._live.first_best(x, o, score, deadline)
