"""Meetings: two players play many games against each other, and their results.

A game depends only on the seed, its own number and the two players, so any game of a meeting can be played
again. A player that raises an error, takes too long or names a move that it cannot make forfeits the game.
"""

import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import sqrt
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple

from oracle.grading import keeps_outcome
from oracle.oracle import Oracle
from play.match import Match
from play.players.player import SECONDS_A_MOVE, Player, PlayerError
from play.players.roster import Contestant, Roster, called
from play.records.text import Record
from play.session import Session
from solver.errors import StoreError, Ttt4Error
from solver.games.board_rules import BoardRules

_SURE = 1.96
"""How many standard deviations to either side hold 95% of results."""


class Forfeit(NamedTuple):
    """A game that a player forfeited."""

    game: int
    """Its number, from 1."""
    reason: str
    traceback: str | None
    """Where the player's code failed, at the first forfeit of each reason; None for others."""


@dataclass
class Standing:
    """One player's results."""

    name: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    forfeits: list[Forfeit] = field(default_factory=list)
    """They count among the losses."""
    moves: int = 0
    graded: int = 0
    kept: int = 0
    """How many of the graded moves kept the outcome."""
    seconds: float = 0.0
    slowest: float = 0.0

    @property
    def games(self) -> int:
        """The number of games played."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """The share of points: 1 for a win, a half for a draw."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return the results as JSON has them."""
        shares = {
            kind: {"count": count, "share": count / max(self.games, 1), "interval": interval(count, self.games)}
            for kind, count in (("wins", self.wins), ("draws", self.draws), ("losses", self.losses))
        }
        return {
            "player": self.name,
            "games": self.games,
            **shares,
            "points": self.points,
            "moves": self.moves,
            "kept": self.kept / self.graded if self.graded else None,
            "mean_seconds": self.seconds / self.moves if self.moves else None,
            "slowest_seconds": self.slowest,
            "forfeits": [forfeit._asdict() for forfeit in self.forfeits],
        }


@dataclass
class Meeting:
    """Two players' games against each other."""

    first: Standing
    second: Standing
    lengths: list[int] = field(default_factory=list)

    @property
    def all_forfeited(self) -> bool:
        """Whether every game was forfeited, so that nothing was measured."""
        return len(self.first.forfeits) + len(self.second.forfeits) == len(self.lengths) > 0

    def as_dict(self) -> dict[str, Any]:
        """Return the results as JSON has them."""
        plies = self.lengths
        lengths = {"mean": sum(plies) / len(plies), "min": min(plies), "max": max(plies)} if plies else None
        return {"players": [self.first.as_dict(), self.second.as_dict()], "plies": lengths}


def meet(
    roster: Roster, players: tuple[Contestant, Contestant], games: int, *,
    swap: bool, seed: int | str, seconds: float = SECONDS_A_MOVE, after_game: Callable[[], None] = lambda: None,
) -> Meeting:  # fmt: skip
    """Play so many games between two players, the first as X; with `swap`, as O in every second game."""
    meeting = Meeting(Standing(called(players[0])), Standing(called(players[1])))
    grader = _grader(roster)
    if len(roster.rules.sides) != 2:
        raise PlayerError(f"the arena is for games of two sides, and {roster.rules.name} has {len(roster.rules.sides)}")
    one, other = roster.rules.sides
    for number in range(games):
        sides = (other, one) if swap and number % 2 else (one, other)
        standings = dict(zip(sides, (meeting.first, meeting.second), strict=True))
        contestants = dict(zip(sides, players, strict=True))
        match, forfeit = _played(roster, contestants, standings, f"{seed} {number}", seconds)
        if forfeit:
            side, error = forfeit
            _add_forfeit(standings[side], number + 1, error)
        winner = match.outcome.winner if match.outcome else None
        for side, standing in standings.items():
            standing.wins += winner == side
            standing.losses += winner is not None and winner != side
            standing.draws += winner is None
        if grader:
            _grade(grader, match, standings)
        meeting.lengths.append(len(match.moves))
        after_game()
    return meeting


def round_robin(
    roster: Roster, players: Sequence[Contestant], games: int, *,
    seed: int | str, seconds: float = SECONDS_A_MOVE, after_game: Callable[[], None] = lambda: None,
) -> list[Meeting]:  # fmt: skip
    """Let every two players meet, taking turns as X."""
    return [
        meet(
            roster, (one, other), games,
            swap=True, seed=f"{seed} {called(one)} {called(other)}", seconds=seconds, after_game=after_game,
        )
        for one, other in combinations(players, 2)
    ]  # fmt: skip


def interval(count: float, games: float) -> tuple[float, float]:
    """Return the 95% confidence interval of a share (Wilson's score interval)."""
    if not games:
        return 0.0, 1.0
    share, weight = count / games, _SURE**2 / games
    middle = (share + weight / 2) / (1 + weight)
    spread = _SURE * sqrt(share * (1 - share) / games + weight / (4 * games)) / (1 + weight)
    return max(0.0, middle - spread), min(1.0, middle + spread)


class TooSlow(BaseException):
    """A player has thought for too long. Not an Exception, so that the player does not catch it by accident."""


def _played(
    roster: Roster, contestants: dict[str, Contestant], standings: dict[str, Standing], seed: str, seconds: float
) -> tuple[Match[Any], tuple[str, Ttt4Error] | None]:
    """Return a played match, and who forfeited it and why, if somebody did."""
    match: Match[Any] = Match(roster.rules, clock=lambda: None)
    players: dict[str, Player | None] = {}
    roster.forget()
    session = Session(Record(match), players)
    side: str | None
    try:
        for side, contestant in contestants.items():
            players[side] = _able(roster.player(contestant, f"{seed} {side}"))
        roster.ready()
        while side := match.to_move:
            start = perf_counter()
            with _limited(seconds), redirect_stdout(sys.stderr):  # what a player prints is no result
                move = session.choose()
            spent = perf_counter() - start
            if spent > seconds:
                raise TooSlow
            session.play(side, move)
            standing = standings[side]
            standing.moves += 1
            standing.seconds += spent
            standing.slowest = max(standing.slowest, spent)
    except TooSlow:
        error: Ttt4Error = PlayerError(f"no move in {seconds:g} s")
    except Ttt4Error as failure:
        if isinstance(failure, StoreError) and failure.path in roster.stores:
            raise  # no player's fault
        error = failure
    else:
        return match, None
    session.forfeit(side or "", error)
    return match, (side or "", error)


def _able(player: Player | None) -> Player:
    if player is None:
        raise PlayerError("a human can play only at the terminal: name another player")
    return player


def _add_forfeit(standing: Standing, game: int, error: Ttt4Error) -> None:
    known = any(forfeit.reason == str(error) for forfeit in standing.forfeits)
    cause = error.__cause__
    where = None if known or cause is None else "".join(traceback.format_exception(cause))
    standing.forfeits.append(Forfeit(game, str(error), where))


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow after so long, even out of an endless loop; outside the main thread nothing can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # and again, if it catches even that
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:  # also if it rang on the way out
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _grader(roster: Roster) -> Oracle | None:
    """Return the oracle that grades moves; None where it cannot, or would take long."""
    if not isinstance(roster.rules, BoardRules):
        return None
    oracle = roster.oracle()
    return oracle if oracle.source == "store" or roster.rules.game.cells <= roster.rules.game.quick_cells else None


def _grade(oracle: Oracle, match: Match[Any], standings: dict[str, Standing]) -> None:
    """Count the moves that kept the outcome, where it is certain."""
    scores = [oracle.get_score(state.position, None) for state in match.states]
    for state, (before, after) in zip(match.states, pairwise(scores), strict=False):
        if before is not None and after is not None:
            standing = standings[match.rules.to_move(state) or ""]
            standing.graded += 1
            standing.kept += keeps_outcome(before, -after)
