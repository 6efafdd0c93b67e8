"""The 21 correctness properties of the 4x4 game, each of at least 100 random examples."""

import re
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import click
import matches
import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.oracle import Oracle
from play.match import Match, MatchOver, MoveRefused, OutOfTurn
from play.picture import picture
from play.players.player import Player
from play.players.roster import Roster
from solver.games.line_rules import LineRules, LineState
from solver.games.lines import grid
from solver.games.rules import Outcome
from solver.index.symmetry import Symmetry, symmetries
from solver.search.alphabeta import AlphaBeta, search

GAME = grid(4, 4, 4)
RULES = LineRules(GAME)
NAIVE = naive.Game(4, 4, 4)
CELLS = st.integers(0, 15)
ORDERS = st.permutations(range(16))
KINDS = ["random", "rules", "search", "first", *(f"oracle:{level}" for level in range(11))]


@pytest.fixture(scope="module")
def roster(store4: Path) -> Iterator[Roster]:
    with Roster(RULES, str(store4), seconds=0.02) as roster:
        yield roster


@pytest.fixture(scope="module")
def live_oracle() -> Iterator[Oracle]:
    with Oracle(GAME, live=True, seconds=60) as oracle:
        yield oracle


@cache
def group() -> list[Symmetry]:
    return list(symmetries(GAME))


match_of = partial(matches.match_of, "4,4,4")


def board_of(match: Match[LineState]) -> str:
    return naive.board(NAIVE, match.state.position.x, match.state.position.o)


def player(roster: Roster, name: str, seed: int) -> Player:
    made = roster.player(name, seed)
    assert made is not None
    return made


def ended(who: str | None) -> Outcome:
    """How a game ends that somebody wins by a line, or nobody."""
    return Outcome(who, f"{who} completed a line") if who else Outcome(None, "the board is full")


def naive_outcome(board: str) -> Outcome | None:
    return ended(naive.winner(NAIVE, board)) if naive.over(NAIVE, board) else None


def completing(board: str, who: str) -> set[int]:
    """The empty cells that complete a line of somebody."""
    lines = [(line, [board[cell] for cell in line]) for line in naive.lines(NAIVE)]
    return {line[marks.index(".")] for line, marks in lines if sorted(marks) == sorted([".", who, who, who])}


def asked_about(match: Match[LineState]) -> tuple[int, int]:
    """The mover's cells and the other's."""
    position = match.state.position
    return (position.x, position.o) if position.mover == "X" else (position.o, position.x)


@st.composite
def live(draw: st.DrawFn, least: int = 0, most: int = 15) -> Match[LineState]:
    """A match that goes on, with as many stones as asked for, or fewer if it ended before."""
    match = match_of(draw(ORDERS)[: draw(st.integers(least, most))])
    while match.outcome:
        match.undo()
    return match


@st.composite
def won(draw: st.DrawFn, lines: list[list[int]]) -> tuple[str, list[int], list[int]]:
    """Who wins by the last of some moves, the moves, and the line that it completes."""
    who, line = draw(st.sampled_from("XO")), draw(st.sampled_from(lines))
    last, *line_rest = draw(st.permutations(line))
    rest = draw(st.permutations([cell for cell in range(16) if cell not in line]))
    more = draw(st.integers(0, 2))
    own = [*draw(st.permutations([*line_rest, *rest[:more]])), last]
    their = rest[more:][: len(own) - (who == "X")]
    first, second = (own, their) if who == "X" else (their, own)
    moves = [pair[i] for pair in zip(first, [*second, None], strict=False) for i in (0, 1)]
    return who, [cell for cell in moves if cell is not None], line


def check_win(play: tuple[str, list[int], list[int]]) -> None:
    who, moves, line = play
    match = match_of(moves[:-1])
    if match.outcome:  # the others had a line of their own before
        assert naive.over(NAIVE, naive.played(NAIVE, moves[:-1]))
        return
    assert match.to_move == who
    assert match.play(who, moves[-1]) == match.outcome == ended(who)
    drawn = click.unstyle(picture(RULES, match.state)).splitlines()
    assert all(f"{who}*" in drawn[1 + cell // 4] for cell in line)


@given(ORDERS)
def test_a_new_board_is_empty(order: list[int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 1: New Board Is Empty
    used = match_of(order)
    used.start_over()
    for match in (Match(RULES), used):
        assert board_of(match) == "." * 16
        assert RULES.legal(match.state) == list(range(16))
        assert (match.outcome, match.to_move) == (None, "X")


@given(live(), st.data())
def test_a_mark_that_is_set_is_the_mark_that_is_read(match: Match[LineState], data: st.DataObject) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 2: Mark Round Trip
    cell, side = data.draw(st.sampled_from(RULES.legal(match.state))), match.to_move
    match.play(side or "", cell)
    assert board_of(match)[cell] == side
    assert RULES.encode(match.state).replace("/", "")[cell] == side


@given(ORDERS)
def test_an_occupied_cell_never_changes(order: list[int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 3: Occupied Cells Are Permanent
    match, held = match_of(order), {}
    for number, state in enumerate(match.states):
        board = naive.board(NAIVE, state.position.x, state.position.o)
        assert all(board[cell] == mark for cell, mark in held.items())
        held = {cell: mark for cell, mark in enumerate(board) if mark != "."}
        assert len(held) == number


@given(live())
def test_a_move_to_any_empty_cell_is_accepted(match: Match[LineState]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 4: Empty Cells Accept Moves
    board = board_of(match)
    for cell in (cell for cell, mark in enumerate(board) if mark == "."):
        match.play(naive.mover(board), cell)
        assert board_of(match) == naive.claim(board, cell)
        match.undo()


@given(live(least=1))
def test_a_move_to_an_occupied_cell_is_refused_and_changes_nothing(match: Match[LineState]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 5: Occupied Cells Refuse Moves
    before = match.states, match.moves, match.events, match.to_move
    for cell in match.moves:
        with pytest.raises(MoveRefused, match=f"cell '{RULES.write(cell)}' is taken"):
            match.play(match.to_move or "", cell)
        assert (match.states, match.moves, match.events, match.to_move) == before


@given(ORDERS)
def test_the_players_take_turns_and_x_begins(order: list[int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 6: Turn Alternation
    match, turns = Match(RULES), []
    while match.to_move:
        turns.append(match.to_move)
        match.play(match.to_move, order[len(turns) - 1])
    assert "".join(turns) == ("XO" * 8)[: len(turns)]
    assert len(turns) == len(match.moves)


@given(live(), CELLS)
def test_a_move_out_of_turn_is_refused(match: Match[LineState], cell: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 7: Out of Turn Moves Are Refused
    before = match.states, match.moves, match.events
    with pytest.raises(OutOfTurn, match=f"it is {match.to_move}'s turn"):
        match.play("XO"[match.to_move == "X"], cell)
    assert (match.states, match.moves, match.events) == before


@given(won([[4 * row + column for column in range(4)] for row in range(4)]))
def test_a_whole_row_wins(play: tuple[str, list[int], list[int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 8: Row Win Detection
    check_win(play)


@given(won([[4 * row + column for row in range(4)] for column in range(4)]))
def test_a_whole_column_wins(play: tuple[str, list[int], list[int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 9: Column Win Detection
    check_win(play)


@given(won([[0, 5, 10, 15]]))
def test_the_whole_main_diagonal_wins(play: tuple[str, list[int], list[int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 10: Main Diagonal Win Detection
    check_win(play)


@given(won([[3, 6, 9, 12]]))
def test_the_whole_anti_diagonal_wins(play: tuple[str, list[int], list[int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 11: Anti-Diagonal Win Detection
    check_win(play)


@given(ORDERS.filter(lambda order: naive.winner(NAIVE, naive.played(NAIVE, order)) is None))
def test_a_full_board_without_a_line_is_a_draw_and_no_board_before_is(order: list[int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 12: Draw Detection
    match = match_of(order)
    assert (match.outcome, len(match.moves)) == (Outcome(None, "the board is full"), 16)
    assert {RULES.outcome(state) for state in match.states[:-1]} == {None}


@given(ORDERS, st.sampled_from("XO"), CELLS)
def test_nothing_is_accepted_after_the_end(order: list[int], side: str, cell: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 13: Finished Matches Refuse Moves
    match = match_of(order)
    before = match.states, match.moves, match.events, match.outcome
    assert RULES.legal(match.state) == []
    with pytest.raises(MatchOver, match="the match has ended"):
        match.play(side, cell)
    assert (match.states, match.moves, match.events, match.outcome) == before


@given(ORDERS)
def test_a_win_is_seen_at_the_move_that_makes_it(order: list[int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 14: Wins Are Seen at Once
    match, board = Match(RULES), NAIVE.empty
    for cell in order:
        side = naive.mover(board)
        wins = cell in completing(board, side)
        board = naive.claim(board, cell)
        assert (match.play(side, cell) == ended(side)) == wins
        if wins:
            break


@given(data=st.data(), order=ORDERS)
def test_a_win_is_taken_and_the_only_threat_is_stopped(roster: Roster, data: st.DataObject, order: list[int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 15: Known Best Moves Are Chosen
    known = []
    for state in match_of(order).states[:-1]:
        board = naive.board(NAIVE, state.position.x, state.position.o)
        who = naive.mover(board)
        wins, threats = completing(board, who), completing(board, "XO"[who == "X"])
        known += [(state, wins)] if wins else [(state, threats)] if len(threats) == 1 else []
    for state, best in known:
        for kind in ("oracle", "rules"):
            assert player(roster, kind, data.draw(st.integers(0, 99))).choose(state) in best


@given(order=ORDERS)
def test_a_finished_game_scores_for_the_side_that_it_favours(roster: Roster, order: list[int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 16: Terminal Scores
    state = match_of(order).state
    score, winner = roster.oracle().score(state.position), state.outcome and state.outcome.winner
    assert score == state.position.score_if_over() == naive.score(NAIVE, naive.played(NAIVE, order))
    assert (score > 0, score < 0) == (winner == state.position.mover, winner not in (None, state.position.mover))


@given(match=live(least=10))
def test_alpha_beta_gives_the_value_of_minimax_with_fewer_nodes(live_oracle: Oracle, match: Match[LineState]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 17: Alpha-Beta Equals Minimax
    position = match.state.position
    pruned, whole = (AlphaBeta(GAME, group(), prune=prune, table_bits=12) for prune in (True, False))
    value = naive.score(NAIVE, board_of(match))
    assert pruned.score(position) == whole.score(position) == live_oracle.score(position) == value
    assert pruned.nodes < whole.nodes or pruned.nodes == whole.nodes == 1


@given(live(least=10), st.integers(-10, 10))
def test_a_branch_is_left_once_beta_is_no_more_than_alpha(match: Match[LineState], beta: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 18: Pruning
    pruned, whole = (AlphaBeta(GAME, group(), prune=prune, table_bits=12) for prune in (True, False))
    counts = []
    for solver in (pruned, whole):
        result = search(*asked_about(match), beta - 1, beta, solver.memory, solver.table)
        counts.append((solver.nodes, solver.cutoffs))
        exact = naive.score(NAIVE, board_of(match))
        assert exact >= result if result >= beta else exact <= result
    (nodes, cutoffs), (all_nodes, none) = counts
    assert none == 0
    assert nodes <= all_nodes
    assert not cutoffs or nodes < all_nodes


@given(match=live(), kind=st.sampled_from(KINDS), seed=st.integers())
def test_the_chosen_move_is_a_legal_empty_cell(roster: Roster, match: Match[LineState], kind: str, seed: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 19: Chosen Moves Are Legal
    cell = player(roster, kind, seed).choose(match.state)
    assert cell in range(16)
    assert board_of(match)[cell] == "."
    match.play(match.to_move or "", cell)


@given(st.one_of(live(), ORDERS.map(match_of)), st.booleans())
def test_the_drawn_board_shows_all_sixteen_cells(match: Match[LineState], numbered: bool) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 20: The Drawn Board Is Complete
    board = board_of(match)
    notes = {cell: str(cell) for cell, mark in enumerate(board) if mark == "."} if numbered else {}
    head, *rows = click.unstyle(picture(RULES, match.state, notes)).splitlines()
    assert head.split() == ["a", "b", "c", "d"]
    bracketed = [] if match.outcome and match.outcome.winner else [board[cell] for cell in match.moves[-1:]]
    assert re.findall(r"\[(.)\]", "\n".join(rows)) == bracketed
    shown = [re.sub(r"[][*]", " ", row).split() for row in rows]
    assert [row[0] for row in shown] == ["1", "2", "3", "4"]
    assert [cell for row in shown for cell in row[1:]] == [notes.get(cell, mark) for cell, mark in enumerate(board)]


@given(ORDERS, st.integers(0, 16))
def test_the_outcome_is_the_true_one(order: list[int], plies: int) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property 21: Status Accuracy
    match = match_of(order[:plies])
    assert match.outcome == RULES.outcome(match.state) == naive_outcome(naive.played(NAIVE, order[:plies]))
    while match.moves:
        match.undo()
        assert match.outcome is naive_outcome(board_of(match)) is None
