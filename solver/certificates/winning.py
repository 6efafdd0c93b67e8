"""Find a strategy by which a side wins, with a guide that finds winning moves but proves nothing.

The guide names a move for each position in which the winner is to move. After it, the loser's replies are looked at:

- the winner can complete lines in two cells: nothing more is needed;
- in one cell: the only reply to answer is that cell;
- in none: let the loser pass. The strategy that wins then wins after most replies, too. Those outside its zone
  (solver/certificates/strategy.py) need no look; the others are tried, and where it fails the guide is asked again.

In misère play the loser must not pass: every reply is answered by itself, until each one completes a line.

What is returned was put together from such parts, and is still to be checked as a whole.
"""

from collections.abc import Callable
from time import monotonic

from solver.certificates.refusals import CheckTooLong
from solver.certificates.strategy import MOST_STEPS, WAIT, Strategy, gaps, holds
from solver.games.board import cells_of
from solver.games.lines import Game

Guide = Callable[[int, int], int | None]
"""Returns the move that wins for the side with the first cells, which is to move; None if it finds none."""


class NotFound(Exception):
    """No strategy was found."""


def find_strategy(
    game: Game, own: int, their: int, guide: Guide, deadline: float, most_steps: int = MOST_STEPS
) -> Strategy | None:
    """Return a strategy that wins for the side of `own`, which is to move; None if none is found in time.

    To see which replies refute part of it, so many positions are looked at.
    """
    return _attempt(lambda: _Finder(game, guide, deadline, most_steps).won(own, their))


def find_answer(
    game: Game, own: int, their: int, guide: Guide, deadline: float, most_steps: int = MOST_STEPS
) -> Strategy | None:
    """Return a strategy that wins for the side of `own` although the other is to move; None if none is found."""
    return _attempt(lambda: _Finder(game, guide, deadline, most_steps).answered(WAIT, own, their))


def _attempt(find: Callable[[], Strategy]) -> Strategy | None:
    try:
        return find()
    except (NotFound, CheckTooLong, RecursionError):  # so long a strategy could not be checked either
        return None


class _Finder:
    def __init__(self, game: Game, guide: Guide, deadline: float, most_steps: int) -> None:
        self.game, self.guide, self.deadline, self.most_steps = game, guide, deadline, most_steps
        self.known: dict[tuple[int, int], Strategy] = {}

    def won(self, own: int, their: int) -> Strategy:
        """Return how the winner wins, who is to move."""
        found = self.known.get((own, their))
        if found is None:
            if monotonic() > self.deadline or own | their == self.game.full:
                raise NotFound
            move = self.guide(own, their)
            if move is None:
                raise NotFound
            found = self.known[own, their] = self.answered(move, own | 1 << move, their)
        return found

    def answered(self, move: int, own: int, their: int) -> Strategy:
        """Return a move of the winner's, which has been made, with what follows each reply."""
        if self.game.misere:
            return Strategy(move, {reply: self.won(own, their | 1 << reply) for reply in self._safe(own, their)})
        if move != WAIT and self.game.completes(own, move):
            return Strategy(move)
        wins = gaps(self.game, own, their)
        if wins & (wins - 1):
            return Strategy(move)
        if wins:
            reply = wins.bit_length() - 1
            return Strategy(move, {reply: self.won(own, their | wins)})
        passed = self.won(own, their)
        todo = holds(self.game, own, their, passed, most_steps=self.most_steps)
        return Strategy(move, {reply: self.won(own, their | 1 << reply) for reply in cells_of(todo)}, passed)

    def _safe(self, own: int, their: int) -> list[int]:
        """Return the replies that do not complete a line of the loser's, which in misère play ends the game."""
        free = cells_of(self.game.full & ~(own | their))
        return [reply for reply in free if not self.game.completes(their | 1 << reply, reply)]
