"""The check of a log's file: its structure, and the digests of every match."""

from typing import NamedTuple

from play.server.log_file import LogFile
from play.server.log_rows import MatchDamaged


class Checked(NamedTuple):
    """What a check has found."""

    matches: set[bytes]
    events: int
    """How many events the sound matches have."""
    damaged: list[MatchDamaged]
    structure: list[str]
    """What is wrong with the file as a whole."""

    @property
    def sound(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damaged and not self.structure


def check(file: LogFile, *, quick: bool = False) -> Checked:
    """Check the structure and, unless it is to be quick, all matches. Each is found by its id, as when it is played."""
    structure = file.structure()
    matches, events, damaged = file.matches(), 0, []
    for match in sorted(() if quick else matches):
        try:
            kept = file.read(match)
        except MatchDamaged as error:
            damaged.append(error)
            continue
        if kept:
            events += len(kept.entries) - 1
        elif structure or file.structure():  # else it was dropped meanwhile
            damaged.append(MatchDamaged(match, ": it is not found by its id"))
    return Checked(matches, events, damaged, structure or file.structure() if file.damage else structure)


def damage_lines(found: Checked, path: str) -> list[str]:
    """Return what to tell an operator about a file that is damaged, and how to repair it."""
    if found.structure:
        what = f"the file of the matches, {path!r}, is damaged ({found.structure[0]}): no move is kept in it"
        return [f"{what}; ttt4-play matches check says how to repair it"]
    if found.damaged:
        more = f" and {len(found.damaged) - 1:,} more" if len(found.damaged) > 1 else ""
        return [f"{found.damaged[0]}{more} in {path!r}; ttt4-play matches check names all"]
    return []
