"""The moves of the strongest player of the duel beside a search without a limit: how many are right, and how slow.

Usage: python tests/bench/bench_duel_moves.py [--game duel] [--player search:10] [--tiles 5 6 7 8 9 10]
       [--positions 500] [--seed 1]

Positions come from random play. The player has forgotten all it has seen before each of them. A move is right if it
has the position's margin; one that is not may still keep who wins. Times are of CPU, of one thread.
"""

import argparse
import random
from statistics import median
from time import process_time

from bench_duel import drawn, sides

from play.arena import Roster, find_game
from solver.duel.search import DuelSearch
from solver.games.board_rules import BoardState
from solver.games.duel import DuelPosition
from solver.games.score import outcome_of
from solver.kinds import kind_of

_TABLE_BITS = 23


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="duel")
    parser.add_argument("--player", default="search:10")
    parser.add_argument("--tiles", type=int, nargs="+", default=[5, 6, 7, 8, 9, 10])
    parser.add_argument("--positions", type=int, default=500, help="how many of each number of tiles")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rules = find_game(options.game)
    game = rules.game  # type: ignore[attr-defined]
    truth = DuelSearch(game.neighbours, kind_of(game).symmetries(game), table_bits=_TABLE_BITS)
    with Roster(rules) as roster:
        player = roster.player(options.player, options.seed)
        assert player is not None
        roster.ready()
        for tiles in options.tiles:
            rng = random.Random(f"{options.seed} {tiles}")
            right, kept, times = 0, 0, []
            for _ in range(options.positions):
                position = drawn(game, rng, tiles)
                roster.forget()
                start = process_time()
                cell = player.choose(BoardState(position))
                times.append(process_time() - start)
                best, made = margins(truth, position, cell)
                right += made == best
                kept += outcome_of(made) == outcome_of(best)
                if made != best:
                    print(f"wrong: {position} {game.cell_name(cell)} has {made}, the best {best}", flush=True)
            print(
                f"{tiles} tiles: {right} of {options.positions} moves are right, {kept} keep who wins; "
                f"median {median(times):.2f} s, slowest {max(times):.2f} s",
                flush=True,
            )


def margins(truth: DuelSearch, position: DuelPosition, cell: int) -> tuple[int, int]:
    """Return the margins of a position and of a move, for the side to move."""
    truth.forget()
    best = truth.score(*sides(position))
    after = truth.score(*sides(position.play(cell)))
    assert best is not None
    assert after is not None
    return best, -after


if __name__ == "__main__":
    main()
