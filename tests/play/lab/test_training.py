"""Training: the same seed gives the same run, however often it was killed, and its metrics are what they say."""

import json
import os
import signal
from fractions import Fraction
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from lab import digest, grader

from play.cli.lab import train as train_command
from play.lab import grade
from play.lab.runs import Run
from play.match import Match
from solver.games.line_rules import LineRules
from solver.games.notation import parse_game

NAIVE = naive.Game.named("2,4,3")
ASKED = ["--game", "2,2,2", "--episodes", "20", "--every", "10"]

pytestmark = pytest.mark.usefixtures("home", "few_draws")


def arguments(folder: Path) -> list[str]:
    """What begins a run in a folder, or lets it go on."""
    begun = (folder / "config.json").exists()
    return ["--out", str(folder), *(["--resume"] if begun else ASKED)]


# The same seed


@pytest.mark.parametrize("options", [{}, {"v": "rules"}, {"player": "ntuple"}, {"game": "fano"}])
def test_a_digest_depends_on_the_seed(options: dict[str, Any], train: Any, tmp_path: Path) -> None:
    runs = [
        train(tmp_path / str(number), seed=seed, episodes=100, every=100, **options)
        for number, seed in enumerate((1, 1, 2))
    ]
    one, same, other = (run.digest() for run in runs)
    assert one == same != other
    assert runs[0].state()[1]["visits" if "player" not in options else "weights"].any()


def test_every_option_changes_what_is_learned(train: Any, tmp_path: Path) -> None:
    learned = set()
    for options in ({}, {"seed": 2}, {"epsilon": 0.2}, {"step": 0.5}, {"unmasked": True}, {"v": "random"}):
        _, arrays = train(tmp_path / "-".join(options), "2,4,3", episodes=50, every=50, **options).state()
        learned.add(b"".join(array.tobytes() for array in arrays.values()))
    assert len(learned) == 6


@pytest.mark.parametrize("options", [{}, {"unmasked": True}, {"v": "random"}, {"player": "ntuple"}])
def test_a_resumed_run_has_the_same_digest(options: dict[str, Any], train: Any, tmp_path: Path, run: Any) -> None:
    whole = train(tmp_path / "whole", "2,4,3", episodes=60, every=20, **options)
    part = train(
        tmp_path / "part", "2,4,3", episodes=60, every=20, **options, until=0.0
    )  # ends at its first checkpoint
    assert part.state()[0] == 20
    (tmp_path / "part" / "config.json").write_bytes((tmp_path / "whole" / "config.json").read_bytes())
    ran = run(train_command, "--out", tmp_path / "part", "--resume", "--json")
    assert json.loads(ran.out)["digest"] == whole.digest()


# Kills


def train_until(folder: Path, name: str, number: int) -> None:
    """Begin a run, as the command does, and be killed before the call of that number to a function of os."""
    calls, real = count(1), getattr(os, name)

    def counted(*arguments: Any) -> Any:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments)

    setattr(os, name, counted)
    train_command.main(arguments(folder), prog_name="train")


@pytest.mark.parametrize(("name", "least"), [("fsync", 10), ("replace", 3)])
def test_killed_before_any_write_it_resumes(
    name: str, least: int, train: Any, tmp_path: Path, run: Any, forked: Any
) -> None:
    expected = train(tmp_path / "whole", "2,2,2", episodes=20, every=10).digest()
    for number in range(1, 100):
        folder = tmp_path / str(number)
        if forked(train_until, folder, name, number)[0] != -signal.SIGKILL:
            break
        assert run(train_command, *arguments(folder)).code == 0, number
        assert digest(folder) == expected, number
    assert number > least


def test_ctrl_c_says_how_to_go_on(train: Any, tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = train(tmp_path / "whole", "2,3,3", episodes=20, every=5).digest()
    checkpoint = Run.checkpoint

    def interrupted(self: Run, games: int, *arguments: Any) -> None:
        if games > 10:
            raise KeyboardInterrupt
        checkpoint(self, games, *arguments)

    with monkeypatch.context() as patched:
        patched.setattr(Run, "checkpoint", interrupted)
        ran = run(train_command, "--out", "run", "--game", "2,3,3", "--episodes", "20", "--every", "5")
    assert (ran.code, ran.out) == (130, "")
    assert ran.err == "10 games are kept; ttt4-play train --out run --resume goes on.\nInterrupted.\n"
    assert Run.open("run").state()[0] == 10
    ran = run(train_command, "--out", "run", "--resume", "--json")
    assert json.loads(ran.out)["digest"] == expected


# When it ends


def test_it_ends_at_the_checkpoint_at_which_the_share_is_reached(run: Any, tmp_path: Path) -> None:
    ran = run(
        train_command, "--out", tmp_path / "run", "--game", "3,3,3", "--episodes", "5000", "--every", "100",
        "--until", "100%", "--json",
    )  # fmt: skip
    last = json.loads(ran.out)
    found = Run.open(str(tmp_path / "run")).metrics()
    assert (ran.code, last["optimal"]) == (0, 1.0)
    assert last["games"] < 2_000
    assert [line["games"] for line in found] == list(range(100, last["games"] + 1, 100))
    assert all(line["optimal"] < 1 for line in found[:-1])


@pytest.mark.parametrize(("until", "code"), [("100%", 1), ("99.99%", 1), ("50%", 0), ("0%", 0)])
def test_the_exit_code_says_whether_the_share_was_reached(until: str, code: int, run: Any, tmp_path: Path) -> None:
    asked = ["--game", "3,3,3", "--episodes", "40", "--every", "20", "--until", until]
    ran = run(train_command, "--out", tmp_path / "run", *asked)
    assert (ran.code, ran.err) == (code, "")
    assert Run.open(str(tmp_path / "run")).state()[0] == (40 if code else 20)
    assert run(train_command, "--out", tmp_path / "run", "--resume").code == code


def test_the_last_checkpoint_is_at_the_last_game(train: Any, tmp_path: Path) -> None:
    run = train(tmp_path / "run", episodes=250, every=100)
    assert [line["games"] for line in run.metrics()] == [100, 200, 250]


# Metrics


def test_the_last_checkpoint_is_what_grading_the_run_says(tiny: Path) -> None:
    last, found = Run.open(str(tiny)).metrics()[-1], grade("3,3,3", f"run:{tiny}", live=True)
    for name in ("kept", "decisive", "optimal", "value", "given_away", "nash_conv", "v_random", "positions"):
        assert last[name] == getattr(found, name), name
    assert last["by_ply"] == {str(ply): decisive.kept for ply, _, decisive in found.by_ply}
    assert (last["kept"], last["nash_conv"], last["invalid"]) == (1.0, 0.0, 0.0)


def chances_of(policy: Any) -> naive.Chances:
    """What a player does on a board, asked about all boards at once."""
    boards = naive.open_boards(NAIVE)
    x, o = (np.array(cells) for cells in zip(*map(naive.masks, boards), strict=True))
    return dict(zip(boards, policy.chances(x, o).tolist(), strict=True)).__getitem__


def test_metrics_of_a_weak_learner_are_those_of_plain_recursion(train: Any, tmp_path: Path) -> None:
    run = train(tmp_path / "run", "2,4,3", seed=3, episodes=20, every=20, unmasked=True)
    (metrics,) = run.metrics()
    own, rules = (chances_of(grader("2,4,3").policy(name)) for name in (f"run:{run.folder}", "rules"))
    for side in "XO":
        value = naive.worth(NAIVE, side, own)
        assert metrics["value"][side] == value
        assert metrics["given_away"][side] == -value  # perfect play draws
        assert metrics["v_random"][side] == pytest.approx(float(naive.worth(NAIVE, side, own, naive.at_random)))
        assert metrics["v_rules"][side] == pytest.approx(float(naive.worth(NAIVE, side, own, rules)))
    boards = naive.open_boards(NAIVE)
    decisive = [board for board in boards if naive.decisive(NAIVE, board)]
    for name, right, of in (
        ("kept", naive.keeping, boards), ("decisive", naive.keeping, decisive), ("optimal", naive.optimal, boards),
    ):  # fmt: skip
        well = sum(Fraction(own(board)[cell]) for board in of for cell in right(NAIVE, board))
        assert metrics[name] == pytest.approx(float(well / len(of)))
    taken = sum(own(board)[cell] for board in boards for cell in range(8) if board[cell] != ".")
    assert metrics["invalid"] == pytest.approx(taken / len(boards))
    assert taken > 0
    assert metrics["v_rules"]["O"] != 0
    assert metrics["nash_conv"] == sum(metrics["given_away"].values())


def test_what_training_games_came_to_is_plausible_at_every_checkpoint(tiny: Path) -> None:
    found = Run.open(str(tiny)).metrics()
    for line in found:
        assert line["x_wins"] + line["draws"] + line["o_wins"] == pytest.approx(1)
        assert min(line["x_wins"], line["draws"], line["o_wins"]) > 0
        assert 5 <= line["length"] <= 9
        assert (line["agreement"], line["attempts"], line["invalid"]) == (1.0, 0.0, 0.0)
        assert line["entropy"] >= 0
        assert len(line["by_cell"]) == 9
        assert line["games_per_second"] > 0
    for before, after in pairwise(found):
        assert before["seen"] <= after["seen"] <= 627


def test_moves_change_while_it_learns_and_no_more_when_it_knows_all(train: Any, tmp_path: Path) -> None:
    found = train(tmp_path / "run", episodes=6_000, every=1_000).metrics()
    assert found[0]["changed"] > 0
    assert found[-1]["changed"] == 0.0
    assert found[-1]["seen"] == found[-2]["seen"]


def test_tries_of_taken_cells_are_counted_a_move(train: Any, tmp_path: Path) -> None:
    run = train(tmp_path / "run", episodes=300, every=100, unmasked=True)
    found = run.metrics()
    tried = sum(line["attempts"] * line["length"] * 100 for line in found)
    assert tried == pytest.approx(np.bitwise_count(run.state()[1]["taken"]).sum())
    assert found[-1]["attempts"] < found[0]["attempts"]


# Games played to be looked at


@pytest.mark.parametrize("options", [{}, {"unmasked": True}, {"game": "3,3,3,misere"}, {"player": "ntuple"}])
def test_sampled_games_follow_the_rules(options: dict[str, Any], train: Any, tmp_path: Path) -> None:
    run = train(tmp_path / "run", episodes=60, every=20, **options)
    rules, name = LineRules(parse_game(run.config["game"])), run.config["player"]
    games = run.games()
    assert len({game["id"] for game in games}) == len(games) == 12
    for game in games:
        match: Match[Any] = Match(rules)
        for move in game["moves"]:
            match.play(match.to_move or "", rules.read(move))
        if game["forfeit"]:
            match.forfeit(match.to_move, game["forfeit"])
        assert match.outcome.winner == game["winner"]
        won = game["winner"] and not game["forfeit"]
        assert game["winning_move"] == (game["moves"][-1] if won else None)
        assert (game["first"], game["length"]) == ("X", len(game["moves"]))
        assert game["seconds"] >= 0
    for at in range(0, 12, 4):
        players = [(game["x"], game["o"]) for game in games[at : at + 4]]
        assert players == [(name, name), (name, "rules"), ("rules", name), (name, "random")]
    assert any(game["forfeit"] for game in games) == bool(options.get("unmasked"))
