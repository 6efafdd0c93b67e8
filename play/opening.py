"""Opening a match: what the commands were told, with which any other match can be begun, too."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from play.match import Match
from play.players.player import BEST_LEVEL, LEVELLED, PlayerError, best_level, read_player, require_player_of
from play.players.roster import Roster
from play.records.kept import new_files
from play.records.text import Record
from play.sitting import Sitting
from solver.errors import Ttt4Error
from solver.games.board_rules import BoardRules
from solver.games.cell_rules import CellRules
from solver.games.registry import find_game
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


def board_rules(name: str) -> CellRules:
    """Return the rules of a game on a board, by its name; raise Ttt4Error if it has none, or there is no such game."""
    rules = find_game(name)
    if not isinstance(rules, CellRules):
        raise Ttt4Error(f"{name} has no board: ttt4-play --plain --game {name} plays it")
    return rules


def names_for(rules: CellRules, names: Sequence[str]) -> dict[str, str]:
    """Return who plays each side of another game: the same players as far as it has them, else the usual opponent."""
    found = {}
    for number, side in enumerate(rules.sides):
        found[side] = names[number] if number < len(names) else usual_opponent(rules)
        try:
            require_player_of(rules, found[side])
        except PlayerError:
            found[side] = usual_opponent(rules)
    return found


def usual_opponent(rules: CellRules, level: int | None = LEVEL) -> str:
    """Return who plays a game against a person, at a level if it has levels; at the best one if that is None."""
    if rules.opponent not in LEVELLED or (level is None and best_level(rules) == BEST_LEVEL):
        return rules.opponent
    return f"{rules.opponent}:{best_level(rules) if level is None else level}"
