"""Opening a match: what the commands were told, with which any other match can be begun, too."""

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from play.match import Match
from play.players.player import WIDE_LEVEL, read_player
from play.players.roster import Roster
from play.records.kept import new_files
from play.records.text import Record
from play.sitting import Sitting
from solver.errors import Ttt4Error
from solver.games.board_rules import BoardRules
from solver.games.registry import find_game
from solver.games.rules import Rules
from solver.games.wide import WideRules

LEVEL = 4
"""The level of the opponent on a screen, unless another is chosen: one that newcomers beat now and then.

On 4,4,4 somebody who completes and blocks every line, but plans nothing, wins half of the games against it (the player
`rules`, in `ttt4-play arena --x rules --o oracle:4 --games 200 --swap --seed 1`).
"""


class Opening(NamedTuple):
    """Where players have what they know from, and their random seed."""

    store: str | None
    live: bool
    seconds: float
    seed: int | str

    def roster(self, rules: Rules[Any]) -> Roster:
        """Return what makes the players of a game."""
        return Roster(rules, self.store, live=self.live, seconds=self.seconds)

    def sitting(self, rules: Rules[Any], names: dict[str, str], tell: Callable[[str], None]) -> tuple[Sitting, str]:
        """Begin a match between players with these names; return it, and what they have to know."""
        record = Record(Match(rules), {**names, "Date": time.strftime("%Y-%m-%d")})
        return self.resumed(record, new_files(), tell)

    def resumed(
        self, record: Record, files: Iterator[str | None], tell: Callable[[str], None]
    ) -> tuple[Sitting, str]:  # fmt: skip
        """Go on with a record's match; return it, and what its players have to know."""
        roster = self.roster(record.match.rules)
        try:
            return Sitting(roster, record, files, self.seed, tell), self.note(record, roster)
        except BaseException:
            roster.close()
            raise

    def note(self, record: Record, roster: Roster) -> str:
        """Return what the players of a record have to know of the oracle; raise StoreError if its store is unusable."""
        rules = record.match.rules
        if not isinstance(rules, BoardRules):
            return ""
        game = rules.game
        searching = self.live or game.cells > game.solvable_cells or roster.oracle().source == "search"
        plays = any(read_player(record.tags.get(side, "human")).kind in ("oracle", "first") for side in rules.sides)
        if searching and plays and game.cells > game.quick_cells:
            return "Without a store, the oracle may err on a board of this size."
        return ""


def board_rules(name: str) -> BoardRules[Any] | WideRules:
    """Return the rules of a game on a board, by its name; raise Ttt4Error if it has none, or there is no such game."""
    rules = find_game(name)
    if not isinstance(rules, BoardRules | WideRules):
        raise Ttt4Error(f"{name} has no board: ttt4-play --plain --game {name} plays it")
    return rules


def usual_opponent(rules: BoardRules[Any] | WideRules, level: int | None = LEVEL) -> str:
    """Return who plays a game against a person, at a level; at the best one if that is None."""
    if isinstance(rules, WideRules) and level is None:
        level = WIDE_LEVEL
    return rules.game.opponent if level is None else f"{rules.game.opponent}:{level}"
