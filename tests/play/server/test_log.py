"""The log: what is acknowledged is on disk, what is on disk is told, and no version is written twice, whoever dies."""

import asyncio
import json
import os
import random
import resource
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from asgi import InProcess, Stream
from web import Answer, Event, Served, asked, events

from play.server import log_file
from play.server import matches as kept_matches
from play.server.log import Log
from play.server.log_rows import ID_BYTES, LogFailed
from play.server.problems import Problem
from play.server.seats import token_of
from solver.errors import StoreUnwritable
from solver.games.registry import find_game

SLOW = pytest.mark.slow
MATCH, OTHER = b"one game", b"another1"
LONG = "20,20,20"  # no line of it will be full before the board is nearly so


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
    return tmp_path / "state" / "matches.sqlite"


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
        commit, commits = log._commit, []
        log._commit = lambda batch: (commits.append(len(batch)), commit(batch))[1]  # type: ignore[method-assign]
        assert asyncio.run(many()) == [True] * 500
        assert (sum(commits), len(log.file.heads())) == (500, 500)
        assert len(commits) <= 50


def test_of_those_who_want_one_version_in_one_commit_exactly_one_gets_it(path: Path) -> None:
    async def race(version: int) -> list[bool]:
        return await asyncio.gather(*(log.append(MATCH, version, [b"%d" % number]) for number in range(64)))

    with logged(path) as log:
        for version in range(20):
            won = asyncio.run(race(version))
            assert won.count(True) == 1
            assert log.events(MATCH, version) == [b"%d" % won.index(True)]


def test_every_commit_is_synced_and_nothing_is_mapped(path: Path) -> None:
    with logged(path) as log:
        kept = [log.file._one(f"PRAGMA {each}") for each in ("synchronous", "journal_mode", "mmap_size")]
    assert kept == [(2,), (b"persist",), (0,)]


def test_only_the_user_can_read_the_file_and_its_folder(path: Path) -> None:
    with logged(path):
        assert [each.stat().st_mode & 0o777 for each in (path, path.parent)] == [0o600, 0o700]
        assert {each.stat().st_mode & 0o077 for each in path.parent.iterdir()} == {0}


def test_where_no_file_can_be_the_server_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnwritable, match="cannot keep games in"):
        Log(str(tmp_path / "file" / "matches.sqlite"))


# Several processes on one file


class Child:
    """A forked process that runs a function once it is told to begin; a log has to be opened after the fork."""

    def __init__(self, function: Callable[[Callable[[bytes], object]], object]) -> None:
        """Give the function a way to tell something."""
        waiting, self._beginning = os.pipe()
        self._reading, writing = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(self._beginning)
            try:
                if os.read(waiting, 1):
                    function(lambda told: os.write(writing, told))
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        os.close(waiting)
        os.close(writing)

    def begin(self) -> "Child":
        os.write(self._beginning, b"!")
        return self

    def ended(self) -> tuple[int, bytes]:
        """Wait for the end, and return the exit code and what was told."""
        with os.fdopen(self._reading, "rb") as reading:
            told = reading.read()
        os.close(self._beginning)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1]), told


def writer(path: Path, name: str, count: int) -> Child:
    """Return a process that writes the versions of one match in turn, and tells which of them it has written."""

    def write(tell: Callable[[bytes], object]) -> None:
        with logged(path) as log:
            for version in range(count):
                tell(b"%d" % append(log, MATCH, version, f"{name} {version}".encode()))

    return Child(write)


def test_of_several_processes_exactly_one_writes_each_version(path: Path) -> None:
    processes = [writer(path, name, 30) for name in "abcd"]
    for process in processes:
        process.begin()
    won = [process.ended()[1].decode() for process in processes]
    assert [sum(map(int, each)) for each in zip(*won, strict=True)] == [1] * 30
    with logged(path) as log:
        names = ["abcd"[each.index("1")] for each in zip(*won, strict=True)]
        assert log.events(MATCH) == [f"{name} {version}".encode() for version, name in enumerate(names)]


class Deadly(list[bytes]):
    """Events of which only the first three can be read: then the process is killed."""

    def __iter__(self) -> Iterator[bytes]:
        yield from self[:3]
        os.kill(os.getpid(), signal.SIGKILL)


def deadly(commit: Callable[[Any], Any], *, after: bool) -> Callable[[Any], Any]:
    """Return a commit that the process does not survive: it is killed before the commit is made, or after it."""

    def dying(batch: Any) -> None:
        if after:
            commit(batch)
        os.kill(os.getpid(), signal.SIGKILL)

    return dying


@pytest.mark.parametrize("when", ["before", "within", "after"])
def test_a_killed_writer_leaves_all_that_it_acknowledged_and_no_half_of_anything(when: str, path: Path) -> None:
    def write(tell: Callable[[bytes], object]) -> None:
        with logged(path) as log:
            assert append(log, MATCH, 0, *[b"first"] * 5)
            assert append(log, MATCH, 5, *[b"second"] * 5)
            tell(b"acknowledged")
            if when != "within":
                log._commit = deadly(log._commit, after=when == "after")  # type: ignore[method-assign]
            asyncio.run(log.append(MATCH, 10, Deadly([b"third"] * 5) if when == "within" else [b"third"] * 5))
            tell(b"too much")

    assert Child(write).begin().ended() == (-signal.SIGKILL, b"acknowledged")
    with logged(path) as log:
        found = log.events(MATCH)
        assert found == [b"first"] * 5 + [b"second"] * 5 + [b"third"] * 5 * (when == "after")
        assert append(log, MATCH, len(found), b"goes on")


@pytest.mark.parametrize("before", ["", "written", "refused"])
@pytest.mark.parametrize("after", ["", "written", "refused"])
def test_what_another_process_writes_is_noticed_whatever_is_asked_for_here(before: str, after: str, path: Path) -> None:
    process = writer(path, "a", 1)
    with logged(path) as log:

        def ask(what: str) -> None:
            if what:
                assert append(log, OTHER, len(log.events(OTHER)) + (what == "refused"), b"own") == (what == "written")

        ask(before)
        assert not log.written_elsewhere()
        assert process.begin().ended() == (0, b"1")
        ask(after)
        assert log.written_elsewhere()
        assert not log.written_elsewhere()


@pytest.fixture
def rival(tmp_path: Path) -> Child:
    """Another server on the log of the test's own application, which makes O's first move in its only match."""

    def move(tell: Callable[[bytes], object]) -> None:
        with InProcess(tmp_path / "state0", live=True) as other:
            (head,) = other.app.log.file.heads()
            live = other.app.api.matches.find(head.match.hex())
            match = {"id": live.name, "tokens": {"O": token_of(live.key, live.ident, "O")}}
            tell(other.move(match, "O", 1, "a1", "theirs").body)

    return Child(move)


def overtaken(server: InProcess, rival: Child) -> tuple[Any, Stream, Any]:
    """Begin and follow a match in which another server makes the second step; return all three."""
    match = server.begin("3,3,3")
    server.move(match, "X", 0, "b2")
    following = server.follow(match)
    following.next()
    return match, following, json.loads(rival.begin().ended()[1])


def test_who_comes_second_to_another_server_is_refused_with_what_that_has_written(
    rival: Child, serve: Callable[..., InProcess]
) -> None:
    server = serve()
    match, following, theirs = overtaken(server, rival)
    refused = server.move(match, "O", 1, "c3", "mine")
    assert (refused.status, refused.json["error"]) == (409, "stale-version")
    assert refused.json["match"]["version"] == 2
    assert [event.data for event in following.waiting()] == [theirs]
    assert server.move(match, "O", 1, "a1", "theirs").json == theirs, "a retry here is the same step"
    following.close()


def test_what_another_server_writes_comes_to_those_who_follow_here(
    rival: Child, serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_matches, "_WATCHED", 0.01)
    _, following, theirs = overtaken(serve(), rival)
    assert following.next().data == theirs
    following.close()


# Nobody is told before it is on disk


@pytest.mark.parametrize("committed", [False, True])
def test_until_the_log_has_a_move_nobody_hears_of_it(committed: bool, serve: Callable[..., InProcess]) -> None:
    server = serve()
    match = server.begin("3,3,3")
    before = server.get(path_of(match)).body
    following = server.follow(match)
    assert following.next().kind == "match"
    move = ("POST", path_of(match, "moves"), {"version": 0, "id": "mine", "move": "b2"}, match["tokens"]["X"])
    with server.writing_held_up(committed=committed) as reached:
        answer, retry = (server.start_asking(*move) for _ in range(2))
        server.run(asyncio.to_thread(reached.wait, 20))
        for _ in range(5):  # others are served meanwhile
            assert server.get(path_of(match)).body == before
        late = server.follow(match)
        assert late.next().data["version"] == 0
        assert not answer.done()
        assert not retry.done()
        assert following.waiting() == []
    made = server.run(answer)
    assert (made.status, made) == (200, server.run(retry))
    assert following.next().data == late.next().data == made.json
    assert server.get(path_of(match)).json["version"] == 1
    following.close()
    late.close()


# No room


async def filled(log: Log, *, played: bool) -> None:
    """Write other matches until there is no room for one more, or one has made room for another."""
    begun = len(log.file.heads())
    with suppress(Problem):
        while len(log.file.heads()) == begun:
            await log.append(os.urandom(ID_BYTES), 0, [b"x" * 500] * 5, played=played)
            begun += 1


def moves_until_refused(server: InProcess, match: Any) -> tuple[Answer, int]:
    """Make moves until one cannot be kept: the answer, and the version that the match then has."""
    version = 0
    while (answer := server.move(match, "XO"[version % 2], version, cells()[version], str(version))).status == 200:
        version += 1
    assert (answer.status, answer.json["error"], answer.json["statusCode"]) == (503, "log-unwritable", 503)
    assert int(answer.headers["retry-after"]) > 0
    return answer, version


def test_in_a_full_log_a_move_is_503_and_goes_on_once_there_is_room_also_after_a_restart(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "FILE_BYTES", 1 << 17)
    server = serve()
    match = server.begin(LONG)
    following = server.follow(match)
    server.run(filled(server.app.log, played=True))
    _, version = moves_until_refused(server, match)
    assert [event.ident for event in following.waiting()] == [*range(version + 1)]
    now = server.get(path_of(match)).json
    assert now["version"] == len(now["events"]) == version
    server.restart()
    assert server.get(path_of(match)).json["version"] == version
    again = ("XO"[version % 2], version, cells()[version], str(version))
    assert server.move(match, *again).status == 503
    heads = server.app.log.file.heads()
    server.app.log.retention._drop([head for head in heads if head.match.hex() != match["id"]])
    answer = server.move(match, *again)
    assert (answer.status, answer.json["version"]) == (200, version + 1)
    following.close()


def test_in_a_full_log_unplayed_matches_make_room_and_no_other(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_file, "FILE_BYTES", 1 << 17)
    server = serve()
    match = server.begin(LONG)
    server.run(filled(server.app.log, played=False))
    before = len(server.app.log.file.heads())
    for version in range(100):
        assert server.move(match, "XO"[version % 2], version, cells()[version]).status == 200
    left = server.app.log.file.heads()
    assert 1 < len(left) < before
    assert [head.match.hex() for head in left if head.played] == [match["id"]]
    assert server.app.log.check().sound


def test_where_making_room_fails_too_later_writes_succeed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*given: object, **named: object) -> Any:
        raise LogFailed("disk I/O error", full=True)

    with logged(path) as log:
        with monkeypatch.context() as faulty:
            faulty.setattr(log, "_commit", failing)
            faulty.setattr(log.file, "is_full", failing)
            with pytest.raises(Problem, match="the game cannot be kept: disk I/O error"):
                append(log, MATCH, 0, b"begun")
        assert append(log, MATCH, 0, b"begun")


def test_while_the_disk_is_full_moves_are_503_and_after_that_the_same_requests_succeed(
    tmp_path: Path, forked: Callable[..., tuple[int, str]]
) -> None:
    def playing() -> str:
        server = InProcess(tmp_path / "state", live=True)
        match, machine = server.begin(LONG), server.begin("3,3,3", O="random")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (server.file.stat().st_size, limits[1]))
        _, version = moves_until_refused(server, match)
        assert server.get(path_of(match)).json["version"] == version
        refused = server.move(machine, "X", 0, "b2", "mine").status
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        again = server.move(match, "XO"[version % 2], version, cells()[version], str(version))
        assert (again.status, again.json["version"]) == (200, version + 1)
        assert refused in (200, 503)
        assert server.move(machine, "X", 0, "b2", "mine").status == 200
        assert len(server.wait_for(machine, 2)["events"]) == 2
        now = server.get(path_of(match)).json
        server.restart()
        assert server.get(path_of(match)).json == now
        assert [event["move"] for event in now["events"]] == cells()[: version + 1]
        return "done"

    assert forked(playing) == (0, "done")


# Races


def racers(match: Any, version: int, count: int, name: str = "") -> list[tuple[str, str, Any, str]]:
    """Return requests for different moves that all want to make the same version."""
    path, token = path_of(match, "moves"), match["tokens"]["XO"[version % 2]]
    return [
        ("POST", path, {"version": version, "id": f"{name} {version} {number}", "move": move}, token)
        for number, move in enumerate(cells("15,15,15")[version : version + count])
    ]


def test_of_64_racers_for_a_version_exactly_one_moves(server: InProcess) -> None:
    match = server.begin("15,15,15")
    for version in range(3):
        answers = server.together(*(server.asking(*each) for each in racers(match, version, 64)))
        assert sorted(answer.status for answer in answers) == [200] + [409] * 63
        (won,) = (answer.json for answer in answers if answer.status == 200)
        assert won["version"] == version + 1
        for answer in answers:
            if answer.status == 409:
                assert (answer.json["error"], answer.json["match"]["version"]) == ("stale-version", version + 1)
                assert answer.json["match"]["events"][-1]["move"] == won["move"]
    assert server.get(path_of(match)).json["version"] == 3


@pytest.mark.parametrize("count", [2, pytest.param(30, marks=SLOW)])
def test_of_racers_to_two_servers_on_one_log_exactly_one_moves_and_followers_of_both_see_it(
    count: int, serve_process: Callable[..., Served]
) -> None:
    both = serve_process(), serve_process()
    match = both[0].begin("15,15,15")

    async def racing() -> list[list[Event]]:
        crowd = [asyncio.create_task(steps(server.port, match, count)) for server in (*both, *both)]
        for version in range(count):
            for server in both:  # another server knows a version a little later
                await until_at(server, match, version)
            sent = (asked(server.port, *each) for server in both for each in racers(match, version, 16, server.url))
            answers = await asyncio.gather(*sent)
            kinds = sorted((answer.status, answer.json.get("error")) for answer in answers)
            assert kinds == [(200, None), *[(409, "stale-version")] * 31]
        return await asyncio.gather(*crowd)

    seen = asyncio.run(racing())
    assert all(each == seen[0] for each in seen)
    assert [event.ident for event in seen[0]] == [*range(1, count + 1)]
    assert both[0].get(path_of(match)).body == both[1].get(path_of(match)).body


async def until_at(server: Served, match: Any, version: int) -> None:
    """Wait until a server knows a version of a match."""
    while (await asked(server.port, "GET", path_of(match))).json["version"] < version:
        await asyncio.sleep(0.005)


# Kills


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_loses_no_acknowledged_move_and_a_retry_is_never_a_second_one(after: bool, tmp_path: Path) -> None:
    def playing(tell: Callable[[bytes], object]) -> None:
        server = InProcess(tmp_path / "state", live=True)
        match = server.begin("3,3,3")
        tell(json.dumps(match).encode() + b"\n" + server.move(match, "X", 0, "b2", "first").body)
        server.app.log._commit = deadly(server.app.log._commit, after=after)  # type: ignore[method-assign]
        tell(server.move(match, "O", 1, "a1", "second").body)

    code, told = Child(playing).begin().ended()
    assert code == -signal.SIGKILL
    match, first = map(json.loads, told.splitlines())
    with InProcess(tmp_path / "state", live=True) as server:
        found = server.get(path_of(match)).json
        assert [event["move"] for event in found["events"]] == ["b2", "a1"][: 1 + after]
        made = [server.move(match, "O", 1, "a1", "second") for _ in range(2)]
        assert (made[0].status, made[0].json["version"], made[0]) == (200, 2, made[1])
        assert server.move(match, "X", 0, "b2", "first").json == first
        assert server.get(path_of(match)).json["version"] == 2


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


@pytest.mark.slow
def test_kills_at_any_moment_lose_no_acknowledged_move(serve_process: Callable[..., Served]) -> None:
    server, rng, times = serve_process(), random.Random(12), 10
    every: list[Player] = []
    unanswered = 0
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
    assert made > times
    assert unanswered > 0
    assert "Traceback" not in server.said


# What a match may take


def test_a_match_has_a_last_step(serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_matches, "MOST_EVENTS", 3)
    server = serve()
    match = server.begin(LONG)
    *made, refused = [server.move(match, "XO"[at % 2], at, cells()[at], str(at)) for at in range(4)]
    assert [answer.status for answer in made] == [200] * 3
    assert (refused.status, refused.json["error"]) == (409, "too-long")
    assert server.move(match, "X", 2, cells()[2], "2").body == made[2].body, "a retry is answered still"


def test_long_ids_do_not_let_a_match_take_more_room(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_matches, "MOST_ENTRY_BYTES", 2_500)
    server = serve()
    match = server.begin(LONG)
    ids = ["\N{GRINNING FACE}" * 63 + str(at) for at in range(4)]
    made = [server.move(match, "XO"[at % 2], at, cells()[at], ids[at]).status for at in range(4)]
    assert made == [200, 200, 200, 409]


def test_a_match_that_is_not_held_in_memory_comes_back_as_it_was(
    serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_matches, "LOADED", 3)
    server = serve()
    begun = [server.begin("3,3,3") for _ in range(8)]
    following = server.follow(begun[0])
    following.next()
    first = [server.move(match, "X", 0, "b2", "mine") for match in begun]
    whole = [server.get(path_of(match)).body for match in begun]
    loaded = server.app.api.matches._loaded
    assert len(loaded) <= 4, "three, and the one that is followed"
    assert bytes.fromhex(begun[0]["id"]) in loaded
    for match, answer, before in zip(begun, first, whole, strict=True):
        assert server.get(path_of(match)).body == before
        assert server.move(match, "X", 0, "b2", "mine").body == answer.body
    assert following.next().data == first[0].json
    following.close()
