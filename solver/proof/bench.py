"""Time both solvers on this machine, one thread each, with the kernels loaded."""

from time import perf_counter
from typing import Any

from solver.games.board import BoardGame, require_solvable
from solver.games.lines import Game
from solver.games.position import Position
from solver.kinds import kind_of

_NODES = 10_000_000
"""A search is given up after so many nodes."""


def run_bench(game: BoardGame[Any]) -> dict[str, int | float]:
    """Return seconds and counts of compiling or loading the kernels, of the sweep, and of alpha-beta search."""
    require_solvable(game)
    clock = perf_counter()
    kind_of(game).compile_kernels()
    results: dict[str, int | float] = {"kernels_seconds": perf_counter() - clock}
    return results | (_of_lines(game) if isinstance(game, Game) else _of_duel(game))


def _of_duel(game: Any) -> dict[str, int | float]:
    from solver.duel.index import WHOLE_CELLS
    from solver.duel.search import DuelSearch
    from solver.duel.sweep import solved_layers

    group, results = kind_of(game).symmetries(game), {}
    if game.cells <= WHOLE_CELLS:
        clock = perf_counter()
        places = sum(layer.scores.size for layer in solved_layers(game, group))
        results = _of_sweep(perf_counter() - clock, places)
    search = DuelSearch(game.neighbours, group, table_bits=22)
    clock = perf_counter()
    score = search.score(0, 0, _NODES)
    return results | _of_search(perf_counter() - clock, search.nodes, score)


def _of_sweep(seconds: float, places: int) -> dict[str, int | float]:
    per_place = 1e9 * seconds / places
    return {"sweep_seconds": seconds, "sweep_places": places, "sweep_nanoseconds_per_place": per_place}


def _of_search(seconds: float, nodes: int, score: int | None) -> dict[str, int | float]:
    return {"search_seconds": seconds, "search_nodes": nodes, "search_finished": int(score is not None)}


def _of_lines(game: Game) -> dict[str, int | float]:
    from solver.search.alphabeta import AlphaBeta
    from solver.sweep.halves import all_halves, kernel_game
    from solver.sweep.layers import sweep

    group = kind_of(game).symmetries(game)
    clock = perf_counter()
    places = 0
    known = kernel_game(game, group)
    for filled in sweep(known, all_halves(known)):
        places += sum(pages.scores.size for pages in filter(None, filled))
    results = _of_sweep(perf_counter() - clock, places)
    search = AlphaBeta(game, group, limit=_NODES)
    clock = perf_counter()
    score = search.score(Position(game))
    return results | _of_search(perf_counter() - clock, search.nodes, score)
