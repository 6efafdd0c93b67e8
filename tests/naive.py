"""A slow, obvious twin of everything clever. It shares no code with solver/ and nothing here is fast.

A board is a string of `X`, `O` and `.`, row after row, without separators. A set of cells as a number
appears in `board` and `masks` alone, which are how tests cross over to solver/ and back.
"""

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from typing import NamedTuple

Permutation = tuple[int, ...]


class Game(NamedTuple):
    """An m,n,k game."""

    rows: int
    columns: int
    k: int
    misere: bool = False
    given: frozenset[tuple[int, ...]] | None = None
    """The lines, where they are not those of k in a row."""

    @classmethod
    def described(cls, text: str, *, misere: bool = False) -> "Game":
        """The game of a file, as one row of cells."""
        fields = tomllib.loads(text)
        squares = [
            (row, column)
            for row, marks in enumerate(fields["board"])
            for column, mark in enumerate(marks)
            if mark == "."
        ]
        found = {
            tuple(sorted(squares.index((int(name[1:]) - 1, ord(name[0]) - ord("a"))) for name in line.split()))
            for line in fields.get("lines", [])
        }
        k = fields.get("in_a_row", 0)
        for row, column in squares if k else []:
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                run = [(row + i * down, column + i * right) for i in range(k)]
                if all(square in squares for square in run):
                    found.add(tuple(sorted(map(squares.index, run))))
        return cls(1, len(squares), 0, misere or fields.get("misere", False), frozenset(found))

    @classmethod
    def named(cls, text: str) -> "Game":
        rows, columns, k, *rest = text.split(",")
        return cls(int(rows), int(columns), int(k), rest == ["misere"])

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @property
    def empty(self) -> str:
        return "." * self.cells


@cache
def lines(game: Game) -> frozenset[tuple[int, ...]]:
    """The lines, each as its cells in order: every k neighbours in a row, a column or a diagonal."""
    if game.given is not None:
        return game.given
    where = [(row, column) for row in range(game.rows) for column in range(game.columns)]
    runs: dict[tuple[str, int], list[int]] = {}
    for cell, (row, column) in enumerate(where):
        for run in (("row", row), ("column", column), ("down", row - column), ("up", row + column)):
            runs.setdefault(run, []).append(cell)
    return frozenset(tuple(run[i : i + game.k]) for run in runs.values() for i in range(len(run) - game.k + 1))


def board(game: Game, x: int, o: int) -> str:
    """The board with these sets of cells."""
    assert not x & o
    return "".join("X" if x >> cell & 1 else "O" if o >> cell & 1 else "." for cell in range(game.cells))


def masks(board: str) -> tuple[int, int]:
    """X's cells and O's cells, as numbers."""
    x, o = (sum(2**cell for cell, mark in enumerate(board) if mark == who) for who in "XO")
    return x, o


def stones(board: str) -> int:
    return len(board) - board.count(".")


def mover(board: str) -> str:
    return "X" if board.count("X") == board.count("O") else "O"


@cache
def completer(game: Game, board: str) -> str | None:
    """Who has a whole line."""
    for line in lines(game):
        who = board[line[0]]
        if who != "." and all(board[cell] == who for cell in line):
            return who
    return None


def winner(game: Game, board: str) -> str | None:
    who = completer(game, board)
    if who and game.misere:
        return "O" if who == "X" else "X"
    return who


def over(game: Game, board: str) -> bool:
    return "." not in board or completer(game, board) is not None


def claim(board: str, cell: int) -> str:
    """The board after the side to move takes a cell."""
    assert board[cell] == "."
    return board[:cell] + mover(board) + board[cell + 1 :]


def children(game: Game, board: str) -> list[str]:
    if over(game, board):
        return []
    side = mover(board)
    return [board[:cell] + side + board[cell + 1 :] for cell, mark in enumerate(board) if mark == "."]


def played(game: Game, cells: Iterable[int]) -> str:
    """The board after these cells were taken in turn, or as many of them as it took to end the game."""
    now = game.empty
    for cell in cells:
        if over(game, now):
            break
        now = claim(now, cell)
    return now


@cache
def score(game: Game, board: str) -> int:
    """Minimax, for the side to move: cells + 1 - stones at the end for a win, negated for a loss, 0 for a draw."""
    after = children(game, board)
    if after:
        return max(-score(game, child) for child in after)
    worth = game.cells + 1 - stones(board)
    who = winner(game, board)
    return 0 if who is None else worth if who == mover(board) else -worth


def by_ply(game: Game) -> Iterator[set[str]]:
    """All positions that a game reaches, ply after ply."""
    now = {game.empty}
    while now:
        yield now
        now = {child for board in now for child in children(game, board)}


@cache
def reachable(game: Game) -> frozenset[str]:
    """All positions that a game reaches."""
    return frozenset().union(*by_ply(game))


def geometric(game: Game) -> list[Permutation]:
    """What turning and mirroring does to the cells of the board: 8 ways if it is square, else 4."""
    last_row, last_column = game.rows - 1, game.columns - 1
    found = set()
    for flip_row in (False, True):
        for flip_column in (False, True):
            for swap in (False, True) if game.rows == game.columns else (False,):
                moved = []
                for row in range(game.rows):
                    for column in range(game.columns):
                        r = last_row - row if flip_row else row
                        c = last_column - column if flip_column else column
                        moved.append(c * game.columns + r if swap else r * game.columns + c)
                found.add(tuple(moved))
    return sorted(found)


def line_symmetries(game: Game) -> set[Permutation]:
    """Every permutation of the cells that maps lines to lines, by trying them all."""
    assert game.cells <= 9
    return {
        g
        for g in permutations(range(game.cells))
        if all(tuple(sorted(g[cell] for cell in line)) in lines(game) for line in lines(game))
    }


def turned(board: str, g: Sequence[int]) -> str:
    """The board with what was on `cell` on g[cell]."""
    marks = [""] * len(board)
    for cell, mark in enumerate(board):
        marks[g[cell]] = mark
    return "".join(marks)


def canonical(boards: Iterable[str], group: Sequence[Permutation]) -> set[str]:
    """One board for all images of a board: the first in the alphabet."""
    return {min(turned(board, g) for g in group) for board in boards}


def orbits(group: Sequence[Permutation], xs: int, os: int) -> int:
    """Burnside's lemma: ways to place so many X's and O's, images under the group counted as one.

    A symmetry leaves a board as it is when each of its cycles is of one kind, so the boards that it
    leaves are the coefficient of x^xs o^os in the product of 1 + x^length + o^length over its cycles.
    """
    total = 0
    for g in group:
        ways = Counter({(0, 0): 1})
        for length in cycles(g):
            more: Counter[tuple[int, int]] = Counter()
            for (a, b), count in ways.items():
                for stone in ((0, 0), (length, 0), (0, length)):
                    more[a + stone[0], b + stone[1]] += count
            ways = more
        total += ways[xs, os]
    count, rest = divmod(total, len(group))
    assert rest == 0
    return count


def cycles(g: Sequence[int]) -> list[int]:
    """The lengths of a permutation's cycles."""
    lengths, seen = [], set()
    for start in range(len(g)):
        cell, length = start, 0
        while cell not in seen:
            seen.add(cell)
            cell, length = g[cell], length + 1
        if length:
            lengths.append(length)
    return lengths


# Players: what they are worth, and where they err

Chances = Callable[[str], Sequence[Fraction | float]]
"""The chance of every cell, for a board."""

CLASSES = ("take", "stop", "only", "trap", "lost", "indifferent")


def at_random(board: str) -> list[Fraction]:
    """Every free cell with the same chance."""
    return [Fraction(mark == ".", board.count(".")) for mark in board]


def first_free(board: str) -> list[int]:
    """The first free cell for certain."""
    return [int(cell == board.index(".")) for cell in range(len(board))]


def result(game: Game, board: str, side: str) -> int:
    """What a finished game brings a side: 1, 0 or -1."""
    who = winner(game, board)
    return 0 if who is None else 1 if who == side else -1


def result_of(game: Game, board: str) -> int:
    """What best play by both brings the side to move: 1, 0 or -1."""
    return (score(game, board) > 0) - (score(game, board) < 0)


def worth(game: Game, side: str, chances: Chances, replies: Chances | None = None) -> Fraction:
    """What a side gets on average; the other makes the worst moves for it or, given `replies`, moves by chance.

    Whoever claims a taken cell loses.
    """

    @cache
    def value(board: str) -> Fraction:
        if over(game, board):
            return Fraction(result(game, board, side))
        after = {cell: value(claim(board, cell)) for cell, mark in enumerate(board) if mark == "."}
        own = mover(board) == side
        moves = chances if own else replies
        if moves is None:
            return min(after.values())
        refused = -1 if own else 1
        made = [(cell, chance) for cell, chance in enumerate(moves(board)) if chance]
        return sum((Fraction(chance) * after.get(cell, refused) for cell, chance in made), Fraction())

    return value(game.empty)


def shortest_loss(game: Game, side: str, chances: Chances, entitled: int) -> int | None:
    """After how many moves a side can have less than it is entitled to, if it moves where it has a chance to.

    Whoever claims a taken cell loses.
    """
    now = {game.empty}
    for ply in range(game.cells + 1):
        if any(over(game, board) and result(game, board, side) < entitled for board in now):
            return ply
        open_now = {board for board in now if not over(game, board)}
        if any(mover(board) == side and fouls(board, chances) for board in open_now):
            return ply
        now = {
            claim(board, cell)
            for board in open_now
            for cell, mark in enumerate(board)
            if mark == "." and (mover(board) != side or chances(board)[cell] > 0)
        }
    return None


def fouls(board: str, chances: Chances) -> bool:
    """Whether a player may claim a taken cell."""
    return any(mark != "." and chances(board)[cell] > 0 for cell, mark in enumerate(board))


def move_scores(game: Game, board: str) -> dict[int, int]:
    """The score of every move, for the side that makes it."""
    return {cell: -score(game, claim(board, cell)) for cell, mark in enumerate(board) if mark == "."}


@cache
def optimal(game: Game, board: str) -> frozenset[int]:
    """The moves with the best score."""
    scores = move_scores(game, board)
    return frozenset(cell for cell, value in scores.items() if value == max(scores.values()))


@cache
def keeping(game: Game, board: str) -> frozenset[int]:
    """The moves that lead to the same outcome as the best ones."""
    outcomes = {cell: (value > 0) - (value < 0) for cell, value in move_scores(game, board).items()}
    return frozenset(cell for cell, outcome in outcomes.items() if outcome == max(outcomes.values()))


def decisive(game: Game, board: str) -> bool:
    """Whether the moves differ in outcome."""
    return len(keeping(game, board)) < board.count(".")


@cache
def kind(game: Game, board: str) -> str:
    """The class of a position that is not over."""
    if not decisive(game, board):
        return "lost" if score(game, board) < 0 else "indifferent"
    if not game.misere:
        for name, who in (("take", mover(board)), ("stop", "O" if mover(board) == "X" else "X")):
            for cell, mark in enumerate(board):
                if mark == "." and completer(game, board[:cell] + who + board[cell + 1 :]) == who:
                    return name
    return "only" if len(keeping(game, board)) == 1 else "trap"


def open_boards(game: Game) -> list[str]:
    """All positions that a game reaches and that do not end it."""
    return sorted(board for board in reachable(game) if not over(game, board))


# Infinity Grid Duel


class Duel(NamedTuple):
    """The duel on one board. Its boards are strings of `R`, `G` and `.`, row after row, without separators."""

    rows: int
    columns: int

    @classmethod
    def named(cls, text: str) -> "Duel":
        rows, columns = text.split(",")[1:] or ("6", "6")
        return cls(int(rows), int(columns))

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    @property
    def empty(self) -> str:
        return "." * self.cells


@cache
def beside(duel: Duel, cell: int) -> list[int]:
    """The cells above, below and beside a cell."""
    where = [(row, column) for row in range(duel.rows) for column in range(duel.columns)]
    row, column = where[cell]
    around = [(row - 1, column), (row, column - 1), (row, column + 1), (row + 1, column)]
    return [where.index(square) for square in around if square in where]


def rival(side: str) -> str:
    return "G" if side == "R" else "R"


def turn(board: str) -> str:
    """Whose turn it is by the number of tiles: Red's first."""
    return "RG"[stones(board) % 2]


def duel_board(duel: Duel, red: int, green: int) -> str:
    """The board with these sets of tiles."""
    assert not red & green
    return "".join("R" if red >> cell & 1 else "G" if green >> cell & 1 else "." for cell in range(duel.cells))


def tiles(board: str) -> tuple[int, int]:
    """Red's tiles and Green's, as numbers."""
    red, green = (sum(2**cell for cell, tile in enumerate(board) if tile == side) for side in "RG")
    return red, green


def sides(board: str, side: str) -> tuple[int, int]:
    """The tiles of a side and those of the other, as numbers."""
    red, green = tiles(board)
    return (red, green) if side == "R" else (green, red)


def recoloured(board: str) -> str:
    """The board with every tile of the other colour."""
    return "".join({"R": "G", "G": "R", ".": "."}[tile] for tile in board)


def placings(duel: Duel, board: str, side: str) -> list[int]:
    """The cells where a side may place a tile: next to one of its own or, if there is no such cell, anywhere."""
    free = [cell for cell, tile in enumerate(board) if tile == "."]
    return [cell for cell in free if any(board[other] == side for other in beside(duel, cell))] or free


def captures(duel: Duel, board: str, cell: int, side: str) -> list[int]:
    """The cells whose tiles turn when a side places a tile."""
    return [other for other in beside(duel, cell) if board[other] == rival(side)]


def placed(duel: Duel, board: str, cell: int, side: str) -> str:
    """The board after a side has placed a tile."""
    assert cell in placings(duel, board, side)
    return covered(duel, board, cell, side)


def covered(duel: Duel, board: str, cell: int, side: str) -> str:
    """The board after a side has placed a tile where it may."""
    now = list(board)
    for changed in [cell, *captures(duel, board, cell, side)]:
        now[changed] = side
    return "".join(now)


def duelled(duel: Duel, choices: Iterable[int]) -> list[str]:
    """The boards of a game in which each move is chosen by a number, counted around the legal ones."""
    boards = [duel.empty]
    for choice in choices:
        if "." in boards[-1]:
            side = turn(boards[-1])
            legal = placings(duel, boards[-1], side)
            boards.append(placed(duel, boards[-1], legal[choice % len(legal)], side))
    return boards


@cache
def margin(duel: Duel, board: str, side: str) -> int:
    """Minimax, for the side to move: its tiles less the other's on the full board."""
    if "." not in board:
        return board.count(side) - board.count(rival(side))
    return max(-margin(duel, covered(duel, board, cell, side), rival(side)) for cell in placings(duel, board, side))


def duel_layers(duel: Duel) -> Iterator[set[str]]:
    """All boards that a game reaches, move after move."""
    now = {duel.empty}
    while now:
        yield now
        now = {
            covered(duel, board, cell, turn(board))
            for board in now
            if "." in board
            for cell in placings(duel, board, turn(board))
        }


@cache
def duel_reachable(duel: Duel) -> frozenset[str]:
    """All boards that a game reaches."""
    return frozenset().union(*duel_layers(duel))
