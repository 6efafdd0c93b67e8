"""`run:FOLDER` as a player: in the arena, at the prompt, in records, for environments, and refused for a reason."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sessions import piped, refused

from play.cli.main import main
from play.lab.playing import RunPlayer
from play.lab.runs import RunError
from play.players.player import PlayerError, PlayerName, folder_of, may_resume, read_player
from play.players.roster import Roster
from play.records.files import load_record
from solver.errors import GameError
from solver.games.line_rules import LineRules
from solver.games.notation import parse_game
from solver.games.registry import find_game

THREE = parse_game("3,3,3")

pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def roster() -> Roster:
    return Roster(LineRules(THREE), live=True)


def test_its_name_is_run_and_a_folder() -> None:
    for name in ("run:runs/q", " run:runs/q ", "run:/a b/ü", "run:nim:Nim", "run:q"):
        assert read_player(name) == PlayerName("run")
        assert may_resume(name)
    assert folder_of(" run:/a b/ü ") == "/a b/ü"


@pytest.mark.parametrize("name", ["run:", "run", "run: ", "runs:/q"])
def test_without_a_folder_it_is_no_player(name: str) -> None:
    with pytest.raises(PlayerError, match="a trained run as run:FOLDER"):
        read_player(name)


def test_it_plays_the_moves_that_its_chances_say_in_every_position(tiny: Path) -> None:
    player, rules = RunPlayer(THREE, str(tiny)), LineRules(THREE)
    states = [rules.start()]
    for state in states:
        position = state.position
        (chances,) = player.chances(np.array([position.x]), np.array([position.o]))
        assert sorted(chances.tolist()) == [0.0] * 8 + [1.0]
        assert player.choose(state) == chances.argmax()
        if len(states) < 200:
            states += [after for cell in rules.legal(state) if rules.outcome(after := rules.play(state, cell)) is None]


def test_it_is_loaded_once_for_a_game(roster: Roster, tiny: Path) -> None:
    assert roster.player(f"run:{tiny}", 1) is roster.player(f"run:{tiny}", 2)


# Refused for a reason


def test_another_game_is_refused(tiny: Path) -> None:
    for name in ("4,4,4", "3,3,3,misere"):
        with pytest.raises(PlayerError, match=f"^run '{tiny}' has learned 3,3,3, not {name}$"):
            Roster(LineRules(parse_game(name))).player(f"run:{tiny}", 1)
    with pytest.raises((PlayerError, GameError), match="only games of lines have"):
        Roster(find_game("duel")).player(f"run:{tiny}", 1)


def test_a_folder_that_is_missing_or_holds_no_run_is_refused(roster: Roster, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing", Path("/dev/null")):
        with pytest.raises(RunError, match=f"^no run in '{folder}': ttt4-play train --out {folder} begins one$"):
            roster.player(f"run:{folder}", 1)


def test_a_run_that_has_learned_nothing_yet_is_refused(roster: Roster, copied: Path) -> None:
    (copied / "state.npz").unlink()
    with pytest.raises(RunError, match=f"has learned nothing yet: ttt4-play train --out {copied} --resume$"):
        roster.player(f"run:{copied}", 1)


def test_a_run_of_a_game_that_is_code_or_a_file_is_refused_and_nothing_is_loaded(roster: Roster, copied: Path) -> None:
    Path("loaded.py").write_text("import os\nos.mkdir('executed')\nRules = None\n")
    Path("loaded.toml").write_text('about = "x"\nboard = ["...", "...", "..."]\nin_a_row = 3\n')
    config = json.loads((copied / "config.json").read_text())
    for game in ("loaded:Rules", "loaded.toml", "/etc/passwd"):
        (copied / "config.json").write_text(json.dumps({**config, "game": game}))
        with pytest.raises(RunError, match=r"config\.json' cannot be used"):
            roster.player(f"run:{copied}", 1)
    assert not Path("executed").exists()


# In the arena, at the prompt and in records


def test_in_the_arena_perfect_learners_draw_and_never_lose_to_random_moves(run: Callable[..., Any], tiny: Path) -> None:
    asked = ["arena", "--game", "3,3,3", "--x", f"run:{tiny}", "--games", "20", "--json"]
    for other, result, count in ((f"run:{tiny}", "draws", 20), ("random", "losses", 0)):
        ran = run(main, *asked, "--o", other)
        first, _ = json.loads(ran.out)["meetings"][0]["players"]
        assert (ran.code, first["player"], first["games"]) == (0, f"run:{tiny}", 20)
        assert first[result]["count"] == count


def test_in_the_arena_a_run_that_cannot_play_is_refused_before_the_first_game(
    run: Callable[..., Any], tiny: Path
) -> None:
    ran = run(main, "arena", "--x", f"run:{tiny}", "--o", "random", "--games", "2")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"Error: run '{tiny}' has learned 3,3,3, not 4,4,4\n"


def test_at_the_prompt_it_answers_and_its_game_is_kept_resumed_and_reviewed(
    tiny: Path, games: Path, run: Callable[..., Any]
) -> None:
    begun = piped("b2\n", "--game", "3,3,3", "--o", f"run:{tiny}", "--live")
    assert (begun.returncode, begun.stderr) == (0, "")
    (path,) = games.glob("*.txt")
    record = load_record(str(path))
    assert record.tags["O"] == f"run:{tiny}"
    assert len(record.match.moves) == 2
    played = [record.match.rules.write(move) for move in record.match.moves]
    assert played[0] == "b2"
    assert played[1] in ("a1", "c1", "a3", "c3")  # all else loses
    free = next(cell for cell in ("a2", "b1", "c2", "b3") if cell not in played)
    resumed = piped(f"{free}\n", "resume", "--live")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    assert len(load_record(str(path)).match.moves) == 4
    review = run(main, "review", str(path), "--live")
    assert (review.code, review.err) == (0, "")
    assert "b2" in review.out


def test_at_the_prompt_a_run_that_is_not_there_is_refused_in_one_line() -> None:
    assert refused(piped("", "--game", "3,3,3", "--o", "run:missing", "--live"), 2, "no run in 'missing'")


# Environments


def test_an_environment_takes_it_as_the_opponent(tiny: Path, rl: Any) -> None:
    rng, rewards = np.random.default_rng(1), []
    env = rl.OpponentEnv("3,3,3", f"run:{tiny}", side="either")
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        ended = False
        while not ended:
            action = rng.choice(np.flatnonzero(observation["action_mask"]))
            observation, reward, ended, _, info = env.step(action)
            assert "illegal" not in info
        rewards.append(reward)
    assert max(rewards) <= 0  # it never loses
    assert rewards.count(-1.0) > 10
    with pytest.raises(PlayerError, match="has learned 3,3,3, not 4,4,4"):
        rl.OpponentEnv("4,4,4", f"run:{tiny}")


# What is loaded


def test_numba_is_not_loaded_for_the_players_of_the_house() -> None:
    program = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from play.cli.main import main
main()
"""
    ran = subprocess.run(
        [sys.executable, "-c", program, "--game", "3,3,3", "--o", "rules", "--live"],
        input="b2\n", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    loaded = set(ran.stderr.split())
    assert "play.match" in loaded
    assert not {"numba", "numpy", "play.lab.playing", "play.lab.runs"} & loaded
