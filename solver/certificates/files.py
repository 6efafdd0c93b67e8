"""Proof files: one JSON object each, with a claim about a game and what proves it.

    {"format": "ttt4 proof 1", "game": "6,6,5", "lines": 32, "lines_sha256": "...", "x": [], "o": [],
     "claim": "draw", "proof": {"kind": "defence", ...}}

`game` is the game's notation, `lines` (for readers) how many lines it has, and `lines_sha256` the SHA-256 of them: each
line's cell numbers in order, joined by blanks, the lines sorted as texts and joined by line feeds. Cells are numbered
row by row from the top left. `x` and `o` are the cells of both sides in the position. `claim` is `draw`, `X wins` or
`O wins`; a win has `plies`, the number in which it is won at most.

The proof of a draw has one of these kinds:

- `stops`: `x` and `o` say why X and O cannot win, each with its `kind`: `dead`, `pairing` (with `pairs` of cells) or
  `weights`; `first` is the cell that the other side claims first (solver/certificates/draws.py).
- `defence`: on the empty board, in normal play, with O against X. `symmetries` are permutations of the cells, and
  `answers` O's answers in the order in which solver/certificates/holding.py asks for them. They are one text of
  numbers joined by blanks: `+n` stands for n usual answers, and any other number is an answer. That O does not win
  either is known of every such game: X could follow a winning strategy of O's himself, with one stone more, which
  never does harm.

That of a win has the kind `strategy` and `nodes`, a list of nodes that come after all nodes to which they refer; the
last is where it begins. A node is [move, other, reply, node, reply, node, ...]: the winner's move (-1 for none, where
the loser begins), the number of the node that answers other replies (-1 for none), and the nodes that answer certain
replies (solver/certificates/strategy.py).
"""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from time import monotonic
from typing import Any

from solver.certificates.draws import DEAD, PAIRING, WEIGHTS, Certificate, Stop, check_draw
from solver.certificates.holding import CHECKED_CELLS, NOT_BARE, Bare, Whole, walk
from solver.certificates.refusals import CheckTooLong, ProofDamaged, Refuted
from solver.certificates.strategy import Strategy, check_strategy
from solver.errors import GameError
from solver.files import read_whole
from solver.games.board import cells_of
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.registry import may_be_recorded
from solver.index.symmetry import Symmetry
from solver.published import published
from solver.text import plies_in_words, shown

FORMAT = "ttt4 proof 1"
LARGEST_FILE = 1 << 25
DRAW = "draw"

_MOST_SYMMETRIES = 512
_MOST_ANSWERS = 10_000_000


@dataclass(frozen=True)
class Defence:
    """How O holds X on the empty board: what a walk is to be told, with None for each usual answer."""

    group: tuple[Symmetry, ...]
    answers: tuple[int | None, ...]


@dataclass(frozen=True)
class Proof:
    """A claim about a position, and what proves it."""

    game: Game
    x: int
    o: int
    claim: str
    """`draw`, `X wins` or `O wins`."""
    evidence: Certificate | Defence | Strategy
    plies: int | None = None

    def in_words(self) -> str:
        """Return the claim and the kind of evidence."""
        where = "the empty board" if not self.x | self.o else f"the board {self.game.at(self.x, self.o)}"
        if isinstance(self.evidence, Strategy):
            plies = plies_in_words(self.plies or 0)
            return f"{self.game.name}: {self.claim} from {where} in at most {plies}, by a strategy"
        if isinstance(self.evidence, Defence):
            return f"{self.game.name}: {where} is a draw, by a defence with {len(self.evidence.answers):,} answers"
        kinds = {DEAD: "because no line is left", PAIRING: "by a pairing", WEIGHTS: "by the weights of the lines"}
        return f"{self.game.name}: {where} is a draw, {kinds[self.evidence.kind]}"


def check_proof(proof: Proof, deadline: float = inf) -> None:
    """Raise Refuted unless the proof holds; no search and no compiled code takes part.

    A check of a defence that goes on after a deadline (of `time.monotonic`) raises CheckTooLong.
    """
    game, evidence = proof.game, proof.evidence
    if isinstance(evidence, Strategy):
        _check_win(proof, evidence)
        return
    if proof.claim != DRAW:
        raise Refuted(f"a defence cannot show that {proof.claim}")
    _require_open(proof)
    if isinstance(evidence, Certificate):
        check_draw(game, proof.x, proof.o, evidence)
        return
    if proof.x | proof.o or game.misere:
        raise Refuted("a defence of O alone shows a draw only on the empty board, and in normal play")
    told = iter(evidence.answers)

    def ask(position: Whole | Bare, usual: int) -> int:
        if monotonic() > deadline:
            raise CheckTooLong("the defence was not checked in time: nothing is known")
        try:
            answer = next(told)
        except StopIteration:
            raise Refuted("the defence has too few answers") from None
        return usual if answer is None else answer

    walk(game, Whole(0, 0), evidence.group, ask)
    for _ in told:
        raise Refuted("the defence has too many answers")


def is_published(path: str | os.PathLike[str]) -> bool:
    """Tell whether a proof file has a published digest, as those have that were checked before they were shipped."""
    return hashlib.sha256(read_whole(path, LARGEST_FILE)).hexdigest() in published("proofs").values()


def check_file(path: str | os.PathLike[str], game: Game | None = None) -> Proof:
    """Return the proof in a file, checked; raise Refuted if it does not hold, ProofDamaged if it cannot be read."""
    proof = read_proof(path, game)
    check_proof(proof)
    return proof


def as_file(proof: Proof) -> bytes:
    """Return the content of a proof's file."""
    game = proof.game
    fields: dict[str, Any] = {"format": FORMAT, "game": game.notation, "lines": len(game.lines)}
    fields |= {"lines_sha256": lines_digest(game), "x": [*cells_of(proof.x)], "o": [*cells_of(proof.o)]}
    fields |= {"claim": proof.claim} | ({} if proof.plies is None else {"plies": proof.plies})
    text = json.dumps(fields | {"proof": _evidence_fields(proof.evidence)}, separators=(",", ":"))
    return text.encode() + b"\n"


def read_proof(path: str | os.PathLike[str], game: Game | None = None) -> Proof:
    """Return the proof in a file, unchecked; raise ProofDamaged if it cannot be read. `game` overrides its notation."""
    try:
        fields = json.loads(read_whole(path, LARGEST_FILE))
    except OSError as error:
        raise ProofDamaged(f"cannot read proof {os.fspath(path)!r}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ProofDamaged(f"proof {os.fspath(path)!r} is not JSON: {shown(str(error))}") from error
    try:
        return _Fields(fields).proof(game)
    except (ProofDamaged, GameError) as error:
        raise ProofDamaged(f"proof {os.fspath(path)!r}: {error}") from error


def lines_digest(game: Game) -> str:
    """Return the SHA-256 of a game's lines, as a proof file has it."""
    texts = sorted(" ".join(map(str, cells_of(line))) for line in game.lines)
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def _evidence_fields(evidence: Certificate | Defence | Strategy) -> dict[str, Any]:
    if isinstance(evidence, Strategy):
        return {"kind": "strategy", "nodes": _nodes(evidence)}
    if isinstance(evidence, Defence):
        return {"kind": "defence", "symmetries": evidence.group, "answers": _runs(evidence.answers)}
    return {"kind": "stops", "x": _stop_fields(evidence.x), "o": _stop_fields(evidence.o)}


def _stop_fields(stop: Stop) -> dict[str, Any]:
    fields: dict[str, Any] = {"kind": stop.kind}
    if stop.first is not None:
        fields["first"] = stop.first
    return fields | ({"pairs": stop.pairs} if stop.kind == PAIRING else {})


def _runs(answers: tuple[int | None, ...]) -> str:
    """Return answers as a text, with `+n` for each run of n usual ones."""
    words: list[str] = []
    usual = 0
    for answer in (*answers, NOT_BARE):
        if answer is None:
            usual += 1
            continue
        if usual:
            words.append(f"+{usual}")
            usual = 0
        words.append(str(answer))
    return " ".join(words[:-1])


def _nodes(root: Strategy) -> list[list[int]]:
    """Return a strategy as a list of nodes, each after those to which it refers; equal nodes are written once."""
    numbers: dict[int, int] = {}
    known: dict[tuple[int, ...], int] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        parts = [*node.replies.values(), *([node.other] if node.other else [])]
        waiting = [part for part in parts if id(part) not in numbers]
        stack += waiting
        if not waiting:
            stack.pop()
            fields = [node.move, numbers[id(node.other)] if node.other else -1]
            for reply, part in sorted(node.replies.items()):
                fields += [reply, numbers[id(part)]]
            numbers[id(node)] = known.setdefault(tuple(fields), len(known))
    return [list(fields) for fields in known]


def _check_win(proof: Proof, strategy: Strategy) -> None:
    if proof.game.cells > CHECKED_CELLS:
        raise CheckTooLong(f"{proof.game.name} has more than {CHECKED_CELLS} cells, on which no strategy is checked")
    plies = check_strategy(proof.game, proof.x, proof.o, strategy)
    x_begins = (proof.x.bit_count() == proof.o.bit_count()) == (strategy.move >= 0)
    winner = "X" if x_begins else "O"
    if proof.claim != f"{winner} wins":
        raise Refuted(f"the strategy wins for {winner}, and the claim is {shown(proof.claim)}")
    if proof.plies is None or plies > proof.plies:
        raise Refuted(f"the strategy takes up to {plies} plies, and the claim is {proof.plies}")


def _require_open(proof: Proof) -> None:
    """Raise Refuted unless the position can be one in which the game goes on."""
    game, x, o = proof.game, proof.x, proof.o
    if x & o or x.bit_count() - o.bit_count() not in (0, 1) or game.completed(x) or game.completed(o):
        raise Refuted("the position is not one in which the game goes on")


class _Fields:
    """What a proof file says, each field of the right type and size."""

    def __init__(self, fields: Any) -> None:
        self.fields = fields

    def proof(self, game: Game | None) -> Proof:
        """Return the proof; raise ProofDamaged for a field that is missing or wrong."""
        if self.get(self.fields, "format", str) != FORMAT:
            raise ProofDamaged(f"its format is {shown(self.fields['format'])}, not {FORMAT!r}")
        game = game or self.game()
        self.cells = game.cells
        if self.get(self.fields, "lines_sha256", str) != lines_digest(game):
            raise ProofDamaged(f"its lines are not those of {game.notation}")
        x, o = (sum([1 << cell for cell in set(self.numbers(self.fields, side))]) for side in "xo")
        claim = self.get(self.fields, "claim", str)
        if claim not in (DRAW, "X wins", "O wins"):
            raise ProofDamaged(f"claim is {shown(claim)}: there are 'draw', 'X wins' and 'O wins'")
        plies = self.get(self.fields, "plies", int) if claim != DRAW else None
        return Proof(game, x, o, claim, self.evidence(self.get(self.fields, "proof", dict)), plies)

    def game(self) -> Game:
        """Return the game that is named, which must not be a path: a proof opens no file of its choice."""
        notation = self.get(self.fields, "game", str)
        if not may_be_recorded(notation) or len(notation) > 60:
            raise ProofDamaged(f"its game is {shown(notation)}: a proof cannot name a file")
        game = parse_game(notation)
        if not isinstance(game, Game):
            raise ProofDamaged(f"{game.name} has no lines")
        return game

    def evidence(self, fields: dict[str, Any]) -> Certificate | Defence | Strategy:
        kind = self.get(fields, "kind", str)
        if kind == "stops":
            return Certificate(*(self.stop(side.upper(), self.get(fields, side, dict)) for side in "xo"))
        if kind == "strategy":
            return self.strategy(self.get(fields, "nodes", list))
        if kind == "defence":
            group = self.get(fields, "symmetries", list)
            if len(group) > _MOST_SYMMETRIES:
                raise ProofDamaged(f"symmetries has {len(group):,} items: at most {_MOST_SYMMETRIES} fit")
            rows = tuple(tuple(self.listed("symmetries", row)) for row in group)
            return Defence(rows, tuple(self.answers(self.get(fields, "answers", str))))
        raise ProofDamaged(f"kind is {shown(kind)}: there are 'stops', 'defence' and 'strategy'")

    def stop(self, side: str, fields: dict[str, Any]) -> Stop:
        kind = self.get(fields, "kind", str)
        if kind not in (DEAD, PAIRING, WEIGHTS):
            raise ProofDamaged(f"kind is {shown(kind)}: there are 'dead', 'pairing' and 'weights'")
        first = self.get(fields, "first", int) if "first" in fields else None
        pairs = [self.listed("pairs", pair) for pair in self.get(fields, "pairs", list)] if kind == PAIRING else []
        if any(len(pair) != 2 for pair in pairs):
            raise ProofDamaged("a pair does not have two cells")
        return Stop(side, kind, first, tuple((pair[0], pair[1]) for pair in pairs))

    def strategy(self, rows: list[Any]) -> Strategy:
        nodes: list[Strategy] = []
        for row in rows:
            if not isinstance(row, list) or len(row) < 2 or len(row) % 2 or any(type(item) is not int for item in row):
                raise ProofDamaged(f"node {len(nodes)} is {shown(row)}: it must be a list of pairs of numbers")
            if not -1 <= row[1] < len(nodes) or not all(0 <= number < len(nodes) for number in row[3::2]):
                raise ProofDamaged(f"node {len(nodes)} refers to a node that does not come before it")
            replies = {reply: nodes[number] for reply, number in zip(row[2::2], row[3::2], strict=True)}
            nodes.append(Strategy(row[0], replies, nodes[row[1]] if row[1] >= 0 else None))
        if not nodes:
            raise ProofDamaged("the strategy has no node")
        return nodes[-1]

    def answers(self, text: str) -> Iterator[int | None]:
        left = _MOST_ANSWERS
        for word in text.split():
            digits = word.lstrip("+-")
            if not digits.isascii() or not digits.isdigit() or len(digits) > 8 or len(word) > len(digits) + 1:
                raise ProofDamaged(f"answer {shown(word)} is not a number")
            number = int(word)
            left -= number if word[0] == "+" else 1
            if left < 0:
                raise ProofDamaged(f"it has more than {_MOST_ANSWERS:,} answers")
            yield from [None] * number if word[0] == "+" else [number]

    def numbers(self, fields: dict[str, Any], name: str) -> list[int]:
        return self.listed(name, self.get(fields, name, list))

    def listed(self, name: str, items: Any) -> list[int]:
        """Return a list of cells."""
        if not isinstance(items, list) or len(items) > self.cells:
            raise ProofDamaged(f"{name} is {shown(items)}: it must be a list of cells")
        for item in items:
            if type(item) is not int or not 0 <= item < self.cells:
                raise ProofDamaged(f"{name} has {shown(item)}, which is not the number of a cell")
        return items

    def get(self, fields: Any, name: str, kind: type) -> Any:
        if not isinstance(fields, dict) or type(fields.get(name)) is not kind:
            raise ProofDamaged(f"{name} is missing, or not a {kind.__name__}")
        return fields[name]
