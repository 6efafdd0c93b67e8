"""Games from files, played: recorded under a name that finds them again, resumed, listed, and met in the arena."""

from pathlib import Path

import pytest
from sessions import printed

from play.match import Match
from play.records.text import Record, RecordError, read_record
from solver.games.line_rules import LineRules
from solver.games.notation import parse_game

GAMES = Path(__file__).parents[2] / "data" / "games"


@pytest.fixture(autouse=True)
def installed(home: Path) -> None:
    """Stand in an empty folder, with the shipped definitions in the user's data folder."""
    (home / "data" / "ttt4").mkdir(parents=True)
    (home / "data" / "ttt4" / "games").symlink_to(GAMES)


@pytest.mark.parametrize(
    ("named", "name"),
    [("fano", "fano"), ("cube3,misere", "cube3,misere"), (str(GAMES / "cross.toml"), "cross"),
     (f"{GAMES / 'fano.toml'},misere", "fano,misere")],
)  # fmt: skip
def test_a_record_names_its_game_so_that_it_is_found_again(named: str, name: str) -> None:
    game = parse_game(named)
    match = Match(LineRules(game))
    match.play("X", game.cells - 1)
    record = read_record(str(Record(match, {"X": "human"})))
    assert f'[Game "{name}"]' in str(record)
    assert record.match.rules == match.rules
    assert record.match.moves == match.moves


def test_a_record_opens_no_game_file_by_its_path_unless_the_person_names_it_too() -> None:
    Path("mine.toml").write_text((GAMES / "cross.toml").read_text())
    rules = LineRules(parse_game("mine.toml"))
    text = str(Record(Match(rules), {"X": "human"}))
    assert read_record(text, rules=rules).match.rules == rules
    for path in (str(Path("mine.toml").absolute()), "mine.toml", "../mine.toml", "/etc/passwd", "/etc/x.toml,misere"):
        with pytest.raises(RecordError, match="another file cannot open") as refusal:
            read_record(f'[Game "{path}"]\n*')
        assert "x:0:0" not in str(refusal.value)


def test_a_game_on_a_board_with_holes_is_played_kept_and_resumed(games: Path) -> None:
    out = printed("2 3\na3\nquit\n", "--game", "fano", "--live", "--seed", "1")
    assert "No cell in row 2, column 3: the board has a hole there." in out
    (file,) = games.iterdir()
    assert file.read_text().startswith('[Game "fano"]\n')
    out = printed("show\nquit\n", "resume", "--live")
    assert "\nfano: X human, O oracle." in out
    assert "X to move: X wins in" in out
