"""A proof of a game of lines that hands over every page it fills, and not only those that a store has."""

from typing import Any

from solver.proof.prove import LineProof
from solver.sweep.layers import Filled


class WholeProof(LineProof[Any]):
    """Calls `use` with both pages of open halves."""

    def stored(self, filled: Filled) -> Any:
        return filled
