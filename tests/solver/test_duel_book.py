"""The book of a duel: exact up to its fullest boards, searched live beyond, and every fault noticed.

Most tests let boards of 9 cells and more have a book, because a store of all their positions is quick to compare with.
"""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import lmdb
import naive
import pytest
from clusters import until
from duels import at, exact, geometric, moves_of
from stores import seal_anew

from oracle.oracle import Oracle
from play.server.desk import Desk
from solver.cli.main import main
from solver.duel.book_scores import BookScores
from solver.duel.live import LiveDuel
from solver.duel.scores import DuelScores
from solver.duel.search import DuelSearch
from solver.errors import BoardError, SolversDisagree, StoreDamaged, StoreMissing
from solver.folders import store_path
from solver.games.duel import Duel
from solver.games.notation import parse_game
from solver.games.registry import find_game
from solver.kinds import kind_of
from solver.proof.build import build_store
from solver.proof.verify import verify_store
from solver.source import Look
from solver.store.store import Store

NAMES = ["duel,3,3", "duel,1,10"]
TILES = 5
"""How many tiles the fullest boards of a book have."""

Run = Callable[..., Any]
StoreOf = Callable[[str], Path]
Erring = Callable[[Callable[[int, int, int], int]], None]


@pytest.fixture(scope="module", autouse=True)
def few_whole_cells() -> Iterator[None]:
    """Give boards of 9 cells and more a book, whose digest is not that of the whole store that is published."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("solver.duel.index.WHOLE_CELLS", 8)
        patch.setattr("solver.duel.book._TABLE_BITS", 14)
        patch.setattr("solver.store.digests._digests", dict)
        yield


@pytest.fixture(scope="module")
def book_of(few_whole_cells: None, tmp_path_factory: pytest.TempPathFactory) -> StoreOf:
    """The book of a duel by its notation, built once."""
    folder, built = tmp_path_factory.mktemp("books"), {}

    def book(name: str) -> Path:
        if name not in built:
            path = folder / f"{name.replace('duel,', 'duel-').replace(',', 'x')}.ttt4"
            build_store(parse_game(name), path, jobs=2)
            built[name] = path
        return built[name]

    return book


@pytest.fixture
def forbid_search(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """What lets every live search fail from now on, once the books are built."""

    def searched(self: LiveDuel, *arguments: object) -> int:
        raise AssertionError("searched what is in the book")

    def forbid() -> None:
        for name in ("score", "look", "first_best", "load"):
            monkeypatch.setattr(LiveDuel, name, searched)

    return forbid


def opened(path: Path, seconds: float = 60.0) -> BookScores:
    return BookScores(Store(path), seconds)


def with_tiles(duel: naive.Duel, tiles: range) -> list[str]:
    """All positions with so many tiles that a game reaches."""
    return sorted(board for board in naive.duel_reachable(duel) if naive.stones(board) in tiles)


@pytest.mark.parametrize("name", NAMES)
def test_a_book_answers_without_a_search_what_it_has(
    name: str, book_of: StoreOf, forbid_search: Callable[[], None]
) -> None:
    duel, scores = naive.Duel.named(name), opened(book_of(name))
    forbid_search()
    for board in with_tiles(duel, range(TILES + 1)):
        best = exact(duel, board)
        assert scores.score(at(duel, board)) == best, board
        if naive.stones(board) < TILES:
            expected = list(moves_of(duel, board).items())
            assert scores.look(*naive.tiles(board), 0.0) == Look(expected, True, best), board
            first = next(cell for cell, score in expected if score == best)
            assert scores.first_best(*naive.tiles(board), best, 0.0) == first


def test_a_book_has_a_margin_where_a_search_had_no_time_for_its_moves(book_of: StoreOf) -> None:
    duel = naive.Duel(3, 3)
    with Oracle("duel,3,3", book_of("duel,3,3"), seconds=0.0) as oracle:
        board = with_tiles(duel, range(TILES, TILES + 1))[0]
        assert oracle.score(at(duel, board)) == exact(duel, board)
        known = oracle.analysis(at(duel, with_tiles(duel, range(TILES - 1, TILES))[0]))
        assert (known.exact, known.source) == (True, "store")


@pytest.mark.parametrize("name", NAMES)
def test_an_oracle_says_what_it_has_from_a_book_and_what_it_has_searched(name: str, book_of: StoreOf) -> None:
    duel, seen = naive.Duel.named(name), set()
    with Oracle(name, book_of(name), seconds=60) as oracle:
        assert oracle.source == "book"
        assert repr(oracle) == f"<Oracle of {name}, book {str(book_of(name))!r}>"
        for board in with_tiles(duel, range(duel.cells + 1))[::17]:
            position, stored = at(duel, board), naive.stones(board) < TILES
            assert oracle.knows(position) == stored
            found = oracle.analysis(position)
            assert (found.score, found.exact) == (exact(duel, board), True), board
            if "." in board:
                seen.add(found.source)
                assert found.source == ("store" if stored else "search")
                assert {move.cell: move.score for move in found.moves} == moves_of(duel, board)
                assert oracle.best_move(position).score == exact(duel, board)
                assert len(found.mainline) == board.count(".")
    assert seen == {"store", "search"}


def test_an_oracle_refuses_a_board_that_no_game_of_the_book_reaches(book_of: StoreOf) -> None:
    with Oracle("duel,3,3", book_of("duel,3,3")) as oracle:
        for board in ("R.R/.../G..", "RRG/.../.G."):  # the page is not there; the place is empty
            for ask in (oracle.score, oracle.analysis, oracle.best_move):
                with pytest.raises(BoardError, match="no game reaches board"):
                    ask(board)
            assert oracle.get_score(board, None) is None


def test_a_book_that_errs_about_a_move_is_damaged(book_of: StoreOf, tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(book_of("duel,3,3").read_bytes())
    with lmdb.open(str(path), subdir=False, lock=False) as file, file.begin(write=True) as writing:
        for key in [bytes(key) for key, _ in writing.cursor() if key[0] == 9 - 3]:
            writing.delete(key)
    seal_anew(path)
    scores = opened(path)
    with pytest.raises(StoreDamaged, match="as unreached"):
        scores.look(*naive.tiles("R...G...."), 0.0)
    with pytest.raises(StoreDamaged):
        verify_store(path, Duel(3, 3), jobs=1)


def test_the_commands_take_a_book(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "s"
    for command, what in (("build", r"^game +duel,3,3"), ("verify", r"^verified +in "), ("info", r"^game +duel,3,3")):
        ran = run(main, command, "--game", "duel,3,3", "--store", path)
        assert ran.code == 0, ran.err
        assert re.search(what, ran.out, re.M)
    said = json.loads(run(main, "info", "--game", "duel,3,3", "--store", path, "--json").out)
    assert (said["score"], said["plies_to_end"], len(said["plies"])) == (3, 9, TILES + 1)


@pytest.mark.parametrize("sample", [0, 5])
def test_a_sample_of_a_book_is_refused_in_one_line(sample: int, book_of: StoreOf, run: Run) -> None:
    ran = run(main, "verify", "--game", "duel,3,3", "--store", book_of("duel,3,3"), "--sample", sample)
    said = [line for line in ran.err.splitlines() if not line.endswith("...")]  # which phase it is in
    assert (ran.code, ran.out, len(said)) == (2, "", 1)
    assert said[0].startswith("Error: duel,3,3 is too large for a sample: its store is a book")


THEIR_CHILDREN_SAY = r"^board '[RG./]+' of duel,\d,\d: its children say -?\d+, the search says -?\d+$"


@pytest.mark.parametrize(("tiles", "by", "jobs"), [(2, 2, 1), (3, -2, 1), (4, 2, 1), (5, -2, 1), (5, 2, 3)])
def test_a_search_that_errs_about_the_boards_of_a_layer_is_stopped(
    tiles: int, by: int, jobs: int, erring: Erring, tmp_path: Path
) -> None:
    erring(lambda own, other, found: by * ((own | other).bit_count() == tiles))
    with pytest.raises(SolversDisagree, match=THEIR_CHILDREN_SAY):
        build_store(Duel(3, 4), tmp_path / "s", jobs=jobs)
    assert not (tmp_path / "s").exists()


def test_a_search_that_errs_about_a_single_board_is_stopped_where_its_parent_is_searched(
    erring: Erring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    duel, game = naive.Duel(2, 5), Duel(2, 5)
    index = kind_of(game).index(game, kind_of(game).symmetries(game))
    board = with_tiles(duel, range(TILES - 1, TILES))[123]
    cell = next(cell for cell, score in moves_of(duel, board).items() if score == exact(duel, board))
    x, o, _ = index.canonical(*naive.tiles(naive.placed(duel, board, cell, naive.turn(board))))
    monkeypatch.setattr("solver.duel.book._CHECKED", 10**6)
    erring(lambda own, other, found: -2 * ((own, other) == (o, x)))  # Green is to move: Red has moved fifth
    with pytest.raises(SolversDisagree, match=THEIR_CHILDREN_SAY):
        build_store(game, tmp_path / "s", jobs=1)


def test_a_search_that_errs_consistently_is_stopped_by_plain_python(erring: Erring, tmp_path: Path) -> None:
    erring(lambda own, other, found: -2 if (own | other).bit_count() % 2 == 0 else 2)
    with pytest.raises(SolversDisagree, match=r"of duel,3,4: the store says -?\d+, a plain search -?\d+$"):
        build_store(Duel(3, 4), tmp_path / "s", jobs=2)
    assert not (tmp_path / "s").exists()


def test_some_parents_of_each_layer_are_searched_and_all_of_the_fullest_boards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    score, asked = DuelSearch.score, []

    def counted(self: DuelSearch, own: int, other: int, limit: int = 0) -> int | None:
        asked.append((own | other).bit_count())
        return score(self, own, other, limit)

    monkeypatch.setattr(DuelSearch, "score", counted)
    build_store(Duel(2, 5), tmp_path / "s", jobs=1)
    duel = naive.Duel(2, 5)
    fullest = naive.canonical(set(with_tiles(duel, range(TILES, TILES + 1))), geometric(duel))
    assert asked.count(TILES) == len(fullest)
    assert all(asked.count(tiles) > 0 for tiles in range(TILES - 3, TILES))


def test_ctrl_c_ends_a_search_that_takes_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def endless(self: DuelSearch, own: int, other: int, limit: int = 0) -> None:
        """Settle nothing; Ctrl-C comes meanwhile."""
        asked.append(limit)
        if len(asked) == 20:
            os.kill(os.getpid(), signal.SIGINT)
        sleep(0)  # the main thread is to notice
        assert len(asked) < 1_000_000, "the search goes on"

    monkeypatch.setattr(DuelSearch, "score", endless)
    with pytest.raises(KeyboardInterrupt):
        build_store(Duel(3, 3), tmp_path / "s", jobs=2)
    assert len(asked) >= 20
    assert min(asked) > 0, "a search without a limit could not be stopped"


def children_of(process: int) -> set[int]:
    """The processes that a process has started and that run still."""
    return {int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()}


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "code", "last"),
    [(signal.SIGINT, 130, ["Interrupted."]), (signal.SIGTERM, 143, ["Terminated."]), (signal.SIGKILL, -9, [])],
)
def test_a_signal_ends_the_search_of_the_fullest_boards_and_the_witness_with_it(
    number: signal.Signals, code: int, last: list[str], tmp_path: Path, solve_process: Any
) -> None:
    process = solve_process("build", "--game", "duel", "--jobs", 1, "--store", tmp_path / "s")
    assert process.stderr is not None
    said = iter(process.stderr.readline, "")
    assert any(word.startswith("solving") for word in said), "it ended before it searched"
    sleep(3)
    (witness,) = children_of(process.pid)
    assert process.poll() is None
    start = monotonic()
    process.send_signal(number)
    _, rest = process.communicate(timeout=60)
    assert monotonic() - start < 6
    assert (process.returncode, rest.splitlines()[-1:]) == (code, last)
    if code < 0:
        until(lambda: not running(witness), 20)
    assert not running(witness)
    assert not (tmp_path / "s").exists()


def test_a_desk_has_no_whole_store_where_there_is_a_book_and_answers_from_the_book(
    book_of: StoreOf, tmp_path: Path
) -> None:
    duel, rules = naive.Duel(3, 3), find_game("duel,3,3")
    (tmp_path / "duel-3x3.ttt4").write_bytes(book_of("duel,3,3").read_bytes())
    build_store(Duel(2, 2), tmp_path / "duel-2x2.ttt4", jobs=1)
    desk = Desk(str(tmp_path), seconds=60)
    try:
        whole = desk.stored(find_game("duel,2,2"))
        assert whole is not None
        assert desk.roster(find_game("duel,2,2")) is whole
        for _ in range(2):
            assert desk.stored(rules) is None
            oracle = desk.oracle("duel,3,3")
            assert (oracle.source, oracle.path) == ("book", str(tmp_path / "duel-3x3.ttt4"))
        assert desk.roster(rules) is desk.roster(rules)
        for board in with_tiles(duel, range(9))[::300]:
            found = json.loads(desk.position("duel,3,3", str(at(duel, board))))
            assert (found["score"], found["exact"]) == (exact(duel, board), True)
            assert found["source"] == ("store" if naive.stones(board) < TILES else "search")
        assert desk.stored(find_game("duel,3,4")) is None
        assert desk.oracle("duel,3,4").source == "search"
    finally:
        desk.close()


def test_the_best_searching_player_follows_the_book(book_of: StoreOf) -> None:
    from play.players.roster import Roster
    from solver.games.board_rules import BoardState

    duel, rules = naive.Duel(3, 3), find_game("duel,3,3")
    with Roster(rules, str(book_of("duel,3,3"))) as roster:
        player = roster.player("search:10", 5)
        assert player is not None
        for board in with_tiles(duel, range(TILES))[::40]:
            best = {cell for cell, score in moves_of(duel, board).items() if score == exact(duel, board)}
            assert player.choose(BoardState(at(duel, board))) in best


@pytest.mark.slow
def test_a_book_of_5x5_is_that_of_searches_by_plain_python(tmp_path: Path) -> None:
    game, path = Duel(5, 5), tmp_path / "s"
    built = build_store(game, path, jobs=2)
    assert built.manifest.score == 3
    assert verify_store(path, game, jobs=2).manifest == built.manifest
    assert re.fullmatch(r"[\d,]+ nodes", built.empty_board) or "given up" in built.empty_board
    search = LiveDuel(game, kind_of(game).symmetries(game)[:1], 60.0, compiled=False)
    duel, scores = naive.Duel(5, 5), opened(path)
    for seed in range(6):
        board = naive.duelled(duel, os.urandom(TILES) if seed > 3 else bytes([seed] * TILES))[-1]
        assert DuelScores.score(scores, at(duel, board)) == search.score(at(duel, board)), board


@pytest.mark.parametrize("how", ["folder", "file", "variable"])
def test_the_shipped_book_serves_where_a_folder_is_named_but_not_where_a_file_is(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = None if how == "variable" else tmp_path / "duel.ttt4" if how == "file" else tmp_path
    if how == "variable":
        monkeypatch.setenv("TTT4_STORE", str(tmp_path))
    if how == "file":
        with pytest.raises(StoreMissing):
            Oracle("duel", given)
    else:
        with Oracle("duel", given) as oracle:
            assert (oracle.source, oracle.score("." * 36)) == ("book", -2)
        with pytest.raises(StoreMissing):
            Oracle("duel,5,5", given)
        assert store_path(Duel(), given) == str(tmp_path / "duel.ttt4"), "it is built in the folder all the same"
