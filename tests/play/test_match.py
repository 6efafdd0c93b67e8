"""Matches: the events that make them up, and what is refused and why, in games of lines and in one without."""

import time
from contextlib import suppress
from typing import Any

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matches import NIM, SEVERAL, match_of, plays, rules_of

from play.match import Event, Match, MatchError, MatchOver, MoveRefused, NothingToRedo, NothingToUndo, OutOfTurn
from solver.games.rules import Outcome, set_up


def everything(match: Match[Any]) -> tuple[object, ...]:
    """All that a match shows."""
    return (match.states, match.moves, match.outcome, match.to_move, match.given_up, repr(match), match.events,
            len(match), match.can_redo)  # fmt: skip


def naive_outcome(rules: naive.Game, board: str) -> Outcome | None:
    if not naive.over(rules, board):
        return None
    completer = naive.completer(rules, board)
    return Outcome(naive.winner(rules, board), f"{completer} completed a line" if completer else "the board is full")


@given(plays())
def test_a_match_goes_as_the_rules_say(play: tuple[str, list[int]]) -> None:
    name, order = play
    rules, match = naive.Game.named(name), Match(rules_of(name))
    board = rules.empty
    for cell in order:
        if naive.over(rules, board):
            break
        outcome = match.play(naive.mover(board), cell)
        board = naive.claim(board, cell)
        over = naive.over(rules, board)
        empty = [c for c, mark in enumerate(board) if mark == "."]
        assert (match.state.position.x, match.state.position.o) == naive.masks(board)
        assert outcome == match.outcome == naive_outcome(rules, board)
        assert match.to_move == (None if over else naive.mover(board))
        assert match.state.last == cell
        assert match.state.empty == empty, "also when the game is over"
        legal = match.rules.legal(match.state)
        assert legal == ([] if over else empty)
        assert [c for c in range(rules.cells) if match.rules.refusal(match.state, c) is None] == legal


WORDS = st.sampled_from(["undo", "redo", "undo", "redo", "over", "resign", "forfeit"])
STEPS = st.lists(st.one_of(st.integers(0, 8), WORDS), max_size=40)


def take(match: Match[Any], step: int | str) -> int | Outcome | None:
    """Take a step, which the match may refuse."""
    if isinstance(step, int):
        return match.play(match.to_move or "X", step)
    steps: dict[str, Any] = {
        "undo": match.undo, "redo": match.redo, "over": match.start_over, "resign": lambda: match.resign("X"),
        "forfeit": lambda: match.forfeit("O", "too slow"),
    }  # fmt: skip
    result: int | Outcome | None = steps[step]()
    return result


@given(st.sampled_from(["3,3,3", "3,3,3,misere"]), STEPS)
def test_a_match_is_the_moves_made_without_those_taken_back(name: str, steps: list[int | str]) -> None:
    match, made, undone = Match(rules_of(name)), [], []
    given_up: Outcome | None = None
    for step in steps:
        before = everything(match)
        try:
            result = take(match, step)
        except MatchError:
            assert everything(match) == before
            assert step != "over"
            assert step != "undo" or not (made or given_up)
            assert step != "redo" or given_up or not undone
            continue
        if step == "undo" and given_up:
            assert result is None
            given_up = None
        elif step == "undo":
            undone.append(made.pop())
            assert result == undone[-1]
        elif step == "redo":
            made.append(undone.pop())
            assert result == made[-1]
        elif step == "over":
            made, undone, given_up = [], [], None
        elif isinstance(step, int):
            made, undone = [*made, step], []
        else:
            given_up = {"resign": Outcome("O", "X resigned"), "forfeit": Outcome("X", "O forfeited: too slow")}[step]
        expected = match_of(name, made)
        assert (match.states, match.moves) == (expected.states, expected.moves)
        assert match.outcome == (given_up or expected.outcome)
        assert match.to_move == (None if given_up else expected.to_move)
        assert match.given_up == bool(given_up)
        assert match.can_redo == bool(undone and not given_up)


@given(st.sampled_from([rules_of("3,3,3"), rules_of("3,3,3,misere", "O"), NIM, *SEVERAL]), STEPS)
def test_every_step_adds_one_event_and_everything_follows_from_the_events(rules: Any, steps: list[int | str]) -> None:
    match, again = Match(rules, clock=iter(range(40)).__next__), Match(rules)
    for version, step in enumerate(steps):
        before = match.events
        try:
            take(match, step)
        except MatchError:
            assert match.events == before
        else:
            assert match.events[:-1] == before, "nothing is erased"
            assert match.events[-1].time == version
            again.add(match.events[-1])
            assert everything(again) == everything(match)


@given(st.sampled_from([rules_of("3,3,3"), NIM]), STEPS, STEPS)
def test_a_copy_of_a_match_goes_on_by_itself(rules: Any, before: list[int | str], after: list[int | str]) -> None:
    match = Match(rules)
    for step in before:
        with suppress(MatchError):
            take(match, step)
    shown, copy = everything(match), match.copy()
    assert everything(copy) == shown
    again = Match(rules)
    for event in match.events:
        again.add(event)
    for step in after:
        for each in (copy, again):
            with suppress(MatchError):
                take(each, step)
    assert (copy.moves, copy.states, copy.outcome) == (again.moves, again.states, again.outcome)
    assert everything(match) == shown


@given(plays())
def test_what_a_match_has_shown_does_not_change_as_it_goes_on(play: tuple[str, list[int]]) -> None:
    match = match_of(*play)
    shown, text = everything(match), repr(everything(match))
    while match.moves:
        match.undo()
    match.start_over()
    assert repr(shown) == text


def test_an_event_says_what_happened_who_did_it_and_when() -> None:
    match = Match(rules_of("3,3,3"), clock=iter(range(100, 200)).__next__)
    match.play("X", 4)
    match.undo()
    match.redo()
    match.resign("O")
    match.undo()
    match.start_over()
    match.forfeit("X", "too slow")
    assert match.events == (
        Event("moved", "X", 4, time=100),
        Event("took back", time=101),
        Event("made again", time=102),
        Event("resigned", "O", time=103),
        Event("took back", time=104),
        Event("started over", time=105),
        Event("forfeited", "X", reason="too slow", time=106),
    )


def test_the_time_of_an_event_is_the_time_now_unless_a_clock_is_given() -> None:
    match, before = Match(rules_of("3,3,3")), int(time.time())
    match.play("X", 4)
    assert match.events[0].time in range(before, int(time.time()) + 1)


def test_an_event_of_no_known_kind_is_refused() -> None:
    match = Match(rules_of("3,3,3"))
    with pytest.raises(MatchError, match="no event 'sneezed'"):
        match.add(Event("sneezed", "X"))
    with pytest.raises(MoveRefused, match="no move is given"):
        match.add(Event("moved", "X"))
    assert len(match) == 0


@pytest.mark.parametrize(("side", "winner"), [("X", "O"), ("O", "X")])
@pytest.mark.parametrize("moves", [[], [4]])
def test_a_side_that_resigns_or_forfeits_loses_whosever_turn_it_is(side: str, winner: str, moves: list[int]) -> None:
    match = match_of("3,3,3", moves)
    match.resign(side)
    assert (match.outcome, match.to_move, match.given_up) == (Outcome(winner, f"{side} resigned"), None, True)
    match.undo()
    match.forfeit(side, "it took too long")
    assert match.outcome == Outcome(winner, f"{side} forfeited: it took too long")
    assert match.moves == tuple(moves)


def test_the_reason_of_a_forfeit_is_told_in_one_line_without_control_characters() -> None:
    match = match_of("3,3,3", [])
    match.forfeit("X", "it failed\r\n\x1b[2J\u2028in test.py")
    assert str(match.outcome) == "O has won: X forfeited: it failed\\r\\n\\x1b[2J\\u2028in test.py"


def test_nothing_can_be_taken_back_or_made_again_before_the_first_move_nor_after_starting_over() -> None:
    match = match_of("3,3,3", [4, 0])
    match.undo()
    match.start_over()
    for fresh in (match, Match(rules_of("3,3,3"))):
        with pytest.raises(NothingToUndo, match="nothing to undo"):
            fresh.undo()
        with pytest.raises(NothingToRedo, match="nothing to redo"):
            fresh.redo()


def test_undo_after_giving_up_takes_back_that_and_no_move() -> None:
    match = match_of("3,3,3", [4, 0, 8])
    match.undo()
    match.resign("X")
    with pytest.raises(NothingToRedo, match="nothing to redo"):
        match.redo()
    assert match.undo() is None
    assert (match.outcome, match.to_move, match.moves) == (None, "X", (4, 0))
    assert match.redo() == 8, "what was taken back before can still be made again"


@pytest.mark.parametrize("moves", [[0, 3, 1, 4, 2], [0, 1, 2, 4, 3, 5, 7, 6, 8], None])
def test_nobody_gives_up_a_match_that_has_ended(moves: list[int] | None) -> None:
    match = match_of("3,3,3", moves or [])
    if moves is None:
        match.resign("O")
    before = everything(match)
    for give_up in (match.resign, lambda side: match.forfeit(side, "too slow")):
        with pytest.raises(MatchOver, match="the match has ended, "):
            give_up("X")
    assert everything(match) == before


@pytest.mark.parametrize(
    ("moves", "side", "cell", "error", "message"),
    [
        ([0, 3, 1, 4, 2], "X", 99, MatchOver, "the match has ended, X has won: X completed a line"),
        ([0, 3, 1, 4, 2], "O", 0, MatchOver, "the match has ended, X has won: "),
        ([0, 3, 1, 4, 8, 5], "X", 2, MatchOver, "the match has ended, O has won: "),
        ([0, 1, 2, 4, 3, 5, 7, 6, 8], "O", 8, MatchOver, "the match has ended, a draw: the board is full"),
        ([], "O", 99, OutOfTurn, "it is X's turn, not O's"),
        ([4], "X", 4, OutOfTurn, "it is O's turn, not X's"),
        ([4], "Z", 3, OutOfTurn, "it is O's turn, not Z's"),
        ([4], "O", 9, MoveRefused, "3,3,3 has no cell number 9: choose an empty cell of the board"),
        ([4], "O", -1, MoveRefused, "3,3,3 has no cell number -1: "),
        ([4], "O", 4, MoveRefused, "cell 'b2' is taken: choose an empty one"),
    ],
)  # fmt: skip
def test_a_move_is_refused_for_the_first_reason_that_holds_and_changes_nothing(
    moves: list[int], side: str, cell: int, error: type[MatchError], message: str
) -> None:
    match = match_of("3,3,3", moves)
    before = everything(match)
    with pytest.raises(MatchError) as refusal:
        match.play(side, cell)
    assert type(refusal.value) is error
    assert message in str(refusal.value)
    assert refusal.value.exit_code == 2
    assert everything(match) == before


@pytest.mark.parametrize(
    ("rules", "board", "move"), [(rules_of("3,3,3"), "X../.O./...", 8), (rules_of("3,3,3", "O"), "O../.../...", 8),
                                 (NIM, "4 O", 3)],
)  # fmt: skip
def test_a_match_from_a_board_goes_back_to_that_board_and_no_further(rules: Any, board: str, move: int) -> None:
    match = Match(rules, set_up(rules, board))
    for go_back in (match.undo, match.start_over):
        match.play(match.to_move or "", move)
        go_back()
        assert (rules.encode(match.state), match.moves) == (board, ())
        with pytest.raises(NothingToUndo):
            match.undo()
