"""The arena: the oracle never errs in it, games can be replayed, and a player that makes no move forfeits."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessions import Start

from play.arena import Meeting, Roster, Standing, find_game, interval, meet, round_robin
from play.arena.tables import cross_table
from play.cli.main import main
from solver.games.line_rules import LineState

Run = Callable[..., Any]
FOUR = find_game("4,4,4")
LEVELS = [f"oracle:{level}" for level in range(11)]
STANDING_KEYS = {
    "player", "games", "wins", "draws", "losses", "points", "moves", "kept", "mean_seconds", "slowest_seconds",
    "forfeits",
}  # fmt: skip
OWN = """
import signal

class Player:
    def __init__(self, choose):
        self.choose = choose

def raising(state):
    raise ValueError("lost my way")

def looping(state):
    while True:  # until its time is up, which is at once
        signal.raise_signal(signal.SIGALRM)

def least(state):
    return next(cell for cell in range(9) if not (state.position.x | state.position.o) >> cell & 1)

def made(choose):
    return lambda rules, seed: Player(choose)

raises, loops, sound = made(raising), made(looping), made(least)
outside, negative, taken = made(lambda state: 99), made(lambda state: -1), made(lambda state: 0)
text, none = made(lambda state: "b2"), made(lambda state: None)

def leaving(state):
    raise SystemExit(0)

def stubborn(state):
    while True:
        try:
            while True:
                signal.raise_signal(signal.SIGALRM)
        except Exception:
            pass

def talking(state):
    raise ValueError("far " * 999 + "\\nand wide")

def endless(state):
    while True:
        pass

hangs, leaves, clings, talks = made(endless), made(leaving), made(stubborn), made(talking)

def broken(rules, seed):
    raise ValueError("no such opening")

def tires(rules, seed):
    if str(seed).split(" ")[1:2] not in ([], ["0"]):
        raise ValueError("too tired")
    return Player(least)
"""


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand in a folder with own players, from which no store is found."""
    monkeypatch.delenv("TTT4_STORE", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.syspath_prepend(str(tmp_path))  # this also restores the path afterwards
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_players.py").write_text(OWN)
    yield
    sys.modules.pop("own_players", None)


def told(run: Run, *arguments: object, code: int = 0) -> dict[str, Any]:
    """Return what the command prints as JSON."""
    ran = run(main, "arena", *arguments, "--json")
    advice = "" if "--store" in arguments or "--live" in arguments else "No store at "
    assert ran.code == code
    assert (ran.err[: len(advice)], ran.err.count("\n"), ran.out.count("\n")) == (advice, bool(advice), 1)
    said: dict[str, Any] = json.loads(ran.out)
    return said


def counted(standing: Standing) -> tuple[object, ...]:
    """Return all of a standing but the times."""
    return (standing.name, standing.wins, standing.draws, standing.losses, standing.forfeits, standing.moves,
            standing.graded, standing.kept)  # fmt: skip


def results(meetings: list[Meeting]) -> list[object]:
    return [(counted(met.first), counted(met.second), met.lengths) for met in meetings]


@pytest.mark.parametrize(
    ("rival", "games"),
    [("random", 40), ("rules", 40), ("oracle:5", 40), pytest.param("oracle:5", 1_000, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("side", ["X", "O"])
def test_the_oracle_never_loses_and_all_its_moves_keep_the_outcome(
    side: str, rival: str, games: int, store4: Path
) -> None:
    names = ("oracle", rival) if side == "X" else (rival, "oracle")
    with Roster(FOUR, str(store4)) as roster:
        met = meet(roster, names, games, swap=False, seed=3)
    oracle = met.first if side == "X" else met.second
    assert (oracle.name, oracle.games, oracle.losses) == ("oracle", games, 0)
    assert oracle.moves == oracle.graded == oracle.kept >= 4 * games - games // 2


@pytest.mark.parametrize("game", ["3,3,3", "3,3,3,misere", "3,4,3", "2,4,2"])
def test_without_a_store_all_the_oracle_s_moves_keep_the_outcome(game: str) -> None:
    with Roster(find_game(game), live=True, seconds=99) as roster:
        met = meet(roster, ("oracle", "random"), 40, swap=True, seed=4)
    assert met.first.moves == met.first.graded == met.first.kept
    assert met.second.kept < met.second.graded


@pytest.mark.slow
def test_every_level_scores_more_points_than_the_one_below(store4: Path) -> None:
    with Roster(FOUR, str(store4)) as roster:
        played = round_robin(roster, LEVELS, 80, seed=1)
    points = dict.fromkeys(LEVELS, 0.0)
    for met in played:
        for standing in (met.first, met.second):
            points[standing.name] += standing.points
    totals = list(points.values())
    assert totals == sorted(totals)
    assert len(set(totals)) == 11


def test_the_same_seed_gives_the_same_games(store4: Path) -> None:
    names = ["random", "rules", "oracle:4", "oracle"]
    with Roster(FOUR, str(store4)) as one, Roster(FOUR, str(store4)) as other:
        assert results(round_robin(one, names, 6, seed="7")) == results(round_robin(other, names, 6, seed="7"))


def test_another_seed_gives_other_games(store4: Path) -> None:
    with Roster(FOUR, str(store4)) as roster:
        lengths = {tuple(meet(roster, ("random", "rules"), 20, swap=False, seed=seed).lengths) for seed in range(10)}
    assert len(lengths) == 10


@pytest.mark.parametrize("names", [("random", "rules"), ("oracle:3", "random")])
def test_a_game_depends_on_its_number_and_not_on_how_many_games_are_played(
    names: tuple[str, str], store4: Path
) -> None:
    with Roster(FOUR, str(store4)) as roster:
        longer = meet(roster, names, 30, swap=True, seed=5)
        for games in (1, 7, 29):
            assert meet(roster, names, games, swap=True, seed=5).lengths == longer.lengths[:games]


@pytest.mark.parametrize(("swap", "wins"), [([], 7), (["--swap"], 4)])
def test_with_swap_the_second_player_is_x_in_every_other_game(swap: list[str], wins: int, run: Run) -> None:
    said = told(run, "--game", "2,2,1", "--x", "random", "--o", "rules", "--games", 7, *swap)  # X wins at once
    first, second = said["meetings"][0]["players"]
    assert (first["wins"]["count"], second["wins"]["count"]) == (wins, 7 - wins)
    assert (first["losses"]["count"], second["losses"]["count"]) == (7 - wins, wins)
    assert (first["moves"], second["moves"]) == (wins, 7 - wins)


def test_everybody_meets_everybody_once_and_they_take_turns_as_x(run: Run) -> None:
    said = told(run, "--game", "2,2,1", "--all", "random,rules,oracle:0", "--games", 6)
    pairs = [tuple(player["player"] for player in met["players"]) for met in said["meetings"]]
    assert pairs == [("random", "rules"), ("random", "oracle:0"), ("rules", "oracle:0")]
    assert {player["wins"]["count"] for met in said["meetings"] for player in met["players"]} == {3}


def root(share: float, games: int, low: float, high: float) -> float:
    """Return the share between two others that is 1.96 standard deviations from the one seen, by bisection."""
    for _ in range(200):
        middle = (low + high) / 2
        inside = (share - middle) ** 2 <= 1.96**2 * middle * (1 - middle) / games
        low, high = (low, middle) if inside == (middle < share) else (middle, high)
    return (low + high) / 2


@given(st.integers(1, 20_000).flatmap(lambda games: st.tuples(st.integers(0, games), st.just(games))))
def test_the_interval_ends_1_96_standard_deviations_from_the_share_seen(seen: tuple[int, int]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: Wilson's interval solves the inequality that defines it
    count, games = seen
    low, high = interval(count, games)
    assert low == pytest.approx(root(count / games, games, 0, count / games), abs=1e-9)
    assert high == pytest.approx(root(count / games, games, count / games, 1), abs=1e-9)


def test_before_the_first_game_the_interval_is_everything() -> None:
    assert interval(0, 0) == (0, 1)


FORFEITING = [
    ("raises", "ValueError: lost my way"), ("loops", "no move in 9 s"), ("outside", "no cell number 99"),
    ("negative", "no cell number -1"), ("text", "TypeError"), ("none", "TypeError"), ("leaves", "SystemExit"),
    ("clings", "no move in 9 s"), ("talks", "ValueError: far far"), ("taken", "cell 'a1' is taken"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "why"), FORFEITING)
@pytest.mark.parametrize("side", ["X", "O"])
def test_a_player_that_makes_no_move_forfeits_and_the_arena_goes_on(name: str, why: str, side: str, run: Run) -> None:
    own = f"own_players:{name}"
    x, o = (own, "random") if side == "X" else ("random", own)
    said = told(run, "--game", "3,3,3", "--x", x, "--o", o, "--games", 3, "--limit", 9, "--live", code=1)
    culprit, rival = sorted(said["meetings"][0]["players"], key=lambda player: player["player"] != own)
    assert (culprit["losses"]["count"], rival["wins"]["count"], rival["forfeits"]) == (3, 3, [])
    assert [forfeit["game"] for forfeit in culprit["forfeits"]] == [1, 2, 3]
    reasons = [forfeit["reason"] for forfeit in culprit["forfeits"]]
    assert all(why in reason and len(reason) < 100 and "\n" not in reason for reason in reasons)
    first, *others = (forfeit["traceback"] for forfeit in culprit["forfeits"])
    assert others == [None, None], "each reason has one"
    assert (first is None) == why.startswith(("no ", "cell ")), "only an error has a traceback"
    assert name != "raises" or ("own_players.py" in first and 'raise ValueError("lost my way")' in first)


def met_at_random(player: Any, games: int, seconds: float = 9.0) -> Meeting:
    """Let a player begin games of 3,3,3 against random moves."""
    with Roster(find_game("3,3,3"), live=True) as roster:
        return meet(roster, (player, "random"), games, swap=False, seed=1, seconds=seconds)


def test_the_time_for_a_move_ends_an_endless_loop() -> None:
    (forfeit,) = met_at_random("own_players:hangs", 1, 0.02).first.forfeits
    assert forfeit.reason == "no move in 0.02 s"


@pytest.mark.parametrize("side", ["X", "O"])
def test_a_player_that_cannot_be_made_in_a_later_game_forfeits_that_game(side: str, run: Run) -> None:
    own = "own_players:tires"
    x, o = (own, "random") if side == "X" else ("random", own)
    said = told(run, "--game", "3,3,3", "--x", x, "--o", o, "--games", 3, "--live")
    culprit = next(player for player in said["meetings"][0]["players"] if player["player"] == own)
    assert [forfeit["game"] for forfeit in culprit["forfeits"]] == [2, 3]
    assert all("too tired" in forfeit["reason"] for forfeit in culprit["forfeits"])
    assert said["meetings"][0]["plies"]["min"] == 0


@pytest.mark.parametrize("names", ["--x own_players:raises --o random", "--all random,rules,own_players:raises"])
def test_traceback_shows_on_standard_error_where_a_player_s_code_failed(names: str, run: Run) -> None:
    given = ("--game", "3,3,3", *names.split(), "--games", 3, "--live")
    plain, full = run(main, "arena", *given), run(main, "arena", *given, "--traceback")
    assert "Traceback" not in plain.out + plain.err + full.out
    assert full.err.startswith("own_players:raises, game 1:\nTraceback (most recent call last):\n")
    assert 'raise ValueError("lost my way")' in full.err
    assert full.err.rstrip().endswith("ValueError: lost my way")


@pytest.mark.parametrize(
    ("names", "code"),
    [(["--x", "own_players:raises", "--o", "own_players:leaves"], 1),
     (["--all", "own_players:raises,own_players:leaves,own_players:talks"], 1),
     (["--x", "own_players:tires", "--o", "random"], 0),
     (["--all", "own_players:raises,random,rules"], 0)],
)  # fmt: skip
def test_the_exit_code_is_1_if_every_game_was_forfeited(names: list[str], code: int, run: Run) -> None:
    for more in ([], ["--json"]):
        assert run(main, "arena", "--game", "3,3,3", *names, "--games", 4, "--live", *more).code == code


class Least:
    """The first empty cell: what `own_players:sound` plays."""

    def __init__(self, rules: object, seed: object) -> None:
        self.made_with = rules, seed

    def choose(self, state: LineState) -> int:
        return state.empty[0]


class Named(Least):
    name = "my player"


def make_least(rules: object, seed: object) -> Least:
    return Least(rules, seed)


@pytest.mark.parametrize(
    ("player", "name"),
    [(Least, "Least"), (make_least, "make_least"), (Least(None, None), "Least"), (Named(None, None), "my player")],
)
def test_from_python_a_player_can_be_a_class_a_function_or_an_object(player: Any, name: str) -> None:
    with Roster(find_game("3,3,3"), live=True) as roster:
        met, same = (meet(roster, (one, "random"), 9, swap=True, seed=1) for one in (player, "own_players:sound"))
        (again,) = round_robin(roster, (player, "random"), 9, seed=1)
    assert (met.first.name, met.first.forfeits, met.lengths) == (name, [], same.lengths)
    assert counted(met.first)[1:] == counted(same.first)[1:]
    assert (again.first.name, again.first.forfeits) == (name, [])


def test_from_python_too_a_player_that_cannot_be_made_forfeits_with_its_traceback() -> None:
    def broken(rules: object, seed: object) -> Least:
        raise ValueError("no such opening")

    met = met_at_random(broken, 2)
    assert met.all_forfeited
    first, second = met.first.forfeits
    assert (first.game, first.reason) == (1, "no player 'broken': ValueError: no such opening")
    assert 'raise ValueError("no such opening")' in (first.traceback or "")
    assert second == (2, first.reason, None)


def test_a_human_forfeits_in_the_arena_because_nobody_can_be_asked() -> None:
    (forfeit,) = met_at_random("human", 1).first.forfeits
    assert forfeit.reason == "a human can play only at the terminal: name another player"


@pytest.mark.parametrize(("game", "graded"), [("5,5,4", False), ("2,8,2", True)])
def test_without_a_store_the_moves_of_up_to_16_cells_are_graded(game: str, graded: bool, run: Run) -> None:
    said = told(run, "--game", game, "--x", "random", "--o", "rules", "--games", 2, "--live")
    assert [player["kept"] is not None for player in said["meetings"][0]["players"]] == [graded] * 2


@pytest.mark.parametrize(("side", "rival"), [("X", "random"), ("O", "oracle:5")])
def test_the_oracle_s_traps_win_more_games_than_the_first_best_moves(side: str, rival: str, store4: Path) -> None:
    won = {}
    with Roster(FOUR, str(store4)) as roster:
        for name in ("oracle", "first"):
            met = meet(roster, (name, rival) if side == "X" else (rival, name), 100, swap=False, seed=9)
            won[name] = (met.first if side == "X" else met.second).wins
    assert won["oracle"] > won["first"]


def test_json_is_one_object_with_these_keys(store4: Path, run: Run) -> None:
    said = told(run, "--x", "oracle", "--o", "random", "--games", 5, "--seed", "s", "--store", store4)
    assert set(said) == {"game", "seed", "meetings"}
    assert (said["game"], said["seed"], len(said["meetings"])) == ("4,4,4", "s", 1)
    met = said["meetings"][0]
    assert (set(met), set(met["plies"])) == ({"players", "plies"}, {"mean", "min", "max"})
    for player in met["players"]:
        assert set(player) == STANDING_KEYS
        assert sum(player[kind]["count"] for kind in ("wins", "draws", "losses")) == player["games"] == 5
        assert set(player["wins"]) == {"count", "share", "interval"}
    assert sum(player["points"] for player in met["players"]) == 1


def test_the_cross_table_names_everybody_the_strongest_first(store4: Path, run: Run) -> None:
    names = ["random", "oracle", "rules", "oracle:2"]
    ran = run(main, "arena", "--all", ",".join(names), "--games", 20, "--store", store4)
    rows = [line.split() for line in ran.out.splitlines()[1:5]]
    assert (ran.code, ran.err, sorted(row[1] for row in rows)) == (0, "", sorted(names))
    assert [row[0] for row in rows] == ["1", "2", "3", "4"]
    shares = [float(row[2]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    assert rows[-1][1] == "random"
    assert max(map(len, ran.out.splitlines())) <= 80


def test_a_total_is_the_mean_of_the_shares_won_against_each_other_player() -> None:
    names = ("a", "b", "c")
    met = []
    for one, other, won in [("a", "b", (1, 1, 1, 1)), ("a", "c", (1, 0, 0.5, 0.5)), ("b", "c", (0.5, 0.5, 0.5, 0.5))]:
        met.append(Meeting((Standing(one), Standing(other))))
        for share in won:
            met[-1].count((share, 1 - share), 9)
    rows = [line.split() for line in cross_table(names, met).splitlines()[1:4]]
    assert rows == [["1", "a", "75.0", "-", "50", "100"], ["2", "c", "50.0", "50", "-", "50"],
                    ["3", "b", "25.0", "0", "50", "-"]]  # fmt: skip


def test_on_a_terminal_a_bar_shows_how_many_games_were_played(start: Start) -> None:
    session = start("arena", "--all", "random,rules,first", "--games", 5, "--game", "3,3,3", "--live")
    assert session.ended() == 0
    bars = re.findall(r"\rgames  \[(#*)-*\] +(\d+)%", click.unstyle(session.written))
    assert [int(percent) for _, percent in bars] == [100 * played // 15 for played in range(16)]
    assert [len(bar) for bar, _ in bars] == [36 * played // 15 for played in range(16)]


@pytest.mark.parametrize(
    "arguments",
    ["", "--x random", "--o random", "--all random", "--all random,", "--all random,rules --x first",
     "--x nobody --o random", "--x oracle:11 --o random", "--x human --o random", "--all random,human",
     "--x no_such_module:it --o random", "--x own_players:nobody --o random", "--x random --o rules --games 0",
     "--x random --o rules --limit 0", "--x random --o rules --limit inf", "--x random --o rules --limit nan",
     "--x random --o rules --limit 1e300", "--x random --o rules --limit -1", "--x random --o rules --time nan",
     "--all random,rules,random", "--x own_players:broken --o random", "--x random --o own_players:broken"],
)  # fmt: skip
def test_wrong_usage_ends_with_2(arguments: str, run: Run) -> None:
    ran = run(main, "arena", "--live", *arguments.split())
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[-1].startswith("Error: ")
