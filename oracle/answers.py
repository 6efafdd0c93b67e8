"""Answers: what is known of a position and of each of its moves. Their fields are those of the JSON.

A **score** is `cells + 1 - stones on the board when the game ends`, positive if the side to move
wins, negative if it loses, 0 for a draw: a larger one is better, and a sooner win is larger. For a
move it is that of who makes it. **Plies** are half-moves, counted from the position that was asked about.
"""

import json
from functools import lru_cache
from typing import Any, NamedTuple

from solver.games.score import outcome_of

outcome = outcome_of  # for play/arena.py, until it imports outcome_of itself


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
    outcome: str
    """`win`, `draw` or `loss` for who makes the move."""
    plies: int | None
    """How many plies to the end, this one included; None for a draw."""
    score: int
    best: bool
    """Whether no other move is better."""


class Analysis(NamedTuple):
    """All that is known of a position."""

    game: str
    board: str
    to_move: str | None
    """`X` or `O`; None when the game is over."""
    over: bool
    winner: str | None
    """Who has won a game that is over."""
    outcome: str | None
    """`win`, `draw` or `loss` for the side to move; None when the game is over."""
    plies: int | None
    """How many plies to the end; None for a draw."""
    score: int
    best: tuple[str, ...]
    """Every move that is equally best, in the order of the cells; the most promising one if none is known to be."""
    moves: tuple[Move, ...]
    """Every move, best first, equals in the order of the cells."""
    mainline: tuple[str, ...]
    """One way in which the game goes to its end when both play best; its first move alone if time ran out."""
    canonical: str
    """The board that stands for this one and all that the game's symmetries make of it."""
    source: str
    """`store` or `search`."""
    exact: bool
    """Whether every score above is certain: always from a store; from search if it came to an end in time."""

    def as_json(self) -> str:
        """The fields as one line of JSON. Moves recur from board to board, so their text is kept."""
        head, tail = json.dumps({**self._asdict(), "moves": []}).split('"moves": []')
        return f'{head}"moves": [{", ".join([_json(move) for move in self.moves])}]{tail}'

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, as they stand in JSON."""
        return {**self._asdict(), "moves": [move._asdict() for move in self.moves]}

    @property
    def verdict(self) -> str:
        """Who wins, and how soon, in words: `X wins in 4 moves (7 plies)`."""
        if self.to_move is None:
            return f"the game is over: {f'{self.winner} has won' if self.winner else 'a draw'}"
        if self.plies is None:
            return "a draw with best play" if self.exact else "not settled: no forced win was found"
        winner = self.to_move if self.score > 0 else "XO"[self.to_move == "X"]
        return f"{winner} wins in {'' if self.exact else 'at most '}{in_moves(self.plies)}"


@lru_cache(1 << 14)
def _json(move: Move) -> str:
    return json.dumps(move._asdict())


def in_moves(plies: int) -> str:
    """A number of plies, as moves too: `4 moves (7 plies)`."""
    moves = (plies + 1) // 2
    return f"{moves} move{'s' * (moves != 1)} ({plies} {'plies' if plies != 1 else 'ply'})"
