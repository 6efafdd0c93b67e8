"""The loop of a screen: show the views, wait for a key or for an answer, and let the uppermost view heed it.

Whatever may take long is done by other threads, and its results come back to this one: so views need no locks, and keys
are heeded while somebody thinks. Each thread is a **lane**, on which one thing is done after another: what shares an
oracle is on one lane, because one oracle does one search at a time.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from heapq import heappop, heappush
from typing import Any, Protocol

from play.screen.canvas import Canvas
from play.screen.terminal import GONE, LEAST_COLUMNS, LEAST_ROWS, RESIZED, Click, Terminal

_SOON = 0.02
"""How long a key is waited for while something is under way, before it is looked whether that has ended."""

_COMPILING_AFTER = 1.0
"""After how many seconds it is shown that compiled code is being waited for."""


class View(Protocol):
    """Something that is shown, alone or over others."""

    covers: bool
    """Whether nothing below is seen."""

    def draw(self, canvas: Canvas) -> None:
        """Draw it as it is now."""

    def heed(self, key: str) -> None:
        """Do what a key means."""


class _Lane:
    """A thread that does one thing after another: what is urgent first, else in the order in which it was asked."""

    def __init__(self) -> None:
        self._todo: list[tuple[bool, int, Callable[[], None]]] = []
        self._asked = 0
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def put(self, work: Callable[[], None], urgent: bool) -> None:
        """Let it be done."""
        with self._changed:
            self._asked += 1
            heappush(self._todo, (not urgent, self._asked, work))
            self._changed.notify()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._todo:
                    self._changed.wait()
                work = heappop(self._todo)[2]
            work()


class App:
    """The views that are open, and the work that is under way for them."""

    def __init__(self, terminal: Terminal) -> None:
        """Show views on a terminal."""
        self.terminal = terminal
        self.left = ExitStack()
        """What is to be closed when the person leaves."""
        self._views: list[View] = []
        self._closed: dict[int, Callable[[], None]] = {}
        self._lanes: dict[str, _Lane] = {}
        self._done: deque[Callable[[], None]] = deque()
        self._pending = 0
        self.compiling = ""
        """What to say of compiled code that is waited for."""
        self._told = ""

    def open(self, view: View, closed: Callable[[], None] = lambda: None) -> None:
        """Show a view over the others, and call a function when it is closed."""
        self._views.append(view)
        self._closed[id(view)] = closed

    def close(self, view: View) -> None:
        """Close a view; the loop ends with the last."""
        self._views.remove(view)
        self._closed.pop(id(view))()

    def ask(
        self, work: Callable[[], Any], then: Callable[[Any], None], otherwise: Callable[[BaseException], None], *,
        lane: str = "oracle", urgent: bool = False,
    ) -> None:  # fmt: skip
        """Do something in the background, and `then` heed its result, or its error, in this thread."""

        def do() -> None:
            try:
                self._done.append(partial(then, work()))
            except BaseException as error:
                self._done.append(partial(otherwise, error))

        self._pending += 1
        if lane not in self._lanes:
            self._lanes[lane] = _Lane()
        self._lanes[lane].put(do, urgent)

    def tell_compiling(self, what: str, seconds: float) -> None:
        """Show that compiled code is being waited for. Any thread may say so."""
        if seconds > _COMPILING_AFTER:
            self.compiling = f"{what}: {seconds:.0f} s"

    def compiled(self) -> None:
        """Show no more that it is."""
        self.compiling = ""

    def run(self) -> None:
        """Show and heed until no view is open."""
        with self.left:
            self._run()

    def _run(self) -> None:
        self._show()
        current = True
        while self._views:
            key = self.terminal.next(_SOON if self._pending else None)
            heard = bool(self._done) or not current or self.compiling != self._told
            self._told = self.compiling
            while self._done:
                self._pending -= 1
                self._done.popleft()()
            if key is not None and self._views:
                self._heed(key)
                heard = True
            if heard and self._views:
                current = not (self._pending and current)  # what is under way may end at once: both are shown together
                if current:
                    self._show()

    def _show(self) -> None:
        self._canvas = canvas = Canvas(*self.terminal.size)
        if canvas.rows < LEAST_ROWS or canvas.columns < LEAST_COLUMNS:
            canvas.put(0, 0, f"Too small: {LEAST_COLUMNS}x{LEAST_ROWS} at least.")
        else:
            lowest = max((at for at, view in enumerate(self._views) if view.covers), default=0)
            for view in self._views[lowest:]:
                view.draw(canvas)
        self.terminal.show(canvas)

    def _heed(self, key: str | Click) -> None:
        if key == "redraw":
            self.terminal.redraw()
        elif key == GONE:
            self._views.clear()
        elif isinstance(key, Click):
            if key.wheel:
                self._views[-1].heed("page down" if key.wheel > 0 else "page up")
            elif meant := self._canvas.key_at(key.row, key.column):
                self._views[-1].heed(meant)
        elif key != RESIZED:
            self._views[-1].heed(key)
