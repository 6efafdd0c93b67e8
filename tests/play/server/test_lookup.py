"""Look-ups over HTTP: the answers of `ttt4-query --json`, one by one and by batch, and the games and puzzles."""

import io
import json
import os
import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import naive
import pytest
from asgi import InProcess
from hypothesis import given
from hypothesis import strategies as st
from web import Answer

import play.server.games
from oracle import Oracle
from oracle.oracle import SearchingLive
from play.players.roster import Roster
from play.puzzles import make_puzzle
from play.server import worker
from play.server.desk import Desk
from play.server.fair_queue import MOST_OF_ONE
from play.server.games import GameList
from solver.cli.main import main as solve
from solver.games.lines import NARROW_CELLS, grid
from solver.index.symmetry import symmetries

FOUR = grid(4, 4, 4)
RULES4 = naive.Game(4, 4, 4)
BOARD = "X.../.O../..../...."
ONE = f"/api/position?game=4,4,4&board={BOARD}"
FINISHED = ["XXXX/OOO./..../....", "XX.O/..XO/..XO/...O", "XOXO/XOXO/OXOX/OXOX"]
UNREACHED = ["XX../..../..../....", "XXXX/OOOO/..../....", "X../.../...", "hello", "", "X" * 5000]
FOREVER = "public, max-age=86400, immutable"

plays = st.tuples(st.permutations(range(16)), st.integers(0, 16))


@pytest.fixture(scope="module")
def oracle(store4: Path) -> Iterator[Oracle]:
    with Oracle(FOUR, store4) as opened:
        yield opened


def rows(board: str, columns: int = 4) -> str:
    return "/".join(board[at : at + columns] for at in range(0, len(board), columns))


def asked(served: InProcess, board: str, game: str = "4,4,4") -> Answer:
    """The answer to a board, its text quoted only where it has to be."""
    return served.get(f"/api/position?game={game}&board={quote(board, safe='/')}")


def batch(served: InProcess, boards: list[str], game: str = "4,4,4") -> Answer:
    return served.post("/api/positions", {"game": game, "boards": boards})


@given(plays)
def test_a_board_is_answered_with_the_json_of_the_oracle(
    server: InProcess, oracle: Oracle, play: tuple[list[int], int]
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a look-up over HTTP is the oracle's JSON, byte for byte
    board = rows(naive.played(RULES4, play[0][: play[1]]))
    answer = asked(server, board)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert answer.body.decode() == oracle.analysis(board).as_json()


@given(plays, st.sampled_from(["+", "%20", ",", ",+"]))
def test_moves_are_answered_as_the_board_that_they_lead_to(
    server: InProcess, oracle: Oracle, play: tuple[list[int], int], between: str
) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a look-up by moves is the look-up of the board that they lead to
    cells, played = play[0], naive.played(RULES4, play[0][: play[1]])
    names = [FOUR.cell_name(cell) for cell in cells[: naive.stones(played)]]
    answer = server.get(f"/api/position?game=4,4,4&moves={between.join(names)}")
    assert answer.status == 200
    assert answer.body.decode() == oracle.analysis(played).as_json()


def test_the_same_question_in_other_words_has_the_same_answer(server: InProcess) -> None:
    expected = server.get(ONE)
    coded = "".join(f"%{ord(letter):02x}" for letter in BOARD)
    for query in (
        f"board={BOARD}&game=4,4,4",
        f"game=4%2C4%2C4&board={coded}",
        f"game=4%2c4%2c4&board={quote_plus(BOARD)}",
        f"%67ame=4,4,4&board={BOARD.replace('/', '')}",
        f"board={BOARD.lower()}",
        "board=X3/1O2/4/4",
        f"board=+{BOARD}%0A",
        f"board=%EF%BB%BF{BOARD}",
        "moves=A1,%20b2",
    ):
        for _ in range(2):  # asked, and found among the kept ones
            answer = server.get(f"/api/position?{query}")
            assert (answer.body, answer.headers["etag"]) == (expected.body, expected.headers["etag"]), query


@pytest.mark.parametrize("board", FINISHED)
def test_a_finished_board_is_answered_too(board: str, server: InProcess, oracle: Oracle) -> None:
    answer = asked(server, board)
    assert answer.json == oracle.analysis(board).as_dict() | {"best": [], "moves": [], "mainline": []}
    assert (answer.json["over"], answer.json["to_move"]) == (True, None)


@pytest.mark.parametrize("board", UNREACHED)
def test_a_board_that_no_game_reaches_is_refused_in_words(board: str, server: InProcess) -> None:
    answer = asked(server, board)
    assert (answer.status, answer.json["error"], answer.json["statusCode"]) == (400, "bad-board", 400)
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers


@pytest.mark.parametrize(("have", "blanks"), [("{0}", 1), ("W/{0}", 2), ('"other", {0}', 3), ("*", 4)])
def test_who_has_an_answer_already_is_not_sent_it_again(have: str, blanks: int, server: InProcess) -> None:
    etag = server.get(ONE).headers["etag"]
    fresh = f"/api/position?board={'+' * blanks}{BOARD}"
    for path in (ONE, fresh, fresh):  # one that was asked before, one that was not, and then was
        answer = server.get(path, If_None_Match=have.format(etag))
        assert (answer.status, answer.body) == (304, b"")
        assert answer.headers["etag"] == etag
        assert answer.headers["cache-control"] == FOREVER
        assert answer.headers["access-control-allow-origin"] == "*"
        assert server.get(path, If_None_Match='"other"').status == 200


@given(st.lists(plays, max_size=2, unique_by=lambda play: naive.played(RULES4, play[0][: play[1]])))
def test_different_answers_have_different_etags(server: InProcess, pair: list[tuple[list[int], int]]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: answers with the same etag are the same
    boards = [rows(naive.played(RULES4, cells[:count])) for cells, count in pair]
    assert len({asked(server, board).headers["etag"] for board in boards}) == len(boards)


@pytest.mark.parametrize("path", [ONE, "/api/position?board=hello", "/api/games", "/nothing"])
def test_head_is_get_without_the_body(path: str, server: InProcess) -> None:
    get, head = server.get(path), server.ask("HEAD", path)
    assert (head.status, head.body) == (get.status, b"")
    assert head.headers | {"date": ""} == get.headers | {"date": ""}


def test_an_exact_answer_may_be_kept_by_anybody_and_all_else_by_nobody(server: InProcess) -> None:
    assert server.get(ONE).headers["cache-control"] == FOREVER
    others = ["position?board=hello", "position", "games", "games/4,4,4", "games/none", "puzzle?seed=1", "matches/0"]
    for path in others:
        assert server.get(f"/api/{path}").headers["cache-control"] == "no-store", path
    assert batch(server, [BOARD]).headers["cache-control"] == "no-store"


def test_only_as_many_answers_are_kept_as_there_is_room_for(
    serve: Callable[..., InProcess], store4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("play.server.lookup._KEPT_BYTES", 20_000)
    served = serve(store=str(store4))
    lookup, boards = served.app.api.lookup, [f"{'.' * cell}X{'.' * (15 - cell)}" for cell in range(16)]
    assert {asked(served, board).status for board in boards} == {200}
    assert 15_000 < lookup._bytes <= 20_000
    assert [query.decode()[-16:] for query in lookup._kept] == boards[-len(lookup._kept) :]


boards4 = plays.map(lambda play: rows(naive.played(RULES4, play[0][: play[1]])))
texts = st.one_of(
    boards4, st.text(".XO/19", max_size=24), st.text(max_size=24), st.sampled_from([*FINISHED, *UNREACHED])
)


@given(st.lists(texts, max_size=20))
def test_a_batch_answers_each_board_as_a_single_look_up_does(server: InProcess, boards: list[str]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a batch is its look-ups in order, an error in its place included
    answer = batch(server, boards)
    assert answer.status == 200
    assert answer.json == [asked(server, board).json for board in boards]


def test_what_a_batch_refuses_is_no_answer_either_after_it_was_asked_for_in_other_words(server: InProcess) -> None:
    for board in ("X%2E../..../..../....", "+X.../..../..../....", "16&game=4,4,4"):
        server.get(f"/api/position?game=4,4,4&board={board}")
        assert [each["error"] for each in batch(server, [board]).json] == ["bad-board"]
    assert batch(server, ["16"], "4%2C4%2C4").status == 400


def test_a_batch_has_up_to_1000_boards(server: InProcess, oracle: Oracle) -> None:
    rng = random.Random(12)
    boards = [rows(naive.played(RULES4, rng.sample(range(16), rng.randint(0, 16)))) for _ in range(1000)]
    answers = batch(server, boards)
    assert answers.body.decode() == f"[{','.join(oracle.analysis(board).as_json() for board in boards)}]"
    refused = batch(server, [*boards, BOARD])
    assert (refused.status, refused.json["error"]) == (400, "bad-body")
    assert "1000" in refused.json["message"]
    assert (batch(server, []).status, batch(server, []).json) == (200, [])


def test_a_batch_of_a_game_that_is_not_there_is_refused_as_a_whole(server: InProcess) -> None:
    for game in ("none", "4,4", "9999,9999,3", "", "x.toml"):
        assert (batch(server, [BOARD], game).status, batch(server, [BOARD], game).json["error"]) == (400, "bad-game")
    assert server.post("/api/positions", {"boards": [BOARD]}).json == [server.get(ONE).json], "it is 4,4,4 unless said"


def test_a_game_without_a_store_is_searched(server: InProcess) -> None:
    rng, rules = random.Random(3), naive.Game(3, 3, 3)
    boards = [rows(naive.played(rules, rng.sample(range(9), rng.randint(0, 9))), 3) for _ in range(30)]
    with Oracle("3,3,3", live=True) as oracle:
        expected = [oracle.analysis(board).as_dict() for board in boards]
    assert json.dumps([asked(server, board, "3,3,3").json for board in boards]) == json.dumps(expected)
    assert json.dumps(batch(server, boards, "3,3,3").json) == json.dumps(expected)
    answer = asked(server, boards[0], "3,3,3")
    assert (answer.json["source"], answer.json["exact"]) == ("search", True)
    assert answer.headers["cache-control"] == FOREVER
    assert server.get("/api/position?game=3,3,3&board=9", If_None_Match=answer.headers["etag"]).status in (200, 304)


@pytest.mark.parametrize(("game", "board"), [
    ("3,3,3,misere", "XO7"), ("fano", "7"), ("15,15,5", "225"), ("10,10,7", "100"), ("duel,3,3", "9"),
])  # fmt: skip
def test_boards_of_every_kind_are_answered_in_the_shape_that_is_documented(
    game: str, board: str, brisk: InProcess
) -> None:
    single, (one, other) = asked(brisk, board, game), batch(brisk, [board, "no"], game).json
    assert (single.json["game"], one["game"], other["error"]) == (game, game, "bad-board")


def test_an_answer_for_which_there_was_too_little_time_is_not_kept(brisk: InProcess) -> None:
    for _ in range(2):
        answer = brisk.get("/api/position?game=6,7,4&board=42")
        assert (answer.status, answer.json["source"], answer.json["exact"]) == (200, "search", False)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "etag" not in answer.headers
    assert [each["exact"] for each in batch(brisk, ["42", "42"], "6,7,4").json] == [False, False]


def test_when_too_many_searches_wait_the_next_one_is_told_when_to_come_back(serve: Callable[..., InProcess]) -> None:
    server = serve()
    server.searching.clear()
    boards = [f"{'.' * cell}X{'.' * (8 - cell)}" for cell in range(MOST_OF_ONE)]
    asking = [server.start_asking("GET", f"/api/position?game=3,3,3&board={board}") for board in boards]
    refused = asked(server, "9", "3,3,3")
    assert (refused.status, refused.json["error"]) == (503, "busy")
    assert int(refused.headers["retry-after"]) > 0
    asking.append(server.start_asking("GET", f"/api/position?game=3,3,3&board={boards[0]}"))  # which waits already
    server.searching.set()
    assert {server.run(each).status for each in asking} == {200}
    assert asked(server, "9", "3,3,3").status == 200


def test_of_games_without_a_store_only_the_last_few_are_kept_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.server.desk._ROSTERS", 2)
    desk, closed = Desk(live=True), []
    monkeypatch.setattr(Roster, "__exit__", lambda roster: closed.append(roster.rules.name))
    first, second, third = (desk.roster(desk.rules(name)) for name in ("2,3,3", "3,3,3", "2,2,2"))
    assert closed == ["2,3,3"]
    assert [desk.roster(desk.rules(name)) for name in ("3,3,3", "2,2,2")] == [second, third]
    assert closed == ["2,3,3"]
    assert desk.roster(desk.rules("2,3,3")) is not first
    assert closed == ["2,3,3", "3,3,3"]
    desk.close()
    assert closed[2:] == ["2,2,2", "2,3,3"]


@pytest.mark.usefixtures("home")
def test_the_worker_answers_each_line_before_it_reads_the_next_one_and_warns_of_no_search(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    questions = {
        '["symmetries", "3,3,3"]': "+8",
        '["choice", "3,3,3", "XX./OO./...", "oracle", "1"]': '+"c1"',
        '["choice", "3,3,3", "X", "oracle", "1"]': '-[400, "bad-board", "',
        '["position", "2,2,2", "9"]': '-[400, "bad-board", "',
        '["position", "2,2,2", "X./.."]': '+{"game": "2,2,2", "board": "X./..", ',
    }
    written, settings = io.BytesIO(), []

    def answers() -> list[str]:
        return written.getvalue().decode().splitlines()

    def asking() -> Iterator[str]:
        for number, question in enumerate(questions):
            assert len(answers()) == number
            yield f"{question}\n"

    def desk(store: str | None, **others: Any) -> Desk:
        settings.append((store, others))
        warnings.warn("searching", SearchingLive, stacklevel=1)
        return Desk(None, **others)

    monkeypatch.setattr(worker, "Desk", desk)
    monkeypatch.setattr("sys.argv", ["-c", json.dumps(["none.ttt4", False, 60.0])])
    monkeypatch.setattr("sys.stdin", asking())
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written))
    worker.work()
    assert settings == [("none.ttt4", {"live": False, "seconds": 60.0})]
    assert not recwarn
    for answer, begins in zip(answers(), questions.values(), strict=True):
        assert answer.startswith(begins)


def test_live_searches_though_there_is_a_store(serve: Callable[..., InProcess], store4: Path) -> None:
    served = serve(live=True, store=str(store4))
    assert served.get("/api/position?board=XOX1/OXO1/XO2/4").json["source"] == "search"
    assert not any(game["store"] for game in served.get("/api/games").json)


@pytest.mark.parametrize("existing", [True, False])
def test_the_list_of_games_is_made_again_only_when_a_store_comes_or_goes(
    existing: bool, store4: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "stores"
    if existing:
        folder.mkdir()
    games = GameList(Desk(str(folder) + "/"))
    made: list[Desk] = []
    make = play.server.games.games_served
    monkeypatch.setattr(play.server.games, "games_served", lambda desk: (made.append(desk), make(desk))[1])

    def has_store() -> bool:
        return "4,4,4" in [game["name"] for game in json.loads(games.as_json()) if game["store"]]

    assert [has_store() for _ in range(3)] == [False] * 3
    folder.mkdir(exist_ok=True)
    store = folder / "4x4x4.ttt4"
    shutil.copy(store4, tmp_path / "new")
    (tmp_path / "new").rename(store)
    os.utime(folder, ns=(1, 1))  # the clock of a file system may stand still for so short a time
    assert [has_store() for _ in range(3)] == [True] * 3
    assert len(made) == 2
    store.unlink()
    os.utime(folder, ns=(2, 2))
    assert not has_store()


def test_every_game_that_is_listed_is_served(
    serve: Callable[..., InProcess], store4: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def symmetries(desk: Desk, game: str) -> str:  # to count them takes long
        return "1"

    monkeypatch.setattr(Desk, "symmetries", symmetries)
    server = serve(store=str(store4))
    listed = server.get("/api/games").json
    names = [game["name"] for game in listed]
    assert names[0] == "4,4,4"
    assert {"3,3,3", "15,15,5", "3,3,3,misere", "fano", "torus4"} <= set(names)
    assert len(set(names)) == len(names)
    assert [game["name"] for game in listed if game["store"]] == ["4,4,4"], "the store that is named is of no other"
    for game in listed:
        facts = server.get(f"/api/games/{quote(game['name'])}").json
        shape = {name: facts[name] for name in ("name", "rows", "columns", "cells", "misere", "scale")}
        shape |= {"sides": facts["sides"]} if len(facts["sides"]) > 2 else {}
        assert game == shape | {"about": game["about"], "store": facts["store"] is not None}
        assert facts["cells"] <= NARROW_CELLS


@pytest.mark.parametrize("name", ["4,4,4", "3,3,3,misere", "4,5,3", "20,20,5", "1,8,3"])
def test_a_game_has_its_cells_and_lines(name: str, server: InProcess) -> None:
    rules, game = naive.Game.named(name), server.get(f"/api/games/{name}").json
    named = [f"{chr(ord('a') + column)}{row + 1}" for row in range(rules.rows) for column in range(rules.columns)]
    assert (game["name"], game["rows"], game["columns"], game["cells"]) == (name, rules.rows, rules.columns, len(named))
    assert (game["misere"], game["sides"]) == (rules.misere, ["X", "O"])
    assert (game["cell_names"], game["squares"]) == (named, list(range(len(named))))
    expected = sorted([named[cell] for cell in line] for line in naive.lines(rules))
    assert sorted(sorted(line, key=named.index) for line in game["lines"]) == sorted(expected)


def test_a_game_with_holes_says_where_its_cells_are(server: InProcess) -> None:
    game = server.get("/api/games/cross").json
    assert game["cells"] == len(game["squares"]) == len(game["cell_names"]) < game["rows"] * game["columns"]
    for name, square in zip(game["cell_names"], game["squares"], strict=True):
        row, column = divmod(square, game["columns"])
        assert name == f"{'abcdefghij'[column]}{row + 1}"


def test_of_a_store_is_said_what_the_command_says(server: InProcess, store4: Path, run: Callable[..., Any]) -> None:
    game = server.get("/api/games/4,4,4").json
    info = json.loads(run(solve, "info", "--json", "--store", store4).out)
    assert game["store"] == {name: fact for name, fact in info.items() if name not in ("published", "bytes")}
    assert game["symmetries"] == len(symmetries(FOUR)) == 32
    assert (game["cells"], len(game["lines"])) == (info["cells"], info["lines"]) == (16, 10)


@pytest.mark.parametrize(("name", "count"), [("3,3,3", 8), ("fano", 168), ("6,7,4", None)])
def test_a_game_without_a_store_has_its_symmetries_if_it_can_be_solved(
    name: str, count: int | None, server: InProcess
) -> None:
    game = server.get(f"/api/games/{name}").json
    assert (game["store"], game["symmetries"]) == (None, count)


@pytest.mark.parametrize("seed", ["ä 4", "x" * 80])
def test_a_puzzle_is_the_one_that_its_seed_makes(seed: str, server: InProcess, oracle: Oracle) -> None:
    puzzle = server.get(f"/api/puzzle?seed={quote(seed)}")
    assert (puzzle.status, puzzle.json) == (200, make_puzzle(oracle, seed)._asdict())
    assert server.get(f"/api/puzzle?seed={quote(seed)}&game=4,4,4").body == puzzle.body


def test_the_puzzle_of_a_day_is_that_of_its_date_and_by_default_of_today(server: InProcess, oracle: Oracle) -> None:
    assert server.get("/api/puzzle?date=2026-11-19").json == make_puzzle(oracle, "2026-11-19")._asdict()
    before = datetime.now(UTC).date().isoformat()
    puzzle = server.get("/api/puzzle").json
    assert puzzle["seed"] in (before, datetime.now(UTC).date().isoformat())  # it may be midnight
    assert puzzle == server.get(f"/api/puzzle?date={puzzle['seed']}").json


@pytest.mark.parametrize("outcome", ["win", "draw"])
@pytest.mark.parametrize("stars", [2, 4])
def test_a_puzzle_has_the_outcome_and_the_stars_that_were_asked_for(
    outcome: str, stars: int, server: InProcess
) -> None:
    puzzle = server.get(f"/api/puzzle?seed=d&outcome={outcome}&stars={stars}").json
    assert (puzzle["outcome"], puzzle["stars"]) == (outcome, stars)
    answer = asked(server, puzzle["board"]).json
    keeping = [move["move"] for move in answer["moves"] if move["outcome"] == outcome]
    assert (answer["to_move"], answer["outcome"], keeping) == (puzzle["to_move"], outcome, [puzzle["solution"]])


@pytest.mark.parametrize(
    ("query", "error"),
    [
        *((query, (400, "bad-query")) for query in ("seed=1&date=2026-11-19", "seed=" + "x" * 81, "date=2026-02-30")),
        *((query, (400, "bad-query")) for query in ("stars=0", "stars=1.0", "outcome=loss")),
        ("game=1,3,3", (404, "no-puzzle")),
        ("game=6,7,4", (409, "no-store")),
    ],
)
def test_a_puzzle_that_cannot_be_is_refused(query: str, error: tuple[int, str], server: InProcess) -> None:
    assert server.get(f"/api/puzzle?{query}").error == error
