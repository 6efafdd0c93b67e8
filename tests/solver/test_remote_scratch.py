"""An unfinished build may be kept in an object store: all kinds of folders keep the same promises.

By default the object store is one in memory, by fsspec's interface; the slow tests ask one that speaks S3.
"""

import os
import random
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from clusters import (
    HOST,
    after_tasks,
    cluster,
    damage,
    free_port,
    refusal,
    resume,
    start_build,
    undisturbed,
)  # fmt: skip
from fsspec.spec import AbstractFileSystem
from stand_in import GAME

from solver.cli.main import main
from solver.errors import ScratchError, Ttt4Error
from solver.games.notation import parse_game
from solver.proof.build import build_store
from solver.proof.plan import Holder
from solver.scratch.folder import Folder, LocalFolder, MemoryFolder, file_name, folder_at
from solver.scratch.remote import RemoteFolder

BUCKET = "bucket"
S3 = pytest.param("s3", marks=pytest.mark.slow)
ONE = ["scratch"]
"""What to pass to the fixture of that name: each object store, but S3 not with all values."""


def on_s3(value: object) -> Any:
    """A slow test with S3 and this value."""
    return pytest.param("s3", value, marks=pytest.mark.slow)


class Objects(AbstractFileSystem):
    """An object store in memory: it remembers listings, and an object appears when it is closed."""

    protocol = "objects"
    held: ClassVar[dict[str, bytes]] = {}
    down: ClassVar[bool] = False

    def ls(self, path: str, detail: bool = True, **options: Any) -> Any:
        self._require_up()
        if path not in self.dircache:
            names = [name for name in list(self.held) if name.rpartition("/")[0] == path]
            self.dircache[path] = [{"name": name, "size": len(self.held[name]), "type": "file"} for name in names]
        if not self.dircache[path]:
            raise FileNotFoundError(path)
        return self.dircache[path]

    def invalidate_cache(self, path: str | None = None) -> None:
        self.dircache.clear()

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        self._require_up()
        if path not in self.held:
            raise FileNotFoundError(path)
        return self.held[path][start:end]

    def rm_file(self, path: str) -> None:
        self._require_up()
        del self.held[path]

    def _open(self, path: str, mode: str = "rb", *rest: Any, **options: Any) -> BytesIO:
        return BytesIO(self.cat_file(path)) if mode == "rb" else _Upload(self, path)

    def _require_up(self) -> None:
        if Objects.down:
            raise ZeroDivisionError("some error of its own\nin two lines")


class _Upload(BytesIO):
    def __init__(self, objects: Objects, path: str) -> None:
        super().__init__()
        self._objects, self._path = objects, path

    def close(self) -> None:
        if not self.closed:
            self._objects._require_up()
            self._objects.held[self._path] = self.getvalue()
        super().close()


fsspec.register_implementation("objects", Objects, clobber=True)


class InMemory:
    """The object store in memory, as tests look into it and let it fail."""

    url = f"objects://{BUCKET}/ttt4"

    def names(self) -> list[str]:
        return sorted(Objects.held)

    def read(self, name: str) -> bytes:
        return Objects.held[name]

    def write(self, name: str, content: bytes | None) -> None:
        Objects.held.pop(name, None)
        if content is not None:
            Objects.held[name] = content

    def start(self) -> None:
        Objects.down = False

    def stop(self) -> None:
        Objects.down = True


class ObjectStore:
    """An object store that speaks S3, at a port of this process; it forgets nothing when it is down."""

    url = f"s3://{BUCKET}/ttt4"

    def __init__(self) -> None:
        self.port = free_port()
        self.endpoint = f"http://{HOST}:{self.port}"
        self._server: Any = None

    def start(self) -> None:
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer(ip_address=HOST, port=self.port, verbose=False)
        self._server.start()

    def stop(self) -> None:
        if self._server:
            self._server.stop()
            self._server = None

    @property
    def client(self) -> Any:
        import boto3

        return boto3.client("s3", endpoint_url=self.endpoint)

    def names(self) -> list[str]:
        return [each["Key"] for each in self.client.list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def read(self, name: str) -> bytes:
        return bytes(self.client.get_object(Bucket=BUCKET, Key=name)["Body"].read())

    def write(self, name: str, content: bytes | None) -> None:
        if content is None:
            self.client.delete_object(Bucket=BUCKET, Key=name)
        else:
            self.client.put_object(Bucket=BUCKET, Key=name, Body=content)


Scratch = InMemory | ObjectStore


@pytest.fixture(scope="module")
def serving() -> Iterator[ObjectStore]:
    """The object store that the environment names."""
    import logging

    import s3fs

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    found = ObjectStore()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL": found.endpoint, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "AWS_MAX_ATTEMPTS": "1",
        }.items():  # fmt: skip
            patch.setenv(name, value)
        s3fs.S3FileSystem.clear_instance_cache()
        found.start()
        yield found
        found.stop()
        s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def objects(serving: ObjectStore) -> ObjectStore:
    """The object store that speaks S3, with one empty bucket."""
    serving.client.create_bucket(Bucket=BUCKET)
    for name in serving.names():
        serving.write(name, None)
    return serving


@pytest.fixture
def in_memory() -> Iterator[InMemory]:
    """The object store in memory, empty."""
    Objects.held.clear()
    yield InMemory()
    Objects.down = False


@pytest.fixture(params=["in memory", S3])
def scratch(request: pytest.FixtureRequest) -> Scratch:
    """Each object store, empty."""
    found: Scratch = request.getfixturevalue("in_memory" if request.param == "in memory" else "objects")
    return found


@pytest.fixture(params=["local", "memory", "objects", S3, "fsspec's memory", "fsspec's files"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """Each kind of folder, empty and made."""
    if request.param in ("objects", "s3"):
        request.getfixturevalue("in_memory" if request.param == "objects" else "objects")
    found: Folder = {
        "local": lambda: LocalFolder(str(tmp_path / "f")),
        "memory": MemoryFolder,
        "objects": lambda: RemoteFolder(f"objects://{BUCKET}/ttt4/f"),
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


def test_a_folder_gives_the_end_of_a_file_and_ranges_in_the_order_in_which_they_are_wanted(folder: Folder) -> None:
    content = bytes(range(256)) * 40
    put(folder, NAME, content)
    put(folder, OTHER, b"abcdef")
    for name, count, end in ((NAME, 1, content[-1:]), (OTHER, 6, b"abcdef"), (OTHER, 99, b"abcdef")):
        assert folder.end_of(name, count) == end
    wanted = [(NAME, 0, 3), (NAME, 5000, 5007), (OTHER, 1, 3), (OTHER, 5, 6)]
    assert folder.ranges(wanted) == [content[:3], content[5000:5007], b"bc", b"f"]
    assert folder.ranges([(OTHER, 4, 400)]) == [b"ef"]
    put(folder, OTHER, b"")
    assert (folder.ranges([]), folder.end_of(OTHER, 4)) == ([], b"")


def test_a_folder_says_that_there_is_no_such_file(folder: Folder) -> None:
    put(folder, NAME, b"0123456789")
    reads: list[Callable[[], object]] = [
        lambda: get(folder, MISSING),
        lambda: folder.end_of(MISSING, 4),
        lambda: folder.ranges([(NAME, 0, 3), (MISSING, 0, 3)]),
    ]
    for read in reads:
        with pytest.raises(FileNotFoundError):
            read()


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

    with ThreadPoolExecutor(1) as another:
        another.submit(put, folder, NAME, b"longer than it was").result()
        another.submit(put, folder, OTHER, b"new").result()
        assert get(folder, OTHER) == b"new"
        assert get(folder, NAME) == b"longer than it was"
        assert folder.end_of(NAME, 3) == b"was"
        assert folder.sizes() == {NAME: 18, OTHER: 3}
        another.submit(folder.remove, [NAME]).result()
        with pytest.raises(FileNotFoundError):
            get(folder, NAME)
        assert folder.sizes() == {OTHER: 3}


def test_readers_see_an_old_file_or_a_new_one_but_never_a_half(folder: Folder) -> None:
    if folder.url.startswith(("file://", "memory://")):
        pytest.skip("fsspec writes its own files and memory in place, and object stores never do")
    put(folder, NAME, bytes(50_000))
    seen = set()
    with ThreadPoolExecutor(1) as executor:
        writing = executor.submit(lambda: [put(folder, NAME, bytes([n]) * 50_000) for n in range(1, 20)])
        while not writing.done() or not seen:
            with suppress(OSError):  # an object store may refuse to go on with an object that was replaced
                content = get(folder, NAME)
                assert content == content[:1] * 50_000
                seen.add(content[0])
        writing.result()


def test_what_an_object_store_raises_is_an_error_of_the_system_in_one_short_text(in_memory: InMemory) -> None:
    folder = RemoteFolder(in_memory.url)
    put(folder, NAME, b"1")
    in_memory.stop()
    calls: list[Callable[[], object]] = [
        folder.sizes, lambda: get(folder, NAME), lambda: put(folder, NAME, b"2"), lambda: folder.end_of(NAME, 1),
        lambda: folder.ranges([(NAME, 0, 1)]), lambda: folder.remove([NAME]), folder.remove_all,
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(OSError, match="ZeroDivisionError: some error of its own"):
            call()


@pytest.mark.parametrize(
    ("scratch", "holder"), [("in memory", Holder.RAW), ("in memory", Holder.FILES), on_s3(Holder.FILES)], indirect=ONE
)
def test_threads_with_an_object_store_give_the_same_store_and_leave_nothing_there(
    scratch: Scratch, holder: Holder, tmp_path: Path, store_of: Any
) -> None:
    kinds: set[str] = set()
    kept = after_tasks(lambda _: kinds.update(name.rpartition(".")[2] for name in scratch.names()))
    build_store(parse_game("3,4,3"), tmp_path / "s", jobs=2, scratch=scratch.url, holder=holder, on_progress=kept)
    assert (tmp_path / "s").read_bytes() == store_of("3,4,3").read_bytes()
    assert {"records", "done"} <= kinds
    assert ("pages" in kinds) == (holder is Holder.FILES)
    assert scratch.names() == []
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


@pytest.mark.slow
def test_workers_with_an_object_store_give_the_same_store_and_leave_nothing_there(
    objects: ObjectStore, tmp_path: Path, store_of: Any
) -> None:
    with cluster(tmp_path / "cluster") as found:
        where = ["--store", tmp_path / "s", "--scratch", f"{objects.url}/", "--cluster", found.address]
        build = start_build(tmp_path / "log", "--game", "3,4,3", *where)
        assert build.wait(120) == 0, (tmp_path / "log").read_text()
    assert (tmp_path / "s").read_bytes() == store_of("3,4,3").read_bytes()
    assert objects.names() == []
    assert not (tmp_path / "s.partial").exists()


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("scratch", "how"),
    [*(("in memory", how) for how in ("flipped", "cut", "removed")), on_s3("flipped")],
    indirect=ONE,
)
def test_what_is_damaged_in_an_object_store_during_a_build_and_after_it_is_made_again(
    scratch: Scratch, how: str, tmp_path: Path
) -> None:
    rng, path, where = random.Random(4), tmp_path / "s", {"scratch": scratch.url, "holder": Holder.FILES}
    harmed: set[str] = set()

    def harm(among: set[str], count: int) -> None:
        for name in rng.sample(sorted(among), min(count, len(among))):
            scratch.write(name, damage(scratch.read(name), how, rng))
            harmed.add(name)

    def disturb(task: int) -> None:
        if task == 12:
            raise KeyboardInterrupt
        harm({name for name in scratch.names() if name.endswith(".pages")} - harmed, 1)

    with pytest.raises(KeyboardInterrupt):
        build_store(GAME, path, on_progress=after_tasks(disturb), **where)
    assert harmed
    harm({name for name in scratch.names() if not name.endswith("/begin")}, 8)
    assert any(name.endswith(".done") for name in scratch.names())
    resume(path, jobs=2, **where)
    assert scratch.names() == []
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("begins", [1, 9, 15])
def test_a_build_ends_the_same_when_another_uses_up_what_it_has_in_the_object_store(
    begins: int, in_memory: InMemory, tmp_path: Path
) -> None:
    def begin(task: int) -> None:
        if task == begins:
            build_store(GAME, tmp_path / "second", scratch=in_memory.url, holder=Holder.FILES)

    build_store(GAME, tmp_path / "s", scratch=in_memory.url, holder=Holder.FILES, on_progress=after_tasks(begin))
    assert (tmp_path / "s").read_bytes() == (tmp_path / "second").read_bytes() == undisturbed()
    assert in_memory.names() == []


@pytest.mark.slow
def test_a_bucket_that_does_not_exist_is_refused_in_one_line_and_not_made(
    objects: ObjectStore, tmp_path: Path, run: Any
) -> None:
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--scratch", "s3://nobody-has-this/ttt4")
    assert "nobody-has-this" in refusal(ran)
    assert "bucket does not exist" in refusal(ran)
    assert [each["Name"] for each in objects.client.list_buckets()["Buckets"]] == [BUCKET]


def test_an_object_store_that_is_down_is_said_in_one_line(scratch: Scratch, tmp_path: Path, run: Any) -> None:
    scratch.stop()
    try:
        ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--scratch", scratch.url)
    finally:
        scratch.start()
    assert refusal(ran).startswith(f"Error: cannot use scratch '{scratch.url}/3x3x3.ttt4.partial': ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize(
    ("scratch", "after"), [*(("in memory", after) for after in (1, 6, 14)), on_s3(6)], indirect=ONE
)
def test_a_build_whose_object_store_goes_down_ends_in_one_line_and_is_resumed(
    scratch: Scratch, after: int, tmp_path: Path
) -> None:
    def stop(task: int) -> None:
        if task == after:
            scratch.stop()

    try:
        with pytest.raises(ScratchError, match="cannot use scratch"):
            build_store(GAME, tmp_path / "s", scratch=scratch.url, holder=Holder.FILES, on_progress=after_tasks(stop))
    finally:
        scratch.start()
    resume(tmp_path / "s", scratch=scratch.url, holder=Holder.FILES)
    assert scratch.names() == []


@pytest.mark.parametrize("url", ["nothing://a/b", "s3://", "://", "http://127.0.0.1:1/a", "gs://bucket/x"])
def test_an_address_of_no_folder_is_refused(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Ttt4Error, match=r"scratch|fsspec|package"):
        build_store(parse_game("3,3,3"), tmp_path / "s", scratch=url)
    assert list(tmp_path.iterdir()) == []
    assert folder_at(os.fspath(tmp_path)) == LocalFolder(str(tmp_path))
