"""Answers: what is known of a position and of each of its moves. Their fields are those of the JSON.

Scores are explained in solver/games/score.py, and those of the duel in solver/games/duel.py. A position's score is that
of the side to move; a move's score is that of the side that makes it. Plies are half-moves, counted from the position
that was asked about.
"""

import json
from functools import lru_cache
from typing import Any, NamedTuple

from solver.games.score import MARGIN
from solver.text import plies_in_words

_OTHER = {"X": "O", "O": "X", "R": "G", "G": "R"}


class Move(NamedTuple):
    """A move, and what it leads to under best play by both."""

    move: str
    """The cell's name, such as `b3`."""
    cell: int
    """The cell's number, as in a Position."""
    row: int
    """The cell's row, from 0 at the top."""
    col: int
    """The cell's column, from 0 at the left."""
    outcome: str | None
    """`win`, `draw` or `loss` for the side that makes the move; None if that is not settled."""
    plies: int | None
    """How many plies to the end, this one included; None for a draw."""
    score: int | None
    """None if that is not settled."""
    best: bool
    """Whether it is certain that no other move is better."""
    estimate: float | None = None
    """The share of points that the side that makes it may expect; None where the outcome is known, or nothing is."""


class Analysis(NamedTuple):
    """All that is known of a position."""

    game: str
    board: str
    to_move: str | None
    """`X` or `O` (in the duel, `R` or `G`); None when the game is over."""
    over: bool
    winner: str | None
    """Who has won a game that is over."""
    outcome: str | None
    """`win`, `draw` or `loss` for the side to move; None when the game is over, or if that is not settled."""
    plies: int | None
    """How many plies to the end, at most that many if `bound`; None for a draw."""
    score: int | None
    """None if not even the outcome is settled."""
    bound: bool
    """Whether the end may come sooner than `plies` and `score` say."""
    scale: str
    """What a score says besides who wins: by how soon (`plies`), or by how many cells (`margin`)."""
    best: tuple[str, ...]
    """Every move that is certainly best; empty if none is known to be."""
    moves: tuple[Move, ...]
    """Every move, best first, equally good ones in the order of the cells; unsettled ones most promising first."""
    mainline: tuple[str, ...]
    """One way in which the game goes on with best play by both or, if `estimate` is given, as the search expects."""
    mainline_complete: bool
    """Whether the main line goes to the end of the game; false if time ran out."""
    canonical: str
    """The canonical form: the one board that stands for all boards equal by symmetry."""
    source: str
    """`store` or `search`."""
    exact: bool
    """Whether the score of every move is certain: always from a store, and from a search that ended in time."""
    estimate: float | None = None
    """The share of points that the side to move may expect; None where the outcome is known, or nothing is."""
    depth: int | None = None
    """How many plies a search that estimates has looked ahead."""
    nodes: int | None = None
    """How many positions it has looked at."""
    proof: dict[str, Any] | None = None
    """A proof of the outcome: `kind`, `text`, and the rest. None where the store or the search itself is the reason."""
    threats: dict[str, list[str]] | None = None
    """On boards too large to solve, the cells of threats (oracle/threats.py): `completes`, `blocks`, `makes_two` and
    `stops_two`; None elsewhere."""

    def as_json(self) -> str:
        """Return the fields as one line of JSON. Moves recur from board to board, so their text is cached."""
        head, tail = json.dumps({**self._asdict(), "moves": []}).split('"moves": []')
        return f'{head}"moves": [{", ".join([_json(move) for move in self.moves])}]{tail}'

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by name, as they stand in JSON."""
        return {**self._asdict(), "moves": [move._asdict() for move in self.moves]}

    @property
    def settled(self) -> bool:
        """Whether it is certain who wins, even if not every move's score is."""
        return self.over or self.outcome is not None

    @property
    def verdict(self) -> str:
        """Who wins and how soon, in words: `X wins in 4 moves (7 plies)`."""
        if self.to_move is None:
            return f"the game is over: {f'{self.winner} has won' if self.winner else 'a draw'}"
        if self.score is None:
            return self._unsettled
        if not self.score:
            return "a draw with best play"
        winner = self.to_move if self.score > 0 else _OTHER[self.to_move]
        return in_words(self.score, self.plies, self.scale, winner, exact=not self.bound)

    @property
    def _unsettled(self) -> str:
        if self.estimate is None:
            return "not settled: no forced win was found"
        return f"not settled; {in_chances(self.estimate, self.to_move or '')}"


@lru_cache(1 << 14)
def _json(move: Move) -> str:
    return json.dumps(move._asdict())


def in_words(score: int, plies: int | None, scale: str, winner: str, *, exact: bool = True) -> str:
    """Return what a score means: `X wins in 4 moves (7 plies)`, `R wins by 6`, `a draw`."""
    if not score:
        return "a draw"
    if scale == MARGIN:
        return f"{winner} wins by {'' if exact else 'at least '}{abs(score)}"
    if not plies:
        return f"{winner} has won"
    return f"{winner} wins in {'' if exact or plies == 1 else 'at most '}{in_moves(plies)}"


def percent(estimate: float) -> int:
    """Return an estimate in percent: never 0 or 100, which would be certain."""
    return min(99, max(1, round(100 * estimate)))


def in_chances(estimate: float, side: str) -> str:
    """Return the share of points that a side may expect in words: `about 62% of the points for X, an estimate`."""
    return f"about {percent(estimate)}% of the points for {side}, an estimate"


def in_moves(plies: int) -> str:
    """Return a number of plies in words, as moves too: `4 moves (7 plies)`."""
    moves = (plies + 1) // 2
    return f"{moves} move{'s' * (moves != 1)} ({plies_in_words(plies)})"
