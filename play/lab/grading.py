"""Grading: ask a player what it does in every position, or in some, and work out how good that is."""

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from play.arena.meetings import interval, meet
from play.lab.grades import ALL, CANONICAL, Estimate, Grade
from play.lab.policies import Drawn, Policy, PolicyPlayer, Rows, Varies, policy_of
from play.lab.sampling import drawn, images, move_scores, some_of
from play.lab.shares import Shares
from play.lab.symmetry import agreement
from play.lab.values import MOST_MET, SIDES, Exploiter, Report, Worth, worth_everywhere, worth_of
from play.players.player import PlayerError
from play.players.roster import Roster, lines_of
from play.records.text import Record
from solver.arrays.kernels import kernel_lines
from solver.arrays.positions import MOST, Positions, places
from solver.errors import TooLarge
from solver.games.board import DEFAULT_GAME, require_solvable
from solver.games.lines import Game
from solver.games.registry import find_game, rules_of
from solver.index.symmetry import symmetries

SAMPLE = 20_000
"""How many positions are drawn where there are too many for all."""

GAMES = 200
"""How many games a side are played where a value can only be estimated."""

_LEAST_GAMES = 20

_DRAWS = 8
"""How often a player that varies is asked about a position, to find out how likely each of its moves is."""

MOST_DRAWN = 5_000_000
"""How many positions may be drawn."""

_PATIENCE, _TIMING = 120.0, 1.0
"""For about how many seconds a slow player is asked, and for how long it is timed first."""

_PROMISES, _FEW_PROMISES = 500, 30
"""In how many random positions a player must do what it says of itself: one that is asked in arrays, and a slow one."""

_AT_ONCE = 2_000
"""About so many positions are asked about before progress is told."""


class _Values(NamedTuple):
    """What is known of a player's values: by side, exactly or by estimates, and how it gets less than it should."""

    worths: dict[str, Worth]
    estimates: dict[str, Estimate]
    refutations: dict[str, Record]
    why_not_exact: str = ""


def _silent(what: str, share: float) -> None:
    """Tell nobody."""


class Grader:
    """Grades players of one game; a context manager. It keeps what all grades need: the positions and their scores."""

    def __init__(
        self, game: Game | str = DEFAULT_GAME, store: str | None = None, *, live: bool = False, seconds: float = 2.0
    ) -> None:
        """Find all positions of a game, if they are not too many."""
        rules = find_game(game) if isinstance(game, str) else rules_of(game)
        self.game = lines_of(rules, "exact grades")
        require_solvable(self.game)
        self.roster = Roster(rules, store, live=live, seconds=seconds)
        few = places(self.game) <= MOST
        self.positions = Positions(self.game, store, live=live) if few else None

    def __enter__(self) -> "Grader":
        return self

    def __exit__(self, *error: object) -> None:
        self.roster.__exit__()

    @property
    def has_scores(self) -> bool:
        """Whether the scores of positions are known."""
        return self.positions is not None or self.roster.oracle().source == "store"

    def policy(self, player: Any, seed: int | str = 0) -> Policy:
        """Return a player's policy, which play/lab/policies.py explains; raise PlayerError if it breaks its word."""
        if isinstance(player, Policy):
            return player
        policy = policy_of(self.roster, player, seed, self.positions)
        with suppress(Varies):  # which is another matter
            if policy.symmetric and not isinstance(policy, Rows):
                group = symmetries(self.game)
                if agreement(policy, group, *self.asked_about(_PROMISES if policy.quick else _FEW_PROMISES), 0) < 1:
                    raise PlayerError(f"{policy.name} has symmetric = True, but plays differently in equal positions")
        return policy

    def grade(
        self, player: Any, positions: str | int | None = None, seed: int = 0, *,
        values: bool = True, report: Report = _silent,
    ) -> Grade:  # fmt: skip
        """Grade a player in all positions, the canonical ones, or some random ones; perhaps without values."""
        policy = self.policy(player, seed)
        most = self._most_asked(policy)
        wanted = self._wanted(policy, positions, most)
        perfect = self._perfect()
        entitled = {"X": perfect, "O": -perfect} if perfect is not None else {}
        known, asked = _Values({}, {}, {}), None
        try:
            if wanted == CANONICAL or (policy.symmetric and (self.positions is None or len(self.positions) <= most)):
                asked = self.everywhere(policy, report)
            if values:
                known = self._values(policy, asked, entitled, most, report)
        except (TooLarge, Varies) as error:
            policy.asked_once = policy.asked_once or isinstance(error, Varies)
            games = max(_LEAST_GAMES, min(GAMES, 2 * most // self.game.cells))
            sides = SIDES if self.has_scores else ""
            estimates = {side: self._estimated(policy, player, side, games, most, seed, report) for side in sides}
            known = _Values({}, estimates, {}, f"{error}")
        value = {side: each.value for side, each in (known.worths or known.estimates).items()}
        return Grade(
            game=self.game.name,
            player=policy.name,
            perfect=perfect,
            value=value,
            given_away={side: entitled[side] - value[side] for side in value} if value and entitled else None,
            estimates=known.estimates,
            v_random={side: worth.against_random() for side, worth in known.worths.items()} or None,
            met={side: worth.met for side, worth in known.worths.items()} or None,
            positions=wanted,
            shares=self._shares(policy, wanted, asked, seed, report),
            varies=policy.asked_once,
            why_not_exact=known.why_not_exact,
            refutations=known.refutations,
        )

    def exploiter(self, player: Any, seed: int = 0) -> Exploiter:
        """Return the best response to a player; raise TooLarge or Varies if it cannot be worked out."""
        policy = self.policy(player, seed)
        asked = self.everywhere(policy) if policy.symmetric else None
        worths = {side: self._worth(policy, side, asked, MOST_MET, _silent) for side in SIDES}
        return Exploiter(worths, self.positions)

    def asked_about(self, count: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Return all canonical positions or, given their number, random ones that are the same every time."""
        if count is None and self.positions is not None:
            return self.positions.x, self.positions.o
        return self.drawn(count or SAMPLE, 0)

    def drawn(self, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return random positions that are not over, each as likely as every other."""
        return some_of(self.positions, count, seed) if self.positions is not None else drawn(self.game, count, seed)

    def _perfect(self) -> int | None:
        """Return X's result with perfect play, if it is known."""
        if self.positions is not None:
            return int(np.sign(self.positions.score[0]))
        score = self.roster.oracle().get_score(self.game.at(0, 0), None)
        return None if score is None else (score > 0) - (score < 0)

    def _most_asked(self, policy: Policy) -> int:
        """Return about how many positions a player can be asked about in a reasonable time."""
        if policy.quick:
            return MOST_MET
        x, o = self.asked_about(_FEW_PROMISES)
        start, asked = monotonic(), 0
        with suppress(Varies):
            while asked < len(x) and monotonic() - start < _TIMING:
                policy.chances(x[asked : asked + 1], o[asked : asked + 1])
                asked += 1
        return min(MOST_MET, int(_PATIENCE * max(asked, 1) / max(monotonic() - start, 1e-6)))

    def _wanted(self, policy: Policy, wanted: str | int | None, most: int) -> str | int:
        """Return which positions to ask about, where nobody says: all that can be asked about in reasonable time."""
        if wanted is None and (self.positions is None or most < len(self.positions)):
            return min(SAMPLE, most)
        if wanted is None:
            few = self.positions is not None and self.positions.orbit.sum() <= SAMPLE
            return ALL if policy.symmetric or few else SAMPLE
        if isinstance(wanted, bool) or (not isinstance(wanted, int) and wanted not in (ALL, CANONICAL)):
            raise PlayerError(f"no positions {wanted!r}: all, canonical, or a number of them")
        if isinstance(wanted, int) and not 0 < wanted <= MOST_DRAWN:
            raise PlayerError(f"no {wanted} positions: from 1 to {MOST_DRAWN:,}")
        if self.positions is None and not isinstance(wanted, int):
            raise TooLarge(f"{self.game.name} has too many positions to ask about all: name a number of them")
        return wanted

    def everywhere(self, policy: Policy, report: Report = _silent) -> np.ndarray | None:
        """Return the chances in all canonical positions; None if there are too many."""
        positions = self.positions
        if positions is None:
            return None
        if policy.quick:
            return policy.chances(positions.x, positions.o)
        parts = []
        for start in range(0, len(positions), _AT_ONCE):
            report("asking", start / len(positions))
            rows = slice(start, start + _AT_ONCE)
            parts.append(policy.chances(positions.x[rows], positions.o[rows]))
        return np.concatenate(parts)

    def _values(
        self, policy: Policy, asked: np.ndarray | None, entitled: dict[str, int], most: int, report: Report
    ) -> "_Values":
        """Return what the player is worth as each side, and how it is beaten; raise TooLarge or Varies."""
        worths = {side: self._worth(policy, side, asked, most, report) for side in SIDES}
        lines = {side: worths[side].refutation(result) for side, result in entitled.items()}
        return _Values(worths, {}, {side: line for side, line in lines.items() if line})

    def _worth(self, policy: Policy, side: str, asked: np.ndarray | None, most: int, report: Report) -> Worth:
        report(f"value as {side}", 0.0)
        if self.positions is not None and asked is not None and policy.symmetric:
            return worth_everywhere(policy, SIDES.index(side), self.positions, asked)
        return worth_of(policy, SIDES.index(side), most, report)

    def _shares(
        self, policy: Policy, wanted: str | int, asked: np.ndarray | None, seed: int, report: Report
    ) -> Shares | None:
        """Return in how many of some positions the player does well; None if no scores are known."""
        try:
            return self._counted(policy, wanted, asked, seed, report)
        except Varies:
            policy.asked_once = True
            return self._counted(policy, wanted, None, seed, report)

    def _counted(
        self, policy: Policy, wanted: str | int, asked: np.ndarray | None, seed: int, report: Report
    ) -> Shares | None:
        kernel = kernel_lines(self.game)
        shares = Shares(kernel)
        positions = self.positions
        if isinstance(wanted, int):
            known = self._known()
            if known is None:
                return None
            x, o = self.drawn(wanted, seed)
            for start in range(0, len(x), _AT_ONCE):
                report("asking", start / len(x))
                part = x[start : start + _AT_ONCE], o[start : start + _AT_ONCE]
                shares.add(*part, move_scores(kernel, *part, known), policy.chances(*part))
        elif positions is not None and (wanted == CANONICAL or policy.symmetric):
            chances = self.everywhere(policy, report) if asked is None else asked
            weights = positions.orbit if wanted == ALL else 1.0
            shares.add(positions.x, positions.o, positions.scores, np.asarray(chances), weights)
        elif positions is not None:
            for done, (x, o, scores, weights) in images(positions):
                report("asking", done)
                shares.add(x, o, scores, policy.chances(x, o), weights)
        return shares

    def _known(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
        """Return what knows the scores of many positions; None if nothing does."""
        if self.positions is not None:
            return self.positions.score_of
        oracle = self.roster.oracle()
        return oracle.scores if oracle.source == "store" else None

    def _estimated(
        self, policy: Policy, player: Any, side: str, games: int, most: int, seed: int, report: Report
    ) -> Estimate:  # fmt: skip
        """Return the worst that the player gets in games against the best opponents that there are.

        These are the oracle, and whoever answers best what the player did when it was asked once.
        """
        opponents: list[Any] = ["oracle"]
        with suppress(TooLarge, Varies):
            if policy.asked_once:
                drawn = Drawn(policy, _DRAWS)
                opponents.append(Exploiter({side: worth_of(drawn, SIDES.index(side), most // _DRAWS)}, self.positions))

        def fresh(rules: Any, seed: int | str) -> PolicyPlayer:
            again = self.policy(player, seed)
            again.asked_once = True
            return PolicyPlayer(again, seed)

        own = player if policy.plays and not isinstance(player, Policy) else fresh
        found = []
        for opponent in opponents:
            report(f"games as {side}", 0.0)
            pair = (own, opponent) if side == "X" else (opponent, own)
            met = meet(self.roster, pair, games, swap=False, seed=f"{seed} {side}")
            standing = met.first if side == "X" else met.second
            low, high = interval(standing.points * games, games)
            name = opponent if isinstance(opponent, str) else "its exploiter"
            found.append(Estimate(2 * standing.points - 1, 2 * low - 1, 2 * high - 1, games, name))
        return min(found)


def grade(
    game: Game | str, player: Any, *,
    positions: str | int | None = None, seed: int = 0, store: str | None = None, live: bool = False,
) -> Grade:  # fmt: skip
    """Return the grade of a player: a name, an array over `Positions(game)`, an object, or a class that makes one.

    `positions` says which positions the shares are of: `all` (each once), `canonical` (one for all that are equal by
    symmetry, once) or a number of them, drawn by `seed`. Without it: all, if the player does the same, up to symmetry,
    in positions that are equal by symmetry, or if there are few; else 20,000 random ones.
    """
    with Grader(game, store, live=live) as grader:
        return grader.grade(player, positions, seed)


def exploiter(
    game: Game | str, player: Any, *, seed: int = 0, store: str | None = None, live: bool = False
) -> Exploiter:  # fmt: skip
    """Return the best response to a player, which is a player itself."""
    with Grader(game, store, live=live) as grader:
        return grader.exploiter(player, seed)
