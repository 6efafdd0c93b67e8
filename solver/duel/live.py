"""Live search of the duel: answers where there is no store.

A small position is searched in plain Python, so that a fresh process answers at once. Compiled code is loaded in the
background as soon as somebody asks for more, and takes over when it is there.
"""

from collections.abc import Sequence
from time import monotonic
from typing import Any

from solver.duel.plain import GLANCE, PlainSearch
from solver.errors import NotSettled
from solver.games.board import BoardPosition, cells_of
from solver.games.duel import Duel, movers
from solver.index.symmetry import Symmetry
from solver.kernels.loading import Loader
from solver.source import Look, settled

COMPILED_CELLS = 62
"""The largest board that compiled code can take."""

_FEW = 9
"""With so many empty cells, plain Python needs less time than compiled code needs to load."""

_NODES_A_LOOK_AT_THE_CLOCK = 50_000

_TABLE_BITS = 21

_LOOK = 8
"""How many plies tell which move is likely to keep a margin."""

_BONUS = 1.4
"""How strongly the random games that tell what an opponent is likely to play try what was tried least."""

_SLICE = 0.1
"""How many seconds plain Python searches at a time while compiled code is being loaded."""


class LiveDuel(Loader):
    """A source of scores (solver/source.py) that searches, and remembers what it has proved. Threads may share it."""

    name = "search"
    kernel = "duel/kernels.solve"
    module = "solver.duel.search"

    def __init__(self, game: Duel, group: Sequence[Symmetry], seconds: float, *, compiled: bool = True) -> None:
        """Search `game` for up to `seconds` an answer, treating images under `group` as equal."""
        super().__init__(may_compile=compiled and game.cells <= COMPILED_CELLS)
        self.game = game
        self.seconds = seconds
        self._group = group
        self._plain = PlainSearch(game)

    def make(self) -> Any:
        """Return the compiled search."""
        from solver.duel.search import DuelSearch  # only now: small answers need none of it

        return DuelSearch(self.game.neighbours, self._group, table_bits=_TABLE_BITS)

    def score(self, position: BoardPosition) -> int:
        """Return the margin for the side to move; raise NotSettled if it is not certain in time."""
        over = position.checked().score_if_over()
        if over is not None:
            return over
        own, other = movers(position.x, position.o)
        try:
            return self._bounds(own, other, -self.game.cells - 1, self.game.cells + 1, self.deadline())
        except NotSettled as error:
            raise NotSettled(f"board {str(position)!r} was not settled in {self.seconds:g} s") from error

    def knows(self, stones: int) -> bool:
        """Return False: every position is searched."""
        return False

    def deadline(self) -> float:
        """Return the time by which an answer that starts now must be given."""
        return monotonic() + self.seconds

    def look(self, x: int, o: int, deadline: float, score: int | None = None) -> Look:
        """Return the margins that are known by the deadline: the position's own first, unless the caller knows it."""
        cells, found = list(cells_of(self.game.legal(x, o))), dict[int, int]()
        try:
            if score is None:
                score = self._bounds(*movers(x, o), -self.game.cells - 1, self.game.cells + 1, deadline)
            for cell in cells:
                found[cell] = self._score_of_move(x, o, cell, deadline)
            return settled(list(found.items()))
        except NotSettled:
            mover = (x | o).bit_count() % 2
            hopes = {cell: self.game.promise(*self.game.after(x, o, cell)[:2], mover) for cell in cells}
            ranked = sorted(cells, key=lambda cell: (-found.get(cell, 0), -hopes[cell]))
            return Look([(cell, found.get(cell)) for cell in ranked], False, score)

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's margin, which is known; raise NotSettled if time is short."""
        for cell in cells_of(self.game.legal(x, o)):
            if self._bounds(*movers(*self.game.after(x, o, cell)[:2]), -score, -score + 1, deadline) <= -score:
                return cell
        raise NotSettled(f"board {str(self.game.at(x, o))!r} has no move of that margin")

    def think(self, x: int, o: int, depth: int, nodes: int, seed: int) -> int:
        """Return a good move, found by looking some plies ahead within so many nodes; `seed` picks among equal ones.

        Plain Python looks ahead a few plies, and no further until compiled code is there.
        """
        own, other = movers(x, o)
        with self._searching:
            if depth <= GLANCE or self._compiled is None:
                return self._plain.glance(own, other, min(depth, GLANCE), seed)
            left = self.game.cells - (x | o).bit_count()
            return int(self._compiled.think(own, other, min(depth, left), nodes, seed))

    @property
    def nodes(self) -> int:
        """The number of positions that compiled code has visited so far."""
        return 0 if self._compiled is None else int(self._compiled.nodes)

    def scores(self, x: int, o: int, nodes: int) -> tuple[dict[int, int] | None, int]:
        """Return the margin of every move and the nodes it took; None if compiled code needs more than `nodes`."""
        with self._searching:
            if self._compiled is None:
                return None, 0
            before = self._compiled.nodes
            return self._compiled.scores(*movers(x, o), nodes), self._compiled.nodes - before

    def keep(self, x: int, o: int, score: int, nodes: int, seed: int) -> int | None:
        """Return a move that keeps the margin, which the caller knows; None if none is found within so many nodes."""
        with self._searching:
            compiled = self._compiled
            if compiled is None:
                return None
            end = compiled.nodes + nodes
            likely = compiled.think(*movers(x, o), _LOOK, nodes // 8 + 1, seed)
            mover = (x | o).bit_count() % 2
            after = {cell: self.game.after(x, o, cell)[:2] for cell in cells_of(self.game.legal(x, o))}
            for cell in sorted(after, key=lambda cell: (cell != likely, -self.game.promise(*after[cell], mover))):
                left = end - compiled.nodes
                found = compiled.bounds(*movers(*after[cell]), -score, -score + 1, left) if left > 0 else None
                if found is None or found <= -score:
                    return None if found is None else cell
            return None

    def likely(self, x: int, o: int, playouts: int, seed: int) -> dict[int, float]:
        """Return how likely an opponent who errs is to make each move: half by lot, half by how random games go on."""
        cells = list(cells_of(self.game.legal(x, o)))
        shares = dict.fromkeys(cells, 1 / len(cells))
        if self._compiled is None or len(cells) == 1:
            return shares
        from solver.duel.playouts import shares_of_playouts  # only now: it is compiled

        tried = shares_of_playouts(self.game.neighbours, *movers(x, o), playouts, _BONUS, seed)
        return {cell: share / 2 + tried[cell] / 2 for cell, share in shares.items()}

    def close(self) -> None:
        """Do nothing: a search holds no file."""

    def _score_of_move(self, x: int, o: int, cell: int, deadline: float) -> int:
        """Return the margin of a move, for the side that makes it."""
        own, other = movers(*self.game.after(x, o, cell)[:2])
        return -self._bounds(own, other, -self.game.cells - 1, self.game.cells + 1, deadline)

    def _bounds(self, own: int, other: int, low: int, high: int, deadline: float) -> int:
        """Return the margin for the side to move, or a bound of it; raise NotSettled at the deadline."""
        with self._searching:
            if self.game.cells - (own | other).bit_count() > _FEW:
                self.load()
            while self._compiled is None:
                loading = self._loading is not None and self._loading.is_alive()
                until = min(deadline, monotonic() + _SLICE) if loading else deadline
                try:
                    return self._plain.bounds(own, other, low, high, until)
                except NotSettled:
                    if until == deadline:
                        raise
            while True:
                found = self._compiled.bounds(own, other, low, high, _NODES_A_LOOK_AT_THE_CLOCK)
                if found is not None:
                    return int(found)
                if monotonic() > deadline:
                    raise NotSettled("the time is up")

    def forget(self) -> None:
        """Forget what was found, so that what follows is as in a new search."""
        with self._searching:
            self._plain.forget()
            if self._compiled:
                self._compiled.forget()
