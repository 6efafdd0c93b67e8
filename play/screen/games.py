"""The kept games on a screen: to resume, to review, or to delete."""

import os
from collections.abc import Callable, Sequence

from play.records.kept import Kept
from play.screen.app import App
from play.screen.canvas import Area, Canvas, Look
from play.screen.lines import draw_bar


class GamesView:
    """The list of kept games, the last one first."""

    covers = True

    def __init__(self, app: App, games: Sequence[Kept], open_game: Callable[[Kept], None]) -> None:
        """List games; `open_game` shows one."""
        self._app, self._games, self._open = app, list(games), open_game
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
        canvas.put(canvas.rows - 2, 1, self.message, room=canvas.columns - 2)
        if self._deleting:
            draw_bar(canvas, [("y", "delete it for good"), ("n", "keep it")])
        else:
            draw_bar(
                canvas, [("enter", "resume or review"), ("d", "delete"), ("up", "back"), ("down", "on"), ("q", "leave")]
            )

    def heed(self, key: str) -> None:
        """Choose a game, or do something with it."""
        self.message = ""
        if self._deleting:
            self._deleting = False
            if key == "y":
                self._delete()
            return
        step = {"down": 1, "j": 1, "up": -1, "k": -1, "page down": 10, "page up": -10}.get(key, 0)
        if key.startswith("game "):
            number = int(key.removeprefix("game "))
            if number == self._chosen:
                self.heed("enter")
            self._chosen = number
        elif step:
            self._chosen = max(0, min(self._chosen + step, len(self._games) - 1))
        elif key in ("q", "escape"):
            self._app.close(self)
        elif self._games and key in ("enter", "v", "r", " "):
            self._open(self._games[self._chosen])
        elif self._games and key == "d":
            self._deleting = True
            self.message = f"Delete {self._games[self._chosen].path}?"

    def _delete(self) -> None:
        kept = self._games[self._chosen]
        try:
            os.unlink(kept.path)
        except OSError as error:
            self.message = f"It cannot be deleted: {error.strerror or error}."
            return
        del self._games[self._chosen]
        self._chosen = max(0, min(self._chosen, len(self._games) - 1))
        self.message = "Deleted."
