"""Live search of boards too large to solve: a good move, and the truth where a proof is at hand.

What it says is certain in three cases only: plain Python soon finds every score; a proof is at hand
(solver/certificates/at_hand.py); or the engine sees a win, and the strategy that was made of it has passed a check that
shares no code with the engine. All else is an estimate. A strategy is kept, so that its next moves need no search.
"""

from time import monotonic
from typing import TYPE_CHECKING

from solver.certificates.at_hand import AtHand, Win, Won
from solver.certificates.refusals import CheckTooLong, Refuted
from solver.certificates.strategy import WAIT, Strategy, check_strategy, longest_line
from solver.certificates.winning import find_answer, find_strategy
from solver.engine import takes
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.position import Position, check
from solver.kernels.loading import Loader
from solver.search.live import Search
from solver.source import Look, Reason, settled

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
        self._at_hand = AtHand(game)
        self._strategies: dict[int, tuple[int, Strategy]] = {}

    def make(self) -> "Engine":
        """Return the engine."""
        from solver.engine.engine import Engine  # only now: it takes compiled code

        return Engine(self.game)

    def score(self, position: Position) -> int:
        """Return the score for the side to move; raise NotSettled if it is not certain in time."""
        over = check(position).score_if_over()
        if over is None and self._at_hand.draw(position.x, position.o, monotonic() + _DRAW * self.seconds):
            return 0
        return self._plain.score(position)

    def knows(self, stones: int) -> bool:
        """Return False: every position is searched."""
        return False

    def deadline(self) -> float:
        """Return the time by which an answer that starts now must be given."""
        return monotonic() + self.seconds

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's score, which is known; raise NotSettled if time is short."""
        return self._plain.first_best(x, o, score, deadline)

    def close(self) -> None:
        """Do nothing: a search holds no file."""

    def look(self, x: int, o: int, deadline: float) -> Look:
        """Return what is seen of an open position by the deadline."""
        start = monotonic()
        span = max(0.0, deadline - _MARGIN - start)
        draw = self._at_hand.draw(x, o, start + _DRAW * span)
        if draw and self._at_hand.is_certain_of_all(draw):
            return settled([(cell, 0) for cell in cells_of(self.game.full & ~(x | o))], draw)
        if draw is None:
            look = self._settled(x, o, start + min(_SETTLE * span, _SETTLE_MOST)) or self._decided(x, o)
            if look:
                return look
        engine = self.compiled(start + _THINK * span)
        if engine is None:
            look = _best_first(self._plain.look(x, o, deadline))
            return look if look.exact or draw is None else look._replace(score=0, bound=False, reason=draw)
        with self._searching:
            return self._look(engine, x, o, draw, start, span)

    def move(self, x: int, o: int, deadline: float) -> Look:
        """Return a look that has only the move which it would make."""
        own, their = self._sides(x, o)
        engine = self.compiled(deadline - _MARGIN)
        if engine is None:
            return Look([max(self._plain.look(x, o, deadline).scores, key=_score)], False)
        look = self._decided(x, o)
        if look and look.score and look.score > 0:
            return look
        with self._searching:
            thought = engine.think(own, their, seconds=max(0.0, deadline - _MARGIN - monotonic()))
            return Look([(thought.cell, None)], False, estimates={thought.cell: thought.share})

    def _settled(self, x: int, o: int, deadline: float) -> Look | None:
        """Return the score of every move, if plain Python finds them all in a short time."""
        look = self._plain.look(x, o, deadline)
        return _best_first(look) if look.exact else None

    def _look(self, engine: "Engine", x: int, o: int, draw: Reason | None, start: float, span: float) -> Look:
        """Return what the engine sees, with a proof of what it believes if one is found."""
        own, their = self._sides(x, o)
        thought = engine.think(own, their, seconds=max(0.0, start + _THINK * span - monotonic()))
        win, strategy = self._proved(engine, thought, x, o, start + _PROVE * span)
        if win and strategy and thought.win > 0:
            return Won(win, win, strategy.move).look(self.game, x, o)
        seconds = max(0.0, start + span - monotonic())
        depth = max(1, thought.depth - _LESS)
        values = [] if draw or win else engine.values(own, their, depth=depth, most=_MOVES, seconds=seconds)
        return self._seen(thought, values, win, draw, x, o)

    def _decided(self, x: int, o: int) -> Look | None:
        """Return what is seen where a strategy wins that was found before, or is in a file."""
        own, their = self._sides(x, o)
        with self._searching:
            kept = self._kept(own, their)
            win = kept and self._checked(Position(self.game, x, o).mover, x, o, own, their, kept)
        won = Won(win, win, kept.move) if win and kept else self._at_hand.win(x, o)
        return won.look(self.game, x, o) if won else None

    def _seen(
        self, thought: "Thought", values: list[tuple[int, int]], win: Win | None, draw: Reason | None, x: int, o: int
    ) -> Look:
        """Return what is seen where the side to move has no win that was proved."""
        from solver.engine.engine import share_of

        score = win.plies - (self.game.cells - (x | o).bit_count()) - 1 if win else None
        cells = [thought.cell, *[cell for cell, _ in values if cell != thought.cell]]
        cells += [cell for cell in cells_of(self.game.full & ~(x | o)) if cell not in cells]
        estimates = {} if win or draw else {cell: share_of(value) for cell, value in values} | {
            thought.cell: max([thought.share, *[share_of(value) for cell, value in values if cell != thought.cell]])
        }  # fmt: skip
        return Look(
            [(cell, score) for cell in cells],
            exact=False,
            score=0 if draw else score,
            bound=win is not None,
            reason=win or draw,
            estimates=estimates,
            line=win.line if win else () if draw else thought.line,
            depth=thought.depth,
            nodes=thought.nodes,
        )

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


def _best_first(look: Look) -> Look:
    return look._replace(scores=sorted(look.scores, key=_score, reverse=True))


def _score(move: tuple[int, int | None]) -> int:
    return move[1] or 0
