"""Server-sent events: the whole match and then every step, for anybody, whatever is cut, stuck, killed or crowded."""

import asyncio
import json
import os
import random
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, suppress
from functools import cache
from itertools import pairwise
from pathlib import Path
from statistics import quantiles
from typing import Any

import pytest
import uvloop
from web import Answer, Event, Served, asked, events, serving

from play.server import events as streams
from play.server import serving as protocol
from play.server.app import App
from play.server.desk import Desk
from play.server.log import Log
from solver.games.registry import find_game

LONG = "20,20,5"
GIVEN_UP_AND_NOT = [b'{"event": "resigned", "side": "X"}', b'{"event": "took back"}']
SLOW = pytest.mark.slow


class Spectator:
    """Follows a match as a browser does: it comes back with the last id that it saw, whenever it is cut off."""

    def __init__(self, port: int, match: Any) -> None:
        self.port = port
        self.match = match["id"]
        self.last: int | None = None
        self.whole: list[Any] = []
        self.seen: dict[int, float] = {}
        self.steps: list[Any] = []
        self.cut = 0

    async def follow(self, until: int) -> None:
        """Follow until a version has come."""
        while self.last is None or self.last < until:
            with suppress(OSError, asyncio.IncompleteReadError):
                async with aclosing(events(self.port, self.match, self.last)) as coming:
                    async for event in coming:
                        self.take(event)
                        if self.last == until:
                            return
            self.cut += 1
            await asyncio.sleep(0.05)

    def take(self, event: Event) -> None:
        if event.kind == "notice":
            return
        self.last = event.ident
        self.seen[event.ident or 0] = time.monotonic()
        (self.whole if event.kind == "match" else self.steps).append(event.data)

    def missed(self, match: Any) -> str:
        """Return what is wrong with what was seen of a match; nothing if it was all of it, once, and in order."""
        if len(self.whole) != 1 or self.whole[0]["version"]:
            return f"{len(self.whole)} whole matches"
        if [step["version"] for step in self.steps] != [*range(1, match["version"] + 1)]:
            return f"versions {[step['version'] for step in self.steps]}"
        own = ("version", "state", "to_move", "legal", "outcome", "ending")
        made = [{name: text for name, text in step.items() if name not in own} for step in self.steps]
        return "" if made == match["events"] and self.steps[-1]["state"] == match["state"] else "other events"


async def some(coming: AsyncIterator[Event], count: int) -> list[Event]:
    """Return the next events that come, and end the stream."""
    async with aclosing(coming), asyncio.timeout(20):
        return [await anext(coming) for _ in range(count)]


def followed(server: Served, match: Any, count: int, after: int | None = None) -> list[Event]:
    return asyncio.run(some(events(server.port, match["id"], after), count))


def path_of(match: Any, what: str = "events") -> str:
    return f"/api/matches/{match['id']}/{what}"


def stream(port: int, path: str, room: int | None = None, **headers: str) -> socket.socket:
    """Ask for a stream, and read nothing of it; with `room`, have no more of it on the way."""
    taking = socket.socket()
    if room:
        taking.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    taking.settimeout(20)
    taking.connect(("127.0.0.1", port))
    lines = [f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", *(f"{name}: {text}" for name, text in headers.items())]
    taking.sendall("\r\n".join([*lines, "", ""]).encode())
    return taking


def read_until(taking: socket.socket, text: bytes) -> bytes:
    """Return what comes up to and including a text."""
    read, until = b"", time.monotonic() + 20
    while text not in read:
        assert time.monotonic() < until, f"nothing but {read[-500:]!r}"
        part = taking.recv(65536)
        assert part, f"the stream ended after {read[-500:]!r}"
        read += part
    return read


def play(server: Served, match: Any, moves: list[str], version: int = 0) -> list[Any]:
    """Make moves by turns, X first, and return the steps."""
    answers = [server.move(match, "XO"[at % 2], at, move) for at, move in enumerate(moves, version)]
    assert {answer.status for answer in answers} <= {200}, answers
    return [answer.json for answer in answers]


@cache
def quiet_game(name: str, count: int) -> list[str]:
    """Return moves after which a game still goes on."""
    rules, rng = find_game(name), random.Random(7)
    state, moves = rules.start(), []
    while len(moves) < count:
        move = rng.choice(rules.legal(state))
        if not rules.outcome(rules.play(state, move)):
            state = rules.play(state, move)
            moves.append(rules.write(move))
    return moves


async def moved(port: int, match: Any, version: int, move: str) -> Answer:
    """Make a move, however often it takes until a server answers: always the same request."""
    side = "XO"[version % 2]
    body = {"version": version, "id": f"{version}", "move": move}
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            return await asked(port, "POST", path_of(match, "moves"), body, match["tokens"][side])
        await asyncio.sleep(0.02)


async def until(condition: Callable[[], bool], within: float = 20.0) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.01)


def grown(server: Served, match: Any, count: int) -> None:
    """Let a match become long: another process writes to its log that X gave up and took that back, many times."""

    async def written() -> bool:
        log = Log(str(server.log.parent / "ttt4" / "matches.lmdb"))
        try:
            return await log.append(bytes.fromhex(match["id"]), 1, GIVEN_UP_AND_NOT * (count // 2))
        finally:
            log.close()

    assert asyncio.run(written())
    server.wait_for(match, count)


@pytest.fixture
def app(tmp_path: Path) -> App:
    """An application for a server in this process."""
    return App(Desk(live=True), str(tmp_path / "here" / "matches.lmdb"))


# What comes


def test_first_comes_the_whole_match_then_every_step_with_consecutive_ids(server: Served) -> None:
    match = server.begin("3,3,3")
    whole = server.get(path_of(match, "")[:-1]).json

    async def following() -> tuple[list[Event], list[Any]]:
        coming = events(server.port, match["id"])
        first = await anext(coming)
        steps = await asyncio.to_thread(play, server, match, ["b2", "a1", "c3", "a3"])
        return [first, *await some(coming, 4)], steps

    came, steps = asyncio.run(following())
    assert came[0] == Event("match", 0, whole)
    assert came[1:] == [Event("step", number, step) for number, step in enumerate(steps, 1)]


def test_who_comes_later_gets_the_match_as_it_stands(server: Served) -> None:
    match = server.begin("3,3,3")
    play(server, match, ["b2", "a1"])
    assert followed(server, match, 1) == [Event("match", 2, server.get(path_of(match, "")[:-1]).json)]


def test_the_stream_says_what_it_is_and_that_nobody_keeps_it(server: Served) -> None:
    match = server.begin("3,3,3")
    with stream(server.port, path_of(match)) as taking:
        head = read_until(taking, b"event: match\n").decode().lower()
    assert head.startswith("http/1.1 200 ok\r\n")
    for line in ("content-type: text/event-stream; charset=utf-8", "cache-control: no-store", "retry: 1000"):
        assert f"\n{line}" in head


def test_to_ask_for_the_head_alone_ends_at_once(server: Served) -> None:
    answer = server.ask("HEAD", path_of(server.begin("3,3,3")))
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize("how", ["header", "query", "both"])
def test_a_stream_goes_on_after_any_version_without_a_gap_or_a_repetition(how: str, server: Served) -> None:
    match = server.begin("3,3,3")
    steps = play(server, match, ["b2", "a1", "c3", "a3", "a2"])
    expected = [f"id: {step['version']}\nevent: step\ndata: {json.dumps(step)}\n\n" for step in steps]
    end = b'event: notice\ndata: {"undo_asked_by": null, "rematch": null, "notices": 0}\n\n'
    for after in range(6):
        path = path_of(match) + {"header": "", "query": f"?after={after}", "both": "?after=99"}[how]
        named = {} if how == "query" else {"Last-Event-ID": str(after)}
        with stream(server.port, path, **named) as taking:
            body = read_until(taking, end).decode().partition("\r\n\r\n")[2].partition("\r\n")[2]
        assert body.strip("\r\n") + "\n\n" == "".join(["retry: 1000\n\n", *expected[after:], end.decode()])


@pytest.mark.parametrize("known", ["3", "9999999", "99999999999999999999", "-1", "x", "1.0", "%C2%B2", ""])
def test_with_an_id_that_the_match_does_not_have_one_gets_the_whole_match(known: str, server: Served) -> None:
    match = server.begin("3,3,3")
    play(server, match, ["b2", "a1"])
    with stream(server.port, path_of(match), **{"Last-Event-ID": known}) as taking:
        said = read_until(taking, b"}\n\n")
    assert b" 200 OK" in said.split(b"\r\n")[0]
    assert b"id: 2\nevent: match\n" in said
    assert b"event: step" not in said


@pytest.mark.parametrize("after", ["99999999999999999999", "-1", "x", "1.0", "%C2%B2", ""])
def test_what_is_no_version_is_refused_in_a_query(after: str, server: Served) -> None:
    answer = server.get(f"{path_of(server.begin('3,3,3'))}?after={after}")
    assert (answer.status, answer.json["error"]) == (400, "bad-query")


def test_a_long_match_comes_whole_and_in_order(serve: Callable[..., Served]) -> None:
    server = serve()
    match = server.begin("3,3,3")
    grown(server, match, 1000)
    came = followed(server, match, 1000, after=0)
    assert [event.ident for event in came] == [*range(1, 1001)]


def test_anybody_may_follow_and_all_are_sent_the_same(server: Served) -> None:
    match = server.begin("3,3,3")
    crowd = [stream(server.port, path_of(match)) for _ in range(20)]
    play(server, match, ["b2", "a1", "c3", "a3"])
    said = {read_until(taking, b"id: 4\n").partition(b"retry")[2].replace(b"\r\n", b"") for taking in crowd}
    assert len({text.count(b"event: step") for text in said}) == 1
    for taking in crowd:
        taking.close()
    for token in match["tokens"].values():
        assert token.encode() not in b"".join(said)


def test_an_undo_that_is_asked_declined_or_agreed_to_is_told_to_all(server: Served) -> None:
    match = server.begin("3,3,3")
    play(server, match, ["b2", "a1"])

    def offer(side: str, **more: Any) -> int:
        body = {"version": 2, "id": f"{side} {more}", **more}
        return server.post(path_of(match, "undo"), body, match["tokens"][side]).status

    async def following() -> list[Event]:
        coming = events(server.port, match["id"])
        came = [await anext(coming)]
        for side, more in (("X", {}), ("O", {"agree": False}), ("X", {"id": "again"})):
            assert await asyncio.to_thread(offer, side, **more) == 202
            came.append(await anext(coming))
        assert await asyncio.to_thread(offer, "O", agree=True) == 200
        return came + await some(coming, 3)

    came = asyncio.run(following())
    assert came[0].data["undo_asked_by"] is None
    assert [event.kind for event in came[1:]] == ["notice", "notice", "notice", "step", "step", "notice"]
    asking = [event.data["undo_asked_by"] for event in came if event.kind == "notice"]
    assert asking == ["X", None, "X", None]
    assert came[-2].data["state"] == ".../.../..."


def test_a_rematch_is_told_to_all_and_to_those_who_come_back(server: Served) -> None:
    match = server.begin("3,3,3")
    server.post(path_of(match, "resign"), {"version": 0, "id": "a"}, match["tokens"]["X"])

    async def following() -> list[Event]:
        coming = events(server.port, match["id"])
        await anext(coming)
        await asyncio.to_thread(server.post, path_of(match, "rematch"), {}, match["tokens"]["O"])
        return await some(coming, 1)

    (told,) = asyncio.run(following())
    assert told.kind == "notice"
    assert told.data["rematch"] == server.get(path_of(match, "")[:-1]).json["rematch"] != match["id"]
    assert followed(server, match, 1, after=1) == [told]


BEAT = b"event: beat\ndata: 0\n\n"


def test_a_quiet_stream_has_a_beat_that_shows_that_it_is_alive(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.05)

    async def following() -> bytes:
        async with serving(app) as port:
            match = (await asked(port, "POST", "/api/matches", {"game": "3,3,3"})).json
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {path_of(match)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            said = await reader.readuntil(BEAT)
            await moved(port, match, 0, "b2")
            said += await reader.readuntil(BEAT)
            writer.close()
            return said

    said = uvloop.run(following())
    assert (said.count(b"event: match"), said.count(b"event: step")) == (1, 1)


# Followers who do harm


def test_a_follower_that_never_reads_harms_nobody(serve: Callable[..., Served]) -> None:
    server = serve()
    match = server.begin(LONG)
    grown(server, match, 2000)
    stuck = [stream(server.port, f"{path_of(match)}?after=0", room=2048) for _ in range(10)]
    moves = quiet_game(LONG, 20)

    async def playing() -> tuple[list[float], list[Spectator]]:
        others = [Spectator(server.port, match) for _ in range(5)]
        following = [asyncio.create_task(each.follow(2000 + len(moves))) for each in others]
        await until(lambda: all(each.last for each in others))
        taken = []
        for version, move in enumerate(moves, 2000):
            began = time.monotonic()
            assert (await moved(server.port, match, version, move)).status == 200
            await until(lambda version=version: all(each.last == version + 1 for each in others))
            taken.append(time.monotonic() - began)
        await asyncio.gather(*following)
        return taken, others

    taken, others = asyncio.run(playing())
    for each in others:
        assert [step["version"] for step in each.steps] == [*range(2001, 2001 + len(moves))]
    assert sorted(taken)[len(taken) // 2] < 0.5, taken
    assert server.memory() < 150e6
    for taking in stuck:
        taking.close()


@pytest.mark.parametrize(
    "sent", [b"", b"GET /api/games HTTP/1.1\r\nHo", b"GET /api/games HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_a_request_that_does_not_come_whole_is_let_go(sent: bytes, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "_SLOWEST", 0.2)

    async def waiting() -> None:
        async with serving(app) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            with suppress(ConnectionResetError):
                async with asyncio.timeout(5):
                    while await reader.read(1000):
                        pass
            match = (await asked(port, "POST", "/api/matches", {"game": "3,3,3"})).json
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {path_of(match)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            await asyncio.sleep(0.5)  # a stream is no request that is still to come
            await moved(port, match, 0, "b2")
            await reader.readuntil(b"event: step")
            writer.close()

    uvloop.run(waiting())


def test_a_follower_that_never_reads_is_let_go_and_leaves_no_descriptor(
    app: App, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(protocol, "_STALLED", 0.2)
    first = {"game": LONG, "players": {"X": "human", "O": "human"}, "board": None, "created": 0}
    ident = b"too long"

    async def following() -> None:
        async with serving(app) as port:
            assert await app.log.append(ident, 0, [json.dumps(first).encode(), *GIVEN_UP_AND_NOT * 1000])
            live = app.api.matches.find(ident.hex())
            before = len(os.listdir("/proc/self/fd"))
            stuck = [stream(port, f"/api/matches/{ident.hex()}/events?after=0", room=2048) for _ in range(5)]
            await until(lambda: len(live.followers) == 5)
            await until(lambda: not live.followers)
            await until(lambda: len(os.listdir("/proc/self/fd")) == before + len(stuck))
            for taking in stuck:
                taking.close()

    uvloop.run(following())
    assert capfd.readouterr().err == ""


def test_when_too_many_follow_the_next_one_is_told_when_to_come_back(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MOST_STREAMS", 2)

    async def following() -> None:
        async with serving(app) as port:
            match = (await asked(port, "POST", "/api/matches", {"game": "3,3,3"})).json
            first, second = (events(port, match["id"]) for _ in range(2))
            await anext(first)
            await anext(second)
            refused = await asked(port, "GET", path_of(match))
            assert (refused.status, refused.json["error"]) == (503, "too-many-streams")
            assert int(refused.headers["retry-after"]) > 0
            await first.aclose()
            await until(lambda: len(app.api.matches.find(match["id"]).followers) == 1)
            assert (await anext(events(port, match["id"]))).kind == "match"
            await second.aclose()

    uvloop.run(following())


@pytest.mark.parametrize("count", [200, pytest.param(5000, marks=SLOW)])
def test_streams_that_come_and_go_leave_no_descriptor_and_no_memory(count: int, serve: Callable[..., Served]) -> None:
    server = serve()
    match = server.begin("8,8,5")
    play(server, match, quiet_game("8,8,5", 20))

    async def come_and_go(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(f"GET {path_of(match)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        await reader.readuntil(b"event: match\n" if number % 3 else b"\r\n\r\n")
        if number % 2:
            writer.transport.abort()
        else:
            writer.close()

    async def waves(count: int) -> None:
        for start in range(0, count, 100):
            await asyncio.gather(*(come_and_go(number) for number in range(start, start + 100)))
        await until(lambda: server.descriptors() <= before)

    before = server.descriptors() + 1  # the epoll's own, perhaps
    asyncio.run(waves(200))
    memory = server.memory()
    asyncio.run(waves(count))
    grown = server.memory() - memory
    print(f"{count:,} streams: {server.descriptors() - before:+} descriptors, {grown / 1e6:+.1f} MB")
    assert grown < 10e6
    assert server.said == ""


# Crowds and kills


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=SLOW)])
def test_all_spectators_see_the_whole_game_though_the_server_is_killed_in_the_middle(
    count: int, serve: Callable[..., Served]
) -> None:
    server = serve()
    match, moves = server.begin("8,8,5"), quiet_game("8,8,5", 40)
    crowd = [Spectator(server.port, match) for _ in range(count)]
    sent: list[float] = []
    memory = [0]

    async def playing() -> None:
        following = [asyncio.create_task(each.follow(len(moves))) for each in crowd]
        await until(lambda: all(each.last == 0 for each in crowd))
        for version, move in enumerate(moves):
            sent.append(time.monotonic())
            answer = asyncio.create_task(moved(server.port, match, version, move))
            if version == len(moves) // 2:
                memory.append(server.memory())
                await asyncio.to_thread(server.restart)
            assert (await answer).status == 200
            await until(lambda version=version: sum(version < (each.last or 0) for each in crowd) > 0.9 * count)
        await asyncio.gather(*following)
        memory.append(server.memory())

    asyncio.run(playing())
    now = server.get(path_of(match, "")[:-1]).json
    assert [missed for each in crowd if (missed := each.missed(now))] == []
    assert all(each.cut for each in crowd), "everybody was cut off when the server died"
    taken = [each.seen[version] - sent[version - 1] for each in crowd for version in range(1, len(moves) + 1)]
    p99 = quantiles(taken, n=100)[98]
    print(f"{count} spectators: p99 of a move {p99 * 1000:.0f} ms, server {max(memory) / 1e6:.0f} MB")
    assert max(memory) < 150e6
    assert p99 < 5, "nobody is forgotten, however busy the machine is"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_at_once_whoever_follows_and_all_games_come_back(
    number: int, serve: Callable[..., Served], request: pytest.FixtureRequest
) -> None:
    server = serve()
    begun = [server.begin("3,3,3") for _ in range(10)]
    for at, match in enumerate(begun):
        play(server, match, ["b2", "a1", "c3", "a3", "a2"][: at % 5 + 1])
    paths = [path_of(match, "")[:-1] for match in begun]
    before = [server.get(path).json for path in paths]
    crowd = [stream(server.port, path_of(match)) for match in begun for _ in range(10)]
    for taking in crowd:
        read_until(taking, b"event: match\n")
    began = time.monotonic()
    server.end(number)
    out = time.monotonic() - began
    for taking in crowd:
        while taking.recv(65536):
            pass
        taking.close()

    def back_again() -> float:
        """Return how long it takes until all games are there; others may use the machine meanwhile."""
        server.process.stdout.close()
        began = time.monotonic()
        server.start()
        assert [server.get(path).json for path in paths] == before
        taken = time.monotonic() - began
        server.end(number)
        return taken

    back = min(back_again() for _ in range(3))
    print(f"{signal.Signals(number).name} with 100 streams: out in {out:.2f} s, back in {back:.2f} s")
    assert "Traceback" not in server.said
    assert "ERROR" not in server.said
    assert out < 3
    assert back < (1 if request.config.getoption("--slow") else 5)


def test_a_signal_during_a_search_ends_the_server_at_once(serve: Callable[..., Served]) -> None:
    server = serve("--time", "20")
    for _ in range(6):
        server.move(server.begin("6,7,4", O="search"), "X", 0, "d3")
    assert server.get("/api/games").status == 200
    server.end(signal.SIGINT, within=3)
    assert "Traceback" not in server.said


def test_steps_come_in_order_to_whoever_joins_at_any_moment(server: Served) -> None:
    match, moves = server.begin("8,8,5"), quiet_game("8,8,5", 30)
    crowd = [Spectator(server.port, match) for _ in range(30)]

    async def playing() -> None:
        following = []
        for version, (each, move) in enumerate(zip(crowd, moves, strict=True)):
            following.append(asyncio.create_task(each.follow(len(moves))))
            assert (await moved(server.port, match, version, move)).status == 200
        await asyncio.gather(*following)

    asyncio.run(playing())
    for each in crowd:
        versions = [each.whole[0]["version"], *(step["version"] for step in each.steps)]
        assert all(after == before + 1 for before, after in pairwise(versions))
        assert versions[-1] == len(moves)
