"""The table of all operations: requests are routed by it, and the documentation is made from it."""

from play.server import duel_rest
from play.server.api import Api
from play.server.operations import Operation, Parameter, Table
from play.server.requests import AskMachine, Batch, Begin, MoveStep, PlaceTile, StartGame, Step, Undo
from play.server.shapes import (
    Analysis,
    Error,
    GameFacts,
    GameListed,
    GameState,
    Match,
    Puzzle,
    Review,
    Seated,
    Square,
    StepTaken,
)

_BOARD = "X.../.O../..../...."
_GAME = Parameter(
    "rows,columns,k (append ,misere: completing a line loses), or the name of a game from /api/games.", "4,4,4",
    schema={"type": "string", "minLength": 1, "maxLength": 80},
)  # fmt: skip
_STEP = {"version": 3, "id": "any-text-of-yours"}

OPERATIONS = (
    Operation(
        "GET", "/api/position", Api.position,
        "Who wins from a position, how soon, and what every move leads to: the JSON of `ttt4-query --json`.",
        {200: Analysis, 304: None}, everywhere=True,
        query={
            "game": _GAME,
            "board": Parameter("The rows from the top, joined by /, with X, O and . for an empty cell.", _BOARD),
            "moves": Parameter("Instead of a board, the moves that led to it: b2+c3+a1."),
        },
    ),
    Operation(
        "POST", "/api/positions", Api.positions,
        "Up to 1,000 positions of one game: the answers in order; an invalid board yields an error in its place.",
        {200: (Analysis, Error)}, body=Batch, example={"game": "4,4,4", "boards": [_BOARD, "XX../O.../..../...."]},
        everywhere=True,
    ),
    Operation(
        "GET", "/api/games", Api.games, "The games that are listed; any other board can be asked for by its numbers.",
        {200: list[GameListed]}, everywhere=True,
    ),
    Operation(
        "GET", "/api/games/{name}", Api.game, "A game's cells, lines and symmetries, and what its store says.",
        {200: GameFacts}, problems=(404,), everywhere=True,
    ),
    Operation(
        "GET", "/api/puzzle", Api.puzzle,
        "A position in which exactly one move keeps the outcome; without a seed or a date, that of today (UTC).",
        {200: Puzzle}, problems=(404, 409), everywhere=True,
        query={
            "game": _GAME,
            "date": Parameter("The day whose puzzle is wanted.", "2026-11-19"),
            "seed": Parameter("Instead of a date, any text: the same text makes the same puzzle."),
            "outcome": Parameter("What the move has to keep.", "", ("win", "draw")),
            "stars": Parameter("How hard, from 1 to 5.", "", ("1", "2", "3", "4", "5")),
        },
    ),
    Operation(
        "POST", "/api/matches", Api.begin,
        "Begin a match. Players are human, oracle, oracle:0 to oracle:10, first, search, rules, random and, if the "
        "operator serves learners, run:NAME; in games of three or four sides, such as 3p:5,5,4, human, mcts, rules and "
        "random. The answer has a secret token for each person's seat.",
        {201: Seated}, body=Begin, example={"game": "4,4,4", "players": {"X": "human", "O": "oracle:3"}},
        problems=(503,),
    ),
    Operation(
        "GET", "/api/matches/{id}", Api.match, "A match as it stands.",
        {200: Match}, problems=(404, 410, 503), everywhere=True,
    ),
    Operation(
        "POST", "/api/matches/{id}/moves", Api.move,
        "Make a move. A request that was answered before gets the same answer again, and makes no second move.",
        {200: StepTaken}, body=MoveStep, example={**_STEP, "move": "b3"}, problems=(401, 404, 409, 410, 503), seat=True,
    ),
    Operation(
        "POST", "/api/matches/{id}/undo", Api.undo,
        "Take back one's last move, and what followed it: at once where one plays machines; else 202 says that the "
        "other players were asked, `undo_waits_for`, who send `agree`, true or false. All of them have to agree.",
        {200: StepTaken, 202: Match}, body=Undo, example=_STEP, problems=(401, 404, 409, 410, 503), seat=True,
    ),
    Operation(
        "POST", "/api/matches/{id}/resign", Api.resign,
        "Give up. In a game of three or four sides the others play on, and the last one left wins.",
        {200: StepTaken}, body=Step, example=_STEP, problems=(401, 404, 409, 410, 503), seat=True,
    ),
    Operation(
        "POST", "/api/matches/{id}/rematch", Api.rematch,
        "Begin the same game again with other sides, after its end: all players get to the same match.",
        {201: Seated}, problems=(401, 404, 409, 410, 503), seat=True,
    ),
    Operation(
        "GET", "/api/matches/{id}/review", Api.review,
        "Every move of a match graded, and the one that decided it.", {200: Review}, problems=(404, 409, 410, 503),
        everywhere=True,
    ),
    Operation(
        "GET", "/api/matches/{id}/events", Api.events,
        "Server-sent events: `match` (the whole match), `step` (an event, and where the match stands after it), "
        "`notice` (an offer to take back, or the match that follows) and, when nothing happens, `beat`. The header "
        "Last-Event-ID, or after=VERSION, resumes after that version.",
        {200: str}, problems=(404, 410, 503), everywhere=True,
        query={"after": Parameter("The version after which to go on.", schema={"type": "integer", "minimum": 0})},
    ),
    Operation(
        "POST", "/game/start", duel_rest.start_game,
        "Start a game of Infinity Grid Duel. In the mode `PvP` people play both sides; in `PvAI` a person is R and a "
        "machine G, at a `level` from 0 to 10. Whoever knows the game's `id` may play it. To watch, it is a match of "
        "/api/matches like any other.",
        {201: GameState}, body=StartGame, example={"mode": "PvAI", "rows": 6, "columns": 6, "level": 5},
        problems=(503,),
    ),
    Operation(
        "GET", "/game/state/{id}", duel_rest.game_state,
        "A game of the duel as it stands. A `timestamp` is in milliseconds since 1970, a whole second.",
        {200: GameState}, problems=(404, 410, 503), everywhere=True,
    ),
    Operation(
        "POST", "/game/move", duel_rest.make_move,
        "Make a move of R or G. Rows and columns count from 0. With a `version` the move is refused if the game has "
        "gone on, and with an `id` of yours a request that was answered before gets the same answer again.",
        {200: GameState}, body=PlaceTile, problems=(404, 409, 410, 503),
        example={"gameId": "0123456789abcdef", "player": "R", "row": 1, "col": 1, "version": 0},
    ),
    Operation(
        "POST", "/ai/move", duel_rest.machine_move,
        "Let the machine make its move, and say where. It moves only when it is asked, and once however often it is.",
        {200: Square}, body=AskMachine, example={"gameId": "0123456789abcdef"}, problems=(404, 409, 410, 503),
    ),
)  # fmt: skip
TABLE = Table(OPERATIONS)
