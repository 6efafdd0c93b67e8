"""Digests of whole stores: of one as it is, and of those that were built elsewhere, to compare it with.

Published digests are in data/digests.toml, which is installed with the package: a table of digests by the names
of games. No game that a file describes is in it, because another file may describe another game by that name.
"""

from itertools import groupby
from operator import itemgetter
from typing import Any

from solver.games.board import BoardGame
from solver.games.lines import Game
from solver.published import published
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


def _digests() -> dict[str, str]:
    return published("digests")
