"""Everything that can be refused, and the exit code that each refusal gives a command.

A message says what is wrong, shows the offending value, and says what to do about it: the commands
print it as it stands, in one line.

    0  done
    1  a check failed, or the work could not be done
    2  wrong usage, a bad game or a bad board
    3  no such store
    4  a damaged store
"""


class Ttt4Error(Exception):
    """The base of every error that this project raises on purpose."""

    exit_code = 1


class GameError(Ttt4Error):
    """A game that does not exist, or that is too large for what was asked of it."""

    exit_code = 2


class BoardError(Ttt4Error):
    """A board, a cell or a move that the game does not allow."""

    exit_code = 2


class StoreError(Ttt4Error):
    """A store that cannot be used; the subclasses say why."""


class StoreMissing(StoreError):
    """There is no file where the store should be."""

    exit_code = 3


class StoreMismatch(StoreError):
    """The file is a store, but of another game or of another format."""

    exit_code = 3


class StoreDamaged(StoreError):
    """The file is not what was written: cut short, altered, or no store at all."""

    exit_code = 4


class StoreUnwritable(StoreError):
    """The store could not be written: no room, no right, or another build at work on it."""


class SolversDisagree(Ttt4Error):
    """Two computations that must agree do not. Nothing is written after this."""


class TooLarge(Ttt4Error):
    """This machine has not what a game takes to be solved."""
