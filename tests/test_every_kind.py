"""What holds for every kind of game, from its index to a session: tests/kinds.py names a few small games of each.

Each is compared with its naive twin, position by position. A new kind adds a line to `twins`.
"""

import json
import random
import zlib
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import lmdb
import pytest
from kinds import Twin, twins, wide_twin
from naive import canonical, turned
from stores import break_off, done_in, seal_anew, tasks_of

from oracle.oracle import Oracle
from play.match import Match
from play.players.machines import RandomPlayer
from play.records.json_form import record_as_dict, record_from_json
from play.records.text import Record, read_record
from play.session import Session
from solver.errors import BoardError, StoreDamaged, StoreError, StoreMismatch, StoreUnwritable
from solver.games.board import BoardGame
from solver.games.notation import parse_game
from solver.games.registry import find_game
from solver.games.wide import WideState
from solver.index.layout import stored_plies
from solver.index.places import UNREACHED
from solver.kinds import kind_of
from solver.proof.build import build_store
from solver.proof.verify import verify_store
from solver.scratch.tasks import TaskFiles
from solver.source import Source
from solver.store.digests import content_digest
from solver.store.manifest import Manifest, Ply
from solver.store.store import Store


@pytest.fixture(params=twins(), ids=str)
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Twin:
    """A small game of some kind, and its twin."""
    for name, value in request.param.patches.items():
        monkeypatch.setattr(name, value)
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(params=(*twins(), wide_twin("21,20,3"), wide_twin("1,401,2,misere")), ids=str)
def played_twin(request: pytest.FixtureRequest) -> Twin:
    """A game of some kind that can be played, and its twin."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def game(twin: Twin) -> BoardGame[Any]:
    return parse_game(twin.name)


@pytest.fixture(scope="module")
def built() -> dict[Twin, bytes]:
    return {}


@pytest.fixture
def path(twin: Twin, game: BoardGame[Any], built: dict[Twin, bytes], tmp_path: Path) -> Path:
    """A copy of the game's store, which a test may damage."""
    path = tmp_path / "store" / "s.ttt4"
    path.parent.mkdir()
    if twin in built:
        path.write_bytes(built[twin])
    else:
        build_store(game, path)
        built[twin] = path.read_bytes()
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with Store(path) as store:
        yield store


def content(path: Path) -> tuple[Any, ...]:
    with Store(path) as store:
        return store.manifest, list(store.records())


def stored(twin: Twin, store: Store) -> list[str]:
    """The open boards that a store knows."""
    most = stored_plies(store.game)
    return [board for board in twin.open if len(board) - board.count(".") <= most]


def test_the_symmetries_are_the_twin_s_and_the_identity_is_the_first(twin: Twin, game: BoardGame[Any]) -> None:
    group = kind_of(game).symmetries(game)
    assert sorted(group) == twin.group
    assert group[0] == tuple(range(game.cells))


def test_the_canonical_form_is_an_image_and_the_same_one_for_all_images(twin: Twin, game: BoardGame[Any]) -> None:
    group = kind_of(game).symmetries(game)
    index, forms = kind_of(game).index(game, group), {}
    assert index.group == group
    for board in twin.reachable:
        x, o, g = index.canonical(*twin.masks(board))
        assert g in group
        assert (x, o) == twin.masks(turned(board, g))
        forms.setdefault((x, o), set()).add(board)
    assert {frozenset(boards) for boards in forms.values()} == {
        frozenset(turned(board, g) for g in group) for board in canonical(twin.reachable, group)
    }


def test_every_place_of_a_store_holds_minimax_s_score_or_the_mark_of_the_unreached(twin: Twin, store: Store) -> None:
    reachable, seen = twin.reachable, set()
    for empty, number, page in store.pages():
        for place, score in enumerate(page):
            board = twin.board_at(empty, number, place)
            assert score == (twin.score(board) if board in reachable else UNREACHED), board
            seen.add(board)
    assert store.manifest.score == twin.score(twin.empty)
    with_a_place = canonical(seen & reachable, twin.group)
    for number, boards in enumerate(twin.plies[: stored_plies(store.game) + 1]):
        found = canonical({board for board in boards if twin.moves(board)}, twin.group)
        assert found <= with_a_place or not found & with_a_place, f"some boards of {number} stones have no place"


def test_a_manifest_counts_the_positions_of_each_ply_and_reads_back(twin: Twin, store: Store) -> None:
    manifest, expected = store.manifest, []
    for number, boards in enumerate(twin.plies[: stored_plies(store.game) + 1]):
        forms = canonical(boards, twin.group)
        scores = [twin.score(board) for board in forms]
        wins, losses, over = (
            sum(found)
            for found in zip(
                *((s > 0, s < 0, not twin.moves(b)) for s, b in zip(scores, forms, strict=True)), strict=True
            )
        )
        expected.append(Ply(number, len(boards), len(forms), wins, len(forms) - wins - losses, losses, over))
    assert manifest.plies == tuple(expected)
    assert Manifest.from_json(manifest.to_json()) == manifest
    assert manifest.game == store.game == parse_game(twin.name)
    assert manifest.digest == content_digest(store)


def assert_source_is_minimax(twin: Twin, game: BoardGame[Any], source: Source, boards: list[str]) -> None:
    """The source knows the score of each board, of each of its moves, and the first best one."""
    for board in boards:
        (x, o), best, moves = twin.masks(board), twin.score(board), twin.move_scores(board)
        assert source.score(game.at(x, o)) == best, board
        look = source.look(x, o, source.deadline())
        assert (sorted(look.scores), look.exact, look.score) == (moves, True, best), board
        assert source.first_best(x, o, best, source.deadline()) == next(cell for cell, each in moves if each == best)


def test_a_store_answers_every_position_and_move_as_minimax_does(twin: Twin, store: Store) -> None:
    source, _ = kind_of(store.game).scores(store, 60.0)
    for stones in range(store.game.cells):
        assert source.knows(stones) == (stones < stored_plies(store.game)), stones
    assert_source_is_minimax(twin, store.game, source, twin.open)
    for board in sorted(twin.reachable):
        assert source.score(store.game.at(*twin.masks(board))) == twin.score(board), board


@pytest.mark.parametrize("how", ["search", "witness"])
def test_a_live_search_answers_every_position_and_move_as_minimax_does(
    how: str, twin: Twin, game: BoardGame[Any]
) -> None:
    kind = kind_of(game)
    source: Source = getattr(kind, how)(game, kind.symmetries(game), 60.0)
    assert not any(map(source.knows, range(game.cells)))
    assert_source_is_minimax(twin, game, source, twin.open)
    for x, o in ((1, 1), (1 << game.cells, 0), (1, 1 << game.cells)):
        with pytest.raises(BoardError):
            source.score(game.at(x, o))
    for _ in range(2):
        source.close()
        assert source.score(game.at(0, 0)) == twin.score(twin.empty), "there is nothing to close"


def test_boards_that_no_game_reaches_are_refused(twin: Twin, store: Store) -> None:
    game, reached = store.game, {twin.masks(board) for board in twin.reachable}
    source, _ = kind_of(game).scores(store, 60.0)
    refused = 0
    for marks in product(range(3), repeat=game.cells):
        x, o = (sum(1 << cell for cell, mark in enumerate(marks) if mark == side) for side in (1, 2))
        if (x, o) not in reached and (x | o).bit_count() <= min(stored_plies(game), game.cells - 1):
            refused += 1
            with pytest.raises(BoardError):
                source.score(game.at(x, o))
    assert refused > 50


def test_an_oracle_says_the_same_from_a_store_and_live(twin: Twin, game: BoardGame[Any], path: Path) -> None:
    boards = random.Random(1).sample(twin.open, 25)
    with Oracle(twin.name, path) as stored, Oracle(twin.name, live=True, seconds=60) as live:
        for board in boards:
            asked = game.at(*twin.masks(board))
            for oracle in (stored, live):
                known = oracle.analysis(asked)
                assert (known.score, known.exact) == (twin.score(board), True)
                assert {move.cell: move.score for move in known.moves} == dict(twin.move_scores(board))
                now = board
                for cell in map(game.cell, known.mainline):
                    assert -twin.score(twin.moves(now)[cell]) == twin.score(now)
                    now = twin.moves(now)[cell]
                assert not twin.moves(now)
            assert stored.best_move(asked) == live.best_move(asked)


@pytest.mark.parametrize("jobs", [1, 3])
def test_a_store_depends_on_the_game_alone_and_is_verified(
    jobs: int, game: BoardGame[Any], path: Path, tmp_path: Path
) -> None:
    report = build_store(game, tmp_path / "s", jobs=jobs)
    assert content(tmp_path / "s") == content(path)
    verdict = verify_store(path, game, jobs=jobs)
    assert verdict.manifest == report.manifest
    assert verdict.positions == report.manifest.total("canonical")


def test_a_build_broken_off_does_only_the_tasks_that_are_not_done_and_ends_the_same(
    game: BoardGame[Any], path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, made = TaskFiles.keep, set()

    def counted(self: TaskFiles, task: Any, *rest: Any) -> Any:
        made.add((task.layer, task.number))
        return keep(self, task, *rest)

    tasks, expected = set(tasks_of(game)), content(path)
    for count in {*range(1, len(tasks), 1 + len(tasks) // 8), len(tasks)}:
        break_off(game, tmp_path / "s", count, jobs=1)
        done = done_in(tmp_path / "s.partial")
        assert len(done) == count
        made.clear()
        with monkeypatch.context() as patch:
            patch.setattr(TaskFiles, "keep", counted)
            build_store(game, tmp_path / "s", jobs=1)
        assert made == tasks - done
        assert content(tmp_path / "s") == expected
        (tmp_path / "s").unlink()
    assert {each.name for each in tmp_path.iterdir()} == {"store"}


def test_a_store_and_a_journal_are_of_one_game_only(twin: Twin, game: BoardGame[Any], path: Path) -> None:
    for other in (each.name for each in twins() if each.name != twin.name):
        with pytest.raises(StoreMismatch, match=f"is of game '{twin.name}', not of '{other}'"):
            Store(path, parse_game(other))
    break_off(game, path.with_name("t"), 1)
    with pytest.raises(StoreUnwritable, match=f"is the journal of a build of '{twin.name}'"):
        build_store(parse_game("3,3,3"), path.with_name("t"))


def test_a_closed_store_refuses(twin: Twin, game: BoardGame[Any], path: Path) -> None:
    source, _ = kind_of(game).scores(Store(path), 0.0)
    assert source.score(game.at(0, 0)) == twin.score(twin.empty)
    for _ in range(2):
        source.close()
    with pytest.raises(StoreError, match="closed"):
        source.score(game.at(0, 0))


def test_a_flipped_bit_anywhere_is_noticed_and_gives_no_wrong_answer(
    twin: Twin, game: BoardGame[Any], path: Path
) -> None:
    whole, rng = path.read_bytes(), random.Random(3)
    boards = stored(twin, Store(path))[::9]

    def answers() -> list[int]:
        with Store(path, game) as store:
            source, _ = kind_of(game).scores(store, 60.0)
            return [source.score(game.at(*twin.masks(board))) for board in boards]

    for _ in range(60):
        changed = bytearray(whole)
        changed[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        with suppress(StoreDamaged):
            assert answers() == list(map(twin.score, boards))
        with pytest.raises(StoreError) as noticed, Store(path, game) as store:
            store.check_seal()
        assert noticed.value.exit_code == 4


def test_a_store_that_was_altered_and_sealed_again_is_found_wrong_by_solving_it_again(
    game: BoardGame[Any], path: Path
) -> None:
    whole = path.read_bytes()
    with Store(path) as store:
        keys = sorted({empty for empty, _, _ in store.pages()})
    for empty in keys:
        path.write_bytes(whole)
        with lmdb.open(str(path), subdir=False, lock=False) as file, file.begin(write=True) as writing:
            key, value = next((key, value) for key, value in writing.cursor() if key[0] == empty)
            body = bytearray(zlib.decompress(value[4:]))
            body[next(i for i in range(len(body) - 1, -1, -1) if body[i] != UNREACHED + 256)] ^= 2
            packed = zlib.compress(bytes(body), 6)
            writing.put(key, zlib.crc32(key + packed).to_bytes(4, "big") + packed)
        seal_anew(path)
        with pytest.raises(StoreError) as refusal:
            verify_store(path, game, jobs=1)
        assert refusal.value.exit_code == 4


def played(twin: Twin, seed: int) -> Record:
    """A match of random moves, some of them taken back and made again, to its end or to a resignation."""
    rng, rules = random.Random(seed), find_game(twin.name)
    match = Match(rules, clock=iter(range(1_800_000_000, 1_900_000_000)).__next__)
    while not match.outcome:
        match.play(match.to_move or "", rng.choice(rules.legal(match.state)))
        chance = rng.random()
        if chance < 0.3:
            match.undo()
            if chance < 0.15:
                match.redo()
        elif chance > 0.95 and not match.outcome:
            match.resign(rng.choice(rules.sides))
    return Record(match, dict.fromkeys(rules.sides, "human"))


def masks_of(state: Any) -> tuple[int, int]:
    """The cells of both sides, the first side's first."""
    if isinstance(state, WideState):
        first, second = (sum(1 << cell for cell in state.of_side(side)) for side in (0, 1))
        return first, second
    return state.position.x, state.position.o


def test_a_match_goes_as_the_twin_says(played_twin: Twin) -> None:
    twin, rules = played_twin, find_game(played_twin.name)
    for seed in range(10):
        board, match = twin.empty, Match(rules)
        rng = random.Random(seed)
        while moves := twin.moves(board):
            assert match.outcome is None
            assert sorted(rules.legal(match.state)) == sorted(moves)
            cell = rng.choice(sorted(moves))
            match.play(match.to_move or "", cell)
            board = moves[cell]
            assert masks_of(match.state) == twin.masks(board)
        score, outcome = twin.score(board), match.outcome
        assert outcome is not None
        last = rules.sides[(len(match.moves) - 1) % 2]
        assert (outcome.winner is None, outcome.winner == last) == (score == 0, score < 0)


def test_a_record_that_is_written_is_read_back_as_text_and_as_json(played_twin: Twin) -> None:
    for seed in range(15):
        record = played(played_twin, seed)
        again = [read_record(str(record)), record_from_json(json.dumps(record_as_dict(record)))]
        for other in again:
            assert other.match.events == record.match.events
            assert other.match.states == record.match.states
            assert (other.match.outcome, other.result, other.tags) == (record.match.outcome, record.result, record.tags)


def test_a_session_plays_a_match_to_its_end_and_keeps_every_step(played_twin: Twin) -> None:
    rules = find_game(played_twin.name)
    person, machine = rules.sides
    players, kept = {person: None, machine: RandomPlayer(rules, random.Random(7))}, []
    names = {person: "human", machine: "random"}
    session = Session(Record(Match(rules), names), players, lambda record: kept.append(str(record)))
    session.play(person, rules.legal(session.match.state)[0])
    session.reply()
    session.undo()
    assert not session.match.moves
    session.redo()
    assert (len(session.match.moves), session.machine_to_move) == (2, False)
    session.start_over()
    while not session.match.outcome:
        if session.machine_to_move:
            session.reply()
        else:
            session.play(person, rules.legal(session.match.state)[0])
    assert len(kept) == 5 + len(session.match.moves)
    assert kept[-1] == str(session.record)
    assert read_record(kept[-1]).match.moves == session.match.moves
