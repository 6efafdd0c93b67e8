"""Large boards on the page of `ttt4-query`: estimates look like estimates, and what is certain is certain."""

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from looks import Seen, drawn, estimated, load_engine, nothing, pretend, won

from oracle.cli.main import main
from oracle.oracle import Oracle
from solver.games.lines import Game
from solver.games.notation import parse_game

Run = Callable[..., Any]
THREE = "h8 a1 i8 c1 j8 e1"
"""X has three in a row, open at both ends, and is to move."""
FOUR = f"{THREE} k8 g1"
FIVE = estimated("j7 g6 j9", h7=0.623, j7=0.8, a2=0.001, b2=0.9999)


pytestmark = pytest.mark.usefixtures("home")


def asked(run: Run, monkeypatch: pytest.MonkeyPatch, look: Seen, *words: str, game: str = "15,15,5") -> Any:
    pretend(monkeypatch, look)
    return run(main, "--game", game, *(words or ["--moves", "h8 h9"]))


def notes(out: str) -> dict[str, str]:
    """What is drawn in each cell that has more than a dot, by the cell's name, as it stands in its column."""
    header, *rows = click.unstyle(out).split("\n\n")[0].split("\n")
    starts = [(match.start(), match[0]) for match in re.finditer(r"\S+", header)]
    width = starts[1][0] - starts[0][0]
    found = {f"{name}{row.split()[0]}": row[at - 1 : at + width - 1].strip() for row in rows for at, name in starts}
    return {name: text for name, text in found.items() if text not in (".", "X", "O")}


def test_estimates_are_percentages_never_certain_and_what_looks_best_has_no_star(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = asked(run, monkeypatch, FIVE)
    assert ran.code == 1, "nothing is settled"
    assert notes(ran.out) == {"h7": "62", "j7": "80", "a2": "1", "b2": "(99)"}
    assert "?" not in ran.out
    assert "*" not in ran.out
    assert "\nX to move: not settled; about 99% of the points for X, an estimate.\n" in ran.out
    assert "\nPromising  b2 99%, j7 80%, h7 62%, a2 1%\n" in ran.out
    assert "\nFor X: n about n% of the points, an estimate, ( ) looks best.\n" in ran.out


def test_the_line_that_a_search_expects_is_called_neither_main_nor_cut_short(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = asked(run, monkeypatch, FIVE).out
    assert "\nExpects    j7 g6 j9 ...\n" in out
    assert "Main line" not in out
    assert "cut short" not in out
    assert " ".join(out.split()).endswith(
        "From a live search, 9 plies deep, 123,456 positions: an estimate. Allow more with --time."
    )


@pytest.mark.parametrize("game", ["15,15,5", "20,20,5"])
@pytest.mark.parametrize("moves", ["h8 h9", FOUR])
@pytest.mark.parametrize("look", [FIVE, nothing], ids=["estimates", "nothing"])
def test_a_page_of_a_large_board_fits_80_columns(
    game: str, moves: str, look: Seen, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = asked(run, monkeypatch, look, "--moves", moves, "--why", game=game).out
    assert max(map(len, out.splitlines())) <= 80
    size = int(game.split(",")[1])
    rows = out.split("\n\n")[0].split("\n")
    assert len(rows) == size + 1
    assert len(rows[0].split()) == size


def test_threats_have_signs_and_are_named_with_their_sides(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    out = asked(run, monkeypatch, estimated(g8=0.9, a9=0.1), "--moves", FOUR[: FOUR.rindex(" k8")]).out
    assert notes(out) == {"g8": "(90:)", "k8": ":", "a9": "10"}
    assert "\nThreats    X makes two threats at once with g8 k8\n" in out
    assert ": makes two threats, for either side" in " ".join(out.split())
    out = asked(run, monkeypatch, estimated(b9=0.9), "--moves", f"{FOUR} a15").out
    assert {name: notes(out)[name] for name in ("g8", "l8")} == {"g8": "!", "l8": "!"}
    assert "\nThreats    X completes a line with g8 l8; " in out, "O has to stop it"


UNSETTLED = "\nX to move: not settled: no forced win was found.\nPromising  "
SETTLED: list[tuple[Seen, int, dict[str, str], str, str]] = [
    (won("X", "c3 d3 e3"), 0, {"c3": "+*"},
     "\nX to move: X wins in at most 2 moves (3 plies).\nBest       c3\nMain line  c3 d3 e3 ...\n", "Promising"),
    (won("X", "c3 d3 e3"), 0, {"c3": "+*"},
     "\nFor X: + wins, * best.\nProved by a strategy: --why shows it.\n", "estimate"),
    (won("O", "c3 d3 e3 f3"), 0, {},
     "\nX to move: O wins in at most 2 moves (4 plies).\nMoves      every move loses\n", "Best"),
    (drawn(), 0, {},
     "\nX to move: a draw with best play.\nMoves      every move draws\n\nProved by a pairing: --why", "Best"),
    (drawn(exact=False), 0, {"a1": "(.)"}, "\nX to move: a draw with best play.\nPromising  a1\n", "*"),
    (nothing, 1, {"a1": "(.)"}, f"{UNSETTLED}a1, b1, c1\n", "%"),
    (nothing, 1, {"a1": "(.)"}, "when it is compiled. Ask again in some seconds.\n", "*"),
    (estimated(depth=0, nodes=0, h7=0.5), 1, {"h7": "(.)"}, f"{UNSETTLED}h7, ", "%"),
]  # fmt: skip
"""Looks at a board: the exit code, the notes on the board, and something that is said and something that is not."""


@pytest.mark.parametrize(("look", "code", "noted", "said", "unsaid"), SETTLED)
def test_what_is_proved_is_told_as_certain_and_what_is_not_known_is_not_made_up(
    look: Seen, code: int, noted: dict[str, str], said: str, unsaid: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = asked(run, monkeypatch, look)
    assert (ran.code, notes(ran.out)) == (code, noted)
    assert said in ran.out
    assert unsaid not in ran.out


def test_a_board_too_large_for_the_engine_has_a_plain_search(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    out = asked(run, monkeypatch, nothing, "441", game="21,21,5").out
    assert out.endswith("From a plain search: the engine takes boards of up to 400 cells.\n")


def losing(number: int) -> Seen:
    """A look that has found so many moves to lose, and nothing else."""

    def look(game: Game, x: int, o: int) -> Any:
        seen = nothing(game, x, o)
        lost = [(cell, -9 if at >= len(seen.scores) - number else 0) for at, (cell, _) in enumerate(seen.scores)]
        return type(seen)(lost, False)

    return look


@pytest.mark.parametrize(("number", "marked"), [(3, 3), (20, 20), (21, 0), (219, 0)])
def test_a_wall_of_losing_moves_is_told_and_not_drawn(
    number: int, marked: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = asked(run, monkeypatch, losing(number)).out
    assert list(notes(out).values()).count("-") == marked
    assert ("\nLosing     every move but a1 b1 c1 d1\n" in out) == (number == 219)


WHY: list[tuple[Seen, str]] = [
    (FIVE, "Why: Nothing is proved: this is an estimate."),
    (nothing, "Why: Nothing is proved: no forced win was found in time."),
    (won("X", "c3 d3 e3"), "Why: X has an answer to everything, which takes 3 plies at most. For instance: c3 d3 e3."),
    (drawn(), "Why: Nobody can win: X cannot, and O cannot."),
]


@pytest.mark.parametrize(("look", "said"), WHY)
def test_why_gives_the_proof_or_says_that_there_is_none(
    look: Seen, said: str, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = asked(run, monkeypatch, look, "--moves", "h8 h9", "--why")
    assert said in " ".join(ran.out.split())
    assert "Why:" not in asked(run, monkeypatch, look).out, "unless it is asked for"


def test_the_moves_of_a_strategy_are_numbered_on_the_board(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    out = asked(run, monkeypatch, won("X", "c3 d3 e3"), "--moves", "h8 h9", "--why").out
    numbered = out[out.index("For instance") :].split("\n\n", 1)[1]
    assert notes(numbered) == {"c3": "1", "d3": "2", "e3": "3"}


def test_the_cells_of_a_pair_have_the_same_letters_and_no_other_cells_have_them(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    game = parse_game("15,15,5")
    free = [cell for cell in range(game.cells) if game.cell_name(cell) not in ("h8", "h9")]
    pairs = [[game.cell_name(cell) for cell in free[at : at + 2]] for at in range(0, 100, 2)]
    same = [{"side": side, "kind": "pairing", "pairs": pairs} for side in "XO"]
    out = asked(run, monkeypatch, drawn(*same), "--moves", "h8 h9", "--why").out
    seen = notes(out[out.index("Why:") :].split("\n\n", 1)[1])
    assert out.count("Cells with the same letters are a pair.") == 1
    assert sorted(seen) == sorted(name for pair in pairs for name in pair)
    assert len(set(seen.values())) == len(pairs)
    assert all(seen[one] == seen[other] for one, other in pairs)
    assert not {letter for text in seen.values() for letter in text} & set("xoXO"), "they look like marks"


def test_hundreds_of_pairs_have_letters_of_their_own(run: Run) -> None:
    ended = run(main, "--game", "40,40,9", "--why", "/".join(["40"] * 40))
    assert ended.code == 0
    seen = notes(ended.out[ended.out.index("Why:") :].split("\n\n", 1)[1])
    assert len(seen) > 1200
    assert sorted(Counter(seen.values()).values()) == [2] * (len(seen) // 2)


def test_pairs_that_differ_are_drawn_for_each_side_after_the_cell_that_is_taken_first(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = {"side": "X", "kind": "pairing", "pairs": [["a1", "b1"]]}
    other = {"side": "O", "kind": "pairing", "pairs": [["c1", "d1"]], "first": "e5"}
    out = asked(run, monkeypatch, drawn(one, other), "--moves", "h8 h9", "--why").out
    first, second = (
        out[out.index("Why:") :].split("\n\n", 1)[1].split("Pairs that stop X: the same letters are a pair.\n\n")
    )
    assert notes(first) == {"a1": "a", "b1": "a"}
    assert notes(second) == {"c1": "a", "d1": "a", "e5": "[.]"}
    assert second.endswith("Pairs that stop O, after e5 in brackets: the same letters are a pair.\n")


def test_why_of_a_stored_answer_is_that_two_solvers_agreed(run: Run, store4: Path) -> None:
    ran = run(main, "16", "--store", store4, "--why")
    assert "Why: The store has the exact score of every position. Two solvers" in ran.out
    assert run(main, "16", "--store", store4).out == ran.out[: ran.out.index("\nWhy:")]
    assert "a1 b1 c1 d1" in run(main, "XXXX/OOO./..../....", "--store", store4, "--why").out.splitlines()[-1]


def test_json_has_the_estimates_the_threats_and_the_proof(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    said = json.loads(asked(run, monkeypatch, estimated("g8", g8=0.9), "--moves", THREE, "--json").out)
    assert (said["estimate"], said["depth"], said["nodes"], said["proof"]) == (0.9, 9, 123_456, None)
    assert [(move["move"], move["estimate"]) for move in said["moves"][:2]] == [("g8", 0.9), ("b1", None)]
    assert said["threats"] == {"completes": [], "blocks": [], "makes_two": ["g8", "k8"], "stops_two": []}
    proved = json.loads(asked(run, monkeypatch, won("X", "c3 d3 e3"), "--moves", "h8 h9", "--json").out)
    assert (proved["outcome"], proved["plies"], proved["exact"]) == ("win", 3, False)
    assert (proved["proof"]["kind"], proved["proof"]["side"], proved["proof"]["line"]) == (
        "strategy", "X", ["c3", "d3", "e3"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("game", "verdict", "kind"),
    [
        ("5,6,4", r"X wins in at most \d+ moves \(\d+ plies\)", "strategy"),
        ("10,10,7", "a draw with best play", "pairing"),
    ],
)
def test_what_the_engine_proves_is_told_as_proved(game: str, verdict: str, kind: str) -> None:
    load_engine()
    with Oracle(game, live=True, seconds=200) as oracle:  # of which a proof takes few
        analysis = oracle.analysis(str(oracle.game.cells))
    assert re.fullmatch(verdict, analysis.verdict)
    assert analysis.settled
    assert analysis.proof
    assert analysis.proof["kind"] == kind


@pytest.mark.slow
def test_an_open_board_is_estimated_and_not_settled() -> None:
    load_engine()
    with Oracle("15,15,5", live=True, seconds=2) as oracle:
        analysis = oracle.analysis("15/15/15/15/15/15/15/7O7/6X8/15/15/15/15/15/7X7")
    assert not analysis.settled
    assert analysis.proof is None
    rated = [move.estimate for move in analysis.moves if move.estimate is not None]
    assert 1 < len(rated) < 10
    assert rated == sorted(rated, reverse=True)
    assert analysis.estimate == rated[0]
    assert analysis.mainline[0] == analysis.moves[0].move
