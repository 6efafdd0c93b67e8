"""Meetings: as many players as a game has sides play many games against each other, and their results.

A game depends only on the seed, its own number and the players, so any game of a meeting can be played again. A player
that raises an error, takes too long or names a move that it cannot make forfeits the game; where there are more than
two sides, the others play on.

A game is worth one point: the winner's, or shared equally by all that draw. Between two players of a game of three or
four, the one with the larger share came out ahead; equal shares count half for each.
"""

import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from itertools import combinations, cycle, islice, pairwise, permutations
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
from solver.games.rules import Outcome, points

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
    scored: float = 0.0
    """The points: 1 for a win, an equal share for a draw."""
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
        """The points of a game on average."""
        return self.scored / self.games if self.games else 0.0

    def count(self, share: float) -> None:
        """Count a game that brought this share of its point."""
        self.wins += share == 1
        self.losses += share == 0
        self.draws += 0 < share < 1
        self.scored += share

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
    """The games of a few players against each other."""

    players: tuple[Standing, ...]
    lengths: list[int] = field(default_factory=list)
    ahead: dict[tuple[int, int], float] = field(default_factory=dict)
    """In how many games one of two players, by number, came out ahead of the other; equal shares count half."""

    @property
    def first(self) -> Standing:
        """The first player's results."""
        return self.players[0]

    @property
    def second(self) -> Standing:
        """The second player's results."""
        return self.players[1]

    @property
    def all_forfeited(self) -> bool:
        """Whether every game was forfeited by all but one player, so that nothing was measured."""
        forfeits = Counter(forfeit.game for player in self.players for forfeit in player.forfeits)
        return all(forfeits[game] >= len(self.players) - 1 for game in range(1, len(self.lengths) + 1))

    def as_dict(self) -> dict[str, Any]:
        """Return the results as JSON has them."""
        plies = self.lengths
        lengths = {"mean": sum(plies) / len(plies), "min": min(plies), "max": max(plies)} if plies else None
        fields = {"players": [player.as_dict() for player in self.players], "plies": lengths}
        if len(self.players) == 2:
            return fields
        numbers = range(len(self.players))
        table = [[self.ahead.get((one, other)) if one != other else None for other in numbers] for one in numbers]
        return {**fields, "ahead": table}

    def count(self, shares: Sequence[float], plies: int) -> None:
        """Count a game that brought the players these shares of its point."""
        for player, share in zip(self.players, shares, strict=True):
            player.count(share)
        for (one, mine), (other, theirs) in permutations(enumerate(shares), 2):
            better = 0.5 if mine == theirs else float(mine > theirs)
            self.ahead[one, other] = self.ahead.get((one, other), 0.0) + better
        self.lengths.append(plies)


def meet(
    roster: Roster, players: Sequence[Contestant], games: int, *,
    swap: bool, seed: int | str, seconds: float = SECONDS_A_MOVE, after_game: Callable[[], None] = lambda: None,
) -> Meeting:  # fmt: skip
    """Play so many games between as many players as there are sides, in order; with `swap`, in all orders by turns."""
    sides = roster.rules.sides
    if len(players) != len(sides):
        raise PlayerError(f"{roster.rules.name} has {len(sides)} sides: name as many players, not {len(players)}")
    meeting = Meeting(tuple(Standing(called(player)) for player in players))
    grader = _grader(roster)
    orders = cycle(seatings(sides) if swap else [tuple(sides)])
    for number, seats in enumerate(islice(orders, games)):
        standings = dict(zip(seats, meeting.players, strict=True))
        match, forfeits = _played(
            roster, dict(zip(seats, players, strict=True)), standings, f"{seed} {number}", seconds
        )
        for side, error in forfeits.items():
            _add_forfeit(standings[side], number + 1, error)
        shares = points(sides, match.outcome or Outcome(None, ""))
        meeting.count([shares[side] for side in seats], len(match.moves))
        if grader:
            _grade(grader, match, standings)
        after_game()
    return meeting


def seatings(sides: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield every order of the sides, those that only rotate one another together, the given one first.

    So in any such group, and after all of them, every player has had every side equally often.
    """
    first, *rest = sides
    for others in permutations(rest):
        order = (first, *others)
        for turn in range(len(sides)):
            yield order[-turn:] + order[:-turn]


def round_robin(
    roster: Roster, players: Sequence[Contestant], games: int, *,
    seed: int | str, seconds: float = SECONDS_A_MOVE, after_game: Callable[[], None] = lambda: None,
) -> list[Meeting]:  # fmt: skip
    """Let every two players meet, or every three or four where there are as many sides, in all orders by turns."""
    return [
        meet(
            roster, group, games,
            swap=True, seed=" ".join(map(str, (seed, *map(called, group)))), seconds=seconds, after_game=after_game,
        )
        for group in combinations(players, len(roster.rules.sides))
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
) -> tuple[Match[Any], dict[str, Ttt4Error]]:
    """Return a played match, and why players forfeited it, by their sides."""
    match: Match[Any] = Match(roster.rules, clock=lambda: None)
    players: dict[str, Player | None] = {}
    roster.forget()
    session, forfeits = Session(Record(match), players), dict[str, Ttt4Error]()
    for side, contestant in contestants.items():
        with _forfeiting(roster, session, side, seconds, forfeits):
            players[side] = _able(roster.player(contestant, f"{seed} {side}"))
        if match.outcome:
            return match, forfeits
    roster.ready()
    while side := match.to_move or "":
        with _forfeiting(roster, session, side, seconds, forfeits):
            _let_move(session, side, standings[side], seconds)
    return match, forfeits


def _let_move(session: Session, side: str, standing: Standing, seconds: float) -> None:
    """Let a player make its move in time, and count that."""
    start = perf_counter()
    with _limited(seconds), redirect_stdout(sys.stderr):  # what a player prints is no result
        move = session.choose()
    spent = perf_counter() - start
    if spent > seconds:
        raise TooSlow
    session.play(side, move)
    standing.moves += 1
    standing.seconds += spent
    standing.slowest = max(standing.slowest, spent)


@contextmanager
def _forfeiting(
    roster: Roster, session: Session, side: str, seconds: float, forfeits: dict[str, Ttt4Error]
) -> Iterator[None]:
    """Let a side forfeit if its player fails, or takes too long."""
    try:
        yield
        return
    except TooSlow:
        error: Ttt4Error = PlayerError(f"no move in {seconds:g} s")
    except Ttt4Error as failure:
        if isinstance(failure, StoreError) and failure.path in roster.stores:
            raise  # no player's fault
        error = failure
    forfeits[side] = error
    session.forfeit(side, error)


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
