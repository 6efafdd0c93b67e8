"""The kinds of games that can be solved, and where each keeps its parts.

The store, the build, the oracle and the commands know no kind: they ask here. A new kind of game adds a class, and what
it names. Whatever is heavy, or only needed for a build, is imported where it is used.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

from solver.errors import GameError
from solver.games.board import BoardGame
from solver.games.lines import Game
from solver.games.score import MARGIN
from solver.index.symmetry import Symmetry
from solver.source import Source

if TYPE_CHECKING:
    from solver.proof.proof import Proof
    from solver.store.store import Store


class Index(Protocol):
    """What an index of positions can say of one: solver/index/places.py has that of games of lines."""

    @property
    def group(self) -> tuple[Symmetry, ...]:
        """The symmetries under which positions count as equal."""

    def canonical(self, x: int, o: int) -> tuple[int, int, Symmetry]:
        """Return the one position that stands for all that are equal by symmetry, and a symmetry that gives it."""


class Kind(ABC):
    """A kind of games that can be solved."""

    @abstractmethod
    def symmetries(self, game: Any, steps: int | None = None) -> tuple[Symmetry, ...]:
        """Return the permutations of the cells that change nothing, the identity first."""

    @abstractmethod
    def index(self, game: Any, group: tuple[Symmetry, ...]) -> Index:
        """Return an index of a game's positions."""

    @abstractmethod
    def scores(self, store: "Store", seconds: float) -> tuple[Source, Index]:
        """Return a source of scores that answers from a store, and its index.

        What the store does not have is searched for up to so many seconds.
        """

    @abstractmethod
    def search(self, game: Any, group: tuple[Symmetry, ...], seconds: float) -> Source:
        """Return a source that searches live, in plain Python."""

    def witness(self, game: Any, group: tuple[Symmetry, ...], seconds: float) -> Source:
        """Return a source that shares no code with a build's solvers, to confirm some of what they found."""
        return self.search(game, group, seconds)

    @abstractmethod
    def compile_kernels(self) -> None:
        """Import all kernels that a build takes, which compiles them or loads them from the cache."""

    @abstractmethod
    def proof(self, game: Any, group: tuple[Symmetry, ...], use: Any, **options: Any) -> "Proof[Any]":
        """Return a proof of every score, by two solvers."""


class Lines(Kind):
    """Games of lines."""

    def symmetries(self, game: Game, steps: int | None = None) -> tuple[Symmetry, ...]:
        """Return the permutations that keep the set of lines."""
        from solver.index.symmetry import STEPS, symmetries

        return symmetries(game, STEPS if steps is None else steps)

    def index(self, game: Game, group: tuple[Symmetry, ...]) -> Index:
        """Return the index by halves."""
        from solver.index.places import Index as LineIndex

        return LineIndex(game, group)

    def scores(self, store: "Store", seconds: float) -> tuple[Source, Index]:
        """Return the source that knows where X's pages are, and that O's moves lead into them."""
        from solver.store.scores import Scores

        scores = Scores(store)
        return scores, scores.index

    def search(self, game: Game, group: tuple[Symmetry, ...], seconds: float) -> Source:
        """Return the search that deepens ply by ply; for a board too large to settle, one that estimates as well."""
        if game.cells > game.settled_cells:
            from solver.engine.live import LiveEngine  # only now: other games do without

            return LiveEngine(game, seconds)
        from solver.search.aided import AidedSearch

        return AidedSearch(game, group, seconds)

    def witness(self, game: Game, group: tuple[Symmetry, ...], seconds: float) -> Source:
        """Return the search that deepens ply by ply, however large the board."""
        from solver.search.live import Search

        return Search(game, group, seconds)

    def compile_kernels(self) -> None:
        """Import the sweep by halves, and alpha-beta."""
        from solver.proof.compile import compile_kernels

        compile_kernels()

    def proof(self, game: Game, group: tuple[Symmetry, ...], use: Any, **options: Any) -> "Proof[Any]":
        """Return the proof by the sweep and alpha-beta."""
        from solver.proof.prove import LineProof

        return LineProof(game, group, use, **options)


class Duels(Kind):
    """Infinity Grid Duel."""

    def symmetries(self, game: Any, steps: int | None = None) -> tuple[Symmetry, ...]:
        """Return the permutations that keep neighbours neighbours: those of a game whose lines are two such cells."""
        return Lines().symmetries(game.as_lines, steps)

    def index(self, game: Any, group: tuple[Symmetry, ...]) -> Index:
        """Return the index by filled cells."""
        from solver.duel.index import DuelIndex

        return DuelIndex(game, group)

    def scores(self, store: "Store", seconds: float) -> tuple[Source, Index]:
        """Return the source that looks each child up in its own page, and searches what is not in a book."""
        from solver.duel.index import WHOLE_CELLS
        from solver.duel.scores import DuelScores

        scores = DuelScores(store)
        if store.game.cells > WHOLE_CELLS:
            from solver.duel.book_scores import BookScores  # only now: a whole store needs no search

            scores = BookScores(store, seconds)
        return scores, scores.index

    def search(self, game: Any, group: tuple[Symmetry, ...], seconds: float) -> Source:
        """Return the search in plain Python, which a compiled one joins where that takes long."""
        from solver.duel.live import LiveDuel

        return LiveDuel(game, group, seconds)

    def witness(self, game: Any, group: tuple[Symmetry, ...], seconds: float) -> Source:
        """Return the search in plain Python alone."""
        from solver.duel.live import LiveDuel

        return LiveDuel(game, group, seconds, compiled=False)

    def compile_kernels(self) -> None:
        """Import the sweep by filled cells, and the search."""
        import solver.duel.book
        import solver.duel.prove  # noqa: F401

    def proof(self, game: Any, group: tuple[Symmetry, ...], use: Any, **options: Any) -> "Proof[Any]":
        """Return the proof by the sweep and the search of tiles or, on a board too large for that, of a book."""
        from solver.duel.book import BookProof
        from solver.duel.index import WHOLE_CELLS
        from solver.duel.prove import DuelProof

        return (DuelProof if game.cells <= WHOLE_CELLS else BookProof)(game, group, use, **options)


_LINES, _DUELS = Lines(), Duels()


def kind_of(game: BoardGame[Any]) -> Kind:
    """Return the kind that a game is of; raise GameError if it is of none."""
    if isinstance(game, Game):
        return _LINES
    if game.scale == MARGIN:
        return _DUELS
    raise GameError(f"nobody knows how {game.name} is solved")
