"""What is told as certain on boards too large to solve is so: wins by their strategies, draws by their certificates."""

import random
from functools import cache
from time import monotonic

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import large, naive_of, random_position, scattered, small, torus
from naive import board, score

from solver.certificates.at_hand import AtHand, Win
from solver.certificates.draws import Certificate, check_draw
from solver.certificates.strategy import WAIT, Strategy, check_strategy, gaps
from solver.engine.live import LiveEngine
from solver.games.board import cells_of
from solver.games.lines import Game, grid
from solver.games.position import Position
from solver.source import Look

SMALL = (*small(), grid(4, 4, 3), grid(4, 4, 4), grid(3, 5, 3, misere=True), torus(4, 4, 4), scattered(4, 4, 3, 20, 6))


@cache
def live(game: Game) -> LiveEngine:
    source = LiveEngine(game, 1.0)
    assert source.compiled(monotonic() + 120)
    return source


@pytest.fixture(scope="module", autouse=True)
def _load() -> None:
    """Load the engine, which all tests share."""
    live(grid(3, 3, 3))


@pytest.fixture(autouse=True)
def engine_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain Python does not settle what the engine is asked, and no file does."""
    monkeypatch.setattr(LiveEngine, "_settled", lambda self, x, o, deadline: None)
    monkeypatch.setattr(AtHand, "win", lambda self, x, o: None)


def crowded(game: Game, rng: random.Random) -> tuple[int, int]:
    """A position whose stones stand close together, so that there are threats; in misère play one that ends soon."""
    if game.misere:
        return random_position(game, rng, rng.randrange(game.cells - 12, game.cells - 2))
    x = o = 0
    centre = rng.randrange(game.cells)
    near = sorted(range(game.cells), key=lambda cell: abs(cell - centre) % game.columns + abs(cell - centre) // 9)
    for _ in range(rng.randrange(4, 16)):
        free = [cell for cell in near if not (x | o) >> cell & 1][:14]
        cell = rng.choice(free)
        after = game.after(x, o, cell)
        if after[2]:
            break
        x, o, _ = after
    return x, o


def won_by_following(game: Game, x: int, o: int, strategy: Strategy, rng: random.Random, plies: int) -> bool:
    """Whether the strategy wins in so many plies against random replies, most of which stop what they can."""
    x_to_move = x.bit_count() == o.bit_count()
    first = strategy.move != WAIT
    own, their = (x, o) if x_to_move == first else (o, x)
    part: Strategy | None = strategy
    while True:
        if part and part.move != WAIT:
            assert not (own | their) >> part.move & 1
            own, plies = own | 1 << part.move, plies - 1
            if game.completes(own, part.move):
                return not game.misere and plies >= 0
        free = list(cells_of(game.full & ~(own | their)))
        if not free or plies < 0:
            return False
        wins = gaps(game, own, their)
        reply = rng.choice(list(cells_of(wins)) or free) if not game.misere else rng.choice(free)
        their, plies = their | 1 << reply, plies - 1
        if game.completes(their, reply):
            return game.misere and plies >= 0
        following = part.replies.get(reply) if part else None
        if following is None and wins & ~(1 << reply) and not game.misere:
            return plies >= 1
        part = following or (part and part.other)
        if part is None:
            return False


def look(game: Game, x: int, o: int, seconds: float) -> Look:
    return live(game).look(x, o, monotonic() + seconds)


def sign(seen: Look) -> int | None:
    """Who wins, if that is known: 1 for the side to move, -1 for the other, 0 for nobody."""
    return None if seen.score is None else (seen.score > 0) - (seen.score < 0)


def check_claim(game: Game, x: int, o: int, seen: Look, rng: random.Random) -> bool:
    """Check what is claimed of a position; return whether a win is."""
    if isinstance(seen.reason, Certificate):
        assert (seen.score, seen.bound) == (0, False)
        check_draw(game, x, o, seen.reason)
    if not isinstance(seen.reason, Win):
        return False
    mover = Position(game, x, o).mover
    assert sign(seen) == (1 if seen.reason.side == mover else -1)
    kept = [strategy for _, strategy in live(game)._strategies.values()]
    strategy = kept[-1]
    assert check_strategy(game, x, o, strategy) == seen.reason.plies
    assert all(won_by_following(game, x, o, strategy, rng, seen.reason.plies) for _ in range(5))
    left = game.cells - (x | o).bit_count()
    assert max(abs(value or 0) for _, value in seen.scores) == left + 1 - seen.reason.plies
    return True


def claims(games: tuple[Game, ...], wanted: int, seed: int) -> dict[str, int]:
    rng, found = random.Random(seed), dict.fromkeys([game.name for game in games], 0)
    for _ in range(40 * wanted):
        game = rng.choice(games)
        x, o = crowded(game, rng)
        live(game)._strategies.clear()
        found[game.name] += check_claim(game, x, o, look(game, x, o, 0.2), rng)
        if sum(found.values()) >= wanted:
            break
    return found


def test_wins_that_are_claimed_in_games_of_all_kinds_pass_the_check_and_win_when_they_are_followed() -> None:
    found = claims(tuple(game for game in large() if game.cells < 250), 8, 1)
    assert sum(found.values()) >= 8


@pytest.mark.slow
def test_hundreds_of_wins_that_are_claimed_in_games_of_all_kinds_are_wins() -> None:
    found = claims(large(), 300, 2)
    assert sum(found.values()) >= 300
    assert all(number for name, number in found.items() if "misere" in name)


# Feature: 4x4-tic-tac-toe-ai, Property 31: Claims of the engine
@pytest.mark.parametrize("game", SMALL, ids=lambda game: game.name)
def test_what_is_claimed_on_a_small_board_is_what_minimax_says(game: Game) -> None:
    rng = random.Random(game.name)
    naive = naive_of(game)
    for _ in range(6):
        x, o = random_position(game, rng, rng.randrange(max(1, game.cells - 8), game.cells))
        if x | o == game.full:
            continue
        seen = look(game, x, o, 0.06)
        truth = score(naive, board(naive, x, o))
        if seen.score is not None:
            assert sign(seen) == (truth > 0) - (truth < 0)
            assert abs(seen.score) <= abs(truth) if seen.bound else seen.score == truth
        for cell, value in seen.scores:
            if value is not None:
                after = Position(game, x, o).play(cell)
                true = -score(naive, board(naive, after.x, after.o))
                assert (value > 0) - (value < 0) == (true > 0) - (true < 0)
                assert abs(value) <= abs(true), "it takes at most so many plies"


@given(st.integers(0, 2**32))
def test_a_strategy_is_followed_without_a_search_whatever_the_other_side_replies(seed: int) -> None:
    rng, game = random.Random(seed), grid(7, 7, 4)
    source = live(game)
    source._strategies.clear()
    x, o = sum(1 << cell for cell in (24, 31)), 1 << 0 | 1 << 6
    seen = look(game, x, o, 2.0)
    while sign(seen) == 1:
        cell = seen.scores[0][0]
        x, o, over = game.after(x, o, cell)
        if over:
            return
        reply = rng.choice(list(cells_of(gaps(game, x, o))) or list(cells_of(game.full & ~(x | o))))
        before = seen.reason
        x, o, over = game.after(x, o, reply)
        assert not over
        seen = look(game, x, o, 2.0)
        assert isinstance(before, Win)
        assert isinstance(seen.reason, Win)
        assert seen.reason.plies <= before.plies - 2
    raise AssertionError("the win was lost")


@pytest.mark.parametrize("game", large(), ids=lambda game: game.name)
def test_the_line_of_a_look_can_be_played_and_that_of_a_win_leads_to_its_end(game: Game) -> None:
    rng = random.Random(game.name)
    for empty in (0.2, 0.6):
        x, o = random_position(game, rng, round(game.cells * (1 - empty)))
        if (x | o) == game.full:
            continue
        seen, position = look(game, x, o, 0.15), Position(game, x, o)
        for cell in seen.line:
            position = position.play(cell)
        if isinstance(seen.reason, Win):
            assert position.over
            assert position.winner == seen.reason.side
