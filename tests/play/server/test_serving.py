"""`ttt4-play serve` as a command: how it starts and ends, what it loads, what it says of files that it cannot use."""

import asyncio
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from asgi import InProcess
from commands import Ran, run_command
from sessions import refused
from web import SERVE, Served, read_answer

from play.cli.main import main
from play.server import serving
from play.server.app import App
from solver.games.rules import Rules

ONE = "/api/position?board=X.../.O../..../...."
LISTING = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from {} import main
main()
"""
OF_THE_WEB = {"uvicorn", "msgspec", "uvloop", "httptools", "asyncio", "play.server", "play.pages"}
SIGNALS = [(signal.SIGINT, "Interrupted."), (signal.SIGTERM, "Terminated."), (signal.SIGHUP, "Hung up.")]
Start = Callable[..., tuple[Ran, list["Began"]]]


class Began(NamedTuple):
    """How `serve` would go on: the application, which address it opens, and which proxy it believes."""

    app: App
    open_at: str | None
    proxy: str | None


@pytest.fixture
def start(tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start the command in this process, in an empty folder, on any port and with a state folder of the test's own.

    It ends where the server would begin to run.
    """
    (tmp_path / "nowhere").mkdir()
    monkeypatch.chdir(tmp_path / "nowhere")
    began: list[Began] = []

    def run(
        app: App, listening: socket.socket, *, ready: Callable[[], None], open_at: str | None, proxy: str | None
    ) -> None:
        ready()
        began.append(Began(app, open_at, proxy))
        listening.close()
        app.log.close()

    monkeypatch.setattr("play.server.serving.run", run)

    def starting(*options: object, **environment: str) -> tuple[Ran, list[Began]]:
        rooms = {f"XDG_{room.upper()}_HOME": str(tmp_path / room) for room in ("state", "data")}
        own = {**rooms, "TTT4_STORE": str(store4), **environment}
        return run_command(main, "serve", "--port", 0, *options, **own), began

    return starting


def test_all_it_says_is_one_line_with_its_address_and_it_opens_that_if_asked(start: Start) -> None:
    for options, opened in (((), False), (("--open",), True)):
        ran, began = start(*options)
        address = re.fullmatch(r"ttt4 is at (http://127\.0\.0\.1:\d+) \(Ctrl-C ends it\)\n", ran.stdout)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert address
        assert began[-1].open_at == (address[1] if opened else None)


def test_what_the_options_say_reaches_the_application(
    start: Start, nim: Rules[Any], tmp_path: Path, store4: Path
) -> None:
    options = (
        "--game", "nim:Nim", "--limit", 3, "--allow-host", "a.example", "--allow-host", "b.example", "--time", 7,
        "--matches", 77, "--store", store4, "--host", "127.0.0.2", "--proxy", "2001:DB8::0001",
    )  # fmt: skip
    ran, ((app, _, proxy),) = start(*options)
    assert proxy == "2001:db8::1"
    assert "http://127.0.0.2:" in ran.stdout
    assert list(app.desk.own) == ["nim:Nim"]
    assert app.desk.settings == (str(store4), False, 7.0)
    assert app._hosts == {"localhost", "127.0.0.2", "a.example", "b.example"}
    assert "may ask for 3 units a second" in app.api.allowance.described
    assert app.log.most_of_one == 77
    assert app.log.path == str(tmp_path / "state" / "ttt4" / "matches.sqlite")
    ran, (_, (app, _, proxy)) = start("--live")
    assert proxy is None
    assert app.desk.settings == (None, True, 2.0)
    assert "the server's own machine are free" in app.api.allowance.described


def test_a_run_that_cannot_be_served_is_one_line(start: Start, tmp_path: Path) -> None:
    ran, _ = start("--run", tmp_path)
    assert refused(ran, 2, "no run in ")


def test_when_it_runs_it_opens_its_address_and_lets_the_server_have_its_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[Any] = []
    soon = SimpleNamespace(
        Timer=lambda after, act, given: SimpleNamespace(start=lambda: (happened.append(after), act(*given)))
    )
    monkeypatch.setattr(serving, "threading", soon)
    monkeypatch.setattr(serving.webbrowser, "open", happened.append)
    monkeypatch.setattr(serving.gc, "freeze", lambda: None)
    monkeypatch.setattr(serving, "_allow_files", lambda: happened.append("files"))
    server = SimpleNamespace(run=lambda sockets: happened.append(sockets), handling_signals=nullcontext)
    monkeypatch.setattr(serving, "server_of", lambda *given: {("app", "10.0.0.1"): server}[given])
    listening: Any = "socket"
    serving.run("app", listening, ready=lambda: happened.append("ready"), open_at="http://here", proxy="10.0.0.1")
    assert happened == ["files", 0.3, "http://here", "ready", ["socket"]]


@pytest.mark.parametrize(
    ("proxy", "client", "forwarded", "address"),
    [
        (None, "127.0.0.1", "192.0.2.1", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", "192.0.2.1", "192.0.2.1"),
        ("127.0.0.1", "127.0.0.1", "127.0.0.1, 192.0.2.9, 192.0.2.1", "192.0.2.1"),  # its sender has made up the rest
        ("127.0.0.1", "127.0.0.1", "2001:db8::1", "2001:db8::1"),
        ("127.0.0.1", "127.0.0.1", "", "127.0.0.1"),
        ("127.0.0.1", "192.0.2.2", "192.0.2.1", "192.0.2.2"),
        ("2001:db8::5", "2001:db8::5", "192.0.2.1", "192.0.2.1"),
    ],
)
def test_only_the_proxy_is_believed_and_only_the_last_address_that_it_names(
    proxy: str | None, client: str, forwarded: str, address: str
) -> None:
    asked: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append(scope["client"][0])

    config = serving.server_of(app, proxy).config
    config.load()
    headers = [(b"x-forwarded-for", forwarded.encode())]
    given: Any = {"type": "http", "client": (client, 5), "headers": headers}
    asyncio.run(config.loaded_app(given, None, None))  # type: ignore[arg-type]  # it neither reads nor writes
    assert asked == [address]


def test_an_address_that_is_not_this_machine_s_has_only_so_many_connections(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    served = serve()
    request = b"GET /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    port = served.port

    def statuses(count: int) -> list[int]:
        async def asking() -> list[int]:
            opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(count)]
            answers = []
            for reader, writer in opened:
                writer.write(request)
                answers.append((await read_answer(reader)).status)
                await reader.read()
                writer.close()
            return answers

        return served.run(asking())

    monkeypatch.setattr(serving, "MOST_CONNECTIONS", 3)
    assert statuses(5) == [200] * 5
    monkeypatch.setattr(serving, "is_loopback", lambda address: False)
    assert statuses(5) == [200] * 3 + [503] * 2
    assert statuses(3) == [200] * 3, "those that are closed count no more"
    assert not serving._Protocol._open


def test_a_signal_that_comes_before_the_server_runs_is_handled_by_it_and_then_by_whoever_would_have() -> None:
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, frame: came.append(number)) for number, _ in SIGNALS}
    try:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        server = serving.server_of(None)
        with server.handling_signals():
            signal.raise_signal(signal.SIGTERM)
            assert not server.should_exit, "the parent process ignores it"
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGINT)
            assert server.should_exit
            assert came == []
        signal.raise_signal(signal.SIGINT)
        assert came == [signal.SIGHUP], "no other is heeded any more"
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def test_that_an_ending_server_waits_for_no_search_is_not_logged_but_errors_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    log = logging.getLogger("uvicorn.error")
    monkeypatch.setattr(log, "filters", [])
    serving.server_of(None)
    logged: list[str] = []
    handler: Any = SimpleNamespace(level=logging.ERROR, handle=lambda record: logged.append(record.getMessage()))
    monkeypatch.setattr(log, "handlers", [handler])
    monkeypatch.setattr(log, "propagate", False)
    log.error("Cancel %s running task(s), timeout graceful shutdown exceeded", 2)  # as uvicorn says it
    log.error("Exception in ASGI application: %s", "Cancel ")
    assert logged == ["Exception in ASGI application: Cancel "]


# As a process


def connected(port: int, path: str) -> socket.socket:
    """Ask for something on a connection of its own."""
    connection = socket.create_connection(("127.0.0.1", port), timeout=60)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    return connection


@pytest.mark.parametrize(("number", "line"), SIGNALS)
@pytest.mark.parametrize("searching", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_signal_ends_it_with_one_line_whoever_asks_or_follows_and_all_matches_come_back(
    searching: bool, number: signal.Signals, line: str, serve_process: Callable[..., Served], tmp_path: Path
) -> None:
    served = serve_process("--time", "300")
    match = served.begin("6,7,4", **({"O": "search"} if searching else {}))
    here = f"/api/matches/{match['id']}"
    made = served.move(match, "X", 0, "d3").json  # and O may search
    asking = [connected(served.port, "/api/position?game=9,9,5&board=81")] if searching else []
    idle = connected(served.port, ONE)
    following = [connected(served.port, f"{here}/events") for _ in range(10)]
    for connection in (idle, *following):
        assert connection.recv(15) == b"HTTP/1.1 200 OK"  # by now it may search, too
    assert served.end(number, within=60) == 128 + number, "it does not wait for a search"
    assert (served.process.stdout.read(), served.said) == ("", f"{line}\n")
    assert all(connection.recv(15) == b"HTTP/1.1 503 Se" for connection in asking)
    for connection in following:
        while connection.recv(65536):
            pass
    for connection in (*asking, idle, *following):
        connection.close()
    with InProcess(tmp_path / "state", live=True) as back:
        assert back.get(here).json["events"][0]["time"] == made["time"]


@pytest.mark.parametrize(("number", "line"), SIGNALS)
def test_of_several_signals_the_first_ends_it_with_one_line(
    number: signal.Signals, line: str, serve_process: Callable[..., Served]
) -> None:
    served = serve_process()
    following = connected(served.port, f"/api/matches/{served.begin()['id']}/events")
    assert following.recv(15) == b"HTTP/1.1 200 OK"
    served.process.send_signal(number)
    while following.recv(65536):  # it ends the stream once it has begun to end
        pass
    for other in (*(each for each, _ in SIGNALS), number):
        served.process.send_signal(other)
    assert served.process.wait(60) == 128 + number
    assert served.said == f"{line}\n"
    following.close()


@pytest.mark.parametrize(("number", "line"), SIGNALS)
def test_a_signal_while_it_starts_ends_it_in_the_same_way(
    number: signal.Signals, line: str, tmp_path: Path, store4: Path
) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TTT4_STORE": str(store4)}
    with subprocess.Popen([*SERVE, "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment) as process:
        while "uvloop" not in Path(f"/proc/{process.pid}/maps").read_text():  # it has begun to load the web
            assert process.poll() is None
            time.sleep(0.001)
        process.send_signal(number)
        try:
            assert process.communicate(timeout=60)[1] == f"{line}\n"
        finally:
            process.kill()
    assert process.returncode == 128 + number


def test_a_signal_that_the_parent_process_ignores_does_not_end_it(
    serve_process: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.SERVE", ["nohup", *SERVE])
    served = serve_process()
    served.process.send_signal(signal.SIGHUP)
    assert served.get(ONE).status == 200
    assert served.end(signal.SIGTERM, within=60) == 143


def test_without_a_store_it_says_how_to_have_one_and_searches(serve_process: Callable[..., Served]) -> None:
    served = serve_process("--time", "0.05", TTT4_STORE="")
    assert served.get("/api/position?game=3,3,3&board=9").json["source"] == "search"
    assert served.end() == 130
    assert served.said.splitlines() == [
        "No store of 4,4,4: searching live. For answers at once: ttt4-solve build", "Interrupted.",
    ]  # fmt: skip


# What it cannot use


def test_a_port_that_is_taken_is_one_line(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran, _ = start("--port", port)
        assert refused(ran, 1, "127.0.0.1", str(port), "Address already in use")


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_that_is_not_this_machine_s_is_one_line(host: str, start: Start) -> None:
    assert refused(start("--host", host)[0], 1, f"cannot listen on {host}, port 0: ")


@pytest.mark.parametrize(
    "wrong",
    [
        "--port 65536",
        "--limit 0",
        "--limit nan",
        "--limit inf",
        "--time -1",
        "--proxy localhost",
        "--game none:No",
        "more",
    ],
)
def test_wrong_usage_ends_with_2(wrong: str, start: Start) -> None:
    ran, began = start(*wrong.split())
    assert (ran.returncode, ran.stdout, began) == (2, "", [])
    assert ran.stderr.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize(
    ("host", "nearest"), [("::1", "::1"), ("localhost", "localhost"), ("0.0.0.0", "127.0.0.1"), ("::", "::1")]
)
def test_it_listens_where_it_is_told_to_and_says_an_address_of_this_machine(host: str, nearest: str) -> None:
    try:
        listening, address = serving.listen(host, 0)
    except serving.CannotListen:
        pytest.skip(f"this machine has no {host}")
    with listening:
        port = listening.getsockname()[1]
        assert address == f"http://{f'[{nearest}]' if ':' in nearest else nearest}:{port}"
        socket.create_connection((nearest, port), timeout=30).close()


@pytest.mark.parametrize(
    "command",
    ["oracle.cli.main 16 --json", "oracle.cli.main 9 --game 3,3,3 --live", "play.cli.main", "play.cli.main games"],
)
def test_other_commands_load_nothing_of_the_web(command: str, tmp_path: Path, store4: Path) -> None:
    module, *arguments = command.split()
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TTT4_STORE": str(store4)}
    listing = [sys.executable, "-c", LISTING.format(module), *arguments]
    ran = subprocess.run(listing, input="b2\nquit\n", capture_output=True, text=True, env=environment)
    loaded = set(ran.stderr.splitlines()[-1].split())
    assert module in loaded, ran.stderr
    assert not {name for name in loaded if any(name == each or name.startswith(f"{each}.") for each in OF_THE_WEB)}


def test_a_state_folder_that_cannot_be_made_is_one_line(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for state in (tmp_path / "file", Path("/proc/none")):
        assert refused(start(XDG_STATE_HOME=str(state))[0], 1, f"'{state}/ttt4/matches.sqlite'")


@pytest.mark.parametrize(
    ("below", "why"), [("", "Permission denied"), ("matches.sqlite", "")], ids=["closed", "folder"]
)
def test_matches_that_cannot_be_written_are_one_line(below: str, why: str, start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "ttt4"
    (folder / below).mkdir(parents=True)
    if not below:
        folder.chmod(0o500)
        if os.access(folder, os.W_OK):
            pytest.skip("whoever runs this may write anywhere")
    assert refused(start()[0], 1, f"'{folder}/matches.sqlite'", why)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """The file of some matches, whose server has ended."""
    with InProcess(tmp_path / "state", live=True) as served:
        for _ in range(5):
            served.play(served.begin(), ["a1", "b1", "c1"])
    return tmp_path / "state" / "ttt4" / "matches.sqlite"


@pytest.mark.parametrize("content", [b"dear diary\n" * 1000, bytes(1 << 16), b"x"], ids=["text", "zeros", "x"])
def test_a_file_that_never_held_matches_is_named_and_kept(content: bytes, start: Start, tmp_path: Path) -> None:
    file = tmp_path / "state" / "ttt4" / "matches.sqlite"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    assert refused(start()[0], 4, f"'{file}'", "cannot be read", "move the file away")
    assert file.read_bytes() == content


@pytest.mark.parametrize("size", [4096 + 100, 2 * 4096])
def test_a_file_that_was_cut_short_is_named_and_kept(size: int, start: Start, kept: Path) -> None:
    content = kept.read_bytes()[:size]
    kept.write_bytes(content)
    assert refused(start()[0], 4, f"'{kept}'", "cannot be read", "move the file away")
    assert kept.read_bytes() == content


def test_a_file_of_which_parts_are_damaged_is_named_and_served(start: Start, kept: Path) -> None:
    whole = kept.read_bytes()
    pages = len(whole) // 4096
    for content, line in (
        (whole.replace(b'"move": "b1"', b'"move": "b3"', 1), r"match \w{16} is damaged after event 1 in '.*'; .* all"),
        (
            whole[: 3 * 4096] + bytes(4096 * (pages - 3)),
            r"the file .* is damaged \(.*\): no move is kept in it; .* repair it",
        ),
    ):
        kept.write_bytes(content)
        ran, _ = start()
        assert ran.returncode == 0
        assert re.search(rf"^Error: {line}", ran.stderr), ran.stderr
        assert kept.read_bytes() == content
    kept.write_bytes(whole)
    ran, _ = start()
    assert (ran.returncode, ran.stderr.count("damaged")) == (0, 0)


def test_matches_that_were_moved_away_are_begun_anew(start: Start, kept: Path) -> None:
    kept.rename(kept.with_name("old"))
    assert start()[0].returncode == 0
    assert kept.stat().st_mode & 0o777 == 0o600, "they hold the keys that all tokens follow from"


# Games of the operator's own, and stores


def test_a_game_of_one_s_own_is_offered_if_it_is_named_at_the_start_and_has_no_positions_to_look_up(
    serve: Callable[..., InProcess], server: InProcess, nim: Rules[Any]
) -> None:
    served = serve(own=[nim])
    assert {"name": "nim:Nim", "cells": None, "about": "", "store": False} in served.get("/api/games").json
    assert served.get("/api/games/nim:Nim").json == {"name": "nim:Nim", "sides": ["X", "O"], "cells": None}
    assert server.get("/api/games/nim:Nim").error == (404, "no-game")
    for ask in (
        lambda each: each.get("/api/position?game=nim:Nim&board=7"),
        lambda each: each.get(f"/api/position?game={quote('nim:Nim', safe='')}&moves=1"),
        lambda each: each.get("/api/puzzle?game=nim:Nim"),
        lambda each: each.post("/api/positions", {"game": "nim:Nim", "boards": ["7 X"]}),
    ):
        assert ask(served).error == ask(server).error == (400, "bad-game")
        assert "only games on a board have positions to look up, and nim:Nim is not" in ask(served).json["message"]
    assert server.post("/api/matches", {"game": "nim:Nim"}).error == (400, "bad-game")
    assert served.said == ""


def test_damage_to_a_store_is_a_failure_of_which_the_server_s_log_says_more(
    serve: Callable[..., InProcess], store4: Path, tmp_path: Path
) -> None:
    store = tmp_path / "4x4x4.ttt4"
    store.write_bytes(store4.read_bytes())
    served = serve(store=str(store))
    good = served.get(ONE)
    with store.open("r+b") as file:  # which is open in the server
        file.seek(2 * 4096)
        file.write(bytes(store.stat().st_size - 3 * 4096))
    boards = [f"{'.' * cell}X{'.' * (15 - cell)}" for cell in range(16)] + ["XOXOXO10", "8XOXOXO2"]
    singles = [served.get(f"/api/position?board={board}") for board in boards]
    failed = [answer.json for answer in singles if answer.status == 500]
    assert failed
    assert {answer.status for answer in singles} <= {200, 500}
    batch = served.post("/api/positions", {"boards": boards}).json
    assert batch == [answer.json for answer in singles], "the others of a batch are answered"
    for error in failed:
        assert error == {
            "error": "store-damaged", "message": "the store of this game cannot be used; the server's log says why",
            "statusCode": 500,
        }  # fmt: skip
    assert f"Error: store '{store}' is damaged: " in served.said
    assert f"; rebuild it: ttt4-solve build --store {store} --force\n" in served.said
    assert "Traceback" not in served.said
    assert served.get(ONE).body == good.body, "what was answered before is kept"
    assert served.get("/api/games").status == 200
    assert served.get("/api/position?game=3,3,3&board=9").json["source"] == "search"


def test_a_store_that_is_cut_short_is_a_failure_until_it_is_repaired(
    serve: Callable[..., InProcess], store4: Path, tmp_path: Path
) -> None:
    store = tmp_path / "4x4x4.ttt4"
    store.write_bytes(store4.read_bytes()[:20_000])
    served = serve(store=str(store))
    for path in (ONE, "/api/games/4,4,4", "/api/puzzle"):
        answer = served.get(path)
        assert answer.error == (500, "store-damaged")
        assert str(tmp_path) not in answer.json["message"]
    assert str(store) in served.said
    assert "--force" in served.said
    (tmp_path / "whole").write_bytes(store4.read_bytes())
    (tmp_path / "whole").rename(store)
    assert served.get(ONE).json["source"] == "store"
