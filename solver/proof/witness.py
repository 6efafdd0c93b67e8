"""A witness: scores of random positions by a search that shares no kernel and no enumeration with the build.

Both solvers run compiled code, and take their positions from the same halves. If that is wrong, they may agree on
nonsense. So a build also asks plain Python (the kind's live search): positions that random games reach, back from
their ends to where the search takes too long, and the empty board where that is quick. Their scores must be those
of the new file, or it gets no name.

The search runs in a forked process, while this one loads numba.
"""

import json
import os
import random
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from select import select
from time import monotonic
from typing import Any, NoReturn

from solver.errors import NotSettled, SolversDisagree
from solver.games.board import BoardGame, BoardPosition
from solver.index.layout import stored_plies
from solver.kinds import kind_of
from solver.source import Source

POSITIONS = 1000
"""How many positions are searched, at least."""

_SECONDS = 1.0
"""How long the search goes on beyond that, at most, while the build does."""

_QUICK, _PATIENT = 0.0001, 0.02
"""How many seconds one search may take: up to so many positions, and beyond."""

_EMPTY_BOARD_CELLS = 16
"""On boards of up to so many cells the empty board is searched, too, if that takes no more than _SECONDS."""

_FEW_CELLS = 9
"""On boards of up to so many cells, all of it takes no longer than a process is worth."""

Evidence = list[tuple[int, int, int]]
"""X's cells, O's cells and the score of each position."""


class Witness:
    """Searches random positions of a game while a build goes on; a context manager that ends the search."""

    def __init__(self, game: BoardGame[Any]) -> None:
        """Begin to search, unless threads forbid to fork: then `confirm` searches, at the end."""
        self._game = game
        self._child = 0
        if game.cells > _FEW_CELLS and threading.active_count() == 1:
            self._said, said = os.pipe()
            enough, self._enough = os.pipe()
            with suppress(OSError):  # then this process searches
                self._child = os.fork()
                if not self._child:
                    os.close(self._enough)
                    os.close(self._said)  # else it would wait for a dead build to read
                    _be_the_witness(game, enough, said)
            os.close(said)
            os.close(enough)
            if not self._child:
                os.close(self._said)
                os.close(self._enough)

    def __enter__(self) -> "Witness":
        return self

    def __exit__(self, *error: object) -> None:
        if self._child:
            with suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
            self._wait()

    def confirm(self, scores: Source) -> int:
        """Return how many positions have the right score; raise SolversDisagree at the first that has not."""
        found = self._evidence()
        for x, o, score in found:
            position = self._game.at(x, o)
            stored = scores.score(position)
            if stored != score:
                raise SolversDisagree(
                    f"board {str(position)!r} of {self._game.name}: the store says {stored}, a plain search {score}"
                )
        if not found:
            raise SolversDisagree("a plain search could confirm no position of the new file")
        return len(found)

    def _evidence(self) -> Evidence:
        if self._child:
            with suppress(BrokenPipeError):  # it has ended already
                os.write(self._enough, b"enough")
            with suppress(OSError, ValueError), open(self._said, "rb", closefd=False) as file:
                return [(x, o, score) for x, o, score in json.load(file)]
        return evidence(self._game, lambda: True)

    def _wait(self) -> None:
        """Wait for the child's end."""
        with suppress(ChildProcessError):  # where the parent process ignores SIGCHLD, nobody need wait
            os.waitpid(self._child, 0)
        self._child = 0
        os.close(self._said)
        os.close(self._enough)


def _be_the_witness(game: BoardGame[Any], enough: int, said: int) -> NoReturn:
    """Search in a forked process, beside others' work, until `enough` can be read, and write what was found."""
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        silence = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(silence, stream)

        def asked() -> bool:
            os.nice(1)  # what is searched beyond the least gives way to the build
            return bool(select([enough], [], [], 0)[0])

        found = evidence(game, asked)
        with open(said, "w") as file:
            json.dump(found, file)
    finally:
        os._exit(0)


def evidence(game: BoardGame[Any], enough: Callable[[], bool]) -> Evidence:
    """Return the scores of POSITIONS random positions, of the empty board where that is feasible, and of more.

    Positions come from random games, each followed backwards as far as its positions are settled in time. Once
    there are so many, the search ends when `enough` is true or time is up.
    """
    rng = random.Random(os.urandom(8))
    kind = kind_of(game)
    if stored_plies(game) < game.cells:
        return _evidence_of_a_book(game, stored_plies(game), enough, rng)
    found: dict[tuple[int, int], int] = {}
    deadline = monotonic() + _SECONDS
    search = kind.witness(game, kind.symmetries(game)[:1], _QUICK)  # so quick a search gains nothing from symmetry
    for _ in range(POSITIONS):  # games, so that one of few positions ends this, too
        if len(found) < POSITIONS:
            found |= _followed(search, _random_game(game, rng))
    search = kind.witness(game, kind.symmetries(game), _SECONDS)
    if game.cells <= _EMPTY_BOARD_CELLS:
        found |= _followed(search, [game.at(0, 0)])
    search.seconds = _PATIENT
    while not enough() and monotonic() < deadline:
        found |= _followed(search, _random_game(game, rng))
    return [(x, o, score) for (x, o), score in found.items()]


def _evidence_of_a_book(
    game: BoardGame[Any], plies: int, enough: Callable[[], bool], rng: random.Random
) -> Evidence:  # fmt: skip
    """Return the scores of random positions after so many plies: at least one, and as many as there is time for."""
    kind, parent = kind_of(game), os.getppid()
    search = kind.witness(game, kind.symmetries(game)[:1], _SECONDS)
    found: Evidence = []
    while not found or not enough():
        position = _random_game(game, rng)[plies]
        while os.getppid() == parent and not (found and enough()):
            with suppress(NotSettled):  # what was found out is remembered, so that the search goes on where it was
                found.append((position.x, position.o, search.score(position)))
                break
        if os.getppid() != parent:
            break
    return found


def _followed(search: Source, positions: list[BoardPosition]) -> dict[tuple[int, int], int]:
    """Return the scores of a game's positions, from the last one back to the first that takes too long."""
    found = {}
    with suppress(NotSettled):
        for position in reversed(positions):
            found[position.x, position.o] = search.score(position)
    return found


def _random_game(game: BoardGame[Any], rng: random.Random) -> list[BoardPosition]:
    """Return the open positions of a random game."""
    positions = [game.at(0, 0)]
    order = rng.sample(range(game.cells), game.cells)
    while not positions[-1].over:
        cell = next(filter(positions[-1].allows, order))
        order.remove(cell)
        positions.append(positions[-1].play(cell))
    return positions[:-1]
