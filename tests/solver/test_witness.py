"""The witness and the counts: what keeps two solvers that are wrong together from writing a store."""

import os
import random
import signal
import threading
import tomllib
from collections.abc import Callable
from itertools import count
from math import comb
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest

from solver.cli.main import main
from solver.errors import SolversDisagree
from solver.games.lines import grid
from solver.games.notation import parse_game
from solver.index.symmetry import orbit_counts, symmetries
from solver.proof import check, witness
from solver.proof.build import build_store
from solver.proof.witness import POSITIONS, Witness
from solver.store.scores import Scores
from solver.store.store import Store

GAMES = ["3,3,3", "3,3,3,misere", *(pytest.param(name, marks=pytest.mark.slow) for name in ("3,4,3", "4,4,4"))]


@pytest.mark.parametrize("name", GAMES)
def test_a_witness_tells_the_scores_of_so_many_positions_of_several_plies(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = count()  # by which a search takes as long as it looks at the clock
    monkeypatch.setattr("solver.search.live.monotonic", lambda: next(clock) * 1e-5)
    rules, game = naive.Game.named(name), parse_game(name)
    found = witness.evidence(game, lambda: True)
    assert len(found) >= POSITIONS
    assert (0, 0) in {(x, o) for x, o, _ in found}, "the empty board"
    assert len({(x | o).bit_count() for x, o, _ in found}) >= 7
    for x, o, score in random.Random(2).sample(found, 200):
        board = naive.board(rules, x, o)
        if board.count(".") < 10:
            assert score == naive.score(rules, board)


@pytest.mark.parametrize("name", ["1,1,1", "2,2,1", "1,2,2", "2,2,2,misere", "1,3,3"])
def test_a_game_of_few_positions_has_a_witness_too(name: str, tmp_path: Path) -> None:
    assert build_store(parse_game(name), tmp_path / "s", jobs=1).witnessed > 0


def confirmed(store: Path, *, kill: bool = False) -> tuple[bool, int]:
    """Whether a process was forked, and how many positions of a store were confirmed."""
    with Store(store) as opened, Witness(opened.game) as found:
        forked = bool(found._child)
        if kill:
            os.kill(found._child, signal.SIGKILL)
        return forked, found.confirm(Scores(opened))


def test_the_witness_searches_in_a_process_of_its_own_and_in_this_one_where_that_dies(
    store3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 1)
    monkeypatch.setattr(witness, "_FEW_CELLS", 0)
    monkeypatch.setattr(witness, "_SECONDS", 0.0)
    monkeypatch.setattr(witness, "POSITIONS", 200)
    before, children = len(os.listdir("/proc/self/fd")), own_children()
    for kill in (False, True):
        forked, confirmations = confirmed(store3, kill=kill)
        assert (forked, confirmations >= 200) == (True, True)
    with Witness(grid(3, 3, 3)):
        pass
    assert len(os.listdir("/proc/self/fd")) == before
    assert own_children() == children


def test_a_witness_that_has_much_to_say_ends_with_its_build(
    forked: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*signal: object) -> None:
        (tmp_path / "stuck").touch()
        os._exit(1)

    def much(game: Any, enough: Callable[[], bool]) -> witness.Evidence:
        signal.signal(signal.SIGALRM, stuck)
        signal.alarm(20)
        return [(1, 2, 3)] * 50_000  # more than a pipe holds

    def build() -> None:
        Witness(grid(4, 4, 4))
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(witness, "evidence", much)
    assert forked(build) == (-signal.SIGKILL, "")  # as soon as the witness, too, has closed its end
    assert not (tmp_path / "stuck").exists()


def own_children() -> list[str]:
    """The processes that this one has started and not waited for, dead ones too."""
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


def test_where_there_are_threads_the_witness_does_not_fork(store3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "active_count", lambda: 2)
    monkeypatch.setattr(witness, "_FEW_CELLS", 0)
    forked, confirmations = confirmed(store3)
    assert (forked, confirmations >= POSITIONS) == (False, True)


@pytest.mark.parametrize("wrong", [5, -5])
def test_one_position_that_differs_is_named_and_nothing_is_written(
    wrong: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lie(game: Any, enough: Any) -> witness.Evidence:
        return [(0, 0, 0), (1, 0, wrong)]

    monkeypatch.setattr(witness, "evidence", lie)
    with pytest.raises(SolversDisagree, match=rf"'X../.../...' of 3,3,3: the store says 0, a plain search {wrong}"):
        build_store(grid(3, 3, 3), tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["3,3,3", "3,4,3", "2,6,2", *(pytest.param(name, marks=pytest.mark.slow) for name in ("4,4,4", "4,5,4"))]
)
def test_orbits_are_counted_as_the_naive_twin_lists_them(name: str) -> None:
    game = parse_game(name)
    group = symmetries(game)
    counts = orbit_counts(group)
    assert [naive.orbits(group, size, 0) for size in range(game.cells + 1)] == counts
    assert sum(counts) >= 2**game.cells / len(group)
    assert orbit_counts(group[:1]) == [comb(game.cells, size) for size in range(game.cells + 1)]


def returning_nothing(*arguments: Any) -> int:
    return 0


def missing_one(collect: Callable[..., int]) -> Callable[..., int]:
    return lambda *arguments: max(collect(*arguments) - 1, 0)


@pytest.mark.parametrize("wrong", [lambda collect: returning_nothing, missing_one])
def test_halves_that_are_missing_stop_a_build(
    wrong: Any, tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch, store3: Path
) -> None:
    from solver.sweep import halves

    monkeypatch.setattr(halves, "_collect", wrong(halves._collect))
    (tmp_path / "s").write_bytes(store3.read_bytes())
    ran = run(main, "build", "--game", "3,3,3", "--store", tmp_path / "s", "--force")
    assert ran.code == 1
    assert "Burnside's lemma counts" in ran.err
    assert (tmp_path / "s").read_bytes() == store3.read_bytes()


def test_places_that_no_search_compared_stop_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "_compare", lambda *arguments: None)
    with pytest.raises(SolversDisagree, match=r"only 0 of [\d,]+ places were compared"):
        build_store(grid(3, 3, 3), tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []


def test_layers_that_are_left_out_stop_a_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from solver.proof.prove import LineProof

    monkeypatch.setattr(LineProof, "layers", lambda self: [])
    with pytest.raises(SolversDisagree, match="0 places were filled, but there are"):
        build_store(grid(3, 3, 3), tmp_path / "s", jobs=1)
    assert list(tmp_path.iterdir()) == []


def test_a_digest_that_is_not_the_published_one_stops_a_build(
    tmp_path: Path, store3: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from solver.store import digests as published

    with Store(store3) as store:
        right = store.manifest.digest
    for digest, said in ((right, "as published"), ("0" * 64, "NOT as published, 000000000000...")):
        monkeypatch.setattr(published, "_digests", lambda digest=digest: {"3,3,3": digest})
        assert said in run(main, "info", "--game", "3,3,3", "--store", store3).out
        built = run(main, "build", "--game", "3,3,3", "--store", tmp_path / digest[:4])
        verified = run(main, "verify", "--game", "3,3,3", "--store", store3)
        assert (built.code, verified.code) == ((0, 0) if digest == right else (1, 1))
        assert ("and 000000000000... is published" in built.err) == (digest != right)
        assert (tmp_path / digest[:4]).exists() == (digest == right)


def test_digests_are_read_from_the_first_folder_that_has_them_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from solver import published as tables
    from solver.store import digests as published

    texts = [
        None,
        b"digests = 7",
        b"digests = [",
        b"\xff",
        b"[other]",
        b'digests."3,3,3" = "a"',
        b'digests."3,3,3" = "b"',
    ]
    folders = [str(tmp_path / str(number)) for number in range(len(texts))]
    for folder, text in zip(folders, texts, strict=True):
        Path(folder).mkdir()
        if text is not None:
            Path(folder, "digests.toml").write_bytes(text)
    monkeypatch.setattr(published, "_digests", lambda: tables.published.__wrapped__("digests"))
    for some, digest in ((folders, "a"), (folders[::-1], "b"), (folders[:5], None)):
        monkeypatch.setattr(tables, "shared_folders", lambda some=some: some)
        assert published.published_digest(parse_game("3,3,3")) == digest


@pytest.mark.parametrize("cells", [range(10), pytest.param(range(10, 17), marks=pytest.mark.slow)])
def test_every_published_digest_of_a_small_game_is_that_of_a_build_here(
    cells: range, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(witness, "_FEW_CELLS", 99)
    monkeypatch.setattr(Witness, "confirm", lambda self, scores: 0)  # it is not the witness that is asked
    data = Path(__file__).parents[2] / "data"
    digests = tomllib.loads((data / "digests.toml").read_text())["digests"]
    games = [game for game in map(parse_game, digests) if game.cells in cells]
    assert len(games) > 1
    for game in games:
        assert build_store(game, tmp_path / "s", jobs=1).manifest.digest == digests[game.name]
        (tmp_path / "s").unlink()


def test_a_score_of_the_new_file_is_read_from_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every score of O's turn is altered between the two solvers and the file: only the witness can see it."""
    from solver.scratch import tasks

    real = tasks.pack

    def altered(empty: int, halves: Any, pages: bytes) -> Any:
        scores = np.frombuffer(pages, np.int8)
        return real(empty, halves, np.where(scores == -128, scores, -scores).astype(np.int8).tobytes())

    monkeypatch.setattr(tasks, "pack", altered)
    with pytest.raises(SolversDisagree, match="a plain search"):
        build_store(grid(3, 3, 2), tmp_path / "s", jobs=1)
    assert not (tmp_path / "s").exists()
