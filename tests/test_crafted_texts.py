"""Texts that somebody made on purpose: every game file, record and board is read or refused in one short line."""

import json
import os
import random
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from limits import faults, wrong_with

from oracle import Oracle
from play.records.files import load_record
from play.records.json_form import record_from_json
from solver.errors import Ttt4Error
from solver.games.notation import parse_game

ABOUT = 'about = "x"\n'
BOARD = ABOUT + 'board = ["...", "...", "..."]\n'
RECORD = '[Game "3,3,3"]\n'
Text = tuple[str, bytes]
ALL = slice(None)


def steiner(points: int, seed: int) -> str:
    """Return the lines of a random Steiner triple system, by hill climbing: it looks alike from every point."""
    rng, third = random.Random(seed), {}
    live = {point: set(range(points)) - {point} for point in range(points)}
    while any(live.values()):
        x = rng.choice([point for point in live if live[point]])
        y, z = rng.sample(sorted(live[x]), 2)
        if z not in live[y]:
            w = third.pop(frozenset((y, z)))
            for other in (y, z):
                del third[frozenset((w, other))]
                live[w].add(other)
                live[other].add(w)
        for one, two, rest in ((x, y, z), (x, z, y), (y, z, x)):
            third[frozenset((one, two))] = rest
            live[one].discard(two)
            live[two].discard(one)
    blocks = {frozenset((*pair, rest)) for pair, rest in third.items()}
    names = [f"{'abcde'[cell % 5]}{cell // 5 + 1}" for cell in range(points)]
    return json.dumps([" ".join(names[cell] for cell in sorted(block)) for block in sorted(blocks, key=sorted)])


def game_files() -> Iterator[Text]:
    rows = 'board = ["' + "." * 100 + '"' + ', "'.join([""] + ["." * 100 + '"'] * 99) + "]\n"
    subsets = [" ".join(f"{'abcdefghijkl'[cell]}1" for cell in some) for some in combinations(range(12), 6)]
    through = [f"a1 {'abcdefghij'[i % 10]}{2 + i // 10 % 99} k{1 + i // 990}" for i in range(2_900)]
    quadruples = [
        " ".join(f"{'abcdefghijklmnopqrstuv'[cell]}1" for cell in some) for some in combinations(range(22), 4)
    ]
    texts = {
        "deep list": "a = " + "[" * 100_000, "deep closed list": "a = " + "[" * 5_000 + "]" * 5_000,
        "deep table": "[" + "a." * 100_000 + "a]", "deep key": "a." * 200_000 + "a = 1",
        "deep inline": "a = {b = " * 50_000,
        "deep quoted key": '"a".' * 100_000 + "a = 1", "deep quoted table": "[" + "'a'." * 100_000 + "a]",
        "many items": ABOUT + 'board = ["."]\nlines = [' + '"a1",' * 170_000 + "1]",
        "many rows": ABOUT + "board = [" + '"",' * 250_000 + '"x"]',
        "many lines through a cell": ABOUT + rows + "lines = " + json.dumps(through),
        "every quadruple": ABOUT + 'board = ["' + "." * 22 + '"]\nlines = ' + json.dumps(quadruples[:3000]),
        "long string": ABOUT[:-2] + "y" * 900_000 + '"\n', "too long": "#" * (2 << 20), "nulls": "\0" * 999,
        "long number": BOARD + "in_a_row = " + "9" * 100_000, "hex": BOARD + "in_a_row = 0x" + "f" * 100_000,
        "negative": BOARD + "in_a_row = -3", "infinite": BOARD + "in_a_row = inf",
        "a date": BOARD + "in_a_row = 1979-05-27",
        "wide board": ABOUT + 'board = ["' + "." * 200_000 + '"]',
        "tall board": ABOUT + "board = [" + '".", ' * 100_000 + "]",
        "wide blank": ABOUT + 'board = ["' + " " * 900_000 + '."]', "large board": ABOUT + rows + "in_a_row = 50",
        "large board, every line": ABOUT + rows + "in_a_row = 1",
        "many lines": BOARD + "lines = [" + '"a1 b1", ' * 100_000 + "]",
        "long line": BOARD + 'lines = ["' + "a1 " * 300_000 + '"]', "odd names": BOARD + 'lines = ["a1 \\u0000 ٣3"]',
        "924 lines": ABOUT + 'board = ["............"]\nlines = ' + json.dumps(subsets),
        "control in about": 'about = "\\u001b[31m"\nboard = ["."]\nin_a_row = 1',
        "same key": BOARD * 1000, "one bracket": "[", "one quote": '"',
        "one bracket more": "]", "not TOML": "\x7fELF" * 99,
        "steiner 25": ABOUT + f'board = {json.dumps(["....."] * 5)}\nlines = {steiner(25, 1)}',
        "steiner 27": ABOUT + f'board = {json.dumps(["....."] * 5 + [".."])}\nlines = {steiner(27, 3)}',
    }  # fmt: skip
    yield from ((f"game file: {name}", text.encode(errors="surrogatepass")) for name, text in texts.items())
    yield "game file: not UTF-8", b"\xff\xfe" * 999


def records() -> Iterator[Text]:
    texts = {
        "many tags": "".join(f'[T{number} "x"]\n' for number in range(60_000)), "one tag": '[Game "3,3,3"',
        "long tag": f'[Game "{"x" * 900_000}"]', "long word": RECORD + "1. " + "a" * 900_000,
        "many words": RECORD + "1. a1 " * 100_000, "many undos": RECORD + "1. a1 " + "undo redo " * 90_000 + "*",
        "many restarts": RECORD + "restart " * 100_000 + "*", "round numbers": RECORD + "1. " * 300_000,
        "huge round": RECORD + "9" * 900_000 + ". a1", "times": RECORD + '[Times "' + "+1 " * 300_000 + '"]\n*',
        "huge time": RECORD + '[Times "2026-11-18T20:15:00Z +9999999999"]\n1. a1 b1 *',
        "negative time": RECORD + '[Times "0001-01-01T00:00:00Z -9999999999"]\n1. a1 b1 *',
        "board": RECORD + f'[Board "{"X" * 900_000}"]\n*', "first": RECORD + '[First "Q"]\n*', "nulls": "\0" * 999,
        "escape": RECORD + "1. \x1b[31m", "remarks": "#\n" * 400_000, "too long": " " * (2 << 20),
        "large game": '[Game "999,999,5"]\n*', "long game": '[Game "' + "9" * 5000 + ',3,3"]\n*',
        "code": '[Game "os:system"]\n*', "device": '[Game "/dev/zero.toml"]\n*',
        "outside": '[Game "../../etc/x.toml"]\n*',
    }  # fmt: skip
    yield from ((f"record: {name}", text.encode()) for name, text in texts.items())
    deep = "[" * 100_000
    for name, text in {"deep": deep, "deep events": f'{{"game": "3,3,3", "tags": {{}}, "events": {deep}',
                       "events": '{"game": "3,3,3", "tags": {}, "events": [7]}', "null": "null",
                       "huge": f'{{"game": "3,3,3", "tags": {{}}, "events": [{{"move": {"9" * 9999}}}]}}',
                       }.items():  # fmt: skip
        yield f"json: {name}", text.encode()


def boards() -> Iterator[Text]:
    for name, text in {"long": "X" * 10**6, "runs": "9" * 10**6, "slashes": "/" * 10**6, "nulls": "\0" * 99,
                       "wide digits": "１" * 99, "mixed": "1X" * 10**5, "escape": "\x1b[31m" * 99}.items():  # fmt: skip
        yield f"board: {name}", text.encode()


def read(kind: str, path: Path) -> None:
    if kind == "game file":
        with Oracle(parse_game(str(path)), live=True, seconds=0.2) as oracle:
            oracle.analysis("." * oracle.game.cells)
    elif kind == "record":
        load_record(str(path))
    elif kind == "json":
        record_from_json(path.read_text())
    else:
        with Oracle("3,3,3", live=True) as oracle:
            oracle.analysis(path.read_text())


def fault(kind: str, path: Path) -> str:
    """What is wrong with how a text is treated; nothing if it is read, or refused in one short line."""
    wrong = wrong_with(lambda: read(kind, path), (Ttt4Error,))
    if not isinstance(wrong, Ttt4Error):
        return wrong or ""  # type: ignore[return-value]  # only what is allowed is an exception
    said = str(wrong).replace(str(path), "")
    if len(said) > 300 or len(said.splitlines()) > 1 or not said.isprintable():
        return f"a message of {len(said)} letters: {said[:300]!r}"
    return ""


@pytest.mark.parametrize(
    ("texts", "least", "some"),
    [
        pytest.param(game_files, 30, ALL, marks=pytest.mark.slow),
        pytest.param(records, 25, ALL, marks=pytest.mark.slow),
        (game_files, 30, slice(1, None, 6)),
        (records, 25, slice(0, None, 8)),
        (boards, 7, ALL),
    ],
)
def test_a_crafted_text_is_read_or_refused_in_one_line(
    texts: Callable[[], Iterator[Text]], least: int, some: slice, tmp_path: Path, forked: Any
) -> None:
    cases, path = list(texts()), tmp_path / "crafted.toml"
    assert faults(forked, path, cases[some], lambda name: fault(name.split(":")[0], path)) == ""
    assert len(cases) >= least


@pytest.mark.parametrize("kind", ["game file", "record"])
def test_a_pipe_and_a_device_are_refused_and_not_waited_for(kind: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "zero.toml").symlink_to("/dev/zero")
    for name in ("pipe.toml", "zero.toml"):
        with pytest.raises(Ttt4Error, match="not a regular file"):
            read(kind, tmp_path / name)
