"""A match: the list of what happened in a game, from which everything else about it follows.

Nothing is erased: taking a move back, making it again and starting over are events like a move. The number of
events is the match's version, so that two copies can tell which is newer. Who plays, and on what screen, is
not known here.
"""

import time
from collections.abc import Callable
from typing import Generic, NamedTuple, TypeVar

from solver.errors import Ttt4Error
from solver.games.rules import Outcome, Rules
from solver.text import printable

S = TypeVar("S")

MOVED, TOOK_BACK, MADE_AGAIN, STARTED_OVER = "moved", "took back", "made again", "started over"
RESIGNED, FORFEITED = "resigned", "forfeited"


class MatchError(Ttt4Error):
    """A step that the match refuses. It has changed nothing."""

    kind = "refused-step"
    exit_code = 2


class MatchOver(MatchError):
    """The match has ended already."""


class OutOfTurn(MatchError):
    """It is another side's turn."""


class MoveRefused(MatchError):
    """The rules do not allow the move; the message is theirs."""


class NothingToUndo(MatchError):
    """No move was made yet."""


class NothingToRedo(MatchError):
    """No move was taken back, or another was made since."""


class Event(NamedTuple):
    """Something that happened in a match."""

    kind: str
    """`moved`, `took back`, `made again`, `started over`, `resigned` or `forfeited`."""
    side: str | None = None
    """Who moved, resigned or forfeited."""
    move: int | None = None
    """The move that was made."""
    reason: str = ""
    """Why a side forfeited."""
    time: int | None = None
    """When, in seconds since 1970; None if nobody knows."""


class Match(Generic[S]):
    """A game as it is played: its events, and the state, moves and outcome that they add up to."""

    def __init__(
        self, rules: Rules[S], start: S | None = None, *, clock: Callable[[], int | None] = lambda: int(time.time())
    ) -> None:
        """Begin a match from `start`, by default the rules' own start."""
        self.rules = rules
        self._clock = clock
        self._events: list[Event] = []
        self._states = [rules.start() if start is None else start]
        self._moves: list[int] = []
        self._undone: list[int] = []
        self._given_up: Outcome | None = None

    def copy(self) -> "Match[S]":
        """Return a match to which the same has happened, and which goes on by itself."""
        other = Match(self.rules, self._states[0], clock=self._clock)
        other._events, other._states = self._events.copy(), self._states.copy()
        other._moves, other._undone = self._moves.copy(), self._undone.copy()
        other._given_up = self._given_up
        return other

    def __len__(self) -> int:
        """Return the number of events, which is the match's version."""
        return len(self._events)

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order."""
        return tuple(self._events)

    @property
    def state(self) -> S:
        """The state now."""
        return self._states[-1]

    @property
    def states(self) -> tuple[S, ...]:
        """Every state from the first to this one."""
        return tuple(self._states)

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves that led from the first state to this one."""
        return tuple(self._moves)

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended, by the rules, a resignation or a forfeit; None while it goes on."""
        return self._given_up or self.rules.outcome(self.state)

    @property
    def to_move(self) -> str | None:
        """The side whose turn it is; None when the match has ended."""
        return None if self._given_up else self.rules.to_move(self.state)

    @property
    def given_up(self) -> bool:
        """Whether a resignation or a forfeit ended the match."""
        return self._given_up is not None

    @property
    def can_redo(self) -> bool:
        """Whether a move was taken back and none made since."""
        return bool(self._undone) and not self._given_up

    def play(self, side: str, move: int) -> Outcome | None:
        """Make a move and return the outcome, None if the match goes on; a MatchError changes nothing."""
        self.add(Event(MOVED, side, move, time=self._clock()))
        return self.outcome

    def undo(self) -> int | None:
        """Take back the last move and return it; after a resignation or a forfeit, take back that, and return None."""
        before = len(self._moves)
        self.add(Event(TOOK_BACK, time=self._clock()))
        return self._undone[-1] if len(self._moves) < before else None

    def redo(self) -> int:
        """Make again the move that was taken back last, and return it."""
        self.add(Event(MADE_AGAIN, time=self._clock()))
        return self._moves[-1]

    def start_over(self) -> None:
        """Return to the first state."""
        self.add(Event(STARTED_OVER, time=self._clock()))

    def resign(self, side: str) -> None:
        """Let a side give up."""
        self.add(Event(RESIGNED, side, time=self._clock()))

    def forfeit(self, side: str, reason: str) -> None:
        """End the match: a side broke the rules of play, and loses."""
        self.add(Event(FORFEITED, side, reason=reason, time=self._clock()))

    def add(self, event: Event) -> None:
        """Let an event happen, with its own time; a MatchError changes nothing."""
        if event.kind == MOVED:
            self._move(event.side, event.move)
        elif event.kind == TOOK_BACK:
            self._take_back()
        elif event.kind == MADE_AGAIN:
            self._make_again()
        elif event.kind == STARTED_OVER:
            del self._states[1:], self._moves[:], self._undone[:]
            self._given_up = None
        elif event.kind in (RESIGNED, FORFEITED):
            self._give_up(event)
        else:
            raise MatchError(f"no event {event.kind!r}")
        self._events.append(event)

    def _move(self, side: str | None, move: int | None) -> None:
        self._require_on()
        if side != self.to_move:
            raise OutOfTurn(f"it is {self.to_move}'s turn, not {side}'s")
        if move is None:
            raise MoveRefused("no move is given")
        refusal = self.rules.refusal(self.state, move)
        if refusal:
            raise MoveRefused(refusal)
        self._make(move)
        self._undone.clear()

    def _take_back(self) -> None:
        if self._given_up:
            self._given_up = None
        elif self._moves:
            self._states.pop()
            self._undone.append(self._moves.pop())
        else:
            raise NothingToUndo("nothing to undo")

    def _make_again(self) -> None:
        if not self.can_redo:
            raise NothingToRedo("nothing to redo")
        self._make(self._undone.pop())

    def _give_up(self, event: Event) -> None:
        self._require_on()
        others = [side for side in self.rules.sides if side != event.side]
        if len(others) == len(self.rules.sides):
            raise MatchError(f"no side {event.side!r}: there are {', '.join(self.rules.sides)}")
        why = f"{event.side} {event.kind}" + (f": {event.reason}" if event.reason else "")
        self._given_up = Outcome(others[0] if len(others) == 1 else None, printable(why))  # it may be foreign text

    def _make(self, move: int) -> None:
        self._states.append(self.rules.play(self.state, move))
        self._moves.append(move)

    def _require_on(self) -> None:
        outcome = self.outcome
        if outcome:
            raise MatchOver(f"the match has ended, {outcome}")

    def __repr__(self) -> str:
        return f"<Match {self.rules.name} {' '.join(map(self.rules.write, self._moves)) or 'not begun'}>"
