"""Proofs at hand: what is certain of a position without a search.

Pairings, weights and dead lines are found at once (solver/certificates/draws.py). Other proofs are in files by the
name of the game, or of the same board on its side: `7x7x5.json`, in `proofs/` of the folders of solver/folders.py.
ttt4 ships some, and users may add more. A strategy is checked in every position that comes up in it, or in an image of
it. A defence shows a draw on the empty board only. Checking it takes long, so one with a published digest
(data/digests.toml) counts as checked. A file that is damaged, refuted or not checked in time proves nothing:
`ttt4-solve check` says why.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from solver.certificates.draws import DEAD, PAIRING, Certificate, check_draw, draw_certificate
from solver.certificates.refusals import CheckTooLong, Refuted
from solver.certificates.strategy import WAIT, Strategy, check_strategy, longest_line
from solver.errors import Ttt4Error
from solver.folders import proof_paths
from solver.games.board import cells_of
from solver.games.lines import Game, lines_only
from solver.games.notation import parse_game
from solver.index.symmetry import Symmetry, image, inverse
from solver.source import Look, Reason
from solver.text import plies_in_words

if TYPE_CHECKING:
    from solver.certificates.files import Proof

_STEPS = 20_000
"""How many positions the check of a strategy may look at, which takes a fraction of a second."""


@dataclass(frozen=True)
class Win:
    """A strategy that has been checked."""

    side: str
    plies: int
    """The number of plies that it takes at most."""
    line: tuple[int, ...]
    """How the game goes on if the loser holds out."""

    kind: ClassVar[str] = "strategy"

    def as_dict(self, game: Game) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"kind": self.kind, "side": self.side, "plies": self.plies, "line": self._names(game)}

    def in_words(self, game: Game) -> str:
        """Return it as a player understands it."""
        return (
            f"{self.side} has an answer to everything, which takes {plies_in_words(self.plies)} at most. "
            f"For instance: {' '.join(self._names(game))}."
        )

    def _names(self, game: Game) -> list[str]:
        return [game.cell_name(cell) for cell in self.line]


@dataclass(frozen=True)
class Held:
    """A defence of O's on the empty board that has been checked."""

    answers: int

    kind: ClassVar[str] = "defence"

    def as_dict(self, game: Game) -> dict[str, Any]:
        """Return it as JSON has it."""
        return {"kind": self.kind, "answers": self.answers}

    def in_words(self, game: Game) -> str:
        """Return it as a player understands it."""
        return (
            f"X cannot win: O has an answer to every move, {self.answers:,} in all. O cannot win either, because X "
            "could follow any winning strategy of O's, and one stone more does no harm."
        )


@dataclass(frozen=True)
class Filed:
    """A reason that was read from a file."""

    reason: Reason
    file: str

    @property
    def kind(self) -> str:
        """The kind of proof."""
        return self.reason.kind

    def as_dict(self, game: Game) -> dict[str, Any]:
        """Return the reason as JSON has it, with the name of its file."""
        return {**self.reason.as_dict(game), "file": os.path.basename(self.file)}

    def in_words(self, game: Game) -> str:
        """Return the reason as a player understands it, with the name of its file."""
        return f"{self.reason.in_words(game)} The proof is in proofs/{os.path.basename(self.file)}."


class Won(NamedTuple):
    """A position that a strategy wins."""

    reason: Reason
    win: Win
    move: int | None
    """The winner's move; None if the loser is to move."""

    def look(self, game: Game, x: int, o: int) -> Look:
        """Return what is known of the position. A strategy says that a win takes so many plies at most."""
        score = game.cells - (x | o).bit_count() + 1 - self.win.plies
        first = self.win.line[0]
        others = [cell for cell in cells_of(game.full & ~(x | o)) if cell != first]
        if self.move is None:
            lost = [(cell, -score) for cell in (first, *others)]
            return Look(lost, False, -score, True, self.reason, line=self.win.line)
        moves: list[tuple[int, int | None]] = [(first, score), *[(cell, None) for cell in others]]
        return Look(moves, False, score, self.win.plies > 1, self.reason, line=self.win.line)


class AtHand:
    """The proofs at hand of one game."""

    def __init__(self, game: Game) -> None:
        """Read no file yet."""
        self._game = game
        self._held = dict[str, bool]()

    def draw(self, x: int, o: int, deadline: float) -> Reason | None:
        """Return why an open position is a draw; None if nothing at hand says so."""
        found = draw_certificate(self._game, x, o, deadline)
        if found and self._stops(x, o, found):
            return found
        for path, proof, _ in self._files:
            if (proof.x, proof.o) != (x, o) or isinstance(proof.evidence, Strategy):
                continue
            if isinstance(proof.evidence, Certificate):
                if proof.game is self._game and self._stops(x, o, proof.evidence):
                    return Filed(proof.evidence, path)
            elif self._holds(path, proof, deadline):
                return Filed(Held(len(proof.evidence.answers)), path)
        return None

    def win(self, x: int, o: int) -> Won | None:
        """Return how an open position is won by a strategy from a file; None if none covers it."""
        for path, proof, ways in self._files:
            if isinstance(proof.evidence, Strategy):
                for g in ways:
                    x_image, o_image = image(g, x), image(g, o)
                    for part in covering(proof.evidence, proof.x, proof.o, x_image, o_image):
                        won = _won(proof.game, part, x_image, o_image, path, inverse(g))
                        if won:
                            return won
        return None

    @staticmethod
    def is_certain_of_all(draw: Reason) -> bool:
        """Tell whether every move keeps a draw: pairs and dead lines stop both sides whatever is played first."""
        reason = draw.reason if isinstance(draw, Filed) else draw
        return isinstance(reason, Certificate) and all(
            stop.first is None and stop.kind in (DEAD, PAIRING) for stop in (reason.x, reason.o)
        )

    @cached_property
    def _files(self) -> "list[tuple[str, Proof, list[Symmetry]]]":
        """The proofs in files, unchecked, each with its path and the ways to turn this board into its own."""
        found = []
        for name in _names(self._game):
            for path in proof_paths(name):
                from solver.certificates.files import read_proof  # only now: most games have none

                with suppress(Ttt4Error):
                    proof = read_proof(path, self._game if name == self._game.name else lines_only(parse_game(name)))
                    if ways := list(turns(self._game, proof.game)):
                        found.append((path, proof, ways))
        return found

    def _stops(self, x: int, o: int, draw: Certificate) -> bool:
        try:
            check_draw(self._game, x, o, draw)
        except Refuted:
            return False
        return True

    def _holds(self, path: str, proof: "Proof", deadline: float) -> bool:
        """Tell whether a defence holds: by its published digest, or by a check in time.

        None holds where completing a line loses, though the file may be named after a game with the same lines.
        """
        if self._game.misere:
            return False
        if path not in self._held:
            from solver.certificates.files import check_proof, is_published  # only now: most games have none

            try:
                if not is_published(path):
                    check_proof(proof, deadline)
                self._held[path] = True
            except CheckTooLong:
                return False  # another time there may be more time
            except Refuted:
                self._held[path] = False
        return self._held[path]


def covering(strategy: Strategy, x0: int, o0: int, x: int, o: int) -> Iterator[Strategy]:
    """Yield the parts of a strategy from one position that go on from another, each to be checked there.

    Where the loser is to move, a part begins with WAIT.
    """
    x_wins = (x0.bit_count() == o0.bit_count()) == (strategy.move != WAIT)
    own, their, target_own, target_their = (x0, o0, x, o) if x_wins else (o0, x0, o, x)
    if own & ~target_own or their & ~target_their:
        return
    todo, met = [(strategy, own, their)], set()
    while todo:
        part, own, their = todo.pop()
        if (own, their) == (target_own, target_their):
            yield part
            continue
        after = own if part.move == WAIT else own | 1 << part.move
        if after & ~target_own or (id(part), their) in met:
            continue
        met.add((id(part), their))
        if (after, their) == (target_own, target_their):
            yield Strategy(WAIT, part.replies, part.other)
            continue
        for reply in cells_of(target_their & ~their):
            following = part.replies.get(reply, part.other)
            if following:
                todo.append((following, after, their | 1 << reply))


def turns(game: Game, other: Game) -> Iterator[Symmetry]:
    """Yield the rotations and reflections that map the lines of one game onto those of another."""
    at = {divmod(square, other.columns): cell for cell, square in enumerate(other.squares)}
    lines = set(other.lines)
    for flipped in range(8):
        g = []
        for square in game.squares:
            row, column = divmod(square, game.columns)
            row = game.rows - 1 - row if flipped & 1 else row
            column = game.columns - 1 - column if flipped & 2 else column
            g.append(at.get((column, row) if flipped & 4 else (row, column), -1))
        if min(g) >= 0 and {image(g, line) for line in game.lines} == lines:
            yield tuple(g)


def _names(game: Game) -> list[str]:
    """Return the names of a game and, if they follow from its size, of the same game on a board on its side."""
    rows, *rest = game.name.split(",")
    if len(rest) < 2 or not rows.isdigit() or rows == rest[0]:
        return [game.name]
    return [game.name, ",".join([rest[0], rows, *rest[1:]])]


def _won(game: Game, part: Strategy, x: int, o: int, path: str, back: Symmetry) -> Won | None:
    """Return the win of part of a strategy, on the board that it is an image of; None if the check fails."""
    try:
        plies = check_strategy(game, x, o, part, most_steps=_STEPS)
    except (Refuted, CheckTooLong):
        return None
    x_wins = (x.bit_count() == o.bit_count()) == (part.move != WAIT)
    line = longest_line(game, *((x, o) if x_wins else (o, x)), part)
    win = Win("XO"[not x_wins], plies, tuple([back[cell] for cell in line]))
    return Won(Filed(win, path), win, None if part.move == WAIT else back[part.move])
