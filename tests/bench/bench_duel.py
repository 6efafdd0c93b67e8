"""The search of the duel beside a C program that shares nothing with it: the same margins, and who is quicker.

Usage: python tests/bench/bench_duel.py [--game duel,5,6] [--positions 200] [--tiles 8] [--rounds 3]
       python tests/bench/bench_duel.py --game duel --book data/duel.ttt4 [--part 0.1]

Both search the empty board, each with a table of 16 to 20 MB on one thread, in turns, and then random positions. With
--book, the C program searches the fullest boards of a book, or a part of them, and must find the margins in it.
"""

import argparse
import random
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from solver.duel.book import BookProof
from solver.duel.index import BOOK_TILES
from solver.duel.search import DuelSearch
from solver.games.duel import Duel, DuelPosition
from solver.games.notation import parse_game
from solver.kinds import kind_of
from solver.proof.crew import threads
from solver.proof.progress import silent
from solver.store.store import Store

_TABLE_BITS = 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", type=parse_game, default=parse_game("duel,5,6"))
    parser.add_argument("--positions", type=int, default=200)
    parser.add_argument("--tiles", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--book", help="compare a book with the C program")
    parser.add_argument("--part", type=float, default=1.0, help="the share of its fullest boards that is searched")
    parser.add_argument("--compiler", default="cc")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        program = Path(folder) / "duel"
        source = Path(__file__).with_name("duel.c")
        subprocess.run([options.compiler, "-O3", "-march=native", "-o", program, source], check=True)
        if options.book:
            compare_book(program, options.game, options.book, options.part)
            return
        compare_roots(program, options.game, options.rounds)
        rng = random.Random(1)
        positions = [drawn(options.game, rng, options.tiles) for _ in range(options.positions)]
        compare(program, options.game, positions)


def compare_roots(program: Path, game: Duel, rounds: int) -> None:
    """Time both on the empty board."""
    ours, theirs = [], []
    for _ in range(rounds):
        search = DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=_TABLE_BITS)
        start = perf_counter()
        margin = search.score(0, 0)
        ours.append(perf_counter() - start)
        start = perf_counter()
        said = run_c(program, game, [DuelPosition(game)])
        theirs.append(perf_counter() - start)
        if said != [margin]:
            sys.exit(f"{game.name}: the search says {margin}, the C program {said[0]}")
    print(
        f"{game.name}: margin {margin}, {search.nodes:,} nodes, {median(ours):.2f} s; C {median(theirs):.2f} s, "
        f"ratio {median(ours) / median(theirs):.2f}"
    )


def compare(program: Path, game: Duel, positions: list[DuelPosition]) -> None:
    """Search random positions with both."""
    search = DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=_TABLE_BITS)
    start = perf_counter()
    found = [search.score(*sides(position)) for position in positions]
    between = perf_counter()
    said = run_c(program, game, positions)
    ours, theirs = between - start, perf_counter() - between
    different = [str(position) for position, a, b in zip(positions, found, said, strict=True) if a != b]
    if different:
        sys.exit(f"{len(different)} of {len(positions)} positions differ: {different[0]}")
    print(f"{len(positions)} positions of {positions[0].stones} tiles agree: {ours:.2f} s, C {theirs:.2f} s")


def compare_book(program: Path, game: Duel, path: str, part: float) -> None:
    """Compare the margins of a book's fullest boards with those that the C program finds."""
    group = kind_of(game).symmetries(game)
    with threads(1) as crew:
        proof: BookProof[None] = BookProof(game, group, lambda *_: None, crew=crew, on_progress=silent)
        members = [game.at(x, o) for row in proof.fullest for x, o in row]
    chosen = random.Random(1).sample(members, int(part * len(members)))
    with Store(path, game) as store:
        scores, _ = kind_of(game).scores(store, 0.0)
        kept = [scores.score(position) for position in chosen]
    said = run_c(program, game, chosen)
    different = [str(position) for position, a, b in zip(chosen, kept, said, strict=True) if a != b]
    if different:
        sys.exit(f"{len(different)} of {len(chosen)} boards of {BOOK_TILES} tiles differ: {different[0]}")
    print(f"{len(chosen):,} of {len(members):,} boards of {BOOK_TILES} tiles have the margins that the C program finds")


def run_c(program: Path, game: Duel, positions: list[DuelPosition]) -> list[int]:
    """Return the margins that the C program finds."""
    asked = "".join(f"{own} {other}\n" for own, other in map(sides, positions))
    command = [program, str(game.rows), str(game.columns), "-", str(_TABLE_BITS)]
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    return [int(line) for line in ran.stdout.split()]


def sides(position: DuelPosition) -> tuple[int, int]:
    """The tiles of the side to move, and the other's."""
    return (position.o, position.x) if position.stones % 2 else (position.x, position.o)


def drawn(game: Duel, rng: random.Random, tiles: int) -> DuelPosition:
    """A position that random play reaches."""
    position = DuelPosition(game)
    for _ in range(tiles):
        position = position.play(rng.choice(position.legal))
    return position


if __name__ == "__main__":
    main()
