"""Looks at large boards that are made up, so that what is shown of them is the same every time."""

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, ClassVar

import pytest

from solver.certificates.at_hand import Win
from solver.engine.live import LiveEngine
from solver.games.lines import Game, grid
from solver.source import Look

Seen = Callable[[Game, int, int], Look]


def load_engine() -> None:
    """Wait until the engine is compiled, so that it is loaded in an instant from now on."""
    assert LiveEngine(grid(5, 6, 4), 1).compiled(monotonic() + 120)


def scores_of(game: Game, x: int, o: int, first: str | None = None, **known: int) -> list[tuple[int, int | None]]:
    """The score of every move, None if it is not known; one comes first."""
    cells = [cell for cell in range(game.cells) if not (x | o) >> cell & 1]
    scores = {cell: known.get(game.cell_name(cell)) for cell in cells}
    return sorted(scores.items(), key=lambda move: game.cell_name(move[0]) != first)


def estimated(line: str = "", depth: int = 9, nodes: int = 123_456, **estimates: float) -> Seen:
    """A look that has estimates of some moves; the best of them comes first."""

    def look(game: Game, x: int, o: int) -> Look:
        best = max(estimates, key=lambda name: estimates[name])
        return Look(
            scores_of(game, x, o, best), False, estimates={game.cell(name): each for name, each in estimates.items()},
            line=tuple(map(game.cell, line.split())), depth=depth, nodes=nodes,
        )  # fmt: skip

    return look


def won(side: str, line: str, *, mover: str = "X") -> Seen:
    """A look that has a strategy for a side, which is or is not the one to move."""

    def look(game: Game, x: int, o: int) -> Look:
        cells = tuple(map(game.cell, line.split()))
        score = game.cells - (x | o).bit_count() + 1 - len(cells)
        win = Win(side, len(cells), cells)
        if side == mover:
            first = line.split()[0]
            return Look(scores_of(game, x, o, first, **{first: score}), False, score, True, win, line=cells)
        return Look([(cell, -score) for cell, _ in scores_of(game, x, o)], False, -score, True, win, line=cells)

    return look


@dataclass(frozen=True)
class Stopped:
    """A certificate whose pairs are given."""

    stops: list[dict[str, Any]]
    kind: ClassVar[str] = "pairing"
    text: str = field(default="Nobody can win: X cannot, and O cannot.")

    def as_dict(self, game: Game) -> dict[str, Any]:
        return {"kind": self.kind, "stops": self.stops}

    def in_words(self, game: Game) -> str:
        return self.text


def drawn(*stops: dict[str, Any], exact: bool = True) -> Seen:
    """A look that has a certificate of a draw, for all moves or for an unknown one."""

    def look(game: Game, x: int, o: int) -> Look:
        scores = [(cell, 0 if exact else None) for cell, _ in scores_of(game, x, o)]
        return Look(scores, exact, 0, False, Stopped(list(stops)), depth=3, nodes=10)

    return look


def nothing(game: Game, x: int, o: int) -> Look:
    return Look(scores_of(game, x, o), False)


def pretend(monkeypatch: pytest.MonkeyPatch, *looks: Seen) -> None:
    """Let large boards be seen so: each look is of a position with one stone more, the last of all that follow."""

    def look(self: LiveEngine, x: int, o: int, deadline: float) -> Look:
        return looks[min(len(looks) - 1, (x | o).bit_count())](self.game, x, o)

    monkeypatch.setattr(LiveEngine, "look", look)
