"""The score of an evening."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from play.screen.evening import Evening


@given(st.lists(st.sampled_from(["X", "O", None]), min_size=1))
def test_one_person_wins_loses_and_draws(winners: list[str | None]) -> None:
    evening = Evening()
    for winner in winners:
        evening.count(object(), winner, "X")
    assert str(evening) == f"{winners.count('X')} won, {winners.count('O')} lost, {winners.count(None)} drawn"


@pytest.mark.parametrize(
    ("games", "told"),
    [([(1, "X", None), (2, None, None), (3, "X", None), (4, "O", None)], "1 O won, 2 X won, 1 drawn"),
     ([(1, "O", "X"), (1, "X", "X")], "1 won, 0 lost, 0 drawn"),
     ([(1, "O", None), (2, "O", "O")], "1 won, 0 lost, 0 drawn, 1 O won")],
    ids=["between two people sides win", "a game that ends again counts as it ended last", "people, then a person"],
)  # fmt: skip
def test_games_are_counted(games: list[tuple[int, str | None, str | None]], told: str) -> None:
    evening = Evening()
    for match, winner, person in games:
        evening.count(match, winner, person)
    assert str(evening) == told
