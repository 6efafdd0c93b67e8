"""A match: the moves that were made, what may be made next, and nothing of who makes them or how they look."""

from typing import Generic, TypeVar

from play.rules import Rules, Status
from solver.errors import Ttt4Error

S = TypeVar("S")


class MatchError(Ttt4Error):
    """A move or a step that the match refuses. It has changed nothing."""

    exit_code = 2


class MatchOver(MatchError):
    """The match has ended already."""


class OutOfTurn(MatchError):
    """It is the other player's turn."""


class NoSuchMove(MatchError):
    """The board has no such cell."""


class CellTaken(MatchError):
    """Somebody holds that cell."""


class NothingToUndo(MatchError):
    """No move was made yet."""


class NothingToRedo(MatchError):
    """No move was taken back, or another was made since."""


class Match(Generic[S]):
    """A game as it is played: every state it went through, and the moves that were taken back."""

    def __init__(self, rules: Rules[S]) -> None:
        """Begin a match."""
        self.rules = rules
        self._states = [rules.start()]
        self._moves: list[int] = []
        self._undone: list[int] = []

    @property
    def state(self) -> S:
        """The state that it is in."""
        return self._states[-1]

    @property
    def states(self) -> tuple[S, ...]:
        """Every state from the first to this one."""
        return tuple(self._states)

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves that led here."""
        return tuple(self._moves)

    @property
    def status(self) -> Status:
        """How it stands."""
        return self.rules.status(self.state)

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.status is not Status.IN_PROGRESS

    @property
    def to_move(self) -> str | None:
        """`X` or `O`; None when it has ended."""
        return None if self.over else self.rules.to_move(self.state)

    @property
    def hopeless(self) -> bool:
        """Whether it goes on although nobody can win any more."""
        return not self.over and self.rules.hopeless(self.state)

    def play(self, side: str, move: int) -> Status:
        """Make a move for `X` or `O`, and tell how things stand then; a MatchError changes nothing."""
        if self.over:
            raise MatchOver(f"the match has ended, {self.status.value}: take a move back, or begin anew")
        if side != self.to_move:
            raise OutOfTurn(f"it is {self.to_move}'s turn, not {side}'s")
        if not self.rules.exists(move):
            raise NoSuchMove(f"{self.rules.name} has no cell number {move}: choose an empty cell of the board")
        if self.rules.taken(self.state, move):
            raise CellTaken(f"cell {self.rules.write(move)!r} is taken: choose an empty one")
        self._states.append(self.rules.play(self.state, move))
        self._moves.append(move)
        self._undone.clear()
        return self.status

    def undo(self) -> int:
        """Take back the last move, and tell which it was; a match that had ended goes on."""
        if not self._moves:
            raise NothingToUndo("no move to take back")
        self._states.pop()
        self._undone.append(self._moves.pop())
        return self._undone[-1]

    def redo(self) -> int:
        """Make again the move that was taken back last, and tell which it was."""
        if not self._undone:
            raise NothingToRedo("no move to make again")
        move = self._undone.pop()
        self._states.append(self.rules.play(self.state, move))
        self._moves.append(move)
        return move

    def reset(self) -> None:
        """Begin anew."""
        del self._states[1:]
        self._moves.clear()
        self._undone.clear()

    def __repr__(self) -> str:
        return f"<Match {self.rules.name} {' '.join(map(self.rules.write, self._moves)) or 'not begun'}>"
