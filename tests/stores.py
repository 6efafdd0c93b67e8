"""What tests do to stores as files: read them plainly, damage them, seal them anew, and leave them half built."""

import json
import random
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock, Semaphore
from typing import Any

import lmdb
import pytest

from solver.games.board import BoardGame
from solver.index.places import page_size
from solver.kinds import kind_of
from solver.proof import proof as proofs
from solver.proof.build import build_store
from solver.proof.crew import threads
from solver.proof.progress import silent
from solver.proof.proof import StoredPages, Summary, Task
from solver.scratch.tasks import TaskFiles
from solver.store.manifest import Manifest, digest_of_layers
from solver.store.record import PackedRecord, new_digest, pack, unpack
from solver.store.store import Store
from solver.store.writer import StoreWriter


def seal_anew(path: Path) -> None:
    """Seal a store whose pages were changed, as the documentation of the format says."""
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as file:
        size, count = file.stat()["psize"], file.info()["last_pgno"] + 1
    path.write_bytes(sealed(path.read_bytes()[: size * count], size))


def sealed(content: bytes, size: int) -> bytes:
    """A file whose pages are changed, or that has no seal yet, with the right one."""
    count = len(content) // (size + 4) if len(content) % size else len(content) // size
    pages = content[: size * count]
    numbers = [zlib.crc32(pages[at : at + size]) for at in range(0, len(pages), size)] + [size]
    sums = b"".join(number.to_bytes(4, "big") for number in numbers)
    return pages + sums + zlib.crc32(sums).to_bytes(4, "big")


def tasks_of(game: BoardGame[Any]) -> list[tuple[int, int]]:
    """The tasks of a game, by layer and number in it, in the order in which they are done."""
    kind = kind_of(game)
    with threads(1) as crew:
        proof = kind.proof(game, kind.symmetries(game), None, crew=crew, on_progress=silent)
        return [(task.layer, task.number) for layer in proof.layers() for task in layer.tasks]


def whole_layers(game: BoardGame[Any]) -> list[int]:
    """How many tasks are done when one layer is whole, when two are, and so on."""
    layers = [layer for layer, _ in tasks_of(game)]
    return [i + 1 for i in range(len(layers)) if i + 1 == len(layers) or layers[i] != layers[i + 1]]


def break_off(game: BoardGame[Any], path: Path, tasks: int, *, jobs: int = 2, **options: Any) -> None:
    """Build until so many more tasks are done, and leave the rest."""
    keep, lock, begun, ended = TaskFiles.keep, Lock(), 0, Semaphore(0)

    def keeping(self: TaskFiles, task: Task, summary: Summary, pages: Iterator[StoredPages]) -> Any:
        nonlocal begun
        with lock:
            begun += 1
            number = begun
        if number > tasks:  # those that have begun may end first, as far as nothing keeps them from it
            waits = tasks if number == tasks + 1 else 0
            while waits and ended.acquire(timeout=2):
                waits -= 1
            raise KeyboardInterrupt
        try:
            return keep(self, task, summary, pages)
        finally:
            ended.release()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(TaskFiles, "keep", keeping)
        patched.setattr("solver.proof.build.StoreWriter", raising(KeyboardInterrupt))  # if all tasks are done
        with pytest.raises(KeyboardInterrupt):
            build_store(game, path, jobs=jobs, **options)


class MadeTasks:
    """The tasks that builds in this process have done since this was last cleared, each as often as it was begun."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._seen: list[tuple[int, int]] = []
        made = proofs.make

        def noted(work: Any, use: Any, layer: Any, task: Task) -> Any:
            self._seen.append((task.layer, task.number))
            return made(work, use, layer, task)

        patch.setattr(proofs, "make", noted)

    def take(self) -> list[tuple[int, int]]:
        """The tasks in order, by layer and number in it; this forgets them."""
        seen, self._seen = sorted(self._seen), []
        return seen


def raising(error: type[BaseException]) -> Callable[..., Any]:
    def function(*arguments: Any, **options: Any) -> None:
        raise error

    return function


def done_in(folder: Path) -> set[tuple[int, int]]:
    """The tasks that are done, as the names of a journal's files say."""
    return {(int(file.name[:2]), int(file.name[3:9])) for file in folder.glob("*.done")}


def files_in(folder: Path) -> dict[str, bytes]:
    """The files of a folder: what they are called, and what they hold."""
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def write_folder(folder: Path, files: dict[str, bytes]) -> None:
    """Make a folder with these files, and no others."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)


def with_a_flipped_bit(content: bytes, where: float) -> bytes:
    """A file in which one bit is not as it was, so far from its beginning (0) to its end (1)."""
    changed = bytearray(content)
    changed[int(where * len(changed))] ^= 8
    return bytes(changed)


DAMAGES = ["altered", "cut", "longer", "emptied", "removed"]


def damage_one(folder: Path, damage: str, rng: random.Random, kinds: str = "records done pages") -> str:
    """Damage a random file of a journal's tasks, and return its name."""
    files = sorted(file for file in folder.iterdir() if file.suffix and file.suffix[1:] in kinds.split())
    file = rng.choice(files)
    content = bytearray(file.read_bytes())
    if damage == "altered" and content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    elif damage == "cut":
        del content[rng.randrange(len(content)) if content else 0 :]
    elif damage == "longer":
        content += rng.randbytes(rng.randrange(1, 200))
    else:
        content.clear()
    if damage == "removed":
        file.unlink()
    else:
        file.write_bytes(content)
    return file.name


def entries(records: bytes) -> list[tuple[bytes, bytes]]:
    """The keys and values in a `.records` file, by nothing but what its documentation says."""
    found, at = [], 0
    while at < len(records):
        length = int.from_bytes(records[at : at + 4], "big")
        found.append((records[at + 4 : at + 9], records[at + 9 : at + 9 + length]))
        at += 9 + length
    assert at == len(records)
    return found


def written(found: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A `.records` file with such entries."""
    return b"".join(len(value).to_bytes(4, "big") + key + value for key, value in found)


def named(done: Path) -> bytes:
    """What the checksum of a `.done` file begins with: the identity of its build, and its name."""
    return done.with_name("begin").read_bytes()[:4] + done.name.encode()


def signed(name: bytes, body: bytes) -> bytes:
    return zlib.crc32(name + body).to_bytes(4, "big") + body


def alter_record(folder: Path, layer: int, change: Callable[[bytes, bytearray], object]) -> str:
    """Change a layer's first record as if it had been kept so, checksum and size right; return its file's name."""
    file = next(file for file in sorted(folder.glob(f"{layer:02}.*.records")) if file.stat().st_size)
    (key, value), *others = entries(file.read_bytes())
    body = bytearray(zlib.decompress(value[4:]))
    before = bytes(body)
    change(key, body)
    assert body != before
    file.write_bytes(written([(key, signed(key, zlib.compress(bytes(body), 6))), *others]))
    alter_done(file.with_suffix(".done"), lambda fields: fields | {"bytes": file.stat().st_size})
    return file.name


def negated(key: bytes, body: bytearray) -> None:
    """Exchange a win and a loss; see `alter_record`."""
    at = next(i for i in range(len(body) - 1, 0, -1) if body[i] not in (0, 128))
    body[at] = 256 - body[at]


def lost(key: bytes, body: bytearray) -> None:
    """Make a reached place one that no game reaches; see `alter_record`."""
    body[next(i for i in range(len(body) - 1, 0, -1) if body[i] != 128)] = 128


def alter_done(file: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a `.done` file says, with the right checksum."""
    fields = json.loads(file.read_bytes()[4:])
    file.write_bytes(signed(named(file), json.dumps(change(fields)).encode()))


def rewritten(
    path: Path,
    good: Path,
    change: Callable[[int, int, bytearray], object] = lambda empty, number, page: None,
    about: Callable[[Manifest], Manifest] = lambda manifest: manifest,
    more: Iterable[PackedRecord] = (),
) -> Path:
    """Write a store like `good` with other pages, manifest or records, and with every CRC and the digest right."""
    with Store(good) as store, StoreWriter(path) as writer:
        records, layers = {record.key: record for record in more}, dict[int, bytes]()
        for key, value in store.records():
            held = [(half, bytearray(page)) for half, page in unpack(key, value, page_size(store.game, key[0]))]
            for half, page in held:
                change(key[0], half, page)
            records[key] = pack(key[0], [half for half, _ in held], b"".join(page for _, page in held))
        for key, record in sorted(records.items()):
            writer.put(key, record.value)
            layers[key[0]] = layers.get(key[0], b"") + record.digests
        digest = digest_of_layers([new_digest(layer).digest() for layer in layers.values()])
        writer.finish(about(store.manifest._replace(digest=digest)))
    return path


def rewrite_manifest(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the manifest in place, its CRC with it, and seal the file anew."""
    with lmdb.open(str(path), subdir=False, lock=False) as file, file.begin(write=True) as writing:
        fields = json.loads(bytes(writing.get(b"manifest") or b"")[4:])
        change(fields)
        body = json.dumps(fields).encode()
        writing.put(b"manifest", zlib.crc32(b"manifest" + body).to_bytes(4, "big") + body)
    seal_anew(path)


class Decoded:
    """A store read by nothing but what the documentation of the format says; each kind of game has pages of its own."""

    def __init__(self, path: Path) -> None:
        self.pages: dict[tuple[int, int], list[int]] = {}
        self.manifest, records = read_plainly(path)
        self.cells: int = self.manifest["game"]["rows"] * self.manifest["game"]["columns"]
        for key, content in records:
            self._unpack(key, content)

    def page_size(self, empty: int) -> int:
        raise NotImplementedError

    def _unpack(self, key: bytes, content: bytes) -> None:
        size = self.page_size(key[0])
        count, rest = divmod(len(content), 4 + size)
        assert rest == 0
        numbers = [int.from_bytes(content[4 * i : 4 * i + 4], "big") for i in range(count)]
        assert numbers == sorted(numbers)
        assert numbers[-1] == int.from_bytes(key[1:], "big")
        for i, number in enumerate(numbers):
            page = content[4 * count + i * size : 4 * count + (i + 1) * size]
            self.pages[key[0], number] = [byte - 256 if byte > 127 else byte for byte in page]


def read_plainly(path: Path) -> tuple[dict[str, Any], list[tuple[bytes, bytes]]]:
    """A store's manifest, and the key and the unpacked content of each record, by nothing but LMDB and zlib."""
    records: list[tuple[bytes, bytes]] = []
    with lmdb.open(str(path), subdir=False, readonly=True, lock=False) as file, file.begin() as reading:
        for key, value in reading.cursor():
            assert int.from_bytes(value[:4], "big") == zlib.crc32(key + value[4:]), key
            records.append((key, value[4:]))
    manifests = [json.loads(body) for key, body in records if key == b"manifest"]
    assert len(manifests) == 1
    return manifests[0], [(key, zlib.decompress(body)) for key, body in records if key != b"manifest"]
