"""Server-sent events: the whole match and then every step, for anybody, whatever is cut, stuck, killed or crowded."""

import asyncio
import json
import os
import re
import socket
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Any

import pytest
from asgi import InProcess
from web import Answer, Event, Served, asked, events

from play.server import events as streams
from play.server import serving as protocol
from play.server.seats import token_of

LONG = "20,20,5"
GIVEN_UP_AND_NOT = [b'{"event": "resigned", "side": "X"}', b'{"event": "took back"}']
SLOW = pytest.mark.slow


class Spectator:
    """Follows a match as a browser does: it comes back with the last id that it saw, whenever it is cut off."""

    def __init__(self) -> None:
        self.seen: list[Event] = []
        self.cut = 0

    async def follow(self, port: int, match: Any, until: int) -> None:
        """Follow until a version has come."""
        last: int | None = None
        while last != until:
            with suppress(OSError, asyncio.IncompleteReadError):
                async with aclosing(events(port, match["id"], last)) as coming:
                    async for event in coming:
                        if event.kind != "notice":
                            self.seen.append(event)
                            last = event.ident
                        if last == until:
                            return
            self.cut += 1
            await asyncio.sleep(0.05)


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


def quiet(count: int, columns: int = 8) -> list[str]:
    """Return moves by turns, cell by cell, in which nobody gets five in a row for at least four rows."""
    return [f"{'abcdefghijklmnopqrst'[at % columns]}{at // columns + 1}" for at in range(count)]


def step_of(match: Any, version: int, move: str) -> tuple[Any, str]:
    """Return the body and the token of a request for a move, always the same."""
    return {"version": version, "id": f"{version}", "move": move}, match["tokens"]["XO"[version % 2]]


async def moved(port: int, match: Any, version: int, move: str) -> Answer:
    """Make a move, however often it takes until a server answers: always the same request."""
    while True:
        with suppress(OSError, asyncio.IncompleteReadError):
            return await asked(port, "POST", path_of(match, "moves"), *step_of(match, version, move))
        await asyncio.sleep(0.02)


async def until(condition: Callable[[], bool], within: float = 20.0) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.01)


def long_match(server: InProcess, count: int) -> Any:
    """Return a match of so many events: X gave up and took that back, many times."""
    first = {"game": LONG, "players": {"X": "human", "O": "human"}, "board": None, "created": 0, "key": "00" * 16}
    entries = [json.dumps(first).encode(), *GIVEN_UP_AND_NOT * (count // 2)]
    assert server.run(server.app.log.append(b"too long", 0, entries))
    return {"id": b"too long".hex()}


# What comes


def test_first_comes_the_whole_match_then_every_step_with_consecutive_ids(server: InProcess) -> None:
    match = server.begin("3,3,3")
    following = server.follow(match)
    assert following.some(1) == [Event("match", 0, server.state_of(match))]
    steps = server.play(match, ["b2", "a1", "c3", "a3"])
    assert following.some(4) == [Event("step", number, step) for number, step in enumerate(steps, 1)]
    following.close()


def test_who_comes_later_gets_the_match_as_it_stands_in_a_stream_that_nobody_keeps(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["b2", "a1"])
    following = server.follow(match)
    assert following.waiting() == [Event("match", 2, server.state_of(match))]
    assert following.text.startswith("retry: 1000\n\n")
    following.close()
    head = server.ask("HEAD", path_of(match))
    assert (head.status, head.body) == (200, b"")
    for headers in (following.headers, head.headers):
        assert headers["content-type"] == "text/event-stream; charset=utf-8"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("how", ["header", "query", "both"])
def test_a_stream_goes_on_after_any_version_without_a_gap_or_a_repetition(how: str, server: InProcess) -> None:
    match = server.begin("3,3,3")
    steps = server.play(match, ["b2", "a1", "c3", "a3", "a2"])
    expected = [f"id: {step['version']}\nevent: step\ndata: {json.dumps(step)}\n\n" for step in steps]
    end = 'event: notice\ndata: {"undo_asked_by": null, "undo_waits_for": [], "rematch": null, "notices": 0}\n\n'
    for after in range(6):
        path = path_of(match) + {"header": "", "query": f"?after={after}", "both": "?after=99"}[how]
        following = server.stream(path, **({} if how == "query" else {"Last-Event-ID": str(after)}))
        following.waiting()
        assert following.text == "".join(["retry: 1000\n\n", *expected[after:], end])
        following.close()


@pytest.mark.parametrize("known", ["3", "9999999", "99999999999999999999", "-1", "x", "1.0", "%C2%B2", ""])
def test_with_an_id_that_the_match_does_not_have_one_gets_the_whole_match(known: str, server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["b2", "a1"])
    following = server.stream(path_of(match), **{"Last-Event-ID": known})
    assert [(event.kind, event.ident) for event in following.waiting()] == [("match", 2)]
    following.close()


@pytest.mark.parametrize("after", ["99999999999999999999", "-1", "1.0", "%C2%B2", ""])
def test_what_is_no_version_is_refused_in_a_query(after: str, server: InProcess) -> None:
    answer = server.get(f"{path_of(server.begin('3,3,3'))}?after={after}")
    assert answer.error == (400, "bad-query")


def test_a_long_match_comes_whole_and_in_order(serve: Callable[..., InProcess]) -> None:
    server = serve()
    following = server.follow(long_match(server, 1000), after=0)
    assert [event.ident for event in following.some(1000)] == [*range(1, 1001)]


def test_anybody_may_follow_and_all_are_sent_the_same(server: InProcess) -> None:
    match = server.begin("3,3,3")
    crowd = [server.follow(match) for _ in range(20)]
    steps = server.play(match, ["b2", "a1", "c3", "a3"])
    for each in crowd:
        assert each.waiting()[-1].data == steps[-1]
        each.close()
    assert len({each.text for each in crowd}) == 1
    assert not any(token in crowd[0].text for token in match["tokens"].values())


def test_steps_come_in_order_to_whoever_joins_at_any_moment(server: InProcess) -> None:
    match, moves = server.begin("8,8,5"), quiet(30)
    crowd = []
    for version, move in enumerate(moves):
        crowd.append(server.follow(match))
        made = server.start_asking("POST", path_of(match, "moves"), *step_of(match, version, move))
        assert server.run(made).status == 200
    for each in crowd:
        versions = [event.ident or 0 for event in each.waiting()]
        assert versions == [*range(versions[0], len(moves) + 1)]
        each.close()


def test_an_undo_that_is_asked_declined_or_agreed_to_is_told_to_all(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.play(match, ["b2", "a1"])
    following = server.follow(match)
    came = following.some(1)
    for side, more, status in (
        ("X", {}, 202), ("O", {"agree": False}, 202), ("X", {"id": "again"}, 202), ("O", {"agree": True}, 200)
    ):  # fmt: skip
        body = {"version": 2, "id": f"{side} {more}", **more}
        assert server.post(path_of(match, "undo"), body, match["tokens"][side]).status == status
        came += following.waiting()
    following.close()
    assert came[0].data["undo_asked_by"] is None
    assert [event.kind for event in came[1:]] == ["notice", "notice", "notice", "step", "step", "notice"]
    asking = [event.data["undo_asked_by"] for event in came if event.kind == "notice"]
    assert asking == ["X", None, "X", None]
    assert came[-2].data["state"] == ".../.../..."


def test_a_rematch_is_told_to_all_and_to_those_who_come_back(server: InProcess) -> None:
    match = server.begin("3,3,3")
    server.post(path_of(match, "resign"), {"version": 0, "id": "a"}, match["tokens"]["X"])
    following = server.follow(match)
    following.next()
    server.post(path_of(match, "rematch"), {}, match["tokens"]["O"])
    (told,) = following.waiting()
    assert told.kind == "notice"
    assert told.data["rematch"] == server.state_of(match)["rematch"] != match["id"]
    back = server.follow(match, after=1)
    assert back.waiting() == [told]
    following.close()
    back.close()


def test_a_quiet_stream_has_a_beat_that_shows_that_it_is_alive(
    server: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "HEARTBEAT", 0.01)
    match = server.begin("3,3,3")
    following = server.follow(match)
    for kinds in ("match beat", "match beat step beat"):
        while not re.fullmatch(kinds.replace("beat", "(beat *)+"), " ".join(re.findall("event: (.*)", following.text))):
            server.run(following.read())
        server.move(match, "X", 0, "b2", "mine")
    following.close()
    assert (following.text.count("event: match"), following.text.count("event: step")) == (1, 1)


# Followers who do harm


@pytest.mark.parametrize(
    "sent", [b"", b"GET /api/games HTTP/1.1\r\nHo", b"GET /api/games HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"]
)
def test_a_request_that_does_not_come_whole_is_let_go_and_a_stream_is_not(
    sent: bytes, server: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "_SLOWEST", 0.05)
    match, port = server.begin("3,3,3"), server.port

    async def waiting() -> None:
        coming = events(port, match["id"])
        assert (await anext(coming)).kind == "match"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        with suppress(ConnectionResetError):
            while await reader.read(1000):
                pass
        writer.close()
        assert (await server.asking("POST", path_of(match, "moves"), *step_of(match, 0, "b2"))).status == 200
        assert (await anext(coming)).kind == "step", "a stream is no request that is still to come"
        await coming.aclose()

    server.run(waiting())


class Remembering(set[asyncio.Event]):
    """A set that knows what was ever in it."""

    def __init__(self) -> None:
        super().__init__()
        self.ever: set[asyncio.Event] = set()

    def add(self, element: asyncio.Event) -> None:
        super().add(element)
        self.ever.add(element)


def test_a_follower_that_never_reads_harms_nobody_and_is_let_go_and_leaves_no_descriptor(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "_STALLED", 0.1)
    server = serve()
    match, port = long_match(server, 2000), server.port

    async def following() -> None:
        live = server.app.api.matches.find(match["id"])
        live.followers = known = Remembering()
        match["tokens"] = {side: token_of(live.key, live.ident, side) for side in "XO"}
        before = len(os.listdir("/proc/self/fd"))
        stuck = [stream(port, f"{path_of(match)}?after=0", room=2048) for _ in range(5)]
        for version, move in enumerate(quiet(20, columns=20), 2000):
            assert (await server.asking("POST", path_of(match, "moves"), *step_of(match, version, move))).status == 200
        assert (await anext(events(port, match["id"]))).ident == 2020
        await until(lambda: len(known.ever) == 6 and not known)
        await until(lambda: len(os.listdir("/proc/self/fd")) <= before + len(stuck))
        for taking in stuck:
            taking.close()

    server.run(following())
    assert server.said == ""


def test_when_too_many_follow_the_next_one_is_told_when_to_come_back(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "MOST_STREAMS", 3)
    monkeypatch.setattr(streams, "MOST_FROM_ONE", 1)
    server = serve()
    match = server.begin("3,3,3")

    def is_refused(source: str) -> bool:
        refused = server.ask("GET", path_of(match), source=source)
        assert refused.error == (503, "too-many-streams")
        return int(refused.headers["retry-after"]) > 0

    crowd = [server.stream(path_of(match), source=source) for source in ("10.0.0.1", "127.0.0.1")]
    assert is_refused("10.0.0.1")
    crowd.append(server.stream(path_of(match)))
    assert is_refused("127.0.0.1")
    crowd.pop().close()
    crowd.append(server.stream(path_of(match)))
    assert [each.next().kind for each in crowd] == ["match"] * 3
    for each in crowd:
        each.close()
    assert server.app.api.streams._open.total() == 0


async def come_and_go(port: int, path: str, count: int) -> None:
    """Let followers come, and go in every way."""

    async def follower(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        await reader.readuntil(b"event: match\n" if number % 3 else b"\r\n\r\n")
        if number % 2:
            writer.transport.abort()
        else:
            writer.close()

    for start in range(0, count, 100):
        await asyncio.gather(*(follower(number) for number in range(start, min(start + 100, count))))


def test_streams_that_come_and_go_leave_no_descriptor_and_no_follower(serve: Callable[..., InProcess]) -> None:
    server = serve()
    match, port = server.begin("8,8,5"), server.port

    async def waves() -> None:
        before = len(os.listdir("/proc/self/fd"))
        await come_and_go(port, path_of(match), 60)
        await until(lambda: not server.app.api.matches.find(match["id"]).followers)
        await until(lambda: len(os.listdir("/proc/self/fd")) <= before)

    server.run(waves())
    assert server.app.api.streams._open.total() == 0
    assert server.said == ""


@pytest.mark.slow
def test_2000_streams_that_come_and_go_leave_no_memory(serve_process: Callable[..., Served]) -> None:
    server = serve_process()
    match = server.begin("8,8,5")
    server.play(match, quiet(20))
    before = server.descriptors() + 1  # the epoll's own, perhaps
    asyncio.run(come_and_go(server.port, path_of(match), 200))
    memory = server.memory()
    asyncio.run(come_and_go(server.port, path_of(match), 2000))
    asyncio.run(until(lambda: server.descriptors() <= before))
    assert server.memory() - memory < 10e6
    assert server.said == ""


# Crowds and kills


@pytest.mark.parametrize("count", [6, pytest.param(300, marks=SLOW)])
def test_all_spectators_see_the_whole_game_though_the_server_is_killed_in_the_middle(
    count: int, serve_process: Callable[..., Served]
) -> None:
    server = serve_process()
    match, moves = server.begin("8,8,5"), quiet(12)
    crowd = [Spectator() for _ in range(count)]
    memory = [0]

    async def playing() -> None:
        following = [asyncio.create_task(each.follow(server.port, match, len(moves))) for each in crowd]
        await until(lambda: all(each.seen for each in crowd))
        for version, move in enumerate(moves):
            answer = asyncio.create_task(moved(server.port, match, version, move))
            if version == len(moves) // 2:
                memory.append(server.memory())
                await asyncio.to_thread(server.restart)
            assert (await answer).status == 200
        await asyncio.gather(*following)
        memory.append(server.memory())

    asyncio.run(playing())
    made = server.state_of(match)["events"]
    for each in crowd:
        first, *steps = each.seen
        assert (first.kind, first.ident) == ("match", 0)
        assert [(step.kind, step.ident) for step in steps] == [("step", version + 1) for version in range(len(moves))]
        assert all(event.items() <= step.data.items() for step, event in zip(steps, made, strict=True))
    assert all(each.cut for each in crowd), "everybody was cut off when the server died"
    assert max(memory) < 150e6
