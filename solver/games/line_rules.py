"""The rules of every game of lines, on any board: take turns claiming cells until one side fills a line.

Inside, X always moves first, because an index or a store knows positions of no other kind. With `first="O"`
O begins, and the marks are exchanged wherever a person sees them: `LineRules.marks` says how.
"""

from dataclasses import dataclass

from solver.errors import BoardError
from solver.games.lines import Game
from solver.games.position import Position, cells_of, parse
from solver.games.rules import Outcome

_EXCHANGED = str.maketrans("XO", "OX")
_EXCHANGED_IN_ANY_CASE = str.maketrans("XOxo", "OXox")


@dataclass(frozen=True, slots=True)
class LineState:
    """A position, how the game ended, and the cell claimed last."""

    position: Position
    """The side that began is X here, whatever its mark."""
    outcome: Outcome | None = None
    last: int | None = None

    @property
    def empty(self) -> list[int]:
        """The cells that are free, in order."""
        return list(cells_of(self.position.game.full & ~(self.position.x | self.position.o)))


@dataclass(frozen=True)
class LineRules:
    """A game of lines. Only the lines through the last cell are searched for a win."""

    game: Game
    first: str = "X"
    """The mark of the side that begins."""

    sides = ("X", "O")

    @property
    def name(self) -> str:
        """The game's notation."""
        return self.game.notation

    @property
    def marks(self) -> str:
        """The marks of the side that begins and of the other."""
        return "XO" if self.first == "X" else "OX"

    def start(self) -> LineState:
        """Return the empty board."""
        return LineState(Position(self.game))

    def to_move(self, state: LineState) -> str | None:
        """Return the mark whose turn it is, by the counts; None when the game is over."""
        return None if state.outcome else self.marks[state.position.stones % 2]

    def outcome(self, state: LineState) -> Outcome | None:
        """Return how the game ended; None while it goes on."""
        return state.outcome

    def legal(self, state: LineState) -> list[int]:
        """Return the empty cells, in order; none when the game is over."""
        return [] if state.outcome else state.empty

    def refusal(self, state: LineState, move: int) -> str | None:
        """Return why a cell cannot be claimed; None if it can."""
        if state.outcome:
            return f"the game is over: {state.outcome}"
        if not 0 <= move < self.game.cells:
            return f"{self.name} has no cell number {move}: choose an empty cell of the board"
        if (state.position.x | state.position.o) >> move & 1:
            return f"cell {self.write(move)!r} is taken: choose an empty one"
        return None

    def play(self, state: LineState, move: int) -> LineState:
        """Return the state after the side to move claims an empty cell."""
        game, x, o = self.game, state.position.x, state.position.o
        mover = state.position.stones % 2
        own = (o if mover else x) | 1 << move
        x, o = (x, own) if mover else (own, o)
        result = game.result(own, x | o, move)
        return LineState(Position(game, x, o), None if result is None else self._ended(result, mover), move)

    def read(self, text: str) -> int:
        """Return the cell with that name (`b3`), or in that row and column, counted from 1 (`3 2`)."""
        parts = text.replace(",", " ").split()
        if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
            return self.game.cell(text)
        row, column = (int(part[:9]) for part in parts)
        if not (1 <= row <= self.game.rows and 1 <= column <= self.game.columns):
            raise BoardError(
                f"no cell in row {row}, column {column}: rows go from 1 to {self.game.rows}, "
                f"columns from 1 to {self.game.columns}"
            )
        cell = self.game.cells_by_square.get((row - 1) * self.game.columns + column - 1)
        if cell is None:
            raise BoardError(f"no cell in row {row}, column {column}: the board has a hole there")
        return cell

    def write(self, move: int) -> str:
        """Return the cell's name."""
        return self.game.cell_name(move)

    def encode(self, state: LineState) -> str:
        """Return the board, with the marks that a person sees."""
        return self._exchange(str(state.position))

    def decode(self, text: str) -> LineState:
        """Return the state that a board describes; raise BoardError if no game reaches it."""
        try:
            position = parse(self.game, text if self.first == "X" else text.translate(_EXCHANGED_IN_ANY_CASE))
        except BoardError as error:
            if self.first == "X":
                raise
            raise BoardError(self._exchange(str(error))) from None  # its text speaks of the marks inside
        if not position.over:
            return LineState(position)
        x_lines, o_lines = position.lines
        result = 0 if not x_lines and not o_lines else -1 if self.game.misere else 1
        return LineState(position, self._ended(result, 0 if x_lines else 1))

    def key(self, state: LineState) -> int:
        """Return both sets of cells in one number."""
        return state.position.x << self.game.cells | state.position.o

    def drawn_already(self, state: LineState) -> bool:
        """Tell whether the game goes on although every line has marks of both sides, so that nobody can win."""
        if state.outcome:
            return False
        x, o = state.position.x, state.position.o
        for line in self.game.lines:  # noqa: SIM110 - any() takes twice as long
            if not (line & x and line & o):
                return False
        return True

    def _ended(self, result: int, mover: int) -> Outcome:
        """Return the outcome of a game that the first (0) or the second (1) to move has ended."""
        if not result:
            return Outcome(None, "the board is full")
        mark, other = self.marks[mover], self.marks[1 - mover]
        return Outcome(mark if result > 0 else other, f"{mark} completed a line")

    def _exchange(self, text: str) -> str:
        return text if self.first == "X" else text.translate(_EXCHANGED)
