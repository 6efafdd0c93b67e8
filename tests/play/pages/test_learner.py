"""A trained learner on the page: it is offered for its game, and it plays."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browsing import begin, choose_game, moves_listed, play, until
from playwright.sync_api import Page, expect
from web import Served

from play.lab.training import Options, Training, new_run
from solver.games.notation import parse_game

Visit = Callable[..., Page]


@pytest.fixture
def learner(serve: Callable[..., Served], tmp_path: Path) -> Served:
    """A server of a run that has learned 3,3,3."""
    run = new_run(
        str(tmp_path / "<my> run"), "q", parse_game("3,3,3"), 1, episodes=1_000, every=1_000, options=Options()
    )
    with run.held(), Training(run) as training:
        run.begin()
        training.train()
    return serve("--run", run.folder)


def test_a_learner_is_offered_for_its_game_and_makes_the_moves(learner: Served, visit: Visit) -> None:
    page = visit(learner.url)
    offer = page.get_by_label("Learner <my> run", exact=True)
    expect(page.get_by_label("The oracle", exact=True)).to_be_visible()
    expect(offer).to_have_count(0)
    choose_game(page, "3,3,3")
    expect(offer).to_be_visible()
    begin(page, "Learner <my> run", side="O")
    expect(page.locator(".players")).to_contain_text("learner <my> run")
    until(page, lambda: len(moves_listed(page)), 1, within=60)
    assert re.fullmatch("X [a-c][1-3]", moves_listed(page)[0])
    free = next(cell for cell in ("a1", "c3") if cell not in moves_listed(page)[0])
    play(page, free)
    until(page, lambda: len(moves_listed(page)), 3, within=60)


def test_a_learner_chosen_before_is_chosen_again_when_the_page_is_opened_anew(learner: Served, visit: Visit) -> None:
    page = visit(learner.url)
    choose_game(page, "3,3,3")
    offer = page.get_by_label("Learner <my> run", exact=True)
    offer.check()
    page.reload()
    expect(offer).to_be_visible()
    expect(offer).to_be_checked()
    expect(page.get_by_label("Level")).to_be_hidden()
