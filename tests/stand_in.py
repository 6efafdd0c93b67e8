"""A stand-in for a proof: tasks with cheap, meaningless scores, for tests of whatever does not depend on scores.

Journals, folders, crews and holders promise the same for every proof. `use_stand_in(monkeypatch)` lets builds of GAME,
and of no other game, fill pages with the stand-in. A build then takes a few milliseconds. It has 16 tasks in six layers
(TASKS); that of layer 5 stores no pages, and each of layer 4 has two records.

Each task's scores depend on all pages of the layer above. So a store is right, byte by byte, only if every task and
every restored page was: compare it with that of an undisturbed build (`build_store(GAME, path)`). `tests/stores.py`
breaks builds off and damages what they have left. GAME has a name that commands understand. Its digest is not
published, and the witness agrees with anything.

`StandInWork` can be pickled, so processes and machines can do its tasks too, if they find this module.
"""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import solver.kinds
from solver.games.board import BoardGame
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.index.places import page_size
from solver.index.symmetry import Symmetry
from solver.kinds import Index, Kind
from solver.proof.crew import Crew
from solver.proof.plan import Holder, Plan
from solver.proof.proof import Clock, Made, Proof, StoredPages, Summary, Task, UnpackedPages, Use, Work
from solver.scratch.folder import Folder, MemoryFolder
from solver.source import Source
from solver.store.store import Store
from solver.sweep.desk import Desk
from solver.sweep.shelf import NoShelf, PackedShelf, RawShelf, Shelf

GAME = parse_game("2,8,3")
"""The game that builds solve with the stand-in."""

TASKS = {5: 1, 4: 3, 3: 5, 2: 4, 1: 2, 0: 1}
"""How many tasks each layer has, from the end of the game to the empty board."""

_PAGES = {5: 2, 4: 17, 3: 4, 2: 4, 1: 4, 0: 1}
"""How many pages each task of a layer has."""

_EMPTY = 5
"""The layer whose task stores nothing."""


def use_stand_in(patch: pytest.MonkeyPatch) -> None:
    """Let builds in this process solve GAME with the stand-in."""
    for module in ("solver.proof.build", "solver.proof.witness", "stores"):
        patch.setattr(f"{module}.kind_of", _kind_of)


def _kind_of(game: BoardGame[Any]) -> Kind:
    return StandIn() if game == GAME else solver.kinds.kind_of(game)


class StandIn(Kind):
    """A kind of game with one symmetry, whose positions all have the score 0 by all that is ever asked."""

    def symmetries(self, game: Game, steps: int | None = None) -> tuple[Symmetry, ...]:
        return (tuple(range(game.cells)),)

    def index(self, game: Game, group: tuple[Symmetry, ...]) -> Index:
        """Nobody asks."""
        raise NotImplementedError

    def scores(self, store: Store, seconds: float) -> tuple[Source, Index]:
        """Return a source that agrees with the witness."""
        return _Zero(), None  # type: ignore[return-value]

    def search(self, game: Game, group: tuple[Symmetry, ...], seconds: float) -> Source:
        """Return the source that is the witness."""
        return _Zero()  # type: ignore[return-value]

    def compile_kernels(self) -> None:
        """Do nothing: there are none."""

    def proof(self, game: Game, group: tuple[Symmetry, ...], use: Any, **options: Any) -> Proof[Any]:
        return StandInProof(use, **options)


class _Zero:
    seconds = 0.0

    def score(self, position: Any) -> int:
        return 0


@dataclass
class StandInLayer:
    """A layer as its tasks are told of it: its number, and where its pages and those of the layer above are."""

    number: int
    ply: int
    tasks: list[Task] = field(default_factory=list)
    above: Shelf = field(default_factory=NoShelf)
    onto: Shelf = field(default_factory=NoShelf)


@dataclass
class StandInWork:
    """What a task does: its part is the range of its pages."""

    def make(self, layer: StandInLayer, task: Task, summary: Summary, clock: Clock) -> Iterator[StoredPages]:
        """Fill some pages with scores that depend on the layer above and on nothing else."""
        seed = _checksum(layer) if layer.number < _EMPTY else 0
        scores = _scores(layer.number, task.part, seed)
        summary.filled += scores.size
        summary.checked += scores.size
        summary.nodes += 1
        summary.score = int(scores[0, 0]) if layer.number == 0 else 0
        summary.plies[layer.ply] = np.array([scores.size, len(scores), *np.bincount(scores[:, 0] % 4, minlength=4)])
        clock.spent("solve")
        _put(layer, task, scores)
        if layer.number != _EMPTY:
            yield StoredPages(GAME.cells - layer.ply, np.array(task.part) * 7 + 1, scores)

    def restore(self, layer: StandInLayer, task: Task, kept: Iterable[UnpackedPages]) -> None:
        if layer.number == _EMPTY:
            _put(layer, task, _scores(layer.number, task.part, 0))
            return
        numbers, pages = zip(*kept, strict=True)
        assert [(each - 1) // 7 for some in numbers for each in some] == list(task.part)
        _put(layer, task, np.concatenate(pages))


class StandInProof(Proof[Made]):
    """A proof that finds the stand-in's scores. It holds pages in all the ways in which that of lines does."""

    def __init__(
        self, use: Use[Made], *, crew: Crew, folder: Folder | None = None, holder: Holder | None = None, **options: Any
    ) -> None:
        places = sum(TASKS[number] * _PAGES[number] * _size(number) for number in TASKS)
        stored = places - TASKS[_EMPTY] * _PAGES[_EMPTY] * _size(_EMPTY)
        super().__init__(Plan(places, places, stored, places, 0, GAME.cells, crew.hands), use, crew=crew, **options)
        self.holder = (holder or Holder.RAW) if crew.shares_memory else Holder.FILES
        self._folder = folder

    def work(self) -> Work:
        return StandInWork()

    def layers(self) -> list[StandInLayer]:
        """Return the layers, from the end of the game to the empty board."""
        return [
            StandInLayer(
                number,
                2 * number,
                [Task(number, i, range(i * _PAGES[number], (i + 1) * _PAGES[number])) for i in range(count)],
            )
            for number, count in TASKS.items()
        ]

    def begin(self, layer: StandInLayer, above: StandInLayer | None, *, wanted: bool) -> None:
        if above is not None:
            layer.above = above.onto
        files = self._folder if self.holder is Holder.FILES else None
        if wanted and self.holder is Holder.RAW:
            layer.onto = RawShelf(_starts(layer.number), _size(layer.number))
        elif wanted:
            layer.onto = _packed(files or MemoryFolder(), layer.number)

    def end(self, layer: StandInLayer, above: StandInLayer | None) -> None:
        if above is not None:
            above.onto.remove()

    def forget(self, layer: StandInLayer) -> None:
        """Delete the pages that an earlier build has left of a layer."""
        if self._folder is not None:
            _packed(self._folder, layer.number).remove()

    def held(self, layer: StandInLayer) -> set[int]:
        """Return the numbers of the tasks whose pages need not be restored."""
        return layer.onto.held()

    def search_empty_board(self) -> str:
        return "nothing"


def _size(number: int) -> int:
    return page_size(GAME, GAME.cells - 2 * number)


def _starts(number: int) -> list[int]:
    return [_PAGES[number] * task for task in range(TASKS[number] + 1)]


def _packed(folder: Folder, number: int) -> PackedShelf:
    return PackedShelf(folder, number, _starts(number), _size(number))


def _put(layer: StandInLayer, task: Task, pages: np.ndarray) -> None:
    with layer.onto.part(task.number) as shelf:
        room = shelf.room(len(pages))
        if room.shape == pages.shape:  # else nobody wants them
            room[:] = pages
        shelf.put(room)


def _checksum(layer: StandInLayer) -> int:
    """Return a checksum of all pages of the layer above."""
    pages = np.arange(_starts(layer.number + 1)[-1])
    found = layer.above.gather(pages, pages, Desk(1 << 20), whole=True)
    assert found is not None
    return zlib.crc32(np.ascontiguousarray(found.pages[found.indexes]).tobytes())


def _scores(layer: int, pages: range, seed: int) -> np.ndarray:
    """Return scores as they could be, but at random."""
    mixed = (np.arange(_size(layer)) + np.array(pages)[:, None] * 1009 + layer + seed) * 2_654_435_761 >> 16
    return (mixed % (2 * GAME.cells + 1) - GAME.cells).astype(np.int8)
