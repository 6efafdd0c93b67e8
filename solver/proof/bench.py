"""Time both solvers on this machine, one thread each, with the kernels loaded."""

from time import perf_counter

from solver.games.board import require_solvable
from solver.games.lines import Game
from solver.games.position import Position
from solver.index.symmetry import symmetries
from solver.proof.compile import compile_kernels


def run_bench(game: Game) -> dict[str, int | float]:
    """Return seconds and counts of compiling or loading the kernels, of the sweep, and of alpha-beta search."""
    require_solvable(game)
    clock = perf_counter()
    compile_kernels()
    results: dict[str, int | float] = {"kernels_seconds": perf_counter() - clock}

    from solver.search.alphabeta import AlphaBeta
    from solver.sweep.halves import all_halves, kernel_game
    from solver.sweep.layers import layers

    group = symmetries(game)
    clock = perf_counter()
    places = 0
    known = kernel_game(game, group)
    for layer in layers(known, all_halves(known)):
        for chunk in layer.chunks():
            places += sum(pages.scores.size for pages in filter(None, layer.fill(chunk)))
    seconds = perf_counter() - clock
    results |= {"sweep_seconds": seconds, "sweep_places": places, "sweep_nanoseconds_per_place": 1e9 * seconds / places}

    search = AlphaBeta(game, group, limit=10_000_000)
    clock = perf_counter()
    score = search.score(Position(game))
    seconds = perf_counter() - clock
    results |= {"search_seconds": seconds, "search_nodes": search.nodes, "search_finished": int(score is not None)}
    return results
