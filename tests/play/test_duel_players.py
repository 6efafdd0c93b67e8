"""Players of the duel, and MCTS of any game: as strong as documented, and refused by other games."""

import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import duel_twin
from sessions import piped

from oracle.answers import Move
from play.arena import Roster, find_game, meet
from play.cli.main import main
from play.players import duel as players
from play.players.duel import LEVELS, PlayoutPlayer, PriorityPlayer, SearchPlayer, Strength
from play.players.machines import _worth
from play.players.mcts import MctsPlayer
from play.players.player import Player
from solver.games.board_rules import BoardState
from solver.games.duel import Duel, DuelPosition
from solver.games.duel_rules import DuelState
from solver.games.line_rules import LineRules
from solver.games.notation import parse_game
from solver.games.position import Position
from solver.proof.build import build_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(build_store(Duel(2, 5), tmp_path_factory.mktemp("duel") / "2x5", jobs=2).path)


@cache
def roster_of(name: str) -> Roster:
    """Players of a duel without a store, whose compiled code is there."""
    roster = Roster(find_game(name), live=True, seconds=60)
    roster.player("search:10", 0)
    roster.ready()
    return roster


def machine(roster: Roster, name: str, seed: int | str) -> Player:
    player = roster.player(name, seed)
    assert player is not None
    return player


def state(duel: naive.Duel, board: str) -> DuelState:
    return BoardState(DuelPosition(Duel(duel.rows, duel.columns), *naive.tiles(board)))


def drawn(duel: naive.Duel, empty: int, seed: int) -> str:
    """A position with so many empty cells."""
    rng = random.Random(seed)
    return naive.duelled(duel, [rng.randrange(1000) for _ in range(duel.cells - empty)])[-1]


def game(duel: naive.Duel, red: Player, green: Player) -> list[int]:
    """The moves of a whole game, each of which the twin finds legal."""
    board, moves = duel.empty, []
    while "." in board:
        side = naive.turn(board)
        moves.append((red if side == "R" else green).choose(state(duel, board)))
        assert moves[-1] in naive.placings(duel, board, side)
        board = naive.placed(duel, board, moves[-1], side)
    return moves


def margins(duel: naive.Duel, board: str) -> dict[int, int]:
    """The margin of each move, for the side that makes it."""
    return dict(duel_twin(f"duel,{duel.rows},{duel.columns}").move_scores(board))


def sum_of(duel: naive.Duel, board: str, cell: int) -> int:
    """What a move brings: 10 a capture, 5 if the other side can then capture nothing, 1 for a new cell in reach."""
    side = naive.turn(board)
    other, after = naive.rival(side), naive.placed(duel, board, cell, side)
    threatened = any(naive.captures(duel, after, reply, other) for reply in naive.placings(duel, after, other)
                     if "." in after)  # fmt: skip
    new = any(
        board[near] == "." and all(board[next_to] != side for next_to in naive.beside(duel, near))
        for near in naive.beside(duel, cell)
    )
    return 10 * len(naive.captures(duel, board, cell, side)) + 5 * (not threatened) + new


@given(st.builds(naive.Duel, st.integers(1, 7), st.integers(1, 7)), st.binary(max_size=48), st.integers())
# Feature: infinity-grid-duel, Property 21: The Priority Player Makes A Move Of The Highest Sum
def test_priority_makes_a_move_of_the_highest_sum(duel: naive.Duel, choices: bytes, seed: int) -> None:
    board = naive.duelled(duel, choices[: duel.cells - 1])[-1]
    player = PriorityPlayer(Duel(duel.rows, duel.columns), random.Random(seed))
    sums = {cell: sum_of(duel, board, cell) for cell in naive.placings(duel, board, naive.turn(board))}
    assert sums[player.choose(state(duel, board))] == max(sums.values())


def test_priority_draws_among_equally_good_moves_by_its_seed() -> None:
    duel, several = naive.Duel(4, 4), 0
    for number in range(12):
        board = drawn(duel, 4 + number, number)
        sums = {cell: sum_of(duel, board, cell) for cell in naive.placings(duel, board, naive.turn(board))}
        best = {cell for cell, found in sums.items() if found == max(sums.values())}
        made = [machine(roster_of("duel,4,4"), "priority", seed).choose(state(duel, board)) for seed in range(80)]
        assert set(made) == best
        several += len(best) > 1
    assert several > 3


def test_the_best_level_plays_the_same_game_again_where_it_cannot_solve_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on 6x6 with its own 5 million nodes, only sooner; the arena lets a roster forget before each game."""
    monkeypatch.setattr(players, "LEVELS", (*LEVELS[:10], Strength(0.0, 144, 2_000)))
    duel, roster = naive.Duel(5, 5), roster_of("duel,5,5")

    def played(seed: int) -> list[int]:
        roster.forget()
        return game(duel, *(machine(roster, "search:10", f"{seed} {side}") for side in "RG"))

    first = [played(seed) for seed in range(2)]
    assert first == [played(seed) for seed in range(2)]


def decisive(duel: naive.Duel, empty: range, count: int) -> list[tuple[str, int]]:
    """Positions in which one move alone wins and the others lose, and that move."""
    found: dict[str, int] = {}
    for seed in range(4000):
        board = drawn(duel, empty[seed % len(empty)], seed)
        scores = margins(duel, board)
        winning = [cell for cell, score in scores.items() if score > 0]
        if len(winning) == 1 and len(scores) > 1 and all(s < 0 for c, s in scores.items() if c not in winning):
            found[board] = winning[0]
        if len(found) == count:
            break
    return list(found.items())


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("empty", [range(2, 3), range(3, 6)])
def test_playouts_find_the_only_move_that_wins_a_duel(empty: range, compiled: bool) -> None:
    duel, rules = naive.Duel(3, 3), find_game("duel,3,3")
    cases = decisive(duel, empty, 12)
    assert len(cases) == 12
    for number, (board, winning) in enumerate(cases):
        rng = random.Random(number)
        player: Any = PlayoutPlayer(Duel(3, 3), 600, rng) if compiled else MctsPlayer(rules, 600, rng)
        assert player.choose(state(duel, board)) == winning, board


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("boards", "playouts"),
    [(["XX.OO....", "..XOX.O.X", "OXXOX....", ".XX.O...O"], 400), (["XO.......", "X...O...X", "X...O.X.."], 3000)],
    ids=["a line at once", "a fork or a block"],
)
def test_playouts_find_what_wins_or_holds_a_game_of_lines(boards: list[str], playouts: int, seed: int) -> None:
    rules, twin = LineRules(parse_game("3,3,3")), naive.Game(3, 3, 3)
    for board in boards:
        signs = {cell: (score > 0) - (score < 0) for cell, score in naive.move_scores(twin, board).items()}
        assert len(set(signs.values())) > 1
        found = BoardState(Position(rules.game, *naive.masks(board)))
        cell = MctsPlayer(rules, playouts, random.Random(seed)).choose(found)
        assert signs[cell] == max(signs.values()), board


@pytest.fixture
def nim(home: Path) -> Any:
    shutil.copy(Path(__file__).with_name("nim.py"), "nim.py")
    return find_game("nim:Nim")


def test_playouts_leave_a_multiple_of_four_in_nim(nim: Any) -> None:
    for left, take in ((7, 3), (6, 2), (5, 1), (3, 3), (2, 2), (1, 1)):
        for seed in range(3):
            assert MctsPlayer(nim, 800, random.Random(seed)).choose(nim.decode(f"{left} X")) == take


@pytest.mark.parametrize(("side", "rival"), [("R", "random"), ("G", "random"), ("R", "priority"), ("G", "search:5")])
def test_the_best_searching_player_with_a_store_always_keeps_the_best_margin(
    side: str, rival: str, store: Path
) -> None:
    duel = naive.Duel(2, 5)
    with Roster(find_game("duel,2,5"), str(store)) as roster:
        for seed in range(8):
            best, other = machine(roster, "search:10", seed), machine(roster, rival, f"{seed} other")
            board = duel.empty
            for cell in game(duel, *((best, other) if side == "R" else (other, best))):
                if naive.turn(board) == side:
                    scores = margins(duel, board)
                    assert scores[cell] == max(scores.values()), board
                board = naive.placed(duel, board, cell, naive.turn(board))
        assert roster.stores == {str(store)}


@pytest.mark.parametrize("known", [5, -5, 0, None])
@pytest.mark.parametrize("kept", [7, 0, None])
@pytest.mark.parametrize("traps", [[8], []])
def test_the_best_searching_player_keeps_a_known_margin_and_else_searches_and_then_looks_for_traps(
    known: int | None, kept: int | None, traps: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(players, "LEVELS", (*LEVELS[:10], Strength(0.0, 144, 2_001)))
    did: list[tuple[Any, ...]] = []

    def keep(*asked: Any) -> int | None:
        did.append(("keep", *asked))
        return kept

    def think(*asked: Any) -> int:
        did.append(("think", *asked))
        live.nodes += 500
        return 6

    def solved(player: SearchPlayer, position: Any, nodes: int, seed: int) -> list[int]:
        did.append(("solve", position.x, position.o, nodes, seed))
        return traps

    monkeypatch.setattr(SearchPlayer, "_solved", solved)
    live: Any = SimpleNamespace(
        load=lambda: None, wait=lambda: 0.0, keep=keep, think=think, nodes=10_000, game=Duel(3, 3)
    )
    book: Any = SimpleNamespace(
        traps=SimpleNamespace(best=lambda position, replies: []), scores=SimpleNamespace(of=lambda position: known)
    )
    found = state(naive.Duel(3, 3), "R...G....")
    made = SearchPlayer(live, 10, 3, book).choose(found)
    x, o, seed = found.position.x, found.position.o, did[0][-1]
    if known is None:
        assert did == [("think", x, o, 9, 2_001, seed), ("solve", x, o, 1_501, seed)]
        assert made == (8 if traps else 6)
    else:
        assert did == [("keep", x, o, known, 1_751, seed)] + [("think", x, o, 144, 250, seed)] * (kept is None)
        assert made == (6 if kept is None else kept)


def test_the_best_searching_player_without_a_store_solves_a_small_board() -> None:
    duel, player = naive.Duel(2, 5), machine(roster_of("duel,2,5"), "search:10", 3)
    for seed in range(20):
        board = drawn(duel, 1 + seed % 10, seed)
        scores = margins(duel, board)
        assert scores[player.choose(state(duel, board))] == max(scores.values()), board


def move_of(score: int) -> Move:
    return Move("a1", 0, 0, 0, None, 4, score, False)


def test_to_the_levels_of_the_oracle_a_draw_is_worth_more_than_a_loss_and_less_than_a_win() -> None:
    worth = [_worth(move_of(score), "margin") for score in range(-36, 37)]
    assert worth == sorted(set(worth))
    assert worth[36] == 0
    assert worth[37] - worth[36] > worth[38] - worth[37], "winning at all counts more than by one tile more"


def test_a_level_prefers_a_draw_to_a_loss_and_a_win_to_a_draw(store: Path) -> None:
    duel, counts, boards = naive.Duel(2, 5), Counter[int](), 0
    with Roster(find_game("duel,2,5"), str(store)) as roster:
        for seed in range(400):
            board = drawn(duel, 2 + seed % 6, seed)
            scores = margins(duel, board)
            by_outcome = Counter((score > 0) - (score < 0) for score in scores.values())
            if set(by_outcome) != {1, 0, -1} or len(set(by_outcome.values())) > 1:
                continue
            boards += 1
            for again in range(60):
                cell = machine(roster, "oracle:4", f"{seed} {again}").choose(state(duel, board))
                counts[(scores[cell] > 0) - (scores[cell] < 0)] += 1
    assert boards > 3
    assert counts[1] > 1.3 * counts[0] > 1.3**2 * counts[-1] > 0


@pytest.mark.parametrize("kind", ["oracle:10", "oracle", "first"])
def test_the_oracle_s_best_level_never_errs(kind: str, store: Path) -> None:
    duel = naive.Duel(2, 5)
    with Roster(find_game("duel,2,5"), str(store)) as roster:
        for seed in range(150):
            board = drawn(duel, 1 + seed % 10, seed)
            scores = margins(duel, board)
            assert scores[machine(roster, kind, seed).choose(state(duel, board))] == max(scores.values()), board


def test_higher_levels_of_the_oracle_keep_the_outcome_more_often(store: Path) -> None:
    duel, kept = naive.Duel(2, 5), []
    boards = [drawn(duel, 2 + seed % 8, seed) for seed in range(300)]
    with Roster(find_game("duel,2,5"), str(store)) as roster:
        for level in (0, 3, 6, 9, 10):
            player, count = machine(roster, f"oracle:{level}", 8), 0
            for board in boards:
                scores = margins(duel, board)
                made, best = scores[player.choose(state(duel, board))], max(scores.values())
                count += (made > 0, made < 0) == (best > 0, best < 0)
            kept.append(count)
    assert kept == sorted(set(kept))
    assert kept[-1] == len(boards)


@pytest.mark.parametrize(
    ("better", "worse"),
    [pytest.param("search:10", "search:5", marks=pytest.mark.slow),
     ("search:5", "search:1"), ("search:1", "search:0"), ("priority", "random"),
     ("mcts:200", "random"), ("mcts:2000", "mcts:20")],
)  # fmt: skip
def test_a_stronger_player_beats_a_weaker_one(better: str, worse: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.arena.meetings._grader", lambda roster: None)  # which would take longer than the games
    games = 40 if better in ("mcts:2000", "search:10") else 120
    met = meet(roster_of("duel,4,4"), (better, worse), games, swap=True, seed=7, seconds=600)
    assert met.first.forfeits == met.second.forfeits == []
    assert met.first.wins > 1.3 * met.second.wins, (met.first, met.second)


@pytest.mark.parametrize(
    ("name", "words", "plays"),
    [("duel,3,3", ["--o", "search", "--level", 3], "search:3"), ("duel", ["--o", "search", "--level", 0], "search:0"),
     ("duel", ["--level", 4], "search:4"), ("duel,3,3", ["--level", 4], "oracle:4"),
     ("duel", ["--o", "oracle", "--level", 2], "oracle:2"), ("duel,3,3", ["--o", "search"], "search")],
)  # fmt: skip
def test_a_level_is_the_search_s_or_the_oracle_s(name: str, words: list[Any], plays: str, home: Path) -> None:
    ran = piped("b2\nquit\n", "--game", name, "--live", "--time", "0.2", "--seed", 1, *words)
    assert ran.returncode == 0, ran.stderr
    assert f"{name}: R human, G {plays}. A move is " in ran.stdout
    assert "\nR> G plays " in ran.stdout


@pytest.mark.parametrize("words", [["--o", "priority"], ["--o", "mcts:5"], ["--o", "random"]])
def test_a_player_without_levels_takes_none(words: list[str], home: Path) -> None:
    ran = piped("", "--game", "duel,3,3", "--live", "--level", 3, *words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr.splitlines()[-1].startswith("Error: --level is the oracle's, and the oracle does not play")


def test_the_arena_reports_a_duel_as_json(store: Path, run: Callable[..., Any]) -> None:
    words = ["--game", "duel,2,5", "--x", "search:10", "--o", "mcts:50", "--games", 6, "--swap", "--seed", 3]
    ran = run(main, "arena", *words, "--store", store, "--json")
    assert (ran.code, ran.err) == (0, "")
    (met,) = json.loads(ran.out)["meetings"]
    best, other = met["players"]
    assert met["plies"] == {"mean": 10, "min": 10, "max": 10}
    assert best["kept"] == 1.0
    assert best["moves"] == other["moves"] == 30
    assert best["forfeits"] == other["forfeits"] == []
