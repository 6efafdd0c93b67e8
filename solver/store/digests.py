"""Digests of whole stores: of one as it is, and of those that were built elsewhere, to compare it with.

Published digests are in data/digests.toml, which is installed with the package: a table of digests by the names
of games. No game that a file describes is in it, because another file may describe another game by that name.
"""

import os
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from solver.files import read_whole
from solver.folders import shared_folders
from solver.games.board import BoardGame
from solver.games.lines import Game
from solver.store.manifest import digest_of_layers, layer_digest
from solver.store.record import page_digest
from solver.store.store import Store


def content_digest(store: Store) -> str:
    """Return the digest of a store's pages as they are, whatever its manifest says."""
    layers = groupby(store.pages(), key=itemgetter(0))
    return digest_of_layers([layer_digest(page_digest(*page) for page in pages) for _, pages in layers])


def published_digest(game: BoardGame[Any]) -> str | None:
    """Return the published digest of a game's store; None if there is none."""
    return _digests().get(game.name) if game.name[:1].isdigit() or not isinstance(game, Game) else None


def compared(game: BoardGame[Any], digest: str) -> str:
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
            digests = tomllib.loads(read_whole(os.path.join(folder, "digests.toml")).decode())["digests"]
            return {str(name): str(digest) for name, digest in digests.items()}
        except (OSError, ValueError, KeyError, AttributeError, RecursionError):
            continue  # it is not there, or not ours
    return {}
