"""The oracle: any question about any position of one game, answered from its store or else by live search.

Win soonest, lose latest: a move is best if no other has a better score. Of equally best moves the
oracle itself makes the one after which the smallest share of the opponent's replies keep his outcome;
of those the one that leaves it most in the lines that it may still complete (in misère play, least), because
a line that is dead sets no traps; and of those the first on the canonical board. A turned board gets the turned move.
"""

import os
from contextlib import suppress
from functools import lru_cache
from types import TracebackType
from typing import TypeVar

from oracle.answers import Analysis, Move
from oracle.source import NotSettled, Source
from solver.errors import BoardError, GameError, StoreError
from solver.folders import named_store, store_path
from solver.games.lines import DEFAULT_GAME, SOLVABLE_CELLS, Game, require_solvable
from solver.games.notation import parse_game
from solver.games.position import Position, check, parse
from solver.games.score import outcome_of, plies_to_end
from solver.index.places import Index
from solver.index.symmetry import Symmetry, inverse, symmetries
from solver.store.scores import Scores
from solver.store.store import Store

SECONDS = 2.0
"""How long a live search may take, if nothing else is said."""

QUICK_CELLS = 16
"""Up to how many cells every position is settled live well within that, and a store built in seconds."""

_KEPT = 1 << 16
"""How many canonical boards' lines and choices are kept."""

Default = TypeVar("Default")


class Oracle:
    """Answers about the positions of one game; a context manager. Threads and forked processes may share it.

    A board is a `Position` or a text that `solver.games.position.parse` reads, such as `X.../.O../..../....`.
    One that no game reaches raises BoardError.
    """

    def __init__(
        self,
        game: Game | str = DEFAULT_GAME,
        store: str | os.PathLike[str] | None = None,
        *,
        live: bool = False,
        seconds: float = SECONDS,
    ) -> None:
        """Open the game's store: the one named, else the one in the usual place, else search live.

        A store that is named, here or by TTT4_STORE, and is not there raises StoreMissing. With `live`
        none is opened. A live search takes up to so many `seconds` an answer.
        """
        self.game = parse_game(game) if isinstance(game, str) else game
        self.seconds = seconds
        self.path = store_path(self.game, store)
        if store:
            require_solvable(self.game)
        solvable = self.game.cells <= SOLVABLE_CELLS
        if not live and solvable and (named_store(store) or os.path.exists(self.path)):
            scores = Scores(Store(self.path, self.game))
            self._source: Source = scores
            self._index = scores.index
        else:
            from oracle.search import Search  # only now: a store's answer does not wait for it

            self._index = Index(self.game, _group(self.game))
            self._source = Search(self.game, self._index.group, seconds)
        self._lines: dict[tuple[int, int], tuple[int, ...]] = {}
        self._choices: dict[tuple[int, int], tuple[int, int]] = {}
        self._cells = [
            (self.game.square_name(square), cell, *divmod(square, self.game.columns))
            for cell, square in enumerate(self.game.squares)
        ]

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store, if there is one; it then answers no more."""
        self._source.close()

    def __repr__(self) -> str:
        return f"<Oracle of {self.game.name}, {f'store {self.path!r}' if self.source == 'store' else 'by search'}>"

    @property
    def source(self) -> str:
        """Where answers come from: `store` or `search`."""
        return self._source.name

    def score(self, board: Position | str) -> int:
        """The score for the side to move; NotSettled if a live search could not make it certain in time."""
        if isinstance(board, str):
            board = parse(self.game, board)
        elif board.game is not self.game and board.game != self.game:
            raise self._foreign(board)
        return self._source.score(board)

    def get_score(self, board: Position | str, default: Default) -> int | Default:
        """The score for the side to move; `default` if the board is not one of the game's or cannot be scored."""
        try:
            return self.score(board)
        except (BoardError, GameError, NotSettled, StoreError):
            return default

    def analysis(self, board: Position | str) -> Analysis:
        """All that is known of a position: its outcome, every move's, and how the game goes on."""
        position = self._position(board)
        over = position.score_if_over()
        if over is not None:
            return self._finished(position, over)
        deadline = self._source.deadline()
        scores, exact = self._source.children(position.x, position.o, deadline)
        best = max([score for _, score in scores])
        empty = self.game.cells - position.stones
        moves = [_move(self._cells[cell], score, empty, score == best) for cell, score in scores]
        moves.sort(key=_score, reverse=True)
        x, o, g = self._index.canonical(position.x, position.o)
        line = [moves[0].move]
        if exact:
            first = min([g[cell] for cell, score in scores if score == best])
            back = inverse(g)
            with suppress(NotSettled):
                line = [self._cells[back[cell]][0] for cell in self._line(x, o, best, first, deadline)]
        elif not best:  # none is known to be best, but the first looks it
            moves[1:] = [move._replace(best=False) for move in moves[1:]]
        return Analysis(
            game=self.game.name,
            board=str(position),
            to_move=position.mover,
            over=False,
            winner=None,
            outcome=outcome_of(best),
            plies=plies_to_end(best, empty),
            score=best,
            best=tuple([move.move for move in moves if move.best]),
            moves=tuple(moves),
            mainline=tuple(line),
            canonical=str(Position(self.game, x, o)),
            source=self._source.name,
            exact=exact,
        )

    def best_move(self, board: Position | str) -> Move:
        """The move that the oracle makes: of the best ones, that which leaves the opponent most ways to go wrong."""
        position = self._position(board)
        if position.over:
            raise BoardError(f"board {str(position)!r} has no move: the game is over")
        x, o, g = self._index.canonical(position.x, position.o)
        cell, score = self._choice(x, o)
        return _move(self._cells[inverse(g)[cell]], score, self.game.cells - position.stones, True)

    def _position(self, board: Position | str) -> Position:
        if isinstance(board, str):
            return parse(self.game, board)
        if board.game is not self.game and board.game != self.game:
            raise self._foreign(board)
        return check(board)

    def _foreign(self, board: Position) -> GameError:
        return GameError(f"board {str(board)!r} is of game {board.game.name!r}, not of {self.game.name!r}")

    def _choice(self, x: int, o: int) -> tuple[int, int]:
        """The cell that the oracle claims on a canonical board, and its score. What is certain is kept."""
        choice = self._choices.get((x, o))
        if choice:
            return choice
        deadline = self._source.deadline()
        scores, certain = self._source.children(x, o, deadline)
        score = max(score for _, score in scores)
        best = [cell for cell, worth in scores if worth == score]
        if certain and len(best) > 1:
            try:
                best.sort(key=lambda cell: self._temptation(x, o, cell, deadline))
            except NotSettled:
                certain = False
        if certain:
            if len(self._choices) >= _KEPT:
                self._choices.clear()
            self._choices[x, o] = best[0], score
        return best[0], score

    def _temptation(self, x: int, o: int, cell: int, deadline: float) -> tuple[int, int]:
        """The less, the likelier the opponent goes wrong after a move: his safe replies, then what he leaves open.

        He has as many replies after any move, so that their number ranks their share. A line that he has no
        cell of counts four times more for each cell that it has of ours.
        """
        x_after, o_after, ended = self._claimed(x, o, cell)
        if ended:
            return 0, 0
        scores, exact = self._source.children(x_after, o_after, deadline)
        if not exact:
            raise NotSettled(f"board {str(Position(self.game, x, o))!r} takes too long")
        kept = outcome_of(max(score for _, score in scores))
        ours, his = (x_after, o_after) if x.bit_count() == o.bit_count() else (o_after, x_after)
        hopes = sum([4 ** (line & ours).bit_count() for line in self.game.lines if not line & his])
        return sum(outcome_of(score) == kept for _, score in scores), hopes if self.game.misere else -hopes

    def _line(self, x: int, o: int, score: int, first: int, deadline: float) -> tuple[int, ...]:
        """The cells of `first` on a canonical board, then of the first best reply, and so on to the end.

        Lines are kept, for after some moves many of them run together.
        """
        made: list[tuple[tuple[int, int], int, Symmetry | None]] = []
        cell: int | None = first
        while (line := self._lines.get((x, o))) is None:
            board = x, o
            if cell is None:
                cell = self._source.first_best(x, o, score, deadline)
            x, o, ended = self._claimed(x, o, cell)
            if ended:
                made.append((board, cell, None))
                line = ()
                break
            x, o, g = self._index.canonical(x, o)
            made.append((board, cell, inverse(g)))
            cell, score = None, -score
        if len(self._lines) >= _KEPT:
            self._lines.clear()
        for board, cell, back in reversed(made):
            line = (cell, *[back[following] for following in line]) if back else (cell,)
            self._lines[board] = line
        return line

    def _claimed(self, x: int, o: int, cell: int) -> tuple[int, int, bool]:
        """X's and O's cells after a move, and whether it ended the game."""
        if x.bit_count() == o.bit_count():
            own = x = x | 1 << cell
        else:
            own = o = o | 1 << cell
        return x, o, self.game.result(own, x | o, cell) is not None

    def _finished(self, position: Position, score: int) -> Analysis:
        winner = position.winner
        x, o, _ = self._index.canonical(position.x, position.o)
        return Analysis(
            game=self.game.name,
            board=str(position),
            to_move=None,
            over=True,
            winner=winner,
            outcome=None,
            plies=0 if winner else None,
            score=score,
            best=(),
            moves=(),
            mainline=(),
            canonical=str(Position(self.game, x, o)),
            source=self._source.name,
            exact=True,
        )


@lru_cache(1 << 14)
def _move(cell: tuple[str, int, int, int], score: int, empty: int, best: bool) -> Move:
    return Move(*cell, outcome_of(score), plies_to_end(score, empty), score, best)


def _score(move: Move) -> int:
    return move.score


def _group(game: Game) -> tuple[Symmetry, ...]:
    """The symmetries under which a game is searched; for a board too large to solve, that which moves nothing."""
    return symmetries(game) if game.cells <= SOLVABLE_CELLS else (tuple(range(game.cells)),)
