"""What is shown of moves: exactly what the oracle says and, where all are equally good, how many replies go wrong."""

from pathlib import Path

import naive
import pytest
from looks import estimated, pretend, won
from screens import Screen, Show
from sessions import HUMANS

from oracle.answers import Analysis
from oracle.oracle import Oracle
from solver.games.line_rules import LineRules
from solver.games.notation import parse_game

TWIN = naive.Game.named("3,3,3")


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
def test_verdicts_are_the_oracle_s(game: str, moves: str, show: Show, stores: Path, store3: Path, store4: Path) -> None:
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
def test_where_all_moves_are_alike_the_replies_that_go_wrong_are_counted(moves: str, people: Screen) -> None:
    rules = LineRules(parse_game("3,3,3"))
    board = naive.played(TWIN, [rules.read(move) for move in moves.split()])
    wanted = {}
    for cell in naive.move_scores(TWIN, board):
        after = naive.claim(board, cell)
        wrong = after.count(".") - len(naive.keeping(TWIN, after))
        wanted[rules.write(cell)] = f"=/{wrong}" if wrong else "="
    said = people.press(*moves.replace(" ", ""), "s").until("a draw with best play.").asleep().said
    shown = people.notes()
    if not naive.decisive(TWIN, board):
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


def test_the_graph_has_a_value_for_every_position(people: Screen, store3: Path) -> None:
    people.press(*"b1a1c1a2", "s").until("O wins in 2 moves (4 plies)").asleep()
    _, known = analyses(store3, "3,3,3", "b1 a1 c1 a2")
    row, column = people.find("= ●●●──")
    assert people.lines[row + 2][column + 5 : column + 7] == "●●"
    assert [analysis.outcome for analysis in known] == ["draw"] * 3 + ["win", "loss"]
    people.click(row, column + 3).until("Position after 1 of 4 moves.")
