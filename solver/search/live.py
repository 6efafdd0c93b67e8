"""Live search: answers where there is no store. It is plain Python, so a fresh process answers quickly.

The search deepens iteratively: 2 plies, then 4, 8, 16 and so on, until every move is settled or time runs out. A
search to depth d returns a position's score if the game ends within d plies under best play, else 0. So a score
other than 0 is exact as soon as it lies within the depth, and a score of 0 once the depth reaches the end of the
game.

`_visit` is alpha-beta. It returns the score for the side to move if that lies between alpha and beta; a result of
alpha or less is an upper bound, and a result of beta or more is a lower bound. It keeps the cells that would
complete a line of either side up to date: a move changes them only on the lines through its cell. Positions are
remembered in canonical form, from one depth to the next and from one question to the next.
solver/search/alphabeta.py uses the same ideas and shares no code with this file.
"""

from collections.abc import Iterable, Sequence
from time import monotonic

from solver.errors import NotSettled
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.position import Position, check
from solver.index.symmetry import Images, Symmetry
from solver.source import Look, settled

_INFINITE = 1 << 30
_EXACT, _AT_LEAST, _AT_MOST = 0, 1, -1
_PROVED = -1
"""Stands for the depth of an entry that holds at every depth."""

_KEPT = 1_000_000
"""How many positions are remembered, at most: about 150 MB."""

_NODES_A_LOOK_AT_THE_CLOCK = 256


class Search:
    """A source of scores (solver/source.py) that searches, and remembers what it has proved. Threads may share it."""

    name = "search"

    def __init__(self, game: Game, group: Sequence[Symmetry], seconds: float) -> None:
        """Search `game` for up to `seconds` an answer, treating images under `group` as equal."""
        self.game = game
        self.seconds = seconds
        through = game.lines_through
        crossed = [0] * game.cells
        for line in game.lines:
            cells = list(cells_of(line))
            crossings = sum(len(through[cell]) for cell in cells)
            for cell in cells:
                crossed[cell] += crossings
        busiest_first = sorted(range(game.cells), key=lambda cell: (len(through[cell]), crossed[cell]), reverse=True)
        self.order = [(1 << cell, through[cell]) for cell in busiest_first]
        self.rank = {cell: rank for rank, cell in enumerate(busiest_first)}
        both = [(*g, *(game.cells + cell for cell in g)) for g in group]
        self.images = Images(both) if len(both) > 1 else None
        self.known: dict[int, tuple[int, int, int]] = {}

    def score(self, position: Position) -> int:
        """Return the score for the side to move; raise NotSettled if it is not certain in time."""
        over = check(position).score_if_over()
        if over is not None:
            return over
        look = self.look(position.x, position.o, self.deadline())
        if look.score is None or look.bound:
            raise self._not_settled(position.x, position.o)
        return look.score

    def knows(self, stones: int) -> bool:
        """Return False: every position is searched."""
        return False

    def deadline(self) -> float:
        """Return the time by which an answer that starts now must be given."""
        return monotonic() + self.seconds

    def look(self, x: int, o: int, deadline: float) -> Look:
        """Return what is known of a position by the deadline."""
        run = _Run(self, x, o, deadline)
        found = dict[int, int]()
        cells = list(cells_of(self.game.full & ~(x | o)))
        try:
            run.settle(found)
            return settled([(cell, found[cell]) for cell in cells])
        except _TimeUp:
            cells.sort(key=lambda cell: (-found.get(cell, 0), -run.promise(cell), self.rank[cell]))
            best = max([0, *found.values()])
            bound = best > 0 and run.left + 1 - best > run.depth + 1
            return Look([(cell, found.get(cell)) for cell in cells], False, best or None, bound)

    def first_best(self, x: int, o: int, score: int, deadline: float) -> int:
        """Return the first cell that keeps the position's score, which is known; raise NotSettled if time is short."""
        run = _Run(self, x, o, deadline)
        depth = run.left + 1 - abs(score) if score else run.left
        try:
            cells = cells_of(self.game.full & ~(x | o))
            return next(cell for cell in cells if run.claim(cell, score - 1, score, depth) >= score)
        except _TimeUp:
            raise self._not_settled(x, o) from None

    def close(self) -> None:
        """Do nothing: a search holds no file."""

    def _not_settled(self, x: int, o: int) -> NotSettled:
        board = str(Position(self.game, x, o))
        return NotSettled(f"board {board!r} was not settled in {self.seconds:g} s")


class _TimeUp(Exception):
    """The time for an answer has run out."""


class _Run:
    """One search from one position, with its own deadline."""

    def __init__(self, search: Search, x: int, o: int, deadline: float) -> None:
        game = self.game = search.game
        self.order, self.images, self.known = search.order, search.images, search.known
        self.deadline, self.nodes = deadline, 0
        self.depth = 0
        """How deep every move has been searched: no other win than those that were found ends within so many plies."""
        self.left = game.cells - (x | o).bit_count()
        self.own, self.their = (x, o) if x.bit_count() == o.bit_count() else (o, x)
        self.win = _gaps(game.lines, self.own, self.their)
        self.lose = _gaps(game.lines, self.their, self.own)

    def settle(self, scores: dict[int, int]) -> None:
        """Fill in each move's exact score, searching deeper until all are known; _TimeUp leaves the others out."""
        for cell in cells_of(self.win):  # before time can run out
            scores[cell] = self.claim(cell, -_INFINITE, _INFINITE, 1)
        free = self.game.full & ~(self.own | self.their | self.win)
        cells = [bit.bit_length() - 1 for bit, _ in self.order if bit & free]
        depth = 2
        while cells:
            for cell in cells:
                score = self.claimed(cell, depth)
                if depth >= self.left or self.left + 1 - abs(score) <= depth:
                    scores[cell] = score
            self.depth = depth
            cells = [cell for cell in cells if cell not in scores]
            depth *= 2

    def claimed(self, cell: int, depth: int) -> int:
        """Return the score for the side that claims a cell. Narrow searches come first: most moves decide nothing."""
        if self.claim(cell, -1, 0, depth) < 0:
            return self.claim(cell, -_INFINITE, 0, depth)
        if self.claim(cell, 0, 1, depth) > 0:
            return self.claim(cell, 0, _INFINITE, depth)
        return 0

    def claim(self, cell: int, alpha: int, beta: int, depth: int) -> int:
        """Return the score, as `_visit` does, for the side that claims a cell in the position asked about."""
        bit = 1 << cell
        if self.win & bit:
            return -self.left if self.game.misere else self.left
        mine = self.own | bit
        gaps = self.win | _gaps(self.game.lines_through[cell], mine, self.their)
        return -self._visit(self.their, mine, self.lose & ~bit, gaps, -beta, -alpha, depth - 1, self.left - 1)

    def promise(self, cell: int) -> int:
        """Return how promising a cell is: how many lines it extends, or takes from the opponent."""
        worth = 0
        for line in self.game.lines_through[cell]:
            for one, other in ((self.own, self.their), (self.their, self.own)):
                if not line & other:
                    worth += 4 ** (line & one).bit_count()
        return worth

    def _visit(self, own: int, their: int, win: int, lose: int, alpha: int, beta: int, depth: int, left: int) -> int:
        """Return the score for the side of `own`, which is to move, with `left` cells empty.

        `win` and `lose` are the cells that complete a line of `own` and of `their`.
        """
        self.nodes += 1
        if self.nodes % _NODES_A_LOOK_AT_THE_CLOCK == 0:
            if monotonic() > self.deadline:
                raise _TimeUp
            if len(self.known) > _KEPT:
                self.known.clear()
        game = self.game
        moves = game.full & ~(own | their)
        # Decide what needs no search, and bound the rest by the soonest win and loss that are still possible.
        if game.misere:
            moves &= ~win
            if not moves:
                return -left if left and depth else 0
            soonest_win, against_win, soonest_loss, against_loss = 2, own, 3, their
        else:
            if win:
                return left if depth else 0
            if lose & (lose - 1):
                return 1 - left if depth > 1 else 0
            moves = lose or moves
            soonest_win, against_win, soonest_loss, against_loss = 3, their, 4, own
        upper = left + 1 - soonest_win if soonest_win <= depth and _open(game.lines, against_win) else 0
        lower = soonest_loss - left - 1 if soonest_loss <= depth and _open(game.lines, against_loss) else 0
        if upper <= alpha or upper <= lower:
            return upper
        if lower >= beta:
            return lower
        alpha, beta = max(alpha, lower), min(beta, upper)

        key = own << game.cells | their
        if self.images:
            key = min(self.images.of(key))
        score, bound, known_depth = self.known.get(key, (0, _EXACT, -2))
        if known_depth in (depth, _PROVED) and (
            bound == _EXACT or (bound == _AT_LEAST and score >= beta) or (bound == _AT_MOST and score <= alpha)
        ):
            return score

        best, floor = -_INFINITE, alpha
        for bit, lines in self.order:
            if moves & bit:
                mine = own | bit
                gaps = win | _gaps(lines, mine, their)
                best = max(best, -self._visit(their, mine, lose & ~bit, gaps, -beta, -floor, depth - 1, left - 1))
                floor = max(floor, best)
                if floor >= beta:
                    break
        bound = _AT_LEAST if best >= beta else _AT_MOST if best <= alpha else _EXACT
        self.known[key] = _lasting(best, bound, depth, left)
        return best


def _gaps(lines: Iterable[int], own: int, their: int) -> int:
    """Return the cells that complete one of the lines for the side of `own`."""
    found = 0
    for line in lines:
        if not line & their:
            gap = line & ~own
            if not gap & (gap - 1):
                found |= gap
    return found


def _open(lines: Iterable[int], their: int) -> bool:
    """Tell whether some line has none of the cells of `their`, so that the other side may still complete it."""
    for line in lines:  # noqa: SIM110 - any() would take twice as long
        if not line & their:
            return True
    return False


def _lasting(score: int, bound: int, depth: int, left: int) -> tuple[int, int, int]:
    """Return the entry to remember for a search to this depth; mark it as proved if every depth would give the same."""
    if depth >= left:
        return score, bound, _PROVED
    if bound == _EXACT and score and left + 1 - abs(score) > depth:
        bound = _AT_LEAST if score > 0 else _AT_MOST  # a sooner end may lie between
    proved = (score > 0 and bound != _AT_MOST) or (score < 0 and bound != _AT_LEAST)
    return score, bound, _PROVED if proved else depth
