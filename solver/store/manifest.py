"""The manifest: what a store says about itself. solver/store/store.py says where it is in the file."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from solver import __version__
from solver.games.lines import Game
from solver.games.score import outcome_of, plies_to_end
from solver.index.symmetry import Symmetry
from solver.store.record import new_digest

FORMAT = 3
"""The version of the store's format. It changes whenever this program could no longer read older files."""


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

    game: Game
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
            "game": game_fields(self.game),
            "plies": [ply._asdict() for ply in self.plies],
        }
        return json.dumps(fields, separators=(",", ":")).encode()

    @classmethod
    def from_json(cls, text: bytes) -> "Manifest":
        """Read a manifest; raise OtherFormat, or ValueError, KeyError or TypeError if it is not a manifest."""
        fields = json.loads(text)
        if fields["format"] != FORMAT:
            game = fields.get("game")
            raise OtherFormat(fields["format"], game.get("name") if isinstance(game, dict) else None)
        holes = int(fields["game"].get("holes", 0))
        game = Game(**{**fields["game"], "lines": tuple(fields["game"]["lines"]), "holes": holes})
        symmetries = tuple(map(tuple, fields["symmetries"]))
        cells = set(range(game.cells))
        if not symmetries or any(len(g) != game.cells or set(g) != cells for g in symmetries):
            raise ValueError("its symmetries are not permutations of the cells")
        return cls(
            game=game,
            symmetries=symmetries,
            score=fields["score"],
            plies=tuple(Ply(**ply) for ply in fields["plies"]),
            digest=fields["digest"],
        )

    def total(self, kind: str) -> int:
        """Return the sum over all plies of one kind of count: `reachable`, `canonical`, ..."""
        return sum(getattr(ply, kind) for ply in self.plies)

    @property
    def outcome(self) -> str:
        """The result for X with best play from the empty board: win, draw or loss."""
        return outcome_of(self.score)

    @property
    def plies_to_end(self) -> int | None:
        """The length of a game in plies with best play; None for a draw."""
        return plies_to_end(self.score, self.game.cells)


def game_fields(game: Game) -> dict[str, Any]:
    """Return the fields that define the game: no notation, and `holes` only if the board has any."""
    fields = asdict(game)
    del fields["notation"]
    if not game.holes:
        del fields["holes"]
    return fields


def layer_digest(digests: Iterable[bytes]) -> bytes:
    """Return the digest of a layer, given what its records add to it; empty for a layer without records."""
    whole = b"".join(digests)
    return new_digest(whole).digest() if whole else b""


def digest_of_layers(digests: Sequence[bytes]) -> str:
    """Return a store's digest, given the digests of its layers."""
    return new_digest(b"".join(digests)).hexdigest()
