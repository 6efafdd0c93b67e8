"""The shapes of answers, for the documentation: what each field of the JSON is."""

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict, get_type_hints

import msgspec

from oracle.answers import Analysis as AnalysisFields
from oracle.answers import Move as MoveFields
from play.graded import Graded as GradedFields
from play.puzzles import Puzzle as PuzzleFields
from solver.store.manifest import Ply as PlyFields


def _shape(name: str, fields: type, **other: Any) -> Any:
    """Return the shape of a named tuple that is written as an object, some fields with another type."""
    return msgspec.defstruct(name, list({**get_type_hints(fields), **other}.items()))


class Stop(TypedDict):
    """Why a side cannot win: no line is left to it, pairs of cells stop it, or its lines weigh too little."""

    side: Literal["X", "O"]
    kind: Literal["dead", "pairing", "weights"]
    first: NotRequired[str]
    pairs: NotRequired[list[list[str]]]
    weight: NotRequired[str]


class Proof(TypedDict):
    """A proof of an outcome: a side's winning strategy, a defence, or what stops both sides."""

    kind: Literal["strategy", "defence", "dead", "pairing", "weights"]
    text: str
    side: NotRequired[Literal["X", "O"]]
    plies: NotRequired[int]
    line: NotRequired[list[str]]
    stops: NotRequired[list[Stop]]
    answers: NotRequired[int]
    file: NotRequired[str]


class Threats(TypedDict):
    """The cells of threats for the side to move; those of the other side are in `blocks` and `stops_two`."""

    completes: list[str]
    blocks: list[str]
    makes_two: list[str]
    stops_two: list[str]


if TYPE_CHECKING:
    Move = dict[str, Any]
    Analysis = dict[str, Any]
    Puzzle = dict[str, Any]
    Graded = dict[str, Any]
    Ply = dict[str, Any]
else:
    Move = _shape("Move", MoveFields)
    Analysis = _shape("Analysis", AnalysisFields, moves=list[Move], proof=Proof | None, threats=Threats | None)
    Puzzle = _shape("Puzzle", PuzzleFields)
    Graded = _shape("Graded", GradedFields, changed=bool)
    Ply = _shape("Ply", PlyFields)


class Error(TypedDict):
    """What is wrong; a request about an old version gets the match as it stands, too."""

    error: str
    message: str
    statusCode: int
    match: NotRequired["Match"]
    state: NotRequired["GameState"]


class GameListed(TypedDict):
    """A game in the list."""

    name: str
    rows: NotRequired[int]
    columns: NotRequired[int]
    cells: int | None
    misere: NotRequired[bool]
    scale: NotRequired[Literal["plies", "margin"]]
    sides: NotRequired[list[str]]
    about: str
    store: bool
    runs: NotRequired[list[str]]


class StoreFacts(TypedDict):
    """What a store says of itself."""

    game: str
    misere: NotRequired[bool]
    cells: int
    lines: NotRequired[int]
    symmetries: int
    reachable: int
    canonical: int
    outcome: str
    score: int
    scale: Literal["plies", "margin"]
    plies_to_end: int | None
    digest: str
    format: int
    plies: list[Ply]


class GameFacts(TypedDict):
    """A game, cell by cell and line by line."""

    name: str
    sides: list[str]
    cells: int | None
    rows: NotRequired[int]
    columns: NotRequired[int]
    misere: NotRequired[bool]
    scale: NotRequired[Literal["plies", "margin"]]
    squares: NotRequired[list[int]]
    cell_names: NotRequired[list[str]]
    lines: NotRequired[list[list[str]]]
    symmetries: NotRequired[int | None]
    store: NotRequired[StoreFacts | None]


class Outcome(TypedDict):
    """How a match ended."""

    winner: str | None
    reason: str
    lost: NotRequired[list[str]]


class Event(TypedDict):
    """Something that happened in a match."""

    event: str
    side: NotRequired[str]
    move: NotRequired[str]
    reason: NotRequired[str]
    time: NotRequired[str]


class Standing(TypedDict):
    """Where a match stands; `legal` is left out on boards of more than 400 cells."""

    version: int
    to_move: str | None
    legal: NotRequired[list[str]]
    outcome: Outcome | None
    ending: list[str]
    captured: NotRequired[list[int]]


class StepTaken(Standing, Event):
    """An event of a match, and where the match stands after it, without `state` on boards of more than 400 cells."""

    state: NotRequired[str]


class Match(Standing):
    """A match: its record, and what else its players see."""

    id: str
    state: str
    players: dict[str, str]
    sides: list[str]
    undo_asked_by: str | None
    undo_waits_for: list[str]
    rematch: str | None
    notices: int
    game: str
    board: NotRequired[str]
    tags: dict[str, str]
    remarks: list[str]
    events: list[Event]
    moves: list[str]
    result: str


class Links(TypedDict):
    """Where a match can be found: by programs, by who watches, and by who has a seat."""

    match: str
    events: str
    watch: str
    seats: dict[str, str]


class Seated(Match):
    """A match, with the tokens of one's seats and where it can be found."""

    tokens: dict[str, str]
    links: Links


class Review(TypedDict):
    """The moves of a match, graded; the turning point is a move's number."""

    moves: list[Graded]
    turning_point: int | None
    exact: bool


class Placed(TypedDict):
    """A move of the duel: who made it, where, when, in milliseconds since 1970, and how many tiles it captured."""

    player: Literal["R", "G"]
    row: int
    col: int
    timestamp: int
    capturedCount: int


class GameState(TypedDict):
    """A game of the duel; nobody is to move when it is over."""

    id: str
    board: list[list[Literal[0, "R", "G"]]]
    currentPlayer: Literal["R", "G"] | None
    mode: Literal["PvP", "PvAI"]
    winner: Literal["R", "G", "draw"] | None
    moveHistory: list[Placed]
    version: int


class Square(TypedDict):
    """Where a machine has moved."""

    row: int
    col: int
