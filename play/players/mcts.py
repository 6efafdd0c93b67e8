"""Monte Carlo tree search: random games from a position tell how good its moves are. It plays any game.

A playout goes down the tree by the rule UCT: the move with the highest mean result plus a bonus that is larger the less
often the move was tried. It adds one position to the tree, plays at random from there to the end, and counts the result
in every position that it came through. The move that was tried most is made. Where there are more than two sides, each
is taken to play for its own share of the point: max^n (Luckhart and Irani, 1986), as in UCT with max^n backup
(Sturtevant, 2008).

In games of lines compiled code does that, whose random games see threats (solver/engine/playouts.py).
"""

import random
from math import log, sqrt
from time import monotonic
from typing import TYPE_CHECKING, Any

from solver.games.cell_rules import CellRules
from solver.games.line_rules import LineState
from solver.games.lines import Game
from solver.games.rules import Rules, points
from solver.kernels.loading import LOADING, Loader

if TYPE_CHECKING:
    from solver.engine.playouts import Playouts

BONUS = 1.4
"""How much moves that were tried seldom are preferred: about the square root of 2, the classic choice."""


class _Node:
    """A position in the tree."""

    __slots__ = ("children", "points", "side", "state", "untried", "visits")

    def __init__(self, rules: Rules[Any], state: Any, rng: random.Random) -> None:
        self.state = state
        self.side = rules.to_move(state)
        self.untried = list(rules.legal(state))
        rng.shuffle(self.untried)
        self.children: dict[int, _Node] = {}
        self.visits = 0
        self.points = 0.0
        """The points of the side that moved here."""


class MctsPlayer:
    """Plays random games from a position, and makes the move that did best in them."""

    def __init__(self, rules: Rules[Any], playouts: int, rng: random.Random) -> None:
        """Play so many games for each move, with chances from `rng`."""
        self._rules = rules
        self._playouts = playouts
        self._rng = rng

    def choose(self, state: Any) -> int:
        """Return the move that was tried most."""
        root = _Node(self._rules, state, self._rng)
        for _ in range(self._playouts):
            self._play_out(root)
        return max(root.children, key=lambda move: root.children[move].visits)

    def _play_out(self, root: _Node) -> None:
        rules, node, path = self._rules, root, [root]
        while not node.untried and node.children:
            node = self._chosen(node)
            path.append(node)
        if node.untried:
            move = node.untried.pop()
            child = node.children[move] = _Node(rules, rules.play(node.state, move), self._rng)
            path.append(child)
            node = child
        outcome = rules.outcome(self._end_from(node.state))
        shares = points(rules.sides, outcome) if outcome else {}
        for before, each in zip([None, *path], path, strict=False):
            each.visits += 1
            if before:
                each.points += shares.get(before.side or "", 0.5)

    def _end_from(self, state: Any) -> Any:
        """Return the state at the end of a random game from a state."""
        rules = self._rules
        if isinstance(rules, CellRules) and not rules.captures:  # every empty cell stays a move until the end
            cells = list(rules.legal(state))
            self._rng.shuffle(cells)
            while cells and not rules.outcome(state):
                state = rules.play(state, cells.pop())
        while moves := rules.legal(state):
            state = rules.play(state, self._rng.choice(moves))
        return state

    def _chosen(self, node: _Node) -> _Node:
        logarithm = log(node.visits)
        return max(
            node.children.values(),
            key=lambda child: child.points / child.visits + BONUS * sqrt(logarithm / child.visits),
        )


class LinePlayouts(Loader):
    """Random games of a game of lines, compiled. Threads may share it."""

    kernel = "engine/playouts.grow"
    module = "solver.engine.playouts"

    def __init__(self, game: Game) -> None:
        """Begin to load what plays `game`."""
        super().__init__(may_compile=True)
        self._game = game
        self.load()

    def make(self) -> "Playouts":
        """Return what plays random games."""
        from solver.engine.playouts import Playouts  # only now: it takes compiled code

        return Playouts(self._game)

    def best(self, own: int, other: int, playouts: int, seed: int) -> int | None:
        """Return the cell that did best in so many games, for the side of `own`; None if there is no compiled code."""
        compiled: Playouts | None = self.compiled(monotonic() + LOADING)
        if compiled is None:
            return None
        with self._searching:
            return compiled.best(own, other, playouts, seed)


class LineMctsPlayer:
    """Plays random games of lines, compiled, and makes the move that did best in them."""

    def __init__(self, compiled: LinePlayouts, rules: Rules[Any], playouts: int, rng: random.Random) -> None:
        """Play so many games for each move, with chances from `rng`; in plain Python if nothing can be compiled."""
        self._compiled = compiled
        self._plain = MctsPlayer(rules, playouts, rng)
        self._playouts = playouts
        self._rng = rng

    def choose(self, state: LineState) -> int:
        """Return the move that was tried most."""
        x, o = state.position.x, state.position.o
        own, other = (x, o) if state.position.mover == "X" else (o, x)
        cell = self._compiled.best(own, other, self._playouts, self._rng.getrandbits(60))
        return self._plain.choose(state) if cell is None else cell
