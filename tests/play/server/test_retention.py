"""Retention: which matches go when and first, whatever the clock and other addresses do."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from asgi import InProcess

from play.server import log as log_module
from play.server import matches as kept_matches
from play.server.log_file import LogFile
from play.server.log_rows import Head
from play.server.retention import KEPT_DAYS, UNPLAYED_DAYS, Retention, first_to_go

HOUR, DAY = 3600, 86_400
NOW = 1_800_000_000


class Clocks:
    """A wall clock, and the hours for which the server has run."""

    def __init__(self, path: Path) -> None:
        self.wall, self.monotonic = float(NOW), 5e5
        self.file = LogFile(str(path))
        self.start()

    def start(self) -> None:
        """Start the server again."""
        self.retention = Retention(self.file, lambda: self.wall, lambda: self.monotonic)

    def run(self, hours: int, in_use: frozenset[bytes] = frozenset()) -> None:
        """Let the server run so long, with its housekeeping every hour."""
        for _ in range(hours):
            self.monotonic += HOUR
            self.wall += HOUR
            self.retention.tidy(in_use)

    def keep(self, name: str, days: float, *, played: bool = False, creator: str = "") -> bytes:
        """Keep a match whose last event was so many days ago."""
        match = name.ljust(8).encode()
        with self.file.writing():
            then = int(1000 * (self.wall - days * DAY))
            assert self.file.append(match, 0, [b"1"], now=then, played=played, creator=creator.encode())
        return match

    @property
    def kept(self) -> set[str]:
        return {head.match.decode().strip() for head in self.file.heads()}


@pytest.fixture
def clocks(tmp_path: Path) -> Iterator[Clocks]:
    clocks = Clocks(tmp_path / "log" / "matches.sqlite")
    yield clocks
    clocks.file.close()


def test_matches_are_dropped_a_day_after_they_were_found_old(clocks: Clocks) -> None:
    for name, days, played in (
        ("new", UNPLAYED_DAYS - 2, False), ("old", UNPLAYED_DAYS + 1, False),
        ("played", KEPT_DAYS - 2, True), ("done", KEPT_DAYS + 1, True),
    ):  # fmt: skip
        clocks.keep(name, days, played=played)
    clocks.run(24)
    assert clocks.kept == {"new", "old", "played", "done"}
    clocks.run(1)
    assert clocks.kept == {"new", "played"}


def test_a_clock_that_jumps_deletes_nothing(clocks: Clocks) -> None:
    clocks.keep("played", 1, played=True)
    clocks.keep("unplayed", 1)
    for jump in (40 * DAY, 4000 * DAY, -9000 * DAY):
        clocks.wall = NOW + jump
        clocks.start()
        clocks.run(23)
        clocks.wall = NOW
        clocks.run(1)
    assert clocks.kept == {"played", "unplayed"}
    assert {head.old_since for head in clocks.file.heads()} == {-1}, "what was found old is not any more"


def test_restarts_do_not_begin_the_day_anew(clocks: Clocks) -> None:
    clocks.keep("old", KEPT_DAYS + 1, played=True)
    for _ in range(3):
        assert clocks.kept == {"old"}
        clocks.monotonic = 100.0  # as after a reboot
        clocks.start()
        clocks.run(10)
    assert clocks.kept == set()


def test_two_servers_on_a_file_count_the_time_once(clocks: Clocks) -> None:
    clocks.keep("old", KEPT_DAYS + 1, played=True)
    other = Retention(clocks.file, lambda: clocks.wall, lambda: clocks.monotonic)
    for _ in range(24):
        clocks.run(1)
        other.tidy(frozenset())
    assert clocks.kept == {"old"}
    clocks.run(1)
    assert clocks.kept == set()


def test_a_match_in_use_is_not_dropped_and_one_that_went_on_is_not_old(clocks: Clocks) -> None:
    followed, played = clocks.keep("followed", 90), clocks.keep("played", 90)
    clocks.run(20, frozenset({followed}))
    with clocks.file.writing():
        clocks.file.append(played, 1, [b"2"], now=int(1000 * clocks.wall), played=True, creator=b"")
    clocks.run(30, frozenset({followed}))
    assert clocks.kept == {"followed", "played"}


def test_a_match_that_changes_meanwhile_is_not_dropped(clocks: Clocks) -> None:
    match = clocks.keep("unplayed", 1)
    (before,) = clocks.file.heads()
    with clocks.file.writing():
        clocks.file.append(match, 1, [b"2"], now=NOW, played=True, creator=b"")
        assert clocks.file.drop([before]) == 0
        clocks.file.mark(before, 7)
    assert [head.old_since for head in clocks.file.heads()] == [-1]


def test_of_unplayed_matches_the_older_ones_of_the_busiest_address_go_first() -> None:
    def head(name: str, creator: str, created: int, *, played: bool = False) -> Head:
        return Head(name.encode(), created, created, 1, int(played), -1, creator.encode(), b"")

    heads = [head(f"f{at}", "flood", 100 + at) for at in range(4)]
    heads += [head("g1", "guest", 1), head("g2", "guest", 2), head("h", "host", 3), head("p", "flood", 0, played=True)]
    order = [each.match.decode() for each in first_to_go(heads, {b"f1"})]
    assert order == ["f0", "g1", "f2", "g2", "h", "f3"]


# Through the server


@pytest.fixture
def small(serve: Callable[..., InProcess], monkeypatch: pytest.MonkeyPatch) -> InProcess:
    """A server that keeps at most ten matches, and of one address at most four."""
    monkeypatch.setattr(kept_matches, "MOST_MATCHES", 10)
    monkeypatch.setattr(log_module, "MOST_MATCHES", 10)
    server, clock = serve(most_of_one=4), itertools.count(NOW)
    server.app.log.wall = lambda: float(next(clock))
    return server


def begin(server: InProcess, source: str, *, played: bool = False) -> str:
    """Begin a match from an address, and return its id, or what was wrong."""
    answer = server.ask("POST", "/api/matches", {"game": "3,3,3"}, source=source)
    if answer.status != 201:
        assert (answer.status, answer.json["error"]) in ((429, "too-many-begun"), (503, "too-many-matches"))
        assert int(answer.headers["retry-after"]) > 0
        return str(answer.json["error"])
    if played:
        assert server.move(answer.json, "X", 0, "b2").status == 200
    return str(answer.json["id"])


def test_a_flood_of_new_matches_deletes_no_match_with_a_move(small: InProcess) -> None:
    played = begin(small, "10.0.0.1", played=True)
    invited = begin(small, "10.0.0.2")
    begun = [begin(small, f"10.0.1.{at % 5}") for at in range(60)]
    assert all(len(each) == 16 for each in begun), "each made room for the next"
    statuses = {each: small.get(f"/api/matches/{each}").status for each in (played, invited, begun[-1])}
    assert set(statuses.values()) == {200}
    assert len(small.app.log.file.heads()) <= 10
    assert {head.match.hex() for head in small.app.log.file.heads()} >= {played, invited, begun[-1]}


def test_where_all_have_moves_a_new_match_is_refused_and_none_is_deleted(small: InProcess) -> None:
    begun = [begin(small, f"10.0.0.{at % 5}", played=True) for at in range(10)]
    before = small.app.log.file.heads()
    assert begin(small, "10.0.9.9") == "too-many-matches"
    assert small.app.log.file.heads() == before
    assert {head.match.hex() for head in before} == {*begun}
    small.restart()
    assert begin(small, "10.0.9.9") == "too-many-matches"


@pytest.mark.parametrize("source", ["10.0.0.1", "127.0.0.1", "2001:db8:1::1"])
def test_one_address_cannot_fill_the_log(source: str, small: InProcess) -> None:
    begun = [begin(small, source, played=True) for _ in range(4)]
    assert all(len(each) == 16 for each in begun)
    assert begin(small, source) == "too-many-begun"
    assert small.ask("POST", "/game/start", {"mode": "PvP"}, source=source).status == 429
    neighbour = {"127.0.0.1": "127.0.0.9", "2001:db8:1::1": "2001:db8:1:ff::"}.get(source, source)
    assert begin(small, neighbour) == "too-many-begun"
    assert len(begin(small, "10.0.0.2")) == 16


def test_a_rematch_counts_as_begun_by_who_asks_first(small: InProcess) -> None:
    for _ in range(3):
        begin(small, "10.0.0.1", played=True)
    match = small.begin("3,3,3")
    for version, move in enumerate(["a1", "b1", "a2", "b2", "a3"]):
        assert small.move(match, "XO"[version % 2], version, move).status == 200
    path = f"/api/matches/{match['id']}/rematch"
    ask = [small.ask("POST", path, {}, match["tokens"]["X"], source="10.0.0.1") for _ in range(2)]
    assert [answer.status for answer in ask] == [201, 201]
    assert begin(small, "10.0.0.1", played=True) != "too-many-begun", "the unplayed rematch has made room"
    assert begin(small, "10.0.0.1") == "too-many-begun"


def test_where_a_match_that_was_held_in_memory_has_made_room_its_next_step_is_404(small: InProcess) -> None:
    match = small.begin("3,3,3")
    for _ in range(6):
        begin(small, "127.0.0.1")
    refused = small.move(match, "X", 0, "b2")
    assert (refused.status, refused.json["error"]) == (404, "no-match")
    assert small.get(f"/api/matches/{match['id']}").status == 404
