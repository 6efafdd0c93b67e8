"""Certificates that a position is a draw, found at once or not at all: what an analysis without a store asks for.

A position is a draw if X cannot win and O cannot win. That a side cannot win has one of three reasons, the simplest
first: it has no line left; pairs of empty cells stop it (solver/certificates/pairing.py); or its lines weigh too little
(solver/certificates/weights.py). Where the side that stops is to move, it may first claim a cell.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

from solver.certificates.checkers import check_pairing, check_weights
from solver.certificates.pairing import find_pairing, live_lines
from solver.certificates.pattern import Pairs
from solver.certificates.refusals import Refuted
from solver.certificates.weights import NOTHING, Weights, cell_weights, weigh
from solver.games.lines import Game

DEAD, PAIRING, WEIGHTS = "dead", "pairing", "weights"

_FIRST_MOVES = 2
"""How many moves the side that stops tries, if it is to move: those to the cells of most weight."""


@dataclass(frozen=True)
class Stop:
    """Why a side cannot win."""

    side: str
    kind: str
    first: int | None = None
    """The cell that the other side claims first."""
    pairs: Pairs = ()
    weights: Weights = NOTHING

    def as_dict(self, game: Game) -> dict[str, Any]:
        """Return the reason as JSON has it, with the names of cells."""
        fields: dict[str, Any] = {"side": self.side, "kind": self.kind}
        if self.first is not None:
            fields["first"] = game.cell_name(self.first)
        if self.kind == PAIRING:
            fields["pairs"] = [[game.cell_name(cell) for cell in pair] for pair in self.pairs]
        if self.kind == WEIGHTS:
            fields["weight"] = f"{self.weights.total + self.weights.added}/{1 << self.weights.scale}"
        return fields

    def in_words(self, game: Game) -> str:
        """Return the reason as a sentence that a player understands."""
        other = "O" if self.side == "X" else "X"
        first = "" if self.first is None else f"after {other} {game.cell_name(self.first)}, "
        if self.kind == DEAD:
            return f"{self.side} cannot win: {first}every line has a stone of {other}."
        if self.kind == PAIRING:
            names = ", ".join("-".join(map(game.cell_name, pair)) for pair in self.pairs[:_SHOWN])
            more = f" and {len(self.pairs) - _SHOWN} more" if len(self.pairs) > _SHOWN else ""
            return (
                f"{self.side} cannot win: {first}every line that {self.side} could complete contains one of the pairs "
                f"{names}{more}, and whenever {self.side} takes one cell of a pair, {other} takes the other."
            )
        share = (self.weights.total + self.weights.added) * 100 // (1 << self.weights.scale) / 100
        return (
            f"{self.side} cannot win: {first}the lines that {self.side} could complete have so many empty cells that "
            f"they weigh {share:.2f} together, less than 1, and {other} keeps it so by taking the heaviest cell."
        )


@dataclass(frozen=True)
class Certificate:
    """Why a position is a draw: what stops X, and what stops O."""

    x: Stop
    o: Stop

    @property
    def kind(self) -> str:
        """The least simple of the two reasons."""
        return max(self.x.kind, self.o.kind, key=(DEAD, PAIRING, WEIGHTS).index)

    def as_dict(self, game: Game) -> dict[str, Any]:
        """Return the certificate as JSON has it."""
        return {"kind": self.kind, "stops": [self.x.as_dict(game), self.o.as_dict(game)]}

    def in_words(self, game: Game) -> str:
        """Return why neither side can win, in one or two sentences."""
        if self.kind == DEAD and self.x.first is None is self.o.first:
            return "Nobody can win: every line has a stone of each side."
        if self.x.pairs == self.o.pairs and self.x.kind == self.o.kind == PAIRING and self.x.first is None:
            return "Nobody can win. " + self.x.in_words(game).replace("X cannot", "X, say, cannot", 1)
        return f"{self.x.in_words(game)} {self.o.in_words(game)}"


def draw_certificate(game: Game, x: int, o: int, deadline: float) -> Certificate | None:
    """Return why a position that is not over is a draw; None if no reason was found by the deadline (of `monotonic`).

    In misère play only dead lines count.
    """
    stop_x = stop_certificate(game, x, o, "X", deadline)
    if stop_x is None:
        return None
    if not (x | o) and stop_x.kind == PAIRING:
        return Certificate(stop_x, Stop("O", PAIRING, pairs=stop_x.pairs))
    stop_o = stop_certificate(game, x, o, "O", deadline)
    return Certificate(stop_x, stop_o) if stop_o else None


def stop_certificate(game: Game, x: int, o: int, side: str, deadline: float) -> Stop | None:
    """Return why a side cannot win a position that is not over; None if no reason was found by the deadline."""
    own, their = (x, o) if side == "X" else (o, x)
    if game.misere:
        return Stop(side, DEAD) if not live_lines(game, own) and not live_lines(game, their) else None
    to_move = (side == "X") == (x.bit_count() == o.bit_count())
    found = _stopped(game, own, their, side, deadline, to_move=to_move)
    if found or to_move:
        return found
    for cell in _heaviest(game, own, their):
        if monotonic() > deadline:
            return None
        found = _stopped(game, own, their | 1 << cell, side, deadline, to_move=True)
        if found:
            return Stop(side, found.kind, cell, found.pairs, found.weights)
    return None


def check_draw(game: Game, x: int, o: int, draw: Certificate) -> None:
    """Raise Refuted unless both sides are stopped as a certificate says; no code is shared with what found it."""
    if (draw.x.side, draw.o.side) != ("X", "O"):
        raise Refuted("the certificate does not stop both sides")
    both = Stop("X", PAIRING, pairs=draw.x.pairs), Stop("O", PAIRING, pairs=draw.x.pairs)
    if (draw.x, draw.o) == both and check_pairing(game, x, o, draw.x.pairs) == "XO":
        return  # the same pairs need to be looked at once only
    check_stop(game, x, o, draw.x)
    check_stop(game, x, o, draw.o)


def check_stop(game: Game, x: int, o: int, stop: Stop) -> None:
    """Raise Refuted unless a side is stopped as a certificate says."""
    to_move = "X" if x.bit_count() == o.bit_count() else "O"
    if stop.first is not None:
        taken = not 0 <= stop.first < game.cells or (x | o) >> stop.first & 1
        if taken or stop.side == to_move or game.misere:
            raise Refuted(f"the side that stops {stop.side} cannot first claim cell {stop.first}")
        x, o = (x, o | 1 << stop.first) if stop.side == "X" else (x | 1 << stop.first, o)
    if stop.kind == DEAD:
        lines = [line for line in game.lines if not (line & x and line & o)] if game.misere else [
            line for line in game.lines if not line & (o if stop.side == "X" else x)
        ]  # fmt: skip
        if lines:
            raise Refuted(f"{stop.side} can still complete {len(lines)} lines")
    elif stop.side not in (
        check_weights(game, x, o) if stop.kind == WEIGHTS else check_pairing(game, x, o, stop.pairs)
    ):
        raise Refuted(f"the {stop.kind} certificate does not stop {stop.side}")


_SHOWN = 6
"""How many pairs a sentence names."""


def _stopped(game: Game, own: int, their: int, side: str, deadline: float, *, to_move: bool) -> Stop | None:
    lines = live_lines(game, their)
    if not lines:
        return Stop(side, DEAD)
    pairs = find_pairing(game, own, their, deadline)
    if pairs is not None:
        return Stop(side, PAIRING, pairs=pairs)
    weights = weigh(lines, game.full & ~(own | their), to_move=to_move)
    return Stop(side, WEIGHTS, weights=weights) if weights.hold else None


def _heaviest(game: Game, own: int, their: int) -> Iterator[int]:
    """Yield the empty cells of most weight, for the side of `their` to claim."""
    lines, free = live_lines(game, their), game.full & ~(own | their)
    longest = max((line.bit_count() for line in lines), default=0)
    by_cell = cell_weights(lines, free, [1 << longest - (line & free).bit_count() for line in lines])
    yield from sorted(by_cell, key=lambda cell: (-by_cell[cell], cell))[:_FIRST_MOVES]
