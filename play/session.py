"""A session: a match between people and machines, each step of it kept before the next.

It knows whose turn it is, lets a machine move, takes back to a person's own move, and says when the match has
ended. It neither prompts nor prints: the prompt, the arena and a server drive the same class.
"""

from collections.abc import Callable, Mapping
from typing import Any

from play.match import Match, NothingToUndo, OutOfTurn
from play.players.player import Player, PlayerError, chosen
from play.records.text import Record
from solver.errors import Ttt4Error


class Session:
    """Runs the match of a record; a side without a player is a person's."""

    def __init__(
        self, record: Record, players: Mapping[str, Player | None], keep: Callable[[Record], None] = lambda record: None
    ) -> None:
        """Go on with a record's match; `keep` is called with the record after every change."""
        self.record = record
        self.players = players
        self._keep = keep

    @property
    def match(self) -> Match[Any]:
        """The match as it stands."""
        return self.record.match

    @property
    def people(self) -> set[str]:
        """The sides that people play."""
        return {side for side, player in self.players.items() if player is None}

    @property
    def machine_to_move(self) -> bool:
        """Whether a machine's move is due."""
        side = self.match.to_move
        return side is not None and self.players[side] is not None

    def play(self, side: str, move: int) -> None:
        """Make a person's move; a MatchError changes nothing."""
        self.match.play(side, move)
        self._keep(self.record)

    def choose(self) -> int:
        """Return the move that the machine to move chooses, without making it; raise PlayerError if it names none."""
        return self.thinking()()

    def thinking(self) -> Callable[[], int]:
        """Return what chooses as `choose` does, from the state as it is now, whatever the match comes to meanwhile."""
        rules, state, side = self.match.rules, self.match.state, self.match.to_move
        player = side and self.players[side]
        if not player:
            raise OutOfTurn("no machine is to move")

        def choose() -> int:
            move = chosen(player, state)
            if refusal := rules.refusal(state, move):
                raise PlayerError(f"{side} made no move: {refusal}")
            return move

        return choose

    def reply(self) -> int:
        """Let the machine to move choose and make its move, and return it; raise PlayerError if it makes none."""
        move = self.choose()
        self.play(self.match.to_move or "", move)
        return move

    def undo(self, side: str | None = None) -> None:
        """Take back a resignation, or the last moves up to and including a person's own; with `side`, that one's."""
        match = self.match
        people = {side} if side else self.people
        if match.just_gone:
            match.undo()
        elif any(match.rules.to_move(state) in people for state in match.states[:-1]):
            match.undo()
            while match.to_move not in people:
                match.undo()
        else:
            raise NothingToUndo("you have made no move to take back")
        self._keep(self.record)

    def return_to(self, count: int) -> None:
        """Take back a resignation, and moves until so many are left."""
        while self.match.given_up or len(self.match.moves) > count:
            self.match.undo()
        self._keep(self.record)

    def redo(self) -> None:
        """Make moves again that were taken back, up to the next one of a person's."""
        match = self.match
        match.redo()
        while match.can_redo and match.to_move not in self.people:
            match.redo()
        self._keep(self.record)

    def seat(self, players: Mapping[str, Player | None], names: Mapping[str, str]) -> None:
        """Let others play some sides from now on; the record says so."""
        self.players = {**self.players, **players}
        self.record.tags |= names
        self._keep(self.record)

    def start_over(self) -> None:
        """Return to the first state."""
        self.match.start_over()
        self._keep(self.record)

    def resign(self, side: str) -> None:
        """Let a side give up."""
        self.match.resign(side)
        self._keep(self.record)

    def forfeit(self, side: str, error: Ttt4Error | str) -> None:
        """Let a side lose because its player broke the rules of play."""
        self.match.forfeit(side, str(error))
        self._keep(self.record)
