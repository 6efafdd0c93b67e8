"""A witness: scores of random positions by a search that shares no kernel and no enumeration with the build.

Both solvers run compiled code, and take their positions from the same halves. If that is wrong, they may agree on
nonsense. So a build also asks plain Python (solver/search/live.py): positions that random games reach, of all
plies, and the empty board where that is quick. Their scores must be those of the new file, or it gets no name.

The search runs in a process of its own, while this one loads numba.
"""

import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from math import inf
from select import select
from time import monotonic

from solver.errors import NotSettled, SolversDisagree
from solver.games.lines import Game
from solver.games.position import Position
from solver.index.symmetry import symmetries
from solver.search.live import Search
from solver.store.manifest import game_fields, read_game
from solver.store.scores import Scores

POSITIONS = 1000
"""How many positions are searched, at least."""

_SECONDS = 2.0
"""How long the search goes on beyond that, at most, while the build does."""

_QUICK, _PATIENT = 0.0003, 0.02
"""How many seconds one search may take: up to so many positions, and beyond."""

_EMPTY_BOARD_CELLS = 16
"""On boards of up to so many cells the empty board is searched, too."""

_FEW_CELLS = 9
"""On boards of up to so many cells, all of it takes less time than starting a process."""

Testimony = list[tuple[int, int, int]]
"""X's cells, O's cells and the score of each position."""


class Witness:
    """Searches random positions of a game while a build goes on; a context manager that ends the search."""

    def __init__(self, game: Game) -> None:
        """Begin to search, if that takes long enough to be worth a process."""
        self._game = game
        self._process: subprocess.Popen[bytes] | None = None
        if game.cells > _FEW_CELLS:
            command = [sys.executable, "-P", "-c", "from solver.proof.witness import main; main()"]
            with suppress(OSError):  # then this process searches, at the end
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
                )
        if self._process and self._process.stdin:
            with suppress(OSError):
                self._process.stdin.write(json.dumps(game_fields(game)).encode() + b"\n")
                self._process.stdin.flush()

    def __enter__(self) -> "Witness":
        return self

    def __exit__(self, *error: object) -> None:
        if self._process:
            self._process.kill()
            with suppress(OSError):
                self._process.communicate()

    def confirm(self, scores: Scores) -> int:
        """Return how many positions have the right score; raise SolversDisagree at the first that has not."""
        testimony = self._testimony()
        for x, o, score in testimony:
            position = Position(self._game, x, o)
            stored = scores.score(position)
            if stored != score:
                raise SolversDisagree(
                    f"board {str(position)!r} of {self._game.name}: the store says {stored}, a plain search {score}"
                )
        return len(testimony)

    def _testimony(self) -> Testimony:
        if self._process:
            with suppress(ValueError, OSError):
                said, _ = self._process.communicate()  # closing its standard input says that it is enough
                if self._process.returncode == 0:
                    return [(x, o, score) for x, o, score in json.loads(said)]
        return testify(self._game, lambda: True)


def testify(game: Game, enough: Callable[[], bool]) -> Testimony:
    """Return the scores of POSITIONS random positions, of the empty board where that is feasible, and of more.

    Positions come from random games, each followed backwards as far as its positions are settled in time. Once
    there are so many, and `enough` is true or time is up, the search ends.
    """
    rng = random.Random(os.urandom(8))
    found: Testimony = []
    deadline = monotonic() + _SECONDS
    search = Search(game, symmetries(game)[:1], _QUICK)  # so quick a search gains nothing from symmetry
    for _ in range(POSITIONS):  # games, so that one without open positions ends this, too
        if len(found) < POSITIONS:
            found += _followed(search, _random_game(game, rng))
    search = Search(game, symmetries(game), inf)
    if game.cells <= _EMPTY_BOARD_CELLS:
        found.append((0, 0, search.score(Position(game))))
    search.seconds = _PATIENT
    while not enough() and monotonic() < deadline:
        found += _followed(search, _random_game(game, rng))
    return found


def _followed(search: Search, positions: list[Position]) -> Testimony:
    """Return the scores of a game's positions, from the last one back to the first that takes too long."""
    found = []
    with suppress(NotSettled):
        for position in reversed(positions):
            found.append((position.x, position.o, search.score(position)))
    return found


def _random_game(game: Game, rng: random.Random) -> list[Position]:
    """Return the open positions of a random game."""
    positions = [Position(game)]
    for cell in rng.sample(range(game.cells), game.cells):
        positions.append(positions[-1].play(cell))
        if positions[-1].over:
            positions.pop()
            break
    return positions


def main() -> None:
    """Read a game from standard input, and write what `testify` says of it as JSON; the end of input is enough."""
    game = read_game(json.loads(sys.stdin.readline()))
    json.dump(testify(game, lambda: bool(select([sys.stdin], [], [], 0)[0])), sys.stdout)
