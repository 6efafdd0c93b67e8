"""Games of lines for three and four sides, compared with plain Python: turns, wins, draws, and sides that leave."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from play.match import Match, MatchError, NothingToRedo
from solver.errors import BoardError, GameError
from solver.games.multiplayer import MultiplayerRules, MultiplayerState
from solver.games.notation import parse_game
from solver.games.registry import find_game
from solver.games.rules import Outcome, points

GAMES = ["3p:3,3,3", "3p:4,4,3", "4p:3,4,3", "3p:5,5,4"]
STEPS = st.tuples(st.sampled_from(GAMES), st.lists(st.tuples(st.booleans(), st.integers(0, 999)), max_size=30))
"""A game, and steps: the number of a cell among the empty ones or, now and then, that of a side that leaves."""


class Plain:
    """The rules once more, as plainly as can be: a board of places, and a list of those who still play."""

    def __init__(self, name: str) -> None:
        count, _, board = name.partition("p:")
        self.rows, self.columns, self.k = map(int, board.split(","))
        self.sides = list("XOZT"[: int(count)])
        self.playing = self.sides.copy()
        self.turn = "X"
        self.board = {(row, column): "." for row in range(self.rows) for column in range(self.columns)}
        self.outcome: tuple[str | None, set[str]] | None = None
        """Who has won, and who has no part in a draw."""

    def empty(self) -> list[tuple[int, int]]:
        return [place for place, mark in self.board.items() if mark == "."]

    def play(self, place: tuple[int, int]) -> None:
        mark = self.board[place] = self.turn
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            length = 1
            for way in (1, -1):
                row, column = place[0] + way * down, place[1] + way * right
                while self.board.get((row, column)) == mark:
                    length, row, column = length + 1, row + way * down, column + way * right
            if length >= self.k:
                self.outcome = mark, set()
        if not self.outcome and not self.empty():
            self.outcome = None, set(self.sides) - set(self.playing)
        self.pass_on()

    def leave(self, side: str) -> None:
        if self.turn == side:
            self.pass_on()
        self.playing.remove(side)
        if len(self.playing) == 1:
            self.outcome = self.playing[0], set()

    def pass_on(self) -> None:
        at = self.sides.index(self.turn)
        while True:
            at = (at + 1) % len(self.sides)
            if self.sides[at] in self.playing:
                self.turn = self.sides[at]
                return

    def text(self) -> str:
        return "/".join(
            "".join(self.board[row, column] for column in range(self.columns)) for row in range(self.rows)
        )  # fmt: skip


def both(name: str, steps: list[tuple[bool, int]]) -> tuple[Plain, Match[MultiplayerState]]:
    """Play the same game twice: plainly, and as a match."""
    plain, match = Plain(name), Match[Any](find_game(name), clock=lambda: None)
    for moving, number in steps:
        if plain.outcome:
            break
        if moving or number % 5:
            row, column = plain.empty()[number % len(plain.empty())]
            match.play(plain.turn, row * plain.columns + column)
            plain.play((row, column))
        else:
            side = plain.playing[number % len(plain.playing)]
            match.resign(side)
            plain.leave(side)
    return plain, match


@given(STEPS)
def test_turns_moves_and_outcomes_are_those_of_plain_python(played: tuple[str, list[tuple[bool, int]]]) -> None:
    plain, match = both(*played)
    rules, state = match.rules, match.state
    assert match.to_move == (None if plain.outcome else plain.turn)
    empty = [row * plain.columns + column for row, column in plain.empty()]
    assert rules.legal(state) == ([] if plain.outcome else empty)
    assert [cell for cell in range(-1, len(plain.board) + 1) if rules.refusal(state, cell) is None] == rules.legal(
        state
    )
    outcome = match.outcome
    assert (outcome and (outcome.winner, set(outcome.lost))) == plain.outcome
    assert rules.encode(state).split()[0] == plain.text()


@given(STEPS)
def test_a_state_is_read_back_from_its_text(played: tuple[str, list[tuple[bool, int]]]) -> None:
    _, match = both(*played)
    for state in match.states:
        again = match.rules.decode(match.rules.encode(state))
        assert (match.rules.key(again), again.outcome) == (match.rules.key(state), state.outcome)


@given(STEPS, st.integers(0, 12))
def test_taking_back_leads_to_where_the_match_was(played: tuple[str, list[tuple[bool, int]]], back: int) -> None:
    name, steps = played
    _, match = both(name, steps)
    back = min(back, len(match))
    for _ in range(back):
        match.undo()
    _, before = both(name, steps[: len(match) - 2 * back])
    assert (match.states, match.moves, match.to_move, match.gone) == (
        before.states, before.moves, before.to_move, before.gone
    )  # fmt: skip


def played(name: str, *steps: str) -> Match[Any]:
    """A match of these moves and resignations."""
    match = Match(find_game(name), clock=lambda: None)
    for step in steps:
        if step in match.rules.sides:
            match.resign(step)
        else:
            match.play(match.to_move or "", match.rules.read(step))
    return match


def test_the_first_to_fill_a_line_wins_and_the_others_lose() -> None:
    match = played("3p:4,4,3", "a1", "b2", "c3", "a2", "b3", "d4", "a3")
    assert match.outcome == Outcome("X", "X completed a line")
    assert points("XOZ", match.outcome) == {"X": 1.0, "O": 0.0, "Z": 0.0}
    assert match.rules.ending(match.state) == {0, 4, 8}


def test_a_full_board_is_shared_by_all_but_those_that_left() -> None:
    match = played("3p:3,3,3", "c1", "b1", "b2", "a1", "b3", "c3", "c2", "a3", "a2")
    assert match.outcome == Outcome(None, "the board is full")
    assert points("XOZ", match.outcome) == dict.fromkeys("XOZ", 1 / 3)
    match = played("3p:3,3,3", "Z", "a3", "a2", "b2", "c3", "a1", "c1", "c2", "b3", "b1")
    assert match.outcome == Outcome(None, "the board is full, and Z had left", ("Z",))
    assert points("XOZ", match.outcome) == {"X": 0.5, "O": 0.5, "Z": 0.0}


def test_the_turns_of_a_side_that_left_are_skipped_and_its_marks_stay() -> None:
    match = played("3p:3,3,3", "a1", "b1", "c1", "O", "a2")
    assert match.to_move == "Z"
    assert match.rules.encode(match.state) == "XOZ/X../... Z XZ"
    with pytest.raises(MatchError, match="O has left the game already"):
        match.resign("O")


def test_the_last_one_left_wins() -> None:
    match = played("3p:3,3,3", "a1", "X", "Z")
    assert (match.outcome, match.given_up) == (Outcome("O", "the others have left"), True)


def test_a_move_taken_back_is_not_made_again_by_a_side_that_left() -> None:
    match = played("3p:3,3,3", "a1", "b1")
    match.undo()
    match.resign("O")
    with pytest.raises(NothingToRedo):
        match.redo()
    match.undo()
    assert match.to_move == "O"
    with pytest.raises(NothingToRedo):
        match.redo()


def test_a_match_that_starts_over_has_all_its_sides_again() -> None:
    match = played("3p:3,3,3", "X", "b2")
    match.start_over()
    assert (match.to_move, match.gone, match.state) == ("X", (), match.rules.start())


@pytest.mark.parametrize(
    ("board", "why"),
    [("XX./.../...", "has 2 X, 0 O, 0 Z: X, O, Z take turns, X first"),
     ("Z../.../...", "take turns"),
     ("T../.../...", "write X, O, Z and . for an empty cell"),
     ("XXX/OO./ZZ. O", "if a side has left, then the side to move and those still in the game, such as O OZ"),
     ("XO./.../... X OZ", "if a side has left"),
     ("XO./.../... Z XOZ", "if a side has left"),
     ("XO./.../... Z ZX", "if a side has left"),
     ("XO./X../... X XZ", "has 2 X, 1 O, 0 Z"),
     ("XXX/OOZ/ZO.", "has a line of X that the last move did not complete"),
     ("XOZ/XOZ/XO. Z OZ", "has a line of X that the last move did not complete")],
)  # fmt: skip
def test_a_board_that_no_game_reaches_is_refused(board: str, why: str) -> None:
    with pytest.raises(BoardError) as refused:
        find_game("3p:3,3,3").decode(board)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("name", "why"),
    [("2p:4,4,4", "no game for 2 sides"), ("5p:9,9,3", "no game for 5 sides"), ("3p:", "cannot read game"),
     ("3p:4,4,4,misere", "nobody wins"), ("3p:duel", "has no lines"), ("3p:4,4,9", "do not fit"),
     ("3p:3p:4,4,4", "more than two sides")],
)  # fmt: skip
def test_a_game_that_is_none_is_refused(name: str, why: str) -> None:
    with pytest.raises(GameError, match=why):
        find_game(name)


def test_a_game_is_found_by_its_name_and_equal_to_itself() -> None:
    rules = find_game(" 3p:5,5,4 ")
    assert isinstance(rules, MultiplayerRules)
    assert (rules.name, rules.sides, rules == find_game(rules.name)) == ("3p:5,5,4", ("X", "O", "Z"), True)
    assert find_game("4p:torus4").name == "4p:torus4"


def test_what_solves_games_refuses_one_of_three_sides() -> None:
    with pytest.raises(GameError, match="it is played, but neither solved nor analysed"):
        parse_game("3p:5,5,4")


def test_random_games_of_three_end_in_every_way() -> None:
    rng, winners = random.Random(1), set[str | None]()
    rules = find_game("3p:4,4,3")
    for _ in range(200):
        state = rules.start()
        while not rules.outcome(state):
            state = rules.play(state, rng.choice(rules.legal(state)))
        winners.add(state.outcome.winner)
    assert winners == {"X", "O", "Z", None}
