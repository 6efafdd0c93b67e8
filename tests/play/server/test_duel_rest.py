"""The duel's own REST interface: games to their end, by the rules, in both modes, and every refusal that it has."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import naive
import pytest
from asgi import InProcess
from web import Answer, Served

from play.server import allowance

SLOW = pytest.mark.slow
SIZES = [(2, 2), (2, 7), (3, 3), (6, 6), pytest.param((12, 12), marks=SLOW)]
SHAPE = {"error": str, "message": str, "statusCode": int}
EVIL = "http://evil.example"
NOBODY = "0123456789abcdef"
POSTS = ["/game/start", "/game/move", "/ai/move"]


# A client made from the document


class Client:
    """One method for each operation that a server's document lists; what is sent and answered has to be as it says."""

    def __init__(self, served: InProcess) -> None:
        self.served = served
        self.document = served.get("/api/openapi.json").json
        self.operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, operations in self.document["paths"].items()
            for method, operation in operations.items()
        }

    def __getattr__(self, word: str) -> Callable[..., Any]:
        method, path, operation = self.operations[word]
        places = {each["name"] for each in operation["parameters"] if each["in"] == "path"}

        def ask(status: int | None = None, /, **fields: Any) -> Any:
            target = path.format(**{name: fields.pop(name) for name in places})
            if "requestBody" in operation:
                self.check(fields, operation["requestBody"]["content"]["application/json"]["schema"])
            answer = self.served.ask(method, target, fields if "requestBody" in operation else None)
            assert status == answer.status or (status is None and answer.status < 300), answer
            said = operation["responses"][str(answer.status)]
            self.check(answer.json, said["content"]["application/json"]["schema"])
            return answer.json

        return ask

    def check(self, value: Any, schema: Any) -> None:
        """Raise unless a value has a shape."""
        jsonschema_rs.validate({**schema, "components": self.document["components"]}, value)


@pytest.fixture
def client(brisk: InProcess) -> Client:
    return Client(brisk)


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


def play_out(client: Client, rng: random.Random, rows: int, columns: int, **start: Any) -> Any:
    """Play a game to its end, people by chance, compare it with the naive one after every step, and return it."""
    state, twin = client.start_game(rows=rows, columns=columns, **start), Naive(rows, columns)
    game = state["id"]
    twin.require(state)
    while twin.turn:
        if start["mode"] == "PvAI" and twin.turn == "G":
            square = client.machine_move(gameId=game)
            assert (square["row"], square["col"]) in twin.legal
            twin.play(square["row"], square["col"])
        else:
            row, column = rng.choice(twin.legal)
            moved = client.make_move(gameId=game, player=twin.turn, row=row, col=column)
            twin.play(row, column)
            twin.require(moved)
        state = client.game_state(id=game)
        twin.require(state)
        assert state["mode"] == start["mode"]
    return state


@pytest.mark.parametrize("size", SIZES)
def test_two_people_play_to_the_end_by_the_rules(size: tuple[int, int], client: Client) -> None:
    rng = random.Random(str(size))
    state = play_out(client, rng, *size, mode="PvP")
    over = client.make_move(409, gameId=state["id"], player="R", row=0, col=0)
    assert over["error"] == "game-over"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("level", [None, 0, 5])
def test_a_person_and_a_machine_play_to_the_end_by_the_rules(
    size: tuple[int, int], level: int | None, client: Client
) -> None:
    start = {} if level is None else {"level": level}
    state = play_out(client, random.Random(f"{size} {level}"), *size, mode="PvAI", **start)
    assert client.machine_move(409, gameId=state["id"])["error"] == "game-over"
    assert client.make_move(409, gameId=state["id"], player="R", row=0, col=0)["error"] == "game-over"


def test_every_outcome_comes_about(client: Client) -> None:
    rng = random.Random(1)
    winners = {play_out(client, rng, *size, mode="PvP")["winner"] for size in [(2, 4), (3, 3)] * 6}
    assert winners == {"R", "G", "draw"}


def test_a_board_has_6_by_6_cells_unless_it_is_said_and_the_machine_plays_its_best(client: Client) -> None:
    for mode, machine in (("PvP", "human"), ("PvAI", "search")):
        state = client.start_game(mode=mode)
        assert state["board"] == [[0] * 6] * 6
        assert client.match(id=state["id"])["players"] == {"R": "human", "G": machine}
    state = client.start_game(mode="PvAI", rows=2, columns=12, level=3)
    assert [len(row) for row in state["board"]] == [12, 12]
    assert client.match(id=state["id"])["players"] == {"R": "human", "G": "search:3"}


# Helpers


def start(server: InProcess, mode: str = "PvP", **more: Any) -> str:
    """Start a game, and return its id."""
    answer = server.post("/game/start", {"mode": mode, **more})
    assert (answer.status, answer.headers["location"]) == (201, f"/game/state/{answer.json['id']}")
    return str(answer.json["id"])


def place(server: InProcess, game: str, player: str, row: int, column: int, **more: Any) -> Answer:
    return server.post("/game/move", {"gameId": game, "player": player, "row": row, "col": column, **more})


def state_of(server: InProcess, game: str) -> Any:
    answer = server.get(f"/game/state/{game}")
    assert answer.status == 200, answer
    return answer.json


def error_of(answer: Answer, **more: type) -> tuple[int, str]:
    """Return an error's status and kind, which has the one shape that every error has."""
    assert answer.headers["content-type"] == "application/json"
    assert {name: type(value) for name, value in answer.json.items()} == SHAPE | more
    assert answer.json["statusCode"] == answer.status
    assert answer.json["message"].isprintable()
    return answer.status, answer.json["error"]


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
        ({"player": "r"}, "bad-body", "player"),
        ({"player": None}, "bad-body", "player"),
        ({"row": "1"}, "bad-body", "row"),
        ({"row": 1.5}, "bad-body", "row"),
        ({"row": True}, "bad-body", "row"),
        ({"row": None}, "bad-body", "row"),
        ({"gameId": 1}, "bad-body", "gameId"),
        ({"game_id": NOBODY}, "bad-body", "game_id"),
        ({"version": -1}, "bad-body", "version"),
        ({"version": "2"}, "bad-body", "version"),
        ({"id": ""}, "bad-body", "id"),
        ({"id": "x" * 65}, "bad-body", "id"),
    ],
)
def test_a_move_that_cannot_be_made_is_400_with_the_reason(change: Any, kind: str, said: str, brisk: InProcess) -> None:
    game = start(brisk, rows=3, columns=4)
    assert place(brisk, game, "R", 0, 0).status == place(brisk, game, "G", 2, 3).status == 200
    before = state_of(brisk, game)
    answer = brisk.post("/game/move", {"gameId": game, "player": "R", "row": 1, "col": 0} | change)
    assert error_of(answer) == (400, kind)
    assert said in answer.json["message"]
    assert state_of(brisk, game) == before
    assert place(brisk, game, "R", 1, 0).json["board"][1][0] == "R"


def test_a_move_and_a_request_to_the_machine_lack_no_field(brisk: InProcess) -> None:
    game = start(brisk, "PvAI")
    whole = {"gameId": game, "player": "R", "row": 0, "col": 0}
    for name in whole:
        less = {each: value for each, value in whole.items() if each != name}
        assert error_of(brisk.post("/game/move", less)) == (400, "bad-body")
    for body in ({}, {"gameId": None}, {"gameId": game, "id": "1"}, [], b"", b"{", b"null"):
        assert error_of(brisk.post("/ai/move", body)) == (400, "bad-body")
    assert state_of(brisk, game)["version"] == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "missing required field `mode`"),
        ({"mode": None}, "$.mode"),
        ({"mode": "pvp"}, "Invalid value 'pvp'"),
        ({"mode": "PvP", "rows": 1}, "$.rows"),
        ({"mode": "PvP", "rows": 13}, "$.rows"),
        ({"mode": "PvAI", "columns": 1}, "$.columns"),
        ({"mode": "PvAI", "columns": 13}, "$.columns"),
        ({"mode": "PvP", "rows": "6"}, "$.rows"),
        ({"mode": "PvP", "rows": 6.5}, "$.rows"),
        ({"mode": "PvP", "rows": None}, "$.rows"),
        ({"mode": "PvP", "level": 5}, "unknown field `level`"),
        ({"mode": "PvAI", "level": -1}, "$.level"),
        ({"mode": "PvAI", "level": 11}, "$.level"),
        ({"mode": "PvAI", "level": "5"}, "$.level"),
        ({"mode": "PvP", "game": "duel"}, "unknown field `game`"),
        ([], "Expected `object`"),
        (b"", "there is no body: send a JSON object"),
    ],
)
def test_a_game_that_cannot_be_started_is_400_with_the_reason(body: Any, said: str, brisk: InProcess) -> None:
    answer = brisk.post("/game/start", body)
    assert error_of(answer) == (400, "bad-body")
    assert said in answer.json["message"]


@pytest.mark.parametrize("name", [NOBODY, "none", "", "0" * 80, "00", "é", "a b", "\x00", "../" + NOBODY])
def test_a_game_that_is_not_there_is_404(name: str, brisk: InProcess) -> None:
    assert error_of(place(brisk, name, "R", 0, 0)) == (404, "no-match")
    assert error_of(brisk.post("/ai/move", {"gameId": name})) == (404, "no-match")
    if name.isalnum() and name.isascii():
        assert error_of(brisk.get(f"/game/state/{name}")) == (404, "no-match")


def test_a_match_whose_seats_have_tokens_cannot_be_played_without_them(brisk: InProcess) -> None:
    people, machine, lines = brisk.begin("duel"), brisk.begin("duel", G="search:0"), brisk.begin("3,3,3")
    for match in (people, machine, lines):
        assert error_of(place(brisk, match["id"], "R", 0, 0)) == (404, "no-match")
        assert error_of(brisk.post("/ai/move", {"gameId": match["id"]})) == (404, "no-match")
        assert error_of(brisk.get(f"/game/state/{match['id']}")) == (404, "no-match")
        assert brisk.get(f"/api/matches/{match['id']}").json["version"] == 0


def test_nobody_moves_for_the_machine_and_it_moves_only_when_it_is_to(brisk: InProcess) -> None:
    game = start(brisk, "PvAI", rows=3, columns=3)
    assert error_of(brisk.post("/ai/move", {"gameId": game})) == (409, "not-its-turn")
    assert error_of(place(brisk, game, "G", 0, 0)) == (400, "not-your-turn")
    place(brisk, game, "R", 0, 0)
    assert error_of(place(brisk, game, "G", 2, 2)) == (400, "wrong-player")
    assert error_of(place(brisk, game, "R", 0, 1)) == (400, "not-your-turn")
    assert state_of(brisk, game)["version"] == 1


def test_where_people_play_both_sides_there_is_no_machine_to_ask(brisk: InProcess) -> None:
    game = start(brisk)
    for version in range(3):
        answer = brisk.post("/ai/move", {"gameId": game})
        assert error_of(answer) == (409, "not-its-turn")
        assert "no machine plays" in answer.json["message"]
        assert state_of(brisk, game)["version"] == version
        place(brisk, game, "RG"[version % 2], version, 0)


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
        assert error_of(answer, state=dict) == (409, "stale-version")
        assert answer.json["state"] == state_of(brisk, game)
    assert place(brisk, game, "R", 0, 1, version=2, id=None).json["version"] == 3


def test_the_same_id_again_gets_the_same_bytes_and_makes_no_second_move(serve: Callable[..., InProcess]) -> None:
    server = serve(seconds=0.05)
    game = start(server, "PvAI", rows=3, columns=3)
    first = place(server, game, "R", 0, 0, version=0, id="mine")
    server.post("/ai/move", {"gameId": game})
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
    assert error_of(place(server, game, "R", row, column, id="mine")) == (409, "id-reused")
    assert state_of(server, game) == now


def test_an_id_whose_move_was_refused_may_be_used_again_and_the_other_side_may_use_the_same(brisk: InProcess) -> None:
    game = start(brisk)
    assert place(brisk, game, "R", 6, 6, id="a").status == 400
    assert place(brisk, game, "G", 0, 0, id="a").status == 400
    assert place(brisk, game, "R", 0, 0, id="a").json["version"] == 1
    assert place(brisk, game, "G", 0, 1, id="a").json["version"] == 2


# At once


def at_once(server: InProcess, path: str, bodies: Sequence[Any]) -> list[Answer]:
    """Send requests at the same time."""
    return server.together(*(server.asking("POST", path, body) for body in bodies))


def test_a_machine_that_is_asked_twice_in_turn_moves_once(brisk: InProcess) -> None:
    game = start(brisk, "PvAI")
    place(brisk, game, "R", 2, 3)
    first = brisk.post("/ai/move", {"gameId": game})
    assert first.status == 200
    assert error_of(brisk.post("/ai/move", {"gameId": game})) == (409, "not-its-turn")
    state = state_of(brisk, game)
    assert (state["version"], state["currentPlayer"]) == (2, "R")
    assert {name: state["moveHistory"][1][name] for name in ("row", "col")} == first.json


def test_a_machine_that_is_asked_many_times_at_once_moves_once(brisk: InProcess) -> None:
    game, twin = start(brisk, "PvAI", level=3), Naive(6, 6)
    while len(twin.history) < 6:
        row, column = twin.legal[0]
        assert place(brisk, game, "R", row, column).status == 200
        twin.play(row, column)
        answers = at_once(brisk, "/ai/move", [{"gameId": game}] * 16)
        (won,) = [answer.json for answer in answers if answer.status == 200]
        kinds = {error_of(answer) for answer in answers if answer.status != 200}
        assert kinds <= {(409, "asked-already"), (409, "not-its-turn")}
        twin.play(won["row"], won["col"])
        twin.require(state_of(brisk, game))


@pytest.mark.parametrize("mode", ["PvP", "PvAI"])
@pytest.mark.parametrize(("more", "refusal"), [({}, (400, "not-your-turn")), ({"version": 2}, (409, "stale-version"))])
def test_of_64_racers_for_a_move_exactly_one_moves(
    mode: str, more: Any, refusal: tuple[int, str], brisk: InProcess
) -> None:
    game, twin = start(brisk, mode, rows=12, columns=12), Naive(12, 12)
    place(brisk, game, "R", 5, 5)
    twin.play(5, 5)
    square = {"row": 8, "col": 8} if mode == "PvP" else brisk.post("/ai/move", {"gameId": game}).json
    if mode == "PvP":
        place(brisk, game, "G", 8, 8)
    twin.play(square["row"], square["col"])
    bodies = [
        {"gameId": game, "player": "R", "row": row, "col": column, "id": str(number), **more}
        for number, (row, column) in enumerate((twin.legal * 64)[:64])
    ]
    answers = at_once(brisk, "/game/move", bodies)
    (won,) = [answer.json for answer in answers if answer.status == 200]
    shape = {"state": dict} if more else {}
    assert {error_of(answer, **shape) for answer in answers if answer.status != 200} == {refusal}
    assert all(answer.json["state"] == won for answer in answers if answer.status == 409)
    assert state_of(brisk, game) == won
    twin.play(won["moveHistory"][-1]["row"], won["moveHistory"][-1]["col"])
    twin.require(won)


def test_64_senders_of_one_request_all_get_its_one_answer(brisk: InProcess) -> None:
    game = start(brisk)
    body = {"gameId": game, "player": "R", "row": 0, "col": 0, "version": 0, "id": "mine"}
    answers = at_once(brisk, "/game/move", [body] * 64)
    assert {(answer.status, answer.body) for answer in answers} == {(200, answers[0].body)}
    assert state_of(brisk, game) == answers[0].json


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
            answers = list(threads.map(lambda server: server.post("/ai/move", {"gameId": game}), both))  # noqa: B023
        assert sorted(answer.status for answer in answers) == [200, 409]
        for answer in answers:
            assert answer.status == 200 or answer.json["error"] in ("stale-version", "not-its-turn")
        assert both[0].get(f"/api/matches/{game}").json["version"] == 2


# On disk


@pytest.mark.parametrize("mode", ["PvP", "PvAI"])
def test_a_game_outlives_kills_as_it_was_acknowledged(mode: str, serve: Callable[..., InProcess]) -> None:
    server, twin, rng = serve(seconds=0.05), Naive(3, 3), random.Random(3)
    game = start(server, mode, rows=3, columns=3)
    while twin.turn:
        if mode == "PvAI" and twin.turn == "G":
            square = server.post("/ai/move", {"gameId": game}).json
        else:
            square = dict(zip(("row", "col"), rng.choice(twin.legal), strict=True))
            answer = place(server, game, twin.turn, square["row"], square["col"])
            assert answer.status == 200
        twin.play(square["row"], square["col"])
        before = state_of(server, game)
        server.restart()
        assert state_of(server, game) == before
        twin.require(before)


def thinking(server: InProcess) -> "tuple[str, asyncio.Task[Answer]]":
    """Start a game whose machine has been asked, and thinks until `searching` is set: its id, and the request."""
    game = start(server, "PvAI")
    place(server, game, "R", 2, 2)
    server.searching.clear()
    asking = server.start_asking("POST", "/ai/move", {"gameId": game})
    assert error_of(server.post("/ai/move", {"gameId": game})) == (409, "asked-already")
    return game, asking


def test_a_machine_waits_to_be_asked_also_after_a_kill_while_it_thought(serve: Callable[..., InProcess]) -> None:
    server = serve(seconds=0.05)
    game, asking = thinking(server)
    assert error_of(place(server, game, "R", 2, 3)) == (400, "not-your-turn")
    assert not asking.done()
    server.restart()
    assert (state_of(server, game)["version"], state_of(server, game)["currentPlayer"]) == (1, "G")
    assert server.app.api.matches.find(game).machine is None
    assert server.post("/ai/move", {"gameId": game}).status == 200
    assert state_of(server, game)["version"] == 2


def test_a_machine_goes_on_though_whoever_asked_it_has_gone(serve: Callable[..., InProcess]) -> None:
    server = serve(seconds=0.05)
    game, asking = thinking(server)
    asking.cancel()
    assert server.get(f"/api/matches/{game}").json["version"] == 1
    server.searching.set()
    assert server.wait_for({"id": game}, 2)["to_move"] == "R"


def test_until_the_log_has_a_move_nobody_is_told_of_it(serve: Callable[..., InProcess]) -> None:
    server = serve(seconds=0.05)
    game = start(server, "PvAI")
    move = {"gameId": game, "player": "R", "row": 1, "col": 1}
    for path, body in (("/game/move", move), ("/ai/move", {"gameId": game})):
        before = server.get(f"/game/state/{game}").body
        with server.writing_held_up() as reached:
            answer = server.start_asking("POST", path, body)
            server.run(asyncio.to_thread(reached.wait, 20))
            assert server.get(f"/game/state/{game}").body == before
            assert not answer.done()
        assert server.run(answer).status == 200
    assert state_of(server, game)["version"] == 2


# A match like any other


def test_a_game_can_be_watched_as_a_match_and_changed_only_here(brisk: InProcess) -> None:
    game = start(brisk, "PvAI", rows=3, columns=3)

    watching = brisk.follow({"id": game})
    assert watching.next().data["game"] == "duel,3,3"
    place(brisk, game, "R", 0, 0)
    square = brisk.post("/ai/move", {"gameId": game}).json
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


def test_a_machine_of_a_match_with_tokens_still_moves_by_itself(brisk: InProcess) -> None:
    match = brisk.begin("duel", G="search:0")
    assert brisk.move(match, "R", 0, "a1").status == 200
    assert brisk.wait_for(match, 2)["to_move"] == "R"


# At the door


def test_other_methods_are_405_with_those_that_there_are(brisk: InProcess) -> None:
    game = start(brisk)
    for path, allowed in {**dict.fromkeys(POSTS, ("POST",)), f"/game/state/{game}": ("GET", "HEAD")}.items():
        for method in {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} - {*allowed}:
            if method == "OPTIONS" and "GET" in allowed:
                continue
            answer = brisk.ask(method, path)
            assert (answer.status, answer.headers["allow"]) == (405, ", ".join(allowed)), (method, path)
            assert method == "HEAD" or error_of(answer) == (405, "wrong-method")
    for path in ("/game", "/game/", "/game/state", "/game/state/", "/ai", "/game/none", f"/game/state/{game}/more"):
        assert error_of(brisk.get(path)) == (404, "not-found"), path


def test_pages_of_any_origin_may_look_and_none_but_ours_may_play(brisk: InProcess) -> None:
    game = start(brisk)
    path = f"/game/state/{game}"
    get, head = brisk.get(path, Origin=EVIL), brisk.ask("HEAD", path, Origin=EVIL)
    assert (get.status, head.status, head.body) == (200, 200, b"")
    assert head.headers["content-length"] == str(len(get.body))
    may = brisk.ask("OPTIONS", path, Origin=EVIL, Access_Control_Request_Method="GET")
    assert (may.status, may.body) == (204, b"")
    assert {answer.headers["access-control-allow-origin"] for answer in (get, head, may)} == {"*"}
    bodies = {"/game/start": {"mode": "PvP"}, "/game/move": {"gameId": game, "player": "R", "row": 0, "col": 0}}
    for path in POSTS:
        body = bodies.get(path, {"gameId": game})
        for origin in (EVIL, "null", "http://127.0.0.1", ""):
            answer = brisk.post(path, body, Origin=origin)
            assert error_of(answer) == (403, "foreign-origin")
            assert "access-control-allow-origin" not in answer.headers
        assert error_of(brisk.post(path, body, Host="evil.example")) == (421, "wrong-host")
        assert error_of(brisk.post(path, body, Content_Type="text/plain")) == (415, "not-json")
        assert error_of(brisk.post(path, json.dumps(body).encode().ljust(65_537))) == (413, "too-large")
        assert error_of(brisk.post(f"{path}?a=1", body)) == (400, "bad-query")
    assert state_of(brisk, game)["version"] == 0
    assert brisk.post("/game/move", bodies["/game/move"], Origin=brisk.url).status == 200


# What it costs


def is_too_many(answer: Answer) -> bool:
    """Whether a request was refused as one too many, with the time after which it will not be."""
    if answer.status != 429:
        return False
    assert error_of(answer) == (429, "too-many-requests")
    return int(answer.headers["retry-after"]) >= 1


def test_who_asks_too_much_is_429_and_nothing_is_done(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(allowance, "time", SimpleNamespace(monotonic=lambda: 0.0))
    server = serve(limit=1, seconds=0.05)  # 500 units at once
    game, other, third = (start(server, "PvAI", level=0) for _ in range(3))  # 10 units each

    def left(units: float) -> None:
        """Leave an address so much of its allowance."""
        server.app.api.allowance._paid_until["127.0.0.1"] = 500 - units

    def ask(path: str, body: Any = None) -> Answer:
        return server.ask("GET" if body is None else "POST", path, body)

    for units, path, body in (
        (10, "/game/start", {"mode": "PvAI"}),
        (1, f"/game/state/{game}", None),
        (1, "/game/move", {"gameId": game, "player": "R", "row": 0, "col": 0}),
        (51, "/ai/move", {"gameId": game}),
    ):
        left(units - 0.5)
        assert is_too_many(ask(path, body)), path
        left(units)
        assert ask(path, body).status in (200, 201), path
        assert is_too_many(ask(f"/game/state/{game}")), "all of it was charged"
    left(500)
    assert [state_of(server, each)["version"] for each in (game, other, third)] == [2, 0, 0], "nothing was done"
    left(1)
    answer = ask("/ai/move", {"gameId": other})
    assert error_of(answer) == (409, "not-its-turn"), "a machine that does not move costs no search"


def test_the_document_names_every_refusal(brisk: InProcess) -> None:
    operations = Client(brisk).operations
    for word, statuses in {
        "start_game": {201, 400, 403, 413, 415, 421, 429, 503},
        "game_state": {200, 400, 404, 421, 429},
        "make_move": {200, 400, 403, 404, 409, 413, 415, 421, 429, 503},
        "machine_move": {200, 400, 403, 404, 409, 413, 415, 421, 429, 503},
    }.items():
        _, _, operation = operations[word]
        assert statuses <= set(map(int, operation["responses"])), word
