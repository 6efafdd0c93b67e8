"""Nim: take one to three from a heap of seven; taking the last wins. A whole game in one file: `--game nim:Nim`."""

from typing import NamedTuple

from solver.errors import BoardError
from solver.games.rules import Outcome


class Heap(NamedTuple):
    left: int
    mover: str


class Nim:
    name = "nim:Nim"
    sides = ("X", "O")

    def start(self) -> Heap:
        return Heap(7, "X")

    def to_move(self, state: Heap) -> str | None:
        return state.mover if state.left else None

    def outcome(self, state: Heap) -> Outcome | None:
        if state.left:
            return None
        winner = "O" if state.mover == "X" else "X"
        return Outcome(winner, f"{winner} took the last")

    def legal(self, state: Heap) -> list[int]:
        return list(range(1, min(3, state.left) + 1))

    def refusal(self, state: Heap, move: int) -> str | None:
        if move not in (1, 2, 3):
            return f"nobody can take {move}: take 1, 2 or 3"
        return None if move <= state.left else f"the heap has only {state.left} left"

    def play(self, state: Heap, move: int) -> Heap:
        return Heap(state.left - move, "O" if state.mover == "X" else "X")

    def read(self, text: str) -> int:
        if not text.isdecimal():
            raise BoardError(f"cannot take {text!r}: write 1, 2 or 3")
        return int(text)

    def write(self, move: int) -> str:
        return str(move)

    def encode(self, state: Heap) -> str:
        return f"{state.left} {state.mover}"

    def decode(self, text: str) -> Heap:
        left, _, mover = text.partition(" ")
        if left not in map(str, range(8)) or mover not in self.sides:
            raise BoardError(f"no heap {text!r}: write how many are left and who moves, such as '7 X'")
        return Heap(int(left), mover)

    def key(self, state: Heap) -> Heap:
        return state
