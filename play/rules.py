"""What a match must know of a game, and games of lines as the first kind of it.

A match asks these few things of a game and nothing else, so that a game which is not about lines can
be played by the same matches, players and records. A state is immutable and belongs to its rules.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Protocol, TypeVar

from oracle.cli.drawing import draw
from solver.errors import BoardError
from solver.games.lines import Game
from solver.games.position import Position, cells_of

S = TypeVar("S")


class Status(Enum):
    """How a match stands."""

    IN_PROGRESS = "in progress"
    X_WON = "X has won"
    O_WON = "O has won"
    DRAW = "draw"

    @property
    def winner(self) -> str | None:
        """`X` or `O`, if one has won."""
        return {Status.X_WON: "X", Status.O_WON: "O"}.get(self)


class Rules(Protocol[S]):
    """A game of two players, X and O, who move in turn."""

    @property
    def name(self) -> str:
        """The game's notation."""

    def start(self) -> S:
        """The state before the first move."""

    def status(self, state: S) -> Status:
        """How things stand."""

    def to_move(self, state: S) -> str:
        """`X` or `O`: whose turn it is, or would be."""

    def legal(self, state: S) -> list[int]:
        """The moves that can be made; none when the game is over."""

    def exists(self, move: int) -> bool:
        """Whether the game has such a move at all."""

    def taken(self, state: S, move: int) -> bool:
        """Whether a move that exists cannot be made because of what was made before."""

    def play(self, state: S, move: int) -> S:
        """The state after a legal move."""

    def read(self, text: str) -> int:
        """The move that is written so; BoardError if there is none."""

    def write(self, move: int) -> str:
        """How a move is written."""

    def hopeless(self, state: S) -> bool:
        """Whether it is plain already that nobody will win; it may be true before it is plain."""

    def drawn(self, state: S, notes: Mapping[int, str] | None = None) -> str:
        """The state as text, with a note in the place of some moves."""


@dataclass(frozen=True, slots=True)
class LineState:
    """A position, how it stands, and the cell that was claimed last."""

    position: Position
    status: Status = Status.IN_PROGRESS
    last: int | None = None

    @property
    def empty(self) -> list[int]:
        """The cells that nobody holds, in order."""
        return list(cells_of(self.position.game.full & ~(self.position.x | self.position.o)))


@dataclass(frozen=True)
class LineRules:
    """A game of lines on any board. A win is looked for on the lines through the last cell alone."""

    game: Game

    @property
    def name(self) -> str:
        """The game's notation."""
        return self.game.notation

    def start(self) -> LineState:
        """The empty board."""
        return LineState(Position(self.game))

    def status(self, state: LineState) -> Status:
        """How things stand."""
        return state.status

    def to_move(self, state: LineState) -> str:
        """`X` or `O`, by the counts."""
        return state.position.mover

    def legal(self, state: LineState) -> list[int]:
        """The empty cells, in order."""
        return state.empty if state.status is Status.IN_PROGRESS else []

    def exists(self, move: int) -> bool:
        """Whether the board has such a cell."""
        return 0 <= move < self.game.cells

    def taken(self, state: LineState, move: int) -> bool:
        """Whether somebody holds the cell."""
        return bool((state.position.x | state.position.o) >> move & 1)

    def play(self, state: LineState, move: int) -> LineState:
        """The state after the side to move claims an empty cell."""
        game, x, o = self.game, state.position.x, state.position.o
        who = state.position.mover
        if who == "X":
            x |= 1 << move
        else:
            o |= 1 << move
        status = Status.IN_PROGRESS
        if game.completes(x if who == "X" else o, move):
            status = Status.X_WON if (who == "X") != game.misere else Status.O_WON
        elif x | o == game.full:
            status = Status.DRAW
        return LineState(Position(game, x, o), status, move)

    def read(self, text: str) -> int:
        """The cell of that name (`b3`), or of that row and column from 1 (`3 2`)."""
        parts = text.replace(",", " ").split()
        if len(parts) == 2 and all(part.isascii() and part.isdigit() for part in parts):
            row, column = (int(part[:9]) for part in parts)
            if not (1 <= row <= self.game.rows and 1 <= column <= self.game.columns):
                raise BoardError(
                    f"no cell in row {parts[0][:9]}, column {parts[1][:9]}: rows go from 1 to {self.game.rows}, "
                    f"columns from 1 to {self.game.columns}"
                )
            cell = self.game.cells_by_square.get((row - 1) * self.game.columns + column - 1)
            if cell is None:
                raise BoardError(f"no cell in row {row}, column {column}: the board has a hole there")
            return cell
        return self.game.cell(text)

    def write(self, move: int) -> str:
        """The cell's name."""
        return self.game.cell_name(move)

    def hopeless(self, state: LineState) -> bool:
        """Whether every line has cells of both sides."""
        x, o = state.position.x, state.position.o
        for line in self.game.lines:  # noqa: SIM110 - any() takes twice as long
            if not (line & x and line & o):
                return False
        return True

    def drawn(self, state: LineState, notes: Mapping[int, str] | None = None) -> str:
        """The board: the last move in brackets, the line that ended the game in stars."""
        ended: list[int] = []
        if state.status not in (Status.IN_PROGRESS, Status.DRAW) and state.last is not None:
            stones = state.position.x if state.position.x >> state.last & 1 else state.position.o
            for line in self.game.lines_through[state.last]:
                if line & stones == line:
                    ended += cells_of(line)
        return draw(state.position, notes or {}, ended, None if ended else state.last)
