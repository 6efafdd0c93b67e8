"""Players: reproducible, legal, as good as they are said to be, and found by their names."""

import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import naive
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.answers import outcome
from play.players import BEST_LEVEL, Cast, PlayerError, chosen, one_line, read_player
from play.rules import LineState
from solver.errors import BoardError
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.position import Position

LEVELS = [f"oracle:{level}" for level in range(BEST_LEVEL + 1)]
KINDS = ["random", "rules", "search", "oracle", "first", *LEVELS]
SMALL = ["3,3,3", "3,3,3,misere"]


def state_of(name: str, board: str) -> LineState:
    return LineState(Position(parse_game(name), *naive.masks(board)))


@cache
def cast_of(name: str, seconds: float = 60) -> Cast:
    return Cast(parse_game(name), live=True, seconds=seconds)


@st.composite
def boards(draw: st.DrawFn, names: list[str], *, most_empty: int = 99) -> tuple[str, str]:
    """A game and a board of it on which the game goes on, with no more than so many empty cells."""
    name = draw(st.sampled_from(names))
    rules = naive.Game.named(name)
    order = draw(st.permutations(range(rules.cells)))
    board = naive.played(rules, order[: draw(st.integers(max(0, rules.cells - most_empty), rules.cells - 1))])
    assume(not naive.over(rules, board))
    return name, board


@given(boards([*SMALL, "4,4,4"], most_empty=9), st.sampled_from(KINDS), st.integers())
def test_a_player_is_reproducible_from_its_seed(where: tuple[str, str], kind: str, seed: int) -> None:
    state = state_of(*where)
    one, same = (cast_of(where[0]).player(kind, seed) for _ in range(2))
    assert [one.choose(state) for _ in range(5)] == [same.choose(state) for _ in range(5)]


@pytest.mark.parametrize("kind", ["random", "rules", "oracle:0", "oracle:9"])
def test_players_of_different_seeds_play_differently(kind: str) -> None:
    state = state_of("3,3,3", "....X....")
    assert len({cast_of("3,3,3").player(kind, seed).choose(state) for seed in range(50)}) > 1


@given(boards([*SMALL, "4,4,4", "4,4,4,misere", "5,5,4"]), st.sampled_from(KINDS))
def test_a_player_chooses_an_empty_cell(where: tuple[str, str], kind: str) -> None:
    name, board = where
    cell = cast_of(name, 0.02).player(kind, 1).choose(state_of(name, board))
    assert cell in range(len(board))
    assert board[cell] == "."


@given(boards(SMALL), st.sampled_from(["search", "oracle", "first", "oracle:10"]))
def test_the_perfect_players_choose_a_best_move(where: tuple[str, str], kind: str) -> None:
    name, board = where
    rules = naive.Game.named(name)
    child = naive.claim(board, cast_of(name).player(kind, 0).choose(state_of(name, board)))
    assert -naive.score(rules, child) == naive.score(rules, board)


def allowed_by_rule(name: str, board: str) -> set[int]:
    """The cells of the first rule that names any: win, block, middle, corner, any."""
    rules = naive.Game.named(name)
    empty = [cell for cell, mark in enumerate(board) if mark == "."]
    who = naive.mover(board)
    wins = {cell for cell in empty if naive.completer(rules, naive.claim(board, cell))}
    other = {c for c in empty if naive.completer(rules, board[:c] + "XO"[who == "X"] + board[c + 1 :])}
    free = [cell for cell in empty if cell not in wins] or empty if rules.misere else empty
    places = {cell: divmod(cell, rules.columns) for cell in free}
    middle = {
        cell for cell, (r, c) in places.items() if abs(2 * r + 1 - rules.rows) < 2 > abs(2 * c + 1 - rules.columns)
    }
    corners = {
        c for c, place in places.items() if place[0] in (0, rules.rows - 1) and place[1] in (0, rules.columns - 1)
    }
    first = [] if rules.misere else [wins, other]
    return next(tier for tier in (*first, middle, corners, set(free)) if tier)


@given(boards([*SMALL, "4,4,4", "4,4,4,misere", "3,4,3", "5,5,4", "1,8,3"]))
def test_the_rules_player_follows_the_first_rule_that_names_a_cell(where: tuple[str, str]) -> None:
    name, board = where
    player = cast_of(name).player("rules", 0)
    assert {player.choose(state_of(name, board)) for _ in range(5)} <= allowed_by_rule(name, board)


@pytest.mark.parametrize(
    ("name", "board", "cells"),
    [
        ("3,3,3", "XX.OO....", {2}),
        ("3,3,3", "XX.O.....", {2}),
        ("3,3,3", "X........", {4}),
        ("3,3,3", "....X....", {0, 2, 6, 8}),
        ("4,4,4", "................", {5, 6, 9, 10}),
        ("4,4,4", ".....XO..OX.....", {0, 3, 12, 15}),
        ("4,4,4", "X..O.XO..XO.O..X", {1, 2, 4, 7, 8, 11, 13, 14}),
        ("3,3,3,misere", "XX.OO....", {6, 8}),
        ("3,3,3,misere", "XX.OO.O.X", {5, 7}),
    ],
)
def test_the_rules_player_wins_blocks_then_takes_middle_corner_edge(name: str, board: str, cells: set[int]) -> None:
    player = cast_of(name).player("rules", 3)
    assert {player.choose(state_of(name, board)) for _ in range(100)} == cells


def test_level_0_chooses_every_move_as_often() -> None:
    board = "X.O.X...."  # O must stop a line: all moves but one lose
    player = cast_of("3,3,3").player("oracle:0", 7)
    counts = Counter(player.choose(state_of("3,3,3", board)) for _ in range(3000))
    assert set(counts) == {cell for cell, mark in enumerate(board) if mark == "."}
    expected = 3000 / len(counts)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 20.5  # as one time in a thousand


def kept(name: str, kind: str) -> int:
    """How many of a fixed set of moves keep the outcome."""
    rules, rng, player = naive.Game.named(name), random.Random(name), cast_of(name).player(kind, 11)
    total = 0
    for _ in range(400):
        board = naive.played(rules, rng.sample(range(rules.cells), rng.randint(0, 6)))
        if not naive.over(rules, board):
            child = naive.claim(board, player.choose(state_of(name, board)))
            total += outcome(-naive.score(rules, child)) == outcome(naive.score(rules, board))
    return total


@pytest.mark.parametrize("name", SMALL)
def test_a_higher_level_keeps_the_outcome_more_often(name: str) -> None:
    counts = [kept(name, kind) for kind in ("oracle:0", "oracle:3", "oracle:6", "oracle:9")]
    assert counts == sorted(set(counts))
    assert counts[-1] <= kept(name, "oracle:10") == kept(name, "first")


@pytest.mark.parametrize(
    ("name", "read"),
    [("human", ("human", 10)), (" rules\n", ("rules", 10)), ("oracle", ("oracle", 10)), ("mine:play", ("own", 10)),
     ("a.b:c", ("own", 10)), *((f"oracle:{level}", ("oracle", level)) for level in range(11))],
)  # fmt: skip
def test_a_name_is_read_as_kind_and_level(name: str, read: tuple[str, int]) -> None:
    assert read_player(name) == read


NOBODY = ["", "nobody", "Oracle", "oracle:", "oracle:11", "oracle:-1", "oracle:1.5", "oracle:٣", "oracle:999999"]
LIKE_LEVELS = [
    "oracle:07",
    "oracle:00011",
    "oracle:00",
    "oracle:010",
    "oracle:+1",
    "oracle: 1",
    "oracle:1_0",
    "oracle:5:",
]


@pytest.mark.parametrize(
    "name", [*NOBODY, *LIKE_LEVELS, "rules:1", "random:3", ":x", "a b:c", "a..b:c", "a:b:c", "human\nx"]
)
def test_an_unknown_player_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(PlayerError) as refusal:
        read_player(name)
    said = str(refusal.value)
    assert said.startswith(f"no player {name!r}: there are human, random, rules, search, oracle, first, oracle:0 to")
    assert said.endswith("oracle:10, and your own as module:name")
    assert refusal.value.exit_code == 2


def test_a_human_chooses_what_is_asked_of_it_and_plays_nowhere_else() -> None:
    state = state_of("3,3,3", "." * 9)
    assert cast_of("3,3,3").player("human", 0, lambda asked: 7 if asked is state else 0).choose(state) == 7
    with pytest.raises(PlayerError, match="a human can play at the terminal alone: name another player"):
        cast_of("3,3,3").player("human", 0)


OWN = """
class Last:
    def __init__(self, game, seed):
        self.game, self.seed = game, seed

    def choose(self, state):
        return state.empty[-1]

def broken(game, seed):
    raise ValueError("no luck")

def wordy(game, seed):
    raise ValueError("no luck\\nwhatever")

def nothing(game, seed):
    pass

def number(game, seed):
    return 4

class Mute:
    def __init__(self, game, seed):
        self.choose = 4

class Late:
    def __init__(self, game, seed):
        pass

    @property
    def choose(self):
        raise ValueError("no luck")

def quits(game, seed):
    raise SystemExit("no luck")
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_player_for_test.py").write_text(OWN)
    (tmp_path / "own_package_for_test").mkdir()
    (tmp_path / "own_package_for_test" / "deep.py").write_text(OWN)
    (tmp_path / "own_wrong_for_test.py").write_text("def (")
    (tmp_path / "own_script_for_test.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for module in [module for module in sys.modules if module.startswith("own_")]:
        del sys.modules[module]


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize("name", ["own_player_for_test:Last", " own_package_for_test.deep:Last "])
def test_ones_own_player_is_found_in_the_current_folder_and_told_game_and_seed(name: str) -> None:
    player = cast_of("3,3,3").player(name, "a seed")
    assert (player.game.name, player.seed) == ("3,3,3", "a seed")  # type: ignore[attr-defined]
    assert player.choose(state_of("3,3,3", "X......O.")) == 8


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("own_missing_for_test:Last", "ModuleNotFoundError: No module named 'own_missing_for_test'"),
        ("own_player_for_test:First", "AttributeError: module 'own_player_for_test' has no attri..."),
        ("own_player_for_test:broken", "ValueError: no luck"),
        ("own_player_for_test:wordy", "ValueError: no luck"),
        ("own_wrong_for_test:Last", "SyntaxError: invalid syntax (own_wrong_for_test.py, line 1)"),
        ("own_player_for_test:nothing", "what it returns has no choose(state)"),
        ("own_player_for_test:number", "what it returns has no choose(state)"),
        ("own_player_for_test:Mute", "what it returns has no choose(state)"),
        ("own_player_for_test:Late", "ValueError: no luck"),
        ("own_player_for_test:quits", "SystemExit: no luck"),
        ("own_script_for_test:Last", "SystemExit: 3"),
    ],
)
def test_ones_own_player_that_cannot_be_made_is_refused_with_its_reason(name: str, why: str) -> None:
    with pytest.raises(PlayerError) as refusal:
        cast_of("3,3,3").player(name, 0)
    assert str(refusal.value) == f"no player {name!r}: {why}"
    assert refusal.value.exit_code == 2


class Doing:
    """A player that does as told, whatever comes of it."""

    def __init__(self, do: object) -> None:
        self.do = do

    def choose(self, state: LineState) -> int:
        if isinstance(self.do, BaseException):
            raise self.do
        return self.do  # type: ignore[return-value]


class Five:
    def __index__(self) -> int:
        return 5


START = state_of("3,3,3", "." * 9)


@pytest.mark.parametrize("cell", [5, np.int64(5), np.uint8(5), Five()])
def test_a_cell_is_any_whole_number(cell: object) -> None:
    named = chosen(Doing(cell), START)
    assert (type(named), named) == (int, 5)


@pytest.mark.parametrize("kind", ["rules", "search", "oracle", "oracle:3"])
def test_a_player_names_the_cell_that_it_chooses(kind: str) -> None:
    one, same = (cast_of("3,3,3").player(kind, 0) for _ in range(2))
    assert chosen(one, START) == same.choose(START)


@pytest.mark.parametrize("cell", ["5", "b2", None, 5.0, np.float64(5), [5], (1, 1), np.array([5, 6])])
def test_what_is_no_whole_number_names_no_cell(cell: object) -> None:
    with pytest.raises(PlayerError, match=r"^TypeError: ") as refusal:
        chosen(Doing(cell), START)
    assert len(str(refusal.value)) <= 60


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (ValueError("no luck"), "ValueError: no luck"),
        (RuntimeError("one line\nand another"), "RuntimeError: one line"),
        (KeyError("x" * 99), f"KeyError: '{'x' * 46}..."),
        (IndexError(), "IndexError: "),
        (SystemExit(0), "SystemExit: 0"),
        (StopIteration(), "StopIteration: "),
        (MemoryError(), "MemoryError: "),
    ],
)
def test_a_player_that_fails_to_name_a_cell_is_refused_with_its_reason(error: BaseException, why: str) -> None:
    with pytest.raises(PlayerError) as refusal:
        chosen(Doing(error), START)
    assert str(refusal.value) == why
    assert refusal.value.__cause__ is error


@pytest.mark.parametrize("error", [BoardError("a reason of ours"), KeyboardInterrupt(), GeneratorExit()])
def test_our_own_errors_and_an_interrupt_go_through_as_they_are(error: BaseException) -> None:
    with pytest.raises(type(error)) as through:
        chosen(Doing(error), START)
    assert through.value is error


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_a_player_whose_error_cannot_be_told_is_refused_all_the_same() -> None:
    with pytest.raises(PlayerError, match="Unprintable"):
        chosen(Doing(Unprintable()), START)


@given(st.text(st.characters(exclude_categories=["C", "Z"])), st.text())
def test_an_error_is_told_in_one_short_line(line: str, rest: str) -> None:
    told, whole = one_line(ValueError(f"{line}\n{rest}")), f"ValueError: {line}"
    assert len(told) <= 60
    assert told == whole or (len(whole) > 60 and told == f"{whole[:57]}...")


def test_rules_finds_middle_and_corners_by_squares_where_a_board_has_holes() -> None:
    game = Game("bar", 3, 5, (0b1111111111111,), holes=0b00000_01000_00000 | 1 << 0)  # no a1, no d2
    cast, state = Cast(game, live=True), LineState(Position(game))
    claimed = {game.cell_name(cast.player("rules", seed).choose(state)) for seed in range(5)}
    assert claimed == {"c2"}
    state = LineState(Position(game, x=1 << game.cell("c2")))
    claimed = {game.cell_name(cast.player("rules", seed).choose(state)) for seed in range(40)}
    assert claimed == {"e1", "a3", "e3"}
