"""The search of the duel beside a C program that shares nothing with it: the same margins, and who is quicker.

Usage: python tests/bench/bench_duel.py [--game duel,5,6] [--positions 200] [--tiles 8] [--rounds 3]
       python tests/bench/bench_duel.py --game duel --book data/duel.ttt4 [--part 0.1]

Both search the empty board, each with a table of 16 to 20 MB on one thread, in turns, and then random positions. With
--book, the C program searches the fullest boards of a book, or a part of them, and must find the margins in it.
"""

import random
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from measuring import compiled, drawn, options_of, timed

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
    options = options_of(
        __doc__, game=parse_game("duel,5,6"), positions=200, tiles=8, rounds=3, book="", part=1.0, compiler="cc"
    )
    with TemporaryDirectory() as folder:
        program = compiled("duel", options.compiler, folder)
        if options.book:
            compare_book(program, options.game, options.book, options.part)
            return
        compare_roots(program, options.game, options.rounds)
        rng = random.Random(1)
        positions = [drawn(options.game, rng, options.tiles) for _ in range(options.positions)]
        compare(program, options.game, positions)


def compare_roots(program: Path, game: Duel, rounds: int) -> None:
    ours, theirs = [], []
    for _ in range(rounds):
        search = DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=_TABLE_BITS)
        spent, margin = timed(lambda search=search: search.score(0, 0))
        ours.append(spent)
        spent, said = timed(lambda: run_c(program, game, [DuelPosition(game)]))
        theirs.append(spent)
        if said != [margin]:
            sys.exit(f"{game.name}: the search says {margin}, the C program {said[0]}")
    print(
        f"{game.name}: margin {margin}, {search.nodes:,} nodes, {median(ours):.2f} s; C {median(theirs):.2f} s, "
        f"ratio {median(ours) / median(theirs):.2f}"
    )


def compare(program: Path, game: Duel, positions: list[DuelPosition]) -> None:
    search = DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=_TABLE_BITS)
    ours, found = timed(lambda: [search.score(*sides(position)) for position in positions])
    theirs, said = timed(lambda: run_c(program, game, positions))
    require_same(positions, found, said)
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
    require_same(chosen, kept, run_c(program, game, chosen))
    print(f"{len(chosen):,} of {len(members):,} boards of {BOOK_TILES} tiles have the margins that the C program finds")


def require_same(positions: list[DuelPosition], ours: list[int], theirs: list[int]) -> None:
    different = [str(position) for position, a, b in zip(positions, ours, theirs, strict=True) if a != b]
    if different:
        sys.exit(f"{len(different)} of {len(positions)} positions differ: {different[0]}")


def run_c(program: Path, game: Duel, positions: list[DuelPosition]) -> list[int]:
    asked = "".join(f"{own} {other}\n" for own, other in map(sides, positions))
    command = [program, str(game.rows), str(game.columns), "-", str(_TABLE_BITS)]
    ran = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    return [int(line) for line in ran.stdout.split()]


def sides(position: DuelPosition) -> tuple[int, int]:
    """The tiles of the side to move, and the other's."""
    return (position.o, position.x) if position.stones % 2 else (position.x, position.o)


if __name__ == "__main__":
    main()
