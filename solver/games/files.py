"""Game files: which squares of a board are cells, and which sets of cells are lines.

    about = "Four in a row, or the four corners."
    board = ["....", "....", "....", "...."]
    in_a_row = 4
    lines = ["a1 d1 a4 d4"]

The format is TOML. `about` says in a sentence what the game is. `board` has a text for each row from the top,
with `.` for a cell and a blank for a hole; rows that end early are filled with holes. With `in_a_row`, every
straight row of so many cells that crosses no hole is a line. `lines` adds lines by the names of their cells. A
game needs at least one of the two. With `misere = true`, completing a line loses.

A line that contains another line decides nothing, because the game is over no later than when the inner one is
complete. Among `lines` it is refused as a slip; a straight row that contains one is left out.

The game's name is the file's, without `.toml`. With `,misere` added it names the misère game.
"""

import json
import os
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from solver.errors import BoardError, GameError
from solver.files import read_whole
from solver.folders import definition_folders
from solver.games.board import LARGEST_CELLS, cells_of
from solver.games.lines import Game, straight_lines
from solver.text import shown

_MOST_LINES = 3_000
"""How many lines a file may list."""

_KEYS = {"about": str, "misere": bool, "board": list, "in_a_row": int, "lines": list}
_MOST_ITEMS = {"board": LARGEST_CELLS, "lines": _MOST_LINES}
_REQUIRED = {"about": 'about = "What the game is."', "board": 'board = ["...", "...", "..."]'}
_WRITTEN = {str: "a text in quotes", bool: "true or false", int: "a whole number", list: "a list of texts in quotes"}
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_DEEP_KEY = re.compile(r"""(?<![\w-])(?:(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){40}""")
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def named_game(named: str, *, misere: bool = False) -> Game:
    """Return the game of a file, given by its path or, in a folder of games, by its name alone."""
    if not named.isprintable() or '"' in named:
        raise GameError(f"cannot take game file {shown(named)}: rename it to letters, digits, _ and -")
    path = notation = named
    if named.endswith(".toml"):
        try:
            notation = _shortest(os.path.abspath(named))
        except OSError as error:  # somebody deleted the current folder
            raise _unreadable(path, error) from error
    else:
        named = notation = named.lower()
        path = _found(named)
    name = os.path.basename(path).removesuffix(".toml")
    if not _NAME.fullmatch(name) or name.endswith("-misere"):
        raise GameError(
            f"game file {path!r} has a name that no game can have: use up to 40 lower-case letters, digits, _ and -, "
            f"starting with a letter and not ending in -misere"
        )
    return _described(_File(path), name, notation, misere)


def games_with_names() -> Iterator[tuple[str, str]]:
    """Yield the name of every game in a folder of games, and what it is, or what is wrong with its file."""
    for name, path in _paths().items():
        try:
            yield name, _File(path).fields()["about"]
        except GameError as error:
            yield name, str(error)


def _found(name: str) -> str:
    """Return the path of the file of a named game."""
    paths = _paths()
    if name in paths:
        return paths[name]
    there = ", ".join(["duel", *paths])
    raise GameError(f"no game {shown(name)}: there are {there}; or write rows,columns,k, or the path of a file.toml")


def _shortest(path: str) -> str:
    """Return the name of a game file if that finds it, else its path."""
    name = os.path.basename(path).removesuffix(".toml")
    found = _paths().get(name)
    return name if found and os.path.realpath(found) == os.path.realpath(path) else path


def _paths() -> dict[str, str]:
    """Return the path of every named game, by name."""
    paths: dict[str, str] = {}
    for folder in definition_folders():
        with suppress(OSError):  # it is not there, or not for us
            for file in os.listdir(folder):
                name = file.removesuffix(".toml")
                if name != file and _NAME.fullmatch(name):
                    paths.setdefault(name, os.path.join(folder, file))
    return dict(sorted(paths.items()))


def _described(file: "_File", name: str, notation: str, misere: bool) -> Game:
    """Return the game that a file describes."""
    fields = file.fields()
    if misere:
        if fields.get("misere"):
            raise file.wrong(f"{name!r} is a misère game already: leave out ,misere", file.line("misere"))
        name, notation = f"{name},misere", f"{notation},misere"
    board = _board(file, name, fields["board"])
    straight = _straight(file, board, fields["in_a_row"]) if "in_a_row" in fields else set()
    listed = _listed(file, board, straight, fields.get("lines", []))
    if not straight and not listed:
        raise file.wrong("there is no line, so nobody could win: write in_a_row = 3, or lines", file.line("lines"))
    containing = _containing(straight | listed).keys() if listed else set()  # straight rows of one length hold none
    lines = tuple(sorted((straight | listed) - containing))
    return Game(name, board.rows, board.columns, lines, misere or fields.get("misere", False), board.holes, notation)


class _File:
    """The text of a game file, which knows the line of each part."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.text = ""
        try:
            read = read_whole(path)
        except OSError as error:
            raise _unreadable(path, error) from error
        try:
            self.text = read.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = read.count(b"\n", 0, error.start) + 1
            raise self.wrong("it is not text in UTF-8", line) from error

    def fields(self) -> dict[str, Any]:
        """Return what the file says, each field of the right type."""
        fields = self._parsed()
        for key, value in fields.items():
            if key not in _KEYS:
                raise self.wrong(f"there is no key {shown(key, 24)}: there are {', '.join(_KEYS)}", self.line(key))
            if type(value) is not _KEYS[key]:
                raise self.wrong(f"{key} is {shown(value)}: write {_WRITTEN[_KEYS[key]]}", self.line(key))
            items: list[Any] = value if isinstance(value, list) else []
            if items and len(items) > _MOST_ITEMS[key]:
                raise self.wrong(f"{key} has {len(items):,} items: at most {_MOST_ITEMS[key]:,} fit", self.line(key))
            for i, item in enumerate(items):
                if not isinstance(item, str):
                    raise self.wrong(
                        f"{shown(item)} in {key} is not text: write it in quotes", self.line(key, items, i)
                    )
        for key, example in _REQUIRED.items():
            if key not in fields:
                raise self.wrong(f"{key} is missing: write {example}", 1)
        if not fields["about"].strip() or not fields["about"].isprintable():
            raise self.wrong("about must be a sentence in one line: say what the game is", self.line("about"))
        return fields

    def _parsed(self) -> dict[str, Any]:
        deep = _DEEP_KEY.search(self.text)
        if deep:  # tomllib would take minutes
            raise self.wrong("a key has too many parts", self.text.count("\n", 0, deep.start()) + 1)
        try:
            return tomllib.loads(self.text)
        except RecursionError:
            why, line = "it is too deeply nested", 1
        except ValueError as error:
            said = str(error)
            at = _AT.search(said)
            line = int(at[1]) if at and at[1] else self.text.rstrip().count("\n") + 1
            why = _AT.sub(f", column {at[2]}" if at and at[2] else "", said).replace("\n", " ")
        raise self.wrong(f'{why}: write TOML, such as board = ["...", "..."]', line)

    def line(self, key: str, items: Sequence[Any] = (), number: int = -1) -> int:
        """Return the number of the line that has a key, or one item of its list."""
        found = re.search(rf"^[ \t[]*[\"']?{re.escape(key)}[\"']?[ \t]*[=.\]]", self.text, re.MULTILINE)
        at = after = found.start() if found else 0
        for item in items[: number + 1]:
            forms = json.dumps(item, ensure_ascii=False, default=str), f"'{item}'"
            places = [(place, len(form)) for form in forms if (place := self.text.find(form, after)) >= 0]
            if not places:
                break
            at, length = min(places)
            after = at + length
        return self.text.count("\n", 0, at) + 1

    def wrong(self, why: str, line: int) -> GameError:
        """Return the error to raise for something in a line."""
        return GameError(f"game file {self.path!r}, line {line}: {why}")


def _unreadable(path: str, error: OSError) -> GameError:
    return GameError(f"cannot read game file {path!r}: {error.strerror}; name one that describes a game")


def _board(file: _File, name: str, drawn: list[str]) -> Game:
    """Return the board, as a game without lines."""
    for i, row in enumerate(drawn):
        for mark in row:
            if mark not in ". ":
                raise file.wrong(
                    f"{mark!r} in board: write . for a cell and a blank for a hole", file.line("board", drawn, i)
                )
    rows = [row.rstrip() for row in drawn]
    while rows and not rows[-1]:
        rows.pop()
    columns = max(map(len, rows), default=0)
    if not columns:
        raise file.wrong("the board has no cell: write . for each", file.line("board"))
    if len(rows) * columns > LARGEST_CELLS:
        raise file.wrong(
            f"the board has {len(rows) * columns:,} squares: it can have at most {LARGEST_CELLS:,}",
            file.line("board"),
        )
    squares = "".join(f"{row:{columns}}" for row in rows)
    return Game(name, len(rows), columns, (), holes=sum(1 << i for i, mark in enumerate(squares) if mark == " "))


def _straight(file: _File, board: Game, k: int) -> set[int]:
    """Return every straight row of k cells that crosses no hole."""
    squares = straight_lines(board.rows, board.columns, k) if 0 < k <= max(board.rows, board.columns) else set()
    found = {line for line in squares if not line & board.holes}
    if not found:
        raise file.wrong(
            f"no {shown(k)} cells stand in a row on this board: write a number that fits", file.line("in_a_row")
        )
    if not board.holes:
        return found
    return {sum(1 << board.cells_by_square[square] for square in cells_of(line)) for line in found}


def _listed(file: _File, board: Game, straight: set[int], texts: list[str]) -> set[int]:
    """Return the lines given by their cells; refuse duplicates and lines that contain another."""
    numbers: dict[int, int] = {}
    for i, text in enumerate(texts):
        try:
            line = _line(board, text)
            if line in numbers or line in straight:
                raise BoardError(f"line {shown(text)} is a duplicate: leave it out")
        except BoardError as error:
            raise file.wrong(str(error), file.line("lines", texts, i)) from error
        numbers[line] = i
    if not numbers:
        return set()
    for line, held in _containing(straight | numbers.keys()).items():
        if line in numbers:
            i, names = numbers[line], " ".join(map(board.cell_name, cells_of(held)))
            why = f"line {shown(texts[i])} contains the line {shown(names)} and decides nothing: leave it out"
            raise file.wrong(why, file.line("lines", texts, i))
    return set(numbers)


def _line(board: Game, text: str) -> int:
    """Return the set of cells that a text names."""
    line = 0
    for name in text.split():
        bit = 1 << board.cell(name)
        if line & bit:
            raise BoardError(f"line {shown(text)} has {shown(name)} twice: name each cell once")
        line |= bit
    if not line:
        raise BoardError("a line has no cell: name its cells, such as 'a1 b1 c1'")
    return line


def _containing(lines: set[int]) -> dict[int, int]:
    """Return the lines that contain another, each with one that it contains."""
    by_first: dict[int, list[int]] = {}
    for line in lines:
        by_first.setdefault(line & -line, []).append(line)
    found = {}
    for line in lines:
        for cell in cells_of(line):
            for other in by_first.get(1 << cell, ()):
                if other & line == other != line:
                    found[line] = other
    return found
