"""The engine: its counts are those of a fresh look at the board, and what the lines decide is what minimax says."""

import random
from typing import Any

import numpy as np
import pytest
from kinds import large, naive_of, random_position, small, torus
from naive import board, score

from solver.engine import CELLS_MOST, takes
from solver.engine.board import CELL, FIELD, KEY, KINDS, LINE, NODES, OPEN, lift, put
from solver.engine.engine import Engine, share_of
from solver.engine.kernels import MATE
from solver.engine.tables import tables_of
from solver.errors import GameError
from solver.games.board import cells_of
from solver.games.lines import Game, grid

GAMES = (*small(), *large())
GAMES_OF_EACH = 12


def fewest(game: Game) -> int:
    """With how many stones minimax is quick."""
    return 0 if game.cells < 12 else 4


def sides(x: int, o: int) -> tuple[int, int]:
    return (x, o) if x.bit_count() == o.bit_count() else (o, x)


def counted(game: Game, x: int, o: int) -> tuple[dict[tuple[int, int], int], dict[int, int]]:
    """By side and missing cells the lines that are open, and each cell's counts in one number, line by line."""
    lines: dict[tuple[int, int], int] = {}
    cells: dict[int, int] = {}
    for line in game.lines:
        for side, (own, other) in enumerate(((x, o), (o, x))):
            missing = (line & ~own).bit_count()
            if not line & other and 0 < missing <= KINDS:
                lines[side, missing] = lines.get((side, missing), 0) + 1
                for cell in cells_of(line):
                    at = CELL + 4 * cell + side
                    cells[at] = cells.get(at, 0) + (1 << FIELD * (KINDS - missing))
    return lines, cells


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_counts_and_key_after_any_moves_are_those_of_a_fresh_look_and_undo_restores_them(game: Game) -> None:
    rng = random.Random(game.name)
    c, fresh = tables_of(game)
    for _ in range(GAMES_OF_EACH):
        s, keys = fresh.copy(), [int(fresh[KEY])]
        moves = rng.sample(range(game.cells), rng.randrange(game.cells + 1))
        before = []
        for ply, cell in enumerate(moves):
            before.append(s.copy() if ply % 8 < 2 else None)
            put(c, s, cell, ply % 2)
            keys.append(int(s[KEY]))
        x, o = (sum(1 << cell for cell in moves[side::2]) for side in (0, 1))
        lines, cells = counted(game, x, o)
        for side in (0, 1):
            for missing in range(1, KINDS + 1):
                assert s[OPEN + 8 * side + missing] == lines.get((side, missing), 0)
            for cell in range(game.cells):
                assert s[CELL + 4 * cell + side] == cells.get(CELL + 4 * cell + side, 0)
        for number, line in enumerate(game.lines):
            empty = list(cells_of(line & ~(x | o)))
            if len(empty) == 1:
                assert s[LINE + 4 * number + 2] == empty[0]
        other = fresh.copy()
        for cell, side in rng.sample([(cell, ply % 2) for ply, cell in enumerate(moves)], len(moves)):
            put(c, other, cell, side)
        assert np.array_equal(s, other), "the order of the moves does not matter"
        assert len(set(keys)) == len(keys)
        for ply in reversed(range(len(moves))):
            lift(c, s, moves[ply], ply % 2)
            assert before[ply] is None or np.array_equal(s, before[ply])


@pytest.mark.parametrize("game", small(), ids=lambda game: game.name)
def test_what_the_engine_calls_won_at_a_glance_is_won_and_in_no_more_plies(game: Game) -> None:
    rng, engine, naive, seen = random.Random(game.name), Engine(game, table_bits=8), naive_of(game), 0
    for _ in range(90):
        x, o = random_position(game, rng, rng.randrange(fewest(game), game.cells))
        if x | o == game.full:
            continue
        own, other = sides(x, o)
        thought = engine.think(own, other, depth=1)
        left = game.cells - (x | o).bit_count()
        truth = score(naive, board(naive, x, o))
        if thought.win > 0:
            seen += 1
            assert truth > 0
            assert left + 1 - truth <= thought.win
    assert seen > 5 or game.misere


@pytest.mark.parametrize("game", small(), ids=lambda game: game.name)
def test_a_search_of_every_move_to_the_end_finds_minimax_s_outcome(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.engine.tables._WIDTH", CELLS_MOST)
    monkeypatch.setattr("solver.engine.tables._REACH", CELLS_MOST)
    rng, engine, naive = random.Random(game.name), Engine(game, table_bits=12), naive_of(game)
    engine_near = [game.full] * game.cells
    monkeypatch.setattr(engine, "_near", engine_near)
    for _ in range(40):
        x, o = random_position(game, rng, rng.randrange(fewest(game), game.cells))
        if x | o == game.full or not x:
            continue
        thought = engine.think(*sides(x, o))
        truth = score(naive, board(naive, x, o))
        assert (thought.win > 0) - (thought.win < 0) == (truth > 0) - (truth < 0), board(naive, x, o)


@pytest.mark.parametrize("game", large(), ids=lambda game: game.name)
def test_every_move_is_legal_and_the_expected_line_goes_on_from_it(game: Game) -> None:
    rng, engine = random.Random(game.name), Engine(game, table_bits=10)
    for _ in range(12):
        x, o = random_position(game, rng, rng.randrange(game.cells))
        if x | o == game.full:
            continue
        thought = engine.think(*sides(x, o), nodes=rng.choice((1, 10, 300, 3000)))
        assert thought.line[0] == thought.cell
        assert len({*thought.line}) == len(thought.line)
        assert not any((x | o) >> cell & 1 for cell in thought.line)
        assert 0 <= thought.share <= 1


def test_the_same_nodes_and_seed_give_the_same_thought_and_a_seed_varies_it() -> None:
    game = grid(15, 15, 5)
    thoughts = {
        seed: [Engine(game, table_bits=12).think(1 << 112, 1 << 113, nodes=3000, seed=seed) for _ in range(2)]
        for seed in range(6)
    }
    assert all(first == again for first, again in thoughts.values())
    assert len({first.nodes for first, _ in thoughts.values()} | {first.line for first, _ in thoughts.values()}) > 1


def test_an_engine_that_has_forgotten_thinks_as_a_new_one() -> None:
    engine = Engine(grid(9, 9, 5), table_bits=12)
    first = engine.think(1 << 40, 1 << 41, nodes=5000)
    engine.think(1 << 30 | 1 << 40, 1 << 41 | 1 << 20, nodes=5000)
    engine.forget()
    assert engine.think(1 << 40, 1 << 41, nodes=5000) == first


def test_forced_moves_without_end_are_followed_no_deeper_than_there_is_room() -> None:
    """On a single row with two in a row each move forces the next."""
    for columns in (130, 200, 400):
        assert Engine(grid(1, columns, 2), table_bits=12).think(0, 1, nodes=5000).cell > 0


def test_what_is_left_when_the_best_moves_are_barred_is_not_remembered_as_the_value() -> None:
    """The block of a four is barred after it was valued; without it, all seems lost."""
    game = grid(15, 15, 5)
    x = sum(1 << game.cell(name) for name in ("g8", "h8", "i8", "a1"))
    o = sum(1 << game.cell(name) for name in ("f8", "n14", "c3", "l2"))
    engine, after = Engine(game, table_bits=18), x | 1 << game.cell("j8")
    depth = engine.think(o, after, nodes=20_000).depth
    values = engine.values(o, after, depth=depth - 3, most=5, nodes=50_000)
    assert values[0][0] == game.cell("k8")
    assert all(abs(value) < MATE for _, value in values)
    again = engine.think(x, o, nodes=20_000)
    assert abs(again.value) < MATE
    assert len(again.line) > 1


@pytest.mark.parametrize("name", ["10,10,7", "20,20,9", "15,15,5", "9,9,4"])
def test_a_game_begins_near_the_middle(name: str) -> None:
    game = grid(*map(int, name.split(",")))
    row, column = divmod(Engine(game).think(0, 0, nodes=20_000).cell, game.columns)
    assert all(game.rows // 4 <= at < game.rows - game.rows // 4 for at in (row, column))


def test_a_few_moves_are_valued_each_once_and_the_best_first() -> None:
    game = grid(15, 15, 5)
    values = Engine(game).values(1 << 112 | 1 << 97, 1 << 113 | 1 << 128, depth=4, most=5)
    cells, worth = zip(*values, strict=True)
    assert len({*cells}) == len(cells) == 5
    assert list(worth) == sorted(worth, reverse=True)


def test_a_line_is_completed_and_else_blocked() -> None:
    game = torus(9, 9, 5)
    row = sum(1 << cell for cell in (0, 1, 2, 8))  # over the edge
    completing = [3, 7]
    assert Engine(game).think(row, 0b1111 << 40, nodes=100).cell in completing
    assert Engine(game).think(0b111 << 50, row & ~0b1 | 1 << 7, nodes=1000).cell == 0


def test_the_share_of_points_grows_with_the_value_from_none_to_all() -> None:
    shares = [share_of(value) for value in range(-MATE, MATE, 500)]
    assert shares == sorted(shares)
    assert share_of(0) == 0.5
    assert all(0 < share < 1 for share in shares)


def test_a_game_with_too_many_cells_or_lines_is_refused() -> None:
    assert takes(grid(20, 20, 5))
    assert not takes(grid(20, 21, 5))
    with pytest.raises(GameError, match="too large"):
        tables_of(grid(20, 21, 5))


def test_a_limit_of_nodes_is_kept() -> None:
    engine: Any = Engine(grid(15, 15, 5))
    for nodes in (1, 2, 77, 4000):
        engine.think(1 << 112, 1 << 113, nodes=nodes)
        assert engine._s[NODES] <= nodes + 1, "the one that notices"
