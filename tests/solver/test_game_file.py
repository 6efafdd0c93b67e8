"""Games from files: what is read, where it is found, what is shipped, and every refusal with its line."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import reduce
from itertools import combinations
from pathlib import Path
from shutil import copytree
from typing import Any

import naive
import pytest

from oracle import Oracle
from oracle.cli.main import main as query
from solver.advice import build_command
from solver.cli.main import main as solve
from solver.errors import BoardError, GameError, StoreMismatch
from solver.files import LARGEST_BYTES
from solver.folders import store_name, store_path
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.position import Position
from solver.index.symmetry import symmetries
from solver.proof.build import build_store
from solver.store.store import Store
from solver.text import shown

GAMES = Path(__file__).parents[2] / "data" / "games"
SHIPPED = ["affine3", "affine4", "corners", "cross", "cube3", "fano", "projective3", "torus4"]
ABOUT = 'about = "A game."\n'
THREE = ABOUT + 'board = ["...", "...", "..."]\n'


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of games, with those that are shipped, and an empty folder around one."""
    folder = tmp_path / "share" / "ttt4" / "games"
    copytree(GAMES, folder)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("TTT4_STORE", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return folder


def game_of(text: str, name: str = "mine.toml") -> Game:
    """The game that a file of this text describes."""
    Path(name.split(",")[0]).write_text(text)
    return parse_game(name)


def lines_of(game: Game) -> set[tuple[int, ...]]:
    return {tuple(cells_of(line)) for line in game.lines}


@pytest.mark.parametrize("name", sorted(file.stem for file in GAMES.iterdir()))
def test_a_shipped_game_has_the_lines_that_its_file_says(name: str) -> None:
    assert name in SHIPPED
    game, rules = parse_game(name), naive.Game.described((GAMES / f"{name}.toml").read_text())
    assert (game.name, game.notation, game.cells, game.misere) == (name, name, rules.cells, False)
    assert lines_of(game) == naive.lines(rules)
    assert parse_game(str(GAMES / f"{name}.toml")) == game


@pytest.mark.parametrize(
    ("name", "points", "lines", "size"),
    [("fano", 7, 7, 3), ("projective3", 13, 13, 4), ("affine3", 9, 12, 3), ("affine4", 16, 20, 4)],
)
def test_through_two_points_of_a_plane_goes_exactly_one_line(name: str, points: int, lines: int, size: int) -> None:
    game = parse_game(name)
    assert (game.cells, len(game.lines)) == (points, lines)
    pairs = Counter(pair for line in lines_of(game) for pair in combinations(line, 2))
    assert {len(line) for line in lines_of(game)} == {size}
    assert pairs == dict.fromkeys(combinations(range(points), 2), 1)
    meeting = {len(set(one) & set(other)) for one, other in combinations(lines_of(game), 2)}
    assert meeting == ({0, 1} if name.startswith("affine") else {1})


def test_the_cube_s_lines_are_its_straight_threes_and_the_torus_has_four_through_each_cell() -> None:
    cube, torus = parse_game("cube3"), parse_game("torus4")
    points = [(square % 11 // 4, square // 11, square % 11 % 4) for square in cube.squares]
    straight = {
        line for line in combinations(range(27), 3)
        for a, b, c in [sorted(points[cell] for cell in line)]
        if all(x + z == 2 * y for x, y, z in zip(a, b, c, strict=True))
    }  # fmt: skip
    assert lines_of(cube) == straight
    assert len(straight) == 49
    assert {len(through) for through in torus.lines_through} == {4}
    assert len(torus.lines) == 16


@pytest.mark.parametrize(("name", "order"), [("fano", 168), ("affine3", 432), ("cube3", 48), ("cross", 8)])
def test_a_game_has_all_the_symmetries_of_its_geometry(name: str, order: int) -> None:
    assert len(symmetries(parse_game(name))) == order


def test_a_straight_row_that_holds_a_line_is_left_out() -> None:
    assert {(0, 2), (0, 1, 2)} & lines_of(game_of(THREE + 'in_a_row = 3\nlines = ["a1 c1"]')) == {(0, 2)}


@pytest.mark.parametrize(("text", "lines"), [
    (THREE + "in_a_row = 3", 8),
    (THREE + 'lines = ["a1 b2 c3"]', 1),
    (THREE + 'in_a_row = 3\nlines = ["a1 c1 a3 c3", "B1 a2"]', 10),
    (ABOUT + 'board = [".. ..", "", ".."]\nin_a_row = 2', 3),
    (ABOUT + 'board = ["  .", "...", " .", "", "  "]\nin_a_row = 2', 7),
    (ABOUT + 'board = ["."]\r\nlines = ["a1"]\r\n', 1),
    ("\ufeff" + THREE + "in_a_row = 3", 8),
])  # fmt: skip
def test_a_file_may_have_holes_and_rows_that_end_early_and_lines_of_both_kinds(text: str, lines: int) -> None:
    assert len(game_of(text).lines) == lines


def test_a_file_s_misere_game_has_its_lines_and_a_name_of_its_own() -> None:
    normal, misere = game_of(THREE + "in_a_row = 3"), parse_game("mine.toml,misere")
    assert (normal.name, misere.name, misere.misere) == ("mine", "mine,misere", True)
    assert misere.lines == normal.lines
    assert parse_game("mine.toml , Misère") == misere
    assert parse_game(misere.notation) == misere
    assert store_name(misere) == "mine-misere.ttt4"
    assert game_of(THREE + "in_a_row = 3\nmisere = true", "lose.toml").misere


def test_a_name_is_looked_for_in_the_checkout_before_the_user_s_folder(tmp_path: Path, kept: Path) -> None:
    for room in ("solver", "oracle", "play", "data/games"):
        (tmp_path / "here" / room).mkdir(parents=True)
    game_of(THREE + "in_a_row = 3", "data/games/fano.toml")
    assert parse_game("fano").cells == 9
    (tmp_path / "here" / "data" / "games" / "fano.toml").unlink()
    assert parse_game("Fano").cells == 7


def test_what_is_typed_for_a_game_again_is_its_name_or_its_whole_path() -> None:
    fano = parse_game("fano,misere")
    assert build_command(fano, store_path(fano)) == "ttt4-solve build --game fano,misere"
    game = game_of(THREE + "in_a_row = 3")
    assert game.notation == str(Path("mine.toml").absolute())
    assert parse_game(game.notation) == game


NOT_TOML = [
    ("about = ", 1, "Invalid value"),
    (THREE + "in_a_row 3\n", 3, "Expected '='"),
    (THREE + "in_a_row = 3\nin_a_row = 4\n", 4, "Cannot overwrite"),
    (ABOUT + 'board = ["...",\n"...\n', 3, "Illegal character"),
    (ABOUT + 'board = ["..."\n\n', 2, "Unclosed array"),
    (ABOUT + "in_a_row = " + "9" * 5000, 2, "digit"),
    (ABOUT + "board = " + "[" * 5000, 1, "nested"),
]
WRONG = [
    (ABOUT + "in_a_row = 3", 1, "board is missing: write board"),
    ('board = ["..."]\nin_a_row = 3', 1, "about is missing: write about"),
    ('about = " "\nboard = ["..."]\nin_a_row = 3', 1, "about must be a sentence"),
    ('about = "a\\nb"\nboard = ["..."]\nin_a_row = 3', 1, "about must be a sentence"),
    ('about = 3\nboard = ["..."]\nin_a_row = 3', 1, "about is 3: write a text"),
    (THREE + "# k = 2\nk = 3\nin_a_row = 3", 4, "no key 'k': there are about"),
    (THREE + "in_a_row = '3'", 3, "in_a_row is '3': write a whole number"),
    (THREE + "in_a_row = 0x" + "f" * 5000, 3, "<int>"),
    (THREE + "in_a_row = true", 3, "in_a_row is True"),
    (THREE + "in_a_row = 3\nmisere = 1", 4, "misere is 1: write true or false"),
    (THREE + "in_a_row = 4", 3, "no 4 cells stand in a row"),
    (THREE + "in_a_row = 0", 3, "no 0 cells"),
    (ABOUT + 'board = [". .", " . "]\nin_a_row = 3', 3, "no 3 cells"),
    (ABOUT + 'board = "..."\nin_a_row = 3', 2, "board is '...': write a list"),
    (ABOUT + 'board = [\n"...",\n3]\nin_a_row = 3', 4, "3 in board is not text"),
    (ABOUT + 'board = ["  ", ""]\nin_a_row = 3', 2, "the board has no cell"),
    (ABOUT + 'board = [\n  "...",\n  ".x."]\nin_a_row = 3', 4, "'x' in board: write . for a cell"),
    (ABOUT + f'board = ["{"." * 10_001}"]\nin_a_row = 3', 2, "10,001 squares: it can have at most 10,000"),
    (ABOUT + f'board = ["{" " * 9_999}.", "."]\nin_a_row = 1', 2, "20,000 squares"),
    (THREE + "lines = []", 3, "there is no line"),
    (THREE + 'lines = ["a1 b1",\n"a1 d1"]', 4, "no cell 'd1' on a mine board"),
    (ABOUT + 'board = ["...", ". ."]\nlines = ["a1 b1",\n\n"b2 c2"]', 5, "no cell 'b2' on a mine board: .*with holes"),
    (THREE + 'lines = ["a1 b1",\n"a2 a2"]', 4, "'a2 a2' has 'a2' twice"),
    (THREE + 'lines = ["a1 b1",\n" "]', 4, "a line has no cell"),
    (THREE + 'lines = ["a1 b1",\n"a2 b2",\n"b1 a1"]', 5, "'b1 a1' is a duplicate"),
    (THREE + 'in_a_row = 3\nlines = ["c1 b1 a1"]', 4, "'c1 b1 a1' is a duplicate"),
    (THREE + "lines = ['a1 b1 c1',\n'a1 b1']", 3, "'a1 b1 c1' contains the line 'a1 b1'"),
    (THREE + 'in_a_row = 3\nlines = ["a1 b1 c1 a2"]', 4, "contains the line 'a1 b1 c1'"),
    (THREE + 'lines = ["a1 b1", 7]', 3, "7 in lines is not text"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "why"), [*NOT_TOML, *WRONG])
def test_a_wrong_file_is_refused_in_one_line_that_names_the_line_and_the_reason(text: str, line: int, why: str) -> None:
    with pytest.raises(GameError, match=why) as refusal:
        game_of(text)
    assert f"game file 'mine.toml', line {line}: " in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1
    assert len(str(refusal.value)) < 300


def test_a_misere_file_has_no_misere_game_of_its_own() -> None:
    with pytest.raises(GameError, match=r"line 4: 'mine' is a misère game already: leave out ,misere"):
        game_of(THREE + "in_a_row = 3\nmisere = true", "mine.toml,misere")


@pytest.mark.parametrize("name", ["Mine", "4x4", "-a", "a b", "a.b", "ä", "a" * 41, "mine-misere", "", "a,b"])
def test_a_file_whose_name_no_game_can_have_is_refused(name: str) -> None:
    Path(f"{name}.toml").write_text(THREE + "in_a_row = 3")
    with pytest.raises(GameError, match="a name that no game can have"):
        parse_game(f"./{name}.toml")


@pytest.mark.parametrize("name", ['a"b.toml', "a\nb.toml", "a\0.toml", "\udcff.toml"])
def test_a_path_that_no_record_could_hold_is_refused(name: str) -> None:
    with pytest.raises(GameError, match="rename it") as refusal:
        parse_game(name)
    assert len(str(refusal.value).splitlines()) == 1


def test_what_cannot_be_read_is_refused() -> None:
    Path("folder.toml").mkdir()
    Path("binary.toml").write_bytes(b"about\n= \xff\xfe\x00")
    Path("huge.toml").write_text("#" * (LARGEST_BYTES + 1))
    reasons = {
        "none.toml": "cannot read game file 'none.toml': No such file",
        "folder.toml": "cannot read game file 'folder.toml': Is a directory",
        "binary.toml": "'binary.toml', line 2: it is not text in UTF-8",
        "huge.toml": "larger than 1,048,576 bytes",
    }
    for name, reason in reasons.items():
        with pytest.raises(GameError, match=reason):
            parse_game(name)


@pytest.mark.parametrize("name", ["nope", "folder/fano", "fano.txt", "a" * 300])
def test_a_name_of_no_game_is_refused_and_those_that_there_are_are_named(name: str) -> None:
    games = ", ".join(["duel", *SHIPPED])
    with pytest.raises(GameError, match=f"no game {shown(name)}: there are {games}; or write") as refusal:
        parse_game(name)
    assert refusal.value.exit_code == 2


def test_the_moves_of_an_answer_have_the_rows_and_columns_of_their_squares() -> None:
    game = parse_game("cross")
    with Oracle("cross", live=True, seconds=60) as live:
        moves = live.analysis(reduce(Position.play, (1, 2, 5), Position(game))).moves
    squares = [game.squares[game.cell(move.move)] for move in moves]
    assert [divmod(square, game.columns) for square in squares] == [(move.row, move.col) for move in moves]


def test_a_store_of_another_file_of_the_same_name_is_refused(tmp_path: Path) -> None:
    game = game_of(THREE + "in_a_row = 3")
    build_store(game, tmp_path / "store", jobs=1)
    with Store(tmp_path / "store", game) as store:
        assert store.game.name == "mine"
    for other in (THREE + 'lines = ["a1 b1 c1"]', ABOUT + 'board = ["...", "...", ".. ."]\nin_a_row = 3'):
        with pytest.raises(StoreMismatch, match="'mine'"):
            Store(tmp_path / "store", game_of(other))


def test_the_query_answers_on_a_game_from_a_file(run: Callable[..., Any]) -> None:
    ran = run(query, "X1/O1/3", "--game", "fano", "--live", "--json")
    answer = json.loads(ran.out)
    assert (answer["game"], answer["board"], answer["outcome"]) == ("fano", "X./O./...", "win")
    assert run(query, "b2", "--game", "cube3", "--live").code == 2
    text = run(query, "27", "--game", "cube3", "--live", "--time", "0").out
    assert text.startswith("    a   b   c       e   f   g       i   j   k\n")
    with pytest.raises(BoardError, match="rows of 2, 2, 3"):
        Oracle("fano", live=True).score("X/O./....")


@pytest.mark.parametrize("name", ["4,4,4", "fano"])
def test_only_a_game_from_a_file_loads_what_reads_one(name: str) -> None:
    program = f"import sys; from solver.games.notation import parse_game; parse_game({name!r}); print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ({"tomllib", "solver.games.files", "sysconfig"} & set(ran.stdout.split()) == set()) == (name == "4,4,4")


def test_the_games_with_names_are_listed_with_what_they_are(kept: Path, run: Any) -> None:
    (kept / "mine.toml").write_text(THREE.replace("A game", "My game") + "in_a_row = 2\n")
    (kept / "bad.toml").write_text("about = 3\n")
    (kept / "No game.toml").write_text("")
    ran = run(solve, "games")
    assert ran.code == 0
    listed = dict(line.split(maxsplit=1) for line in ran.out.splitlines())
    assert listed.keys() >= {*SHIPPED, "mine", "bad"}
    assert listed["mine"] == "My game."
    assert "line 1: about is 3" in listed["bad"]
    assert "No" not in listed
    assert all(len(line) <= 80 for line in ran.out.splitlines() if line.split()[0] in SHIPPED)


def test_the_lines_of_a_game_are_told(run: Any) -> None:
    told = run(solve, "games", "fano,misere").out.splitlines()
    assert told[0] == "fano,misere: 7 cells; whoever first completes one of 7 lines loses:"
    game = parse_game("fano,misere")
    assert {sum(1 << game.cell(name) for name in line.split()) for line in told[1:]} == set(game.lines)


def test_a_folder_of_games_that_may_not_be_read_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: str) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.listdir", refused)
    with pytest.raises(GameError, match="no game 'fano'"):
        parse_game("fano")
