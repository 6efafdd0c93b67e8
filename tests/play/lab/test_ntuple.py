"""The n-tuple learner: the same games teach the same, equal positions are equal to it, and it learns to play."""

import numpy as np
import pytest
from lab import grader

from play.lab.ntuple import BYTES, TUPLES, NTuple
from solver.arrays.positions import Positions
from solver.games.notation import parse_game
from solver.index.symmetry import image

pytestmark = pytest.mark.usefixtures("few_draws")


def learner(game: str, episodes: int = 500) -> NTuple:
    return NTuple(parse_game(game), 1, episodes)


def trained(game: str, episodes: int) -> NTuple:
    ntuple = learner(game, episodes)
    ntuple.train(0, episodes)
    return ntuple


def kept(ntuple: NTuple, game: str) -> tuple[float, float]:
    """In which shares of canonical positions the result is kept, and of those in which some moves do not."""
    found = grader(game).grade(ntuple, "canonical", values=False)
    return found.kept, found.decisive


def weights(ntuple: NTuple) -> np.ndarray:
    return ntuple.arrays()["weights"].copy()


def test_games_teach_the_same_in_any_portions_with_what_was_learned_loaded_in_between() -> None:
    ntuple, plies = learner("2,4,3"), 0
    for start, stop in [(0, 1), (1, 1), (1, 120), (120, 500)]:
        following = learner("2,4,3")
        following.load(ntuple.arrays())
        plies += following.train(start, stop - start).plies
        ntuple = following
    whole = learner("2,4,3")
    assert plies == whole.train(0, 500).plies
    assert weights(ntuple).tobytes() == weights(whole).tobytes()


@pytest.mark.parametrize("game", ["3,3,3", "4,5,4", "2,4,3,misere", "fano"])
def test_games_are_counted_by_their_results_and_their_moves(game: str) -> None:
    ntuple = learner(game)
    played = ntuple.train(0, 200)
    assert played.games == 200
    shortest = 2 * min(line.bit_count() for line in parse_game(game).lines) - 1
    assert 200 * shortest <= played.plies <= 200 * parse_game(game).cells
    assert 0 < ntuple.seen <= weights(ntuple).size


def test_where_lines_cannot_be_avoided_the_third_stone_wins_or_loses() -> None:
    assert learner("1,1,1").train(0, 7) == (7, 0, 0, 7, 0)
    assert learner("2,2,2,misere").train(0, 50) == (0, 0, 50, 150, 0)
    assert learner("2,2,2").train(0, 50) == (50, 0, 0, 150, 0)


@pytest.mark.parametrize("game", ["3,3,3", "2,4,3,misere", "fano"])
def test_chances_are_on_free_cells_and_add_up_to_1(game: str) -> None:
    positions, ntuple = Positions(game), trained(game, 300)
    chances = ntuple.chances(positions.x, positions.o)
    assert chances.dtype == np.float64
    assert np.allclose(chances.sum(axis=1), 1)
    assert (chances >= 0).all()
    assert not chances[~positions.legal].any()


def test_before_any_game_all_moves_are_equally_good_but_those_that_complete_a_line() -> None:
    positions = Positions("3,3,3")
    chances = learner("3,3,3").chances(positions.x, positions.o)
    wins = positions.child == -2
    good = np.where(wins.any(axis=1, keepdims=True), wins, positions.legal)
    assert np.allclose(chances, good / good.sum(axis=1, keepdims=True))


def test_a_move_is_preferred_however_little_better_it_is() -> None:
    ntuple = learner("3,3,3")
    assert ntuple.entropy() > 0.8
    ntuple.load({"weights": np.random.default_rng(1).normal(0, 1e-5, weights(ntuple).shape).astype(np.float32)})
    assert 0 < ntuple.entropy() < 0.5


@pytest.mark.parametrize("game", ["3,3,3", "2,4,3,misere", "fano"])
def test_it_treats_images_of_a_position_alike(game: str) -> None:
    positions, ntuple = Positions(game), trained(game, 300)
    rng = np.random.default_rng(3)
    rows = rng.integers(len(positions), size=300)
    x, o = positions.x[rows], positions.o[rows]
    chances, values = ntuple.chances(x, o), ntuple.values(x, o)
    for g in positions.group[1:9]:
        moved_x, moved_o = (np.array([image(g, int(cells)) for cells in side]) for side in (x, o))
        assert np.allclose(ntuple.chances(moved_x, moved_o)[:, list(g)], chances)
        assert np.allclose(ntuple.values(moved_x, moved_o), values)


@pytest.mark.parametrize("game", ["3,3,3", "2,4,3,misere"])
def test_it_completes_a_line_where_that_wins_and_avoids_it_where_that_loses(game: str) -> None:
    positions, ntuple = Positions(game), trained(game, 20)
    chances = ntuple.chances(positions.x, positions.o)
    completing = positions.child == -2
    if positions.game.misere:
        escape = (positions.legal & ~completing).any(axis=1)
        assert completing[escape].any()
        assert not (chances * completing)[escape].any()
    else:
        some = completing.any(axis=1)
        assert np.allclose((chances * completing)[some].sum(axis=1), 1)
        assert np.allclose(ntuple.values(positions.x[some], positions.o[some]), 1)


def test_values_are_those_of_the_best_move_for_the_side_to_move() -> None:
    ntuple = trained("3,3,3", 4000)
    positions = Positions("3,3,3")
    values = ntuple.values(positions.x, positions.o)
    assert (np.abs(values) <= 1).all()
    assert np.corrcoef(values, np.sign(positions.score.astype(np.int64)))[0, 1] > 0.9


@pytest.mark.parametrize(
    ("game", "episodes", "share"), [("3,3,3", 8000, 1.0), ("2,4,3,misere", 8000, 0.9), ("fano", 4000, 1.0)]
)
def test_it_learns_to_keep_the_result_of_small_games(game: str, episodes: int, share: float) -> None:
    assert kept(learner(game), game)[1] < 0.8
    assert kept(trained(game, episodes), game)[1] >= share


def test_arrays_that_do_not_fit_are_refused() -> None:
    ntuple = trained("3,3,3", 10)
    before = weights(ntuple)
    of_another_game = trained("2,4,3", 10).arrays()
    for wrong in ({}, {"weights": before[:-1]}, {"weights": before.astype(np.float64)}, of_another_game):
        with pytest.raises(ValueError, match="weights"):
            ntuple.load(wrong)
    assert weights(ntuple).tobytes() == before.tobytes()


@pytest.mark.parametrize("game", ["5,5,4", "5,6,2", pytest.param("affine4", marks=pytest.mark.slow)])
def test_large_games_are_learned_within_the_limits(game: str) -> None:
    ntuple = learner(game)
    assert ntuple.train(0, 20).games == 20
    assert 12 <= len(ntuple._tables.origins) <= TUPLES
    assert ntuple._tables.slots.nbytes + weights(ntuple).nbytes <= BYTES


@pytest.mark.slow
def test_a_hundred_thousand_games_of_444_teach_it_to_keep_the_result_nearly_everywhere() -> None:
    assert min(kept(trained("4,4,4", 100_000), "4,4,4")) >= 0.9999
