"""The stones on a brain's board: its own and the other side's, whoever placed them and in whatever order."""

from solver.games.lines import Game


class Refused(Exception):
    """A command that cannot be done; its text is the answer, behind ERROR."""


class Stones:
    """A board."""

    def __init__(self, game: Game, own: int = 0, other: int = 0) -> None:
        """Begin with the cells of either side."""
        self.game = game
        self.own = own
        self.other = other

    @property
    def moves(self) -> int:
        """How many stones of its own there are."""
        return self.own.bit_count()

    def put(self, cell: int, *, own: bool) -> None:
        """Place a stone; raise Refused if there is one."""
        if (self.own | self.other) >> cell & 1:
            raise Refused("there is a stone already")
        if own:
            self.own |= 1 << cell
        else:
            self.other |= 1 << cell

    def take(self, cell: int) -> None:
        """Take a stone back; raise Refused if there is none."""
        if not (self.own | self.other) >> cell & 1:
            raise Refused("there is no stone to take back")
        self.own &= ~(1 << cell)
        self.other &= ~(1 << cell)

    def require_going(self) -> None:
        """Raise Refused if the game is over."""
        if self.own | self.other == self.game.full:
            raise Refused("the board is full")
        if self.game.completed(self.own) or self.game.completed(self.other):
            raise Refused("the game is over: there is a line")
