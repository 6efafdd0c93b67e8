"""The rules of every game of lines, on any board: take turns claiming cells until one side fills a line.

Inside, X always moves first, because an index or a store knows positions of no other kind. With `first="O"`
O begins, and the marks are exchanged wherever a person sees them: `LineRules.marks` says how.
"""

from dataclasses import dataclass

from solver.errors import BoardError
from solver.games.board_rules import BoardRules, BoardState
from solver.games.board_text import parse
from solver.games.lines import Game
from solver.games.position import Position
from solver.games.rules import Outcome

_EXCHANGED = str.maketrans("XO", "OX")
_EXCHANGED_IN_ANY_CASE = str.maketrans("XOxo", "OXox")


LineState = BoardState[Position]


class EitherBegins:
    """Rules of X and O under which either may begin."""

    first: str

    @property
    def marks(self) -> str:
        """The marks of the side that begins and of the other."""
        return "XO" if self.first == "X" else "OX"

    def ended_by(self, result: int, mover: int) -> Outcome:
        """Return the outcome of a game that the first (0) or the second (1) has ended: 1 for a win, -1 for a loss."""
        if not result:
            return Outcome(None, "the board is full")
        mark, other = self.marks[mover], self.marks[1 - mover]
        return Outcome(mark if result > 0 else other, f"{mark} completed a line")


@dataclass(frozen=True)
class LineRules(EitherBegins, BoardRules[Position]):
    """A game of lines. Only the lines through the last cell are searched for a win."""

    game: Game
    first: str = "X"
    """The mark of the side that begins."""

    def legal(self, state: LineState) -> list[int]:
        """Return the empty cells, in order; none when the game is over."""
        return [] if state.outcome else state.empty

    def play(self, state: LineState, move: int) -> LineState:
        """Return the state after the side to move claims an empty cell."""
        game, x, o = self.game, state.position.x, state.position.o
        mover = state.position.stones % 2
        own = (o if mover else x) | 1 << move
        x, o = (x, own) if mover else (own, o)
        result = game.result(own, x | o, move)
        return BoardState(Position(game, x, o), None if result is None else self.ended_by(result, mover), move)

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
        return BoardState(position, self.ended(position) if position.over else None)

    def ended(self, position: Position) -> Outcome:
        """Return how a game ended that is over."""
        x_lines, o_lines = position.lines
        result = 0 if not x_lines and not o_lines else -1 if self.game.misere else 1
        return self.ended_by(result, 0 if x_lines else 1)

    def drawn_already(self, state: LineState) -> bool:
        """Tell whether the game goes on although every line has marks of both sides, so that nobody can win."""
        if state.outcome:
            return False
        x, o = state.position.x, state.position.o
        for line in self.game.lines:  # noqa: SIM110 - any() takes twice as long
            if not (line & x and line & o):
                return False
        return True

    def _exchange(self, text: str) -> str:
        return text if self.first == "X" else text.translate(_EXCHANGED)
