"""Traps: what they promise is what a plain recursion over the twin's scores says, whatever the scores come from."""

import random
from collections.abc import Callable
from pathlib import Path

import naive
import pytest
from kinds import duel_twin

from oracle import Oracle
from play.arena import Roster, find_game, meet
from play.players.traps import SolvedScores, StoredScores, Traps
from solver.duel.live import LiveDuel
from solver.games.board import BoardPosition
from solver.games.duel import Duel, DuelPosition
from solver.kinds import kind_of
from solver.proof.build import build_store

TWIN = naive.Duel(3, 3)
GAME = Duel(3, 3)


def at(board: str) -> DuelPosition:
    return DuelPosition(GAME, *naive.tiles(board))


def board_of(position: BoardPosition) -> str:
    return naive.duel_board(TWIN, position.x, position.o)


def scores_of(board: str) -> dict[int, int]:
    return dict(duel_twin("duel,3,3").move_scores(board))


def lot(board: str) -> dict[int, float]:
    """Chances that differ from cell to cell and from board to board, and add up to 1."""
    cells = naive.placings(TWIN, board, naive.turn(board))
    weights = {cell: 1 + random.Random(f"{board} {cell}").random() for cell in cells}
    return {cell: weight / sum(weights.values()) for cell, weight in weights.items()}


def hope(board: str, side: str, replies: int, known: Callable[[str], bool]) -> float:
    """What a side can expect: it plays best, and of the other side's moves so many are drawn by `lot`."""
    margin = naive.margin(TWIN, board, naive.turn(board)) * (1 if naive.turn(board) == side else -1)
    truth = (margin > 0) + (margin == 0) / 2
    if "." not in board or not replies or not known(board):
        return truth
    scores = scores_of(board)
    after = {cell: naive.placed(TWIN, board, cell, naive.turn(board)) for cell in scores}
    if naive.turn(board) == side:
        best = max(scores.values())
        return max(hope(after[cell], side, replies, known) for cell in scores if scores[cell] == best)
    return sum(chance * hope(after[cell], side, replies - 1, known) for cell, chance in lot(board).items())


class TwinScores:
    def __init__(self, known: Callable[[str], bool]) -> None:
        self.known = known

    def canonical(self, position: BoardPosition) -> BoardPosition:
        return position

    def of_moves(self, position: BoardPosition) -> dict[int, int] | None:
        board = board_of(position)
        return scores_of(board) if self.known(board) else None


def traps_where(known: Callable[[str], bool]) -> Traps:
    return Traps(TwinScores(known), lambda position: lot(board_of(position)))


def boards(least: int, most: int, count: int) -> list[str]:
    """Positions with so many empty cells, in which not every move is best and none wins."""
    some = [board for board in sorted(naive.duel_reachable(TWIN)) if least <= board.count(".") <= most]
    found = [board for board in some if max(scores_of(board).values()) <= 0]
    return random.Random(5).sample(found, count)


KNOWN: dict[str, Callable[[str], bool]] = {
    "all": lambda board: True,
    "emptier": lambda board: board.count(".") >= 3,
    "some": lambda board: board.count(".") >= 4 or random.Random(board).random() < 0.5,
}
"""Of which positions the scores of the moves are known."""


@pytest.mark.parametrize("replies", [1, 2, 3])
@pytest.mark.parametrize("which", KNOWN)
def test_the_chosen_moves_are_the_best_that_promise_most(replies: int, which: str) -> None:
    known, several = KNOWN[which], 0
    for board in boards(4, 6, 40):
        traps = traps_where(known)
        scores, side = scores_of(board), naive.turn(board)
        best = [cell for cell in scores if scores[cell] == max(scores.values())]
        hopes = {cell: hope(naive.placed(TWIN, board, cell, side), side, replies, known) for cell in best}
        expected = {cell for cell in best if hopes[cell] == pytest.approx(max(hopes.values()), abs=1e-12)}
        chosen = traps.best(at(board), replies)
        assert chosen
        assert set(chosen) <= expected, board
        several += len(expected) < len(best)
    assert several > 5


def test_what_was_looked_at_for_few_replies_is_looked_at_anew_for_more() -> None:
    differing = 0
    for board in boards(5, 7, 40):
        traps, expected = traps_where(KNOWN["all"]), [traps_where(KNOWN["all"]).best(at(board), n) for n in (1, 2, 3)]
        assert [traps.best(at(board), replies) for replies in (1, 2, 3)] == expected
        differing += expected[0] != expected[2]
    assert differing > 3


def test_who_wins_makes_any_best_move_and_who_knows_nothing_is_told_none() -> None:
    winning = [board for board in sorted(naive.duel_reachable(TWIN))
               if board.count(".") == 4 and max(scores_of(board).values()) > 0]  # fmt: skip
    for board in winning[:40]:
        scores = scores_of(board)
        best = [cell for cell in scores if scores[cell] == max(scores.values())]
        assert traps_where(KNOWN["all"]).best(at(board), 3) == best
        assert traps_where(lambda board: False).best(at(board), 3) == []


def test_a_store_s_scores_are_the_twin_s_and_need_no_search(tmp_path: Path) -> None:
    build_store(GAME, tmp_path / "3x3", jobs=2)
    with Oracle(GAME, tmp_path / "3x3") as oracle:
        scores = StoredScores(oracle)
        for board in random.Random(3).sample(sorted(naive.duel_reachable(TWIN)), 200):
            if "." in board:
                assert scores.of_moves(at(board)) == scores_of(board)
                image = scores.canonical(at(board))
                assert sorted(scores_of(board_of(image)).values()) == sorted(scores_of(board).values())
            assert scores.of(at(board)) == naive.margin(TWIN, board, naive.turn(board))
    with Oracle(GAME, live=True) as oracle:
        assert StoredScores(oracle).of_moves(at(TWIN.empty)) is None


def test_a_search_tells_scores_until_its_nodes_or_positions_are_used_up() -> None:
    live = LiveDuel(GAME, kind_of(GAME).symmetries(GAME), 60)
    assert SolvedScores(live, 10**6).of_moves(at(TWIN.empty)) is None, "no compiled code is there"
    live.compiled(float("inf"))
    scores = SolvedScores(live, 10**7, positions=60)
    for board in random.Random(3).sample([b for b in sorted(naive.duel_reachable(TWIN)) if "." in b], 60):
        assert not scores.used_up
        assert scores.of_moves(at(board)) == scores_of(board)
    assert scores.used_up
    assert scores.of_moves(at(TWIN.empty)) is None
    live.forget()
    few = SolvedScores(live, 40)
    assert few.of_moves(at(TWIN.empty)) is None
    assert few.used_up
    live.forget()
    _, needed = live.scores(0, 0, 10**6)
    for share, found in ((2, False), (5, True)):
        live.forget()
        assert (SolvedScores(live, share * needed).of_moves(at(TWIN.empty)) is not None) == found, "at most a quarter"


@pytest.mark.slow
def test_the_best_level_wins_lost_games_against_who_takes_what_he_can() -> None:
    """On 4x4 R loses by right; with one reply instead of four, it wins none of these games."""
    with Roster(find_game("duel,4,4"), live=True, seconds=60) as roster:
        met = meet(roster, ("search:10", "priority"), 8, swap=False, seed=3, seconds=600)
    assert met.first.wins >= 3
    assert met.first.losses == 0
