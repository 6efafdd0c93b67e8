"""The sweep: known outcomes, halves and their order, and pages that do not depend on how the work is cut."""

from collections.abc import Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import pytest

from solver.errors import SolversDisagree
from solver.games.lines import grid
from solver.games.notation import parse_game
from solver.index.symmetry import image, symmetries
from solver.proof.crew import threads
from solver.proof.progress import silent
from solver.proof.prove import LineProof
from solver.scratch.folder import MemoryFolder
from solver.store.record import pages_in_record
from solver.sweep import layers as sweep
from solver.sweep.desk import Desk
from solver.sweep.halves import all_halves, canonical_sets, children, kernel_game, layer_halves, set_counts
from solver.sweep.layers import Chunk, Layer
from solver.sweep.shelf import NoShelf, PackedShelf, RawShelf, Shelf


def pages_of(name: str, group: tuple[tuple[int, ...], ...] | None = None) -> dict[Any, bytes]:
    """Every page by (empty cells, half)."""
    game, found = parse_game(name), {}
    known = kernel_game(game, group or symmetries(game))
    for filled in sweep.sweep(known, all_halves(known)):
        for pages in filter(None, filled):
            for half, scores in zip(pages.halves.tolist(), pages.scores, strict=True):
                assert (pages.empty, half) not in found
                found[pages.empty, half] = scores.tobytes()
    return found


def chunks_of(layer: Layer) -> list[Chunk]:
    """A layer as one chunk of open halves and one of finished ones, as far as there are any."""
    chunks = Chunk(True, 0, len(layer.open)), Chunk(False, 0, len(layer.finished))
    return [chunk for chunk in chunks if chunk.stop]


def test_the_empty_4x4_board_is_a_draw_and_with_three_in_a_row_won_in_five_plies(solved: Any) -> None:
    for name, score in (("4,4,4", 0), ("4,4,3", 17 - 5)):
        assert solved(name).summary.score == solved(name).score(0, 0) == score


def test_the_centre_is_the_only_opening_that_does_not_lose_misere_3x3_and_every_one_of_4x4_draws(solved: Any) -> None:
    misere, flagship = solved("3,3,3,misere"), solved("4,4,4")
    assert [cell for cell in range(9) if misere.score(1 << cell, 0) <= 0] == [4]
    assert misere.score(1 << 4, 0) == 0
    assert {flagship.score(1 << cell, 0) for cell in range(16)} == {0}


@pytest.mark.parametrize("name", ["3,4,3", "3,4,3,misere", "3,3,3", "2,5,3", "4,4,4"])
def test_pages_do_not_depend_on_how_layers_are_cut(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pages_of(name)
    for places in (1, 100, 3000, 1 << 30):
        if name != "4,4,4" or places > 1:
            monkeypatch.setattr(sweep, "CHUNK_PLACES", places)
            assert pages_of(name) == whole


def layers_of(name: str) -> Iterator[tuple[Layer, Shelf]]:
    """The layers of a game, each with the filled shelf of the one above; the next one finds this one filled."""
    game = parse_game(name)
    known = kernel_game(game, symmetries(game))
    halves = all_halves(known)
    above, shelf = np.empty(0, np.int64), NoShelf()
    for number in range(len(halves) - 1, -1, -1):
        layer = Layer(known, number, halves[number], above)
        yield layer, shelf
        sizes = (0, len(layer.open)), layer.o_to_move_size
        following = PackedShelf(MemoryFolder(), number, *sizes) if number % 2 else RawShelf(*sizes)
        with following.part(0) as part:
            for whole in filter(lambda chunk: chunk.open, chunks_of(layer)):
                for chunk, around in layer.gathered(whole, shelf, Desk(1 << 40)):
                    room = part.room(chunk.stop - chunk.start)
                    layer.fill(chunk, around, room)
                    part.put(room)
        above, shelf = layer.open, following


def covers(parts: list[Chunk], whole: Chunk, together: int) -> bool:
    """Whether the parts of a chunk are the whole of it, in order, and cut only between so many halves."""
    halves = [half for part in parts for half in range(part.start, part.stop)]
    cut = all((part.stop - part.start) % together == 0 for part in parts[:-1])
    return halves == list(range(whole.start, whole.stop)) and cut and {part.open for part in parts} <= {whole.open}


@pytest.mark.parametrize("multiple", [1, 7])
@pytest.mark.parametrize("places", [1, 500, 1 << 30])
def test_chunks_cover_a_layer_once_and_are_no_larger_than_they_may_be(
    places: int, multiple: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "CHUNK_PLACES", places)
    for layer, _ in layers_of("3,4,3"):
        for whole in chunks_of(layer):
            size = layer.o_to_move_size + whole.open * layer.x_to_move_size
            step = layer.at_once(whole.open, multiple)
            assert step % multiple == 0
            assert step == multiple or step * size <= places
            parts = list(whole.cut(step))
            assert covers(parts, whole, multiple)
            assert all(part.stop - part.start <= step for part in parts)


@pytest.mark.parametrize("multiple", [1, 7])
@pytest.mark.parametrize("most", [1, 300, 3000, 1 << 62])
def test_parts_of_a_chunk_have_all_their_child_pages_and_no_more_than_they_may(most: int, multiple: int) -> None:
    cut = 0
    for layer, shelf in layers_of("3,4,3"):
        for whole in filter(lambda chunk: chunk.open, chunks_of(layer)):
            found = list(layer.gathered(whole, shelf, Desk(most), multiple))
            assert covers([part for part, _ in found], whole, multiple)
            cut += len(found) > 1
            for part, around in found:
                rows = layer.open[part.start : part.stop]
                assert around.start == part.start
                assert len(around.pages.indexes) == len(around.symmetry_ids) == len(rows)
                if isinstance(shelf, PackedShelf):
                    assert around.pages.pages.nbytes <= most or len(rows) <= multiple
                wanted, turned = layer._children(part)
                assert (around.symmetry_ids == turned).all()
                indexes = around.pages.indexes
                assert ((indexes < 0) == (wanted < 0)).all()
                assert (around.pages.halves[indexes[indexes >= 0]] == layer._above[wanted[wanted >= 0]]).all()
    assert (cut > 0) == (most < 1 << 62)


def packed(pages: np.ndarray, number: int, *cuts: int) -> PackedShelf:
    """A shelf in memory with these pages, in parts cut there."""
    shelf = PackedShelf(MemoryFolder(), number, (0, *cuts, len(pages)), pages.shape[1])
    for task, some in enumerate(np.split(pages, cuts)):
        with shelf.part(task) as part:
            part.put(some)
    return shelf


def test_a_desk_has_the_pages_that_are_wanted_and_reads_none_that_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    held = [rng.integers(-9, 9, (3000, 50), np.int8) for _ in range(2)]
    shelves = [(packed(pages, number, 1000), pages) for number, pages in enumerate(held)]
    was_read: list[int] = []
    desk, read, reread = Desk(400 * 50), PackedShelf._read, 0

    def reading(self: PackedShelf, wanted: np.ndarray, *rest: np.ndarray) -> None:
        was_read.extend(wanted.tolist())
        read(self, wanted, *rest)

    monkeypatch.setattr(PackedShelf, "_read", reading)
    for turn in range(60):
        shelf, pages = shelves[turn // 20 % 2]
        start, count = rng.integers(0, 2900), rng.integers(0, 150)
        wanted = rng.integers(start, start + 100 + 2 * turn, (count, 4)).clip(-1, len(pages) - 1)
        wanted[:, 0] = -1
        here = set() if turn % 20 == 0 else set(desk.numbers.tolist())
        room = len(desk.numbers)
        was_read.clear()
        found = shelf.gather(np.arange(len(pages)) * 7, wanted, desk, whole=True)
        assert found is not None
        there = wanted >= 0
        assert ((found.indexes >= 0) == there).all()
        assert (found.pages[found.indexes[there]] == pages[wanted[there]]).all()
        assert (found.halves[found.indexes[there]] == wanted[there] * 7).all()
        if len(desk.numbers) == room:  # else it was cleared
            missing = sorted(set(wanted[there].tolist()) - here)
            assert was_read == missing
            reread += len(missing) < len(set(wanted[there].tolist()))
    assert reread > 5


def test_a_desk_without_room_for_what_is_wanted_says_so_unless_it_must_have_it() -> None:
    shelf, desk = packed(np.zeros((30, 5), np.int8), 0), Desk(50)
    for count, has_room in ((10, True), (11, False)):
        wanted = np.arange(count).reshape(-1, 1)
        assert (shelf.gather(np.arange(30), wanted, desk, whole=False) is not None) == has_room
        assert shelf.gather(np.arange(30), wanted, desk, whole=True) is not None


@pytest.mark.parametrize("name", ["3,3,3", "3,4,3", "1,9,4", "2,5,3,misere", "4,4,4"])
@pytest.mark.parametrize(("least", "most"), [(1, 1), (1, 100), (50, 1 << 29), (1 << 14, 1 << 29)])
def test_tasks_cover_a_layer_once_and_hold_whole_records(
    name: str, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name == "4,4,4" and least < 1000:
        return
    monkeypatch.setattr("solver.proof.prove._LEAST_CHECKED_PLACES", least)
    monkeypatch.setattr("solver.proof.prove._LEAST_PLACES", least)
    monkeypatch.setattr("solver.proof.prove._MOST_PLACES", most)
    game, group = parse_game(name), symmetries(parse_game(name))
    seen = []
    for jobs in (1, 2):
        with threads(jobs) as crew:
            proof: LineProof[None] = LineProof(game, group, lambda *_: None, crew=crew, on_progress=silent)
            tasks = {layer.number: layer.tasks for layer in proof.layers()}
        seen.append(tasks)
        for number, (opened, finished) in proof.layout.items():
            x_size, o_size = sweep.page_sizes(game.cells, number)
            assert [task.number for task in tasks[number]] == list(range(len(tasks[number])))
            assert {task.layer for task in tasks[number]} <= {number}
            for live, count in ((True, opened), (False, finished)):
                parts = [task.part for task in tasks[number] if task.part.open == live]
                together = pages_in_record(x_size) if live else 1
                assert covers(parts, Chunk(live, 0, count), together)
                size = max(1, o_size + live * x_size)
                for part in parts:
                    halves = part.stop - part.start
                    assert halves <= together or halves * size <= max(least, min(most, count * size // 64))
    assert seen[0] == seen[1], "a build goes on with what one with other hands has done"


@pytest.mark.parametrize("name", ["3,3,3", "3,4,3", "3,4,3,misere", "4,3,3"])
def test_any_subgroup_of_the_symmetries_gives_the_same_scores(name: str) -> None:
    game = parse_game(name)
    group = symmetries(game)
    one = (tuple(range(game.cells)),)
    unturned, turned = pages_of(name, one), pages_of(name, group)
    for (empty, half), scores in turned.items():
        assert unturned[empty, half] == scores
    assert {(empty, min(image(g, half) for g in group)) for empty, half in unturned} == set(turned)
    for g in group[:2]:
        two = pages_of(name, tuple(sorted({one[0], g})) if image(g, 1) != 1 else one)
        assert all(unturned[key] == scores for key, scores in two.items())


def canonical(game: Any, group: Any, size: int) -> list[int]:
    """The sets of so many cells that no symmetry makes smaller."""
    every = (sum(1 << cell for cell in chosen) for chosen in combinations(range(game.cells), size))
    return sorted(x for x in every if min(image(g, x) for g in group) == x)


@pytest.mark.parametrize("name", ["3,3,3", "3,4,3", "3,3,1", "2,5,2", pytest.param("4,4,4", marks=pytest.mark.slow)])
def test_the_halves_are_the_sets_of_x_that_no_symmetry_makes_smaller(name: str) -> None:
    game = parse_game(name)
    group = symmetries(game)
    prepared = kernel_game(game, group)
    layers = all_halves(prepared)
    assert len(layers) == (game.cells + 1) // 2 + 1
    for number, layer in enumerate(layers):
        smallest = canonical(game, group, number)
        assert layer.open.tolist() == [x for x in smallest if not game.completed(x)]
        finished = layer.finished.tolist()
        assert finished == sorted(finished)
        assert set(finished) <= {x for x in smallest if game.completed(x)}
        found = layer_halves(prepared, number, set_counts(prepared))
        assert all(one.tolist() == other.tolist() for one, other in zip(found, layer, strict=True))


def test_a_cell_that_x_claims_leads_to_the_half_that_it_makes() -> None:
    game, group = parse_game("4,4,4"), symmetries(parse_game("4,4,4"))
    prepared = kernel_game(game, group)
    halves = all_halves(prepared)
    for xs in (2, 3, 5):
        parents, following = (halves[count].open for count in (xs, xs + 1))
        place, turn = children(prepared, parents, following)
        for i, half in enumerate(parents.tolist()):
            for cell in range(game.cells):
                taken, made = half >> cell & 1, half | 1 << cell
                if taken or game.completed(made):
                    assert (place[i, cell], turn[i, cell]) == (-1, -1)
                else:
                    assert following[place[i, cell]] == min(image(g, made) for g in group)
                    assert image(group[turn[i, cell]], made) == following[place[i, cell]]


@pytest.mark.parametrize("m", range(14))
def test_runs_start_at_the_rank_of_their_first_mask(m: int) -> None:
    for count in range(m + 1):
        ascending = [mask for mask in range(1 << m) if mask.bit_count() == count]
        assert len(ascending) == comb(m, count)
        first = sweep.first_places(m, count)
        starts = {mask >> sweep.LOW: place for place, mask in reversed(list(enumerate(ascending)))}
        assert {high: first[high] for high in starts} == starts


@pytest.mark.parametrize("name", ["3,9,3", "4,7,4", "1,31,3", "4,8,4"])
def test_halves_of_27_to_32_cells_are_the_sets_that_no_symmetry_makes_smaller(name: str) -> None:
    game = parse_game(name)
    group, identity = symmetries(game), (tuple(range(game.cells)),)
    prepared = kernel_game(game, group)
    counts = set_counts(prepared)
    for size in range(4):
        assert canonical_sets(prepared, size, counts[size]).tolist() == canonical(game, group, size)
        every = canonical(game, identity, size)
        assert canonical_sets(kernel_game(game, identity), size, len(every)).tolist() == every


@pytest.mark.parametrize("wrong", [-1, 1])
def test_a_number_of_sets_that_burnside_s_lemma_does_not_count_is_noticed(wrong: int) -> None:
    prepared = kernel_game(grid(4, 4, 4), symmetries(grid(4, 4, 4)))
    count = set_counts(prepared)[8]
    assert len(canonical_sets(prepared, 8, count)) == count
    with pytest.raises(SolversDisagree, match=r"found (more than )?[\d,]+ sets of 8 cells"):
        canonical_sets(prepared, 8, count + wrong)
