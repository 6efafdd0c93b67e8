"""Opening a match: what the commands were told, with which any other match can be begun, too."""

import time
from typing import Any, NamedTuple

from play.match import Match
from play.players.roster import Roster
from play.records.kept import new_files
from play.records.text import Record
from play.sitting import Sitting
from solver.games.board_rules import BoardRules
from solver.games.rules import Rules

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

    def sitting(self, rules: Rules[Any], names: dict[str, str], tell: Any) -> Sitting:
        """Begin a match between players with these names."""
        record = Record(Match(rules), {**names, "Date": time.strftime("%Y-%m-%d")})
        roster = self.roster(rules)
        try:
            return Sitting(roster, record, new_files(), self.seed, tell)
        except BaseException:
            roster.__exit__()
            raise


def usual_opponent(rules: BoardRules[Any], level: int | None = LEVEL) -> str:
    """Return who plays a game against a person, at a level; at the best one if that is None."""
    return rules.game.opponent if level is None else f"{rules.game.opponent}:{level}"
