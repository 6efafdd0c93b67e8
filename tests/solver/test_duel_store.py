"""The duel solved and stored: every margin is minimax's, every count the twin's, and every fault is noticed."""

import json
import random
from collections.abc import Callable, Iterator
from math import comb
from pathlib import Path
from typing import Any

import lmdb
import naive
import numpy as np
import pytest
from duels import at, geometric
from hypothesis import given
from hypothesis import strategies as st
from stores import (
    Decoded,
    alter_record,
    break_off,
    lost,
    negated,
    rewrite_manifest,
    seal_anew,
    whole_layers,
)

from solver.cli.main import main
from solver.duel.index import DuelIndex
from solver.duel.prove import DuelProof, page_numbers
from solver.duel.scores import DuelScores
from solver.duel.search import DuelSearch
from solver.duel.sweep import Chunk, Layer, solved_layers
from solver.errors import SolversDisagree, StoreDamaged, StoreError, StoreMismatch, StoreUnwritable
from solver.games.board_text import parse
from solver.games.duel import Duel, DuelPosition
from solver.games.notation import parse_game
from solver.index.places import UNREACHED
from solver.kinds import kind_of
from solver.proof.build import build_store
from solver.proof.crew import threads
from solver.proof.progress import silent
from solver.proof.proof import StoredPages, Summary, Task
from solver.proof.verify import verify_store
from solver.store.store import Store

KNOWN = {
    "duel,3,3": (3, 3_635), "duel,3,4": (-2, 54_557), "duel,3,5": (3, 738_529),
    "duel,4,4": (-2, 2_225_519), "duel,2,8": (-4, None), "duel,3,6": (-2, None),
}  # fmt: skip
"""The margin of the empty board, and how many positions are reached."""

LARGE = "duel,3,5"
"""The smallest board whose fullest sets of cells have several pages."""

Run = Callable[..., Any]
StoreOf = Callable[[str], Path]


class DecodedDuel(Decoded):
    """A store of a duel; solver/duel/index.py says where a position is."""

    def page_size(self, empty: int) -> int:
        return int(2 ** min(self.cells - empty, 13))

    def score(self, board: str, side: str) -> int:
        """What stands at the place of a board that is not full, with that side to move."""
        filled = {cell for cell, tile in enumerate(board) if tile != "."}
        own = {cell for cell, tile in enumerate(board) if tile == side}
        turned = [({g[cell] for cell in filled}, {g[cell] for cell in own}) for g in self.manifest["symmetries"]]
        filled, own = min(turned, key=lambda pair: sum(1 << cell for cell in pair[0]))
        place = sum(1 << number for number, cell in enumerate(sorted(filled)) if cell in own)
        rank = sum(comb(cell, number) for number, cell in enumerate(sorted(filled), 1))
        pages = max(1, 2 ** (len(filled) - 13))
        return self.pages[self.cells - len(filled), rank * pages + place // 2**13][place % 2**13]


def coloured(duel: naive.Duel, filled: int, place: int) -> str:
    """The board at a place of a filled set, in which the number of tiles tells who the mover is."""
    cells = [cell for cell in range(duel.cells) if filled >> cell & 1]
    mover = "RG"[len(cells) % 2]
    board = ["."] * duel.cells
    for number, cell in enumerate(cells):
        board[cell] = mover if place >> number & 1 else naive.rival(mover)
    return "".join(board)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if parse_game(name).cells > 15 else []) for name in KNOWN],
)
def test_a_build_finds_what_is_known_and_verify_confirms_it(name: str, store_of: StoreOf) -> None:
    path, game = store_of(name), parse_game(name)
    margin, reached = KNOWN[name]
    with Store(path, game) as store:
        assert store.manifest.score == DuelScores(store).score(game.at(0, 0)) == margin
        assert store.manifest.plies_to_end == game.cells
        table = store.manifest.plies
    assert reached in (None, sum(ply.reachable for ply in table))
    assert [ply.ply for ply in table] == list(range(game.cells + 1))
    for ply in table:
        assert ply.wins + ply.draws + ply.losses == ply.canonical <= ply.reachable
        assert ply.over == (ply.canonical if ply.ply == game.cells else 0)
        assert ply.draws == 0 or game.cells % 2 == 0
    if name != LARGE:
        assert verify_store(path, game, jobs=2, sample=50).manifest.score == margin


@pytest.mark.parametrize("name", [LARGE, pytest.param("duel,4,4", marks=pytest.mark.slow)])
@given(data=st.data())
# Feature: infinity-grid-duel, Property 20: Stored Margins Are Those Of A Search
def test_a_stored_margin_is_that_of_a_search_and_of_every_image(
    name: str, data: st.DataObject, store_of: StoreOf
) -> None:
    duel, game = naive.Duel.named(name), parse_game(name)
    board = naive.duelled(duel, data.draw(st.binary(max_size=duel.cells)))[-1]
    other = naive.turned(board, data.draw(st.sampled_from(geometric(duel))))
    search = DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=14)
    with Store(store_of(name)) as store:
        scores = DuelScores(store)
        stored = scores.score(at(duel, board))
        assert stored == scores.score(at(duel, other))
    assert stored == search.score(*naive.sides(board, naive.turn(board)), 0)


@pytest.mark.parametrize("tiles", [1, 6, 13, 14, 16, 19])
def test_page_numbers_ascend_and_are_those_that_the_index_locates(tiles: int) -> None:
    game, rng = Duel(4, 5), random.Random(tiles)
    index = DuelIndex(game, kind_of(game).symmetries(game))
    boards = [sum(1 << cell for cell in rng.sample(range(20), tiles)) for _ in range(20)]
    canonical = sorted({sum(index.canonical(filled, 0)[:2]) for filled in boards})
    numbers = page_numbers(np.array(canonical, np.int64), tiles).tolist()
    assert numbers == sorted(set(numbers))
    located = {index.locate(filled, filled & rng.getrandbits(20))[0] for filled in boards for _ in range(400)}
    assert located <= set(numbers)
    if tiles <= 16:  # so few pages that all are found
        assert located == set(numbers)


def test_the_file_decodes_by_its_documentation_alone_to_the_same_margins(store_of: StoreOf) -> None:
    for name in ("duel,1,1", "duel,1,5", "duel,2,4"):
        duel, decoded = naive.Duel.named(name), DecodedDuel(store_of(name))
        for board in naive.duel_reachable(duel):
            if "." in board:
                side = naive.turn(board)
                assert decoded.score(board, side) == naive.margin(duel, board, side), board


@pytest.mark.slow
def test_a_large_file_decodes_by_its_documentation_alone_to_the_same_margins(store_of: StoreOf) -> None:
    name, rng = LARGE, random.Random(28)
    duel, decoded = naive.Duel.named(name), DecodedDuel(store_of(name))
    with Store(store_of(name)) as store:
        scores = DuelScores(store)
        for _ in range(20):
            for board in naive.duelled(duel, [rng.randrange(1000) for _ in range(15)])[:-1]:
                assert decoded.score(board, naive.turn(board)) == scores.score(at(duel, board)), board
        assert {(empty, number): page.tolist() for empty, number, page in store.pages()} == decoded.pages


def test_a_position_of_another_board_is_a_mismatch(store_of: StoreOf) -> None:
    with Store(store_of("duel,3,3")) as store, pytest.raises(StoreMismatch, match="not of 'duel,2,2'"):
        DuelScores(store).score(DuelPosition(Duel(2, 2)))


def test_the_commands_take_a_duel_and_info_says_that_its_scores_are_margins(tmp_path: Path, run: Run) -> None:
    for command in ("build", "verify", "info"):
        ran = run(main, command, "--game", "DUEL, 3, 3", "--store", tmp_path / "s")
        assert (ran.code, "duel,3,3" in ran.out) == (0, command != "verify"), ran.err
    said = json.loads(run(main, "info", "--game", "duel,3,3", "--store", tmp_path / "s", "--json").out)
    assert (said["game"], said["scale"], said["score"], said["outcome"]) == ("duel,3,3", "margin", 3, "win")
    assert (said["reachable"], said["symmetries"], said["plies_to_end"]) == (3635, 8, 9)


CHANGES: dict[str, Any] = {
    "no size": {"rows": None}, "rows as text": {"rows": "3"}, "rows 0": {"rows": 0}, "rows 13": {"rows": 13},
    "rows huge": {"rows": 10**18}, "rows a fraction": {"rows": 3.0}, "rows true": {"rows": True},
    "columns a list": {"columns": [3]}, "columns huge": {"columns": 10**18},
    "too many cells": {"rows": 12, "columns": 12, "name": "duel,12,12"},
    "21 cells": {"rows": 3, "columns": 7, "name": "duel,3,7"},
    "default": {"rows": 6, "columns": 6, "name": "duel"}, "another size": {"rows": 2, "columns": 4},
    "the name of another": {"name": "duel,2,4"}, "the name of lines": {"name": "3,3,3"}, "no name": {"name": None},
    "other rules": {"rules": "lines"}, "rules a list": {"rules": ["duel"]}, "lines": {"lines": [7]},
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_crafted_game_in_a_manifest_is_refused(change: str, store_of: StoreOf, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(store_of("duel,3,3").read_bytes())
    rewrite_manifest(path, lambda fields: fields["game"].update(CHANGES[change]))
    with pytest.raises((StoreDamaged, StoreMismatch)):
        Store(path, Duel(3, 3))


def test_a_store_signed_as_a_duel_of_another_shape_is_not_taken_for_it(store_of: StoreOf, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(store_of("duel,3,3").read_bytes())
    rewrite_manifest(path, lambda fields: fields["game"].update(rows=1, columns=9, name="duel,1,9"))
    with pytest.raises(StoreMismatch, match="is of game 'duel,1,9'"):
        Store(path, Duel(3, 3))
    with pytest.raises(StoreError, match="is a damaged store of game 'duel,3,3'") as refusal:
        verify_store(path, Duel(1, 9), jobs=1)
    assert refusal.value.exit_code in (3, 4)


def found(key: bytes, body: bytearray) -> None:
    body[next(i for i in range(len(body) - 1, 0, -1) if body[i] == 128)] = 1


def misnumbered(key: bytes, body: bytearray) -> None:
    if len(body) == 4 + 2 ** (9 - key[0]):  # a single page
        body[3] ^= 1
    else:
        body[:4], body[4:8] = body[4:8], body[:4]


@pytest.mark.parametrize("change", [negated, lost, found, misnumbered])
@pytest.mark.parametrize(("layers", "layer"), [(4, 1), (7, 6)])
def test_a_record_that_an_earlier_build_is_made_to_have_kept_is_noticed(
    layers: int, layer: int, change: Callable[[bytes, bytearray], None], tmp_path: Path
) -> None:
    break_off(Duel(3, 3), tmp_path / "s", whole_layers(Duel(3, 3))[layers - 1])
    alter_record(tmp_path / "s.partial", 9 - layer, change)
    with pytest.raises((StoreUnwritable, SolversDisagree)):
        build_store(Duel(3, 3), tmp_path / "s", jobs=1)
    assert not (tmp_path / "s").exists()


def nothing(task: Task, summary: Summary, pages: Iterator[StoredPages]) -> None:
    """Let a task do its work."""
    for _ in pages:
        pass


def solve(*, alone: bool) -> None:
    """Solve the duel on 3x3 to its end, under no symmetry but the identity or under all."""
    game = Duel(3, 3)
    group = kind_of(game).symmetries(game)[: 1 if alone else None]
    with threads(1) as crew:
        proof: DuelProof[None] = DuelProof(game, group, nothing, crew=crew, on_progress=silent)
        for stage in proof.stages():
            list(stage.made)


@pytest.mark.parametrize(
    ("tiles", "by", "jobs"), [(0, 2, 1), (1, -4, 1), (3, 2, 1), (6, -4, 1), (8, 2, 1), (9, -4, 1), (9, 2, 3)]
)
def test_a_sweep_that_errs_once_is_stopped(
    tiles: int, by: int, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill = Layer.fill

    def erring(self: Layer, chunk: Chunk, following: Layer | None) -> np.ndarray:
        scores = fill(self, chunk, following)
        if self.number == tiles:
            row, place = np.argwhere(scores != UNREACHED)[-1]
            scores[row, place] += by
        return scores

    monkeypatch.setattr(Layer, "fill", erring)
    with pytest.raises(
        SolversDisagree, match=r"board '[RG./]{11}' of duel,3,3: the sweep says|two images of one position"
    ):
        build_store(Duel(3, 3), tmp_path / "s", jobs=jobs)
    assert list(tmp_path.iterdir()) == []


def test_the_board_on_which_the_solvers_differ_is_the_one_that_is_named(erring: Any) -> None:
    wrong = parse(Duel(3, 3), "R../R.G/...")
    erring(lambda own, other, found: 2 * ((own, other) == (wrong.o, wrong.x)))
    with pytest.raises(SolversDisagree, match=r"board 'R../R\.G/\.\.\.' of duel,3,3: the sweep says"):
        solve(alone=True)


@pytest.mark.parametrize("tiles", [1, 2, 5, 8, 9])
def test_a_sweep_that_loses_a_reached_position_is_stopped(tiles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    share = Layer.share_marks

    def losing(self: Layer) -> None:
        share(self)
        if self.number == tiles:
            row, place = np.argwhere(self.scores != UNREACHED)[-1]
            self.scores[row, place] = UNREACHED

    monkeypatch.setattr(Layer, "share_marks", losing)
    with pytest.raises(SolversDisagree):
        solve(alone=True)


def test_layers_that_are_left_out_stop_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = Layer.chunks

    def fewer(self: Layer) -> Iterator[Chunk]:
        yield from list(chunks(self))[: 0 if self.number == 4 else None]

    monkeypatch.setattr(Layer, "chunks", fewer)
    with pytest.raises(SolversDisagree):
        solve(alone=False)


def test_copies_of_a_position_that_differ_are_refused() -> None:
    game, refused, images = Duel(3, 3), 0, kind_of(Duel(3, 3)).symmetries(Duel(3, 3))
    duel = naive.Duel(3, 3)
    for layer in solved_layers(game, images):
        for row, place in np.argwhere(layer.scores != UNREACHED).tolist():
            board = coloured(duel, int(layer.filled[row]), place)
            own = [g for g in images if naive.turned(board.replace("G", "R"), g) == board.replace("G", "R")]
            scores = layer.scores[row, place]
            layer.scores[row, place] = 9 if scores != 9 else 8
            if len({naive.turned(board, g) for g in own}) > 1:
                refused += 1
                with pytest.raises(SolversDisagree, match="two images of one position have different scores"):
                    layer.count(Chunk(0, len(layer.filled)))
            else:
                layer.count(Chunk(0, len(layer.filled)))
            layer.scores[row, place] = scores
    assert refused > 100


def test_a_damaged_or_missing_record_is_named(store_of: StoreOf, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(store_of("duel,3,3").read_bytes())
    with lmdb.open(str(path), subdir=False, lock=False) as file, file.begin(write=True) as writing:
        for key in [bytes(key) for key, _ in writing.cursor() if key[0] == 4]:
            writing.delete(key)
    seal_anew(path)
    with Store(path, Duel(3, 3)) as store, pytest.raises(StoreDamaged, match=r"is missing|wrong length"):
        DuelScores(store).score(parse(Duel(3, 3), "RRR/G.R/..."))
