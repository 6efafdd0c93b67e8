"""Matches and records for tests: of given moves, or of random events, in games of lines and in one without."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from runpy import run_path
from typing import Any

import naive
from hypothesis import strategies as st

from play.match import Match, MatchError
from play.records.text import Record
from solver.games.duel import Duel
from solver.games.duel_rules import DuelRules
from solver.games.line_rules import LineRules, LineState
from solver.games.notation import parse_game
from solver.games.registry import find_game, may_be_recorded
from solver.games.rules import set_up

NIM = run_path(str(Path(__file__).parent / "play" / "nim.py"))["Nim"]()
EXCHANGED = str.maketrans("XO", "OX")
OWN_TAGS = ("Game", "Board", "First", "Times", "Forfeit", "Result")
"""The tags that a record writes by itself."""

EVERY_KIND = """\
# a remark
[Game "3,3,3"]
[First "O"]
[Board "O../.../..."]
[X "human"]
[O "oracle"]
[Times "2026-09-21T14:13:20Z +3 +1 +1 +1 +1 +1 +1 +1 +1 +1"]
[Forfeit "too slow"]
[Result "1-0"]

1. b2 c3 undo redo undo
1... b1 O-resigns undo restart
1. c1 O-forfeits 1-0
"""
"""A record with every kind of event and every tag."""


@cache
def rules_of(name: str, first: str = "X") -> LineRules:
    return LineRules(parse_game(name), first)


def match_of(name: str, cells: Sequence[int], first: str = "X") -> Match[LineState]:
    """A match in which these cells were claimed, or as many as it took to end it."""
    match = Match(rules_of(name, first))
    for cell in cells:
        if match.to_move:
            match.play(match.to_move, cell)
    return match


@st.composite
def plays(draw: st.DrawFn) -> tuple[str, list[int]]:
    """A game, and cells in the order in which they are claimed until the game ends or they run out."""
    name = draw(st.sampled_from(["4,4,4", "3,3,3", "4,4,4,misere", "3,3,3,misere", "3,4,3"]))
    cells = naive.Game.named(name).cells
    order = draw(st.permutations(range(cells)))
    return name, order[: draw(st.integers(0, cells))]


LINES = [rules_of(name) for name in ("4,4,4", "3,3,3", "3,3,3,misere", "3,4,3", "5,5,4", "15,15,5", "2,30,2")]
O_FIRST = [rules_of(name, "O") for name in ("3,3,3", "3,3,3,misere")]
DUELS = [DuelRules(Duel(rows, columns)) for rows in range(1, 5) for columns in range(1, 6)]
SEVERAL = [find_game(name) for name in ("3p:3,3,3", "3p:4,4,3", "4p:3,4,3")]
SMALL = [rules_of("4,4,4"), rules_of("3,3,3"), O_FIRST[0], NIM]

LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters='"\n\r')
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,9}", fullmatch=True).filter(lambda name: name not in OWN_TAGS)
VALUES = st.text(LETTERS, max_size=30)
REMARKS = st.lists(VALUES.map(lambda text: f"# {text}".strip()), max_size=3).map(tuple)
REASONS = st.text(LETTERS.filter(lambda letter: letter != "|"), max_size=20)
TIMES = st.one_of(st.integers(1_790_000_000, 1_790_000_100), st.integers(0, 253_402_300_799))
STEPS = st.one_of(
    st.integers(0, 10_000),
    st.integers(0, 10_000),
    st.sampled_from(["undo", "redo", "undo", "redo", "over", "X", "O", "Z"]),
    st.tuples(st.sampled_from("XOZ"), REASONS),
)
"""Steps of a match; X, O and Z stand for its first, its second and its third side."""


def _take(match: Match[Any], step: Any) -> None:
    """Move, as counted among the legal moves; go back or on; let a side resign, or forfeit for a reason."""
    legal, sides = match.rules.legal(match.state), dict(zip("XOZ", match.rules.sides, strict=False))
    if isinstance(step, int) and legal:
        match.play(match.to_move or "X", legal[step % len(legal)])
    elif isinstance(step, tuple):
        match.forfeit(sides.get(step[0], step[0]), step[1])
    elif step in ("X", "O", "Z"):
        match.resign(sides.get(step, step))
    elif isinstance(step, str):
        {"undo": match.undo, "redo": match.redo, "over": match.start_over}[step]()


@st.composite
def matches(draw: st.DrawFn, rules: Sequence[Any]) -> Match[Any]:
    """A match from any board, with any events, all of them at a known time or none."""
    of = draw(st.sampled_from(rules))
    begun: Match[Any] = Match(of)
    for step in draw(st.lists(st.integers(0, 10_000), max_size=3)):
        _take(begun, step)
    while begun.outcome:
        begun.undo()
    known = draw(st.booleans())
    match = Match(of, set_up(of, of.encode(begun.state)), clock=lambda: draw(TIMES) if known else None)
    for step in draw(st.lists(STEPS, max_size=25)):
        with suppress(MatchError):
            _take(match, step)
    return match


@st.composite
def records(draw: st.DrawFn, rules: Sequence[Any] = (*LINES, *O_FIRST, *SEVERAL, NIM)) -> Record:
    return Record(draw(matches(rules)), draw(st.dictionaries(NAMES, VALUES, max_size=4)), draw(REMARKS))


def record_of(name: str, moves: list[int], tags: dict[str, str] | None = None, first: str = "X") -> Record:
    return Record(match_of(name, moves, first), tags or {})


def given_rules(record: Record) -> Any:
    """The rules without which the record cannot be read: none, unless its game is code."""
    return None if may_be_recorded(record.match.rules.name) else record.match.rules


def seen(record: Record) -> tuple[object, ...]:
    """All that a record says."""
    match = record.match
    return match.rules, match.states, match.moves, match.events, match.outcome, record.tags, record.remarks


@st.composite
def edits(draw: st.DrawFn, text: str) -> list[str]:
    """A text with one character replaced, one added, and one removed."""
    at = draw(st.integers(0, len(text) - 1))
    character = draw(st.one_of(st.sampled_from('abcdXO0123456789.-/*#[]{}:", \n'), st.characters()))
    return [text[:at] + character + text[at + 1 :], text[:at] + character + text[at:], text[:at] + text[at + 1 :]]
