"""Everything that can be refused, and the exit code that each refusal gives a command.

A message states the fact and shows the offending value, in one line. Options and commands to type are not in it,
because a program or a server has other advice: the commands take theirs from solver/advice.py.

    0  done
    1  a check failed, or the work could not be done
    2  wrong usage, a bad game or a bad board
    3  no such store, or one of another game or format
    4  a damaged store, or a file that is not a store
"""


class Ttt4Error(Exception):
    """The base of every error that this project raises on purpose."""

    kind = "failed"
    """One word for programs. It stays the same when the message changes."""
    exit_code = 1
    unnamed_game = ""
    """The game that the user has to name, where a file alone must not open it."""


class GameError(Ttt4Error):
    """A game that does not exist, or that is too large for what was asked of it."""

    kind = "bad-game"
    exit_code = 2


class BoardError(Ttt4Error):
    """A board, a cell or a move that the game does not allow."""

    kind = "bad-board"
    exit_code = 2


class StoreError(Ttt4Error):
    """A store that cannot be used; the subclasses say why."""

    kind = "store-unusable"

    def __init__(self, message: str, path: str = "", game: object = None) -> None:
        """Carry the message, the store's path, and the Game that was asked for, if that is known."""
        super().__init__(message)
        self.path = path
        self.game = game


class StoreMissing(StoreError):
    """There is no file where the store should be."""

    kind = "store-missing"
    exit_code = 3


class StoreMismatch(StoreError):
    """The file is a store, but of another game."""

    kind = "store-mismatch"
    exit_code = 3


class StoreOutdated(StoreMismatch):
    """The file is a store in a format that this program does not read."""

    kind = "store-format"


class StoreDamaged(StoreError):
    """The file is not what was written: cut short or altered."""

    kind = "store-damaged"
    exit_code = 4


class NotAStore(StoreDamaged):
    """The file shows no sign of ever having been a store, so nothing of ours may replace it."""

    kind = "not-a-store"


class StoreUnwritable(StoreError):
    """The store could not be written: no space, no permission, or another build is running."""

    kind = "store-unwritable"


class NotSettled(Ttt4Error):
    """A score that could not be made certain in the time allowed."""

    kind = "not-settled"


class SolversDisagree(Ttt4Error):
    """Two computations that must agree do not. Nothing is written after this."""

    kind = "solvers-disagree"


class TooLarge(Ttt4Error):
    """This machine lacks the memory or disk space that solving a game takes."""

    kind = "too-large"


class ScratchError(Ttt4Error):
    """The folder of an unfinished build, or the cluster that works on it, cannot be used."""

    kind = "scratch-unusable"


class PagesDamaged(ScratchError):
    """The pages that a task has put on a shelf are not as they were, or are gone."""

    def __init__(self, layer: int, number: int) -> None:
        """Name the task: its layer and its number there."""
        super().__init__(layer, number)
        self.layer = layer
        self.number = number

    def __str__(self) -> str:
        return f"the pages of task {self.number} of layer {self.layer} are damaged or gone"


class RecordsDamaged(PagesDamaged):
    """The records that a task has kept are not as they were, or are gone."""

    def __str__(self) -> str:
        return f"the records of task {self.number} of layer {self.layer} are damaged or gone"


def refusal_of(error: BaseException) -> Ttt4Error | None:
    """Return the refusal for a failure of the system, for lack of memory or threads too; None for a fault of ours."""
    memory = Ttt4Error("there is too little memory: free some, or raise its limit")
    if isinstance(error, MemoryError) or "Cannot allocate memory" in str(error):
        return memory
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return Ttt4Error("no thread can be started: end other programs, or raise the limit of processes")
    if isinstance(error, OSError):
        return Ttt4Error(f"system error: {error.strerror or error}")
    cause = error.__cause__ or error.__context__
    return memory if cause and isinstance(cause, MemoryError) else None
