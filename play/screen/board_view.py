"""What every view of a board has: a cursor, cells that are named or clicked, and a place for everything.

The board is on the left, what there is to say of the game on the right where there is room, a message below, and the
keys on the last row.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

from play.screen.app import App
from play.screen.boards import Fit, Shown, draw_board, fit
from play.screen.canvas import Area, Canvas, Look
from play.screen.lines import draw_bar, wrapped
from play.words import sentence
from solver.errors import Ttt4Error
from solver.games.cell_rules import Cells

_SIDE = 26
"""How many columns the right side has at least."""

_WIDEST_SIDE = 48

_MORE = 4
"""So many more lines than usual may be below a board that leaves room for them."""

_STEPS = {
    "left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0), "h": (0, -1), "l": (0, 1), "k": (-1, 0),
    "j": (1, 0),
}  # fmt: skip


class Command(NamedTuple):
    """What a key does."""

    run: Callable[[], object]
    label: str
    meaning: str
    """In the list of all keys."""
    word: str = ""
    """What is typed for it at the prompt."""


class _Layout(NamedTuple):
    """Where everything goes."""

    board: Area
    fit: Fit
    side: Area | None
    status: Area


class BoardView:
    """A view of a board; what it shows and does is for its subclasses to say."""

    game: Cells
    covers = True

    def __init__(self, app: App, game: Cells) -> None:
        """Begin with the cursor in the middle."""
        self.app = app
        self.message = ""
        self.take_game(game)

    def take_game(self, game: Cells) -> None:
        """Show a board of this game from now on."""
        self.game = game
        self.cursor = game.middle
        self.typed = ""

    @property
    @abstractmethod
    def commands(self) -> Mapping[str, Command]:
        """What keys do now, the most important first."""

    @abstractmethod
    def claim(self, cell: int) -> None:
        """Do what claiming a cell means."""

    @abstractmethod
    def header(self, *, brief: bool) -> str:
        """Return the first line; `brief` if there is no right side."""

    def status(self) -> str:
        """Return what is written below the board."""
        return self.message

    @abstractmethod
    def shown(self) -> Shown:
        """Return what is shown of the board."""

    @abstractmethod
    def draw_side(self, canvas: Canvas, area: Area) -> None:
        """Draw what there is to say of the game."""

    @property
    def widest(self) -> int:
        """How wide notes are that have to fit into cells."""
        return 0

    def tell(self, text: str) -> None:
        """Show a message."""
        self.message = text

    def _fail(self, error: BaseException) -> None:
        """Tell what has gone wrong in the background."""
        if not isinstance(error, Ttt4Error):
            raise error
        self.tell(sentence(str(error)))

    def draw(self, canvas: Canvas) -> None:
        """Draw everything."""
        layout = self._layout(canvas)
        canvas.put(0, 1, self.header(brief=not layout.side), Look.BOLD, canvas.columns - 2)
        draw_board(canvas, layout.board, self.game, layout.fit, self.shown())
        if layout.side:
            self.draw_side(canvas, layout.side)
        self._draw_status(canvas, layout.status)
        draw_bar(canvas, [(key, command.label) for key, command in self.commands.items() if command.label], "do ")

    def heed(self, key: str) -> None:
        """Move the cursor, claim a cell, or run a command."""
        if key.startswith("do "):  # a click on a button
            self._run(key.removeprefix("do "))
        elif (cell := self._named(key)) is not None:  # a click
            self.typed = ""
            self.cursor = cell
            self.claim(cell)
        elif key == "enter" or key == " ":
            self._enter()
        elif key == "backspace" and self.typed:
            self.typed = self.typed[:-1]
        elif not self._type(key):
            self._run(key)

    def _enter(self) -> None:
        typed, self.typed = self.typed, ""
        if (cell := self._named(typed)) is not None:
            self.cursor = cell
            self.claim(cell)
        elif typed in self.commands:
            self._run(typed)
        else:
            self.claim(self.cursor)

    def _named(self, name: str) -> int | None:
        """Return the cell with exactly this name."""
        return self.game.cell(name) if name and name in self.game.names_from(name) else None

    def _run(self, key: str) -> None:
        self.typed = ""
        if key in _STEPS:
            self._step(*_STEPS[key])
        elif command := self.commands.get(key):
            command.run()

    def _type(self, key: str) -> bool:
        """Take a character of a cell's name; tell whether that is all that it means."""
        if len(key) != 1 or not key.isalnum():
            return False
        for text in (self.typed + key, key):
            found = self.game.names_from(text)
            if not found:
                continue
            self.typed = text
            if key in _STEPS:
                self._step(*_STEPS[key])
            if found == [text]:
                self._enter()
            return True
        return False

    def _step(self, down: int, right: int) -> None:
        """Move the cursor to the next cell in a direction; holes are skipped."""
        game = self.game
        row, column = game.place(self.cursor)
        while 0 <= (row := row + down) < game.rows and 0 <= (column := column + right) < game.columns:
            cell = game.cell_at(row, column)
            if cell is not None:
                self.cursor = cell
                return

    def _layout(self, canvas: Canvas) -> _Layout:
        usual = 1 if canvas.rows < 16 else 2 if canvas.rows < 24 else 3
        layout = self._laid_out(canvas, usual)
        needed = len(self._status_lines(canvas.columns - 2))
        for status in range(min(needed, usual + _MORE), usual, -1):  # as many more as leave the board as it is
            larger = self._laid_out(canvas, status)
            if (larger.fit, larger.board) == (layout.fit, layout.board):
                return larger
        return layout

    def _laid_out(self, canvas: Canvas, status: int) -> _Layout:
        """Return where everything goes if so many lines are below the board."""
        top = 1 if canvas.rows < 26 else 2
        rows, columns = canvas.rows - top - status - 1, canvas.columns - 2
        alone = fit(self.game, rows, columns, self.widest)
        beside = fit(self.game, rows, columns - _SIDE - 2, self.widest)
        height, width = beside.size(self.game)
        has_side = columns >= _SIDE + 30 and (width <= columns - _SIDE - 2 or alone == beside)
        how = beside if has_side else alone
        height, width = how.size(self.game)
        width = min(width, columns - _SIDE - 2 if has_side else columns)
        board = Area(top, 1, min(height, rows), width)
        side = None
        if has_side:
            side = Area(top, width + 4, rows, min(columns - width - 3, _WIDEST_SIDE))
        return _Layout(board, how, side, Area(canvas.rows - 1 - status, 1, status, columns))

    def _status_lines(self, columns: int) -> list[str]:
        text = self.status()
        if self.typed:
            command = self.commands.get(self.typed)
            text = f"Cell {self.typed}_" + (f" (Enter: {command.label or command.meaning})" if command else "")
        return wrapped(text, columns)

    def _draw_status(self, canvas: Canvas, area: Area) -> None:
        lines = self._status_lines(area.columns)
        if len(lines) > area.rows:
            lines = [*lines[: area.rows - 1], lines[area.rows - 1][: area.columns - 2] + " …"]
        for row, line in enumerate(lines):
            canvas.put(area.row + row, area.column, line)
