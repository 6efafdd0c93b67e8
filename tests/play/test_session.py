"""Sessions: whose turn it is, machines that reply, taking back to one's own move, and what is kept when."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from matches import NIM, rules_of

from play.match import Match, MatchError, NothingToRedo, NothingToUndo, OutOfTurn
from play.players.player import Player, PlayerError
from play.records.text import Record, read_record
from play.session import Session
from solver.errors import Ttt4Error
from solver.games.rules import Outcome, set_up

THREE, O_FIRST = rules_of("3,3,3"), rules_of("3,3,3", "O")


class First:
    """Make the first legal move."""

    def __init__(self, rules: Any) -> None:
        self.rules = rules

    def choose(self, state: Any) -> int:
        move: int = self.rules.legal(state)[0]
        return move


class Scripted:
    """Make given moves, or whatever else stands in their place."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)

    def choose(self, state: Any) -> Any:
        return self.answers.pop(0)


class Kept:
    """A session, and every record text that it kept."""

    def __init__(self, rules: Any, x: Player | None, o: Player | None, start: str | None = None) -> None:
        self.texts: list[str] = []
        match = Match(rules, None if start is None else set_up(rules, start))
        self.session = Session(Record(match), {"X": x, "O": o}, lambda record: self.texts.append(str(record)))
        self.match = match


def test_a_side_without_a_player_is_a_person_and_a_machine_moves_when_it_is_its_turn() -> None:
    kept = Kept(THREE, None, First(THREE))
    session = kept.session
    assert (session.people, session.machine_to_move) == ({"X"}, False)
    session.play("X", 4)
    assert session.machine_to_move
    assert session.reply() == 0
    assert (session.machine_to_move, kept.match.moves) == (False, (4, 0))


def test_a_machine_that_begins_is_to_move_first() -> None:
    assert Kept(O_FIRST, None, First(O_FIRST)).session.machine_to_move
    assert not Kept(THREE, None, First(THREE)).session.machine_to_move
    assert Kept(NIM, None, First(NIM), "5 O").session.machine_to_move


def test_a_machine_chooses_without_moving() -> None:
    kept = Kept(THREE, First(THREE), None)
    assert kept.session.choose() == 0
    assert (kept.match.events, kept.texts) == ((), [])


@pytest.mark.parametrize("end", [None, "over", "resigned"])
def test_no_machine_replies_on_a_person_s_turn_nor_after_the_end(end: str | None) -> None:
    kept = Kept(NIM, None, First(NIM), "1 X" if end == "over" else "7 X")
    if end == "over":
        kept.session.play("X", 1)
    elif end == "resigned":
        kept.session.resign("O")
    texts = [*kept.texts]
    assert not kept.session.machine_to_move
    with pytest.raises(OutOfTurn, match="no machine is to move"):
        kept.session.reply()
    assert kept.texts == texts


@pytest.mark.parametrize(
    ("answer", "message"),
    [(4, "O made no move: cell 'b2' is taken: choose an empty one"),
     (9, "O made no move: 3,3,3 has no cell number 9: choose an empty cell of the board"), ("b1", "TypeError: "),
     (None, "TypeError: ")],
)  # fmt: skip
def test_a_machine_that_names_no_legal_move_has_made_none_and_may_be_asked_again(answer: Any, message: str) -> None:
    kept = Kept(THREE, None, Scripted(answer, 0))
    kept.session.play("X", 4)
    with pytest.raises(PlayerError) as error:
        kept.session.reply()
    assert str(error.value).startswith(message)
    assert (kept.match.moves, len(kept.texts)) == ((4,), 1)
    assert kept.session.reply() == 0


def played(kept: Kept, moves: Sequence[int]) -> Kept:
    """Let the person make these moves, and the machine reply whenever it can."""
    for move in moves:
        while kept.session.machine_to_move:
            kept.session.reply()
        kept.session.play(kept.match.to_move or "", move)
    while kept.session.machine_to_move:
        kept.session.reply()
    return kept


def test_undo_takes_back_to_one_s_own_move_and_redo_makes_again_up_to_one_s_next() -> None:
    kept = played(Kept(THREE, None, First(THREE)), [4, 8])
    assert kept.match.moves == (4, 0, 8, 1)
    for moves in ((4, 0), ()):
        kept.session.undo()
        assert (kept.match.moves, kept.match.to_move) == (moves, "X")
    with pytest.raises(NothingToUndo, match="you have made no move to take back"):
        kept.session.undo()
    for moves in ((4, 0), (4, 0, 8, 1)):
        kept.session.redo()
        assert kept.match.moves == moves
    with pytest.raises(NothingToRedo, match="nothing to redo"):
        kept.session.redo()


def test_undo_after_one_s_own_winning_move_takes_back_that_move_alone() -> None:
    kept = played(Kept(THREE, None, First(THREE)), [3, 4, 5])
    assert kept.match.outcome == Outcome("X", "X completed a line")
    kept.session.undo()
    assert kept.match.moves == (3, 0, 4, 1)


def test_a_machine_s_first_move_cannot_be_taken_back_by_a_person_who_has_not_moved() -> None:
    kept = played(Kept(THREE, First(THREE), None), [])
    with pytest.raises(NothingToUndo, match="you have made no move to take back"):
        kept.session.undo()
    assert (kept.match.moves, len(kept.texts)) == ((0,), 1)
    played(kept, [4]).session.undo()
    assert kept.match.moves == (0,)


def test_two_people_take_back_one_move_at_a_time() -> None:
    kept = played(Kept(NIM, None, None), [1, 2, 3])
    for moves in ((1, 2), (1,), ()):
        kept.session.undo()
        assert kept.match.moves == moves
    kept.session.redo()
    assert kept.match.moves == (1,)


def test_undo_after_giving_up_takes_back_that_and_no_move() -> None:
    kept = Kept(THREE, None, First(THREE))
    session, match = kept.session, kept.match

    def give_up_and_undo() -> None:
        moves = match.moves
        session.resign("X")
        assert match.outcome == Outcome("O", "X resigned")
        session.undo()
        session.forfeit("O", Ttt4Error("too slow"))
        assert match.outcome == Outcome("X", "O forfeited: too slow")
        session.undo()
        assert (match.outcome, match.moves) == (None, moves)

    give_up_and_undo()
    session.play("X", 4)
    give_up_and_undo()
    session.reply()
    give_up_and_undo()


MOVES = st.integers(0, 10_000)
STEPS = st.one_of(MOVES, MOVES, st.sampled_from(["reply", "reply", "undo", "redo", "over", "resign", "forfeit"]))


@given(st.sampled_from([THREE, O_FIRST, NIM]), st.tuples(st.booleans(), st.booleans()), st.lists(STEPS, max_size=30))
def test_what_is_kept_is_always_the_match_as_it_stands(
    rules: Any, machines: tuple[bool, bool], steps: list[int | str]
) -> None:
    kept = Kept(rules, *(First(rules) if machine else None for machine in machines))
    session, match = kept.session, kept.match
    named = {
        "reply": session.reply, "undo": session.undo, "redo": session.redo, "over": session.start_over,
        "resign": lambda: session.resign("X"), "forfeit": lambda: session.forfeit("O", "too slow"),
    }  # fmt: skip
    for step in steps:
        version, count = len(match), len(kept.texts)
        legal = rules.legal(match.state)
        was_given_up = match.given_up
        with suppress(MatchError):
            if isinstance(step, str):
                named[step]()
            else:
                session.play(match.to_move or "X", legal[step % len(legal)] if legal else 0)
        assert len(kept.texts) == count + (len(match) > version)
        if len(match) > version:
            again = read_record(kept.texts[-1], rules=rules).match
            assert (again.events, again.states, again.outcome) == (match.events, match.states, match.outcome)
            if was_given_up and step == "undo":
                assert len(match) == version + 1
            elif step == "undo":
                assert match.to_move in session.people


@pytest.mark.parametrize(("side", "left"), [("X", (4, 0)), ("O", (4, 0, 8))])
def test_a_side_that_takes_back_gets_to_its_own_last_move(side: str, left: tuple[int, ...]) -> None:
    kept = Kept(THREE, None, None)
    for mover, move in zip("XOXO", (4, 0, 8, 2), strict=True):
        kept.session.play(mover, move)
    kept.session.undo(side)
    assert (kept.match.moves, kept.match.to_move) == (left, side)


def test_a_side_that_has_not_moved_has_nothing_to_take_back() -> None:
    kept = Kept(THREE, None, None)
    kept.session.play("X", 4)
    with pytest.raises(NothingToUndo):
        kept.session.undo("O")
    assert kept.match.moves == (4,)
