"""Wide boards: the same rules as on narrow ones, at a cost that does not grow with the board or the stones."""

import random
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from play.match import Match
from solver.errors import BoardError, GameError
from solver.games.line_rules import LineRules
from solver.games.lines import NARROW_CELLS, Game, grid
from solver.games.notation import parse_game
from solver.games.registry import find_game
from solver.games.rules import set_up
from solver.games.wide import Stones, WideGame, WideRules

SIZES = [(3, 3, 3), (4, 4, 4), (3, 5, 3), (2, 7, 4), (1, 6, 2), (6, 1, 3), (5, 5, 1), (4, 6, 5)]
HUGE = find_game("1000,1000,5")


@st.composite
def pairs(draw: st.DrawFn) -> tuple[LineRules, WideRules, list[int]]:
    """The same small game by the rules of narrow and of wide boards, and its cells in some order."""
    rows, columns, k = draw(st.sampled_from(SIZES))
    misere, first = draw(st.booleans()), draw(st.sampled_from("XO"))
    narrow = LineRules(grid(rows, columns, k, misere=misere), first)
    wide = WideRules(WideGame(rows, columns, k, misere), first)
    return narrow, wide, draw(st.permutations(range(rows * columns)))


def stones_of(rules: WideRules, state: Any) -> tuple[int, int]:
    """The stones of both sides as masks, the first side's first."""
    first, second = (sum(1 << cell for cell in state.of_side(side)) for side in (0, 1))
    return first, second


def assert_same(narrow: LineRules, wide: WideRules, one: Any, other: Any) -> None:
    """Both states are the same, as far as anybody may ask."""
    game: Game = narrow.game
    assert stones_of(wide, other) == (one.position.x, one.position.o)
    assert (wide.outcome(other), wide.to_move(other), other.last) == (
        narrow.outcome(one),
        narrow.to_move(one),
        one.last,
    )
    assert list(wide.legal(other)) == narrow.legal(one)
    assert [wide.refusal(other, cell) for cell in range(-1, game.cells + 1)] == [
        narrow.refusal(one, cell) for cell in range(-1, game.cells + 1)
    ]
    ending = one.position.ending() if one.outcome else set()
    assert wide.ending(other) == ending


@given(pairs())
def test_a_game_goes_as_by_the_rules_that_list_all_lines(pair: tuple[LineRules, WideRules, list[int]]) -> None:
    narrow, wide, order = pair
    assert (wide.name, wide.sides, wide.marks) == (narrow.name, narrow.sides, narrow.marks)
    one, other = narrow.start(), wide.start()
    assert_same(narrow, wide, one, other)
    for cell in order:
        if one.outcome:
            break
        one, other = narrow.play(one, cell), wide.play(other, cell)
        assert_same(narrow, wide, one, other)
    assert one.outcome


def why_not(rules: LineRules | WideRules, text: str) -> str:
    """Why a board is refused, but for the board itself; nothing if it is not."""
    try:
        rules.decode(text)
    except BoardError as refused:
        return str(refused).partition(" has ")[2]
    return ""


@given(pairs(), st.data())
def test_any_board_is_read_or_refused_as_on_a_narrow_board(
    pair: tuple[LineRules, WideRules, list[int]], data: st.DataObject
) -> None:
    narrow, wide, _ = pair
    marks = data.draw(st.lists(st.sampled_from("...XOxo"), min_size=narrow.game.cells, max_size=narrow.game.cells))
    width = narrow.game.columns
    text = data.draw(st.sampled_from(["/", ""])).join(
        "".join(marks[at : at + width]) for at in range(0, narrow.game.cells, width)
    )
    if refused := why_not(narrow, text):
        assert why_not(wide, text) == refused
        return
    expected, state = narrow.decode(text), wide.decode(text)
    assert stones_of(wide, state) == (expected.position.x, expected.position.o)
    assert (state.outcome, wide.to_move(state)) == (expected.outcome, narrow.to_move(expected))
    assert wide.decode(wide.encode(state)) == state


@pytest.mark.parametrize("text", ["9", "3/3/3", ".../3/_-.", " \ufeff9 ", "X8", "X3O4", "1x1/o2/3"])
def test_a_board_is_read_in_every_form_of_a_narrow_one(text: str) -> None:
    narrow, wide = LineRules(grid(3, 3, 3)), WideRules(WideGame(3, 3, 3))
    expected = narrow.decode(text).position
    assert stones_of(wide, wide.decode(text)) == (expected.x, expected.o)


@pytest.mark.parametrize(
    ("text", "why"),
    [("8", "has 8 cells"), ("10", "has 10 cells"), ("", "has 0 cells"), ("4/5", "rows of other lengths"),
     ("3/3/3/", "rows of other lengths"), ("Z8", "has 'Z'"), ("9" * 91, "too long"), ("999999999999", "cells")],
)  # fmt: skip
def test_what_is_no_board_is_refused(text: str, why: str) -> None:
    with pytest.raises(BoardError, match=why):
        WideRules(WideGame(3, 3, 3)).decode(text)


def line_at(board: dict[int, int], cell: int, size: int, k: int) -> bool:
    """Whether k stones of one side lie in a row through a cell, by looking at every line of the board."""
    for start in range(size * size):
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            places = [(start // size + i * down, start % size + i * right) for i in range(k)]
            if all(0 <= row < size and 0 <= column < size for row, column in places):
                line = [row * size + column for row, column in places]
                if cell in line and len({board.get(each) for each in line}) == 1 and cell in board:
                    return True
    return False


@pytest.mark.parametrize("seed", range(2))
def test_a_win_is_found_where_every_line_of_the_board_is_tried(seed: int) -> None:
    rng, rules, board = random.Random(seed), find_game("21,21,4"), dict[int, int]()
    assert isinstance(rules, WideRules)
    state = rules.start()
    while not state.outcome:
        cell = rng.choice(rules.legal(state))
        board[cell] = state.mover
        state = rules.play(state, cell)
        assert bool(state.outcome) == line_at(board, cell, 21, 4) or state.count < 7
    assert state.outcome.reason == f"{rules.marks[board[cell]]} completed a line"
    assert {board[each] for each in rules.ending(state)} == {board[cell]}


def test_states_of_one_game_share_its_stones_and_each_sees_its_own() -> None:
    rng, match = random.Random(1), Match(HUGE)
    cells = rng.sample(range(1_000_000), 60)
    for cell in cells:
        match.play(match.to_move or "", cell)
    assert len({id(state.stones) for state in match.states}) == 1
    for count, state in enumerate(match.states):
        assert state.played == cells[:count]
        assert [state.side(cell) for cell in cells] == [n % 2 if n < count else None for n in range(60)]
        assert len(HUGE.legal(state)) == 1_000_000 - count


def test_what_is_played_from_an_earlier_state_changes_none_that_there_is() -> None:
    rng, states = random.Random(2), [(HUGE.start(), list[int]())]
    for _ in range(300):
        state, played = rng.choice(states)
        if not state.outcome:
            cell = rng.choice([rng.randrange(1_000_000), rng.randrange(30)])
            if cell not in played:
                states.append((HUGE.play(state, cell), [*played, cell]))
    for state, played in states:
        assert state.played == played
        assert HUGE.decode(HUGE.encode(state)) == state
    assert len({id(state.stones) for state, _ in states}) > 20


def test_two_threads_that_play_on_from_one_state_do_not_disturb_each_other() -> None:
    stones, found = Stones([7]), dict[int, list[int]]()
    begin = threading.Barrier(4)

    def play(number: int) -> None:
        begin.wait()
        now = stones
        for count in range(1, 200):
            now = now.then(count, 1000 * number + count)
        found[number] = now.first(200)

    threads = [threading.Thread(target=play, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: [7, *(1000 * number + count for count in range(1, 200))] for number in range(4)}


def test_a_move_that_was_taken_back_and_is_made_again_copies_nothing() -> None:
    match = Match(HUGE)
    for cell in (500_500, 500_501, 501_500):
        match.play(match.to_move or "", cell)
    stones = match.state.stones
    match.undo()
    match.redo()
    match.undo()
    assert HUGE.play(match.state, 501_500).stones is stones
    assert HUGE.play(match.state, 3).stones is not stones


@pytest.mark.parametrize("pattern", ["other", "deeper", "mixed"])
def test_moves_taken_back_and_others_made_copy_few_stones(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, copied, build = random.Random(3), [0], Stones.__init__

    def counting(stones: Stones, cells: list[int], *rest: Any) -> None:
        copied[0] += len(cells)
        build(stones, cells, *rest)

    cells = iter(rng.sample(range(1_000_000), 40_000))
    state = HUGE.start()
    states = [state := HUGE.play(state, next(cells)) for _ in range(20_000)]
    monkeypatch.setattr(Stones, "__init__", counting)
    for number in range(3000):
        back = {"other": 1, "deeper": number % 2, "mixed": rng.choice([0, 0, 1, 3])}[pattern]
        del states[len(states) - back :]
        states.append(HUGE.play(states[-1], next(cells)))
        state, count = states[-1], len(states)
        if number % 500 == 0:
            assert (state.count, state.played[-1], len(set(state.played))) == (count, state.last, count)
    stones, depth = state.stones, 0
    while stones is not None:
        stones, depth = stones._base, depth + 1
    assert depth < 16
    assert copied[0] < 3000 * 40, "each stone of a branch is copied a few times, and those before it never"


def test_the_empty_cells_are_a_sequence_of_which_none_is_listed() -> None:
    state = HUGE.play(HUGE.play(HUGE.start(), 0), 999_999)
    legal = HUGE.legal(state)
    assert (len(legal), legal[0], legal[-1], legal[:3], legal[499_999]) == (999_998, 1, 999_998, [1, 2, 3], 500_000)
    assert (0 in legal, 1 in legal, 1_000_000 in legal, -1 in legal) == (False, True, False, False)
    with pytest.raises(IndexError):
        legal[999_998]


def test_a_cell_is_drawn_from_the_empty_ones_even_if_few_are_left() -> None:
    rules = WideRules(WideGame(50, 50, 50))
    state = rules.decode("XXOO" * 624 + "XO2")
    assert {state.empty.drawn(random.Random(seed)) for seed in range(30)} == {2498, 2499}
    drawn = {HUGE.start().empty.drawn(random.Random(seed)) for seed in range(30)}
    assert len(drawn) == 30


@pytest.mark.parametrize(
    ("name", "cell"),
    [("a1", 0), ("ALL1000", 999_999), ("all1", 999), ("z999", 998_025), ("aa1000", 999_026), ("1000 1000", 999_999),
     ("999,1", 998_000)],
)  # fmt: skip
def test_cells_are_named_up_to_the_last_of_a_million(name: str, cell: int) -> None:
    assert HUGE.read(name) == cell
    assert HUGE.read(HUGE.write(cell)) == cell


@pytest.mark.parametrize(
    "name", ["alm1", "a1001", "a0", "a01", "1a", "a", "", "aaaa1", "a10000", "ä1", "1001 1", "1 0"]
)
def test_a_cell_that_the_board_does_not_have_is_refused(name: str) -> None:
    with pytest.raises(BoardError, match="no cell"):
        HUGE.read(name)


def test_boards_of_more_than_400_cells_are_wide_and_a_million_is_the_most() -> None:
    assert isinstance(find_game("20,20,5"), LineRules)
    for name in ("21,20,5", "1,401,3", "9999,100,5", "1000,1000,1000", "30,30,5,misere"):
        rules = find_game(name)
        assert isinstance(rules, WideRules)
        assert (rules.name, find_game(rules.name)) == (name, rules)
        assert rules.game.cells > NARROW_CELLS
    for name in ("1000,1001,5", "9999,9999,5", "1000,1000,1001", "0,1000,5", "10000,1,3", "1000,1000"):
        with pytest.raises(GameError):
            find_game(name)


def test_nothing_is_known_of_a_position_beyond_10_000_cells() -> None:
    assert parse_game("100,100,5").cells == 10_000
    with pytest.raises(GameError, match="'1000,1000,5' has 1,000,000 cells, too many to know anything about"):
        parse_game("1000,1000,5")


def test_a_finished_game_is_no_board_to_begin_from() -> None:
    with pytest.raises(BoardError, match="finished game: X completed a line"):
        set_up(HUGE, "X1000X1000X1000X1000X695995O6O6O6O299978")
