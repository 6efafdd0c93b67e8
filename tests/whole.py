"""A proof of a game of lines that hands over every page it fills, and not only those that a store has."""

from collections.abc import Callable, Iterator
from typing import Any

from solver.games.lines import Game
from solver.index.symmetry import Symmetry
from solver.proof.crew import threads
from solver.proof.progress import silent
from solver.proof.proof import Summary, Task
from solver.proof.prove import LineProof, LineWork
from solver.sweep.layers import Filled


class WholeWork(LineWork):
    """Yields both pages of open halves."""

    def stored(self, filled: Filled) -> Iterator[Any]:
        yield filled


class WholeProof(LineProof[Any]):
    """A proof whose tasks hand over both pages of open halves."""

    working = WholeWork


def whole(
    game: Game, group: tuple[Symmetry, ...], of: Callable[[Filled], Any], jobs: int = 1, **options: Any
) -> tuple[list[list[Any]], Summary]:
    """Solve a game: what `of` makes of its pages, a few at a time, layer by layer, and the summary."""

    def use(task: Task, summary: Summary, pages: Iterator[Any]) -> list[Any]:
        return [of(filled) for filled in pages]

    with threads(jobs) as crew:
        proof = WholeProof(game, group, use, crew=crew, on_progress=silent, **options)
        made = [[each for of_task in stage.made for each in of_task] for stage in proof.stages()]
    return made, proof.summary
