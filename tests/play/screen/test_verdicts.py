"""What is shown of moves: exactly what the oracle says and, where all are equally good, how many replies go wrong."""

from functools import cache
from pathlib import Path

import pytest
from looks import estimated, pretend, won
from screens import Show
from sessions import HUMANS

from oracle.answers import Analysis
from oracle.oracle import Oracle
from solver.games.line_rules import LineRules
from solver.games.notation import parse_game

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@cache
def outcome(board: str) -> int:
    """Return by brute force what a board of 3,3,3 is worth for the side to move: 1, 0 or -1."""
    if any({board[cell] for cell in line} in ({"X"}, {"O"}) for line in LINES):
        return -1
    return max((-outcome(after) for after in following(board)), default=0)


def following(board: str) -> list[str]:
    mark = "XO"[board.count("X") - board.count("O")]
    return [board[:cell] + mark + board[cell + 1 :] for cell in range(9) if board[cell] == "."]


def analyses(store: Path, name: str, moves: str) -> tuple[LineRules, list[Analysis]]:
    """Return what a store knows of the positions of a game, the first one first."""
    rules = LineRules(parse_game(name))
    state, found = rules.start(), []
    with Oracle(rules.game, store) as oracle:
        for move in ["", *moves.split()]:
            state = rules.play(state, rules.read(move)) if move else state
            found.append(oracle.analysis(state.position))
    return rules, found


def expected(analysis: Analysis) -> dict[str, str]:
    """Return what has to stand in the empty cells."""
    texts = {}
    for move in analysis.moves:
        text = "=" if move.outcome == "draw" else f"{'+' if move.outcome == 'win' else '-'}{move.plies}"
        texts[move.move] = text + "*" * move.best
    return texts


@pytest.mark.parametrize(
    ("game", "moves"),
    [("3,3,3", "b1 a1"), ("3,3,3", "b1 a1 c1 a2"), ("4,4,4", "a1 b2 b1 c3 c1"), ("4,4,4", "a1 a2 b2 b3 c3 c4")],
)
def test_every_verdict_is_that_of_the_oracle_and_the_best_are_starred(
    game: str, moves: str, show: Show, stores: Path, store3: Path, store4: Path
) -> None:
    screen = show("--game", game, *HUMANS, "--store", stores).until("X to move.")
    screen.press(*moves.replace(" ", "")).until(f"played {moves.split()[-1]}.")
    screen.press("s")
    _, (*_, analysis) = analyses(store3 if game == "3,3,3" else store4, game, moves)
    assert len({move.score for move in analysis.moves}) > 1
    wanted = expected(analysis)
    screen.until(f"{analysis.to_move}: {analysis.verdict}.").asleep()
    shown = screen.notes()
    assert {name: shown[name] for name in wanted} == wanted
    screen.press("s").wait(lambda: all(screen.notes()[name] == "·" for name in wanted))


@pytest.mark.parametrize("moves", ["", "b2 a1", "a1 b2"])
def test_where_all_moves_are_alike_the_replies_that_go_wrong_are_counted(moves: str, show: Show, store3: Path) -> None:
    board = "." * 9
    for ply, move in enumerate(moves.split()):
        cell = "abc".index(move[0]) + 3 * (int(move[1]) - 1)
        board = board[:cell] + "XO"[ply % 2] + board[cell + 1 :]
    wanted = {}
    for after in following(board):
        cell = next(cell for cell in range(9) if after[cell] != board[cell])
        wrong = sum(-outcome(reply) < outcome(after) for reply in following(after))
        wanted[f"{'abc'[cell % 3]}{cell // 3 + 1}"] = f"=/{wrong}" if wrong else "="
    screen = show("--game", "3,3,3", *HUMANS, "--store", store3).until("X to move.")
    screen.press(*moves.replace(" ", ""), "s")
    said = screen.until("a draw with best play.").said
    screen.asleep()
    shown = screen.notes()
    if len({outcome(after) for after in following(board)}) == 1:
        assert "/n: n replies would go wrong." in said
        assert {name: shown[name] for name in wanted} == wanted
    else:
        assert "/" not in "".join(shown.values())


def test_on_a_large_board_estimates_and_proofs_are_shown_as_such(show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, estimated(h7=0.5, a1=0.2), won("X", "c3 d3 e3", mover="O"))
    screen = show("--game", "15,15,5", *HUMANS, "--live", rows=60, columns=200)
    screen.press("s").until("X: not settled; about 50% of the points for X, an estimate.", "( ) looks best.")
    notes = screen.notes()
    assert (notes["h7"], notes["a1"]) == ("(50)", "20")
    screen.press(*"h8").until("O: X wins in at most 2 moves (3 plies).")


def test_the_graph_has_a_value_for_every_position(show: Show, store3: Path) -> None:
    screen = show("--game", "3,3,3", *HUMANS, "--store", store3).until("X to move.")
    screen.press(*"b1a1c1a2", "s").until("O wins in 2 moves (4 plies)").asleep()
    _, known = analyses(store3, "3,3,3", "b1 a1 c1 a2")
    row, column = screen.find("= ●●●──")
    assert screen.lines[row + 2][column + 5 : column + 7] == "●●"
    assert [analysis.outcome for analysis in known] == ["draw"] * 3 + ["win", "loss"]
    screen.click(row, column + 3).until("Position after 1 of 4 moves.")
