"""A trained learner on the page: it is offered for its game, and it plays."""

import re
from collections.abc import Callable
from pathlib import Path

from browsing import Visit, begin, choose_game, expect, moves_listed, play, slow, until
from web import Served

from solver.games.notation import parse_game


@slow
def test_a_learner_is_offered_for_its_game_remembered_and_makes_the_moves(
    serve: Callable[..., Served], tmp_path: Path, visit: Visit
) -> None:
    page = visit(learner(serve, tmp_path / "<my> run").url)
    offer = page.get_by_label("Learner <my> run", exact=True)
    expect(page.get_by_label("The oracle", exact=True)).to_be_visible()
    expect(offer).to_have_count(0)
    choose_game(page, "3,3,3")
    offer.check()
    page.reload()
    expect(offer).to_be_checked()
    expect(page.get_by_label("Level")).to_be_hidden()
    begin(page, "Learner <my> run", side="O")
    expect(page.locator(".players")).to_contain_text("learner <my> run")
    until(page, lambda: len(moves_listed(page)), 1)
    assert re.fullmatch("X [a-c][1-3]", moves_listed(page)[0])
    free = next(cell for cell in ("a1", "c3") if cell not in moves_listed(page)[0])
    play(page, free)
    until(page, lambda: len(moves_listed(page)), 3)


def learner(serve: Callable[..., Served], folder: Path) -> Served:
    """Return a server of a run that has learned 3,3,3."""
    from play.lab.training import Options, Training, new_run

    run = new_run(str(folder), "q", parse_game("3,3,3"), 1, episodes=1_000, every=1_000, options=Options())
    with run.held(), Training(run) as training:
        run.begin()
        training.train()
    return serve("--run", run.folder)
