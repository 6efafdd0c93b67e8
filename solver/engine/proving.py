"""What can be proved of a position without a store: the simplest proof is looked for first."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from time import monotonic

from solver.certificates.draws import draw_certificate
from solver.certificates.files import DRAW, Defence, Proof, check_proof
from solver.certificates.refusals import CheckTooLong, Refuted
from solver.certificates.strategy import check_strategy
from solver.certificates.winning import find_strategy
from solver.engine import takes
from solver.errors import NotSettled
from solver.games.lines import Game
from solver.games.position import Position
from solver.kernels.loading import import_compiled

Prover = Callable[[Game, Position, float], Proof | None]
"""Look for a proof until a deadline (of `time.monotonic`), and check it."""

_NODES, _NODES_MOST = 50_000, 1 << 40
"""How many nodes the engine takes for a move of a strategy at first, and at most."""

_TABLE_BITS = 24
"""It remembers 2 to the power of so many positions."""

_MORE = 4
"""So many times as many nodes the next time."""

_GLANCE, _FIRST_MOVES = 4, 3
"""How far it looks to choose the first moves to try, and how many there are: the win after one of them can be seen
sooner than from before it."""

_ANY = -1
"""Stands for the first move that it chooses when it looks as far as it can."""


def prove(game: Game, position: Position, deadline: float) -> Proof | None:
    """Return a proof of what a position is worth, checked; None if none was found by the deadline.

    Tried in order: lines that are dead, pairings and weights; then, by turns and for longer each time, a strategy that
    wins and, on the empty board, a defence. To wait for compiled code is no part of the time, in a patient process.
    """
    start = monotonic()
    for prover, share in provers():
        proof = prover(game, position, start + share * (deadline - start))
        if proof:
            return proof
        if prover is by_certificate:
            waited = import_compiled("engine/kernels.search", *_compiled_modules(game, position))
            start, deadline = start + waited, deadline + waited
    return None


def _compiled_modules(game: Game, position: Position) -> list[str]:
    """Return the modules of the provers that compile code."""
    modules = ["solver.engine.engine"] if takes(game) else []
    return modules if position.stones or game.misere else [*modules, "solver.certificates.breaker"]


def provers() -> Iterator[tuple[Prover, float]]:
    """Yield the provers, the quickest first, and by which share of the time each has to end."""
    yield by_certificate, 1.0
    for end_of_strategy, end_of_defence in ((0.015, 0.05), (0.1, 0.5)):
        yield by_strategy, end_of_strategy
        yield by_defence, end_of_defence
    yield by_strategy, 1.0


def by_certificate(game: Game, position: Position, deadline: float) -> Proof | None:
    """Return a proof of a draw by reasons that need no search."""
    certificate = draw_certificate(game, position.x, position.o, deadline)
    if certificate is None:
        return None
    proof = Proof(game, position.x, position.o, DRAW, certificate)
    check_proof(proof)
    return proof


def by_strategy(game: Game, position: Position, deadline: float) -> Proof | None:
    """Return a proof that the side to move wins, found with the engine, which looks further each time."""
    if not takes(game):
        return None
    from solver.engine.engine import Engine  # only now: it loads the kernels

    engine, nodes = Engine(game, table_bits=_TABLE_BITS), _NODES
    own, their = (position.x, position.o) if position.mover == "X" else (position.o, position.x)
    left = max(0.0, deadline - monotonic())
    firsts = [cell for cell, _ in engine.values(own, their, depth=_GLANCE, most=_FIRST_MOVES, seconds=left)]

    def attempt(first: int) -> Proof | None:
        def guide(mine: int, theirs: int) -> int | None:
            if first != _ANY and (mine, theirs) == (own, their):
                return first
            thought = engine.think(mine, theirs, nodes=nodes, seconds=max(0.0, deadline - monotonic()))
            return thought.cell if thought.win > 0 else None

        strategy = find_strategy(game, own, their, guide, deadline)
        if strategy:
            with suppress(Refuted, CheckTooLong):
                plies = check_strategy(game, position.x, position.o, strategy)
                return Proof(game, position.x, position.o, f"{position.mover} wins", strategy, plies)
        return None

    while firsts and monotonic() < deadline and nodes < _NODES_MOST:
        proof = attempt(firsts[0]) or attempt(_ANY)
        if proof:
            return proof
        firsts.append(firsts.pop(0))
        nodes *= _MORE
    return None


def by_defence(game: Game, position: Position, deadline: float) -> Proof | None:
    """Return a proof of a draw by a defence of O's, on the empty board in normal play.

    It needs no check: the walk that collects its answers is the one that checks them.
    """
    if position.stones or game.misere:
        return None
    from solver.certificates.breaker import find_defence, searches  # only now: it loads the kernels
    from solver.index.symmetry import symmetries

    if not searches(game):
        return None
    group = symmetries(game)
    try:
        answers = find_defence(game, group, deadline)
    except (NotSettled, Refuted, CheckTooLong):
        return None
    return Proof(game, 0, 0, DRAW, Defence(group, tuple(answers))) if answers is not None else None
