"""The rules of Infinity Grid Duel in a match: turns, placing, capturing, refusals, the end, undo and redo."""

from typing import Any

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from play.match import Match, MatchError, MatchOver, MoveRefused, NothingToRedo, NothingToUndo, OutOfTurn
from solver.errors import BoardError
from solver.games.board_rules import captured_by
from solver.games.duel import Duel
from solver.games.duel_rules import DuelRules, DuelState
from solver.games.registry import find_game, may_be_recorded, rules_of
from solver.games.rules import Outcome, set_up

SIZES = st.builds(naive.Duel, st.integers(1, 12), st.integers(1, 12))
SMALL = st.builds(naive.Duel, st.integers(1, 4), st.integers(1, 4))


def rules_on(duel: naive.Duel) -> DuelRules:
    return DuelRules(Duel(duel.rows, duel.columns))


def play_on(match: Match[DuelState], choice: int) -> None:
    """Make the legal move that a number chooses, unless the match has ended."""
    legal = match.rules.legal(match.state)
    if legal:
        match.play(match.to_move or "", legal[choice % len(legal)])


def match_of(duel: naive.Duel, choices: bytes) -> Match[DuelState]:
    match = Match(rules_on(duel))
    for choice in choices:
        play_on(match, choice)
    return match


@st.composite
def matches(draw: st.DrawFn, duels: st.SearchStrategy[naive.Duel] = SIZES) -> tuple[naive.Duel, Match[DuelState]]:
    """A duel, and a match of it after any number of moves."""
    duel = draw(duels)
    return duel, match_of(duel, draw(st.binary(max_size=duel.cells)))


def board_of(duel: naive.Duel, state: DuelState) -> str:
    return naive.duel_board(duel, state.position.x, state.position.o)


def seen(match: Match[DuelState]) -> tuple[object, ...]:
    """All that a match says of how it stands."""
    return match.states, match.moves, match.events, match.outcome, match.to_move


@given(matches())
# Feature: infinity-grid-duel, Property 21: A Match Is The Twin's Game
def test_a_match_goes_as_the_twin_plays_it(case: tuple[naive.Duel, Match[DuelState]]) -> None:
    duel, match = case
    boards = [duel.empty]
    for move, state in zip(match.moves, match.states[1:], strict=True):
        before, side = boards[-1], naive.turn(boards[-1])
        boards.append(naive.placed(duel, before, move, side))
        assert board_of(duel, state) == boards[-1]
        assert (state.last, state.captured) == (move, len(naive.captures(duel, before, move, side)))
        assert captured_by(state) == state.captured
    assert match.rules.legal(match.state) == naive.placings(duel, boards[-1], naive.turn(boards[-1]))
    assert match.state.empty == [cell for cell, tile in enumerate(boards[-1]) if tile == "."]
    assert match.to_move == (naive.turn(boards[-1]) if "." in boards[-1] else None)


@given(matches())
# Feature: infinity-grid-duel, Property 22: Refused Exactly If Not Legal
def test_a_move_is_refused_exactly_if_it_is_not_legal(case: tuple[naive.Duel, Match[DuelState]]) -> None:
    duel, match = case
    board, side = board_of(duel, match.state), naive.turn(board_of(duel, match.state))
    legal = naive.placings(duel, board, side)
    for cell in range(-1, duel.cells + 1):
        refusal = match.rules.refusal(match.state, cell)
        assert (refusal is None) == (cell in legal), (board, cell, refusal)
        if cell in legal:
            assert board_of(duel, match.rules.play(match.state, cell)) == naive.placed(duel, board, cell, side)
        else:
            assert refusal is not None
            assert len(refusal.splitlines()) == 1


@given(matches(), st.integers(-1, 145))
# Feature: infinity-grid-duel, Property 23: A Refused Move Changes Nothing
def test_a_refused_move_changes_nothing(case: tuple[naive.Duel, Match[DuelState]], cell: int) -> None:
    _, match = case
    before = seen(match)
    if cell in match.rules.legal(match.state):
        with pytest.raises(OutOfTurn, match=f"it is {match.to_move}'s turn, not {naive.rival(match.to_move or '')}'s"):
            match.play(naive.rival(match.to_move or ""), cell)
    else:
        with pytest.raises(MoveRefused if match.to_move else MatchOver):
            match.play(match.to_move or "R", cell)
    assert seen(match) == before


@given(matches(), st.integers(0, 255))
# Feature: infinity-grid-duel, Property 24: Undo Gives The State Before
def test_undo_gives_the_state_before_any_move(case: tuple[naive.Duel, Match[DuelState]], choice: int) -> None:
    _, match = case
    states, moves = match.states, match.moves
    if not match.outcome:
        play_on(match, choice)
        assert match.undo() not in (None, -1)
        assert (match.states, match.moves) == (states, moves)
    for number in range(len(moves), 0, -1):
        assert match.undo() == moves[number - 1]
        assert (match.states, match.state) == (states[:number], states[number - 1])
        assert match.outcome is None
    with pytest.raises(NothingToUndo):
        match.undo()


@given(matches(), st.data())
# Feature: infinity-grid-duel, Property 25: Redo Gives It Back
def test_redo_gives_back_what_undo_took(case: tuple[naive.Duel, Match[DuelState]], data: st.DataObject) -> None:
    _, match = case
    states, moves, outcome = match.states, match.moves, match.outcome
    back = data.draw(st.integers(0, len(moves)))
    for _ in range(back):
        match.undo()
    for move in moves[len(moves) - back :]:
        assert match.redo() == move
    assert (match.states, match.moves, match.outcome) == (states, moves, outcome)
    with pytest.raises(NothingToRedo):
        match.redo()


@given(SMALL, st.lists(st.one_of(st.integers(0, 15), st.sampled_from(["undo", "redo", "over"])), max_size=40))
# Feature: infinity-grid-duel, Property 26: Events Replay
def test_the_events_of_a_match_lead_to_the_same_match_again(duel: naive.Duel, steps: list[Any]) -> None:
    match = Match(rules_on(duel))
    for step in steps:
        try:
            if isinstance(step, int):
                play_on(match, step)
            else:
                {"undo": match.undo, "redo": match.redo, "over": match.start_over}[step]()
        except MatchError:
            continue
    again = Match(match.rules)
    for event in match.events:
        again.add(event)
    assert seen(again) == seen(match)
    straight = Match(match.rules)
    for move in match.moves:
        straight.play(straight.to_move or "", move)
    assert (straight.states, straight.outcome) == (match.states, match.outcome)


@given(SIZES, st.binary(min_size=144, max_size=144))
# Feature: infinity-grid-duel, Property 27: The Outcome Is The Count
def test_a_game_ends_when_the_board_is_full_and_the_count_decides(duel: naive.Duel, choices: bytes) -> None:
    match = match_of(duel, choices)
    board = board_of(duel, match.state)
    red, green = board.count("R"), board.count("G")
    winner = None if red == green else "R" if red > green else "G"
    assert len(match.moves) == duel.cells == red + green
    assert match.outcome == Outcome(winner, f"{max(red, green)} tiles to {min(red, green)}")
    assert [match.rules.outcome(state) for state in match.states[:-1]] == [None] * duel.cells
    assert (match.to_move, match.rules.legal(match.state)) == (None, [])
    assert [event.side for event in match.events] == ["RG"[number % 2] for number in range(duel.cells)]
    assert match.rules.refusal(match.state, 0) == f"the game is over: {match.outcome}"


@given(matches())
# Feature: infinity-grid-duel, Property 28: A State's Text Reads Back
def test_a_state_s_text_reads_back(case: tuple[naive.Duel, Match[DuelState]]) -> None:
    duel, match = case
    rules, state = match.rules, match.state
    text = rules.encode(state)
    for form in (text, text.lower(), text.replace("/", ""), text.replace(".", "-"), f" {text}\n"):
        again = rules.decode(form)
        assert (again.position, again.outcome, rules.to_move(again)) == (state.position, state.outcome, match.to_move)
        assert rules.key(again) == rules.key(state)
    assert text.replace("/", "") == board_of(duel, state)
    if match.outcome:
        with pytest.raises(BoardError, match="is a finished game: "):
            set_up(rules, text)
    else:
        assert set_up(rules, text).position == state.position


@given(SMALL, st.binary(max_size=16), st.binary(max_size=16))
# Feature: infinity-grid-duel, Property 29: Keys Tell States Apart
def test_states_have_the_same_key_exactly_if_their_boards_are_the_same(
    duel: naive.Duel, choices: bytes, others: bytes
) -> None:
    one, other = match_of(duel, choices), match_of(duel, others)
    keys = one.rules.key(one.state), one.rules.key(other.state)
    assert (keys[0] == keys[1]) == (board_of(duel, one.state) == board_of(duel, other.state))


@given(SIZES, st.data())
# Feature: infinity-grid-duel, Property 30: Names Of Cells
def test_a_cell_is_read_by_its_name_and_by_its_row_and_column(duel: naive.Duel, data: st.DataObject) -> None:
    rules = rules_on(duel)
    cell = data.draw(st.integers(0, duel.cells - 1))
    row, column = divmod(cell, duel.columns)
    written = f"{'abcdefghijkl'[column]}{row + 1}"
    assert rules.write(cell) == written
    forms = [written, written.upper(), f" {written}\n", f"{row + 1} {column + 1}", f"{row + 1},{column + 1}"]
    assert [rules.read(form) for form in forms] == [cell] * 5


RULES = DuelRules(Duel(3, 3))


@pytest.mark.parametrize(
    ("board", "cell", "refusal"),
    [(".../.../...", 4, None), ("R../.../...", 0, "cell 'a1' is taken: choose an empty one"),
     ("R../.../...", 1, None), ("R../.../..G", 2, "cell 'c1' is not next to a tile of R: b1, a2 are"),
     ("R../.../..G", 8, "cell 'c3' is taken: choose an empty one"),
     ("R../.../..G", 9, "duel,3,3 has no cell number 9: choose an empty cell of the board"),
     ("R../.../..G", -1, "duel,3,3 has no cell number -1: choose an empty cell of the board"),
     (".GG/.../...", 8, None), ("RG./GG./...", 8, None),
     ("RRR/GR./...", 8, "cell 'c3' is not next to a tile of G: a3 is"),
     ("RRR/RGR/RGG", 0, "the game is over: R has won: 6 tiles to 3")],
)  # fmt: skip
def test_a_refusal_is_in_its_own_words(board: str, cell: int, refusal: str | None) -> None:
    assert RULES.refusal(RULES.decode(board), cell) == refusal


@pytest.mark.parametrize(("text", "name"), [("duel", "duel"), ("DUEL, 6, 6", "duel"), ("duel,3,3", "duel,3,3")])
def test_a_duel_is_found_by_its_name_and_may_be_recorded(text: str, name: str) -> None:
    rules = find_game(text)
    assert isinstance(rules, DuelRules)
    assert (rules.name, rules.sides, rules.marks) == (name, ("R", "G"), "RG")
    assert find_game(rules.name) == rules == rules_of(rules.game)
    assert may_be_recorded(text)
