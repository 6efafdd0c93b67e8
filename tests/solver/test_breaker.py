"""Defences: what a walk accepts is held by minimax, whoever gave the answers; and the search finds those it should."""

from collections.abc import Callable
from itertools import combinations, count, product
from random import Random
from time import monotonic

import naive
import pytest
from kinds import completes_alone, naive_of, random_lines

from solver.certificates.breaker import Breaker, find_defence, searches
from solver.certificates.holding import BARE, NOT_BARE, Bare, Whole, stripped, undominated, usual_answer, walk
from solver.certificates.pairing import matched_pairs
from solver.certificates.refusals import CheckTooLong, Refuted
from solver.errors import NotSettled
from solver.games.board import cells_of
from solver.games.lines import Game, grid
from solver.index.symmetry import Symmetry, symmetries

SLOW = pytest.mark.slow
DRAWS = [
    *("4,4,4", "5,5,5", "4,5,4", "4,6,4", "6,6,5", "6,4,4", "8,8,6"),
    *(pytest.param(name, marks=SLOW) for name in ("5,5,4", "7,4,4")),
]
WON = ["3,3,2", "4,3,3", "3,4,3", "5,5,3", "5,6,4", pytest.param("6,6,4", marks=SLOW)]


def defence(game: Game) -> list[int | None] | None:
    return find_defence(game, symmetries(game), monotonic() + 60)


def told(answers: list[int | None]) -> Callable[[Whole | Bare, int], int]:
    """Answers from a list, with None for the usual one."""
    left = iter(answers)

    def ask(position: Whole | Bare, usual: int) -> int:
        answer = next(left, None)
        return usual if answer is None else answer

    return ask


@pytest.mark.parametrize("name", DRAWS)
def test_o_holds_x_on_boards_that_are_drawn(name: str) -> None:
    game = grid(*map(int, name.split(",")))
    answers = defence(game)
    assert answers is not None
    assert walk(game, Whole(0, 0), symmetries(game), told(answers)) > 0


@pytest.mark.parametrize("name", WON)
def test_no_defence_is_found_on_boards_that_x_wins(name: str) -> None:
    assert defence(grid(*map(int, name.split(",")))) is None


def test_a_search_that_is_late_ends_however_short_each_of_its_steps_is() -> None:
    game = grid(6, 4, 4)
    with pytest.raises(NotSettled):
        find_defence(game, symmetries(game), monotonic() - 1)


def test_a_defence_that_is_found_is_one_by_minimax() -> None:
    random, held, drawn = Random(1), 0, 0
    for _ in range(50):
        game = random_lines(random)
        answers = defence(game)
        draw = naive.score(naive_of(game), "." * game.cells) <= 0
        assert draw or answers is None, game.lines
        held, drawn = held + (answers is not None), drawn + draw
    assert drawn >= held > 0.95 * drawn


def test_no_list_of_answers_passes_where_x_wins() -> None:
    """Answers by lot, some usual and some not: the walk must refute all of them where minimax says that X wins."""
    random, passed, refuted = Random(2), 0, 0
    while passed < 35 or refuted < 60:
        game = random_lines(random)

        def ask(position: Whole | Bare, usual: int, cells: int = game.cells) -> int:
            if usual == BARE:
                return random.choice([BARE, NOT_BARE])
            return usual if random.random() < 0.7 else random.randrange(-1, cells + 1)

        try:
            walk(game, Whole(0, 0), symmetries(game), ask)
        except Refuted:
            refuted += 1
            continue
        assert naive.score(naive_of(game), "." * game.cells) <= 0, game.lines
        passed += 1


def test_one_answer_changed_refutes_or_leaves_a_defence() -> None:
    random, refuted = Random(3), 0
    game = grid(6, 4, 4)
    answers = defence(game)
    assert answers is not None
    for _ in range(6):
        at = random.randrange(min(len(answers), 300))
        changed = [*answers[:at], random.randrange(game.cells), *answers[at + 1 :]]
        try:
            walk(game, Whole(0, 0), symmetries(game), told(changed))
        except Refuted:
            refuted += 1
    assert refuted > 3


def test_what_is_left_out_of_a_bare_position_changes_nothing() -> None:
    random, settled_seen, shorter = Random(4), 0, 0
    for _ in range(300):
        game = random_lines(random)
        cells = list(range(game.cells))
        random.shuffle(cells)
        maker = sum(1 << cell for cell in cells[: random.randint(0, 2)])
        free = sum(1 << cell for cell in cells[2 : random.randint(4, game.cells)])
        lines = list(game.lines)
        if any(not line & ~maker for line in lines):
            continue
        wins = completes_alone(lines, maker, free, to_move=True)
        position, settled = stripped(lines, Bare(maker, free))
        assert not (settled and wins)
        assert completes_alone(lines, *position, to_move=True) == wins
        live = [line for line in lines if not line & ~(position.maker | position.free)]
        best = undominated(live, position.free)
        settled_seen, shorter = settled_seen + settled, shorter + (len(best) < position.free.bit_count())
        held_anyway = [cell for cell in cells_of(position.free) if cell not in best]
        answered = {
            cell: not completes_alone(lines, position.maker | 1 << cell, position.free ^ 1 << cell, to_move=False)
            for cell in cells_of(position.free)
        }
        if wins:
            assert not all(answered[cell] for cell in best)
        else:
            assert all(answered[cell] for cell in held_anyway)
    assert settled_seen > 50
    assert shorter > 50


def test_the_kernel_and_plain_python_agree_on_bare_positions() -> None:
    """The zone of a win is enough to win, and what the kernel holds is held."""
    random, won, narrow = Random(5), 0, 0
    for _ in range(250):
        game = random_lines(random)
        cells = list(range(game.cells))
        random.shuffle(cells)
        maker = sum(1 << cell for cell in cells[: random.randint(0, 2)])
        free = game.full & ~maker
        if any(not line & ~maker for line in game.lines):
            continue
        zone = Breaker(game, symmetries(game), monotonic() + 60).zone(maker, free)
        wins = completes_alone(game.lines, maker, free, to_move=True)
        assert (zone != 0) == wins
        assert not zone & ~free
        assert not wins or completes_alone(game.lines, maker, zone, to_move=True)
        won, narrow = won + wins, narrow + (0 < zone < free)
    assert won > narrow > 30


def test_matching_finds_pairs_where_groups_of_lines_have_enough_cells() -> None:
    """The groups are given: any two lines of one share two cells, those of different groups none or one."""
    random, found = Random(6), 0
    for _ in range(500):
        needs = [sum(1 << cell for cell in random.sample(range(8), random.randint(2, 4))) for _ in range(3)]
        if any((a & b).bit_count() > 1 for a, b in combinations(needs, 2)):
            continue
        pairs = matched_pairs(needs)
        possible = any(
            (a | b).bit_count() == 4 and not (a | b) & c
            for a, b, c in product(*([1 << i | 1 << j for i, j in combinations(cells_of(n), 2)] for n in needs))
        )
        assert (pairs is not None) == possible
        if pairs:
            assert len({cell for pair in pairs for cell in pair}) == 6
            assert all(any(need >> a & need >> b & 1 for a, b in pairs) for need in needs)
            found += 1
    assert found > 20
    assert matched_pairs([0b0111, 0b1110, 0b110]) == ((1, 2),)
    assert matched_pairs([0b1]) is None
    assert matched_pairs([0b11, 0b110, 0b101]) is None


def test_the_usual_answer_is_the_first_of_the_heaviest_cells() -> None:
    game = grid(3, 3, 3)
    assert usual_answer(game.lines, 0, game.full) == game.cell("b2")
    assert usual_answer(game.lines, 1 << 4, game.full & ~(1 << 4)) == 0
    assert usual_answer([0b11], 0, 0b1100) == 2


def test_permutations_that_are_no_symmetries_are_refused() -> None:
    game = grid(4, 4, 4)
    identity = tuple(range(16))
    swapped: Symmetry = (1, 0, *range(2, 16))
    for group in ([identity, swapped], [identity, (0,) * 16], [(0, 1)]):
        with pytest.raises(Refuted, match="no symmetry"):
            walk(game, Whole(0, 0), group, told([]))


def test_a_whole_position_is_not_taken_for_a_bare_one_with_the_same_cells() -> None:
    """The swap of the two sides' lines makes a bare position of a whole one that has just been called bare."""
    lines = ((0, 3, 4), (1, 3, 5), (2, 4, 5), (0, 6, 7), (1, 6, 8), (2, 7, 8))
    game = Game("two triangles", 1, 9, tuple(sorted(sum(1 << cell for cell in line) for line in lines)))
    swap: Symmetry = (0, 1, 2, 6, 7, 8, 3, 4, 5)
    with pytest.raises(Refuted, match="fails"):
        walk(game, Whole(0b111, 0b111000000), [tuple(range(9)), swap], lambda position, usual: BARE)


def test_only_short_lines_on_small_boards_are_searched() -> None:
    assert searches(grid(8, 8, 5))
    assert not searches(grid(8, 8, 5, misere=True))
    assert not searches(grid(5, 13, 5))
    assert not searches(grid(1, 60, 55))


def test_a_walk_gives_up_after_so_many_positions() -> None:
    game = grid(4, 5, 4)
    with pytest.raises(CheckTooLong):
        walk(game, Whole(0, 0), symmetries(game), told([]), most=3)


def test_a_search_for_a_defence_ends_at_its_deadline_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at the clock, after so many nodes, takes a second."""
    game, ticks = grid(5, 5, 4), count()
    monkeypatch.setattr("solver.certificates.breaker._NODES_AT_ONCE", 50)
    monkeypatch.setattr("solver.certificates.breaker.monotonic", ticks.__next__)
    with pytest.raises(NotSettled, match=r"^5,5,4 was not settled in time$"):
        Breaker(game, symmetries(game), 3).holds(Whole(0, 0))
    assert next(ticks) == 5, "at the deadline there is still time"
    assert Breaker(game, symmetries(game), 10**9).holds(Whole(0, 0))
    assert next(ticks) > 20


def test_misere_games_and_large_boards_are_not_searched() -> None:
    assert defence(grid(3, 3, 3, misere=True)) is None
    assert find_defence(grid(15, 15, 5), [tuple(range(225))], monotonic() + 5) is None
