"""The brain: what each command of a manager does, and what is answered. It neither reads nor writes.

A line comes in and lines go out: none, or the answer, perhaps with a MESSAGE before it. What cannot be done is answered
by ERROR and changes nothing, except that a TURN that ends the game is still made. Unknown commands are answered by
UNKNOWN. INFO is never answered, whatever it says: a limit or rule that cannot be kept is told at the next command that
asks for a move.
"""

import re
import resource
import sys
from collections.abc import Callable
from time import monotonic

from play.gomocup.clock import Clock
from play.gomocup.places import cell_at, read_place, write_place
from play.gomocup.stones import Refused, Stones
from play.gomocup.swap import colours, most_even, openings
from play.gomocup.thinking import Maker, Thinker, Thought, message
from solver import __version__
from solver.engine import CELLS_MOST
from solver.errors import Ttt4Error
from solver.games.lines import Game, grid
from solver.own_code import one_line
from solver.text import shown

HURRY = 0.1
"""How long a move takes when the manager has said END, in seconds."""

_IN_A_ROW = 5
_RULES = {1: "exactly five", 2: "continuous game", 4: "renju", 8: "caro"}
_TABLE_BITS, _FEWEST_BITS, _ENTRY_BYTES = 20, 12, 16
_KILOBYTE = 1 if sys.platform == "darwin" else 1024
"""The unit in which the system counts the memory of a process."""


class Brain:
    """Plays by commands."""

    def __init__(self, make: Maker, game: Game | None = None, *, clock: Callable[[], float] = monotonic) -> None:
        """Think with what `make` makes; play `game`, or five in a row on whatever board is asked for."""
        self.thinking_until: float | None = None
        """When the present thought has to end; None if there is none. Other threads may read it."""
        self.hurried = False
        """Whether moves are in a hurry."""
        self._make, self._named, self._now = make, game, clock
        self._clock = Clock()
        self._arrived = self._answered = float("-inf")
        self._rule = self._max_memory = self._warned = 0
        self._stones: Stones | None = None
        self._engine: Thinker | None = None
        self._made_for: tuple[Game, int] | None = None
        self._block: list[str] | None = None
        """The lines of a BOARD or SWAP2BOARD that has not ended."""
        self._block_ends: Callable[[list[str]], list[str]] = self._board
        self._commands: dict[str, Callable[[str], list[str]]] = {
            "START": self._start, "RECTSTART": self._rectstart, "RESTART": self._restart, "BEGIN": self._begin,
            "TURN": self._turn, "PLAY": self._play, "TAKEBACK": self._takeback, "INFO": self._info,
            "ABOUT": lambda rest: [f'name="ttt4", version="{__version__}"'],
            "BOARD": lambda rest: self._open(self._board), "SWAP2BOARD": lambda rest: self._open(self._swap2board),
        }  # fmt: skip

    def answers(self, line: str, arrived: float | None = None) -> list[str]:
        """Return the answer to a line that came at a time, by the brain's clock; by default just now.

        The time for a move begins when it is asked for, but not before all that was asked earlier is answered.
        """
        self._arrived = max(self._answered, self._now() if arrived is None else arrived)
        try:
            return self._answer(line)
        finally:
            self._answered = self._now()

    def _answer(self, line: str) -> list[str]:
        word, _, rest = line.strip().partition(" ")
        try:
            if self._block is not None and word.upper() != "INFO":
                return self._continue(self._block, line.strip(), word.upper())
            command = self._commands.get(word.upper())
            return [f"UNKNOWN command {shown(word, 30)}"] if command is None else command(rest)
        except (Refused, Ttt4Error) as refusal:
            return [f"ERROR {refusal}"]
        except Exception as error:  # a manager can do nothing with a traceback
            return [f"ERROR {one_line(error)}"]

    def _start(self, rest: str) -> list[str]:
        size = _number(rest)
        return self._set_up(size, size)

    def _rectstart(self, rest: str) -> list[str]:
        place = read_place(rest)
        if place is None:
            raise Refused(f"no size {shown(rest, 30)}: write RECTSTART width,height")
        return self._set_up(place[1], place[0])

    def _restart(self, rest: str) -> list[str]:
        self._prepare(self._board_now().game)
        return ["OK"]

    def _set_up(self, rows: int, columns: int) -> list[str]:
        game = self._named
        if game and (rows, columns) != (game.rows, game.columns):
            raise Refused(f"this brain plays {game.name} only, on {game.columns} by {game.rows} cells")
        if (game.cells if game else rows * columns) > CELLS_MOST:
            raise Refused(f"the board is too large: at most {CELLS_MOST} cells")
        self._prepare(game or grid(rows, columns, _IN_A_ROW))
        return ["OK"]

    def _prepare(self, game: Game) -> None:
        """Begin with an empty board, and an engine that has found nothing yet."""
        self._stones = None
        wanted = game, self._table_bits()
        if self._engine and self._made_for == wanted:
            self._engine.forget()
        else:
            self._engine = self._made_for = None
            self._engine, self._made_for = self._make(*wanted), wanted
        self._stones = Stones(game)
        self._clock.spent = 0.0

    def _table_bits(self) -> int:
        """Return the size of a table that leaves three quarters of the memory to everything else."""
        entries = self._max_memory // 4 // _ENTRY_BYTES
        return max(_FEWEST_BITS, min(_TABLE_BITS, entries.bit_length() - 1)) if self._max_memory else _TABLE_BITS

    def _begin(self, rest: str) -> list[str]:
        stones = self._ready()
        if stones.own | stones.other:
            raise Refused("the board is not empty: send RESTART before BEGIN")
        return self._move(stones)

    def _turn(self, rest: str) -> list[str]:
        stones = self._ready()
        stones.require_going()
        stones.put(self._cell(rest), own=False)
        return self._move(stones)

    def _play(self, rest: str) -> list[str]:
        stones = self._ready()
        cell = self._cell(rest)
        stones.put(cell, own=True)
        return [write_place(stones.game, cell)]

    def _takeback(self, rest: str) -> list[str]:
        self._board_now().take(self._cell(rest))
        return ["OK"]

    def _info(self, rest: str) -> list[str]:
        key, _, value = rest.strip().partition(" ")
        key, value = key.lower(), value.strip()
        if not re.fullmatch(r"-?\d{1,18}", value):
            return []
        if key in ("timeout_turn", "timeout_match", "time_left"):
            self._clock.set(key, int(value))
        elif key == "rule":
            self._rule = int(value)
        elif key == "max_memory":
            self._max_memory = max(0, int(value))
            if self._stones and not self._stones.own | self._stones.other:
                self._prepare(self._stones.game)
        return []

    def _open(self, then: Callable[[list[str]], list[str]]) -> list[str]:
        """Collect lines up to DONE; also after a refusal, so that they are not taken for commands."""
        self._block, self._block_ends = [], then
        return []

    def _continue(self, block: list[str], line: str, word: str) -> list[str]:
        """Take a line of a BOARD or SWAP2BOARD."""
        if word == "DONE":
            self._block = None
            return self._block_ends(block)
        if word in self._commands:
            self._block = None
            return ["ERROR the stones did not end with DONE", *self._answer(line)]
        if len(block) <= CELLS_MOST:  # one more than fit, so that too many are too many
            block.append(line)
        return []

    def _board(self, lines: list[str]) -> list[str]:
        game = self._ready().game
        stones = Stones(game)
        for line in lines:
            place, _, field = line.rpartition(",")
            if field.strip() not in ("1", "2"):
                raise Refused(f"no stone {shown(line, 30)}: write x,y,1 for an own one or x,y,2")
            stones.put(self._cell(place), own=field.strip() == "1")
        answer = self._move(stones)
        self._stones = stones
        return answer

    def _swap2board(self, lines: list[str]) -> list[str]:
        game = self._ready().game
        cells = tuple(self._cell(line) for line in lines)
        if len(set(cells)) < len(cells):
            raise Refused("a cell is named twice")
        if not cells:
            return self._place_three(game)
        if len(cells) not in (3, 5):
            raise Refused(f"SWAP2BOARD with {len(cells)} stones: there can be 0, 3 or 5")
        second, first = colours(cells)
        stones = Stones(game, second, first)
        told = self._move(stones, swap=True)
        self._stones = Stones(game, first, second) if told[-1] == "SWAP" else stones
        return told

    def _place_three(self, game: Game) -> list[str]:
        parts = len(openings(game)) or 1
        cells = most_even(game, lambda own, other: self._thought(Stones(game, own, other), parts).share)
        if not cells:
            raise Refused("three stones do not fit on the board")
        second, first = colours(cells)
        self._stones = Stones(game, first, second)
        return [" ".join(write_place(game, cell) for cell in cells)]

    def _move(self, stones: Stones, *, swap: bool = False) -> list[str]:
        """Make a move, and return its line; with `swap`, return SWAP where the other side has the better prospects."""
        stones.require_going()
        thought = self._thought(stones)
        told = [*self._memory(), message(stones.game, thought)]
        if swap and thought.share < 0.5:
            return [*told, "SWAP"]
        cell = int(thought.cell)  # numbers of numpy overflow where cells are shifted
        stones.put(cell, own=True)
        return [*told, write_place(stones.game, cell)]

    def _thought(self, stones: Stones, parts: int = 1) -> Thought:
        """Return the engine's thought in one of so many parts of the time for a move."""
        engine, began = self._engine, self._now()
        if engine is None:
            raise Refused("no board yet: send START first")
        seconds = max(0.0, self._clock.seconds(stones.moves) - (began - self._arrived)) / parts
        seconds = min(seconds, HURRY) if self.hurried else seconds
        self.thinking_until = began + seconds
        try:
            return engine.think(stones.own, stones.other, seconds=seconds)
        finally:
            self.thinking_until = None
            self._clock.spent += self._now() - began

    def _memory(self) -> list[str]:
        """Return a warning, once for each limit, if this process takes more memory than it may."""
        allowed, taken = self._max_memory, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILOBYTE
        if not allowed or taken <= allowed or allowed == self._warned:
            return []
        self._warned = allowed
        return [f"MESSAGE this brain takes {taken >> 20} MB, more than max_memory allows"]

    def _board_now(self) -> Stones:
        if self._stones is None:
            raise Refused("no board yet: send START first")
        return self._stones

    def _ready(self) -> Stones:
        """Return the board; raise Refused if there is none, or if the rule is one that is not played here."""
        if self._rule:
            names = ", ".join(name for bit, name in _RULES.items() if self._rule & bit)
            raise Refused(f"rule {self._rule} ({names or 'unknown'}) is not supported: this brain plays rule 0")
        return self._board_now()

    def _cell(self, text: str) -> int:
        place = read_place(text)
        cell = place and cell_at(self._board_now().game, place)
        if cell is None:
            raise Refused(f"no cell {shown(text.strip(), 30)} on this board")
        return cell


def _number(text: str) -> int:
    if not re.fullmatch(r"\s*\d{1,9}\s*", text):
        raise Refused(f"no size {shown(text.strip(), 30)}: write a number")
    return int(text)
