"""The kept games on a screen: to resume, to review, or to delete."""

import os
from collections.abc import Callable, Iterable

from play.records.kept import Kept
from play.screen.app import App
from play.screen.canvas import Area, Canvas, Look
from play.screen.lines import SCROLLING, draw_bar
from play.words import sentence
from solver.errors import Ttt4Error


class GamesView:
    """The list of kept games, the last one first."""

    covers = True

    def __init__(self, app: App, kept: Callable[[], Iterable[Kept]], open_game: Callable[[Kept], None]) -> None:
        """List games; `open_game` shows one."""
        self._app, self._kept, self._open = app, kept, open_game
        self._games = list(kept())
        self._chosen = self._first = 0
        self.message = ""
        self._deleting = False

    def draw(self, canvas: Canvas) -> None:
        """Draw as many games as there is room for, and what can be done with the chosen one."""
        canvas.put(0, 1, f"Kept games: {len(self._games)}", Look.BOLD)
        room = canvas.rows - 5
        self._first = max(min(self._first, self._chosen), self._chosen - room + 1, 0)
        for row, kept in enumerate(self._games[self._first : self._first + room]):
            number = self._first + row
            chosen = number == self._chosen
            canvas.put(2 + row, 1, "▸" if chosen else " ", Look.BOLD)
            canvas.put(2 + row, 3, kept.in_words, Look.REVERSED if chosen else Look.PLAIN, canvas.columns - 4)
            canvas.spot(Area(2 + row, 0, 1, canvas.columns), f"game {number}")
        path = self._games[self._chosen].path if self._games else "No game is kept."
        canvas.put(canvas.rows - 2, 1, self.message or path, room=canvas.columns - 2)
        if self._deleting:
            draw_bar(canvas, [("y", "delete it for good"), ("n", "keep it")])
        else:
            goes_on = bool(self._games) and self._games[self._chosen].can_go_on
            enter = "resume" if goes_on else "review"
            draw_bar(canvas, [("enter", enter), ("d", "delete"), ("up", "newer"), ("down", "older"), ("q", "leave")])

    def heed(self, key: str) -> None:
        """Choose a game, or do something with it."""
        self.message = ""
        if self._deleting:
            self._deleting = False
            if key == "y":
                self._delete()
        elif key.startswith("game "):
            number = int(key.removeprefix("game "))
            if number == self._chosen:
                self.heed("enter")
            self._chosen = number
        elif key in SCROLLING:
            self._chosen = max(0, min(self._chosen + SCROLLING[key], len(self._games) - 1))
        elif key in ("q", "escape"):
            self._app.close(self)
        elif self._games and key in ("enter", "v", "r", " "):
            self._show()
        elif self._games and key == "d":
            self._deleting = True
            self.message = f"Delete {' '.join(self._games[self._chosen].in_words.split())}?"

    def read_again(self) -> None:
        """Read the list again, because a game was played meanwhile."""
        self._games = list(self._kept())
        self._chosen = max(0, min(self._chosen, len(self._games) - 1))

    def _show(self) -> None:
        try:
            self._open(self._games[self._chosen])
        except Ttt4Error as error:
            self.message = sentence(str(error))

    def _delete(self) -> None:
        try:
            os.unlink(self._games[self._chosen].path)
        except OSError as error:
            self.message = f"It cannot be deleted: {error.strerror or error}."
            return
        self.read_again()
        self.message = "Deleted."
