"""Views of text over another view: a page to read, and a line to type."""

from collections.abc import Callable, Sequence

import click

from play.screen.app import App
from play.screen.canvas import Area, Canvas, Look, button_width

_WIDEST = 76

SCROLLING = {"down": 1, "j": 1, "up": -1, "k": -1, "page down": 10, "page up": -10}
"""By how much keys scroll."""


def wrapped(text: str, columns: int) -> list[str]:
    """Return text in lines of at most so many columns; its own ends of lines stay."""
    lines = []
    for part in text.split("\n"):  # what fits does not wait for the module that wraps
        lines += [part] if len(part) <= columns else click.wrap_text(part, max(columns, 12)).split("\n")
    return lines


def draw_bar(canvas: Canvas, buttons: Sequence[tuple[str, str]], meaning: str = "") -> None:
    """Write on the last row what keys do, as many as there is room for; a click means the key, after `meaning`."""
    row, column = canvas.rows - 1, 1
    for key, label in buttons:
        end = column + button_width(key, label)
        if end > canvas.columns - 1:
            break
        column = canvas.button(row, column, key, label, meaning) + 2


def framed(canvas: Canvas, rows: int, columns: int, title: str) -> Area:
    """Draw a frame in the middle, and return the area inside."""
    rows, columns = min(rows, canvas.rows - 3), min(columns, canvas.columns - 4)
    top, left = (canvas.rows - 1 - rows) // 2 - 1, (canvas.columns - columns) // 2 - 2
    canvas.clear(Area(max(0, top), left, rows + 2, columns + 4))
    inside = Area(max(0, top) + 1, left + 2, rows, columns)
    line = "─" * (columns + 2)
    canvas.put(inside.row - 1, left, f"┌{line}┐", Look.DIM)
    canvas.put(inside.row - 1, left + 2, f" {title} ", Look.BOLD, columns)
    canvas.put(inside.row + rows, left, f"└{line}┘", Look.DIM)
    for row in range(rows):
        canvas.put(inside.row + row, left, "│", Look.DIM)
        canvas.put(inside.row + row, left + columns + 3, "│", Look.DIM)
    return inside


class Page:
    """Text to read and scroll; any other key closes it."""

    covers = False

    def __init__(self, app: App, title: str, text: str) -> None:
        """Show text under a title."""
        self._app, self._title, self._text = app, title, text
        self._first, self._last = 0, 0

    def draw(self, canvas: Canvas) -> None:
        """Draw as much of the text as there is room for."""
        lines = wrapped(self._text, min(_WIDEST, canvas.columns - 6))
        inside = framed(canvas, len(lines), max(map(len, [*lines, self._title])) + 1, self._title)
        self._last = max(0, len(lines) - inside.rows)
        self._first = min(self._first, self._last)
        for row, line in enumerate(lines[self._first : self._first + inside.rows]):
            canvas.put(inside.row + row, inside.column, line, room=inside.columns)
        canvas.clear(Area(canvas.rows - 1, 0, 1, canvas.columns))
        draw_bar(canvas, [("enter", "close"), *([("down", "more"), ("up", "back")] if self._last else [])])
        canvas.spot(Area(0, 0, canvas.rows - 1, canvas.columns), "enter")

    def heed(self, key: str) -> None:
        """Scroll, or close."""
        if key in SCROLLING:
            self._first = max(0, min(self._first + SCROLLING[key], self._last))
        else:
            self._app.close(self)


class Ask:
    """A line to type at the bottom."""

    covers = False

    def __init__(self, app: App, prompt: str, heed_line: Callable[[str], None], typed: str = "") -> None:
        """Ask for a line, and let it be heeded."""
        self._app, self._prompt, self._heed_line, self._typed = app, prompt, heed_line, typed

    def draw(self, canvas: Canvas) -> None:
        """Draw the line as far as it is typed."""
        canvas.clear(Area(canvas.rows - 1, 0, 1, canvas.columns))
        room = canvas.columns - len(self._prompt) - 2
        column = canvas.put(canvas.rows - 1, 0, self._prompt, Look.BOLD)
        column = canvas.put(canvas.rows - 1, column, self._typed[-room:])
        canvas.put(canvas.rows - 1, column, " ", Look.REVERSED)
        canvas.spot(Area(0, 0, canvas.rows, canvas.columns), "escape")

    def heed(self, key: str) -> None:
        """Take a character, or end."""
        if key == "escape" or (key == "backspace" and not self._typed):
            self._app.close(self)
        elif key == "backspace":
            self._typed = self._typed[:-1]
        elif key == "enter":
            self._app.close(self)
            if self._typed.strip():
                self._heed_line(self._typed.strip())
        elif len(key) == 1:
            self._typed += key
