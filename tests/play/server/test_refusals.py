"""What the server refuses: with which status, always in one shape, and without harm to itself."""

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from asgi import InProcess
from web import Answer

from play import pages
from play.server.requests import MOST_BYTES

POSITION = "/api/position?game=4,4,4&board=16"
BATCH = {"boards": ["16"]}
EVIL = "http://evil.example"
NOBODY = "0123456789abcdef"
NO_MATCH = f"/api/matches/{NOBODY}"
GAMES = Path(__file__).parents[3] / "data" / "games"
PAGES = ["/", "/play", "/explore/4,4,4/X.../..../..../....", "/puzzles", "/match/0123456789abcdef", "/api"]


def is_error(answer: Answer, status: int, kind: str | None = None) -> bool:
    """Whether an answer is an error of that status; the kind is its one word."""
    return answer.error == (status, kind or answer.json["error"])


def request(method: str, target: str, *headers: str, body: str = "", host: str | None = "127.0.0.1") -> bytes:
    """A request as bytes, of which each letter is one."""
    named = [f"Host: {host}"] if host is not None else []
    lines = [f"{method} {target} HTTP/1.1", *named, "Connection: close", *headers, "", body]
    return "\r\n".join(lines).encode("latin-1")


@pytest.mark.parametrize("path", [
    "/nothing", "/api/", "/api/nothing", "/api/position/", "//", "//play", "/static/", "/static/__init__.py",
    "/API/games", "/static/../app.py", "/%2e%2e/%2e%2e/etc/passwd", "/../../etc/passwd", "/api/games/../x.toml",
    "/static/app.js%00", f"{NO_MATCH}/none", "/api/games/", "/api/games/4,4,4/more", "/api//games",
    "/api/openapi.json/", "/game", "/game/state", "/game/state/", "/ai", f"/game/state/{NOBODY}/more",
])  # fmt: skip
def test_at_an_unknown_path_there_is_nothing(path: str, server: InProcess) -> None:
    for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        answer = server.ask(method, path)
        assert answer.status == 404, (method, path)
        assert method == "HEAD" or is_error(answer, 404, "not-found")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/", "GET, HEAD"), (NO_MATCH, "GET, HEAD"), ("/api/matches", "POST"), ("/ai/move", "POST")],
)
def test_another_method_is_refused_with_those_that_there_are(path: str, allowed: str, server: InProcess) -> None:
    for method in {"GET", "POST", "PUT", "TRACE", "PROPFIND"} - set(allowed.split(", ")):
        answer = server.ask(method, path)
        assert is_error(answer, 405, "wrong-method"), (method, path)
        assert answer.headers["allow"] == allowed


@pytest.mark.parametrize("host", [
    "evil.example", "evil.example:80", "evil.example:{port}", "localhost.evil.example", "127.0.0.1.evil.example",
    "evil.localhost", "notlocalhost", "", ":", ":{port}", "[::1", "::1", "localhost:port", "0x7f.1", "2130706433",
    "127.1", "\xff", "évil.example", "a b", "*", "evil.example@127.0.0.1", "127.0.0.1/x", "127.0.0.1, evil.example",
    "localhost.", "127.0.0.1:80:80",
])  # fmt: skip
def test_a_request_for_another_host_is_refused(host: str, server: InProcess) -> None:
    for path in (POSITION, "/", "/nothing"):
        assert is_error(server.raw(request("GET", path, host=host.format(port=server.port))), 421, "wrong-host")


def test_a_request_for_no_host_or_for_a_foreign_one_is_refused(server: InProcess) -> None:
    assert is_error(server.raw(request("GET", POSITION, host=None)), 421, "wrong-host")
    assert is_error(server.raw(b"GET /api/games HTTP/1.0\r\n\r\n"), 421, "wrong-host")
    assert is_error(server.raw(request("POST", "/api/matches", "Content-Length: 0", host="evil.example")), 421)


@pytest.mark.parametrize(("host", "other"), [
    ("127.0.0.1", "127.0.0.1"), ("127.0.0.1", "evil.example"), ("evil.example", "127.0.0.1"),
])  # fmt: skip
def test_a_request_for_two_hosts_is_refused(host: str, other: str, server: InProcess) -> None:
    for path in (POSITION, "/", "/nothing"):
        assert is_error(server.raw(request("GET", path, f"Host: {other}", host=host)), 400, "several-hosts")
    if host != other:
        target = f"http://{other}{POSITION}"
        assert is_error(server.raw(request("GET", target, host=host)), 400, "several-hosts")


def test_a_target_may_name_the_host_too(server: InProcess) -> None:
    assert server.raw(request("GET", f"http://127.0.0.1:8{POSITION}", host="127.0.0.1:8")).status == 200
    assert is_error(server.raw(request("GET", f"http://evil.example{POSITION}", host="evil.example")), 421)
    assert is_error(server.raw(request("GET", f"http://evil.example{POSITION}", host=None)), 421)


def test_any_address_localhost_and_the_names_that_were_allowed_are_this_host(serve: Callable[..., InProcess]) -> None:
    served = serve(hosts=("My.Example", "other.example"))
    for host in ("localhost", "LocalHost", "127.0.0.1", "[::1]", "[2001:DB8::1]", "my.example", "other.example"):
        for name in (host, f"{host}:4444", f"{host}:80"):
            for path in (POSITION, "/"):
                assert served.get(path, Host=name).status == 200, name
    assert is_error(served.get(POSITION, Host="third.example"), 421)


STEPS = [f"{NO_MATCH}/{step}" for step in ("moves", "undo", "resign", "rematch")]
DUEL = ["/game/start", "/game/move", "/ai/move"]


@pytest.mark.parametrize("origin", [EVIL, "null", "http://127.0.0.1", "http://localhost:{port}", "{host}", "x://", ""])
@pytest.mark.parametrize("path", ["/api/matches", *STEPS, *DUEL])
def test_a_page_of_another_origin_cannot_change_a_match(origin: str, path: str, server: InProcess) -> None:
    foreign = origin.format(port=4444, host=server.host)
    assert is_error(server.post(path, {}, Origin=foreign), 403, "foreign-origin")


def test_a_page_of_this_origin_and_whoever_is_no_page_may_begin_a_match(server: InProcess) -> None:
    assert server.post("/api/matches", {}).status == 201
    for host in (server.host, "localhost:4444"):
        assert server.post("/api/matches", {}, Host=host, Origin=f"http://{host}").status == 201
    assert server.post("/game/start", {"mode": "PvP"}, Origin=server.url).status == 201


@pytest.mark.parametrize("path", [
    POSITION, "/api/position?board=no", "/api/games", "/api/games/none", "/api/puzzle?seed=1", NO_MATCH,
    f"{NO_MATCH}/review", f"{NO_MATCH}/events", f"/game/state/{NOBODY}", "/api/openapi.json", "/nothing",
])  # fmt: skip
def test_pages_of_any_origin_may_read(path: str, server: InProcess) -> None:
    for method in ("GET", "HEAD", "DELETE"):
        assert server.ask(method, path, Origin=EVIL).headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize("body", [BATCH, {"boards": 1}, b"[", b" " * (MOST_BYTES + 1)])
def test_pages_of_any_origin_may_ask_for_a_batch(body: Any, server: InProcess) -> None:
    for kind in ("application/json", "text/plain"):
        answer = server.post("/api/positions", body, Origin=EVIL, Content_Type=kind)
        assert answer.headers["access-control-allow-origin"] == "*"
        assert (answer.status == 200) == (body == BATCH and kind == "application/json")


@pytest.mark.parametrize("path", [
    POSITION, "/api/positions", "/api/games", "/api/games/none", "/api/puzzle", NO_MATCH, f"{NO_MATCH}/review",
    f"{NO_MATCH}/events", f"/game/state/{NOBODY}",
])  # fmt: skip
def test_a_page_that_asks_whether_it_may_read_is_told_that_it_may(path: str, server: InProcess) -> None:
    asked = {"Access_Control_Request_Method": "POST", "Access_Control_Request_Headers": "content-type"}
    answer = server.ask("OPTIONS", path, Origin=EVIL, **asked)
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert "POST" in answer.headers["access-control-allow-methods"]
    assert "content-type" in answer.headers["access-control-allow-headers"]
    assert "authorization" not in answer.headers["access-control-allow-headers"]


def test_a_page_of_another_origin_may_neither_play_nor_read_what_players_are_told(server: InProcess) -> None:
    match = server.begin()
    token, moves = match["tokens"]["X"], f"/api/matches/{match['id']}/moves"
    move = {"version": 0, "id": "1", "move": "a1"}
    answers = [
        server.post("/api/matches", {}),
        server.post("/api/matches", {}, Origin=EVIL),
        server.post("/api/matches", b"["),
        server.post("/api/matches", b"[]", Content_Type="text/plain"),
        server.post("/api/matches", b" " * (MOST_BYTES + 1)),
        server.post(moves, move, token),
        server.post(moves, move | {"id": "2"}, token),
        server.post(moves, move),
        *(server.post(path, move) for path in STEPS),
        *(server.post(path, {}) for path in DUEL),
    ]
    assert [answer.status for answer in answers] == [201, 403, 400, 415, 413, 200, 409, 401] + [404] * 4 + [400] * 3
    for path in ("/api/matches", moves, *STEPS, *DUEL):
        answers.append(server.ask("OPTIONS", path, Origin=EVIL, Access_Control_Request_Method="POST"))
        assert is_error(answers[-1], 405)
        assert "access-control-allow-methods" not in answers[-1].headers
    assert not any("access-control-allow-origin" in answer.headers for answer in answers[:15])


def chunked(body: bytes, size: int = 10_000) -> bytes:
    parts = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


@pytest.mark.parametrize("path", ["/api/positions", "/api/matches"])
def test_a_body_has_at_most_64_kb(path: str, server: InProcess) -> None:
    least = json.dumps(BATCH if path == "/api/positions" else {}).encode()
    assert server.post(path, least.ljust(65_536)).status < 300
    for each in (STEPS[0], *DUEL):
        assert is_error(server.post(each, least.ljust(65_537)), 413, "too-large")
    for size in (65_537, 1 << 20, 12 << 20):
        assert is_error(server.post(path, least.ljust(size)), 413, "too-large")
    head = request("POST", path, "Content-Type: application/json", "Transfer-Encoding: chunked")
    assert server.raw(head + chunked(least.ljust(65_536))).status < 300
    assert is_error(server.raw(head + chunked(least.ljust(65_537))), 413, "too-large")
    assert is_error(server.raw(head + chunked(least.ljust(1 << 20))), 413, "too-large")


@pytest.mark.parametrize("path", ["/api/positions", "/api/matches", *STEPS[:1], *DUEL])
def test_a_body_that_is_not_json_by_its_own_account_is_refused(path: str, server: InProcess) -> None:
    body = json.dumps(BATCH).encode()
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "application/jsonp", ""):
        assert is_error(server.post(path, body, Content_Type=kind), 415, "not-json"), kind
    length = f"Content-Length: {len(body)}"
    assert is_error(server.raw(request("POST", path, length, body=body.decode())), 415, "not-json")
    for kind in ("application/json; charset=utf-8", "Application/JSON", "application/json;"):
        assert server.post("/api/positions", body, Content_Type=kind).status == 200


WRONG_BODIES = [
    b"", b" ", b"{", b"[]", b"null", b"1", b'"boards"', b"{}}", b"{} x", b"{'boards': []}", b"\xef\xbb\xbf{}", b"\x00",
    b"\xff", b"NaN", b'{"boards": NaN}', b'{"boards": [NaN]}', b'{"boards": [Infinity]}', b'{"boards": [-Infinity]}',
    b'{"boards": [1e999]}', b'{"boards": 1e400}', b'{"boards": [%s]}' % (b"9" * 60_000), b"9" * 5000,
    b'{"boards": ["\xff"]}', b'{"game": "\xc3"}', b'{"game": "\\ud800"}', b'{"game": "\\udc00\\ud800"}',
    b'{"game": "\x01"}', b'{"boards": %s%s}' % (b"[" * 30_000, b"]" * 30_000), b"[" * 60_000, b'{"a":' * 10_000,
    b'{"players":' * 5_000, b'{"game": null}', b'{"game": 444}', b'{"game": ["4,4,4"]}', b'{"unknown": 1}',
    b'{"game": "%s"}' % (b"4" * 81), b'{"players": []}', b'{"players": {"X": null}}', b'{"boards": ["16", 16]}',
    b'{"boards": {"16": 16}}', b'{"board": 16}',
]  # fmt: skip


@pytest.mark.parametrize("path", ["/api/positions", "/api/matches"])
@pytest.mark.parametrize("body", WRONG_BODIES, ids=lambda body: repr(body[:24]))
def test_a_body_that_cannot_be_read_is_refused(path: str, body: bytes, server: InProcess) -> None:
    assert is_error(server.post(path, body), 400)


@pytest.mark.parametrize("change", [
    {"version": -1}, {"version": True}, {"version": 10**30}, {"id": ""}, {"id": "x" * 65}, {"more": 1},
    {"move": "x" * 81}, {"move": "e5"}, {"move": "a1 b1"}, {"move": "\x00"}, {"move": "\u202e"},
])  # fmt: skip
def test_a_step_that_cannot_be_read_is_refused_and_changes_nothing(change: Any, server: InProcess) -> None:
    match = server.begin()
    step = {"version": 0, "id": "1", "move": "a1"} | change
    assert is_error(server.post(f"/api/matches/{match['id']}/moves", step, match["tokens"]["X"]), 400)
    assert server.state_of(match)["version"] == 0


@pytest.mark.parametrize("path", ["api/position", "api/games", "api/puzzle", "api/matches/{id}", "game/state/{id}"])
@pytest.mark.parametrize(
    "query", ["x=1", "board", "=", "&", "%", "%ff=1", "board=%ff", "game=%", "a=1&" * 20 + "a=1", ";"]
)
def test_a_query_that_cannot_be_read_or_says_something_else_is_refused(
    path: str, query: str, server: InProcess
) -> None:
    ident = server.begin()["id"]
    assert is_error(server.get(f"/{path.format(id=ident)}?{query}"), 400)


@pytest.mark.parametrize("query", [
    "board=16&board=16", "game=4,4,4&board=16&game=4,4,4", "board=16&BOARD=16", "board=16&moves=", "", "game=4,4,4",
    "board=16&", "&board=16", "board=16&&game=4,4,4", "board=16;game=4,4,4", "board=16&seed=1", "board[]=16",
])  # fmt: skip
def test_a_look_up_takes_one_board_or_one_list_of_moves_and_nothing_twice(query: str, server: InProcess) -> None:
    assert is_error(server.get(f"/api/position?{query}"), 400)


RAW = {
    "a control character in the path": request("GET", "/api/\x01games"),
    "a null in the query": request("GET", "/api/position?board=\x0016"),
    "letters that are not ascii in the path": request("GET", "/api/g\xe4mes"),
    "a blank in the path": request("GET", "/api/games more"),
    "a path of 70 kB": request("GET", "/" + "a" * 70_000),
    "no path": request("GET", ""),
    "a path without a slash": request("GET", "api/games"),
    "no such method": request("BREW", "/"),
    "a connection to elsewhere": request("CONNECT", "evil.example:80"),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a greeting of TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "bytes": bytes(range(256)),
    "a header without a colon": request("GET", "/", "no colon"),
    "a header with a null": request("GET", "/", "a: b\x00c"),
    "a header with a carriage return alone": request("GET", "/", "a: b\rc: d"),
    "two lengths": request("POST", "/api/positions", "Content-Length: 5", "Content-Length: 6", body="12345"),
    "a length below zero": request("POST", "/api/positions", "Content-Length: -1"),
    "a length and chunks": request(
        "POST", "/api/positions", "Content-Length: 5", "Transfer-Encoding: chunked", body="0\r\n\r\n"
    ),
    "a chunk whose size is no number": request("POST", "/api/positions", "Transfer-Encoding: chunked", body="zz\r\n{}"),
}


@pytest.mark.parametrize("data", RAW.values(), ids=RAW.keys())
def test_what_is_no_http_gets_an_error_of_the_same_shape(data: bytes, server: InProcess) -> None:
    said = server.said
    assert is_error(server.raw(data), 400, "bad-request")
    assert server.said == said


@pytest.mark.parametrize("letter", [b"a", b"a: b\r\n"])
def test_headers_without_end_are_refused(letter: bytes, server: InProcess) -> None:
    head = b"GET /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
    assert is_error(server.raw(head + letter * ((1 << 20) // len(letter))), 431, "too-large")


def test_a_target_that_is_no_path_of_this_server_does_no_harm(server: InProcess) -> None:
    assert is_error(server.raw(request("OPTIONS", "*")), 404)


@pytest.fixture
def trapped(
    tmp_path_factory: pytest.TempPathFactory, server: InProcess, monkeypatch: pytest.MonkeyPatch
) -> tuple[InProcess, Path]:
    """An application, and a folder with a game, `x.toml`, and a module, `trap`, which makes a file if it is loaded."""
    folder = tmp_path_factory.mktemp("t")  # a short name
    shutil.copy(GAMES / "cross.toml", folder / "x.toml")
    (folder / "trap.py").write_text(f"open({str(folder / 'sprung')!r}, 'w')\nclass Game: pass\nclass Player: pass\n")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.chdir(folder)
    return server, folder


def test_a_game_that_is_a_file_or_code_is_refused_and_not_opened(trapped: tuple[InProcess, Path]) -> None:
    served, folder = trapped
    names = [
        f"{folder}/x.toml", f"{folder}/x.toml,misere", f"{folder}/", "../x.toml", "x.toml", " x.toml ", "file://x.toml",
        "/etc/passwd", "../../etc/passwd", "trap:Game", " trap:Game", "trap:Game ", "trap:Game,misere",
        "trap", "os:system", "os.path:join", "builtins:eval", "nim:Nim", "~/x", "x\0.toml", "X.TOML", "..", "%2e%2e/x",
    ]  # fmt: skip
    for name in names:
        for answer in (
            served.get(f"/api/position?game={quote(name)}&board=16"),
            served.get(f"/api/puzzle?game={quote(name)}"),
            served.post("/api/positions", {"game": name, "boards": ["16"]}),
            served.post("/api/matches", {"game": name}),
        ):
            assert is_error(answer, 400, "bad-game"), name
            assert "toml" not in name or "is served" in answer.json["message"], "it was not read"
        answer = served.get(f"/api/games/{quote(name, safe='')}")
        assert is_error(answer, 404, "not-found" if "/" in name else "no-game"), name
    assert not (folder / "sprung").exists()


def test_a_player_that_is_code_or_none_is_refused_and_not_loaded(trapped: tuple[InProcess, Path]) -> None:
    served, folder = trapped
    for player in ("trap:Player", " trap:Player ", "os:system", "builtins:exec", "oracle:11", "oracle:-1", "", "\0"):
        for players in ({"X": "human", "O": player}, {"X": player}, {"X": player, "O": player}):
            assert is_error(served.post("/api/matches", {"players": players}), 400, "bad-player"), player
    assert not (folder / "sprung").exists()


@pytest.mark.parametrize(
    "game",
    ["21,20,5", "1,401,3", "401,1,3", "100,100,5", "1000,1000,5", "1001,1000,5", "10000,1,3", "9999999,9999999,9"],
)
def test_of_a_board_of_more_than_400_cells_nothing_is_known_and_a_million_is_the_most(
    game: str, server: InProcess
) -> None:
    for answer in (
        server.get(f"/api/position?game={game}&board=1"),
        server.get(f"/api/puzzle?game={game}"),
        server.post("/api/positions", {"game": game, "boards": ["1"]}),
    ):
        assert is_error(answer, 400, "bad-game")
    rows, columns, _ = map(int, game.split(","))
    if rows * columns > 1_000_000 or rows == 10_000:
        assert is_error(server.get(f"/api/games/{game}"), 404, "no-game")
        assert is_error(server.post("/api/matches", {"game": game}), 400, "bad-game")
    else:
        assert server.get(f"/api/games/{game}").json["cells"] == rows * columns
        assert server.post("/api/matches", {"game": game}).status == 201
    assert server.get("/api/games/20,20,5").json["cells"] == 400


def test_a_board_to_begin_from_is_one_that_a_game_reaches(server: InProcess) -> None:
    for board in ("XX../..../..../....", "XXXX/OOOO/..../....", "", "9" * 2000, "hello", "\0"):
        assert is_error(server.post("/api/matches", {"board": board}), 400, "bad-board")
    assert is_error(server.post("/api/matches", {"board": "1" * 2001}), 400, "bad-body")


@pytest.mark.parametrize("ident", [
    "0123456789abcdef", "0", "x", "0123456789abcde", "0123456789abcdef0", "%00", "secret", "7365637265740000", "..%00",
    "ff" * 8, "00" * 8, "a" * 1000, "%F0%9F%98%80", "0123456789abcdeg", "-1", "%20",
])  # fmt: skip
def test_a_match_that_is_not_there_is_not_found(ident: str, server: InProcess) -> None:
    for answer in (
        server.get(f"/api/matches/{ident}"),
        server.get(f"/api/matches/{ident}/events"),
        server.get(f"/api/matches/{ident}/review"),
        server.post(f"/api/matches/{ident}/moves", {"version": 0, "id": "1", "move": "a1"}, "token"),
        server.post(f"/api/matches/{ident}/rematch", {}, "token"),
    ):
        assert is_error(answer, 404, "no-match")


FILES = [file for file in sorted(Path(pages.__path__[0]).iterdir()) if not file.name.startswith("__")]


@pytest.mark.parametrize(
    "file", [file for file in FILES if file.suffix in (".html", ".svg")], ids=lambda each: each.name
)
def test_a_page_has_no_script_or_style_in_its_text_and_loads_nothing_from_elsewhere(file: Path) -> None:
    text = file.read_text()
    assert not re.findall(r"<(?:script|style)[^>]*>\s*[^<\s]|<[^>]*\s(?:on\w+|style)\s*=", text, re.I)
    for address in re.findall(r"\b(?:src|href|action|srcset|data|formaction)\s*=\s*[\"']?([^\"'\s>]*)", text, re.I):
        assert re.match(r"/(?!/)|#|data:image/", address), address


@pytest.mark.parametrize("file", [file for file in FILES if file.suffix in (".js", ".css")], ids=lambda each: each.name)
def test_a_script_or_stylesheet_does_nothing_that_the_policy_forbids(file: Path) -> None:
    text = file.read_text()
    assert not re.findall(r"\beval\(|new Function|javascript:|document\.write|setAttribute\([\"']style|@import", text)
    assert not re.findall(r"(?:https?:)?//[\w-]+\.[\w.-]+", re.sub(r"http://www\.w3\.org/\S*", "", text))


@pytest.mark.parametrize("path", [*PAGES, *(f"/static/{file.name}" for file in FILES)])
def test_a_page_lets_nothing_foreign_in(path: str, server: InProcess) -> None:
    for method in ("GET", "HEAD"):
        answer = server.ask(method, path)
        assert answer.status == 200
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
        assert policy.pop("img-src") == "'self' data:"
        assert {name for name, value in policy.items() if value == "'none'"} == {
            "default-src", "base-uri", "form-action", "frame-ancestors",
        }  # fmt: skip
        own = {name for name, value in policy.items() if value == "'self'"}
        assert own == {"script-src", "style-src", "connect-src"}
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-opener-policy"] == "same-origin"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_what_is_not_a_page_of_ours_is_not_sent_as_one(server: InProcess) -> None:
    for path in ("/api/games", "/nothing", POSITION, "/api/openapi.json"):
        assert server.get(path).headers["content-type"] == "application/json"


WORDS = [
    "4,4,4", "3,3,3", "X.../.O../..../....", "16", "a1", "b2+c3", "human", "oracle:3", "X", "", "\0", "%", "../", "💥",
    "-1", "NaN", "9" * 400, "x" * 3000, "\ud7ff", "%2e%2e%2f", "';--", "<script>", "os:system", "win",
]  # fmt: skip
VALUES = [*WORDS, None, True, -1, 10**40, -1e308, 0.1, float("nan"), float("inf"), [], {}, [["16"]], {"X": {}}]
READ = ["position", "games", "games/4,4,4", "puzzle", "openapi.json", "{match}", "{match}/review", "matches/0", "none"]
POSTED = ["positions", "matches", *(f"{{match}}/{step}" for step in ("moves", "undo", "resign", "rematch"))]
HEADERS = [
    "Host: evil.example", "Origin: http://evil.example", "Content-Type: text/plain", "Accept-Encoding: gzip, \xff",
    "If-None-Match: *", "Authorization: Bearer x", "Authorization: \xe4", "Cookie: " + "a" * 9000, "Range: bytes=0-1",
    "Expect: 100-continue", "Upgrade: websocket", "X-Forwarded-For: 1.2.3.4", "Last-Event-ID: 1e9", "Content-Length: 3",
]  # fmt: skip
GOOD: list[dict[str, Any]] = [
    {"game": "4,4,4", "boards": ["16"]}, {"game": "4,4,4", "players": {}}, {"version": 1, "id": "1", "move": "a1"},
]  # fmt: skip


def hostile(rng: random.Random, match: Any) -> bytes:
    """Return a request of some wrong kinds; it may have a token of a match, whose move it never is."""
    if rng.random() < 0.05:
        return rng.choice([*RAW.values(), rng.randbytes(rng.randrange(1, 500)) + b"\r\n\r\n"])
    method = rng.choice(["GET"] * 7 + ["POST"] * 11 + ["PUT", "OPTIONS"])
    path = f"/api/{rng.choice(READ if method == 'GET' else POSTED)}".replace("{match}", f"matches/{match['id']}")
    names = ("game", "board", "moves", "seed", "date", "stars", "outcome", "\xe4", "")
    words = [f"{rng.choice(names)}={quote(rng.choice(WORDS))}" for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]
    target = f"{path}?{'&'.join(words)}" if words and (method == "GET" or rng.random() < 0.1) else path
    good = {name: value if rng.random() < 0.6 else rng.choice(VALUES) for name, value in rng.choice(GOOD).items()}
    wrong = rng.choice([*WRONG_BODIES, b" " * (MOST_BYTES + 1), rng.randbytes(200)])
    body = b"" if method == "GET" else json.dumps(good).encode() if rng.random() < 0.7 else wrong
    headers = [rng.choice(HEADERS)] if rng.random() < 0.2 else []
    headers += ["Content-Type: application/json"] if rng.random() < 0.9 else []
    headers += [f"Authorization: Bearer {match['tokens']['X']}"] if rng.random() < 0.8 else []
    host = "127.0.0.1" if rng.random() < 0.97 else rng.choice(["evil.example", "", "localhost:x", "\xff"])
    if rng.random() < 0.1:
        return request(method, target, *headers, "Transfer-Encoding: chunked", host=host) + chunked(body or b"x", 7000)
    return request(method, target, *headers, f"Content-Length: {len(body)}", host=host) + body


@pytest.mark.parametrize(("seed", "count"), [(2, 150), pytest.param(2, 5_000, marks=pytest.mark.slow)])
def test_hostile_requests_do_no_harm(seed: int, count: int, serve: Callable[..., InProcess], store4: Path) -> None:
    served, rng = serve(store=str(store4), seconds=0.05), random.Random(seed)
    match, before, statuses = served.begin(), served.get(POSITION).body, set()
    for number in range(count):
        data = hostile(rng, match)
        answer = served.raw(data)
        statuses.add(answer.status)
        assert answer.status < 500, (number, data[:500], answer)
        assert answer.status < 400 or is_error(answer, answer.status), (number, data[:500], answer)
    assert statuses >= {200, 201, 400, 401, 403, 404, 405, 413, 415, 421}
    assert served.said == ""
    assert served.get(POSITION).body == before
    assert served.state_of(match)["version"] == 0
