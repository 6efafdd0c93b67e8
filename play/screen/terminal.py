"""The terminal: full screen by curses, keys and clicks in, canvases out, and everything as it was at the end.

curses knows what each kind of terminal understands, sends only what has changed, heeds a new size, and takes 5 ms to
load.
"""

import curses
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType, TracebackType
from typing import NamedTuple

from play.screen.canvas import Canvas, Look


class Click(NamedTuple):
    """A click of the first button of the mouse, or a turn of its wheel."""

    row: int
    column: int
    wheel: int = 0
    """1 for down, -1 for up, 0 for a click."""


RESIZED, GONE = "resized", "gone"
"""What is returned in place of a key: the window has another size, or nobody has the terminal any more."""

LEAST_ROWS, LEAST_COLUMNS = 10, 30
"""On a smaller screen nothing can be drawn."""

_KEYS = {
    curses.KEY_LEFT: "left", curses.KEY_RIGHT: "right", curses.KEY_UP: "up", curses.KEY_DOWN: "down",
    curses.KEY_ENTER: "enter", curses.KEY_BACKSPACE: "backspace", curses.KEY_DC: "backspace", curses.KEY_HOME: "home",
    curses.KEY_END: "end", curses.KEY_PPAGE: "page up", curses.KEY_NPAGE: "page down", curses.KEY_RESIZE: RESIZED,
    curses.KEY_BTAB: "back tab", curses.KEY_F1: "?",
}  # fmt: skip
_CHARACTERS = {
    "\n": "enter", "\r": "enter", "\x1b": "escape", "\x7f": "backspace", "\b": "backspace", "\t": "tab",
    "\x0c": "redraw",
}  # fmt: skip

_WHEEL_UP, _WHEEL_DOWN = curses.BUTTON4_PRESSED, getattr(curses, "BUTTON5_PRESSED", 1 << 21)
_PRESSED = curses.BUTTON1_PRESSED
"""What counts as a click: were releases asked for too, curses would make one event of several quick clicks."""

_CONSOLE = str.maketrans("╲╱╳╭╮╰╯●▸▾┏┓┗┛━┃…–", "\\/X┌┐└┘o>v╔╗╚╝═║.-")
"""For the Linux console, whose fonts have what the IBM PC had."""

_ASCII = str.maketrans("╲╱╳╭╮╰╯●▸▾┏┓┗┛━┃…–┌┐└┘─│├┤┬┴┼█·←→↑↓×", "\\/X..''o>v######.-++++-|+++++#.<>^vx")

_COLOURS = {
    Look.FIRST: (12, curses.COLOR_BLUE), Look.SECOND: (3, curses.COLOR_YELLOW), Look.RED: (9, curses.COLOR_RED),
    Look.GREEN: (2, curses.COLOR_GREEN), Look.WIN: (6, curses.COLOR_CYAN), Look.LOSS: (5, curses.COLOR_MAGENTA),
}  # fmt: skip
"""The colour of each look, of 16 and of 8. None means anything alone: letters, signs and shapes say the same."""

_ATTRIBUTES = {
    Look.BOLD: curses.A_BOLD, Look.DIM: curses.A_DIM, Look.UNDERLINED: curses.A_UNDERLINE,
    Look.REVERSED: curses.A_REVERSE,
}  # fmt: skip


def can_show() -> bool:
    """Tell whether this process's terminal is large enough, and able to draw anywhere."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        curses.setupterm()
    except curses.error:
        return False
    columns, rows = os.get_terminal_size()
    large = not rows or (rows >= LEAST_ROWS and columns >= LEAST_COLUMNS)  # 0 by 0 is a size that nobody knows
    return large and bool(curses.tigetstr("cup") and curses.tigetstr("clear"))


class Terminal:
    """A terminal as one screen: a context manager that leaves it as it was."""

    def __enter__(self) -> "Terminal":
        os.environ.setdefault("ESCDELAY", "100")  # milliseconds in which what follows Esc is one key with it
        self._continued = False
        if signal.getsignal(signal.SIGTSTP) is signal.SIG_DFL:  # else whoever has started this wants no stop
            signal.signal(signal.SIGTSTP, self._stop)
        self._window = curses.initscr()
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Give the terminal back."""
        if signal.getsignal(signal.SIGTSTP) == self._stop:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        with suppress(curses.error):
            curses.mousemask(0)
            curses.endwin()

    @property
    def size(self) -> tuple[int, int]:
        """How many rows and columns there are now."""
        return self._window.getmaxyx()

    def show(self, canvas: Canvas) -> None:
        """Draw a canvas, of which only what has changed is sent."""
        window = self._window
        rows, columns = window.getmaxyx()
        window.erase()
        for row in range(min(rows, canvas.rows)):
            texts, looks = canvas.texts[row][:columns], canvas.looks[row][:columns]
            end = len(texts)
            while end and texts[end - 1] == " " and not looks[end - 1]:
                end -= 1
            at = 0
            while at < end:
                stop = at + 1
                while stop < end and looks[stop] == looks[at]:
                    stop += 1
                stop += _gap(texts[stop:end], looks[stop:end], looks[at])
                with suppress(curses.error):  # the very last place of a screen cannot be passed
                    window.addstr(row, at, self._written("".join(texts[at:stop])), self._attribute(looks[at]))
                at = stop
        window.refresh()

    def redraw(self) -> None:
        """Draw everything again at the next `show`, whatever another program has written there."""
        self._window.clear()

    def next(self, seconds: float | None) -> str | Click | None:
        """Return the next key or click; None if there is none within the time."""
        self._window.timeout(-1 if seconds is None else int(1000 * seconds))
        try:
            key = self._window.get_wch()
        except curses.error:
            if self._continued:
                self._continued = False
                if (size := os.get_terminal_size())[0]:
                    curses.resizeterm(size.lines, size.columns)
                self.redraw()
                return RESIZED
            return None if os.isatty(0) else GONE
        if key == curses.KEY_MOUSE:
            return _click()
        if isinstance(key, int):
            return _KEYS.get(key)
        return _CHARACTERS.get(key, key if key.isprintable() else None)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Give the terminal back until the process goes on.

        curses would do so by itself, but then go on waiting for a key without having set the terminal's modes again.
        """
        curses.endwin()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stop)
        self._continued = True

    def _prepare(self) -> None:
        curses.noecho()
        curses.cbreak()
        self._window.keypad(True)
        with suppress(curses.error):
            curses.curs_set(0)
        curses.mousemask(_PRESSED | _WHEEL_UP | _WHEEL_DOWN)
        curses.mouseinterval(0)
        encodings = {name.lower().replace("-", "") for name in (sys.stdout.encoding or "ascii", self._window.encoding)}
        self._plain = encodings != {"utf8"}  # curses has the locale's, and Python perhaps another one
        self._known = _CONSOLE if os.environ.get("TERM", "").startswith("linux") else {}
        self._attributes: dict[Look, int] = {}
        self._pairs = _pairs() if not os.environ.get("NO_COLOR") and curses.has_colors() else {}

    def _written(self, text: str) -> str:
        """Return text in characters that this terminal has."""
        if self._plain:
            return text.translate(_ASCII).encode("ascii", "replace").decode()
        return text.translate(self._known) if self._known else text

    def _attribute(self, look: Look) -> int:
        if look not in self._attributes:
            self._attributes[look] = 0
            for part in look:
                self._attributes[look] |= _ATTRIBUTES.get(part) or self._pairs.get(part, 0)
        return self._attributes[look]


def _pairs() -> dict[Look, int]:
    """Return the attributes of looks that have a colour."""
    curses.start_color()
    background = curses.COLOR_BLACK
    with suppress(curses.error):
        curses.use_default_colors()
        background = -1
    for number, (bright, plain) in enumerate(_COLOURS.values(), 1):
        curses.init_pair(number, bright if curses.COLORS >= 16 else plain, background)
    return {look: curses.color_pair(number) for number, look in enumerate(_COLOURS, 1)}


def _gap(texts: Sequence[str], looks: Sequence[Look], look: Look) -> int:
    """Return how many blanks begin some text, if they are few and in this look the same as in their own.

    Written with what stands before them, they take a byte each, and else some 10 for a change of looks.
    """
    set_off = Look.UNDERLINED | Look.REVERSED
    width = next((at for at, text in enumerate(texts) if text != " "), 0)
    return width if width <= 2 and not any((look | other) & set_off for other in looks[:width]) else 0


def _click() -> Click | None:
    try:
        _, column, row, _, state = curses.getmouse()
    except curses.error:
        return None
    if state & _WHEEL_UP:
        return Click(row, column, -1)
    if state & _WHEEL_DOWN:
        return Click(row, column, 1)
    return Click(row, column) if state & _PRESSED else None
