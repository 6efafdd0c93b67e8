"""Kept games: every game that is played at the terminal has a record in the user's state folder."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

from play.players.player import PlayerError, read_player
from play.records.files import load_record
from play.records.text import ONGOING, Record, RecordError
from solver.errors import Ttt4Error
from solver.folders import games_folder
from solver.games.rules import Rules
from solver.text import printable, shown


class Kept(NamedTuple):
    """A game that was kept."""

    path: str
    played: float
    """When its file was last written, in seconds since 1970."""
    record: Record | None
    """None if it cannot be read."""
    problem: str
    """Why it cannot be read."""
    own_game_tags: dict[str, str] | None
    """Its tags, if its game is the user's own code, which is not loaded for a file."""

    @property
    def can_go_on(self) -> bool:
        """Whether `ttt4-play resume` can continue it, if players of the user's own are named again."""
        if self.record is None or self.record.result != ONGOING:
            return False
        try:
            return all(read_player(self.record.tags.get(side, "human")) for side in self.record.match.rules.sides)
        except PlayerError:  # it names a player that does not exist
            return False

    @property
    def in_words(self) -> str:
        """The game in a line: when, what, who, how long, and the result."""
        played = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.played))
        if self.own_game_tags:
            name, result = self.own_game_tags["Game"], self.own_game_tags.get("Result", "")
            return f"{played}  {printable(name):10} your own game {printable(result)}"
        if self.record is None:
            return f"{played}  cannot be read"
        match, tags = self.record.match, self.record.tags
        sides = ", ".join(f"{side} {printable(tags.get(side, 'human'))}" for side in match.rules.sides)
        count = f"{len(match.moves)} {'ply' if len(match.moves) == 1 else 'plies'}"
        return f"{played}  {match.rules.name:10} {sides:26} {count:9} {self.record.result}"


def kept_games(rules: Rules[Any] | None = None) -> Iterator[Kept]:
    """Yield the kept games, the last one first; those of the user's own code only if their `rules` are given."""
    for nanoseconds, path in sorted(_files(), reverse=True):
        record, problem, tags = None, "", None
        try:
            record = load_record(path, rules)
        except RecordError as error:
            problem, tags = str(error), error.own_game_tags
        yield Kept(path, nanoseconds / 1e9, record, problem, tags)


def last_kept(rules: Rules[Any] | None = None, *, to_resume: bool = False) -> str | None:
    """Return the file of the last game, or of the last that can go on; None if there is none.

    With `rules`, only games by these rules count. Without, a last game that is the user's own code is an error.
    """
    for kept in kept_games(rules):
        if rules and (kept.record is None or kept.record.match.rules.name != rules.name):
            continue
        tags = kept.own_game_tags
        if tags and not (to_resume and tags.get("Result") != ONGOING):
            error = Ttt4Error(f"the last game, {kept.path!r}, is your own {shown(tags['Game'])}")
            error.unnamed_game = tags["Game"]
            raise error
        if kept.can_go_on if to_resume else kept.record:
            return kept.path
    return None


def new_files(first: str | None = None) -> Iterator[str | None]:
    """Yield `first`, if given, then names for games to come; None where no folder can hold them."""
    return chain([first] if first else [], iter(_new_file, ""))


def _files() -> Iterator[tuple[int, str]]:
    """Yield when each file of a kept game was last written, in nanoseconds since 1970, and its path."""
    try:
        entries = [entry for entry in os.scandir(games_folder() or "") if entry.name.endswith(".txt")]
    except OSError:
        return
    for entry in entries:
        with suppress(OSError):  # it was removed since, or is a link to nothing
            yield entry.stat().st_mtime_ns, entry.path


def _new_file() -> str | None:
    folder = games_folder()
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}-{time.monotonic_ns() % 1_000_000:06}.txt"
    return folder and os.path.join(folder, name)
