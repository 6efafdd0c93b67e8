"""The arena: players meet many times, and what came of it is counted.

A game depends on the seed, its own number and the two players alone, so any game of a meeting can be played
again. A player that raises an error, takes too long or names a cell that it may not claim forfeits the game.
"""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from math import sqrt
from time import perf_counter
from types import FrameType
from typing import Any

from oracle.answers import outcome
from oracle.oracle import QUICK_CELLS, Oracle
from play.match import Match
from play.players import SECONDS_A_MOVE, Cast, PlayerError, chosen
from play.rules import LineRules, LineState
from solver.errors import Ttt4Error

_SURE = 1.96
"""Standard deviations to either side that hold 95 of 100 results."""


@dataclass
class Standing:
    """What came of one player's games."""

    name: str
    wins: int = 0
    draws: int = 0
    losses: int = 0
    forfeits: list[str] = field(default_factory=list)
    """The games that it forfeited, and why; they are among the losses."""
    moves: int = 0
    graded: int = 0
    kept: int = 0
    """Of the moves that were graded, those that kept the outcome."""
    seconds: float = 0.0
    slowest: float = 0.0

    @property
    def games(self) -> int:
        """How many games it played."""
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        """A point for a win, half of one for a draw, as a share of the games."""
        return (self.wins + self.draws / 2) / self.games if self.games else 0.0

    def as_dict(self) -> dict[str, Any]:
        """What came of it, as it stands in JSON."""
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
            "forfeits": self.forfeits,
        }


@dataclass
class Meeting:
    """Two players' games against each other."""

    first: Standing
    second: Standing
    lengths: list[int] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """What came of it, as it stands in JSON."""
        plies = self.lengths
        lengths = {"mean": sum(plies) / len(plies), "min": min(plies), "max": max(plies)} if plies else None
        return {"players": [self.first.as_dict(), self.second.as_dict()], "plies": lengths}


def meet(
    cast: Cast, names: tuple[str, str], games: int, *,
    swap: bool, seed: int | str, seconds: float = SECONDS_A_MOVE, tell: Callable[[], None] = lambda: None,
) -> Meeting:  # fmt: skip
    """Let two players meet so many times, the first as X; with `swap`, as O in every other game."""
    meeting = Meeting(Standing(names[0]), Standing(names[1]))
    grader = cast.oracle()
    graded = grader.source == "store" or cast.game.cells <= QUICK_CELLS
    for number in range(games):
        sides = ("O", "X") if swap and number % 2 else ("X", "O")
        standings = dict(zip(sides, (meeting.first, meeting.second), strict=True))
        match, forfeit = _played(cast, standings, f"{seed} {number}", seconds)
        winner = "XO"[forfeit[0] == "X"] if forfeit else match.status.winner
        if forfeit:
            standings[forfeit[0]].forfeits.append(f"game {number + 1}: {forfeit[1]}")
        for side, standing in standings.items():
            standing.wins += winner == side
            standing.losses += winner is not None and winner != side
            standing.draws += winner is None
        if graded:
            _grade(grader, match.states, standings)
        meeting.lengths.append(len(match.moves))
        tell()
    return meeting


def round_robin(
    cast: Cast, names: Sequence[str], games: int, *,
    seed: int | str, seconds: float = SECONDS_A_MOVE, tell: Callable[[], None] = lambda: None,
) -> list[Meeting]:  # fmt: skip
    """Let everybody meet everybody so many times, taking turns as X."""
    return [
        meet(cast, (one, other), games, swap=True, seed=f"{seed} {one} {other}", seconds=seconds, tell=tell)
        for one, other in combinations(names, 2)
    ]


def interval(count: int, games: int) -> tuple[float, float]:
    """Between what shares the true one lies, 95 times of 100 (Wilson's score interval)."""
    if not games:
        return 0.0, 1.0
    share, weight = count / games, _SURE**2 / games
    middle = (share + weight / 2) / (1 + weight)
    spread = _SURE * sqrt(share * (1 - share) / games + weight / (4 * games)) / (1 + weight)
    return max(0.0, middle - spread), min(1.0, middle + spread)


class TooSlow(BaseException):
    """A player has thought for too long. It is no Exception, so that the player does not catch it by accident."""


def _played(
    cast: Cast, standings: dict[str, Standing], seed: str, seconds: float
) -> tuple[Match[LineState], tuple[str, str] | None]:
    """A game, and who forfeited it and why, if somebody did."""
    match = Match(LineRules(cast.game))
    players = {}
    for side, standing in standings.items():
        try:
            players[side] = cast.player(standing.name, f"{seed} {side}")
        except PlayerError as error:
            return match, (side, str(error))
    while turn := match.to_move:
        start = perf_counter()
        try:
            with _limited(seconds):
                move = chosen(players[turn], match.state)
            spent = perf_counter() - start
            if spent > seconds:
                raise TooSlow
            match.play(turn, move)
        except TooSlow:
            return match, (turn, f"no move in {seconds:g} s")
        except Ttt4Error as error:
            return match, (turn, str(error))
        standings[turn].moves += 1
        standings[turn].seconds += spent
        standings[turn].slowest = max(standings[turn].slowest, spent)
    return match, None


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TooSlow after so long, also out of an endless loop; outside the main thread nothing can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number: int, frame: FrameType | None) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # and again, if it catches even that
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _grade(oracle: Oracle, states: Sequence[LineState], standings: dict[str, Standing]) -> None:
    """Count the moves that kept the outcome, where it is certain."""
    scores = [oracle.get_score(state.position, None) for state in states]
    for state, (before, after) in zip(states, pairwise(scores), strict=False):
        if before is not None and after is not None:
            standing = standings[state.position.mover]
            standing.graded += 1
            standing.kept += outcome(-after) == outcome(before)
