"""Published digests: those of stores that were built elsewhere, to compare one's own with.

They are in data/digests.toml, which is installed with the package: a table of digests by the names of games.
Only games of rows, columns and k are in it, because another file may describe another game by a name.
"""

import os
from functools import cache

from solver.folders import shared_folders
from solver.games.lines import Game


def published_digest(game: Game) -> str | None:
    """Return the published digest of a game's store; None if there is none."""
    return _digests().get(game.name) if game.name[:1].isdigit() else None


def compared(game: Game, digest: str) -> str:
    """Return in words how a digest compares with the published one."""
    published = published_digest(game)
    if published is None:
        return "none published for this game"
    return "as published" if digest == published else f"NOT as published, {published[:12]}..."


@cache
def _digests() -> dict[str, str]:
    import tomllib  # only now: a query needs no digest

    for folder in shared_folders():
        try:
            with open(os.path.join(folder, "digests.toml"), "rb") as file:
                digests: dict[str, str] = tomllib.load(file)["digests"]
                return digests
        except OSError:
            continue
    return {}
