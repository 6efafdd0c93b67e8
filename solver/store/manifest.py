"""The manifest: what a store says of itself. solver/store/store.py says where it stands in the file."""

import json
from dataclasses import asdict
from typing import Any, NamedTuple

from solver import __version__
from solver.games.lines import Game
from solver.games.score import outcome_of, plies_to_end
from solver.index.symmetry import Symmetry

FORMAT = 2
"""Changed whenever a file that was written before can no longer be read."""


class Ply(NamedTuple):
    """Counts of the positions with `ply` stones. All but `reachable` count images under symmetry as one."""

    ply: int
    reachable: int
    canonical: int
    wins: int
    draws: int
    losses: int
    over: int


class Manifest(NamedTuple):
    """What a store says of itself."""

    game: Game
    symmetries: tuple[Symmetry, ...]
    score: int
    plies: tuple[Ply, ...]
    digest: str
    format: int = FORMAT

    def to_json(self) -> bytes:
        """The manifest as it is written."""
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
        """The manifest that was written; ValueError, KeyError or TypeError if it was another thing."""
        fields = json.loads(text)
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
        """The sum over all plies of one kind of count: `reachable`, `canonical`, ..."""
        return sum(getattr(ply, kind) for ply in self.plies)

    @property
    def outcome(self) -> str:
        """What the empty board is worth to X: win, draw or loss."""
        return outcome_of(self.score)

    @property
    def plies_to_end(self) -> int | None:
        """How many plies a game has under best play; None for a draw."""
        return plies_to_end(self.score, self.game.cells)


def game_fields(game: Game) -> dict[str, Any]:
    """What makes the game: not how it was named, and holes only if there are some, which most boards have not."""
    fields = asdict(game)
    del fields["notation"]
    if not game.holes:
        del fields["holes"]
    return fields
