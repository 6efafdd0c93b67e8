"""Positions of a game of lines: who has won, and which positions no game reaches."""

from dataclasses import dataclass, field
from functools import reduce
from operator import and_, or_

from solver.errors import BoardError
from solver.games.board import BoardPosition, cells_of
from solver.games.lines import Game
from solver.games.score import win_score


@dataclass(frozen=True, slots=True)
class Position(BoardPosition):
    """The cells of X and of O in one game. X moves first, so the counts tell whose turn it is."""

    game: Game
    x: int = 0
    o: int = 0
    _lines: tuple[list[int], list[int]] | None = field(default=None, init=False, compare=False, repr=False)
    _checked: bool = field(default=False, init=False, compare=False, repr=False)

    @property
    def lines(self) -> tuple[list[int], list[int]]:
        """The complete lines of X and those of O."""
        lines = self._lines
        if lines is None:
            lines = self.game.completed(self.x), self.game.completed(self.o)
            object.__setattr__(self, "_lines", lines)
        return lines

    @property
    def winner(self) -> str | None:
        """`X` or `O`, if one has won; None for a draw and while the game goes on."""
        x_lines, o_lines = self.lines
        if not x_lines and not o_lines:
            return None
        return "X" if bool(x_lines) != self.game.misere else "O"

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.x | self.o == self.game.full or any(self.lines)

    @property
    def legal(self) -> list[int]:
        """The cells that can be claimed now, in order; none when the game is over."""
        return [] if self.over else list(cells_of(self.game.full & ~(self.x | self.o)))

    def play(self, cell: int) -> "Position":
        """Return the position after the side to move claims `cell`; raise BoardError if it cannot."""
        self.require_playable(cell)
        if self.mover == "X":
            return Position(self.game, self.x | 1 << cell, self.o)
        return Position(self.game, self.x, self.o | 1 << cell)

    def score_if_over(self) -> int | None:
        """Return the score of a finished game for the side to move; None while the game goes on."""
        if not self.over:
            return None
        if self.winner is None:
            return 0
        score = win_score(self.game.cells, self.stones)
        return score if self.winner == self.mover else -score

    def ending(self) -> set[int]:
        """Return the cells of all complete lines."""
        x_lines, o_lines = self.lines
        return set(cells_of(reduce(or_, x_lines + o_lines, 0)))

    def allows(self, cell: int) -> bool:
        """Tell whether an empty cell can be claimed now."""
        return not self.over

    def checked(self) -> "Position":
        """Return the position; raise BoardError, with the reason, if no game can reach it."""
        return check(self)


def check(position: Position) -> Position:
    """Return the position; raise BoardError, with the reason, if no game can reach it."""
    if position._checked:
        return position
    game = position.game
    if position.x & position.o or (position.x | position.o) & ~game.full:
        raise BoardError(f"cells {position.x:#x} of X and {position.o:#x} of O overlap, or are not all on the board")
    x_count, o_count = position.x.bit_count(), position.o.bit_count()
    if x_count - o_count not in (0, 1):
        raise BoardError(
            f"board {str(position)!r} has {x_count} X and {o_count} O: X moves first, so X has as many or one more"
        )
    mover, last = ("X", "O") if x_count == o_count else ("O", "X")
    movers, lasts = position.lines if mover == "X" else position.lines[::-1]
    if movers and lasts:
        raise BoardError(f"board {str(position)!r} has lines of both X and O: the game ended at the first")
    if movers:
        raise BoardError(
            f"board {str(position)!r} has a line of {mover}, yet {last} moved last: the game ended before that move"
        )
    if lasts and not reduce(and_, lasts):
        raise BoardError(
            f"board {str(position)!r} has lines of {last} that no single move completes: the game ended before the last"
        )
    object.__setattr__(position, "_checked", True)
    return position


def is_reachable(position: Position) -> bool:
    """Tell whether some game reaches the position."""
    try:
        check(position)
    except BoardError:
        return False
    return True
