"""The book of a board that is too large to store whole: exact margins of all positions with few tiles.

The fullest boards of the book are searched, each to the end of the game; this takes most of the time. The margins of
the others follow from those of their children, and some of them are searched, too. A witness in plain Python, which
shares no code with the search, confirms some of the fullest boards (solver/proof/witness.py), and tests/bench/duel.c is
a C program of its own that any position can be given to.
"""

import random
from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from solver.duel.index import DuelIndex, first_page, last_layer, rank
from solver.duel.search import DuelSearch
from solver.errors import GameError, NotSettled, SolversDisagree
from solver.games.board import cells_of
from solver.games.duel import Duel, movers
from solver.index.places import UNREACHED
from solver.index.symmetry import Symmetry
from solver.proof.crew import Crew
from solver.proof.plan import Plan
from solver.proof.progress import Progress
from solver.proof.proof import (
    EMPTY_BOARD_LIMIT,
    Clock,
    Made,
    Proof,
    StoredPages,
    Summary,
    Task,
    UnpackedPages,
    Use,
    Work,
)

_TABLE_BITS = 22
"""The size of the table that all searches share: 80 MB."""

_SLICE = 2_000_000
"""After so many nodes a search looks whether it is to stop."""

_CHECKED_TILES = 3
"""Some positions with up to so many tiles less than the fullest are searched, too."""

_CHECKED = 4
"""How many of each such layer."""

_SECONDS_A_SEARCH = {25: 0.01, 30: 0.05, 36: 0.7}
"""About how long one search takes, by the number of cells."""

_SETS_A_TASK = 8


class Chunk(NamedTuple):
    """Some consecutive filled sets of a layer."""

    start: int
    stop: int


class BookLayer:
    """All positions with so many tiles, up to symmetry, and their margins as they are found."""

    def __init__(self, tiles: int, reached: set[tuple[int, int]]) -> None:
        """Prepare the pages of the positions that are reached, given in canonical form."""
        self.number = self.ply = tiles
        self.filled = np.array(sorted({x | o for x, o in reached}), np.int64)
        self.row = {filled: row for row, filled in enumerate(self.filled.tolist())}
        self.scores = np.full((len(self.filled), 1 << tiles), UNREACHED, np.int8)
        self.members: list[list[tuple[int, int]]] = [[] for _ in self.row]
        """For each filled set, its positions: Red's tiles and Green's."""
        for x, o in sorted(reached):
            self.members[self.row[x | o]].append((x, o))
        starts = range(0, len(self.filled), _SETS_A_TASK)
        chunks = [Chunk(start, min(start + _SETS_A_TASK, len(self.filled))) for start in starts]
        self.tasks = [Task(tiles, i, chunk) for i, chunk in enumerate(chunks)]


class BookProof(Proof[Made]):
    """Find the margins of all positions of a book."""

    def __init__(self, game: Duel, group: tuple[Symmetry, ...], use: Use[Made], *, crew: Crew, **options: Any) -> None:
        """Plan the work: `plan` then says what it needs."""
        self._rules, self._group = game, group
        self._index = DuelIndex(game, group)
        self._layers = self._explore()
        places = sum(layer.scores.size for layer in self._layers)
        self._to_search, self._done = sum(map(len, self._layers[-1].members)), 0
        rate = places / (self._to_search * min(t for cells, t in _SECONDS_A_SEARCH.items() if cells >= game.cells) + 1)
        plan = Plan(places, places, places, 20 << _TABLE_BITS, 0, 0, crew.hands, max(1, int(rate)), 1)
        if options.pop("sample", None) is not None:
            raise GameError(
                f"{game.name} is too large for a sample: its store is a book, all of which is searched again"
            )
        super().__init__(plan, use, crew=crew, sample=0, **options)
        self._searches: SimpleQueue[DuelSearch] = SimpleQueue()
        self._reporting = Lock()
        self._stopping = False

    @property
    def fullest(self) -> list[list[tuple[int, int]]]:
        """The positions that are searched, by filled set: Red's tiles and Green's."""
        return self._layers[-1].members

    def work(self) -> Work:
        """Return what tasks do."""
        return self

    def stop(self) -> None:
        """Let searches end soon, because nobody will use what they find."""
        self._stopping = True

    def layers(self) -> list[BookLayer]:
        """Return the layers, those of the fullest boards first."""
        first = DuelSearch(self._rules.neighbours, self._group, table_bits=_TABLE_BITS)
        for _ in range(self.crew.hands):
            self._searches.put(first.beside())
        return self._layers[::-1]

    def begin(self, layer: BookLayer, above: BookLayer | None, *, wanted: bool) -> None:
        """Do nothing: all layers are in memory."""

    def make(self, layer: BookLayer, task: Task, summary: Summary, clock: Clock) -> Iterator[StoredPages]:
        """Find the margins of some filled sets' positions, by search or from their children; count and yield them."""
        chunk = task.part
        deepest = layer.number == len(self._layers) - 1
        counts = np.zeros(6, np.int64)
        for row in range(chunk.start, chunk.stop):
            for x, o in layer.members[row]:
                score = self._searched(x, o, summary) if deepest else self._best(layer, x, o)
                if deepest:
                    self._report()
                places, orbit = self._copies(x, o)
                layer.scores[row, places] = score
                counts += (orbit, 1, score > 0, score == 0, score < 0, 0)
        clock.spent("check" if deepest else "solve")
        if not deepest and layer.number >= len(self._layers) - 1 - _CHECKED_TILES:
            self._check(layer, chunk, summary)
            clock.spent("check")
        scores = layer.scores[chunk.start : chunk.stop]
        summary.filled += scores.size
        summary.plies[layer.number] = counts
        if layer.number == 0:
            summary.score = int(scores[0, 0])
        numbers = np.array([first_page(filled) for filled in layer.filled[chunk.start : chunk.stop].tolist()], np.int64)
        yield StoredPages(self._rules.cells - layer.number, numbers, scores)
        clock.spent("write")

    def search_empty_board(self) -> str:
        """Search the empty board with an empty table, and return in words what that took."""
        search = DuelSearch(self._rules.neighbours, self._group)
        if search.score(0, 0, EMPTY_BOARD_LIMIT) is None:
            return f"given up after {EMPTY_BOARD_LIMIT:,} nodes"
        return f"{search.nodes:,} nodes"

    def _explore(self) -> list[BookLayer]:
        """Return all layers of the book, with the positions that play reaches."""
        game, reached, found = self._rules, {(0, 0)}, []
        for tiles in range(last_layer(game) + 1):
            found.append(BookLayer(tiles, reached))
            children = (game.after(x, o, cell)[:2] for x, o in reached for cell in cells_of(game.legal(x, o)))
            reached = {self._index.canonical(x, o)[:2] for x, o in children}
        return found

    def _searched(self, x: int, o: int, summary: Summary) -> int:
        """Return a position's margin for the side to move, by search."""
        search = self._searches.get()
        try:
            before = search.nodes
            while (score := search.score(*movers(x, o), _SLICE)) is None:
                if self._stopping:
                    raise NotSettled("the build is to stop")
            summary.nodes += search.nodes - before
            summary.checked += 1
            return score
        finally:
            self._searches.put(search)

    def _report(self) -> None:
        """Say that one more of the fullest boards was searched."""
        with self._reporting:
            self._done += 1
            places = self._layers[-1].scores.size * self._done // self._to_search
            self.on_progress(Progress(self.phase, self._layers[-1].ply, places, self.plan.filled))

    def _best(self, layer: BookLayer, x: int, o: int) -> int:
        """Return a position's margin for the side to move, from those of its children."""
        game, following = self._rules, self._layers[layer.number + 1]
        best = -game.cells
        for cell in cells_of(game.legal(x, o)):
            red, green, _ = self._index.canonical(*game.after(x, o, cell)[:2])
            place = rank(red | green, movers(red, green)[0])
            best = max(best, -int(following.scores[following.row[red | green], place]))
        return best

    def _check(self, layer: BookLayer, chunk: Chunk, summary: Summary) -> None:
        """Raise SolversDisagree unless searches of a few positions give what follows from their children."""
        rng = random.Random(chunk.start)
        members = [each for row in range(chunk.start, chunk.stop) for each in layer.members[row]]
        share = _CHECKED * (chunk.stop - chunk.start) / len(layer.filled)
        for x, o in rng.sample(members, min(len(members), int(share) + (rng.random() < share % 1))):
            filled = x | o
            kept = int(layer.scores[layer.row[filled], rank(filled, movers(x, o)[0])])
            searched = self._searched(x, o, summary)
            if searched != kept:
                raise SolversDisagree(
                    f"board {str(self._rules.at(x, o))!r} of {self._rules.name}: its children say {kept}, the search "
                    f"says {searched}"
                )

    def _copies(self, x: int, o: int) -> tuple[list[int], int]:
        """Return the places of a canonical position, and how many positions are equal to it by symmetry."""
        places = self._index.copies(x | o, movers(x, o)[0])
        return places, len(self._group) // places.count(places[0])

    def restore(self, layer: BookLayer, task: Task, kept: Iterable[UnpackedPages]) -> None:
        """Take the scores of some filled sets as they were kept."""
        at = task.part.start
        for numbers, scores in kept:
            if [first_page(filled) for filled in layer.filled[at : at + len(numbers)].tolist()] != numbers:
                raise SolversDisagree("the records that were kept have other pages than the game")
            layer.scores[at : at + len(numbers)] = scores
            at += len(numbers)
        if at != task.part.stop:
            raise SolversDisagree("the records that were kept lack pages of the game")
