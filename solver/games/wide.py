"""Wide boards: k in a row on up to a million cells, where a state costs its stones and nothing is listed by cell.

All states of one line of play share its stones, in the order of the moves:

    cells  [500500, 500501, 501500]      and for each cell its number: {500500: 0, 500501: 1, 501500: 2}
    state of 2 stones: sees those numbered 0 and 1

A state sees the stones with numbers below its own count, so a later move appends one and changes no earlier state.
Playing from a state that has been played on already repeats the stone that follows, or else begins a branch, which
refers to the stones before it. So reading any state takes no longer than reading the newest, and threads may do so.

The stone numbered n is of side n % SIDES. A win is looked for along the four directions from the last stone, in at most
k steps each.
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, overload

from solver.errors import BoardError
from solver.games.board import column_name, column_number
from solver.games.cell_rules import CellRules
from solver.games.line_rules import EitherBegins
from solver.games.lines import size_name
from solver.games.rules import Outcome
from solver.text import shown

if TYPE_CHECKING:
    import random

    from solver.games.notation import Size

SIDES = 2

DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))
"""Across, down and both diagonals, as rows down and columns to the right."""

_TRIES = 1000
"""How often a cell is drawn that may be taken: if fewer than one in so many is empty, the empty ones are counted."""


class Stones:
    """The stones of a line of play, in order. It only grows, and may begin with the first stones of another one."""

    __slots__ = ("_base", "_cells", "_growing", "_numbers", "_start")

    def __init__(self, cells: list[int], base: "Stones | None" = None, start: int = 0) -> None:
        """Begin with the first `start` stones of `base`, and then some of its own."""
        self._base, self._start = base, start
        self._cells = cells
        self._numbers = {cell: number for number, cell in enumerate(cells, start)}
        self._growing = Lock()

    def number(self, cell: int) -> int | None:
        """Return the number of the stone in a cell; None if there is none."""
        number = self._numbers.get(cell)
        if number is None and self._base is not None:
            number = self._base.number(cell)
            return number if number is not None and number < self._start else None
        return number

    def first(self, count: int) -> list[int]:
        """Return the cells of the first few stones."""
        own = self._cells[: max(0, count - self._start)]
        return own if self._base is None else self._base.first(min(count, self._start)) + own

    def latest(self, count: int, most: int) -> list[int]:
        """Return the cells of the last of the first few stones, so many at most."""
        if count - most >= self._start:
            return self._cells[count - most - self._start : count - self._start]
        return self.first(count)[-most:]

    def then(self, count: int, cell: int) -> "Stones":
        """Return stones that begin with the first `count` of these, and then have `cell`."""
        own = count - self._start
        with self._growing:
            if len(self._cells) == own:
                self._numbers[cell] = count
                self._cells.append(cell)
                return self
            if self._cells[own] == cell:
                return self
        return self._branch(count, [cell])

    def _branch(self, count: int, cells: list[int]) -> "Stones":
        """Return stones that begin with the first `count` of these, and then have some others.

        Each begins with at least twice as many of its base's own stones as it has itself. So there are few bases below
        each other, and a stone is copied seldom, however often a move is taken back.
        """
        base: Stones | None = self
        while base is not None and count - base._start <= 2 * len(cells):
            cells = base._cells[: count - base._start] + cells
            count = base._start
            base = base._base
        return Stones(cells, base, count if base is not None else 0)


@dataclass(frozen=True)
class WideGame:
    """An m,n,k game on a wide board. Cells are numbered row by row from the top left; there are no holes."""

    rows: int
    columns: int
    k: int
    misere: bool = False

    marks = "XO"

    @cached_property
    def name(self) -> str:
        """The game's notation."""
        return size_name(self.rows, self.columns, self.k, misere=self.misere)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.rows * self.columns

    @property
    def middle(self) -> int:
        """The cell in the middle."""
        return self.rows // 2 * self.columns + self.columns // 2

    def place(self, cell: int) -> tuple[int, int]:
        """Return a cell's row and column, both counted from 0."""
        return divmod(cell, self.columns)

    def names_from(self, text: str) -> list[str]:
        """Return some of the names of cells that begin with a text: none if there is none, and one if there is one."""
        return [name for name in (text, f"{text}0", f"{text}1") if self._has(name)]

    def _has(self, name: str) -> bool:
        try:
            return self.cell(name) >= 0
        except BoardError:
            return False

    def cell_name(self, cell: int) -> str:
        """Return a cell's name: the letters of its column, then the number of its row from the top (`a1`)."""
        row, column = divmod(cell, self.columns)
        return f"{column_name(column)}{row + 1}"

    def cell_at(self, row: int, column: int) -> int | None:
        """Return the cell in a row and a column of the board, both counted from 0."""
        return row * self.columns + column

    def cell(self, name: str) -> int:
        """Return the cell with that name, in either case; raise BoardError if there is none."""
        asked = name.strip().lower()
        letters = asked.rstrip("0123456789")
        number = asked[len(letters) :]
        if letters.isascii() and letters.isalpha() and len(letters) < 4 and 0 < len(number) < 5:
            row, column = int(number) - 1, column_number(letters)
            if number[0] != "0" and row < self.rows and column < self.columns:
                return row * self.columns + column
        first, last = self.cell_name(0), self.cell_name(self.cells - 1)
        raise BoardError(f"no cell {shown(name, 24)} on a {self.name} board: cells run from {first!r} to {last!r}")


@dataclass(frozen=True, slots=True, eq=False)
class WideState:
    """A position on a wide board, how the game ended, and the cell claimed last."""

    game: WideGame
    stones: Stones = field(repr=False)
    count: int
    """How many of the stones are on the board."""
    outcome: Outcome | None = None
    last: int | None = None

    def side(self, cell: int) -> int | None:
        """Return the number of the side that has a cell; None if it is empty."""
        number = self.stones.number(cell)
        return None if number is None or number >= self.count else number % SIDES

    @property
    def played(self) -> list[int]:
        """The cells of all stones, in the order in which they were played or, on a board that was set up, in some."""
        return self.stones.first(self.count)

    def latest(self, most: int) -> list[int]:
        """Return the cells of the last stones, so many at most, in the order in which they were played."""
        return self.stones.latest(self.count, most)

    @property
    def mover(self) -> int:
        """The number of the side whose turn it is by the counts, even when the game is over."""
        return self.count % SIDES

    def of_side(self, side: int) -> list[int]:
        """Return the cells of a side."""
        return self.played[side::SIDES]

    @property
    def empty(self) -> "EmptyCells":
        """The cells that are free."""
        return EmptyCells(self)

    def reach(self, cell: int, side: int, down: int, right: int) -> int:
        """Return how many stones of a side follow a cell in a direction without a gap, k - 1 at most."""
        game, number_of, count = self.game, self.stones.number, self.count
        rows, columns = game.rows, game.columns
        row, column = divmod(cell, columns)
        for found in range(game.k - 1):
            row, column = row + down, column + right
            if not (0 <= row < rows and 0 <= column < columns):
                return found
            number = number_of(row * columns + column)
            if number is None or number >= count or number % SIDES != side:
                return found
        return game.k - 1

    def completes(self, cell: int, side: int) -> bool:
        """Tell whether a cell, once it is a side's, is one of k in a row."""
        most = self.game.k - 1
        return any(
            self.reach(cell, side, down, right) + self.reach(cell, side, -down, -right) >= most
            for down, right in DIRECTIONS
        )

    def lines(self, cell: int, side: int) -> set[int]:
        """Return the cells of all k in a row through a side's cell."""
        found = set()
        for down, right in DIRECTIONS:
            before, after = self.reach(cell, side, -down, -right), self.reach(cell, side, down, right)
            if before + after >= self.game.k - 1:
                step = down * self.game.columns + right
                found |= {cell + step * number for number in range(-before, after + 1)}
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, WideState):
            return NotImplemented
        return (self.game, self.count, self.outcome) == (other.game, other.count, other.outcome) and all(
            set(self.of_side(side)) == set(other.of_side(side)) for side in range(SIDES)
        )

    def __hash__(self) -> int:
        return hash((self.game, self.count))


class EmptyCells(Sequence[int]):
    """The empty cells of a state, in order, none of which is listed unless it is asked for."""

    def __init__(self, state: WideState) -> None:
        """Show the empty cells of `state`."""
        self._state = state

    def __len__(self) -> int:
        return self._state.game.cells - self._state.count

    def __contains__(self, cell: object) -> bool:
        return isinstance(cell, int) and 0 <= cell < self._state.game.cells and self._state.side(cell) is None

    def __iter__(self) -> Iterator[int]:
        return (cell for cell in range(self._state.game.cells) if self._state.side(cell) is None)

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> list[int]: ...
    def __getitem__(self, at: int | slice) -> int | list[int]:
        from bisect import bisect_right  # only now: few ask

        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        at %= len(self)
        return at + bisect_right(self._empty_before, at)

    @cached_property
    def _empty_before(self) -> list[int]:
        """For each taken cell, in order, how many empty ones come before it."""
        return [cell - number for number, cell in enumerate(sorted(self._state.played))]

    def drawn(self, rng: "random.Random") -> int:
        """Return any of the cells, each as likely as the others."""
        cells = self._state.game.cells
        for _ in range(_TRIES):
            if (cell := rng.randrange(cells)) in self:
                return cell
        return rng.choice(self)


@dataclass(frozen=True)
class WideRules(EitherBegins, CellRules):
    """The rules of an m,n,k game on a wide board."""

    game: WideGame
    first: str = "X"
    """The mark of the side that begins."""

    @property
    def name(self) -> str:
        """The game's notation."""
        return self.game.name

    @property
    def sides(self) -> tuple[str, ...]:
        """The sides, in the order in which results list them."""
        return tuple(self.game.marks)

    @property
    def opponent(self) -> str:
        """Who plays against a person, unless told otherwise."""
        return "oracle"

    def start(self) -> WideState:
        """Return the empty board."""
        return WideState(self.game, Stones([]), 0)

    def to_move(self, state: WideState) -> str | None:
        """Return the mark whose turn it is; None when the game is over."""
        return None if state.outcome else self.marks[state.mover]

    def outcome(self, state: WideState) -> Outcome | None:
        """Return how the game ended; None while it goes on."""
        return state.outcome

    def legal(self, state: WideState) -> Sequence[int]:
        """Return the empty cells, in order, none of them listed; none when the game is over."""
        return () if state.outcome else state.empty

    def play(self, state: WideState, move: int) -> WideState:
        """Return the state after the side to move claims an empty cell."""
        stones, count, game = state.stones.then(state.count, move), state.count + 1, self.game
        after = WideState(game, stones, count, None, move)
        if after.completes(move, state.mover):
            result = -1 if game.misere else 1
        elif count == game.cells:
            result = 0
        else:
            return after
        return WideState(game, stones, count, self.ended_by(result, state.mover), move)

    def ending(self, state: WideState) -> set[int]:
        """Return the cells of the lines that ended a game by its last move."""
        if not state.outcome or state.last is None:
            return set()
        return state.lines(state.last, (state.count - 1) % SIDES)

    def marked(self, state: WideState) -> dict[int, str]:
        """Return the mark of every filled cell."""
        return {cell: self.marks[number % SIDES] for number, cell in enumerate(state.played)}

    def is_taken(self, state: WideState, cell: int) -> bool:
        """Tell whether a cell is filled."""
        return state.side(cell) is not None

    def encode(self, state: WideState) -> str:
        """Return the stones, and between them the numbers of empty cells."""
        from solver.games.wide_text import written  # only now: a match that goes on does without

        return written(self.game, [state.of_side(side) for side in range(SIDES)], self.marks)

    def decode(self, text: str) -> WideState:
        """Return the state that a text describes; raise BoardError if no game reaches it."""
        from solver.games.wide_text import read_stones, require_reached

        game, sides = self.game, read_stones(self.game, text, self.marks)
        lasts = require_reached(game, sides, self.marks)
        count = sum(map(len, sides))
        stones = Stones([sides[number % SIDES][number // SIDES] for number in range(count)])
        if not lasts and count < game.cells:
            return WideState(game, stones, count)
        result = 0 if not lasts else -1 if game.misere else 1
        return WideState(game, stones, count, self.ended_by(result, (count - 1) % SIDES), min(lasts, default=None))

    def key(self, state: WideState) -> Hashable:
        """Return the stones of each side."""
        return tuple(frozenset(state.of_side(side)) for side in range(SIDES))


def wide_rules(size: "Size") -> WideRules:
    """Return the rules of an m,n,k game; raise GameError if there is none of this size."""
    game = WideGame(*size)
    _ = game.name  # which is refused here, if at all
    return WideRules(game)
