"""What holds for every player: legal and reproducible moves, in time, in each kind of game that it takes, no other."""

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import naive
import pytest
from brains import InProcess, installed
from kinds import torus
from matches import NIM

from play.arena import Roster, find_game
from play.lab.runs import Run
from play.lab.training import Options, Training, new_run
from play.players.player import Player, PlayerError, chosen, require_player_of
from solver.games.line_rules import LineRules
from solver.games.lines import grid
from solver.text import shown

GAMES = {
    "small": "3,3,3", "misere": "3,3,3,misere", "figure": "fano", "large": "6,6,4", "losing": "6,6,4,misere",
    "five": "7,7,5", "long": "1,30,3", "wide": "4,8,4", "huge": "30,30,5",
    "torus": LineRules(torus(6, 6, 4)), "duel": "duel,2,4", "grand": "duel,12,12", "heap": NIM, "three": "3p:4,4,3",
}  # fmt: skip
"""A game of each kind; on `huge` no lines are listed, and `grand` is larger than compiled code takes."""

LARGE = frozenset({"large", "losing", "five", "long", "wide", "torus"})
LINES = LARGE | {"small", "misere", "figure"}
HUGE = frozenset({"huge"})
DUELS = frozenset({"duel", "grand"})
ALL = frozenset(GAMES)

OWN = """
class Last:
    def __init__(self, rules, seed):
        self.rules = rules

    def choose(self, state):
        return self.rules.legal(state)[-1]
"""
BRAIN = "gomocup:{}"
RUN = "run:trained"

TAKES: dict[str, frozenset[str]] = {
    "random": ALL, "mcts:2": ALL - HUGE, "last_for_test:Last": ALL, "priority": DUELS,
    "rules": LINES | HUGE | {"three"},
    **dict.fromkeys(["oracle", "first", "search", "search:10"], LINES | DUELS),
    **{f"oracle:{level}": LINES | DUELS | (HUGE if level <= 4 else ALL - ALL) for level in range(10)},
    **{f"search:{level}": LARGE | DUELS | (HUGE if level <= 4 else ALL - ALL) for level in range(10)},
    RUN: frozenset({"small"}), BRAIN: frozenset({"five"}),
}  # fmt: skip
"""The kinds of games that each player takes."""

UNTIMED = frozenset({"small", "misere", "figure", "duel", "heap"})
"""The kinds that are settled long before any limit of time."""

TIMED = {*(("oracle", kind) for kind in LARGE | {"grand"}), *(("first", kind) for kind in LARGE | {"grand"}),
         *(("search", kind) for kind in LARGE), *(("search:10", kind) for kind in LARGE),
         *((f"oracle:{level}", "grand") for level in range(10))}  # fmt: skip
"""Players whose moves depend on how long they may think."""

ALIKE = {*((f"search:{level}", "grand") for level in (1, 2, 4, 5, 6, 7, 8, 9)), ("search", "grand")}
"""Where nothing is compiled, these play as others do, or as on other boards."""

CASES = [(who, kind) for who, kinds in TAKES.items() for kind in GAMES if kind in kinds and (who, kind) not in ALIKE]
OTHERS = [(who, kind) for who, kinds in TAKES.items() for kind in GAMES if kind not in kinds]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a player of one's own, the shipped games, a program, and a trained run."""
    path = tmp_path_factory.mktemp("players")
    (path / "last_for_test.py").write_text(OWN)
    (path / "ttt4").mkdir()
    (path / "ttt4" / "games").symlink_to(Path(__file__).parents[2] / "data" / "games")
    installed(path, "fair")
    run = new_run(str(path / "trained"), "q", grid(3, 3, 3), 1, episodes=20, every=20, until=None,
                  options=Options())  # fmt: skip
    with run.held(), Training(run) as training:
        run.begin()
        training.train()
    assert isinstance(run, Run)
    return path


@pytest.fixture(autouse=True)
def at_hand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stand in that folder, where programs run in this process."""
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.delenv("TTT4_STORE", raising=False)
    monkeypatch.setattr("play.gomocup.manager.BrainProcess", InProcess)


MADE: dict[str, Roster] = {}


@pytest.fixture(scope="module", autouse=True)
def closing() -> Iterator[None]:
    yield
    while MADE:
        MADE.popitem()[1].close()


@cache
def rules_of(kind: str) -> Any:
    game = GAMES[kind]
    return find_game(game) if isinstance(game, str) else game


def roster_of(kind: str) -> Roster:
    """The players of a kind of game, without a store; their compiled code is there."""
    if kind not in MADE:
        roster = MADE[kind] = Roster(rules_of(kind), live=True, seconds=60 if kind in UNTIMED else 0.002)
        for who in ("search:10", "oracle", "oracle:9", "mcts:2"):
            if kind in TAKES[who]:
                roster.player(who, 0)
        roster.ready()
    return MADE[kind]


def player_of(roster: Roster, who: str, seed: int | str) -> Player:
    player = roster.player(who.format(Path("pbrain-fair").resolve()), seed)
    assert player is not None
    return player


@cache
def states_of(kind: str, seed: int) -> list[Any]:
    """The states of a random game in which it goes on; of a long one only some."""
    rules, rng = rules_of(kind), random.Random(f"{kind} {seed}")
    states = [rules.start()]
    while rules.legal(states[-1]) and len(states) < 40:
        states.append(rules.play(states[-1], rng.choice(rules.legal(states[-1]))))
    going = [state for state in states if rules.legal(state)]
    return going if len(going) < 10 else [going[0], rng.choice(going[1:-1]), going[-1]]


def is_legal(kind: str, state: Any, move: int) -> bool:
    """Tell whether a move can be made; in the duel, as a plain twin of the rules says."""
    if kind not in DUELS:
        return rules_of(kind).refusal(state, move) is None
    duel = naive.Duel.named(str(GAMES[kind]))
    board = naive.duel_board(duel, state.position.x, state.position.o)
    return move in naive.placings(duel, board, naive.turn(board))


@pytest.mark.parametrize(("who", "kind"), CASES)
def test_a_player_makes_legal_moves_and_does_not_change_the_state(who: str, kind: str) -> None:
    rules, player = rules_of(kind), player_of(roster_of(kind), who, 1)
    for state in states_of(kind, 1):
        before = repr(state)
        move = chosen(player, state)
        assert is_legal(kind, state, move), rules.encode(state)
        assert repr(state) == before


@pytest.mark.parametrize(("who", "kind"), [case for case in CASES if case not in TIMED and case[0] != BRAIN])
def test_the_same_seed_gives_the_same_moves_whatever_was_played_before(who: str, kind: str) -> None:
    """As in the arena, which lets a roster forget before each game."""
    states, roster = states_of(kind, 2), roster_of(kind)

    def moves() -> list[int]:
        roster.forget()
        player = player_of(roster, who, "a seed")
        return [player.choose(state) for state in states]

    first = moves()
    player_of(roster, who, "another").choose(states_of(kind, 3)[0])
    assert moves() == first


CHANCES = [("random", "small"), ("rules", "large"), ("priority", "duel"), ("mcts:2", "duel"), ("oracle:0", "small"),
           ("oracle:9", "small"), ("oracle:9", "large"), ("search:0", "duel"), ("search:9", "duel")]  # fmt: skip


@pytest.mark.parametrize(("who", "kind"), CHANCES)
def test_other_seeds_give_other_moves(who: str, kind: str) -> None:
    states = [*states_of(kind, 1), *states_of(kind, 2)]
    games = {tuple(player_of(roster_of(kind), who, seed).choose(state) for state in states) for seed in range(12)}
    assert len(games) > 1


def where_it_is(who: str, kind: str) -> str:
    """The games that have a player, in words; nothing if a game of another size or shape would have done."""
    if kind in HUGE:
        return "boards of up to 400 cells"
    if kind == "three":
        return "games of two sides"
    if who == "priority":
        return "games of capture"
    if who.startswith(("rules", "run:", "gomocup:")):
        return "" if kind in LINES else "games of lines"
    return "games on a board" if kind == "heap" else "games of capture, and of lines on more than 27 cells,"


@pytest.mark.parametrize(("who", "kind"), OTHERS)
def test_a_player_refuses_other_games_in_one_line(who: str, kind: str) -> None:
    rules = rules_of(kind)
    with pytest.raises(PlayerError) as refusal:
        player_of(roster_of(kind), who, 1)
    said, where = str(refusal.value), where_it_is(who, kind)
    assert (refusal.value.exit_code, said.count("\n"), rules.name in said, len(said) < 200) == (2, 0, True, True)
    name = who.format(Path("pbrain-fair").resolve())
    if where:
        end = {**dict.fromkeys(HUGE, " has 900: its players are "), "three": " has 3: its players are "}.get(kind)
        why = f"only {where} have the player {shown(name, 40)}, and {rules.name}"
        assert said.startswith(why + end) if end else said == f"{why} is not one"
        with pytest.raises(PlayerError) as again:
            require_player_of(rules, name)
        assert str(again.value) == said


@pytest.mark.parametrize("kind", GAMES)
def test_a_person_may_play_any_game_and_is_asked_at_the_prompt(kind: str) -> None:
    require_player_of(rules_of(kind), "human")
    assert roster_of(kind).player("human", 0) is None


class Ticking:
    """A clock that goes on by a tenth of a second whenever somebody looks at it, and fails soon after the end."""

    def __init__(self, end: float) -> None:
        self.now, self.end = 0.0, end

    def __call__(self) -> float:
        self.now += 0.1
        assert self.now < self.end, "it goes on when its time is up"
        return self.now


@pytest.mark.parametrize(
    ("game", "who", "compiled"),
    [("5,5,5", "oracle", False), ("5,5,5", "search", False), ("5,5,5", "first", False), ("5,5,5", "oracle:5", False),
     ("duel,5,5", "oracle", True), ("duel,5,5", "oracle:5", True), ("duel,5,5", "first", False)],
)  # fmt: skip
def test_a_player_names_a_move_when_its_time_is_up(
    game: str, who: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules: Any = find_game(game)
    if not compiled:
        monkeypatch.setattr("solver.duel.live.COMPILED_CELLS", 0)
    with Roster(rules, live=True, seconds=1) as roster:
        player = player_of(roster, who, 1)
        if compiled:
            roster.oracle()._source.compiled(float("inf"))  # type: ignore[attr-defined]
        clock = Ticking(1 + 2)
        for module in ("solver.search.live", "solver.duel.live", "solver.duel.plain"):
            monkeypatch.setattr(f"{module}.monotonic", clock)
        assert player.choose(rules.start()) in range(25)
        assert clock.now > 1
