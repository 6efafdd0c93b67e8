"""The score of an evening."""

from hypothesis import given
from hypothesis import strategies as st

from play.screen.evening import Evening


@given(st.lists(st.sampled_from(["X", "O", None]), min_size=1))
def test_one_person_wins_loses_and_draws(winners: list[str | None]) -> None:
    evening = Evening()
    for winner in winners:
        evening.count(object(), winner, "X")
    assert str(evening) == f"{winners.count('X')} won, {winners.count('O')} lost, {winners.count(None)} drawn"


def test_between_two_people_or_two_machines_sides_win() -> None:
    evening = Evening()
    for winner in ("X", None, "X", "O"):
        evening.count(object(), winner, None)
    assert str(evening) == "1 O won, 2 X won, 1 drawn"


def test_a_game_that_ends_again_counts_as_it_ended_last() -> None:
    evening, match = Evening(), object()
    evening.count(match, "O", "X")
    evening.count(match, "X", "X")
    assert str(evening) == "1 won, 0 lost, 0 drawn"


def test_after_changing_from_people_to_one_person_both_are_told() -> None:
    evening = Evening()
    evening.count(object(), "O", None)
    evening.count(object(), "O", "O")
    assert str(evening) == "1 won, 0 lost, 0 drawn, 1 O won"
