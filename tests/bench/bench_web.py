"""The server beside a constant answer from the same server, and beside the oracle alone.

    python tests/bench/bench_web.py [ROUNDS]

needs `wrk`. It serves 4,4,4 from a store of its own, on loopback, and prints medians of interleaved rounds:

    cached      the rate of one look-up that is kept, over that of constant bytes of the same length
    p99         the same for the slowest hundredth, with 32 connections
    uncached    the server's processor time for a look-up asked for the first time, over that of analysis and JSON alone
    batch       its processor time for a board in batches of 64, over that of single look-ups; both kept
    searching   the p99 of kept look-ups while a live search runs, over that without
"""

import http.client
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from measuring import drawn
from web import Served

from oracle.oracle import Oracle
from solver.games.lines import grid
from solver.proof.build import build_store

GAME = grid(4, 4, 4)
BOARD = "X.../.O../..../...."
LOOKUP = f"/api/position?game=4,4,4&board={BOARD}"
SECONDS, CONNECTIONS, BOARDS, BATCH = 2, 32, 4000, 64
CONSTANT = """
import sys
from play.server.app import App
from solver.start import play

answer = App.__call__

async def constant(self, scope, receive, send):
    if scope.get("path") != "/constant":
        return await answer(self, scope, receive, send)
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": BODY})

BODY = b"x" * int(sys.argv.pop(1))
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(BODY))]
App.__call__ = constant
play()
"""


class Measured(Served):
    """A server that gives a constant answer too."""

    def command(self) -> list[str]:
        with Oracle(GAME, os.environ["TTT4_STORE"]) as oracle:
            size = len(oracle.analysis(BOARD).as_json())
        return [sys.executable, "-c", CONSTANT, str(size), "serve"]


def load(server: Served, path: str) -> tuple[float, float]:
    """Return requests a second and the p99 in milliseconds."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", f"{server.url}{path}"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in said, said
    number, unit = re.search(r"99%\s+([\d.]+)(us|ms|s)", said).groups()
    return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1]), float(number) * {"us": 1e-3, "ms": 1, "s": 1e3}[unit]


def boards_of(count: int, seed: int) -> list[str]:
    """Return different boards of random games that go on."""
    rng, found = random.Random(seed), {}
    while len(found) < count:
        found[str(drawn(GAME, rng, rng.randrange(1, 15)))] = None
    return list(found)


def asking(server: Served, requests: list[tuple[str, str, Any]]) -> float:
    """Return the server's processor time for requests on one connection, in seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    before = server.seconds()
    for method, path, body in requests:
        data = None if body is None else json.dumps(body)
        connection.request(method, path, data, {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert response.status == 200, response.read()
        response.read()
    spent = server.seconds() - before
    connection.close()
    return spent


def first_asked(server: Served, boards: list[str]) -> float:
    """Return the server's processor time for boards that it was not asked for, on many connections, in seconds."""

    def some(part: list[str]) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        for board in part:
            connection.request("GET", f"/api/position?game=4,4,4&board={board}")
            connection.getresponse().read()

    before = server.seconds()
    threads = [threading.Thread(target=some, args=(boards[at::8],)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return server.seconds() - before


def alone(boards: list[str]) -> float:
    """Return the processor time that analysis and JSON of boards take, in seconds."""
    with Oracle(GAME, os.environ["TTT4_STORE"]) as oracle:
        oracle.analysis(BOARD)
        before = time.process_time()
        for board in boards:
            oracle.analysis(board).as_json()
        return time.process_time() - before


def measured(server: Served, number: int) -> dict[str, float]:
    """Return the ratios of one round."""
    constant, lookup = load(server, "/constant"), load(server, LOOKUP)
    boards = boards_of(BOARDS, number)
    single = [("GET", f"/api/position?game=4,4,4&board={board}", None) for board in boards]
    uncached = first_asked(server, boards) / alone(boards)
    kept = asking(server, single)
    batches = [
        ("POST", "/api/positions", {"game": "4,4,4", "boards": boards[at : at + BATCH]})
        for at in range(0, BOARDS - BATCH + 1, BATCH)
    ]
    in_batches = asking(server, batches * 4) / 4 * BOARDS / (len(batches) * BATCH)
    searching = threading.Thread(target=search, args=(server, number))
    searching.start()
    time.sleep(0.2)
    during = load(server, LOOKUP)
    searching.join()
    return {
        "cached": lookup[0] / constant[0], "p99": lookup[1] / constant[1], "uncached": uncached,
        "batch": in_batches / kept, "searching": during[1] / lookup[1],
        "requests a second": lookup[0], "p99 in ms": lookup[1], "p99 in ms, searching": during[1],
        "us a kept look-up": kept / BOARDS * 1e6, "us a board in batches": in_batches / BOARDS * 1e6,
    }  # fmt: skip


def search(server: Served, number: int) -> None:
    """Let the server search for about as long as wrk runs."""
    until = time.monotonic() + SECONDS
    for each in range(20):
        if time.monotonic() < until:
            row = "." * (each % 7) + "X" + "." * (6 - each % 7)
            server.get(
                f"/api/position?game={6 + number % 3},7,4&board={'/'.join([row] + ['.' * 7] * (5 + number % 3))}"
            )


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TTT4_STORE"] = store = str(Path(folder) / "4x4x4.ttt4")
        build_store(GAME, store, jobs=2)
        with Measured(Path(folder) / "state") as server:
            load(server, "/constant")
            found = [measured(server, number) for number in range(rounds)]
            print(f"server memory {server.memory() / 1e6:.0f} MB")
    for name in found[0]:
        values = sorted(each[name] for each in found)
        print(f"{name:24} {median(values):8.3g}   {values[0]:.3g} to {values[-1]:.3g}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
