"""How a program that speaks the protocol chooses a move: a player, to whom we are the manager.

It is told its limits once, and a position by TURN where that continues what it knows, else by BOARD, which says
everything. It has a time for each move and a second's grace. What it names is checked by whoever asked for the move, as
with every player.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from play.gomocup.places import cell_at, read_place, write_place
from play.gomocup.process import BrainProcess
from play.players.player import GOMOCUP, PlayerError
from solver.games.board import cells_of
from solver.games.line_rules import LineState
from solver.games.lines import Game, straight_lines
from solver.text import shown

GRACE = 1.0
"""How much longer than its time a move may take before the program is killed, in seconds."""

READY = 60.0
"""How long it may take to begin."""

_IN_A_ROW = 5
_UNLIMITED = 2**31 - 1
_MOST_REMARKS = 100


class Guest(NamedTuple):
    """A player's name, `gomocup:PATH`, `gomocup:PATH ARGUMENTS` or `gomocup:SECONDSs:PATH`, read."""

    command: tuple[str, ...]
    seconds: float | None
    """How long it has for a move, if the name says so."""


def read_guest(name: str) -> Guest:
    """Return what a player's name says; raise PlayerError if its command is none."""
    said = name.strip().removeprefix(GOMOCUP).strip()
    timed = re.fullmatch(r"(\d{1,5}(?:\.\d{1,3})?)s:(.*)", said)
    try:
        words = shlex.split(timed[2] if timed else said)
    except ValueError as error:
        raise PlayerError(f"cannot read player {shown(name)}: {error}") from None
    if not words:
        raise PlayerError(f"player {shown(name)} names no program: write {GOMOCUP}PATH")
    return Guest((found(words[0]), *words[1:]), float(timed[1]) if timed else None)


def found(program: str) -> str:
    """Return the path of a program, on PATH or beside this interpreter; raise PlayerError if there is none."""
    places = [os.environ.get("PATH", os.defpath), os.curdir, os.path.dirname(sys.executable)]
    path = shutil.which(os.path.expanduser(program), path=os.pathsep.join(places))
    if path is None:
        raise PlayerError(f"no program {shown(program)} that can be run")
    return os.path.abspath(path)


class GomocupPlayer:
    """A program that plays, each move in its time; it runs from `start` until `close`."""

    def __init__(self, game: Game, command: Sequence[str], seconds: float) -> None:
        """Let `command` play so long a move, or 0 for as fast as it can; raise PlayerError if it cannot know the game.

        The protocol speaks of five in a row on boards without holes. A command with arguments may name another game in
        them, and is believed.
        """
        if len(command) == 1 and not _is_of_five(game):
            raise PlayerError(
                f"the Gomocup protocol is for five in a row, not {game.name}: name a program that knows it by arguments"
            )
        self._game = game
        self._command = tuple(command)
        self._seconds = seconds
        self._process: BrainProcess | None = None
        self._known = 0, 0
        """The program's cells and the other side's, as far as it was told."""
        self._limited = False
        """Whether the program was told its limits, which never change."""
        self.remarks: list[str] = []
        """What it remarked on its last move: its lines of MESSAGE and DEBUG."""

    def start(self) -> None:
        """Start the program, unless it runs; raise PlayerError if it refuses the board."""
        if self._process:
            return
        rows, columns = self._game.rows, self._game.columns
        self._process, self._known, self._limited = BrainProcess(self._command), (0, 0), False
        try:
            self._require_ok(f"START {rows}" if rows == columns else f"RECTSTART {columns},{rows}")
        except BaseException:
            self._kill()
            raise

    def choose(self, state: LineState) -> int:
        """Return the program's move; raise PlayerError, and end it, if it names none in time."""
        x, o = state.position.x, state.position.o
        own, other = (x, o) if state.position.mover == "X" else (o, x)
        try:
            cell = self._asked(own, other)
        except BaseException:  # also a limit of the arena's, or Ctrl-C, in the middle of a thought
            self._kill()
            raise
        self._known = own | 1 << cell, other
        return cell

    def close(self) -> None:
        """End the program."""
        if self._process:
            process, self._process = self._process, None
            process.end()

    def _ask(self, text: str, seconds: float) -> Iterator[str]:
        """Return the lines that the program answers, as they come; none if it does not run."""
        return self._process.ask(text, seconds) if self._process else iter(())

    def _kill(self) -> None:
        if self._process:
            process, self._process = self._process, None
            process.kill()

    def _asked(self, own: int, other: int) -> int:
        self.start()
        if not self._continues(own, other):
            self._begin_anew()
        told = [] if self._limited else [self._limits()]
        self._limited, self.remarks = True, []
        for line in self._ask("\n".join([*told, self._question(own, other)]), self._seconds + GRACE):
            word, _, rest = line.partition(" ")
            if word.upper() == "SUGGEST" and read_place(rest):
                return self._imposed(rest)
            if place := read_place(line):
                return self._cell(place)
            self._heed(line)
        raise PlayerError("it names no move")

    def _question(self, own: int, other: int) -> str:
        """Return the command that tells a position and asks for a move."""
        added = other ^ self._known[1]
        if not own and not other:
            return "BEGIN"
        if own == self._known[0] and added.bit_count() == 1:
            return f"TURN {write_place(self._game, added.bit_length() - 1)}"
        mine, theirs = ([f"{write_place(self._game, cell)},{who}" for cell in cells_of(cells)]
                        for cells, who in ((own, 1), (other, 2)))  # fmt: skip
        first, second = (mine, theirs) if len(mine) == len(theirs) else (theirs, mine)
        stones = [stone for stone in chain.from_iterable(zip_longest(first, second)) if stone]
        return "\n".join(["BOARD", *stones, "DONE"])

    def _continues(self, own: int, other: int) -> bool:
        """Tell whether the program knows this position, but for the other side's last move; a new one knows any."""
        mine, theirs = self._known
        added = other & ~theirs
        return not (mine | theirs) or (mine == own and theirs & other == theirs and added.bit_count() == 1)

    def _begin_anew(self) -> None:
        """Let the program forget the position, or start it again if it cannot."""
        try:
            self._require_ok("RESTART")
            self._known = 0, 0
        except PlayerError:
            self._kill()
            self.start()

    def _limits(self) -> str:
        facts = {"timeout_turn": round(1000 * self._seconds), "timeout_match": 0, "time_left": _UNLIMITED,
                 "max_memory": 0, "game_type": 1, "rule": 0}  # fmt: skip
        return "\n".join(f"INFO {key} {value}" for key, value in facts.items())

    def _imposed(self, place: str) -> int:
        """Return the move that the program has only suggested, which is the one it shall make."""
        for line in self._ask(f"PLAY {place}", GRACE):
            if answer := read_place(line):
                return self._cell(answer)
            self._heed(line)
        raise PlayerError("it names no move")

    def _cell(self, place: tuple[int, int]) -> int:
        cell = cell_at(self._game, place)
        if cell is None:
            raise PlayerError(f"it plays {place[0]},{place[1]}, which is not on the board")
        return cell

    def _heed(self, line: str) -> None:
        """Keep a remark, skip what is none; raise PlayerError if the program says that it cannot do what it is told."""
        word = line.partition(" ")[0].upper()
        if word in ("ERROR", "UNKNOWN"):
            raise PlayerError(f"it says {shown(line)}")
        if word in ("MESSAGE", "DEBUG") and len(self.remarks) < _MOST_REMARKS:
            self.remarks.append(line)

    def _require_ok(self, command: str) -> None:
        """Tell the program to begin; raise PlayerError if it does not answer OK."""
        for line in self._ask(command, READY):
            if line.partition(" ")[0].upper() == "OK":
                return
            self._heed(line)


def _is_of_five(game: Game) -> bool:
    """Tell whether a game is what every program takes it for: five in a row wins, on a whole rectangle."""
    plain = not game.misere and not game.holes
    return plain and set(game.lines) == straight_lines(game.rows, game.columns, _IN_A_ROW)
