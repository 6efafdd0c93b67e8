"""`ttt4-play serve` as a command: how it starts and ends, what it loads, what it says of files that it cannot use."""

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from web import SERVE, Served

from play.cli.main import main

ONE = "/api/position?board=X.../.O../..../...."
LISTING = """
import atexit, sys
atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr))
from {} import main
main()
"""
OF_THE_WEB = {"uvicorn", "msgspec", "uvloop", "httptools", "asyncio", "play.server", "play.pages"}
Start = Callable[..., "subprocess.Popen[str]"]
Ran = Any  # what the fixture `run` returns: code, out, err


@pytest.fixture
def start(tmp_path: Path, store4: Path) -> Iterator[Start]:
    """Start the command in an empty folder, on any port and with a state folder of the test's own."""
    (tmp_path / "nowhere").mkdir()
    started: list[subprocess.Popen[str]] = []

    def starting(*options: object, **environment: str) -> "subprocess.Popen[str]":
        own = {
            "XDG_STATE_HOME": str(tmp_path / "state"),
            "XDG_DATA_HOME": str(tmp_path / "data"),
            "TTT4_STORE": str(store4),
        }
        started.append(
            subprocess.Popen(
                [*SERVE, "--port", "0", *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                env={**os.environ, **own, **environment}, cwd=tmp_path / "nowhere", start_new_session=True,
            )
        )  # fmt: skip
        return started[-1]

    yield starting
    for process in started:
        process.kill()
        process.communicate()


def port_of(process: "subprocess.Popen[str]") -> int:
    """Return the port in the line that a server begins with."""
    line = process.stdout.readline()
    assert line.startswith("ttt4 is at http://"), (line, process.communicate(timeout=30))
    assert line.endswith(" (Ctrl-C ends it)\n")
    return int(line.split()[3].rpartition(":")[2])


def refused(process: "subprocess.Popen[str]", code: int, *words: str) -> bool:
    """Whether a server did not start: an exit code, and one line on stderr that has all the words."""
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, len(err.splitlines())) == (code, "", 1), (process.returncode, out, err)
    assert err.startswith("Error: ")
    return all(word in err for word in words)


def first_line(host: str, port: int, path: str = ONE) -> bytes:
    """Return the first line of an answer."""
    named = f"[{host}]" if ":" in host else host
    with socket.create_connection((host, port), timeout=30) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {named}\r\nConnection: close\r\n\r\n".encode())
        return connection.recv(1 << 16).partition(b"\r\n")[0]


def test_all_it_says_is_one_line_with_its_address_at_which_it_answers(start: Start) -> None:
    process = start()
    assert first_line("127.0.0.1", port_of(process)) == b"HTTP/1.1 200 OK"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30) == ("", "Interrupted.\n")


@pytest.mark.parametrize(("number", "line"), [(signal.SIGINT, "Interrupted."), (signal.SIGTERM, "Terminated.")])
def test_a_signal_ends_it_with_one_line_and_the_signal_s_exit_code(
    number: signal.Signals, line: str, start: Start
) -> None:
    process = start("--time", "30")
    here = ("127.0.0.1", port_of(process))
    with socket.create_connection(here, timeout=30) as searching, socket.create_connection(here, timeout=30) as idle:
        searching.sendall(b"GET /api/position?game=9,9,5&board=81 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        idle.sendall(f"GET {ONE} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        assert idle.recv(15) == b"HTTP/1.1 200 OK"  # by now it searches, too
        began = time.monotonic()
        process.send_signal(number)
        assert process.communicate(timeout=30) == ("", f"{line}\n")
        assert searching.recv(15) == b"HTTP/1.1 503 Se"
    assert process.returncode == 128 + number
    assert time.monotonic() - began < 10, "it does not wait for a search"


def test_a_signal_while_it_starts_ends_it_in_the_same_way(start: Start) -> None:
    process, until = start(), time.monotonic() + 30
    while "uvloop" not in Path(f"/proc/{process.pid}/maps").read_text():  # it has begun to load the web
        assert time.monotonic() < until
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1] == "Interrupted.\n"
    assert process.returncode == 130


def test_a_port_that_is_taken_is_one_line(start: Start) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert refused(start("--port", port), 1, "127.0.0.1", str(port), "Address already in use")


@pytest.mark.parametrize("host", ["192.0.2.1", "no.such.host.invalid"])
def test_an_address_that_is_not_this_machine_s_is_one_line(host: str, run: Callable[..., Ran]) -> None:
    ran = run(main, "serve", "--port", 0, "--host", host)
    assert (ran.code, ran.out) == (1, "")
    assert re.fullmatch(rf"Error: cannot listen on {host}, port 0: .+\n", ran.err)


@pytest.mark.parametrize(
    "wrong",
    [
        "--port 65536",
        "--port x",
        "--limit 0",
        "--limit nan",
        "--limit inf",
        "--time -1",
        "--game none:No",
        "more",
        "--none",
    ],
)
def test_wrong_usage_ends_with_2(wrong: str, run: Callable[..., Ran]) -> None:
    ran = run(main, "serve", "--host", "192.0.2.1", *wrong.split())  # which would end it, too, but with 1
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[-1].startswith("Error: ")


@pytest.mark.parametrize("host", ["::1", "localhost", "0.0.0.0", "::"])
def test_it_listens_where_it_is_told_to(host: str, start: Start) -> None:
    try:
        socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError:
        pytest.skip(f"this machine has no {host}")
    port = port_of(start("--host", host))
    nearest = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    assert first_line(nearest, port) == b"HTTP/1.1 200 OK"


def test_open_opens_its_address_in_the_browser(start: Start, tmp_path: Path) -> None:
    browser, opened = tmp_path / "browser", tmp_path / "opened"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    browser.chmod(0o755)
    port = port_of(start("--open", BROWSER=f"{browser} %s"))
    until = time.monotonic() + 20
    while not opened.exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    assert opened.read_text() == f"http://127.0.0.1:{port}\n"


def test_help_names_every_option(run: Callable[..., Ran]) -> None:
    ran = run(main, "serve", "--help")
    assert (ran.code, ran.err) == (0, "")
    for option in ("--host", "--port", "--open", "--allow-host", "--limit", "--game", "--store", "--live", "--time"):
        assert option in ran.out
    assert "serve" in run(main, "--help").out


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("oracle.cli.main", ["X.../.O../..../....", "--json"]),
        ("oracle.cli.main", ["9", "--game", "3,3,3", "--live"]),
        ("play.cli.main", []),
        ("play.cli.main", ["games"]),
    ],
)
def test_other_commands_load_nothing_of_the_web(
    module: str, arguments: list[str], tmp_path: Path, store4: Path
) -> None:
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "TTT4_STORE": str(store4)}
    command = [sys.executable, "-c", LISTING.format(module), *arguments]
    ran = subprocess.run(command, input="b2\nquit\n", capture_output=True, text=True, env=environment)
    loaded = set(ran.stderr.splitlines()[-1].split())
    assert module in loaded, ran.stderr
    assert not {name for name in loaded if any(name == each or name.startswith(f"{each}.") for each in OF_THE_WEB)}


def test_without_a_store_it_says_how_to_have_one_and_searches(start: Start, tmp_path: Path) -> None:
    process = start("--time", "0.05", TTT4_STORE="")
    port = port_of(process)
    assert first_line("127.0.0.1", port) == b"HTTP/1.1 200 OK"
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=30)[1].splitlines() == [
        "No store of 4,4,4: searching live. For answers at once: ttt4-solve build", "Interrupted.",
    ]  # fmt: skip


def test_a_state_folder_that_cannot_be_made_is_one_line(start: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for state in (tmp_path / "file", Path("/proc/none")):
        assert refused(start(XDG_STATE_HOME=str(state)), 1, f"'{state}/ttt4/matches.lmdb'")


def test_a_state_folder_that_may_not_be_written_is_one_line(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "state" / "ttt4"
    folder.mkdir(parents=True)
    folder.chmod(0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("whoever runs this may write anywhere")
    assert refused(start(), 1, f"'{folder}/matches.lmdb'", "Permission denied")


def test_a_folder_in_place_of_the_matches_is_one_line(start: Start, tmp_path: Path) -> None:
    (tmp_path / "state" / "ttt4" / "matches.lmdb").mkdir(parents=True)
    assert refused(start(), 1, f"'{tmp_path}/state/ttt4/matches.lmdb'")


@pytest.fixture
def kept(tmp_path: Path, store4: Path) -> Path:
    """The file of some matches, whose server has ended."""
    with Served(tmp_path / "state", TTT4_STORE=str(store4)) as served:
        for _ in range(5):
            match = served.begin()
            for version, move in enumerate(["a1", "b1", "c1"]):
                served.move(match, "XO"[version % 2], version, move)
        served.end()
    return tmp_path / "state" / "ttt4" / "matches.lmdb"


def test_a_file_that_never_held_matches_is_named_and_kept(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "state" / "ttt4" / "matches.lmdb"
    file.parent.mkdir(parents=True)
    for content in (b"dear diary\n" * 1000, bytes(1 << 16), b"x"):
        file.write_bytes(content)
        assert refused(start(), 4, f"'{file}'", "cannot be read", "move the file away")
        assert file.read_bytes() == content


def test_damaged_matches_are_named_and_kept(start: Start, kept: Path) -> None:
    whole = kept.read_bytes()
    page = 4096
    rest = len(whole) - 2 * page
    for content in (
        whole[: page + 100], whole[: 2 * page], whole[:-1], whole[: 2 * page] + bytes(rest),
        whole[: 2 * page] + random.Random(2).randbytes(rest),
    ):  # fmt: skip
        kept.write_bytes(content)
        assert refused(start(), 4, f"'{kept}'", "cannot be read", "move the file away"), len(content)
        assert kept.read_bytes() == content
    kept.write_bytes(whole)
    assert port_of(start()) > 0


def test_matches_that_were_moved_away_are_begun_anew(start: Start, kept: Path) -> None:
    kept.rename(kept.with_name("old"))
    assert port_of(start()) > 0
    assert kept.stat().st_mode & 0o777 == 0o600, "they hold the secret that all tokens follow from"


def test_a_game_of_one_s_own_is_offered_and_has_no_positions_to_look_up(serve: Callable[..., Served]) -> None:
    served = serve("--game", "nim:Nim", PYTHONPATH=str(Path(__file__).parents[1]))
    nim = {"name": "nim:Nim", "cells": None, "about": "", "store": False}
    assert nim in served.get("/api/games").json
    assert served.get("/api/games/nim:Nim").json == {"name": "nim:Nim", "sides": ["X", "O"], "cells": None}
    for answer in (
        served.get("/api/position?game=nim:Nim&board=7"),
        served.get(f"/api/position?game={quote('nim:Nim', safe='')}&moves=1"),
        served.get("/api/puzzle?game=nim:Nim"),
        served.post("/api/positions", {"game": "nim:Nim", "boards": ["7 X"]}),
    ):
        assert (answer.status, answer.json["error"]) == (400, "bad-game")
        assert "only games on a board have positions to look up, and nim:Nim is not one" in answer.json["message"]
    refused = served.post("/api/matches", {"game": "nim:Nim", "players": {"O": "oracle"}})
    assert (refused.status, refused.json["error"]) == (400, "bad-player")
    match = served.begin("nim:Nim", O="random")
    assert (match["state"], match["legal"]) == ("7 X", ["1", "2", "3"])
    assert served.move(match, "X", 0, "3").json["state"] == "4 O"
    assert served.wait_for(match, 2)["to_move"] in ("X", None)
    assert served.said == ""


def test_a_game_of_one_s_own_is_served_only_if_it_is_named_at_the_start(serve: Callable[..., Served]) -> None:
    served = serve(PYTHONPATH=str(Path(__file__).parents[1]))
    assert served.get("/api/games/nim:Nim").status == 404
    for answer in (served.get("/api/position?game=nim:Nim&board=7"), served.post("/api/matches", {"game": "nim:Nim"})):
        assert (answer.status, answer.json["error"]) == (400, "bad-game")


def test_damage_to_a_store_is_a_failure_of_which_the_server_s_log_says_more(
    serve: Callable[..., Served], store4: Path, tmp_path: Path
) -> None:
    store = tmp_path / "4x4x4.ttt4"
    store.write_bytes(store4.read_bytes())
    served = serve("--store", str(store))
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


def test_a_store_that_is_cut_short_is_a_failure_too(serve: Callable[..., Served], store4: Path, tmp_path: Path) -> None:
    short = tmp_path / "short.ttt4"
    short.write_bytes(store4.read_bytes()[:20_000])
    served = serve(TTT4_STORE=str(short))
    for path in (ONE, "/api/games/4,4,4", "/api/puzzle"):
        answer = served.get(path)
        assert (answer.status, answer.json["error"]) == (500, "store-damaged")
        assert str(tmp_path) not in json.dumps(answer.json)
    assert str(short) in served.said
    assert "--force" in served.said


def test_a_store_that_is_repaired_answers_without_a_restart(
    serve: Callable[..., Served], store4: Path, tmp_path: Path
) -> None:
    path = tmp_path / "4x4x4.ttt4"
    path.write_bytes(store4.read_bytes()[:20_000])
    served = serve(TTT4_STORE=str(path))
    assert served.get(ONE).status == 500
    (tmp_path / "whole").write_bytes(store4.read_bytes())
    (tmp_path / "whole").rename(path)
    assert served.get(ONE).json["source"] == "store"
