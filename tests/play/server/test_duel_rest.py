"""The duel's own REST interface: games to their end, by the rules, in both modes, and every refusal that it has."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import naive
import pytest
from asgi import InProcess
from web import Answer, Served

NOBODY = "0123456789abcdef"


# By the rules


class Naive:
    """The same game by the slow, obvious rules."""

    def __init__(self, rows: int, columns: int) -> None:
        self.duel = naive.Duel(rows, columns)
        self.boards = [self.duel.empty]
        self.history: list[dict[str, Any]] = []

    @property
    def turn(self) -> str | None:
        """Whose turn it is."""
        return naive.turn(self.boards[-1]) if "." in self.boards[-1] else None

    @property
    def legal(self) -> list[tuple[int, int]]:
        """The rows and columns that may be filled."""
        cells = naive.placings(self.duel, self.boards[-1], naive.turn(self.boards[-1]))
        return [divmod(cell, self.duel.columns) for cell in cells]

    @property
    def winner(self) -> str | None:
        """Who has won; `draw` if nobody has, and None while the game goes on."""
        red, green = (self.boards[-1].count(side) for side in "RG")
        return None if self.turn else "draw" if red == green else "R" if red > green else "G"

    def play(self, row: int, column: int) -> None:
        """Fill a cell."""
        side, board, cell = self.turn or "", self.boards[-1], row * self.duel.columns + column
        captured = len(naive.captures(self.duel, board, cell, side))
        self.boards.append(naive.placed(self.duel, board, cell, side))
        self.history.append({"player": side, "row": row, "col": column, "capturedCount": captured})

    def require(self, state: Any) -> None:
        """Raise unless a game stands as this one does."""
        width = self.duel.columns
        rows = [self.boards[-1][at : at + width] for at in range(0, self.duel.cells, width)]
        assert set(state) == {"id", "board", "currentPlayer", "mode", "winner", "moveHistory", "version"}
        assert state["board"] == [[0 if tile == "." else tile for tile in row] for row in rows]
        assert (state["currentPlayer"], state["winner"]) == (self.turn, self.winner)
        assert (state["version"], len(state["moveHistory"])) == (len(self.history), len(self.history))
        for made, expected in zip(state["moveHistory"], self.history, strict=True):
            assert {name: made[name] for name in made if name != "timestamp"} == expected
            assert type(made["timestamp"]) is int
            assert abs(made["timestamp"] / 1000 - time.time()) < 600, "milliseconds since 1970"


def start(server: InProcess, mode: str = "PvP", **more: Any) -> str:
    """Start a game, and return its id."""
    answer = server.post("/game/start", {"mode": mode, **more})
    assert (answer.status, answer.headers["location"]) == (201, f"/game/state/{answer.json['id']}")
    return str(answer.json["id"])


def place(server: InProcess, game: str, player: str, row: int, column: int, **more: Any) -> Answer:
    return server.post("/game/move", {"gameId": game, "player": player, "row": row, "col": column, **more})


def ask_machine(server: InProcess, game: str) -> Answer:
    return server.post("/ai/move", {"gameId": game})


def state_of(server: InProcess, game: str) -> Any:
    answer = server.get(f"/game/state/{game}")
    assert answer.status == 200, answer
    return answer.json


def play_out(server: InProcess, rng: random.Random, rows: int, columns: int, mode: str, **more: Any) -> Any:
    """Play a game to its end, people by chance, compare it with the naive one after every step, and return it."""
    game, twin = start(server, mode, rows=rows, columns=columns, **more), Naive(rows, columns)
    while twin.turn:
        twin.require(state_of(server, game))
        if mode == "PvAI" and twin.turn == "G":
            square = ask_machine(server, game).json
            assert (square["row"], square["col"]) in twin.legal
            twin.play(square["row"], square["col"])
        else:
            row, column = rng.choice(twin.legal)
            moved = place(server, game, twin.turn, row, column)
            twin.play(row, column)
            twin.require(moved.json)
    state = state_of(server, game)
    twin.require(state)
    assert state["mode"] == mode
    return state


@pytest.mark.parametrize("size", [(2, 2), (2, 7), (3, 3), (6, 6), pytest.param((12, 12), marks=pytest.mark.slow)])
@pytest.mark.parametrize("more", [{"mode": "PvP"}, *({"mode": "PvAI", "level": level} for level in (0, 5))], ids=str)
def test_a_game_is_played_to_its_end_by_the_rules(size: tuple[int, int], more: Any, brisk: InProcess) -> None:
    game = play_out(brisk, random.Random(str(size)), *size, **more)["id"]
    assert place(brisk, game, "R", 0, 0).error == ask_machine(brisk, game).error == (409, "game-over")


def test_every_outcome_comes_about(brisk: InProcess) -> None:
    rng = random.Random(1)
    winners = {play_out(brisk, rng, *size, mode="PvP")["winner"] for size in [(2, 4), (3, 3)] * 6}
    assert winners == {"R", "G", "draw"}


def test_a_board_has_6_by_6_cells_unless_it_is_said_and_the_machine_plays_its_best(brisk: InProcess) -> None:
    for wish, size, machine in (
        ({"mode": "PvP"}, (6, 6), "human"),
        ({"mode": "PvAI"}, (6, 6), "search"),
        ({"mode": "PvAI", "rows": 2, "columns": 12, "level": 3}, (2, 12), "search:3"),
    ):
        state = brisk.post("/game/start", wish).json
        assert state["board"] == [[0] * size[1]] * size[0]
        assert brisk.state_of(state)["players"] == {"R": "human", "G": machine}


# Refusals


@pytest.mark.parametrize(
    ("change", "kind", "said"),
    [
        ({"row": 0, "col": 0}, "not-empty", "row 0, column 0: cell 'a1' is taken"),
        ({"row": 2, "col": 3}, "not-empty", "row 2, column 3: cell 'd3' is taken"),
        ({"row": 2, "col": 2}, "not-adjacent", "row 2, column 2: cell 'c3' is not next to a tile of R"),
        ({"row": 3}, "out-of-bounds", "no cell in row 3, column 0: rows go from 0 to 2, columns from 0 to 3"),
        ({"col": 4}, "out-of-bounds", "no cell in row 1, column 4"),
        ({"row": 11}, "out-of-bounds", "no cell in row 11"),
        ({"row": 12}, "bad-body", "$.row"),
        ({"row": -1}, "bad-body", "$.row"),
        ({"col": 10**30}, "bad-body", "$.col"),
        ({"col": -(10**4000)}, "bad-body", "$.col"),
        ({"row": 1e300}, "bad-body", "$.row"),
        ({"player": "G"}, "not-your-turn", "it is R's turn, not G's"),
        ({"player": "B"}, "bad-body", "player"),
        ({"row": 1.5}, "bad-body", "row"),
        ({"row": True}, "bad-body", "row"),
        ({"game_id": NOBODY}, "bad-body", "game_id"),
        ({"version": -1}, "bad-body", "version"),
        ({"id": ""}, "bad-body", "id"),
        ({"id": "x" * 65}, "bad-body", "id"),
    ],
)
def test_a_move_that_cannot_be_made_is_400_with_the_reason(change: Any, kind: str, said: str, brisk: InProcess) -> None:
    game = start(brisk, rows=3, columns=4)
    assert place(brisk, game, "R", 0, 0).status == place(brisk, game, "G", 2, 3).status == 200
    before = state_of(brisk, game)
    answer = brisk.post("/game/move", {"gameId": game, "player": "R", "row": 1, "col": 0} | change)
    assert answer.error == (400, kind)
    assert said in answer.json["message"]
    assert state_of(brisk, game) == before
    assert place(brisk, game, "R", 1, 0).json["board"][1][0] == "R"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "missing required field `mode`"),
        ({"mode": "pvp"}, "Invalid value 'pvp'"),
        ({"mode": "PvP", "rows": 1}, "$.rows"),
        ({"mode": "PvAI", "columns": 13}, "$.columns"),
        ({"mode": "PvP", "rows": 6.5}, "$.rows"),
        ({"mode": "PvP", "level": 5}, "unknown field `level`"),
        ({"mode": "PvAI", "level": -1}, "$.level"),
        ({"mode": "PvAI", "level": 11}, "$.level"),
        ([], "Expected `object`"),
        (b"", "there is no body: send a JSON object"),
    ],
)
def test_a_game_that_cannot_be_started_is_400_with_the_reason(body: Any, said: str, brisk: InProcess) -> None:
    answer = brisk.post("/game/start", body)
    assert answer.error == (400, "bad-body")
    assert said in answer.json["message"]


@pytest.mark.parametrize("name", [NOBODY, "none", "", "0" * 80, "00", "é", "a b", "\x00", "../" + NOBODY])
def test_a_game_that_is_not_there_is_404(name: str, brisk: InProcess) -> None:
    assert place(brisk, name, "R", 0, 0).error == ask_machine(brisk, name).error == (404, "no-match")
    if name.isalnum() and name.isascii():
        assert brisk.get(f"/game/state/{name}").error == (404, "no-match")


def test_a_match_whose_seats_have_tokens_cannot_be_played_without_them(brisk: InProcess) -> None:
    for match in (brisk.begin("duel"), brisk.begin("duel", G="search:0"), brisk.begin("3,3,3")):
        for answer in (
            place(brisk, match["id"], "R", 0, 0),
            ask_machine(brisk, match["id"]),
            brisk.get(f"/game/state/{match['id']}"),
        ):
            assert answer.error == (404, "no-match")
        assert brisk.state_of(match)["version"] == 0


def test_nobody_moves_for_the_machine_and_it_moves_only_when_it_is_to(brisk: InProcess) -> None:
    game = start(brisk, "PvAI", rows=3, columns=3)
    assert ask_machine(brisk, game).error == (409, "not-its-turn")
    assert place(brisk, game, "G", 0, 0).error == (400, "not-your-turn")
    place(brisk, game, "R", 0, 0)
    assert place(brisk, game, "G", 2, 2).error == (400, "wrong-player")
    assert place(brisk, game, "R", 0, 1).error == (400, "not-your-turn")
    assert state_of(brisk, game)["version"] == 1


def test_where_people_play_both_sides_there_is_no_machine_to_ask(brisk: InProcess) -> None:
    game = start(brisk)
    for version in range(2):
        answer = ask_machine(brisk, game)
        assert answer.error == (409, "not-its-turn")
        assert "no machine plays" in answer.json["message"]
        assert state_of(brisk, game)["version"] == version
        place(brisk, game, "R", version, 0)


def test_what_a_schema_calls_an_integer_is_one(brisk: InProcess) -> None:
    game = brisk.post("/game/start", b'{"mode": "PvAI", "rows": 3.0, "columns": 4e0, "level": 0.0}').json
    assert [len(row) for row in game["board"]] == [4, 4, 4]
    body = b'{"gameId": "%s", "player": "R", "row": 1.0, "col": -0.0, "version": 0.0}' % game["id"].encode()
    assert brisk.post("/game/move", body).json["board"][1] == ["R", 0, 0, 0]


# The same request again


def test_a_move_for_another_version_is_409_with_the_game_as_it_stands(brisk: InProcess) -> None:
    game = start(brisk, rows=3, columns=3)
    assert place(brisk, game, "R", 0, 0, version=0).status == 200
    assert place(brisk, game, "G", 2, 2, version=1, id="mine").json["version"] == 2
    for version in (0, 1, 3, 1_000_000):
        answer = place(brisk, game, "R", 0, 1, version=version)
        assert answer.error == (409, "stale-version")
        assert answer.json["state"] == state_of(brisk, game)
    assert place(brisk, game, "R", 0, 1, version=2, id=None).json["version"] == 3


def test_the_same_id_again_gets_the_same_bytes_and_makes_no_second_move(serve: Callable[..., InProcess]) -> None:
    server = serve(seconds=0.05)
    game = start(server, "PvAI", rows=3, columns=3)
    first = place(server, game, "R", 0, 0, version=0, id="mine")
    ask_machine(server, game)
    row, column = next(
        (row, column) for row, column in ((0, 1), (1, 0)) if state_of(server, game)["board"][row][column] == 0
    )
    place(server, game, "R", row, column)
    now = state_of(server, game)
    for more in ({"version": 0}, {"version": 3}, {"version": 99}, {}):
        again = place(server, game, "R", 0, 0, id="mine", **more)
        assert (again.status, again.body) == (200, first.body)
    server.restart()
    assert place(server, game, "R", 0, 0, id="mine").body == first.body
    assert place(server, game, "R", row, column, id="mine").error == (409, "id-reused")
    assert state_of(server, game) == now


# At once


def at_once(server: InProcess, path: str, bodies: Sequence[Any]) -> list[Answer]:
    """Send requests at the same time."""
    return server.together(*(server.asking("POST", path, body) for body in bodies))


def test_a_machine_that_is_asked_many_times_at_once_moves_once(brisk: InProcess) -> None:
    game, twin = start(brisk, "PvAI", level=3), Naive(6, 6)
    while len(twin.history) < 6:
        row, column = twin.legal[0]
        assert place(brisk, game, "R", row, column).status == 200
        twin.play(row, column)
        answers = at_once(brisk, "/ai/move", [{"gameId": game}] * 16)
        (won,) = [answer.json for answer in answers if answer.status == 200]
        kinds = {answer.error for answer in answers if answer.status != 200}
        assert kinds <= {(409, "asked-already"), (409, "not-its-turn")}
        twin.play(won["row"], won["col"])
        twin.require(state_of(brisk, game))


@pytest.mark.parametrize(("more", "refusal"), [({}, (400, "not-your-turn")), ({"version": 2}, (409, "stale-version"))])
def test_of_64_racers_for_a_move_exactly_one_moves(more: Any, refusal: tuple[int, str], brisk: InProcess) -> None:
    game, twin = start(brisk), Naive(6, 6)
    for player, cell in (("R", 0), ("G", 5)):
        place(brisk, game, player, cell, cell)
        twin.play(cell, cell)
    bodies = [
        {"gameId": game, "player": "R", "row": row, "col": column, "id": str(number), **more}
        for number, (row, column) in enumerate((twin.legal * 64)[:64])
    ]
    answers = at_once(brisk, "/game/move", bodies)
    (won,) = [answer.json for answer in answers if answer.status == 200]
    assert {answer.error for answer in answers if answer.status != 200} == {refusal}
    assert all(answer.json["state"] == won for answer in answers if answer.status == 409)
    assert state_of(brisk, game) == won
    twin.play(won["moveHistory"][-1]["row"], won["moveHistory"][-1]["col"])
    twin.require(won)


@pytest.mark.slow
def test_of_two_servers_on_one_log_one_lets_the_machine_move(serve_process: Callable[..., Served]) -> None:
    both = serve_process("--time", "0.05"), serve_process("--time", "0.05")
    for _ in range(5):
        game = start(both[0], "PvAI")
        for server in both:  # the second loads it after the move
            if server == both[0]:
                place(server, game, "R", 2, 2)
            assert state_of(server, game)["version"] == 1
        with ThreadPoolExecutor(2) as threads:
            answers = list(threads.map(lambda server: ask_machine(server, game), both))  # noqa: B023
        assert sorted(answer.status for answer in answers) == [200, 409]
        for answer in answers:
            assert answer.status == 200 or answer.json["error"] in ("stale-version", "not-its-turn")
        assert both[0].get(f"/api/matches/{game}").json["version"] == 2


# On disk


def thinking(server: InProcess) -> "tuple[str, asyncio.Task[Answer]]":
    """Start a game whose machine has been asked, and thinks until `searching` is set: its id, and the request."""
    game = start(server, "PvAI")
    place(server, game, "R", 2, 2)
    server.searching.clear()
    asking = server.start_asking("POST", "/ai/move", {"gameId": game})
    assert ask_machine(server, game).error == (409, "asked-already")
    return game, asking


def test_a_machine_waits_to_be_asked_also_after_a_kill_while_it_thought(serve: Callable[..., InProcess]) -> None:
    server = serve(seconds=0.05)
    game, asking = thinking(server)
    assert place(server, game, "R", 2, 3).error == (400, "not-your-turn")
    assert not asking.done()
    server.restart()
    assert (state_of(server, game)["version"], state_of(server, game)["currentPlayer"]) == (1, "G")
    assert server.app.api.matches.find(game).machine is None
    assert ask_machine(server, game).status == 200
    assert state_of(server, game)["version"] == 2


def test_a_machine_goes_on_though_whoever_asked_it_has_gone(serve: Callable[..., InProcess]) -> None:
    server = serve(seconds=0.05)
    game, asking = thinking(server)
    asking.cancel()
    assert server.get(f"/api/matches/{game}").json["version"] == 1
    server.searching.set()
    assert server.wait_for({"id": game}, 2)["to_move"] == "R"


# A match like any other


def test_a_game_can_be_watched_as_a_match_and_changed_only_here(brisk: InProcess) -> None:
    game = start(brisk, "PvAI", rows=3, columns=3)

    watching = brisk.follow({"id": game})
    assert watching.next().data["game"] == "duel,3,3"
    place(brisk, game, "R", 0, 0)
    square = ask_machine(brisk, game).json
    name = f"{'abc'[square['col']]}{square['row'] + 1}"
    made, answered = (event.data for event in watching.some(2))
    assert made["move"] == "a1"
    assert (answered["side"], answered["move"], answered["version"]) == ("G", name, 2)
    watching.close()
    assert brisk.get(f"/match/{game}").headers["content-type"].startswith("text/html")
    match = brisk.get(f"/api/matches/{game}").json
    assert (match["version"], match["to_move"], len(match["captured"])) == (2, "R", 2)
    for step in ("moves", "undo", "resign", "rematch"):
        body = {"version": 2, "id": "1", **({"move": "b1"} if step == "moves" else {})}
        assert brisk.post(f"/api/matches/{game}/{step}", body).status == 401
    assert state_of(brisk, game)["version"] == 2
