"""The manifest: what a store says about itself. solver/store/store.py says where it is in the file."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from solver import __version__
from solver.games.board import LARGEST_CELLS, BoardGame
from solver.games.lines import SOLVABLE_CELLS, Game
from solver.games.score import outcome_of
from solver.index.symmetry import LARGEST, Symmetry
from solver.store.record import new_digest
from solver.text import shown

FORMAT = 3
"""The version of the store's format. It changes whenever this program could no longer read older files."""


LONGEST = 1 << 20
"""The longest manifest, in bytes."""

_DIGEST_BYTES = 32

_MOST, _MOST_LETTERS = 1 << 62, 80
"""The largest count, and the longest text, that a manifest can have."""


class OtherFormat(Exception):
    """A manifest of another format than this program reads."""

    def __init__(self, written: object, game: object) -> None:
        """Name the format in which the file was written, and its game, if that can be read."""
        super().__init__(written)
        self.written = written
        self.game = game


class Ply(NamedTuple):
    """Counts of the positions with `ply` stones. All but `reachable` count positions up to symmetry."""

    ply: int
    reachable: int
    canonical: int
    wins: int
    draws: int
    losses: int
    over: int


class Manifest(NamedTuple):
    """What a store says about itself."""

    game: BoardGame[Any]
    symmetries: tuple[Symmetry, ...]
    score: int
    plies: tuple[Ply, ...]
    digest: str
    format: int = FORMAT

    def to_json(self) -> bytes:
        """Return the manifest as it is written."""
        fields: dict[str, Any] = {
            "format": self.format,
            "tool": f"ttt4 {__version__}",
            **self._asdict(),
            "game": self.game.as_fields(),
            "plies": [ply._asdict() for ply in self.plies],
        }
        return json.dumps(fields, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, text: bytes) -> "Manifest":
        """Read a manifest; raise OtherFormat, or ValueError with the reason if it is not a manifest.

        The text may come from anywhere, so every number is checked before it is used as a size.
        """
        try:
            fields = json.loads(text)
            if fields["format"] != FORMAT:
                game = fields.get("game")
                raise OtherFormat(fields["format"], game.get("name") if isinstance(game, dict) else None)
            game = _read_game(fields["game"])
            cells = set(range(game.cells))
            symmetries = tuple(map(tuple, fields["symmetries"]))
            if not 0 < len(symmetries) <= LARGEST or any(len(g) != game.cells or set(g) != cells for g in symmetries):
                raise ValueError("its symmetries are not permutations of the cells")
            if {cell.__class__ for g in symmetries for cell in g} != {int}:
                raise ValueError("its symmetries are not whole numbers")
            plies = tuple(Ply(**{name: _whole(count, _MOST) for name, count in ply.items()}) for ply in fields["plies"])
            score, digest = _whole(fields["score"], game.cells + 1, -game.cells - 1), fields["digest"]
            if len(plies) > game.cells + 1 or len(bytes.fromhex(digest)) != _DIGEST_BYTES:
                raise ValueError("it has too many plies, or no digest")
            return cls(game, symmetries, score, plies, digest)
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{type(error).__name__}: {error}"[:80]) from error

    def facts(self) -> dict[str, Any]:
        """Return what a person or a program may want to know of the store, as JSON has it."""
        return {
            "game": self.game.name,
            "cells": self.game.cells,
            **self.game.facts(),
            "symmetries": len(self.symmetries),
            "reachable": self.total("reachable"),
            "canonical": self.total("canonical"),
            "outcome": self.outcome,
            "score": self.score,
            "scale": self.game.scale,
            "plies_to_end": self.plies_to_end,
            "digest": self.digest,
            "format": self.format,
            "plies": [ply._asdict() for ply in self.plies],
        }

    def total(self, kind: str) -> int:
        """Return the sum over all plies of one kind of count: `reachable`, `canonical`, ..."""
        return sum(getattr(ply, kind) for ply in self.plies)

    @property
    def outcome(self) -> str:
        """The result for the side that begins with best play from the empty board: win, draw or loss."""
        return outcome_of(self.score)

    @property
    def plies_to_end(self) -> int | None:
        """The length of a game in plies with best play; None where a draw may end at any time."""
        return self.game.plies_left(self.score, self.game.cells)


def _read_game(fields: dict[str, Any]) -> BoardGame[Any]:
    """Return the game that a manifest describes, if a store can be of it."""
    if "rules" in fields:
        return _read_duel(fields)
    rows, columns = (_whole(fields[name], LARGEST_CELLS, 1) for name in ("rows", "columns"))
    holes = _whole(fields.get("holes", 0), (1 << rows * columns) - 1) if rows * columns <= LARGEST_CELLS else -1
    cells = rows * columns - holes.bit_count()
    if holes < 0 or not 0 < cells <= SOLVABLE_CELLS:
        raise ValueError("its board has no size that a store can have")
    lines = tuple(_whole(line, (1 << cells) - 1, 1) for line in fields["lines"])
    name, misere = fields["name"], fields["misere"]
    if not isinstance(name, str) or len(name) > _MOST_LETTERS or not isinstance(misere, bool):
        raise ValueError("its game has no name")
    return Game(name, rows, columns, lines, misere, holes)


def _read_duel(fields: dict[str, Any]) -> BoardGame[Any]:
    from solver.games.duel import LONGEST_SIDE, Duel  # only now: few stores are of it

    game = Duel(*(_whole(fields[name], LONGEST_SIDE, 1) for name in ("rows", "columns")))
    if fields != game.as_fields() or game.cells > game.solvable_cells:
        raise ValueError("its game is none that this program knows, or too large for a store")
    return game


def _whole(number: Any, most: int, least: int = 0) -> int:
    """Return a number; raise ValueError unless it is whole and in range."""
    if type(number) is not int or not least <= number <= most:
        raise ValueError(f"{shown(number, 40)} stands where a number from {least} to {shown(most, 40)} should")
    return number


def layer_digest(digests: Iterable[bytes]) -> bytes:
    """Return the digest of a layer, given what its records add to it; empty for a layer without records."""
    whole, empty = new_digest(), True
    for digest in digests:
        whole.update(digest)
        empty = False
    return b"" if empty else whole.digest()


def digest_of_layers(digests: Sequence[bytes]) -> str:
    """Return a store's digest, given the digests of its layers."""
    return new_digest(b"".join(digests)).hexdigest()
