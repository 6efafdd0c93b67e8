"""Draw a board on a canvas: as large as there is room for, and around the cursor where there is room for a part only.

         a       b       c
      ┌───────┬───────┬───────┐
      │  ╲ ╱  │       │       │
    1 │   ╳   │  +5*  │   =   │
      │  ╱ ╲  │       │       │
      ├───────┼───────┼───────┤

A mark grows with its cell: one letter, a drawing of three lines, or blocks. What `ttt4-query` says by signs is said by
the same signs here: the last move is in brackets, and the lines that ended the game are starred.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from play.screen.canvas import SIDES, Area, Canvas, Look
from solver.games.board import column_name
from solver.games.cell_rules import Cells

_DRAWN = {
    "X": ("╲ ╱", " ╳ ", "╱ ╲"),
    "O": ("╭─╮", "│ │", "╰─╯"),
    "Z": ("──╱", " ╱ ", "╱──"),
    "T": ("╶┬╴", " │ ", " ╵ "),
    "R": ("┌─┐", "│R│", "└─┘"),
    "G": ("╭─╮", "│G│", "╰─╯"),
}
"""Marks in cells of three lines."""

_GROWN = (21, 17, 13, 11, 9, 7, 5)
"""The sizes, in lines, of marks made of blocks."""


class Fit(NamedTuple):
    """How a board is drawn: the size of a cell inside, whether lines part the cells, and the size of a mark."""

    rows: int
    columns: int
    lines: bool
    mark: int

    def size(self, game: Cells) -> tuple[int, int]:
        """Return how many rows and columns the whole board takes, with its names."""
        edge = int(self.lines)
        return 1 + game.rows * (self.rows + edge) + edge, margin(game) + game.columns * (self.columns + edge) + edge


_FITS = [Fit(mark + 2, 2 * mark + 4, True, mark) for mark in _GROWN] + [
    Fit(3, 7, True, 3), Fit(1, 5, True, 1), Fit(1, 3, True, 1), Fit(1, 4, False, 1), Fit(1, 2, False, 1),
]  # fmt: skip


class Shown(NamedTuple):
    """What is shown of a board besides its marks, by cell."""

    marks: Mapping[int, str] = {}
    notes: Mapping[int, tuple[str, Look]] = {}
    """Short texts in empty cells."""
    starred: Collection[int] = ()
    """Cells of the lines that ended the game."""
    bracketed: Collection[int] = ()
    """The cell of the last move, or of a move that is spoken of."""
    pointed: Collection[int] = ()
    """Cells that are pointed out."""
    cursor: int | None = None


def margin(game: Cells) -> int:
    """Return how many columns the names of rows take, with the edge of the board."""
    return max(4, len(str(game.rows)) + 1)


def fit(game: Cells, rows: int, columns: int, widest: int = 0) -> Fit:
    """Return the largest way to draw a board in an area, with notes so wide; the smallest, if none fits."""
    for each in _FITS:
        height, width = each.size(game)
        if height <= rows and width <= columns and each.columns >= widest:
            return each
    return _FITS[-1] if widest <= 2 else _FITS[-2]


def draw_board(canvas: Canvas, area: Area, game: Cells, how: Fit, shown: Shown) -> None:
    """Draw a board in an area: if it is larger, the part that has the cursor."""
    row, column = game.place(shown.cursor) if shown.cursor is not None else (0, 0)
    side = margin(game)
    rows = _seen(game.rows, (area.rows - 1 - how.lines) // (how.rows + how.lines), row)
    columns = _seen(game.columns, (area.columns - side - how.lines) // (how.columns + how.lines), column)
    inside = _Inside(canvas, area.row + 1, area.column + side, how, rows, columns)
    inside.draw_names(area)
    canvas.put(area.row, area.column, _hidden(game, rows, columns), Look.BOLD)
    if how.lines:
        inside.draw_lines(game)
    for row in rows:
        for column in columns:
            cell = game.cell_at(row, column)
            if cell is not None:
                inside.draw_cell(game, row, column, cell, shown)


def _hidden(game: Cells, rows: range, columns: range) -> str:
    """Return arrows to where the board goes on beyond what is seen of it."""
    ways = (columns.start > 0, columns.stop < game.columns, rows.start > 0, rows.stop < game.rows)
    return "".join(arrow for arrow, way in zip("←→↑↓", ways, strict=True) if way)


def _seen(count: int, room: int, around: int) -> range:
    """Return which of some rows or columns are seen, if there is room for so many: around one, and not past the end."""
    room = max(1, min(room, count))
    first = min(max(0, around - room // 2), count - room)
    return range(first, first + room)


class _Inside(NamedTuple):
    """The inside of a board on a canvas: where it begins, and which of its rows and columns are seen."""

    canvas: Canvas
    top: int
    left: int
    how: Fit
    rows: range
    columns: range

    def place(self, row: int, column: int) -> Area:
        """Return the area of a square, without the lines around it."""
        how = self.how
        return Area(
            self.top + (row - self.rows.start) * (how.rows + how.lines) + how.lines,
            self.left + (column - self.columns.start) * (how.columns + how.lines) + how.lines,
            how.rows, how.columns,
        )  # fmt: skip

    def draw_names(self, area: Area) -> None:
        """Write the names of the columns above them, and those of the rows beside them."""
        for column in self.columns:
            name, place = column_name(column), self.place(self.rows.start, column)
            self.canvas.put(area.row, place.column + (place.columns - len(name) + 1) // 2, name, Look.DIM)
        for row in self.rows:
            place = self.place(row, self.columns.start)
            self.canvas.put(
                place.row + (place.rows - 1) // 2, area.column, f"{row + 1:>{self.left - area.column - 1}}", Look.DIM
            )

    def draw_lines(self, game: Cells) -> None:
        """Draw the lines around all cells that are seen; holes have none of their own."""
        corners: dict[tuple[int, int], str] = {}
        for row in self.rows:
            for column in self.columns:
                if game.cell_at(row, column) is None:
                    continue
                top, left, bottom, right = _around(area := self.place(row, column))
                for edge in (top, bottom):
                    self.canvas.put(edge, area.column, "─" * area.columns, Look.DIM)
                for at in range(area.row, bottom):
                    self.canvas.put(at, left, "│", Look.DIM)
                    self.canvas.put(at, right, "│", Look.DIM)
                for place, ways in (
                    ((top, left), "dr"),
                    ((top, right), "dl"),
                    ((bottom, left), "ru"),
                    ((bottom, right), "lu"),
                ):
                    corners[place] = corners.get(place, "") + ways
        for (row, column), ways in corners.items():
            self.canvas.put(row, column, _JOINED["".join(sorted(set(ways)))], Look.DIM)

    def draw_cell(self, game: Cells, row: int, column: int, cell: int, shown: Shown) -> None:
        """Draw what is in a cell."""
        area = self.place(row, column)
        if mark := shown.marks.get(cell):
            self._draw_mark(area, mark)
        else:
            text, look = shown.notes.get(cell, ("·", Look.DIM))
            self._center(area, text, look)
        if cell in shown.starred:
            self._put_around(area, "*", "*", Look.BOLD)
        elif cell in shown.bracketed:
            self._put_around(area, "[", "]", Look.BOLD)
        if cell in shown.pointed:
            self.canvas.add_look(area, Look.UNDERLINED | Look.BOLD)
        if cell == shown.cursor:
            self._point_at(area)
        self.canvas.spot(area, game.cell_name(cell))

    def _draw_mark(self, area: Area, mark: str) -> None:
        look, size = SIDES.get(mark, Look.BOLD), self.how.mark
        if size == 1:
            self._center(area, mark, look)
        elif size == 3:
            for at, text in enumerate(_DRAWN.get(mark, (mark,) * 3)):
                self.canvas.put(area.row + at, area.column + (area.columns - 3) // 2, text, look)
        else:
            for row, column in _blocks(mark, size):
                self.canvas.put(area.row + 1 + row, area.column + 2 + 2 * column, "██", look)
            if mark in "RG":
                self._center(area, f" {mark} ", look)

    def _center(self, area: Area, text: str, look: Look) -> None:
        room = area.columns - len(text)
        self.canvas.put(
            area.row + (area.rows - 1) // 2, area.column + max(0, (room + 1) // 2), text, look, area.columns
        )

    def _put_around(self, area: Area, left: str, right: str, look: Look) -> None:
        """Put signs left and right of what is in a cell."""
        if area.rows == 1:
            middle = area.column + area.columns // 2
            self.canvas.put(area.row, middle - 1, left, look)
            self.canvas.put(area.row, middle + 1, right, look)
            return
        for row in range(area.row, area.row + area.rows):
            self.canvas.put(row, area.column, left, look)
            self.canvas.put(row, area.column + area.columns - 1, right, look)

    def _point_at(self, area: Area) -> None:
        """Set off the cell of the cursor: by a heavy line around it or, where none is, by reversing it."""
        if not self.how.lines or self.how.rows == 1:
            self.canvas.add_look(area, Look.REVERSED)
            return
        top, left, bottom, right = _around(area)
        for edge, first, last in ((top, "┏", "┓"), (bottom, "┗", "┛")):
            self.canvas.put(edge, left, first + "━" * area.columns + last, Look.BOLD)
        for row in range(area.row, bottom):
            self.canvas.put(row, left, "┃", Look.BOLD)
            self.canvas.put(row, right, "┃", Look.BOLD)


_JOINED = {
    "dr": "┌", "dl": "┐", "ru": "└", "lu": "┘", "dlr": "┬", "lru": "┴", "dru": "├", "dlu": "┤",
    "dlru": "┼",
}  # fmt: skip
"""The corner from which lines lead down, left, right and up."""


def _around(area: Area) -> tuple[int, int, int, int]:
    """Return the rows and columns of the lines around a cell: above, left, below and right."""
    return area.row - 1, area.column - 1, area.row + area.rows, area.column + area.columns


def _blocks(mark: str, size: int) -> Iterator[tuple[int, int]]:
    """Yield the blocks of a large mark: a cross, the letters Z and T, a square for R, and a ring for O and G."""
    last = size - 1
    for row in range(size):
        for column in range(size):
            edge, corner = row in (0, last) or column in (0, last), row in (0, last) and column in (0, last)
            drawn = {
                "X": column in (row, last - row),
                "Z": row in (0, last) or column == last - row,
                "T": row == 0 or column == last // 2,
                "R": edge,
            }
            if drawn.get(mark, edge and not corner):
                yield row, column
