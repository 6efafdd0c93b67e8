"""A canvas: what a screen shows, cell by cell, before any terminal draws it.

Views draw on a canvas, and it is shown as a whole: play/screen/terminal.py sends only what has changed. A **spot** is a
rectangle where a click means what a key means, so that whatever can be typed can be clicked.
"""

from enum import IntFlag, auto
from typing import NamedTuple


class Look(IntFlag):
    """How a character looks: what it stands for, and how it is set off."""

    PLAIN = 0
    FIRST = auto()
    """The side that begins."""
    SECOND = auto()
    """The other side."""
    WIN = auto()
    LOSS = auto()
    RED = auto()
    """The duel's sides."""
    GREEN = auto()
    BOLD = auto()
    DIM = auto()
    UNDERLINED = auto()
    REVERSED = auto()


SIDES = {
    "X": Look.FIRST | Look.BOLD, "O": Look.SECOND | Look.BOLD, "Z": Look.GREEN | Look.BOLD, "T": Look.RED | Look.BOLD,
    "R": Look.RED | Look.BOLD, "G": Look.GREEN,
}  # fmt: skip
"""How the marks of the sides look. They differ in shape anyway."""


class Area(NamedTuple):
    """A rectangle of a canvas."""

    row: int
    column: int
    rows: int
    columns: int

    def holds(self, row: int, column: int) -> bool:
        """Tell whether a place is inside."""
        return self.row <= row < self.row + self.rows and self.column <= column < self.column + self.columns


class Canvas:
    """Characters and their looks, row by row."""

    def __init__(self, rows: int, columns: int) -> None:
        """Begin with blanks."""
        self.rows, self.columns = rows, columns
        self.texts = [[" "] * columns for _ in range(rows)]
        self.looks = [[Look.PLAIN] * columns for _ in range(rows)]
        self._spots: list[tuple[Area, str]] = []

    def put(self, row: int, column: int, text: str, look: Look = Look.PLAIN, room: int | None = None) -> int:
        """Write text, as much of it as there is room for, and return the column behind it."""
        end = min(self.columns if room is None else min(self.columns, column + room), column + len(text))
        first = max(column, 0)
        if 0 <= row < self.rows and first < end:
            shown = text[first - column : end - column]
            if not shown.isprintable():
                shown = "".join(character if character.isprintable() else "?" for character in shown)
            self.texts[row][first:end] = shown
            self.looks[row][first:end] = [look] * len(shown)
        return end

    def add_look(self, area: Area, look: Look) -> None:
        """Let all of an area look so, too."""
        for row in range(max(0, area.row), min(self.rows, area.row + area.rows)):
            for column in range(max(0, area.column), min(self.columns, area.column + area.columns)):
                self.looks[row][column] |= look

    def clear(self, area: Area) -> None:
        """Blank an area, and forget the spots in it."""
        for row in range(area.row, area.row + area.rows):
            self.put(row, area.column, " " * area.columns)
        self._spots = [(spot, key) for spot, key in self._spots if not area.holds(spot.row, spot.column)]

    def spot(self, area: Area, key: str) -> None:
        """Let a click in an area mean a key."""
        self._spots.append((area, key))

    def key_at(self, row: int, column: int) -> str | None:
        """Return what a click there means: the last spot counts; None if it means nothing."""
        return next((key for area, key in reversed(self._spots) if area.holds(row, column)), None)

    def button(self, row: int, column: int, key: str, label: str, meaning: str = "") -> int:
        """Write what a key does, which can be clicked, and return the column behind it."""
        end = self.put(row, self.put(row, column, NAMES.get(key, key), Look.BOLD) + 1, label)
        self.spot(Area(row, column, 1, end - column), meaning + key)
        return end

    def text(self) -> str:
        """Return all characters, line by line."""
        return "\n".join("".join(row).rstrip() for row in self.texts)


NAMES = {
    "enter": "Enter", "escape": "Esc", "left": "←", "right": "→", "up": "↑", "down": "↓", "page up": "PgUp",
    "page down": "PgDn", "home": "Home", "end": "End", "tab": "Tab",
}  # fmt: skip
"""What keys are called on the screen, where that is not the key itself."""


def button_width(key: str, label: str) -> int:
    """Return how wide a button is."""
    return len(NAMES.get(key, key)) + 1 + len(label)
