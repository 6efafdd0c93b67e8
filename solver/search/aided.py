"""Live search that is aided by proofs at hand, where it would not come to its end in time."""

from functools import cached_property
from math import inf
from time import monotonic
from typing import TYPE_CHECKING

from solver.games.board import cells_of
from solver.search.live import Search
from solver.source import Look, settled

if TYPE_CHECKING:
    from solver.certificates.at_hand import AtHand

_ALONE = 0.1
"""For which share of the time it searches before it asks for proofs."""


class AidedSearch(Search):
    """A source of scores (solver/source.py) that searches, and is told what is proved without a search."""

    def look(self, x: int, o: int, deadline: float, nodes: float = inf) -> Look:
        """Return what is known of a position by the deadline, and within so many nodes."""
        look = super().look(x, o, deadline - (1 - _ALONE) * max(0.0, deadline - monotonic()), nodes)
        if look.exact:
            return look
        draw = self._at_hand.draw(x, o, deadline)
        if draw and self._at_hand.is_certain_of_all(draw):
            return settled([(cell, 0) for cell in cells_of(self.game.full & ~(x | o))], draw)
        if monotonic() < deadline:
            look = super().look(x, o, deadline, nodes)
        if look.exact or (look.score is not None and not look.bound):
            return look
        if draw:
            return look._replace(score=0, bound=False, reason=draw)
        won = self._at_hand.win(x, o)
        return won.look(self.game, x, o) if won else look

    @cached_property
    def _at_hand(self) -> "AtHand":
        """The proofs at hand."""
        from solver.certificates.at_hand import AtHand  # only now: most answers need no proof

        return AtHand(self.game)
