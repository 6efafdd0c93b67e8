"""The duel's own REST interface: /game/start, /game/state, /game/move and /ai/move.

Its games are matches like all others, in the same log, and can be watched like them. Their seats have no secret:
whoever knows a game's id may play it, and its machine moves only when somebody asks. What a match began with in the log
says which kind it is, by `mode`: a match of /api/matches has none, and is not found here.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from play.match import MOVED, Match
from play.server.allowance import BEGIN, LOOKUP, SEARCH, charge, require_affordable
from play.server.api import Api
from play.server.live import LiveMatch
from play.server.machine import searches
from play.server.matches import no_match
from play.server.operations import Reply, Request
from play.server.problems import Problem
from play.server.requests import AskMachine, PlaceTile, StartGame, StartPvAI, decoded, read_body
from play.session import Session
from solver.games.duel import NAME, Duel
from solver.games.duel_rules import DuelRules


async def start_game(api: Api, request: Request) -> Reply:
    """Begin a game."""
    asked = decoded(await read_body(request.scope, request.receive), StartGame)
    charge(api.allowance, request.address, BEGIN)
    players = {"G": asked.machine} if isinstance(asked, StartPvAI) else {}
    game, mode = f"{NAME},{asked.rows},{asked.columns}", "PvAI" if players else "PvP"
    live = await api.matches.begin(game, players, None, request.address, mode)
    return _reply(_state_of(live, live.match), 201, location=f"/game/state/{live.name}")


async def game_state(api: Api, request: Request) -> Reply:
    """Return a game as it stands."""
    charge(api.allowance, request.address, LOOKUP)
    live, _ = _found(api, request.named["id"])
    return _reply(_state_of(live, live.match))


async def make_move(api: Api, request: Request) -> Reply:
    """Make a person's move."""
    charge(api.allowance, request.address, LOOKUP)
    asked = decoded(await read_body(request.scope, request.receive), PlaceTile)
    live, rules = _found(api, asked.game_id)
    cell = _cell_at(rules.game, asked.row, asked.col)

    def place(draft: Session) -> None:
        _require_move(live, rules, asked.player, cell)
        draft.play(asked.player, cell)

    with _state_if_stale(live):
        name = rules.write(cell)
        step = await api.matches.change(live, asked.version, place, asked.player, asked.id, MOVED, name)
    return _reply(_state_of(live, _as_of(live, json.loads(step)["version"])))


async def machine_move(api: Api, request: Request) -> Reply:
    """Let the machine make its move."""
    charge(api.allowance, request.address, LOOKUP)
    asked = decoded(await read_body(request.scope, request.receive), AskMachine)
    live, rules = _found(api, asked.game_id)
    _require_machine_to_move(live)
    if searches(api.desk, rules, live.players[live.match.to_move or ""]):
        require_affordable(api.allowance, request.address, SEARCH)
    live.asker = request.address
    with _state_if_stale(live):
        step = json.loads(await api.matches.ask_machine(live))  # nothing was awaited since it was found to be its turn
    if step["event"] != MOVED:
        _require_on(live)  # it could name no move, and has forfeited
    row, column = divmod(rules.read(step["move"]), rules.game.columns)
    return _reply({"row": row, "col": column})


def _found(api: Api, name: str) -> tuple[LiveMatch, DuelRules]:
    """Return a game of this interface, and its rules; raise Problem if there is none with that id."""
    live = api.matches.find(name)
    if live.mode is None or not isinstance(live.rules, DuelRules):
        raise no_match(name)
    return live, live.rules


def _cell_at(game: Duel, row: int, column: int) -> int:
    """Return the cell in a row and a column, counted from 0."""
    if not (0 <= row < game.rows and 0 <= column < game.columns):
        last = f"rows go from 0 to {game.rows - 1}, columns from 0 to {game.columns - 1}"
        raise Problem(400, "out-of-bounds", f"no cell in row {row}, column {column}: {last}")
    return row * game.columns + column


def _require_move(live: LiveMatch, rules: DuelRules, player: str, cell: int) -> None:
    """Raise Problem unless a person may make this move now."""
    match = live.match
    _require_on(live)
    if match.to_move != player:
        raise Problem(400, "not-your-turn", f"it is {match.to_move}'s turn, not {player}'s")
    if player not in live.people:
        raise Problem(400, "wrong-player", f"{player} is the machine: POST /ai/move asks for its move")
    refusal = rules.refusal(match.state, cell)
    if refusal:
        row, column = divmod(cell, rules.game.columns)
        kind = "not-adjacent" if cell in match.state.empty else "not-empty"
        raise Problem(400, kind, f"row {row}, column {column}: {refusal}")


def _require_machine_to_move(live: LiveMatch) -> None:
    """Raise Problem unless a machine is to move, and has not been asked yet."""
    _require_on(live)
    if not live.machine_to_move:
        why = f"it is {live.match.to_move}'s turn" if live.people != set(live.players) else "no machine plays"
        raise Problem(409, "not-its-turn", f"the machine has no move to make: {why}")
    if live.machine:
        raise Problem(409, "asked-already", "the machine has been asked already, and is choosing its move")


def _require_on(live: LiveMatch) -> None:
    """Raise Problem if a game has ended."""
    if live.match.outcome:
        raise Problem(409, "game-over", f"the game has ended, {live.match.outcome}")


def _as_of(live: LiveMatch, version: int) -> Match[Any]:
    """Return a match as it was at a version."""
    if version == live.version:
        return live.match
    match: Match[Any] = Match(live.rules)
    for event in live.match.events[:version]:
        match.add(event)
    return match


def _state_of(live: LiveMatch, match: Match[Any]) -> dict[str, Any]:
    """Return a game as this interface shows it, as it stands in a match."""
    rows = match.rules.encode(match.state).split("/")
    outcome = match.outcome
    return {
        "id": live.name,
        "board": [[0 if tile == "." else tile for tile in row] for row in rows],
        "currentPlayer": match.to_move,
        "mode": live.mode,
        "winner": outcome and (outcome.winner or "draw"),
        "moveHistory": _history(match, len(rows[0])),
        "version": len(match),
    }


def _history(match: Match[Any], columns: int) -> list[dict[str, Any]]:
    """Return the moves of a match, which nobody can take back; times are whole seconds, as the log keeps them."""
    moves = [event for event in match.events if event.kind == MOVED]
    return [
        {
            "player": event.side,
            "row": (event.move or 0) // columns,
            "col": (event.move or 0) % columns,
            "timestamp": (event.time or 0) * 1000,
            "capturedCount": state.captured,
        }
        for event, state in zip(moves, match.states[1:], strict=True)
    ]


@contextmanager
def _state_if_stale(live: LiveMatch) -> Iterator[None]:
    """Show the game, as this interface does, in the problem of a request that came too late."""
    try:
        yield
    except Problem as problem:
        if problem.more.pop("match", None):
            problem.more["state"] = _state_of(live, live.match)
        raise


def _reply(what: Any, status: int = 200, *, location: str = "") -> Reply:
    return Reply(json.dumps(what).encode(), status, [(b"location", location.encode())] if location else [])
