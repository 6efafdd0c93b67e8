"""An unfinished build may be kept in an object store: all kinds of folders keep the same promises."""

import os
import random
import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fsspec")
pytest.importorskip("s3fs")
pytest.importorskip("moto.server")

import boto3
import s3fs
from clusters import HOST, Build, cluster, damage, digest_of, free_port, until
from moto.server import ThreadedMotoServer

from solver.errors import Ttt4Error
from solver.games.notation import parse_game
from solver.proof.build import build_store
from solver.proof.plan import Holder
from solver.proof.progress import Progress
from solver.scratch.folder import Folder, LocalFolder, MemoryFolder, file_name, folder_at
from solver.scratch.remote import RemoteFolder

BUCKET = "bucket"
SLOW = pytest.mark.slow


class ObjectStore:
    """An object store in this process, which forgets nothing when it is down."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://{HOST}:{self.port}"
        self._server: ThreadedMotoServer | None = None

    def start(self) -> None:
        """Let it answer."""
        self._server = ThreadedMotoServer(ip_address=HOST, port=self.port, verbose=False)
        self._server.start()

    def stop(self) -> None:
        """Let nobody answer."""
        if self._server:
            self._server.stop()
            self._server = None

    @property
    def client(self) -> Any:
        """What reads and changes it, by other means than the program's."""
        return boto3.client("s3", endpoint_url=self.url)

    def names(self) -> list[str]:
        """The names of all objects."""
        return [each["Key"] for each in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def buckets(self) -> list[str]:
        """The names of all buckets."""
        return [each["Name"] for each in self.client.list_buckets()["Buckets"]]


@pytest.fixture(scope="module")
def environment() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def serving(environment: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """The object store that the environment names."""
    import logging

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    found = ObjectStore()
    for name, value in {
        "AWS_ENDPOINT_URL": found.url, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }.items():  # fmt: skip
        environment.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
    found.start()
    yield found
    found.stop()
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def objects(serving: ObjectStore) -> ObjectStore:
    """The object store, with one empty bucket."""
    serving.client.create_bucket(Bucket=BUCKET)
    for key in serving.names():
        serving.client.delete_object(Bucket=BUCKET, Key=key)
    return serving


@pytest.fixture(params=["local", "memory", "s3", "fsspec's memory", "fsspec's files"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """Each kind of folder, empty and made."""
    if request.param == "s3":
        request.getfixturevalue("objects")
    found: Folder = {
        "local": lambda: LocalFolder(str(tmp_path / "f")),
        "memory": MemoryFolder,
        "s3": lambda: RemoteFolder(f"s3://{BUCKET}/ttt4/f"),
        "fsspec's memory": lambda: RemoteFolder(f"memory://{uuid.uuid4()}/f"),
        "fsspec's files": lambda: RemoteFolder(f"file://{tmp_path}/f"),
    }[request.param]()
    found.make()
    return found


NAME, OTHER, MISSING = file_name(3, 1, "pages"), file_name(3, 2, "records"), file_name(12, 345, "done")


def put(folder: Folder, name: str, content: bytes) -> None:
    with folder.writing(name) as file:
        file.write(content[: len(content) // 2])
        file.write(content[len(content) // 2 :])


def get(folder: Folder, name: str) -> bytes:
    with folder.reading(name) as file:
        return file.read()


def test_a_folder_gives_back_what_was_written_and_may_be_made_again(folder: Folder) -> None:
    assert folder.sizes() == {}
    rng = random.Random(1)
    for length in (0, 1, 1000, 100_000):
        content = rng.randbytes(length)
        put(folder, NAME, content)
        folder.make()
        assert folder.sizes() == {NAME: length}
        assert get(folder, NAME) == content
        with folder.reading(NAME) as file:
            assert (file.read(7), file.read(5), file.read(0)) == (content[:7], content[7:12], b"")


def test_a_folder_gives_the_end_of_a_file(folder: Folder) -> None:
    put(folder, NAME, b"0123456789")
    put(folder, OTHER, b"")
    for count in (1, 4, 10):
        assert folder.end_of(NAME, count) == b"0123456789"[-count:]
    assert folder.end_of(NAME, 99) == b"0123456789"
    assert folder.end_of(OTHER, 4) == b""


def test_a_folder_gives_ranges_in_the_order_in_which_they_are_wanted(folder: Folder) -> None:
    put(folder, NAME, bytes(range(256)) * 40)
    put(folder, OTHER, b"abcdef")
    wanted = [(NAME, 0, 3), (NAME, 5000, 5007), (OTHER, 1, 3), (OTHER, 5, 6)]
    assert folder.ranges(wanted) == [
        bytes([0, 1, 2]), bytes((i % 256) for i in range(5000, 5007)), b"bc", b"f",
    ]  # fmt: skip
    assert folder.ranges([]) == []
    assert folder.ranges([(OTHER, 4, 400)]) == [b"ef"]


@pytest.mark.parametrize("read", ["reading", "end_of", "ranges"])
def test_a_folder_says_that_there_is_no_such_file(read: str, folder: Folder) -> None:
    put(folder, NAME, b"0123456789")
    with pytest.raises(FileNotFoundError):
        {
            "reading": lambda: get(folder, MISSING),
            "end_of": lambda: folder.end_of(MISSING, 4),
            "ranges": lambda: folder.ranges([(NAME, 0, 3), (MISSING, 0, 3)]),
        }[read]()


def test_a_file_gets_its_name_at_the_end_unless_there_is_an_exception(folder: Folder) -> None:
    def fail(content: bytes) -> None:
        with folder.writing(NAME) as file:
            file.write(content)
            assert folder.sizes() == before
            raise ZeroDivisionError

    for before in ({}, {NAME: 3}):
        for content in (b"", b"half", bytes(200_000)):
            with pytest.raises(ZeroDivisionError):
                fail(content)
            assert folder.sizes() == before
        put(folder, NAME, b"old")
    assert get(folder, NAME) == b"old"


def test_a_folder_removes_files_that_are_there_and_leaves_the_others(folder: Folder) -> None:
    for name in (NAME, OTHER, "begin", "lock"):
        put(folder, name, b"1")
    folder.remove([NAME, MISSING])
    folder.remove([])
    assert folder.sizes() == {OTHER: 1, "begin": 1, "lock": 1}
    folder.remove_all()
    folder.remove_all()
    if not isinstance(folder, LocalFolder):
        assert folder.sizes() == {}
    folder.make()
    assert folder.sizes() == {}


def test_what_another_has_written_or_removed_since_one_looked_is_seen(folder: Folder) -> None:
    put(folder, NAME, b"first")
    assert folder.sizes() == {NAME: 5}

    def meanwhile() -> None:
        put(folder, NAME, b"longer than it was")
        put(folder, OTHER, b"new")

    with ThreadPoolExecutor(1) as executor:
        executor.submit(meanwhile).result()
        assert get(folder, OTHER) == b"new"
        assert get(folder, NAME) == b"longer than it was"
        assert folder.end_of(NAME, 3) == b"was"
        assert folder.sizes() == {NAME: 18, OTHER: 3}
        executor.submit(folder.remove, [NAME]).result()
        with pytest.raises(FileNotFoundError):
            get(folder, NAME)
        assert folder.sizes() == {OTHER: 3}


def test_readers_see_an_old_file_or_a_new_one_but_never_a_half(folder: Folder) -> None:
    if folder.url.startswith(("file://", "memory://")):
        pytest.skip("fsspec writes its own files and memory in place, and object stores never do")
    put(folder, NAME, bytes(50_000))
    done, seen = threading.Event(), set()

    def read() -> None:
        while not done.is_set():
            try:
                content = get(folder, NAME)
            except OSError:  # an object store may refuse to go on with an object that was replaced
                continue
            assert content == bytes([content[0]]) * 50_000
            seen.add(content[0])

    with ThreadPoolExecutor(2) as executor:
        reading = [executor.submit(read) for _ in range(2)]
        for number in range(1, 20):
            put(folder, NAME, bytes([number]) * 50_000)
        done.set()
        for each in reading:
            each.result()
    assert seen


@pytest.mark.parametrize("name", ["3,4,3", pytest.param("4,4,4", marks=SLOW), "3,3,3,misere"])
@pytest.mark.parametrize("holder", [pytest.param(Holder.RAW, marks=SLOW), Holder.FILES])
def test_threads_with_an_object_store_give_the_same_store_and_leave_nothing_there(
    name: str, holder: Holder, objects: ObjectStore, tmp_path: Path
) -> None:
    game = parse_game(name)
    build_store(game, tmp_path / "right", jobs=2)
    build_store(game, tmp_path / "s", jobs=2, scratch=f"s3://{BUCKET}/ttt4", holder=holder)
    assert (tmp_path / "s").read_bytes() == (tmp_path / "right").read_bytes()
    assert objects.names() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["right", "s"]


@pytest.mark.parametrize("name", [pytest.param("3,4,3", marks=SLOW), pytest.param("4,4,4", marks=SLOW)])
def test_workers_with_an_object_store_give_the_same_store_and_leave_nothing_there(
    name: str, objects: ObjectStore, tmp_path: Path
) -> None:
    pytest.importorskip("distributed")
    build_store(parse_game(name), tmp_path / "right", jobs=2)
    with cluster(tmp_path / "cluster") as found:
        where = ["--store", tmp_path / "s", "--scratch", f"s3://{BUCKET}/ttt4/", "--cluster", found.address]
        build = Build(tmp_path / "log", "--game", name, *where)
        assert build.end() == 0
    assert (tmp_path / "s").read_bytes() == (tmp_path / "right").read_bytes()
    assert objects.names() == []
    assert not (tmp_path / "s.partial").exists()


def broken_off(name: str, path: Path, after: int) -> None:
    """A build in the object store that is interrupted after so many tasks."""
    seen = []

    def interrupt(progress: Progress) -> None:
        if progress.phase == "solving" and progress.done:
            seen.append(progress)
            if len(seen) > after:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_store(
            parse_game(name), path, jobs=2, scratch=f"s3://{BUCKET}/ttt4", holder=Holder.FILES, on_progress=interrupt
        )


@pytest.mark.parametrize("how", ["left", *(pytest.param(how, marks=SLOW) for how in ("flipped", "cut", "removed"))])
@pytest.mark.parametrize("times", [1])
def test_an_interrupted_build_goes_on_in_the_object_store_whatever_was_damaged_there(
    times: int, how: str, objects: ObjectStore, tmp_path: Path, store4: Path
) -> None:
    rng, path = random.Random(3), tmp_path / "s"
    for _ in range(times):
        broken_off("4,4,4", path, rng.randrange(3, 30))
        kept = objects.names()
        assert any(key.endswith(".done") for key in kept)
        for key in kept:
            if how != "left" and not key.endswith("/begin") and rng.random() < 0.3:
                content = objects.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
                harmed = damage(content, how, rng)
                objects.client.delete_object(Bucket=BUCKET, Key=key)
                if harmed is not None:
                    objects.client.put_object(Bucket=BUCKET, Key=key, Body=harmed)
        notes: list[str] = []
        build_store(
            parse_game("4,4,4"), path, jobs=2, scratch=f"s3://{BUCKET}/ttt4", holder=Holder.FILES,
            on_progress=lambda progress, notes=notes: notes.append(progress.note),  # type: ignore[misc]
        )  # fmt: skip
        assert any("resuming" in note for note in notes)
        assert path.read_bytes() == store4.read_bytes()
        assert objects.names() == []
        assert list(tmp_path.iterdir()) == [path]
        path.unlink()


@pytest.mark.parametrize("how", ["flipped", pytest.param("cut", marks=SLOW), pytest.param("removed", marks=SLOW)])
def test_pages_in_an_object_store_that_are_damaged_during_a_build_are_made_again(
    how: str, objects: ObjectStore, tmp_path: Path, store4: Path
) -> None:
    rng, harmed = random.Random(4), []

    def harm(progress: Progress) -> None:
        pages = [key for key in objects.names() if key.endswith(".pages") and key not in harmed]
        if progress.phase == "solving" and pages:
            key = rng.choice(pages)
            content = damage(objects.client.get_object(Bucket=BUCKET, Key=key)["Body"].read(), how, rng)
            harmed.append(key)
            if content is None:
                objects.client.delete_object(Bucket=BUCKET, Key=key)
            else:
                objects.client.put_object(Bucket=BUCKET, Key=key, Body=content)

    build_store(
        parse_game("4,4,4"), tmp_path / "s", jobs=2, scratch=f"s3://{BUCKET}/ttt4", holder=Holder.FILES,
        on_progress=harm,
    )  # fmt: skip
    assert harmed
    assert (tmp_path / "s").read_bytes() == store4.read_bytes()
    assert objects.names() == []


def test_of_two_builds_in_one_object_store_each_ends_the_same_or_says_why_not(
    objects: ObjectStore, tmp_path: Path, store4: Path
) -> None:
    builds = []
    for number in range(2):
        where = ["--store", tmp_path / str(number), "--scratch", f"s3://{BUCKET}/ttt4"]
        builds.append(Build(tmp_path / "log", "--game", "4,4,4", *where))
    codes = [build.end() for build in builds]
    print(codes, [build.errors() for build in builds])
    for number, code in enumerate(codes):
        if code == 0:
            assert digest_of(tmp_path / str(number)) == digest_of(store4)
    assert 0 in codes
    assert objects.names() == []


def test_a_bucket_that_does_not_exist_is_refused_in_one_line_and_not_made(objects: ObjectStore, tmp_path: Path) -> None:
    begun = time.monotonic()
    build = Build(tmp_path, "--game", "3,3,3", "--store", tmp_path / "s", "--scratch", "s3://nobody-has-this/ttt4")
    assert build.end() == 1
    assert "nobody-has-this" in build.errors()[0]
    assert "bucket does not exist" in build.errors()[0]
    assert time.monotonic() - begun < 20
    assert objects.buckets() == [BUCKET]


def test_an_object_store_that_is_down_is_said_in_one_line(tmp_path: Path, serving: ObjectStore) -> None:
    begun = time.monotonic()
    env = {"AWS_ENDPOINT_URL": f"http://{HOST}:{free_port()}", "AWS_MAX_ATTEMPTS": "1"}
    build = Build(tmp_path / "log", "--game", "3,3,3", "--store", tmp_path / "s", "--scratch", "s3://b/ttt4", env=env)
    assert build.end() == 1
    assert "cannot use scratch" in build.errors()[0]
    assert time.monotonic() - begun < 60
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


@SLOW
@pytest.mark.parametrize("after", [0.2, 0.7, 1.5])
def test_a_build_whose_object_store_goes_down_ends_in_one_line_and_is_resumed(
    after: float, objects: ObjectStore, tmp_path: Path, store4: Path
) -> None:
    pytest.importorskip("distributed")
    with cluster(tmp_path / "cluster", env={"SLOW": "0.1", "AWS_MAX_ATTEMPTS": "1"}) as found:
        where = ["--store", tmp_path / "s", "--scratch", f"s3://{BUCKET}/ttt4", "--cluster", found.address]
        build = Build(tmp_path / "log", "--game", "4,4,4", *where, env={"AWS_MAX_ATTEMPTS": "1"})
        until(lambda: any(key.endswith(".done") for key in objects.names()), 60)
        time.sleep(after)
        objects.stop()
        try:
            assert build.end(200) == 1
        finally:
            objects.start()
        print(build.errors())
        build = Build(tmp_path / "log", "--game", "4,4,4", *where)
        assert build.end() == 0
        assert "resuming" in build.talk
        assert digest_of(tmp_path / "s") == digest_of(store4)
        assert objects.names() == []


@pytest.mark.parametrize("url", ["nothing://a/b", "s3://", "://", "http://127.0.0.1:1/a", "gs://bucket/x"])
def test_an_address_of_no_folder_is_refused(
    url: str, serving: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Ttt4Error, match=r"scratch|fsspec|package"):
        build_store(parse_game("3,3,3"), tmp_path / "s", scratch=url)
    assert list(tmp_path.iterdir()) == []
    assert folder_at(os.fspath(tmp_path)) == LocalFolder(str(tmp_path))
