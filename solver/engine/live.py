"""Live search of boards too large to solve: a good move, and the truth where a proof is at hand.

What it says is certain in three cases only: plain Python soon finds every score; a certificate shows that nobody can
win; or the engine sees a win, and the strategy that was made of it has passed a check that shares no code with the
engine. All else is an estimate. A strategy is kept, so that its next moves need no search.
"""

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from solver.certificates.draws import DEAD, PAIRING, Certificate, check_draw, draw_certificate
from solver.certificates.refusals import CheckTooLong, Refuted
from solver.certificates.strategy import WAIT, Strategy, check_strategy, longest_line
from solver.certificates.winning import find_answer, find_strategy
from solver.engine import takes
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.position import Position
from solver.kernels.loading import Loader
from solver.search.live import Search
from solver.source import Look
from solver.text import plies_in_words

if TYPE_CHECKING:
    from solver.engine.engine import Engine, Thought

_KEPT = 64
"""How many strategies are kept."""

_SETTLE_MOST = 0.5
"""How many seconds plain Python searches at most: what it has not settled by then is too deep for it."""

_NODES = 200_000
"""How many nodes the engine may take for one move of a strategy."""

_DRAW, _SETTLE, _THINK, _PROVE = 0.1, 0.2, 0.6, 0.85
"""By which share of the time the searches for a certificate, in plain Python, for a move and a strategy have ended."""

_STEPS = 20_000
"""How many positions the check of a strategy may look at, which takes a fraction of a second."""

_MARGIN = 0.01
"""How many seconds before the deadline the search ends."""

_MOVES = 5
"""How many moves have an estimate."""

_LESS = 3
"""How many plies less the other moves are looked into than the best one."""


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


class LiveEngine(Loader):
    """A source of scores (solver/source.py) that estimates what it cannot prove. Threads may share it."""

    name = "search"
    kernel = "engine/kernels.search"
    module = "solver.engine.engine"

    def __init__(self, game: Game, seconds: float) -> None:
        """Search `game` for up to `seconds` an answer."""
        super().__init__(may_compile=takes(game))
        self.game = game
        self.seconds = seconds
        self._plain = Search(game, (tuple(range(game.cells)),), seconds)
        self._strategies: dict[int, tuple[int, Strategy]] = {}

    def make(self) -> "Engine":
        """Return the engine."""
        from solver.engine.engine import Engine  # only now: it takes compiled code

        return Engine(self.game)

    def score(self, position: Position) -> int:
        """Return the score for the side to move; raise NotSettled if it is not certain in time."""
        return self._plain.score(position)

    def knows(self, stones: int) -> bool:
        """Return False: every position is searched."""
        return False

    def deadline(self) -> float:
        """Return the time by which an answer that starts now must be given."""
        return monotonic() + self.seconds

    def children(self, x: int, o: int, deadline: float) -> tuple[list[tuple[int, int]], bool]:
        """Return what is certain of each move by the deadline."""
        look = self.look(x, o, deadline)
        return look.scores, look.exact

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's score, which is known; raise NotSettled if time is short."""
        return self._plain.first_best(x, o, score, deadline)

    def close(self) -> None:
        """Do nothing: a search holds no file."""

    def look(self, x: int, o: int, deadline: float) -> Look:
        """Return what is seen of an open position by the deadline."""
        start = monotonic()
        span = max(0.0, deadline - _MARGIN - start)
        draw = self._draw(x, o, start + _DRAW * span)
        if draw and _certain_of_all(draw):
            free = cells_of(self.game.full & ~(x | o))
            return Look([(cell, 0) for cell in free], True, 0, draw)
        settled = None if draw else self._settled(x, o, start + min(_SETTLE * span, _SETTLE_MOST))
        if settled:
            return settled
        engine = self.compiled(start + _THINK * span)
        if engine is None:
            scores, exact = self._plain.children(x, o, deadline)
            return self._with_draw(scores, exact, draw)
        with self._searching:
            return self._look(engine, x, o, draw, start, span)

    def move(self, x: int, o: int, deadline: float) -> Look:
        """Return a look that has only the move which it would make."""
        own, their = self._sides(x, o)
        engine = self.compiled(deadline - _MARGIN)
        if engine is None:
            scores, _ = self._plain.children(x, o, deadline)
            return Look([max(scores, key=_score)], False)
        with self._searching:
            won = self._won_already(x, o)
            if won:
                return won
            thought = engine.think(own, their, seconds=max(0.0, deadline - _MARGIN - monotonic()))
            return Look([(thought.cell, 0)], False, estimates={thought.cell: thought.share})

    def _draw(self, x: int, o: int, deadline: float) -> Certificate | None:
        """Return why the position is a draw, if a reason is found that passes the check."""
        found = draw_certificate(self.game, x, o, deadline)
        if found:
            try:
                check_draw(self.game, x, o, found)
            except Refuted:
                return None
        return found

    def _settled(self, x: int, o: int, deadline: float) -> Look | None:
        """Return the score of every move, if plain Python finds them all in a short time."""
        scores, exact = self._plain.children(x, o, deadline)
        return Look(sorted(scores, key=_score, reverse=True), True) if exact else None

    def _look(self, engine: "Engine", x: int, o: int, draw: Certificate | None, start: float, span: float) -> Look:
        """Return what the engine sees, with a proof of what it believes if one is found."""
        own, their = self._sides(x, o)
        won = self._won_already(x, o)
        if won:
            return won
        thought = engine.think(own, their, seconds=max(0.0, start + _THINK * span - monotonic()))
        win, strategy = self._proved(engine, thought, x, o, start + _PROVE * span)
        if win and strategy and thought.win > 0:
            return self._won(win, strategy.move, x, o)
        seconds = max(0.0, start + span - monotonic())
        depth = max(1, thought.depth - _LESS)
        values = [] if draw or win else engine.values(own, their, depth=depth, most=_MOVES, seconds=seconds)
        return self._seen(thought, values, win, draw, x, o)

    def _won_already(self, x: int, o: int) -> Look | None:
        """Return what is seen where a strategy that was found before wins."""
        own, their = self._sides(x, o)
        kept = self._kept(own, their)
        win = kept and self._checked(Position(self.game, x, o).mover, x, o, own, their, kept)
        return self._won(win, kept.move, x, o) if win and kept else None

    def _seen(
        self, thought: "Thought", values: list[tuple[int, int]], win: "Win | None", draw: Certificate | None, x: int,
        o: int,
    ) -> Look:  # fmt: skip
        """Return what is seen where the side to move has no win that was proved."""
        from solver.engine.engine import share_of

        left = self.game.cells - (x | o).bit_count()
        score = win.plies - left - 1 if win else 0
        cells = [thought.cell, *[cell for cell, _ in values if cell != thought.cell]]
        cells += [cell for cell in cells_of(self.game.full & ~(x | o)) if cell not in cells]
        estimates = {} if win or draw else {cell: share_of(value) for cell, value in values} | {
            thought.cell: max([thought.share, *[share_of(value) for cell, value in values if cell != thought.cell]])
        }  # fmt: skip
        return Look(
            [(cell, score) for cell in cells],
            exact=False,
            outcome=-1 if win else 0 if draw else None,
            reason=win or draw,
            estimates=estimates,
            line=win.line if win else () if draw else thought.line,
            depth=thought.depth,
            nodes=thought.nodes,
        )

    def _won(self, win: Win, move: int, x: int, o: int) -> Look:
        """Return what is seen where the side to move wins by a strategy."""
        left = self.game.cells - (x | o).bit_count()
        others = [(cell, 0) for cell in cells_of(self.game.full & ~(x | o)) if cell != move]
        return Look([(move, left + 1 - win.plies), *others], False, 1, win, line=win.line)

    def _proved(
        self, engine: "Engine", thought: "Thought", x: int, o: int, deadline: float
    ) -> tuple[Win | None, Strategy | None]:
        """Return the win that the engine believes in, of either side, and its strategy if that passes the check."""
        own, their = self._sides(x, o)
        mover = Position(self.game, x, o).mover

        def guide(mine: int, theirs: int) -> int | None:
            seconds = max(0.0, deadline - monotonic())
            found = engine.think(mine, theirs, nodes=_NODES, seconds=seconds)
            return found.cell if found.win > 0 else None

        if thought.win > 0:
            strategy = find_strategy(self.game, own, their, guide, deadline, _STEPS)
            winner = mover
        elif thought.win < 0:
            strategy = find_answer(self.game, their, own, guide, deadline, _STEPS)
            winner, own, their = "XO"[mover == "X"], their, own
        else:
            return None, None
        win = strategy and self._checked(winner, x, o, own, their, strategy)
        return (win, strategy) if win else (None, None)

    def _checked(self, winner: str, x: int, o: int, own: int, their: int, strategy: Strategy) -> Win | None:
        """Return the win of a strategy that passes the check, which is kept then; None if it does not."""
        try:
            plies = check_strategy(self.game, x, o, strategy, most_steps=_STEPS)
        except (Refuted, CheckTooLong):
            return None
        self._keep(own, their, strategy)
        return Win(winner, plies, longest_line(self.game, own, their, strategy))

    def _keep(self, own: int, their: int, strategy: Strategy) -> None:
        """Keep a strategy for the positions after its first move and any reply."""
        if len(self._strategies) >= _KEPT:
            self._strategies.clear()
        after = own if strategy.move == WAIT else own | 1 << strategy.move
        self._strategies[after] = their, strategy

    def _kept(self, own: int, their: int) -> Strategy | None:
        """Return the strategy for a position that was reached from one in which a strategy was found."""
        before, strategy = self._strategies.get(own, (0, None))
        reply = their & ~before
        if strategy is None or before & ~their or not reply or reply & (reply - 1):
            return None
        return strategy.replies.get(reply.bit_length() - 1, strategy.other)

    def _with_draw(self, scores: list[tuple[int, int]], exact: bool, draw: Certificate | None) -> Look:
        """Return what plain Python sees, and a certificate if there is one."""
        best = max(score for _, score in scores)
        outcome = 0 if draw else 1 if best > 0 else None
        return Look(sorted(scores, key=_score, reverse=True), exact, outcome, draw)

    @staticmethod
    def _sides(x: int, o: int) -> tuple[int, int]:
        """Return the cells of the side to move, and those of the other."""
        return (x, o) if x.bit_count() == o.bit_count() else (o, x)

    def forget(self) -> None:
        """Forget what was seen, so that what follows is as in a new search."""
        with self._searching:
            self._strategies.clear()
            if self._compiled:
                self._compiled.forget()


def _certain_of_all(draw: Certificate) -> bool:
    """Tell whether every move keeps a draw: pairs and dead lines stop both sides whatever is played first."""
    return all(stop.first is None and stop.kind in (DEAD, PAIRING) for stop in (draw.x, draw.o))


def _score(move: tuple[int, int]) -> int:
    return move[1]
