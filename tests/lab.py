"""What tests of the lab share: players whose chances plain Python gives, and graders that are made once for a game."""

import random
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import naive
import numpy as np

from play.lab.grading import Grader
from play.lab.runs import Run
from solver.arrays.positions import Positions

NEAR = 1e-12
SMALL = ["2,4,3", "2,4,3,misere", "fano"]
"""Games with few positions, but of every class; the last one has 168 symmetries."""


@cache
def twin(name: str) -> naive.Game:
    if name == "fano":
        return naive.Game.described((Path(__file__).parents[1] / "data" / "games" / "fano.toml").read_text())
    return naive.Game.named(name)


@cache
def grader(name: str) -> Grader:
    """A grader that reads no store."""
    return Grader(name, live=True)


def positions_of(name: str) -> Positions:
    return grader(name).positions


def boards(name: str) -> list[str]:
    found = positions_of(name)
    return [naive.board(twin(name), *cells) for cells in zip(found.x.tolist(), found.o.tolist(), strict=True)]


class Told:
    """A player whose chances are those of plain Python, board by board."""

    def __init__(self, rules: naive.Game, chances: naive.Chances, *, symmetric: bool = False) -> None:
        self._rules, self._chances, self.symmetric = rules, chances, symmetric

    def chances(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        boards = [naive.board(self._rules, *cells) for cells in zip(x.tolist(), o.tolist(), strict=True)]
        return np.array([list(map(float, self._chances(board))) for board in boards]).reshape(len(x), -1)


@cache
def scattered(seed: object, *, careless: bool = False) -> naive.Chances:
    """Random chances, many of them 0, on free cells only unless they are careless."""

    @cache
    def chances(board: str) -> Sequence[Fraction]:
        rng = random.Random(f"{seed} {board}")
        weights = [rng.choice([0, 0, 1, 2, 5]) if careless or mark == "." else 0 for mark in board]
        return [Fraction(weight, sum(weights)) for weight in weights] if any(weights) else naive.at_random(board)

    return chances


def alike(name: str, chances: naive.Chances) -> naive.Chances:
    """The same chances on all images of a board: those on the first in the alphabet, turned back."""
    group = positions_of(name).group

    @cache
    def turned_back(board: str) -> list[Fraction | float]:
        first, g = min((naive.turned(board, g), g) for g in group)
        known = chances(first)
        return [known[g[cell]] for cell in range(len(board))]

    return turned_back


def as_array(name: str, chances: naive.Chances) -> np.ndarray:
    """The chances on the boards of all rows."""
    positions = positions_of(name)
    return Told(twin(name), chances).chances(positions.x, positions.o)


def digest(folder: Path) -> str:
    """The digest of the run in a folder."""
    return Run.open(str(folder)).digest()


POLICIES: dict[str, naive.Chances] = {
    "random": naive.at_random,
    "first": naive.first_free,
    "scattered": scattered(1),
    "careless": scattered(2, careless=True),
}


def lowest(x: np.ndarray, o: np.ndarray) -> np.ndarray:
    """The first free cell of each board."""
    taken = x | o
    return np.log2(~taken & taken + 1).astype(int)


class FirstFree:
    """A player of the arena, who always makes the same move in a state."""

    name = "first free"

    def choose(self, state: Any) -> int:
        return int(state.empty[0])


class FirstFreeMany:
    """The same player, asked in arrays."""

    def __init__(self, rules: Any = None, seed: int | str = 0) -> None:
        pass

    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        return lowest(x, o)


class FirstCell(FirstFreeMany):
    """The first cell, taken or not."""

    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        return np.zeros(len(x), int)


class Failing(FirstFreeMany):
    """No move."""

    def choose_many(self, x: np.ndarray, o: np.ndarray) -> np.ndarray:
        raise RuntimeError("no idea\nat all")


class Wavering:
    """Any free cell, by a seed of its own."""

    def __init__(self, rules: Any, seed: int | str) -> None:
        self.rng = random.Random(str(seed))

    def choose(self, state: Any) -> int:
        return self.rng.choice(state.empty)
