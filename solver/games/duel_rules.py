"""The rules of Infinity Grid Duel for a match: solver/games/duel.py has the rules themselves."""

from dataclasses import dataclass

from solver.games.board_rules import BoardRules, BoardState
from solver.games.duel import Duel, DuelPosition
from solver.games.rules import Outcome

DuelState = BoardState[DuelPosition]


@dataclass(frozen=True)
class DuelRules(BoardRules[DuelPosition]):
    """The duel on one board, between R and G."""

    game: Duel

    def refusal(self, state: DuelState, move: int) -> str | None:
        """Return why a cell cannot be filled; None if it can."""
        refusal = super().refusal(state, move)
        if refusal is None and not state.position.allows(move):
            refusal = state.position.refusal(move)
        return refusal

    def play(self, state: DuelState, move: int) -> DuelState:
        """Return the state after the side to move fills an empty cell and turns the other side's tiles beside it."""
        before = state.position
        their = before.x if before.stones % 2 else before.o
        x, o, over = self.game.after(before.x, before.o, move)
        position = DuelPosition(self.game, x, o)
        captured = (their & self.game.neighbours[move]).bit_count()
        return BoardState(position, self.ended(position) if over else None, move, captured)

    def ended(self, position: DuelPosition) -> Outcome:
        """Return how a full board is counted."""
        red, green = position.x.bit_count(), position.o.bit_count()
        return Outcome(position.winner, f"{max(red, green)} tiles to {min(red, green)}")
