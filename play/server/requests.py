"""What requests may send: the shapes of their bodies, and how a body is read."""

from collections.abc import Collection
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import parse_qsl

import msgspec

from play.players.player import BEST_LEVEL
from play.server.problems import Problem
from solver.games.board import DEFAULT_GAME
from solver.games.duel import DEFAULT_SIZE, LONGEST_SIDE
from solver.text import shown

MOST_BYTES = 64 << 10
"""The largest body."""

MOST_BOARDS = 1000
"""How many boards a batch may have."""

_DRAINED = 8 << 20
"""How much of a body that is too large is read and dropped, so that its sender gets to read the answer."""

LONGEST_SEED = 80
"""The longest seed of a puzzle, in letters."""

T = TypeVar("T")
Short = Annotated[str, msgspec.Meta(max_length=80)]
Version = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
OwnId = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Side = Annotated[int, msgspec.Meta(ge=2, le=LONGEST_SIDE)]
Index = Annotated[int, msgspec.Meta(ge=0, lt=LONGEST_SIDE)]
"""A row or a column that some board has."""


class Batch(msgspec.Struct, forbid_unknown_fields=True):
    """Boards of one game to look up."""

    boards: Annotated[list[str], msgspec.Meta(max_length=MOST_BOARDS)]
    game: Short = DEFAULT_GAME


class Begin(msgspec.Struct, forbid_unknown_fields=True):
    """A new match: its game, who plays each side (human if not named), and the board to start from."""

    game: Short = DEFAULT_GAME
    players: dict[Short, Short] = {}
    board: Annotated[str, msgspec.Meta(max_length=2000)] | None = None


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """A step in a match: the version it is about, and the sender's own id, by which a retry is known."""

    version: Version
    id: OwnId


class MoveStep(Step, forbid_unknown_fields=True):
    """A move."""

    move: Short


class Undo(Step, forbid_unknown_fields=True):
    """Take back one's last move, which another person has to allow; or allow that (`agree`), or not."""

    agree: bool | None = None


class StartPvP(msgspec.Struct, forbid_unknown_fields=True, tag_field="mode", tag="PvP"):
    """A game of the duel between two people, and the size of its board."""

    rows: Side = DEFAULT_SIZE[0]
    columns: Side = DEFAULT_SIZE[1]


class StartPvAI(StartPvP, forbid_unknown_fields=True, tag="PvAI"):
    """A game of the duel between a person, who is R, and a machine, and how strong that is."""

    level: Annotated[int, msgspec.Meta(ge=0, le=BEST_LEVEL)] | None = None

    @property
    def machine(self) -> str:
        """The machine's name among the players."""
        return "search" if self.level is None else f"search:{self.level}"


StartGame: Any = StartPvP | StartPvAI


class PlaceTile(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A move in a game of the duel; with a version, only if that is the game's, and with an id, only once."""

    game_id: Short
    player: Literal["R", "G"]
    row: Index
    col: Index
    version: Version | None = None
    id: OwnId | None = None


class AskMachine(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """A game of the duel whose machine is to move."""

    game_id: Short


async def read_body(scope: Any, receive: Any) -> bytes:
    """Return a request's body; raise Problem if it is not JSON by its own account, or too large."""
    body = await _all_of(receive)
    kind = next((value for name, value in scope["headers"] if name == b"content-type"), b"")
    if body and kind.partition(b";")[0].strip().lower() != b"application/json":
        raise Problem(415, "not-json", "send the body as Content-Type: application/json")
    if len(body) > MOST_BYTES:
        raise Problem(413, "too-large", f"the body is larger than {MOST_BYTES:,} bytes")
    return body


def decoded(body: bytes, shape: type[T]) -> T:
    """Return a body as what it has to be; raise Problem, with what is wrong, if it is something else."""
    if not body:
        raise Problem(400, "bad-body", "there is no body: send a JSON object")
    try:
        try:
            return msgspec.json.decode(body, type=shape)
        except msgspec.ValidationError:
            return msgspec.convert(_with_integers(msgspec.json.decode(body)), shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, "bad-body", f"cannot read the body: {shown(str(error), 160)[1:-1]}") from error


def _with_integers(body: Any) -> Any:
    """Return a body with integers for its fields such as 3.0, which JSON Schema, and so the document, calls one."""
    if not isinstance(body, dict):
        return body
    whole = {name: int(value) for name, value in body.items() if isinstance(value, float) and value.is_integer()}
    return body | whole


def words_of(query: bytes, allowed: Collection[str]) -> dict[str, str]:
    """Return what a query says by name; raise Problem if it says something else, or something twice."""
    try:
        text = query.decode("ascii")
        if text and "%" not in text and "+" not in text and ";" not in text:  # as most are: half the time
            quick = dict(pair.split("=", 1) for pair in text.split("&"))
            if len(quick) == text.count("&") + 1 and quick.keys() <= set(allowed):
                return quick
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text), errors="strict", max_num_fields=16)
    except ValueError as error:
        raise Problem(400, "bad-query", f"cannot read the query: {shown(str(error), 120)}") from error
    words: dict[str, str] = {}
    for name, value in pairs:
        if name in words or name not in allowed:
            why = "given twice" if name in words else f"not a parameter: there are {', '.join(allowed) or 'none'}"
            raise Problem(400, "bad-query", f"{shown(name)} is {why}")
        words[name] = value
    return words


async def _all_of(receive: Any) -> bytes:
    """Return a whole body; of one that is too large, no more than shows that it is."""
    body, read, more = b"", 0, True
    while more and read < _DRAINED:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "cut-off", "the request was cut off")
        part, more = message.get("body", b""), message.get("more_body", False)
        read += len(part)
        if len(body) <= MOST_BYTES:
            body += part
    return body
