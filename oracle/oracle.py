"""The oracle: answers any question about any position of one game, from its store or by live search.

Win soonest, lose latest (or, where cells are counted, by the most and by the least): a move is best if no other has a
better score. Among equally good moves the oracle itself makes the one that leaves the smallest share of safe replies;
among those, the most promising one by the game's own measure (`promise`); and then the first on the canonical board. A
turned board gets the turned move. On boards too large to settle it proves what it can, and estimates the rest, unless
it has a store.
"""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from oracle.answers import Analysis, Move
from oracle.threats import threats_of
from solver.advice import build_command
from solver.engine.limits import NODES_A_SECOND
from solver.errors import BoardError, GameError, NotSettled, StoreDamaged, StoreError
from solver.folders import find_store, is_named, store_path
from solver.games.board import DEFAULT_GAME, Board, BoardGame, BoardPosition, require_solvable
from solver.games.board_text import as_position
from solver.games.notation import parse_game
from solver.games.position import Position
from solver.games.score import outcome_of
from solver.index.symmetry import STEPS, Symmetry, inverse
from solver.kernels.loading import is_patient
from solver.kinds import kind_of
from solver.source import Look, Looking
from solver.store.store import Store

if TYPE_CHECKING:
    import numpy as np

SECONDS = 2.0
"""How long a live search may take by default."""

_STEPS_A_SECOND = 100_000
"""How many steps the search for symmetries may take, for each second allowed: a quarter of the time, or less."""

_LONGEST = 1e6
"""For so many seconds a search may be told as a number of nodes."""

_KEPT = 1 << 16
"""For how many canonical boards lines and choices are remembered."""

Default = TypeVar("Default")


class SearchingLive(UserWarning):
    """There is no store, so answers take longer, and may not be certain."""


class Oracle:
    """Answers about the positions of one game; a context manager. Threads and forked processes may share it.

    A board is a `Position`, a text such as `X.../.O../..../....`, or a sequence of 1 for X, -1 for O and 0 for an
    empty cell, such as a numpy array. A board that no game reaches raises BoardError.
    """

    def __init__(
        self,
        game: BoardGame[Any] | str = DEFAULT_GAME,
        store: str | os.PathLike[str] | None = None,
        *,
        live: bool = False,
        seconds: float = SECONDS,
    ) -> None:
        """Open the game's store: the one named, else the one in a usual place. Without a store, search live.

        If the store is named, here or by TTT4_STORE, and is not there, StoreMissing is raised; if there is none in
        the usual places, Python warns once. With `live` no store is opened. A live search takes up to `seconds`
        for an answer. Without a store, what is not proved on a board too large to settle is an estimate, and nobody
        is warned: its store takes long to build, if there can be one.
        """
        self.game = parse_game(game) if isinstance(game, str) else game
        self.seconds = seconds
        self.path = find_store(self.game, store)
        if store:
            require_solvable(self.game)
        kind, solvable = kind_of(self.game), self.game.cells <= self.game.solvable_cells
        if not live and solvable and (is_named(store) or os.path.exists(self.path)):
            self._source, self._index = kind.scores(Store(self.path, self.game), seconds)
        else:
            if not live and self.game.cells <= self.game.settled_cells:
                warnings.warn(searching_live(self.game), SearchingLive, stacklevel=2)
            self._index = kind.index(self.game, _group(self.game, seconds))
            self._source = kind.search(self.game, self._index.group, seconds)
        self._looking = self._source if isinstance(self._source, Looking) else None
        self._lines: dict[tuple[int, int], tuple[int, ...]] = {}
        self._choices: dict[tuple[int, int], tuple[int, int]] = {}
        self._many: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
        self._cells = [
            (self.game.square_name(square), cell, *divmod(square, self.game.columns))
            for cell, square in enumerate(self.game.squares)
        ]
        self._move = lru_cache(_KEPT)(partial(_move, self.game, self._cells))  # moves recur from board to board

    def __enter__(self) -> "Oracle":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the store, if there is one; the oracle then answers no more questions."""
        self._source.close()
        self._many = None

    def load(self, deadline: float = 0.0) -> None:
        """Begin to load what the search of a large board takes, and wait for it until then."""
        if self._looking:
            self._looking.compiled(deadline)

    def forget(self) -> None:
        """Forget what the search of a large board has seen."""
        if self._looking:
            self._looking.forget()

    def __repr__(self) -> str:
        where = "by search" if self.source == "search" else f"{self.source} {self.path!r}"
        return f"<Oracle of {self.game.name}, {where}>"

    @property
    def source(self) -> str:
        """Where answers come from: `store`, `search`, or `book`, a store of the first moves, and search beyond."""
        return self._source.name

    @property
    def estimates(self) -> bool:
        """Whether the board is too large to settle and has no store: answers estimate where nothing is proved."""
        return self._looking is not None

    def knows(self, position: BoardPosition) -> bool:
        """Tell whether the store has every move of a position: a book has only the first ones of a game."""
        return self._source.knows(position.stones)

    def canonical(self, position: BoardPosition) -> tuple[int, int, Symmetry]:
        """Return the cells of the position that stands for all equal by symmetry, and a symmetry that gives it."""
        return self._index.canonical(position.x, position.o)

    @property
    def symmetries(self) -> tuple[Symmetry, ...]:
        """The permutations of the cells under which positions count as equal: the first is the identity."""
        return self._index.group

    def score(self, board: Board) -> int:
        """Return the score for the side to move; raise NotSettled if a live search had too little time for it."""
        if isinstance(board, BoardPosition) and board.game is self.game:
            return self._source.score(board)  # which checks it, at less cost
        return self._source.score(as_position(self.game, board))

    def get_score(self, board: Board, default: Default) -> int | Default:
        """Return the score for the side to move; `default` if no game reaches the board, or no score is known.

        A damaged store raises StoreDamaged all the same.
        """
        try:
            return self.score(board)
        except StoreDamaged:
            raise
        except (BoardError, GameError, NotSettled, StoreError):
            return default

    def scores(self, x: "np.ndarray", o: "np.ndarray") -> "np.ndarray":
        """Return the scores of many positions, as int8; raise BoardError if no game reaches one of them.

        `x` and `o` are arrays of each side's cells as masks, in which bit 0 is the first cell. From a store of a game
        of lines that takes a twentieth of the time that one by one takes, or less.
        """
        if self._many is None:
            from solver.arrays.lookup import scores_of_many  # only now: a query does without numpy

            self._many = scores_of_many(self.game, self._source)
        return self._many(x, o)

    def analysis(self, board: Board, seconds: float | None = None, *, steady: bool = False) -> Analysis:
        """Return all that is known of a position: its outcome, every move's, and how the game goes on.

        A live search takes up to `seconds`, by default the oracle's own. If it is to be `steady`, or the process is
        patient (solver/kernels/loading.py), a large board is searched for as many nodes as stand for these seconds.
        """
        position = as_position(self.game, board)
        over = position.score_if_over()
        if over is not None:
            return self._finished(position, over)
        seconds = self.seconds if seconds is None else seconds
        deadline = self._source.deadline() + seconds - self.seconds
        if self._looking and (steady or is_patient()):
            nodes = int(min(seconds, _LONGEST) * NODES_A_SECOND)
            look = self._looking.look(position.x, position.o, deadline, nodes)
        else:
            look = self._source.look(position.x, position.o, deadline)
        own, empty = look.score, self.game.cells - position.stones
        x, o, g = self._index.canonical(position.x, position.o)
        line = self._mainline(look, x, o, g, deadline)
        estimates = look.estimates if look.depth != 0 else {}  # a search that saw nothing has nothing to say
        moves = self._moves(look, empty, estimates)
        return Analysis(
            game=self.game.name,
            board=str(position),
            to_move=position.mover,
            over=False,
            winner=None,
            outcome=None if own is None else outcome_of(own),
            plies=self.game.plies_left(own or 0, empty),
            score=own,
            bound=look.bound,
            scale=self.game.scale,
            best=tuple([move.move for move in moves if move.best]),
            moves=tuple(moves),
            mainline=tuple([self._cells[cell][0] for cell in line]),
            mainline_complete=len(line) == (self.game.plies_left(own or 0, empty) or empty)
            if look.exact
            else self._ends(position, line),
            canonical=str(self.game.at(x, o)),
            source="store" if self._source.knows(position.stones) else "search",
            exact=look.exact,
            estimate=max(estimates.values(), default=None),
            depth=look.depth or None,
            nodes=look.nodes if look.depth else None,
            proof={**look.reason.as_dict(self.game), "text": look.reason.in_words(self.game)} if look.reason else None,
            threats=threats_of(position) if self._looking and isinstance(position, Position) else None,
        )

    def _moves(self, look: Look, empty: int, estimates: Mapping[int, float]) -> list[Move]:
        """Return the moves, best first: those that are not known to be as good as the position come after those."""
        if look.exact:
            best = look.score
            return [
                self._move(cell, score, empty, score == best)
                for cell, score in sorted(look.scores, key=itemgetter(1), reverse=True)
            ]
        ranked = sorted(look.scores, key=lambda move: (-_rank(move[1], look), -estimates.get(move[0], -1.0)))
        moves = [self._move(cell, score, empty, _is_best(score, look)) for cell, score in ranked]
        return [move._replace(estimate=estimates.get(move.cell)) for move in moves] if estimates else moves

    def _mainline(self, look: Look, x: int, o: int, g: Symmetry, deadline: float) -> Sequence[int]:
        """Return how the game goes on: as the look says, else by the first best move of each canonical board."""
        if look.line or look.reason or not look.exact or look.score is None:
            return look.line
        back = inverse(g)
        first = min([g[cell] for cell, score in look.scores if score == look.score])
        try:
            return [back[cell] for cell in self._line(x, o, look.score, first, deadline)]
        except NotSettled:
            return [back[first]]

    def _ends(self, position: BoardPosition, line: Sequence[int]) -> bool:
        """Tell whether moves lead to the end of the game."""
        for cell in line:
            position = position.play(cell)
        return position.over

    def best_move(self, board: Board) -> Move:
        """Return the move that the oracle makes: among the best moves, the one that leaves the fewest safe replies.

        If a live search has too little time, it is the most promising move; `best` says whether it is certain. On a
        board too large to settle it is the strongest move found, with its `estimate`, and certain if it ends the game.
        """
        position = as_position(self.game, board)
        if position.over:
            raise BoardError(f"board {str(position)!r} has no move: the game is over")
        if self._looking:
            look = self._looking.move(position.x, position.o, self._source.deadline())
            (cell, score), empty = look.scores[0], self.game.cells - position.stones
            over = position.play(cell).score_if_over()
            if over is not None:
                return self._move(cell, -over, empty, over < 0 or empty == 1)
            return self._move(cell, score, empty, _is_best(score, look))._replace(estimate=look.estimates.get(cell))
        x, o, g = self._index.canonical(position.x, position.o)
        cell, score, best = self._choice(x, o)
        return self._move(inverse(g)[cell], score, self.game.cells - position.stones, best)

    def _choice(self, x: int, o: int) -> tuple[int, int | None, bool]:
        """Return the cell that the oracle claims on a canonical board, its score, and whether it is certainly best.

        Choices that had all the time they needed are remembered.
        """
        choice = self._choices.get((x, o))
        if choice:
            return *choice, True
        deadline = self._source.deadline()
        look = self._source.look(x, o, deadline)
        score = max([score for _, score in look.scores], key=lambda score: _rank(score, look))
        cells = [cell for cell, other in look.scores if other == score]
        best, compared = _is_best(score, look), look.exact
        if compared and len(cells) > 1:
            try:
                cells.sort(key=lambda cell: self._temptation(x, o, cell, deadline, proved=look.reason is not None))
            except NotSettled:
                compared = False
        if compared and score is not None:
            if len(self._choices) >= _KEPT:
                self._choices.clear()
            self._choices[x, o] = cells[0], score
        return cells[0], score, best

    def _temptation(self, x: int, o: int, cell: int, deadline: float, *, proved: bool) -> tuple[float, int]:
        """Return a key that is smaller the likelier the opponent goes wrong: the share of safe replies, then hopes.

        Where a proof settles all moves at once, every reply is safe.
        """
        x_after, o_after, ended = self.game.after(x, o, cell)
        if ended:
            return 0.0, 0
        promise = self.game.promise(x_after, o_after, (x | o).bit_count() % 2)
        if proved:
            return 1.0, -promise
        look = self._source.look(x_after, o_after, deadline)
        if not look.exact or look.score is None:
            raise NotSettled(f"board {str(self.game.at(x, o))!r} takes too long")
        kept = outcome_of(look.score)
        safe = sum([score is not None and outcome_of(score) == kept for _, score in look.scores])
        return safe / len(look.scores), -promise

    def _line(self, x: int, o: int, score: int, first: int, deadline: float) -> tuple[int, ...]:
        """Return `first` on a canonical board, then the first best reply, and so on to the end of the game.

        Lines are remembered, because after some moves many of them run together.
        """
        made: list[tuple[tuple[int, int], int, Symmetry | None]] = []
        cell: int | None = first
        while (line := self._lines.get((x, o))) is None:
            board = x, o
            if cell is None:
                cell = self._source.first_best(x, o, score, deadline)
            x, o, ended = self.game.after(x, o, cell)
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

    def _finished(self, position: BoardPosition, score: int) -> Analysis:
        winner = position.winner
        x, o, _ = self._index.canonical(position.x, position.o)
        return Analysis(
            game=self.game.name,
            board=str(position),
            to_move=None,
            over=True,
            winner=winner,
            outcome=None,
            plies=self.game.plies_left(score, self.game.cells - position.stones),
            score=score,
            bound=False,
            scale=self.game.scale,
            best=(),
            moves=(),
            mainline=(),
            mainline_complete=True,
            canonical=str(self.game.at(x, o)),
            source="search" if self._source.name == "search" else "store",
            exact=True,
        )


def searching_live(game: BoardGame[Any]) -> str:
    """Return the warning that there is no store, with the command that builds it."""
    path = store_path(game)
    return f"No store at {path!r}: searching live. For answers at once: {build_command(game, path)}"


def _move(
    game: BoardGame[Any], cells: list[tuple[str, int, int, int]], cell: int, score: int | None, empty: int, best: bool
) -> Move:
    outcome = None if score is None else outcome_of(score)
    return Move(*cells[cell], outcome, game.plies_left(score or 0, empty), score, best)


def _is_best(score: int | None, look: Look) -> bool:
    """Tell whether a move with this score is certainly best: it is not if others may lose later."""
    return score is not None and score == look.score and (look.exact or not look.bound or score > 0)


def _rank(score: int | None, look: Look) -> int:
    """Return what a move's score counts in the order of moves: one that is not known, no more than the position's."""
    if score is not None:
        return score
    return 0 if look.score is None or look.bound else min(0, look.score - 1)


def _group(game: BoardGame[Any], seconds: float) -> tuple[Symmetry, ...]:
    """Return the symmetries under which a game is searched, as far as they are found in a fraction of the time.

    For a board too large to settle, that is only the identity.
    """
    if game.cells > game.settled_cells:
        return (tuple(range(game.cells)),)
    return kind_of(game).symmetries(game, min(STEPS, 1000 + int(_STEPS_A_SECOND * min(seconds, 60))))
