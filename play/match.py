"""A match: the list of what happened in a game, from which everything else about it follows.

Nothing is erased: taking a move back, making it again and starting over are events like a move. The number of
events is the match's version, so that two copies can tell which is newer. Who plays, and on what screen, is
not known here.
"""

import time
from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar, cast

from solver.errors import Ttt4Error
from solver.games.rules import Outcome, PlaysOn, Rules
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


class Leaving(NamedTuple):
    """A side that gave up: it resigned, or it forfeited."""

    side: str
    moves: int
    """How many moves had been made."""
    before: Any
    """The state that it left."""
    outcome: Outcome | None
    """How that ended the match; None where the rules say what follows, because there are more than two sides."""


class Match(Generic[S]):
    """A game as it is played: its events, and the state, moves and outcome that they add up to."""

    def __init__(
        self, rules: Rules[S], start: S | None = None, *, clock: Callable[[], int | None] = lambda: int(time.time())
    ) -> None:
        """Begin a match from `start`, by default the rules' own start."""
        self.rules = rules
        self._clock = clock
        self._events: list[Event] = []
        self.start: S = rules.start() if start is None else start
        """The state before the first event."""
        self._states = [self.start]
        self._moves: list[int] = []
        self._undone: list[int] = []
        self._left: list[Leaving] = []

    def copy(self) -> "Match[S]":
        """Return a match to which the same has happened, and which goes on by itself."""
        other = Match(self.rules, self.start, clock=self._clock)
        other._events, other._states = self._events.copy(), self._states.copy()
        other._moves, other._undone = self._moves.copy(), self._undone.copy()
        other._left = self._left.copy()
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
        """Every state from the first to this one; where a side has left, the one that the others go on from."""
        return tuple(self._states)

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves that led from the first state to this one."""
        return tuple(self._moves)

    @property
    def outcome(self) -> Outcome | None:
        """How the match ended, by the rules, a resignation or a forfeit; None while it goes on."""
        return (self._left[-1].outcome if self._left else None) or self.rules.outcome(self.state)

    @property
    def to_move(self) -> str | None:
        """The side whose turn it is; None when the match has ended."""
        return None if self.outcome else self.rules.to_move(self.state)

    @property
    def gone(self) -> tuple[str, ...]:
        """The sides that have given up."""
        return tuple(leaving.side for leaving in self._left)

    @property
    def just_gone(self) -> str | None:
        """The side that has given up last, if no move was made since; None if there is none."""
        return self._left[-1].side if self._left and self._left[-1].moves == len(self._moves) else None

    @property
    def given_up(self) -> bool:
        """Whether a resignation or a forfeit ended the match."""
        return self.just_gone is not None and self.outcome is not None

    @property
    def can_redo(self) -> bool:
        """Whether a move was taken back and none made since."""
        return bool(self._undone) and not self.given_up

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
        """Let a side lose because it broke the rules of play."""
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
            self._states[:] = [self.start]
            del self._moves[:], self._undone[:], self._left[:]
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
        if self.just_gone:
            leaving = self._left.pop()
            self._states[-1] = leaving.before
            if leaving.outcome is None:
                self._undone.clear()  # they were made without that side
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
        side, sides = event.side, self.rules.sides
        if side is None or side not in sides:
            raise MatchError(f"no side {side!r}: there are {', '.join(sides)}")
        if side in self.gone:
            raise MatchError(f"{side} has left the game already")
        state, outcome = self.state, None
        if len(sides) == 2:
            why = f"{side} {event.kind}" + (f": {event.reason}" if event.reason else "")
            outcome = Outcome(sides[side == sides[0]], printable(why))  # it may be foreign text
        else:
            try:
                state = cast(PlaysOn[S], self.rules).leave(state, side)
            except Ttt4Error as error:  # it had left before this match
                raise MatchError(str(error)) from error
            self._undone.clear()  # it may be another side's turn now
        self._left.append(Leaving(side, len(self._moves), self.state, outcome))
        self._states[-1] = state

    def _make(self, move: int) -> None:
        self._states.append(self.rules.play(self.state, move))
        self._moves.append(move)

    def _require_on(self) -> None:
        outcome = self.outcome
        if outcome:
            raise MatchOver(f"the match has ended, {outcome}")

    def __repr__(self) -> str:
        return f"<Match {self.rules.name} {' '.join(map(self.rules.write, self._moves)) or 'not begun'}>"
