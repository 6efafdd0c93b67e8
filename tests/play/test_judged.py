"""Reviews and advice on large boards: what is proved is called certain, and an estimate is never more than that."""

from collections.abc import Callable

import pytest
from looks import Seen, drawn, estimated, nothing, pretend, won
from sessions import HUMANS, printed

from oracle.grading import DRAW_LOST, GAVE_WIN, WIN_LOST
from oracle.oracle import Oracle
from play.advice import analyse
from play.graded import UNKNOWN
from play.judged import FINE, HOPELESS, KEPT_DRAW, KEPT_WIN, MISTAKE, MOST_LOOKS, STILL_LOST
from play.match import Match
from play.review import Review, review_match
from play.terminal.talk import review_lines
from solver.engine.limits import NODES_A_SECOND
from solver.engine.live import LiveEngine
from solver.games.line_rules import LineRules, LineState
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.source import Look

GAME = parse_game("15,15,5")
EVEN, BAD, GOOD = estimated(h7=0.5), estimated(h7=0.2), estimated(h7=0.8)
X_WINS, O_WINS, DRAW = won("X", "c3 d3 e3"), won("O", "c3 d3 e3 f3"), drawn()
O_WINS_NEXT, X_WINS_NEXT = won("O", "c3 d3 e3", mover="O"), won("X", "c3 d3 e3 f3", mover="O")


def match_of(*moves: str, first: str = "X") -> Match[LineState]:
    assert isinstance(GAME, Game)
    match = Match(LineRules(GAME, first))
    for move in moves:
        match.play(match.to_move or "", GAME.cell(move))
    return match


def reviewed(monkeypatch: pytest.MonkeyPatch, *looks: Seen, moves: tuple[str, ...] = ("a1",)) -> Review:
    pretend(monkeypatch, *looks)
    with Oracle(GAME, live=True) as oracle:
        return review_match(oracle, match_of(*moves))


@pytest.mark.parametrize(
    ("before", "after", "grade", "outcome"),
    [
        (X_WINS, X_WINS_NEXT, KEPT_WIN, "X wins in at most 2 moves (4 plies)"),
        (X_WINS, DRAW, GAVE_WIN, "a draw"),
        (X_WINS, O_WINS_NEXT, WIN_LOST, "O wins in at most 2 moves (3 plies)"),
        (drawn(exact=False), DRAW, KEPT_DRAW, "a draw"),
        (drawn(exact=False), O_WINS_NEXT, DRAW_LOST, "O wins in at most 2 moves (3 plies)"),
        (O_WINS, O_WINS_NEXT, STILL_LOST, "O wins in at most 2 moves (3 plies)"),
        (EVEN, EVEN, FINE, "about 50%, an estimate"),
        (EVEN, GOOD, MISTAKE, "from about 50% to about 20%, an estimate"),
        (EVEN, estimated(h7=0.74), FINE, "about 26%, an estimate"),
        (X_WINS, EVEN, MISTAKE, "from a win to about 50%, an estimate"),
        (EVEN, O_WINS_NEXT, MISTAKE, "from about 50% to a loss, an estimate"),
        (EVEN, X_WINS_NEXT, FINE, "X wins in at most 2 moves (4 plies)"),
        (BAD, O_WINS_NEXT, HOPELESS, "O wins in at most 2 moves (3 plies)"),
        (nothing, GOOD, UNKNOWN, ""),
        (GOOD, nothing, UNKNOWN, ""),
        (nothing, O_WINS_NEXT, UNKNOWN, "O wins in at most 2 moves (3 plies)"),
    ],
)
def test_a_move_is_graded_by_what_is_known_before_and_after_it(
    before: Seen, after: Seen, grade: str, outcome: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    review = reviewed(monkeypatch, before, after)
    (move,) = review.moves
    assert (move.grade, move.outcome) == (grade, outcome)
    changed = grade in (GAVE_WIN, WIN_LOST, DRAW_LOST)
    assert move.changed == changed
    assert review.turning_point == (move if changed else None)
    assert not review.solvable


def test_the_move_that_looks_best_is_never_called_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    (move,) = reviewed(monkeypatch, EVEN, estimated(h8=0.9), moves=("h7",)).moves
    assert (move.grade, move.outcome) == (FINE, "about 10%, an estimate")


def test_estimates_stand_in_a_review_and_what_is_certain_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    moves = reviewed(monkeypatch, EVEN, GOOD, X_WINS, moves=("a1", "b1")).moves
    assert [(move.estimate_before, move.estimate_after) for move in moves] == [(0.5, pytest.approx(0.2)), (0.8, None)]


def test_a_review_lists_mistakes_and_changes_and_says_what_is_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    review = reviewed(monkeypatch, EVEN, GOOD, X_WINS, O_WINS_NEXT, moves=("a1", "b1", "c1"))
    assert " ".join("\n".join(review_lines(review)).split()) == (
        "1. X a1: looks like a mistake, from about 50% to about 20%, an estimate. h7 looks better. "
        "1. O b1: looks like a mistake, from about 80% to a loss, an estimate. h7 looks better. "
        "2. X c1: turned a win into a loss, O wins in at most 2 moves (3 plies). c3 would have been better. "
        "Percentages are estimates; a win, a draw or a loss is certain. "
        "X made 2 moves: 1 that looks like a mistake, 1 that certainly changed the outcome. "
        "O made 1 move: 1 that looks like a mistake, 0 that certainly changed the outcome. "
        "The turning point was X's c1 (move 2): it turned a win into a loss. c3 would have won."
    )
    assert max(len(line) for told in review_lines(review) for line in told.splitlines()) <= 79
    every = list(review_lines(reviewed(monkeypatch, EVEN, EVEN, nothing, moves=("a1", "b1")), every=True))
    assert "changed the outcome, 1 not settled." in " ".join(" ".join(every).split())
    assert every[:2] == ["1. X a1: looks fine, about 50%, an estimate.", "1. O b1: not settled."]
    quiet = list(review_lines(reviewed(monkeypatch, EVEN, EVEN, nothing, moves=("a1", "b1"))))
    assert not any(line.startswith("1.") for line in quiet)


def test_a_review_takes_no_more_than_a_few_times_the_time_of_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def look(self: LiveEngine, x: int, o: int, deadline: float, nodes: int | None = None) -> Look:
        assert nodes is not None, "or the review depends on how busy the machine is"
        assert self is not oracle._source, "or it depends on what was asked before"
        given.append(nodes / NODES_A_SECOND)
        return EVEN(self.game, x, o)

    monkeypatch.setattr(LiveEngine, "look", look)
    for number in (1, 9, 60):
        given.clear()
        with Oracle(GAME, live=True, seconds=2.0) as oracle:
            review_match(
                oracle, match_of(*[f"{'abcdefghijklmno'[n // 10]}{n % 10 + 1}" for n in range(0, 2 * number, 2)])
            )
        assert len(given) == number + 1, "each position is looked at once"
        assert max(given) <= 1.01
        assert sum(given) <= MOST_LOOKS * 2.0 + 0.01


def test_only_the_last_moves_are_looked_at_if_only_they_are_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, EVEN)
    with Oracle(GAME, live=True) as oracle:
        moves = review_match(oracle, match_of("a1", "b1", "c2", "d1"), last=2).moves
    assert [(move.number, move.side, move.move) for move in moves] == [(3, "X", "c2"), (4, "O", "d1")]
    with Oracle("3,3,3", live=True) as oracle:
        small = Match(LineRules(oracle.game))
        for cell in range(3):
            small.play(small.to_move or "", cell)
        assert review_match(oracle, small, last=2).moves == review_match(oracle, small).moves[1:]


PROOFS: list[tuple[Seen, Callable[[dict[str, object]], object], object, object]] = [
    (X_WINS, lambda proof: proof["side"], "X", "O"),
    (drawn({"side": "X", "kind": "dead"}), lambda proof: proof["stops"], [{"side": "X", "kind": "dead"}],
     [{"side": "O", "kind": "dead"}]),
]  # fmt: skip


@pytest.mark.parametrize(("look", "part", "as_x", "as_o"), PROOFS)
def test_where_o_began_the_marks_of_a_proof_are_exchanged_too(
    look: Seen, part: Callable[[dict[str, object]], object], as_x: object, as_o: object,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    pretend(monkeypatch, look)
    with Oracle(GAME, live=True) as oracle:
        for first, expected in (("X", as_x), ("O", as_o)):
            match = match_of(first=first)
            analysis = analyse(oracle, match, match.state)
            assert analysis.to_move == first
            assert part(analysis.proof) == expected
            text = {"X": "X has an answer", "O": "O has an answer"}[first] if look is X_WINS else "cannot, and"
            assert text in analysis.proof["text"]


HURRIED = ["--game", "15,15,5", *HUMANS, "--live", "--time", "0"]


@pytest.mark.usefixtures("home")
def test_without_time_the_prompt_shows_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.engine.live.takes", lambda game: False)  # compiled code needs no time
    out = printed("h8\na1\ni8\na2\nj8\nshow\nhint\nwhy\nreview\nquit\n", *HURRIED)
    shown = out[out.rindex("X plays") if "X plays" in out else 0 :]
    assert "?" not in shown
    assert "Threats: X makes two threats at once with g8 k8." in shown
    assert "The oracle would play " in shown
    assert "Why: Nothing is proved: no forced win was found in time." in shown
    assert "O made 2 moves: 0 that look like mistakes" in shown


@pytest.mark.usefixtures("home")
def test_the_prompt_tells_estimates_and_proofs(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, EVEN, X_WINS)
    out = printed("hint\nshow\nh8\na1\nhint\nshow\nwhy\nquit\n", "--game", "15,15,5", *HUMANS, "--live")
    guessed, proved = out.split("\nO> ")
    assert "The oracle would play h7: about 50% of the points for X, an estimate.\n" in guessed
    assert "X to move: not settled; about 50% of the points for X, an estimate.\n" in guessed
    assert "The oracle would play c3: X wins in at most 2 moves (3 plies).\n" in proved
    assert "Best: c3" in proved
    assert "Why: X has an answer to everything, which takes 3 plies at most." in " ".join(proved.split())
