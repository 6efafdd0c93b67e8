"""The log: what is acknowledged is on disk, what is on disk is told, and no version is written twice, whoever dies."""

import asyncio
import json
import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import lmdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from web import Answer, Event, Served, asked, events, serving

from play.server import log as log_file
from play.server import matches as kept_matches
from play.server.app import App
from play.server.desk import Desk
from play.server.log import ID_BYTES, Log
from play.server.problems import Problem
from solver.errors import StoreDamaged, StoreUnwritable
from solver.games.registry import find_game

SLOW = pytest.mark.slow
MATCH, OTHER = b"one game", b"another1"
LONG = "20,20,20"  # no line of it will be full before the board is nearly so
TESTS = Path(__file__).parents[2]


@contextmanager
def logged(path: Path) -> Iterator[Log]:
    """Open a log for a while."""
    log = Log(str(path))
    try:
        yield log
    finally:
        log.close()


def append(log: Log, match: bytes, version: int, *events: bytes) -> bool:
    async def appending() -> bool:
        return await log.append(match, version, events)

    return asyncio.run(appending())


def commits_of(log: Log) -> int:
    return int(log._env.info()["last_txnid"])


def file_of(server: Served) -> Path:
    return server.log.parent / "ttt4" / "matches.lmdb"


def path_of(match: Any, what: str = "") -> str:
    return f"/api/matches/{match['id']}" + (f"/{what}" if what else "")


@cache
def cells(name: str = LONG) -> list[str]:
    rules = find_game(name)
    return [rules.write(move) for move in rules.legal(rules.start())]


async def until(condition: Callable[[], bool], within: float = 20.0) -> None:
    """Wait until something is the case."""
    async with asyncio.timeout(within):
        while not condition():
            await asyncio.sleep(0.005)


async def move(port: int, match: Any, version: int, cell: str, ident: str) -> Answer:
    """Send a move for the side whose turn it is."""
    body = {"version": version, "id": ident, "move": cell}
    return await asked(port, "POST", path_of(match, "moves"), body, match["tokens"]["XO"[version % 2]])


async def steps(port: int, match: Any, count: int, after: int = 0) -> list[Event]:
    """Follow a match until so many steps have come."""
    found: list[Event] = []
    async with aclosing(events(port, match["id"], after)) as coming, asyncio.timeout(60):
        while len(found) < count:
            event = await anext(coming)
            found += [event] * (event.kind == "step")
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "matches.lmdb"


@pytest.fixture
def app(path: Path) -> App:
    """An application for a server in this process."""
    return App(Desk(live=True), str(path))


# The file


def test_a_version_is_written_once_and_who_comes_second_is_told_so(path: Path) -> None:
    with logged(path) as log:
        assert append(log, MATCH, 0, b"begun")
        assert append(log, MATCH, 1, b"first")
        assert not append(log, MATCH, 1, b"second")
        assert not append(log, MATCH, 0, b"second")
        assert append(log, OTHER, 0, b"another")
        assert (log.events(MATCH), log.events(OTHER)) == ([b"begun", b"first"], [b"another"])


@pytest.mark.parametrize("version", [2, 3, 100])
def test_a_version_with_a_gap_before_it_is_not_written(version: int, path: Path) -> None:
    with logged(path) as log:
        assert not append(log, MATCH, 1, b"no such match")
        append(log, MATCH, 0, b"begun")
        assert not append(log, MATCH, version, b"late")
        assert log.events(MATCH) == [b"begun"]


def test_events_that_are_written_together_are_all_written_or_none(path: Path) -> None:
    with logged(path) as log:
        append(log, MATCH, 0, b"begun", b"1", b"2")
        assert not append(log, MATCH, 2, b"other", b"3", b"4")
        assert log.events(MATCH) == [b"begun", b"1", b"2"]
        assert append(log, MATCH, 3, b"3", b"4")
        assert log.events(MATCH, 2) == [b"2", b"3", b"4"]
        assert log.events(MATCH, 9) == log.events(OTHER) == []


def test_what_is_asked_for_at_once_shares_commits(path: Path) -> None:
    async def many() -> list[bool]:
        return await asyncio.gather(*(log.append(n.to_bytes(ID_BYTES, "big"), 0, [b"begun"]) for n in range(500)))

    with logged(path) as log:
        before = commits_of(log)
        assert asyncio.run(many()) == [True] * 500
        assert commits_of(log) - before <= 50
        assert len(list(log.last_events())) == 500


def test_of_those_who_want_one_version_in_one_commit_exactly_one_gets_it(path: Path) -> None:
    async def race(version: int) -> list[bool]:
        return await asyncio.gather(*(log.append(MATCH, version, [b"%d" % number]) for number in range(64)))

    with logged(path) as log:
        for version in range(20):
            won = asyncio.run(race(version))
            assert won.count(True) == 1
            assert log.events(MATCH, version) == [b"%d" % won.index(True)]


def test_every_commit_is_synced(path: Path) -> None:
    with logged(path) as log:
        flags = log._env.flags()
    assert (flags["sync"], flags["metasync"], flags["writemap"], flags["map_async"]) == (True, True, False, False)


def test_only_the_user_can_read_the_file_and_its_folder(path: Path) -> None:
    with logged(path):
        assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]
        assert {each.stat().st_mode & 0o077 for each in path.parent.iterdir()} == {0}


def test_the_secret_stays_with_the_file_and_no_two_files_share_one(path: Path, tmp_path: Path) -> None:
    with logged(path) as log:
        secret = log.secret
    with logged(path) as log, logged(tmp_path / "other") as other:
        assert log.secret == secret != other.secret
        assert len(secret) == len(other.secret) == 32
        assert list(log.last_events()) == []


@given(
    st.dictionaries(
        st.one_of(st.binary(min_size=8, max_size=8), st.sampled_from([b"secret\x00\x00", b"\xff" * 8, b"\x00" * 8])),
        st.integers(1, 4),
        max_size=6,
    )
)
def test_every_match_is_found_with_its_first_and_its_last_event(
    tmp_path_factory: pytest.TempPathFactory, kept: dict[bytes, int]
) -> None:
    async def written(log: Log) -> list[bool]:
        events_of = {match: [b"%d" % number for number in range(count)] for match, count in kept.items()}
        return await asyncio.gather(*(log.append(match, 0, events) for match, events in events_of.items()))

    with logged(tmp_path_factory.mktemp("log") / "matches.lmdb") as log:
        assert asyncio.run(written(log)) == [True] * len(kept)
        assert list(log.last_events()) == [(match, b"0", b"%d" % (kept[match] - 1)) for match in sorted(kept)]
        dropped = sorted(kept)[::2]
        log.drop(dropped)
        assert [match for match, _, _ in log.last_events()] == sorted(kept)[1::2]
        assert all(len(log.events(match)) == (0 if match in dropped else kept[match]) for match in kept)


def test_after_matches_were_dropped_the_file_still_opens(path: Path) -> None:
    """LMDB leaves pages unwritten behind the last one that it needs: such a file is not one that was cut short."""
    rng, kept = random.Random(3), []
    for _ in range(60):
        with logged(path) as log:
            for _ in range(3):
                match = rng.randbytes(ID_BYTES)
                assert append(log, match, 0, *(b"x" * rng.randint(50, 300) for _ in range(rng.randint(1, 300))))
                kept.append(match)
            if len(kept) > 6:
                rng.shuffle(kept)
                log.drop([kept.pop() for _ in range(rng.randint(1, len(kept)))])
            assert sorted(kept) == [match for match, _, _ in log.last_events()]
        assert path.stat().st_size < 8 << 20, "it does not grow by that"


def test_a_file_that_was_cut_short_or_is_something_else_is_called_damaged(path: Path) -> None:
    with logged(path) as log:
        append(log, MATCH, 0, *[b"x" * 500] * 200)
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], whole[:5000], b"no log" * 5000):
        path.write_bytes(content)
        with pytest.raises(StoreDamaged, match="move the file away to begin anew"):
            Log(str(path))
        assert path.read_bytes() == content
    path.write_bytes(whole)
    with logged(path) as log:
        assert len(log.events(MATCH)) == 200


def test_where_no_file_can_be_the_server_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnwritable, match="cannot keep games in"):
        Log(str(tmp_path / "file" / "matches.lmdb"))


# Several processes on one file

WRITER = """
import asyncio, sys
from play.server.log import Log

async def write(path, name, count, size):
    log = Log(path)
    print("ready", flush=True)
    sys.stdin.readline()
    for version in range(0, count * size, size):
        events = [b"%s %d" % (name.encode(), version)] * size
        print(int(await log.append(b"one game", version, events)), flush=True)
    log.close()

asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
"""


def writer(path: Path, name: str, count: int, size: int = 1) -> "subprocess.Popen[str]":
    """Start a process that writes the versions of one match in turn, so many events at once, when it gets a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), name, str(count), str(size)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process


def begin(process: "subprocess.Popen[str]") -> None:
    process.stdin.write("\n")
    process.stdin.flush()


def test_of_several_processes_exactly_one_writes_each_version(path: Path) -> None:
    processes = [writer(path, name, 60) for name in "abcd"]
    for process in processes:
        begin(process)
    won = [process.communicate(timeout=60)[0].split() for process in processes]
    assert [sum(map(int, each)) for each in zip(*won, strict=True)] == [1] * 60
    with logged(path) as log:
        names = ["abcd"[each.index("1")] for each in zip(*won, strict=True)]
        assert log.events(MATCH) == [f"{name} {version}".encode() for version, name in enumerate(names)]


@pytest.mark.parametrize("times", [4, pytest.param(50, marks=SLOW)])
def test_a_killed_writer_leaves_all_that_it_acknowledged_and_no_half_of_anything(times: int, path: Path) -> None:
    rng, total = random.Random(5), 0
    for number in range(times):
        file = path.with_name(f"{number}.lmdb")
        process = writer(file, "a", 100_000, 5)
        begin(process)
        with suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.005, 0.15))
        process.kill()
        acknowledged = 5 * process.communicate()[0].count("1\n")
        with logged(file) as log:
            found = log.events(MATCH)
            assert append(log, MATCH, len(found), b"goes on")
        assert acknowledged <= len(found) <= acknowledged + 5
        assert found == [b"a %d" % (version // 5 * 5) for version in range(len(found))]
        assert len(found) % 5 == 0
        total += len(found)
    assert total > 0


@pytest.mark.parametrize("before", ["", "written", "refused"])
@pytest.mark.parametrize("after", ["", "written", "refused"])
def test_what_another_process_writes_is_noticed_whatever_is_asked_for_here(before: str, after: str, path: Path) -> None:
    with logged(path) as log:

        def ask(what: str) -> None:
            if what:
                assert append(log, OTHER, len(log.events(OTHER)) + (what == "refused"), b"own") == (what == "written")

        ask(before)
        assert not log.written_elsewhere()
        process = writer(path, "a", 1)  # which opens the file only
        begin(process)
        assert process.communicate(timeout=20)[0] == "1\n"
        ask(after)
        assert log.written_elsewhere()
        assert not log.written_elsewhere()


# Nobody is told before it is on disk


def held_up(app: App, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> tuple[threading.Event, threading.Event]:
    """Hold up the log's next commits, before or after they are made: what says that one waits, and what lets it go."""
    reached, let_go, commit = threading.Event(), threading.Event(), app.log._commit

    def waiting(batch: Any) -> Any:
        results = commit(batch) if after else None
        reached.set()
        assert let_go.wait(20)
        return results or commit(batch)

    monkeypatch.setattr(app.log, "_commit", waiting)
    return reached, let_go


@pytest.mark.parametrize("after", [False, True])
def test_until_the_log_has_a_move_nobody_hears_of_it(after: bool, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    async def watching() -> None:
        async with serving(app) as port:
            match = (await asked(port, "POST", "/api/matches", {"game": "3,3,3"})).json
            before = (await asked(port, "GET", path_of(match))).body
            coming = events(port, match["id"])
            assert (await anext(coming)).kind == "match"
            reached, let_go = held_up(app, monkeypatch, after=after)
            answer = asyncio.create_task(move(port, match, 0, "b2", "mine"))
            told = asyncio.create_task(anext(coming))
            retry = asyncio.create_task(move(port, match, 0, "b2", "mine"))
            await until(reached.is_set)
            for _ in range(20):  # others are served meanwhile
                assert (await asked(port, "GET", path_of(match))).body == before
            fresh = events(port, match["id"])
            assert (await anext(fresh)).data["version"] == 0
            assert [task.done() for task in (answer, told, retry)] == [False] * 3
            let_go.set()
            assert (await answer).status == (await retry).status == 200
            assert (await answer).body == (await retry).body
            assert (await told).data == (await anext(fresh)).data == (await answer).json
            assert (await asked(port, "GET", path_of(match))).json["version"] == 1

    asyncio.run(watching())


def test_when_an_event_comes_or_a_move_is_answered_the_file_has_it(serve: Callable[..., Served]) -> None:
    server = serve()
    match = server.begin(LONG)
    wrong, checked = [], 0

    def check(version: int, who: str) -> None:
        nonlocal checked
        with file.begin() as transaction:
            value = transaction.get(bytes.fromhex(match["id"]) + version.to_bytes(4, "big"))
            checked += 1
            if value is None or json.loads(value)["move"] != cells()[version - 1]:
                wrong.append((who, version))

    async def following() -> None:
        async for event in events(server.port, match["id"], 0):
            if event.kind == "step":
                check(event.ident or 0, "follower")
                if event.ident == 60:
                    return

    async def playing() -> None:
        crowd = [asyncio.create_task(following()) for _ in range(10)]
        for version in range(60):
            answer = await move(server.port, match, version, cells()[version], str(version))
            check(answer.json["version"], "player")
        await asyncio.gather(*crowd)

    with lmdb.open(str(file_of(server)), subdir=False, readonly=True) as file:
        asyncio.run(playing())
    assert (wrong, checked) == ([], 60 * 11)


# No room


async def filled(log: Log) -> None:
    """Write other matches until there is no room for one more."""
    with suppress(Problem):
        while True:
            await log.append(os.urandom(ID_BYTES), 0, [b"x" * 500] * 5)


def test_when_the_log_is_full_a_move_is_503_and_the_match_goes_on_from_what_was_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def playing() -> tuple[Any, int]:
        app = App(Desk(live=True), str(path))
        async with serving(app) as port:
            match = (await asked(port, "POST", "/api/matches", {"game": LONG})).json
            coming = events(port, match["id"], 0)
            assert (await anext(coming)).kind == "notice"
            await filled(app.log)
            version = 0
            while (answer := await move(port, match, version, cells()[version], str(version))).status == 200:
                version += 1
                assert (await anext(coming)).ident == version
            assert (answer.status, answer.json["error"], answer.json["statusCode"]) == (503, "log-unwritable", 503)
            assert int(answer.headers["retry-after"]) > 0
            told = asyncio.create_task(anext(coming))
            now = (await asked(port, "GET", path_of(match))).json
            assert now["version"] == len(now["events"]) == version
            assert (await anext(events(port, match["id"]))).data == now
            assert not told.done()
            return match, version

    async def going_on(match: Any, version: int) -> None:
        async with serving(App(Desk(live=True), str(path))) as port:
            assert (await asked(port, "GET", path_of(match))).json["version"] == version
            answer = await move(port, match, version, cells()[version], str(version))
            assert (answer.status, answer.json["version"]) == (200, version + 1)

    monkeypatch.setattr(log_file, "_MAP_BYTES", 1 << 17)
    match, version = asyncio.run(playing())
    monkeypatch.setattr(log_file, "_MAP_BYTES", 1 << 20)
    asyncio.run(going_on(match, version))


def test_while_the_disk_is_full_moves_are_503_and_after_that_the_same_requests_succeed(
    serve: Callable[..., Served],
) -> None:
    server = serve()
    match, machine = server.begin(LONG), server.begin("4,4,4", O="random")
    limits = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (file_of(server).stat().st_size, limits[1]))
    version = 0
    while (answer := server.move(match, "XO"[version % 2], version, cells()[version], f"{version:064}")).status == 200:
        version += 1
    assert (answer.status, answer.json["error"]) == (503, "log-unwritable")
    assert server.get(path_of(match)).json["version"] == version
    refused = server.move(machine, "X", 0, "b2", "mine").status
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limits)
    again = server.move(match, "XO"[version % 2], version, cells()[version], f"{version:064}")
    assert (again.status, again.json["version"]) == (200, version + 1)
    assert refused in (200, 503)
    assert server.move(machine, "X", 0, "b2", "mine").status == 200
    assert len(server.wait_for(machine, 2)["events"]) == 2
    now = server.get(path_of(match)).json
    server.restart()
    assert server.get(path_of(match)).json == now
    assert [event["move"] for event in now["events"]] == cells()[: version + 1]


# Races


@pytest.mark.parametrize("count", [6, pytest.param(30, marks=SLOW)])
def test_of_64_racers_for_a_version_exactly_one_moves(count: int, server: Served) -> None:
    match = server.begin("15,15,5")

    async def race(version: int) -> None:
        free = (await asked(server.port, "GET", path_of(match))).json["legal"]
        racing = (move(server.port, match, version, free[number], f"{version} {number}") for number in range(64))
        answers = await asyncio.gather(*racing)
        assert sorted(answer.status for answer in answers) == [200] + [409] * 63
        (won,) = (answer.json for answer in answers if answer.status == 200)
        assert won["version"] == version + 1
        for answer in answers:
            if answer.status == 409:
                assert (answer.json["error"], answer.json["match"]["version"]) == ("stale-version", version + 1)
                assert answer.json["match"]["events"][-1]["move"] == won["move"]

    for version in range(count):
        asyncio.run(race(version))
    assert server.get(path_of(match)).json["version"] == count


RACERS = """
import asyncio, json, sys
from web import asked

async def race(ports, name, match, count):
    print("ready", flush=True)
    sys.stdin.readline()
    for version in range(count):
        for port in ports:  # another server knows a version a little later
            while (await asked(port, "GET", f"/api/matches/{match['id']}")).json["version"] < version:
                pass
        token, path = match["tokens"]["XO"[version % 2]], f"/api/matches/{match['id']}/moves"
        bodies = [
            {"version": version, "id": f"{name} {version} {number}", "move": match["legal"][version]}
            for number in range(16)
        ]
        sent = (asked(ports[number % len(ports)], "POST", path, body, token) for number, body in enumerate(bodies))
        print(json.dumps([[answer.status, answer.json.get("error")] for answer in await asyncio.gather(*sent)]))

asyncio.run(race(json.loads(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), int(sys.argv[4])))
"""


def raced(ports: Sequence[int], match: Any, count: int) -> list[list[tuple[int, str | None]]]:
    """Return all answers to each version, for which four processes with sixteen racers each compete."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RACERS, json.dumps(ports), name, json.dumps(match), str(count)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(TESTS)},
        )
        for name in "abcd"
    ]  # fmt: skip
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * 4
    for process in processes:
        begin(process)
    lines = [process.communicate(timeout=120)[0].splitlines() for process in processes]
    return [[tuple(each) for line in same for each in json.loads(line)] for same in zip(*lines, strict=True)]


@pytest.mark.parametrize("count", [6, pytest.param(30, marks=SLOW)])
def test_of_64_racers_in_4_processes_exactly_one_moves(count: int, server: Served) -> None:
    match = server.begin("15,15,15")
    for answers in raced([server.port], match, count):
        assert sorted(answers) == [(200, None), *[(409, "stale-version")] * 63]
    assert len(server.get(path_of(match)).json["events"]) == count


@pytest.mark.parametrize("count", [5, pytest.param(30, marks=SLOW)])
def test_of_64_racers_to_two_servers_on_one_log_exactly_one_moves_and_followers_of_both_see_it(
    count: int, serve: Callable[..., Served]
) -> None:
    both = serve(), serve()
    match = both[0].begin("15,15,15")

    async def racing() -> tuple[Any, ...]:
        crowd = [asyncio.create_task(steps(server.port, match, count)) for server in (*both, *both)]
        answers = await asyncio.to_thread(raced, [server.port for server in both], match, count)
        return answers, await asyncio.gather(*crowd)

    answers, seen = asyncio.run(racing())
    for each in answers:
        assert sorted(each) == [(200, None), *[(409, "stale-version")] * 63]
    assert all(each == seen[0] for each in seen)
    assert [event.ident for event in seen[0]] == [*range(1, count + 1)]
    assert both[0].get(path_of(match)).body == both[1].get(path_of(match)).body


def test_two_servers_on_one_log_show_each_other_s_steps_while_both_are_busy(serve: Callable[..., Served]) -> None:
    both = serve(), serve()
    begun = [both[number % 2].begin(LONG) for number in range(6)]

    async def playing(match: Any, port: int) -> None:
        for version in range(25):
            assert (await move(port, match, version, cells()[version], str(version))).status == 200

    async def all_of_it() -> list[list[Event]]:
        crowd = [asyncio.create_task(steps(server.port, match, 25)) for match in begun for server in both]
        await asyncio.gather(*(playing(match, both[number % 2].port) for number, match in enumerate(begun)))
        return await asyncio.gather(*crowd)

    seen = asyncio.run(all_of_it())
    assert [[event.ident for event in each] for each in seen] == [[*range(1, 26)]] * 12


def test_a_retry_at_the_other_server_is_the_same_step(serve: Callable[..., Served]) -> None:
    first, second = serve(), serve()
    match = first.begin("3,3,3")
    assert second.get(path_of(match)).json["version"] == 0
    made = first.move(match, "X", 0, "b2", "mine")
    again = second.move(match, "X", 0, "b2", "mine")
    assert (made.status, again.status, again.body) == (200, 200, made.body)
    assert second.get(path_of(match)).json["version"] == 1


# Kills


class Player:
    """Plays a match until the server dies; with a rival, for the same versions."""

    def __init__(self, match: Any, name: str, offset: int) -> None:
        self.match = match
        self.name = name
        self.offset = offset
        self.won: dict[int, Any] = {}
        self.lost: set[int] = set()
        self.open: tuple[int, str] | None = None

    def cell(self, version: int) -> str:
        """The move that this player makes, which is no rival's, then or later."""
        return cells()[2 * version + self.offset]

    def written_unanswered(self, found: Any) -> bool:
        """Tell whether a match has the move for which this player got no answer."""
        version = self.open[0] if self.open and self.match["id"] == found["id"] else found["version"]
        return version < found["version"] and found["events"][version]["move"] == self.cell(version)

    async def play(self, port: int, version: int) -> None:
        """Make move after move, from a version on, for as long as the server answers."""
        while version < 150:
            try:
                version = await self.ask(port, version)
            except (OSError, asyncio.IncompleteReadError):
                return

    async def ask(self, port: int, version: int) -> int:
        """Ask for a move, and return the version to go on with."""
        ident = f"{self.name} {version}"
        self.open = (version, ident)
        answer = await move(port, self.match, version, self.cell(version), ident)
        self.open = None
        if answer.status == 200:
            self.won[version] = answer.json
            return version + 1
        assert (answer.status, answer.json["error"]) == (409, "stale-version"), answer
        self.lost.add(version)
        return int(answer.json["match"]["version"])


async def loaded(server: Served, players: Sequence[Player], seconds: float) -> None:
    """Let all play, and kill the server after a while."""
    versions = [server.get(path_of(player.match)).json["version"] for player in players]
    playing = [
        asyncio.create_task(each.play(server.port, version)) for each, version in zip(players, versions, strict=True)
    ]
    await asyncio.sleep(seconds)
    server.process.send_signal(signal.SIGKILL)
    await asyncio.gather(*playing)


async def retried(server: Served, players: Sequence[Player]) -> None:
    """Send every request again that was not answered, twice, and require the same answer both times."""
    for player in players:
        if player.open:
            version, ident = player.open
            answers = [await move(server.port, player.match, version, player.cell(version), ident) for _ in range(2)]
            assert answers[0].status == answers[1].status
            if answers[0].status == 200:
                assert answers[0].body == answers[1].body
                player.won[version] = answers[0].json
            else:
                assert (answers[0].status, answers[0].json["error"]) == (409, "stale-version")
                player.lost.add(version)
            player.open = None


@pytest.mark.parametrize("times", [5, pytest.param(50, marks=SLOW)])
def test_a_kill_loses_no_acknowledged_move_and_a_retry_is_never_a_second_one(
    times: int, serve: Callable[..., Served]
) -> None:
    server, rng = serve(), random.Random(12)
    every: list[Player] = []
    unanswered = on_disk = 0
    for number in range(times):
        if number % 5 == 0:
            matches = [server.begin(LONG) for _ in range(6)]
            players = [Player(match, "a", 0) for match in matches] + [Player(match, "b", 1) for match in matches[:3]]
            every += players
        asyncio.run(loaded(server, players, rng.uniform(0.02, 0.3)))
        server.restart()
        acknowledged = {(player.match["id"], version) for player in players for version in player.won}
        for match in matches:
            found = server.get(path_of(match)).json
            assert {version for ident, version in acknowledged if ident == match["id"]} <= {*range(found["version"])}
            on_disk += sum(player.written_unanswered(found) for player in players)
        unanswered += sum(player.open is not None for player in players)
        asyncio.run(retried(server, players))
    made = 0
    for ident in {player.match["id"] for player in every}:
        found = server.get(path_of({"id": ident})).json
        owners = [player for player in every if player.match["id"] == ident]
        for version, event in enumerate(found["events"]):
            (winner,) = (player for player in owners if version in player.won)
            assert (event["move"], event["time"]) == (winner.cell(version), winner.won[version]["time"])
            assert all(version in player.lost or version not in player.won for player in owners if player != winner)
        assert found["version"] == len(found["events"]) == sum(len(player.won) for player in owners)
        made += found["version"]
    print(f"{times} kills: {made} moves; {unanswered} requests not answered, {on_disk} of them on disk")
    assert made > times
    assert unanswered > 0
    assert "Traceback" not in server.said


# What is kept, and for how long

DAY = 86400
STAMP = "%Y-%m-%dT%H:%M:%SZ"


def entries(age: float, moves: Sequence[float] = ()) -> list[bytes]:
    """Return the events of a match that began some days ago, with moves so many days ago."""
    now = time.time()
    first = {"game": "3,3,3", "players": {"X": "human", "O": "human"}, "board": None, "created": int(now - age * DAY)}
    stamps = [time.strftime(STAMP, time.gmtime(now - each * DAY)) for each in moves]
    made = [
        {"event": "moved", "side": "XO"[at % 2], "move": cells("3,3,3")[at], "time": stamp}
        for at, stamp in enumerate(stamps)
    ]
    return [json.dumps(each).encode() for each in [first, *made]]


def test_matches_that_nobody_played_for_a_month_are_dropped_but_none_that_is_open(app: App) -> None:
    kept = {
        b"new     ": entries(0), b"played  ": entries(90, [80, 29]), b"followed": entries(90, [80]),
        b"asked   ": entries(90),
    }  # fmt: skip
    old = {b"old     ": entries(31), b"finished": entries(90, [80, 80, 80])}

    async def housekeeping() -> None:
        async with serving(app) as port:
            for match, written in {**kept, **old}.items():
                assert await app.log.append(match, 0, written)
            coming = events(port, b"followed".hex())
            await anext(coming)
            asking = path_of({"id": b"asked   ".hex()})
            assert (await asked(port, "GET", asking)).status == 200
            assert await asyncio.to_thread(app.api.matches._drop_old) == len(kept)
            assert {match for match, _, _ in app.log.last_events()} == set(kept)
            for match in (*kept, *old):
                answer = await asked(port, "GET", path_of({"id": match.hex()}))
                assert answer.status == (200 if match in kept else 404)
            await coming.aclose()

    asyncio.run(housekeeping())


def test_matches_that_nobody_began_to_play_are_dropped_after_a_week(
    serve: Callable[..., Served],
) -> None:
    server = serve()
    with logged(file_of(server)) as log:
        append(log, b"old     ", 0, *entries(8))
        append(log, b"new     ", 0, *entries(6))
        server.restart()
        asyncio.run(until(lambda: not log.events(b"old     ")))
    for match, status in ((b"old     ", 404), (b"new     ", 200)):
        assert server.get(path_of({"id": match.hex()})).status == status


def test_no_more_matches_are_begun_than_may_be_kept(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_matches, "MOST_MATCHES", 3)

    async def beginning() -> list[Answer]:
        assert await app.log.append(MATCH, 0, entries(1))
        async with serving(app) as port:
            await until(lambda: app.api.matches._count == 1)
            return [await asked(port, "POST", "/api/matches", {}) for _ in range(4)]

    *begun, refused = asyncio.run(beginning())
    assert [answer.status for answer in begun] == [201, 201, 201], "the oldest makes room, as it is not in memory"
    assert (refused.status, refused.json["error"]) == (503, "too-many-matches")
    assert refused.headers["retry-after"] == "60"


def test_a_match_has_a_last_step(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_matches, "MOST_EVENTS", 3)

    async def playing() -> list[Answer]:
        async with serving(app) as port:
            match = (await asked(port, "POST", "/api/matches", {"game": LONG})).json
            made = [await move(port, match, version, cells()[version], str(version)) for version in range(4)]
            return [*made, await move(port, match, 2, cells()[2], "2")]

    *made, refused, again = asyncio.run(playing())
    assert [answer.status for answer in made] == [200] * 3
    assert (refused.status, refused.json["error"]) == (409, "too-long")
    assert again.body == made[2].body, "a retry is answered still"


def test_a_match_that_is_not_held_in_memory_comes_back_as_it_was(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_matches, "LOADED", 3)

    async def playing() -> None:
        async with serving(app) as port:
            begun = [(await asked(port, "POST", "/api/matches", {"game": "3,3,3"})).json for _ in range(8)]
            coming = events(port, begun[0]["id"])
            await anext(coming)
            first = [await move(port, match, 0, "b2", "mine") for match in begun]
            whole = [(await asked(port, "GET", path_of(match))).body for match in begun]
            assert len(app.api.matches._loaded) <= 4, "three, and the one that is followed"
            assert bytes.fromhex(begun[0]["id"]) in app.api.matches._loaded
            for match, answer, before in zip(begun, first, whole, strict=True):
                assert (await asked(port, "GET", path_of(match))).body == before
                assert (await move(port, match, 0, "b2", "mine")).body == answer.body
            assert (await anext(coming)).data == first[0].json
            await coming.aclose()

    asyncio.run(playing())
