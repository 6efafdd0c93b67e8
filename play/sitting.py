"""A sitting: one match after another between the same players, each kept as it goes, with an oracle to ask.

It neither prints nor draws: the prompt and the screen drive the same class. What it has to say without having been
asked, such as where a game is kept from now on, it tells a function.
"""

import os
import time
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

from oracle.answers import Analysis, in_chances
from play.advice import analyse
from play.graded import led_to
from play.match import Match, MatchError
from play.players.player import Player, may_resume
from play.players.roster import Roster, board_of
from play.records.files import save_record
from play.records.text import Record
from play.review import Review, review_match
from play.session import Session
from solver.files import read_whole
from solver.games.board_rules import BoardRules


class Sitting:
    """One match, and those that follow it."""

    def __init__(
        self, roster: Roster, record: Record, files: Iterator[str | None], seed: int | str, tell: Callable[[str], None]
    ) -> None:
        """Go on with a record's match between the players that its tags name; keep it, then others, in `files`."""
        self.roster = roster
        self.rules = record.match.rules
        self.names = {side: record.tags.get(side, "human") for side in self.rules.sides}
        self._files, self._seed, self._tell = files, seed, tell
        self._take_file()
        players = {side: roster.player(name, f"{seed} {side}") for side, name in self.names.items()}
        self.session = Session(record, players, self._keep)

    @property
    def match(self) -> Match[Any]:
        """The match that is played now."""
        return self.session.match

    @property
    def people(self) -> set[str]:
        """The sides that people play."""
        return self.session.people

    @property
    def farewell(self) -> str:
        """What to say to somebody who leaves: whether a match that has begun is kept; nothing of one that has ended."""
        if not self.match.events or self.match.outcome or not all(map(may_resume, self.names.values())):
            return ""
        return "The game is kept: ttt4-play resume continues it." if self.path else "The game was not kept."

    @property
    def answers_quickly(self) -> bool:
        """Whether the oracle answers any question about this game at once."""
        return isinstance(self.rules, BoardRules) and (
            self.roster.oracle().source == "store" or self.rules.game.cells <= self.rules.game.quick_cells
        )

    def listen(self, tell: Callable[[str], None]) -> None:
        """Tell another function from now on."""
        self._tell = tell

    def begin_another(self) -> None:
        """Begin another match from the same start."""
        self._take_file()
        match = Match(self.rules, self.match.start)
        tags = self.session.record.tags | {"Date": time.strftime("%Y-%m-%d")}
        self.session = Session(Record(match, tags), self.session.players, self._keep)

    def exchange(self) -> None:
        """Let the players change sides during the match: each takes the next one's."""
        sides = self.rules.sides
        before = dict(zip(sides, [sides[-1], *sides[:-1]], strict=True))
        players, names = self.session.players, self.names
        self._seat({side: players[before[side]] for side in sides}, {side: names[before[side]] for side in sides})

    def replace(self, side: str, name: str) -> None:
        """Let another player go on for a side; raise PlayerError if there is none with that name."""
        self._seat({side: self.roster.player(name, f"{self._seed} {side}")}, {side: name})

    def analysis(self, command: str) -> Analysis:
        """Return what the oracle knows of the match's state; raise MatchError if there is nothing to `command`."""
        board_of(self.rules, "an oracle")
        self.require_ongoing(command)
        return analyse(self.roster.oracle(), self.match, self.match.state)

    def hint(self) -> tuple[str, str]:
        """Return the move that the oracle would make, and what it leads to in words."""
        analysis = self.analysis("hint at")
        oracle, first = self.roster.oracle(), analysis.moves[0]
        if not analysis.exact or oracle.estimates:
            share = first.estimate
            return first.move, analysis.verdict if share is None else in_chances(share, analysis.to_move or "")
        move = oracle.best_move(self.match.state.position)
        if move.score is None:
            return move.move, analysis.verdict
        return move.move, led_to(move.score, move.plies, analysis.scale, analysis.to_move or "", self.rules.sides)

    def review(self, last: int | None = None) -> Review:
        """Return the grades of the match's moves, or of the last few."""
        board_of(self.rules, "an oracle")
        return review_match(self.roster.oracle(), self.match, last)

    def require_ongoing(self, command: str) -> None:
        """Raise MatchError if the match has ended."""
        if self.match.outcome:
            raise MatchError(f"nothing to {command}: the game is over; undo takes a move back, new begins another")

    def resign(self) -> None:
        """Let the person give up; where several play, the one whose turn it is."""
        self.require_ongoing("resign")
        side = next(iter(self.people)) if len(self.people) == 1 else self.match.to_move
        if side not in self.people:
            raise MatchError("only people resign")
        self.session.resign(side)

    def redo(self) -> None:
        """Make again what was taken back."""
        if self.match.given_up:
            self.require_ongoing("make again")
        self.session.redo()

    def _seat(self, players: dict[str, Player | None], names: dict[str, str]) -> None:
        self.names |= names
        self.session.seat(players, names)

    def _take_file(self) -> None:
        self.path = next(self._files)
        self._written = _content(self.path)

    def _keep(self, record: Record) -> None:
        """Write the game down, from its first event on."""
        if self.path is None or not (self.match.events or os.path.exists(self.path)):
            return
        try:
            if self._elsewhere(self.path):
                self.path = next(self._files)
                self._tell(f"This game went on elsewhere meanwhile, so it is kept in {self.path} from now on.")
                if self.path is None:
                    return
            save_record(record, self.path)
            self._written = str(record)
        except OSError as error:
            self.path, self._files = None, repeat(None)
            self._tell(f"Games cannot be kept: {error.strerror or error}. Save this one elsewhere: save FILE.")

    def _elsewhere(self, path: str) -> bool:
        """Tell whether somebody else has written the file of this game since we did."""
        try:
            return read_whole(path).decode(errors="replace") != self._written
        except FileNotFoundError:
            return False


def _content(path: str | None) -> str:
    """Return what a file holds; nothing if it cannot be read."""
    try:
        return read_whole(path or "").decode(errors="replace")
    except OSError:
        return ""
