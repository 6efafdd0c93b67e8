"""What the files of a run hold. Each is checked when it is read, because a run may come from anywhere."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from solver.games.lines import SOLVABLE_CELLS

FORMAT = 1

Count = Annotated[int, Meta(ge=0, le=10**9)]
Share = Annotated[float, Meta(ge=0, le=1)]
Result = Annotated[float, Meta(ge=-1, le=1)]
BySide = dict[Literal["X", "O"], Annotated[float, Meta(ge=-2, le=2)]]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """config.json: what was asked for."""

    format: Literal[1]
    player: Literal["q", "ntuple"]
    game: Annotated[str, Meta(max_length=200)]
    seed: Annotated[int, Meta(ge=0, lt=2**31)]
    episodes: Annotated[int, Meta(ge=1, le=10**9)]
    every: Annotated[int, Meta(ge=1, le=10**9)]
    until: Share | None = None
    v: Annotated[str, Meta(max_length=200)] = "self"
    epsilon: Share | None = None
    step: Annotated[float, Meta(gt=0, le=1)] = 1.0
    unmasked: bool = False


class Checkpoint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of metrics.jsonl: how good the learner was after so many games, and how training went."""

    games: Annotated[int, Meta(ge=1, le=10**9)]
    kept: Share | None
    decisive: Share | None
    optimal: Share | None
    value: BySide | None
    given_away: BySide | None
    nash_conv: Annotated[float, Meta(ge=0, le=4)] | None
    v_random: BySide | None
    positions: Count | Literal["all", "canonical"]
    invalid: Share | None
    by_ply: dict[Annotated[str, Meta(pattern="^[0-9]{1,2}$")], Share | None]
    by_cell: Annotated[list[Share], Meta(max_length=SOLVABLE_CELLS)] | None
    v_rules: BySide | None
    x_wins: Share
    draws: Share
    o_wins: Share
    length: Annotated[float, Meta(ge=0, le=SOLVABLE_CELLS)]
    attempts: Annotated[float, Meta(ge=0)]
    entropy: Annotated[float, Meta(ge=0, le=5)]
    changed: Share
    agreement: Share
    seen: Annotated[int, Meta(ge=0)]
    seconds: Annotated[float, Meta(ge=0)]
    games_per_second: Annotated[float, Meta(ge=0)]


class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of games.jsonl: a game that was played to be looked at."""

    id: str
    games: Annotated[int, Meta(ge=1, le=10**9)]
    x: str
    o: str
    moves: list[str]
    winner: Literal["X", "O"] | None
    winning_move: str | None
    first: Literal["X", "O"]
    length: Count
    forfeit: str | None
    seconds: Annotated[float, Meta(ge=0)]


def read(text: bytes, kind: Any) -> dict[str, Any]:
    """Return the fields of a JSON object of some kind; raise ValueError, which says what is wrong, if it is none."""
    try:
        fields: dict[str, Any] = msgspec.to_builtins(msgspec.json.decode(text, type=kind))
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return fields
