"""Damage to the file of the matches: a match is as it was acknowledged, or is named as damaged, whatever is on disk."""

import asyncio
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest
from asgi import InProcess

from play.server.log import Log
from play.server.log_file import LogFile
from play.server.log_rows import ID_BYTES, LogDamaged, LogFailed, MatchDamaged
from play.server.problems import Problem
from solver.errors import StoreDamaged
from solver.games.registry import find_game

PAGE = 4096
Entries = dict[bytes, list[bytes]]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return a file's content after some kind of damage."""
    changed, pages = bytearray(content), len(content) // PAGE
    kind = rng.choice(("bits", "bits", "bytes", "zeros", "noise", "cut", "swap", "copy", "shift"))
    at, other = (rng.randrange(pages) * PAGE for _ in range(2))
    if kind == "bits":
        for _ in range(rng.choice((1, 1, 1, 3, 30))):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    elif kind == "bytes":
        start, size = rng.randrange(len(changed)), rng.choice((1, 2, 4, 16, 100))
        changed[start : start + size] = rng.randbytes(len(changed[start : start + size]))
    elif kind in ("zeros", "noise"):
        start, size = rng.choice(((at, PAGE), (rng.randrange(len(changed)), 512)))
        size = len(changed[start : start + size])
        changed[start : start + size] = bytes(size) if kind == "zeros" else rng.randbytes(size)
    elif kind == "cut":
        del changed[rng.choice((at, rng.randrange(len(changed)))) or PAGE :]  # an empty file is a new log
    elif kind == "swap":
        changed[at : at + PAGE], changed[other : other + PAGE] = content[other : other + PAGE], content[at : at + PAGE]
    elif kind == "copy":
        changed[at : at + PAGE] = content[other : other + PAGE]
    else:
        del changed[rng.randrange(len(changed))]
    return bytes(changed)


def append(log: Log, match: bytes, version: int, *events: bytes) -> bool:
    async def appending() -> bool:
        return await log.append(match, version, events, played=True, creator="10.0.0.1")

    return asyncio.run(appending())


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Entries]:
    """The content of a file in which matches were written in turn and some dropped, and what it has to say."""
    path, rng = tmp_path_factory.mktemp("sound") / "matches.sqlite", random.Random(7)
    entries: Entries = {}
    file = LogFile(str(path))
    file._connection.execute("PRAGMA synchronous = OFF")
    for at in range(400):
        match = rng.choice([*entries]) if at % 10 else rng.randbytes(ID_BYTES)
        entry = b'{"move": "%d", "id": "%s"}' % (at, rng.randbytes(rng.randrange(60)).hex().encode())
        with file.writing():
            assert file.append(match, len(entries.get(match, [])), [entry], now=at, played=True, creator=b"10.0.0.1")
        entries.setdefault(match, []).append(entry)
    doomed = [head for head in file.heads() if head.match in rng.sample([*entries], 8)]
    with file.writing(deleting=True):
        file.drop(doomed)
    entries = {match: found for match, found in entries.items() if match in file.matches()}
    file.close()
    return path.read_bytes(), entries


@contextmanager
def opened(path: Path) -> Iterator[Log | None]:
    """Open a log that is checked, as a server does; None if that is refused as damaged."""
    try:
        log = Log(str(path))
    except StoreDamaged:
        yield None
        return
    log.file._connection.execute("PRAGMA synchronous = OFF")
    try:
        log.check()
        yield log
    finally:
        log.close()


def seen(log: Log, match: bytes, expected: list[bytes]) -> str:
    """Require that a match is as it was written, or named as damaged, and return which."""
    try:
        assert log.events(match) == expected
    except (MatchDamaged, LogDamaged, LogFailed) as error:
        return error.kind if match.hex() in str(error) else "unnamed"
    return "sound"


def grown(log: Log, match: bytes, expected: list[bytes]) -> str:
    """Write another entry, which has to be there then if it is acknowledged."""
    try:
        if not append(log, match, len(expected), b"next"):
            assert seen(log, match, expected) != "sound", "nobody has taken the version"
            return "not found"
    except (MatchDamaged, LogDamaged, Problem) as error:
        return error.kind
    expected.append(b"next")
    return "acknowledged"


def trial(path: Path, content: bytes, entries: Entries, rng: random.Random, *, running: bool) -> Counter[str]:
    """Damage the file, before a server opens it or while it is open, and read and write all matches."""
    found: Counter[str] = Counter()
    expected = {match: [*written] for match, written in entries.items()}
    path.with_name(path.name + "-journal").unlink(missing_ok=True)
    path.write_bytes(content if running else damaged(content, rng))
    with opened(path) as log:
        if log is None:
            return Counter(refused=1)
        if running:
            with path.open("r+b") as file:
                file.write(changed := damaged(content, rng))
                file.truncate(len(changed))
            log.file._connection.execute("PRAGMA shrink_memory")
        for match in rng.sample([*expected], 5):
            found[seen(log, match, expected[match])] += 1
            found[grown(log, match, expected[match])] += 1
            found[seen(log, match, expected[match])] += 1
    with opened(path) as log:
        if log:
            found.update(seen(log, match, written) for match, written in expected.items())
    return found


def trials(count: int, seed: int, path: Path, sound: tuple[bytes, Entries]) -> Counter[str]:
    found = Counter[str]()
    for at in range(count):
        found += trial(path, *sound, random.Random(f"{seed} {at}"), running=at % 3 == 0)
    return found


@pytest.mark.parametrize("count", [8, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_damaged_match_is_named_and_no_other_suffers(
    count: int, tmp_path: Path, sound: tuple[bytes, Entries]
) -> None:
    found = trials(count, count, tmp_path / "matches.sqlite", sound)
    print(found)
    assert found.keys() <= {
        "refused", "sound", "match-damaged", "log-damaged", "log-failed", "acknowledged", "not found", "log-unwritable",
    }  # fmt: skip
    assert found["sound"] > 0 < found["acknowledged"]


# Through the server


@cache
def cells() -> list[str]:
    rules = find_game("4,4,4")
    return [rules.write(move) for move in rules.legal(rules.start())]


@pytest.mark.parametrize("count", [3, pytest.param(150, marks=pytest.mark.slow)])
def test_the_server_tells_the_right_moves_or_a_problem_and_goes_on(count: int, tmp_path: Path) -> None:
    made, rng = 6, random.Random(count)
    with InProcess(tmp_path / "sound", live=True) as server:
        matches = [server.begin() for _ in range(12)]
        for match in matches:
            for version in range(made):
                assert server.move(match, "XO"[version % 2], version, cells()[version]).status == 200
    content, found = server.file.read_bytes(), Counter[str]()
    for at in range(count):
        state = tmp_path / str(at)
        (state / "ttt4").mkdir(parents=True)
        (state / "ttt4" / "matches.sqlite").write_bytes(damaged(content, rng))
        try:
            server = InProcess(state, live=True)
        except StoreDamaged:
            found["refused"] += 1
            continue
        with server:
            for match in matches:
                answer = server.get(f"/api/matches/{match['id']}")
                found[told := str(answer.json.get("error", "sound"))] += 1
                assert (told, answer.status) in (("sound", 200), ("match-damaged", 410), ("log-damaged", 503))
                if told == "sound":
                    assert [event["move"] for event in answer.json["events"]] == cells()[:made]
                step = server.move(match, "X", made, cells()[made])
                assert step.status in (200, 410, 503), step
                found["moved"] += step.status == 200
            assert "Traceback" not in server.said
    print(found)
    assert found["sound"] > 0
    assert count < 100 or found["moved"] > 0


def test_a_changed_move_is_named_and_the_other_matches_go_on(tmp_path: Path) -> None:
    with InProcess(tmp_path / "state", live=True) as server:
        first, second = server.begin(), server.begin()
        for version, move in enumerate(["a1", "b1", "c1"]):
            server.move(first, "XO"[version % 2], version, move)
        server.end()
        content = server.file.read_bytes()
        assert content.count(b'"move": "b1"') == 1
        server.file.write_bytes(content.replace(b'"move": "b1"', b'"move": "b3"'))
        server.start()
        answer = server.get(f"/api/matches/{first['id']}")
        assert (answer.status, answer.json["error"]) == (410, "match-damaged")
        assert answer.json["message"] == f"match {first['id']} is damaged after event 1"
        assert f"match {first['id']} is damaged after event 1" in server.said
        assert server.move(first, "O", 3, "d1").status == 410
        assert server.move(second, "X", 0, "a1").status == 200
        assert server.get("/api/matches/" + "00" * 8).status == 404


@pytest.mark.parametrize("structure", ["", "Page 3: never used"])
def test_a_match_that_is_not_found_any_more_is_said_to_be_gone_only_in_a_sound_file(
    structure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search for an id may go astray in a damaged page, and find nothing."""
    with opened(tmp_path / "log" / "matches.sqlite") as log:
        assert log
        assert append(log, b"hidden  ", 0, b"begun")
        log.check()
        monkeypatch.setattr(log.file, "read", lambda match: None)
        monkeypatch.setattr(log.file, "structure", lambda: setattr(log.file, "damage", structure))
        assert log.events(b"no match") == []
        if structure:
            with pytest.raises(LogDamaged, match=b"hidden  ".hex()):
                log.events(b"hidden  ")
        else:
            assert log.events(b"hidden  ") == []


def test_a_damaged_schema_of_which_sqlite_cannot_speak_in_unicode_is_named(
    tmp_path: Path, sound: tuple[bytes, Entries]
) -> None:
    path, (content, _) = tmp_path / "matches.sqlite", sound
    path.write_bytes(content.replace(b"CREATE TABLE clock", b"CREATE \xff\xfe\xfd\xfc\xfb clock"))
    with pytest.raises(StoreDamaged, match="cannot be read"):
        Log(str(path))
