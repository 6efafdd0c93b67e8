"""Programs that speak the Gomocup protocol against each other: who is stronger, and how deep and slow they are.

Usage: python tests/bench/bench_gomoku.py --against PATH [--against PATH] [--first PATH] [--game 15,15,5] [--turn 1.0]
           [--openings FILE] [--games 40] [--jobs 2] [--seed 1] [--json] [--log FOLDER]

Each opening is played twice, with colours exchanged. A line of the file of openings has the first stones as offsets
from the middle: `dx,dy, dx,dy, ...`; those that do not fit on the board are left out. PATH may have arguments, quoted.
--turn is in seconds; --log gets what the programs remark, a file a game; --json prints an object for each opponent.
A program that errs or exceeds its time by more than a second loses the game. Share is that of the points, a half for a
draw. With --jobs 2 two games run at once, each with one program thinking, so two cores are busy.
"""

import argparse
import json
import random
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any, NamedTuple

from measuring import options_of

from play.arena.meetings import interval
from play.gomocup.manager import GomocupPlayer, read_guest
from play.match import Match
from play.players.player import PlayerError
from solver.games.line_rules import LineRules
from solver.games.notation import parse_game

OURS = "pbrain-ttt4"
OPENINGS = """
0,0, 1,0, 3,2
0,0, 1,1, 2,-3
0,0, 0,1, 3,3
0,0, 1,1, -2,3, 3,0
0,0, 2,1, -2,2, -3,-1
0,0, 1,0, 0,3, 2,3
0,0, 1,1, 1,-2, 3,1, -2,0
0,0, 2,2, -1,3, 1,-3, 4,0
4,4, 5,3, 3,2
-4,4, -5,4, -2,1, -3,3
3,-3, 4,-4, 1,-4
-3,0, -3,1, 0,3, 3,-2
"""


class Pairing(NamedTuple):
    """A game to be played: the opening, and who has the first colour in it."""

    number: int
    opening: tuple[int, ...]
    ours_first: bool


@dataclass
class Played:
    """A game that was played: the points of the first program, and what each did."""

    number: int
    ours_first: bool
    points: float
    ended: str
    plies: int
    moves: str
    seconds: tuple[list[float], list[float]]
    depths: tuple[list[int], list[int]]
    forfeit: int | None = None
    """Who forfeited: 0 the first program, 1 the other."""


@dataclass
class Result:
    first: str
    against: str
    games: list[Played] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        points = [game.points for game in self.games]
        low, high = interval(sum(points), len(points))
        return {
            "first": self.first, "against": self.against, "games": len(points),
            "wins": points.count(1.0), "draws": points.count(0.5), "losses": points.count(0.0),
            "share": mean(points), "interval": [low, high],
            "plies": mean(game.plies for game in self.games),
            "depth": [self._mean([depth for game in self.games for depth in game.depths[who]]) for who in (0, 1)],
            "seconds": [self._mean([spent for game in self.games for spent in game.seconds[who]]) for who in (0, 1)],
            "slowest": [max(max(game.seconds[who], default=0.0) for game in self.games) for who in (0, 1)],
            "forfeits": [f"game {game.number}: {game.ended}" for game in self.games if game.forfeit is not None],
        }  # fmt: skip

    @staticmethod
    def _mean(values: list[Any]) -> float | None:
        return mean(values) if values else None


def main() -> None:
    options = options_of(
        __doc__, first=OURS, against=[], game=parse_game("15,15,5"), turn=1.0, openings="", games=40, jobs=2, seed=1,
        json=False, log="",
    )  # fmt: skip
    if options.log:
        Path(options.log).mkdir(parents=True, exist_ok=True)
    lines = (Path(options.openings).read_text() if options.openings else OPENINGS).splitlines()
    rules = LineRules(options.game)
    openings = [cells for cells in (cells_of_opening(rules, line) for line in lines) if cells]
    random.Random(options.seed).shuffle(openings)
    pairings = [Pairing(n + 1, openings[n // 2 % len(openings)], not n % 2) for n in range(options.games)]
    for against in options.against:
        result = Result(options.first, against)
        with ThreadPoolExecutor(options.jobs) as pool:
            for played in pool.map(partial(play, rules, options, against), pairings):
                result.games.append(played)
                tell(result)
        told = result.as_dict()
        print(json.dumps(told | {"played": list(map(asdict, result.games))}) if options.json else table(told))


def cells_of_opening(rules: LineRules, line: str) -> tuple[int, ...]:
    """The cells of an opening; none if it does not fit, or ends the game."""
    game = rules.game
    numbers = [int(number) for number in re.findall(r"-?\d+", line)]
    places = [(game.columns // 2 + dx, game.rows // 2 + dy) for dx, dy in zip(numbers[::2], numbers[1::2], strict=True)]
    if any(not (0 <= x < game.columns and 0 <= y < game.rows) for x, y in places):
        return ()
    cells = tuple(y * game.columns + x for x, y in places)
    match = Match(rules)
    for cell in cells:
        if rules.refusal(match.state, cell):
            return ()
        match.play(match.to_move or "", cell)
    return () if match.outcome else cells


def play(rules: LineRules, options: argparse.Namespace, against: str, pairing: Pairing) -> Played:
    match = Match(rules, clock=lambda: None)
    for cell in pairing.opening:
        match.play(match.to_move or "", cell)
    played = Played(pairing.number, pairing.ours_first, 0.5, "", 0, "", ([], []), ([], []))
    with ExitStack() as running:
        players = []
        for name in (options.first, against):
            player = GomocupPlayer(rules.game, read_guest(name).command, options.turn)
            running.callback(player.close)
            players.append(player)
        log = running.enter_context(Path(options.log, f"{pairing.number}.txt").open("w")) if options.log else None
        while match.to_move:
            who = int((match.to_move == "X") != pairing.ours_first)
            reason = moved(match, players[who], who, played, log)
            if reason:
                match.forfeit(match.to_move, reason)
                played.forfeit = who
    outcome = match.outcome
    if outcome and outcome.winner:
        played.points = float((outcome.winner == "X") == pairing.ours_first)
    played.ended, played.plies = str(outcome), len(match.moves)
    played.moves = " ".join(map(rules.write, match.moves))
    return played


def moved(match: Match[Any], player: GomocupPlayer, who: int, played: Played, log: Any) -> str | None:
    """Let a program make its move; why it could not, if it could not."""
    try:
        player.start()
        start = perf_counter()
        cell = player.choose(match.state)
        played.seconds[who].append(perf_counter() - start)
    except PlayerError as error:
        return str(error)
    refusal = match.rules.refusal(match.state, cell)
    if refusal:
        return refusal
    if log:
        print(f"{match.to_move} {match.rules.write(cell)} {played.seconds[who][-1]:.3f} s", *player.remarks,
              sep="\n    ", file=log)  # fmt: skip
    depths = [int(depth) for remark in player.remarks for depth in re.findall(r"\bdepth\b\D{0,3}(\d{1,3})", remark)]
    if depths:
        played.depths[who].append(depths[-1])
    match.play(match.to_move or "", cell)
    return None


def tell(result: Result) -> None:
    told, last = result.as_dict(), result.games[-1]
    print(
        f"{last.number}: {'first' if last.ours_first else 'other'} had the first stone, "
        f"{last.plies} plies, {last.ended}; {told['wins']}-{told['draws']}-{told['losses']}",
        file=sys.stderr,
    )


def table(told: dict[str, Any]) -> str:
    low, high = (100 * bound for bound in told["interval"])
    lines = [
        f"{told['first']} - {told['against']}: {told['wins']} won, {told['draws']} drawn, {told['losses']} lost: "
        f"{100 * told['share']:.1f} % ({low:.1f} to {high:.1f}), {told['plies']:.0f} plies a game"
    ]
    for who, name in enumerate((told["first"], told["against"])):
        depth = "" if told["depth"][who] is None else f", depth {told['depth'][who]:.1f}"
        lines.append(f"  {name}: {told['seconds'][who] or 0:.2f} s a move, at most {told['slowest'][who]:.2f}{depth}")
    return "\n".join([*lines, *(f"  {forfeit}" for forfeit in told["forfeits"])])


if __name__ == "__main__":
    main()
