"""Players of small boards: as strong as documented, found by their names, and asked for moves; or refused."""

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

from play.players.player import KINDS, Player, PlayerError, chosen, read_player
from play.players.roster import Roster
from solver.errors import BoardError
from solver.games.board_rules import BoardState
from solver.games.line_rules import LineRules, LineState
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.position import Position
from solver.own_code import OwnCodeError, one_line

SMALL = ["3,3,3", "3,3,3,misere"]


def state_of(name: str, board: str) -> LineState:
    return BoardState(Position(parse_game(name), *naive.masks(board)))


@cache
def roster_of(name: str) -> Roster:
    return Roster(LineRules(parse_game(name)), live=True, seconds=60)


def player_of(name: str, kind: str, seed: int | str) -> Player:
    """Return a player of a game that is not human."""
    player = roster_of(name).player(kind, seed)
    assert player is not None
    return player


@st.composite
def boards(draw: st.DrawFn, names: list[str]) -> tuple[str, str]:
    """Draw a game, and a board of it on which the game goes on."""
    name = draw(st.sampled_from(names))
    rules = naive.Game.named(name)
    order = draw(st.permutations(range(rules.cells)))
    board = naive.played(rules, order[: draw(st.integers(0, rules.cells - 1))])
    assume(not naive.over(rules, board))
    return name, board


@given(boards(SMALL), st.sampled_from(["search", "oracle", "first", "oracle:10"]))
def test_the_perfect_players_choose_a_best_move(where: tuple[str, str], kind: str) -> None:
    name, board = where
    rules = naive.Game.named(name)
    child = naive.claim(board, player_of(name, kind, 0).choose(state_of(name, board)))
    assert -naive.score(rules, child) == naive.score(rules, board)


def allowed_by_rule(name: str, board: str) -> set[int]:
    """Return the cells of the first rule that names any: win, block, middle, corner, any."""
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
    player = player_of(name, "rules", 0)
    assert {player.choose(state_of(name, board)) for _ in range(5)} <= allowed_by_rule(name, board)


@pytest.mark.parametrize(
    ("name", "board", "cells"),
    [("3,3,3", "XX.OO....", {2}), ("3,3,3", "XX.O.....", {2}), ("3,3,3", "X........", {4}),
     ("3,3,3", "....X....", {0, 2, 6, 8}), ("4,4,4", "................", {5, 6, 9, 10}),
     ("4,4,4", ".....XO..OX.....", {0, 3, 12, 15}), ("4,4,4", "X..O.XO..XO.O..X", {1, 2, 4, 7, 8, 11, 13, 14}),
     ("3,3,3,misere", "XX.OO....", {6, 8}), ("3,3,3,misere", "XX.OO.O.X", {5, 7})],
)  # fmt: skip
def test_the_rules_player_wins_blocks_then_takes_middle_corner_edge(name: str, board: str, cells: set[int]) -> None:
    player = player_of(name, "rules", 3)
    assert {player.choose(state_of(name, board)) for _ in range(100)} == cells


def test_at_level_0_all_moves_are_equally_likely() -> None:
    board = "X.O.X...."  # O must stop a line: all moves but one lose
    player = player_of("3,3,3", "oracle:0", 7)
    counts = Counter(player.choose(state_of("3,3,3", board)) for _ in range(1500))
    assert set(counts) == {cell for cell, mark in enumerate(board) if mark == "."}
    expected = 1500 / len(counts)
    chi_squared = sum((count - expected) ** 2 / expected for count in counts.values())
    assert chi_squared < 20.5  # which is exceeded once in a thousand times


def kept(name: str, kind: str) -> int:
    """Return how many of a fixed set of moves keep the outcome."""
    rules, rng, player = naive.Game.named(name), random.Random(name), player_of(name, kind, 11)
    boards = [naive.played(rules, rng.sample(range(rules.cells), rng.randint(0, 6))) for _ in range(200)]
    going = [board for board in boards if not naive.over(rules, board)]
    return sum(player.choose(state_of(name, board)) in naive.keeping(rules, board) for board in going)


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
LIKE_LEVELS = ["oracle:07", "oracle:00011", "oracle:00", "oracle:010", "oracle:+1", "oracle: 1", "oracle:1_0",
               "oracle:5:", "rules:1", "random:3", "mcts:0", "mcts:-1", "mcts:1000001", "mcts:", "search:11",
               "search:", "priority:1"]  # fmt: skip


@pytest.mark.parametrize("name", [*NOBODY, *LIKE_LEVELS, ":x", "a b:c", "a..b:c", "a:b:c", "human\nx"])
def test_an_unknown_player_is_refused_with_the_names_that_exist(name: str) -> None:
    with pytest.raises(PlayerError) as refusal:
        read_player(name)
    said = str(refusal.value)
    assert said.startswith(f"no player {name!r}: choose {', '.join(KINDS)}, oracle:0 to oracle:10, search:0 to")
    assert said.endswith(" mcts:N, a trained run as run:FOLDER, a program as gomocup:PATH, or your own as MODULE:NAME")
    assert refusal.value.exit_code == 2


OWN = """
class Last:
    def __init__(self, rules, seed):
        self.rules, self.seed = rules, seed

    def choose(self, state):
        return state.empty[-1]

def broken(rules, seed):
    raise ValueError("no luck")

def wordy(rules, seed):
    raise ValueError("no luck\\nwhatever")

def nothing(rules, seed):
    pass

def number(rules, seed):
    return 4

class Mute:
    def __init__(self, rules, seed):
        self.choose = 4

class Late:
    def __init__(self, rules, seed):
        pass

    @property
    def choose(self):
        raise ValueError("no luck")

def quits(rules, seed):
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
def test_an_own_player_is_found_in_the_current_folder_and_gets_rules_and_seed(name: str) -> None:
    player = player_of("3,3,3", name, "a seed")
    assert (player.rules, player.seed) == (roster_of("3,3,3").rules, "a seed")  # type: ignore[attr-defined]
    assert player.choose(state_of("3,3,3", "X......O.")) == 8


LOADED = [
    ("own_missing_for_test:Last", "ModuleNotFoundError: No module named 'own_missing_for_test'"),
    ("own_player_for_test:First", "AttributeError: module 'own_player_for_test' has no attri..."),
    ("own_wrong_for_test:Last", "SyntaxError: invalid syntax (own_wrong_for_test.py, line 1)"),
    ("own_script_for_test:Last", "SystemExit: 3"),
]
MADE = {
    "broken": "ValueError: no luck", "wordy": "ValueError: no luck", "Late": "ValueError: no luck",
    "quits": "SystemExit: no luck",
    **dict.fromkeys(["nothing", "number", "Mute"], "what it returns has no choose(state)"),
}  # fmt: skip


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    ("name", "error", "refusal"),
    [*((name, OwnCodeError, f"cannot load {name!r}: {why}") for name, why in LOADED),
     *((f"own_player_for_test:{it}", PlayerError, f"no player 'own_player_for_test:{it}': {why}")
       for it, why in MADE.items())],
)  # fmt: skip
def test_an_own_player_that_cannot_be_loaded_or_made_is_refused_with_the_reason(
    name: str, error: type[Exception], refusal: str
) -> None:
    with pytest.raises(error) as refused:
        roster_of("3,3,3").player(name, 0)
    assert (str(refused.value), refused.value.exit_code) == (refusal, 2)  # type: ignore[attr-defined]


class Doing:
    """A player that returns or raises what it is given."""

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
def test_a_move_is_any_whole_number(cell: object) -> None:
    named = chosen(Doing(cell), START)
    assert (type(named), named) == (int, 5)


@pytest.mark.parametrize("cell", ["5", "b2", None, 5.0, np.float64(5), [5], (1, 1), np.array([5, 6])])
def test_anything_but_a_whole_number_is_not_a_move(cell: object) -> None:
    with pytest.raises(PlayerError, match=r"^TypeError: ") as refusal:
        chosen(Doing(cell), START)
    assert len(str(refusal.value)) <= 60


@pytest.mark.parametrize(
    ("error", "why"),
    [(ValueError("no luck"), "ValueError: no luck"),
     (RuntimeError("one line\nand another"), "RuntimeError: one line"),
     (KeyError("x" * 99), f"KeyError: '{'x' * 46}..."), (IndexError(), "IndexError: "),
     (SystemExit(0), "SystemExit: 0"), (StopIteration(), "StopIteration: "), (MemoryError(), "MemoryError: ")],
)  # fmt: skip
def test_a_player_that_fails_to_name_a_move_is_refused_with_the_reason(error: BaseException, why: str) -> None:
    with pytest.raises(PlayerError) as refusal:
        chosen(Doing(error), START)
    assert str(refusal.value) == why
    assert refusal.value.__cause__ is error


@pytest.mark.parametrize("error", [BoardError("a reason of ours"), KeyboardInterrupt(), GeneratorExit()])
def test_our_own_errors_and_an_interrupt_pass_unchanged(error: BaseException) -> None:
    with pytest.raises(type(error)) as through:
        chosen(Doing(error), START)
    assert through.value is error


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def test_a_player_whose_error_cannot_be_printed_is_refused_all_the_same() -> None:
    with pytest.raises(PlayerError, match="Unprintable"):
        chosen(Doing(Unprintable()), START)


@given(st.text(st.characters(exclude_categories=["C", "Z"])), st.text())
def test_an_error_of_foreign_code_becomes_one_short_line(line: str, rest: str) -> None:
    told, whole = one_line(ValueError(f"{line}\n{rest}")), f"ValueError: {line}"
    assert len(told) <= 60
    assert told == whole or (len(whole) > 60 and told == f"{whole[:57]}...")


@given(st.text())
def test_an_error_of_foreign_code_reaches_the_screen_without_control_characters(text: str) -> None:
    assert one_line(ValueError(text)).isprintable()


def test_rules_finds_middle_and_corners_by_squares_where_a_board_has_holes() -> None:
    game = Game("bar", 3, 5, (0b1111111111111,), holes=0b00000_01000_00000 | 1 << 0)  # no a1, no d2
    roster = Roster(LineRules(game), live=True)

    def claimed(state: LineState, seeds: int) -> set[str]:
        return {game.cell_name(chosen(roster.player("rules", seed), state)) for seed in range(seeds)}

    assert claimed(BoardState(Position(game)), 5) == {"c2"}
    assert claimed(BoardState(Position(game, x=1 << game.cell("c2"))), 40) == {"e1", "a3", "e3"}
