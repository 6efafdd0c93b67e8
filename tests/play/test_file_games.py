"""Games from files, played: they are recorded by what names them again, gone on with, and met in an arena."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from play.cli import main
from play.match import Match
from play.players import Cast
from play.records import Record, read_record
from play.rules import LineRules
from solver.games.notation import parse_game

GAMES = Path(__file__).parents[2] / "data" / "games"


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of games as they are played; those that are shipped are in his folder of games."""
    (tmp_path / "share" / "ttt4").mkdir(parents=True)
    (tmp_path / "share" / "ttt4" / "games").symlink_to(GAMES)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("TTT4_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state" / "ttt4" / "games"


@pytest.mark.parametrize("named", ["fano", "cube3,misere", str(GAMES / "cross.toml"), f"{GAMES / 'fano.toml'},misere"])
def test_a_record_names_its_game_so_that_it_is_found_again(named: str) -> None:
    game = parse_game(named)
    match = Match(LineRules(game))
    match.play("X", game.cells - 1)
    record = read_record(str(Record(match, {"X": "human"})))
    assert f'[Game "{named}"]' in str(record)
    assert record.match.rules == match.rules
    assert record.match.moves == match.moves


def test_a_game_on_a_board_with_holes_is_played_kept_and_gone_on_with(
    run: Callable[..., Any], kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("2 3\na3\nquit\n"))
    ran = run(main, "--game", "fano", "--live", "--seed", "1")
    assert ran.code == 0
    assert "No cell in row 2, column 3: the board has a hole there." in ran.out
    (file,) = kept.iterdir()
    assert file.read_text().startswith('[Game "fano"]\n')
    monkeypatch.setattr("sys.stdin", io.StringIO("show\nquit\n"))
    ran = run(main, "resume", "--live")
    assert ran.code == 0
    assert ran.out.startswith("fano: X human, O oracle.")
    assert "X to move: X wins in" in ran.out


def test_the_oracle_as_x_wins_the_fano_plane_in_an_arena(run: Callable[..., Any]) -> None:
    ran = run(main, "arena", "--x", "oracle", "--o", "rules", "--game", "fano", "--games", "5", "--live", "--json")
    assert ran.code == 0
    told = json.loads(ran.out)
    assert told["game"] == "fano"
    assert told["meetings"][0]["players"][0]["wins"]["count"] == 5


def test_rules_opens_in_the_middle_of_the_cube() -> None:
    game = parse_game("cube3")
    with Cast(game, live=True) as cast:
        state = LineRules(game).start()
        assert {game.cell_name(cast.player("rules", seed).choose(state)) for seed in range(5)} == {"f2"}
