"""`run:FOLDER` as a player: in the arena, at the prompt, in records, and refused for a reason."""

import json
from pathlib import Path

import numpy as np
import pytest
from sessions import piped, printed, refused

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
    ran = piped("", "arena", "--x", f"run:{tiny}", "--o", "random", "--games", "2")
    assert refused(ran, 2, f"Error: run '{tiny}' has learned 3,3,3, not 4,4,4\n")


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


def test_in_the_arena_perfect_learners_draw_and_never_lose_to_random_moves(tiny: Path) -> None:
    asked = ["arena", "--game", "3,3,3", "--x", f"run:{tiny}", "--games", "20", "--json"]
    for other, result, count in ((f"run:{tiny}", "draws", 20), ("random", "losses", 0)):
        first, _ = json.loads(piped("", *asked, "--o", other).stdout)["meetings"][0]["players"]
        assert (first["player"], first["games"]) == (f"run:{tiny}", 20)
        assert first[result]["count"] == count


def test_at_the_prompt_it_answers_and_its_game_is_kept_resumed_and_reviewed(tiny: Path, games: Path) -> None:
    printed("b2\n", "--game", "3,3,3", "--o", f"run:{tiny}", "--live")
    (path,) = games.glob("*.txt")
    record = load_record(str(path))
    assert record.tags["O"] == f"run:{tiny}"
    played = [record.match.rules.write(move) for move in record.match.moves]
    assert (len(played), played[0]) == (2, "b2")
    assert played[1] in ("a1", "c1", "a3", "c3")  # all else loses
    free = next(cell for cell in ("a2", "b1", "c2", "b3") if cell not in played)
    printed(f"{free}\n", "resume", "--live")
    assert len(load_record(str(path)).match.moves) == 4
    assert "b2" in printed("", "review", path, "--live")
