"""Begin on a screen: a match, or the list of kept games. What is said when the screen is gone is printed then."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from play.players.player import may_resume
from play.players.roster import Roster
from play.records.kept import Kept, new_files
from play.records.text import Record
from play.screen.app import App
from play.screen.evening import Evening
from play.screen.game import GameView
from play.screen.opening import Opening
from play.screen.terminal import Terminal
from play.sitting import Sitting
from play.terminal.talk import say
from solver.games.board_rules import BoardRules

if TYPE_CHECKING:
    from play.screen.games import GamesView

KEPT = "The game is kept: ttt4-play resume continues it."


def play_on_screen(
    roster: Roster, record: Record, files: Iterator[str | None], opening: Opening, note: str, *, menu: bool
) -> None:  # fmt: skip
    """Let a record's match go on, and others after it, until the person leaves."""
    told = [note] if note else []
    sitting = Sitting(roster, record, files, opening.seed, told.append)
    view: GameView | None = None
    try:
        with Terminal() as terminal, warnings.catch_warnings():
            app = App(terminal)
            view = GameView(app, opening, sitting, Evening())
            view.listen(told)
            app.open(view)
            if menu:
                view.heed("do m")
            app.run()
    finally:
        last = view.sitting if view else sitting
        if last.unfinished:
            with suppress(OSError):  # the terminal may be gone, and what has ended the game counts
                say(KEPT if last.path else "The game was not kept.")


def list_on_screen(games: Sequence[Kept], opening: Opening) -> None:
    """List kept games, and let the person resume, review or delete them."""
    from play.screen.games import GamesView  # only now: a game does not wait for it

    with Terminal() as terminal:
        app = App(terminal)
        view = GamesView(app, games, lambda kept: _open(app, view, kept, opening))
        app.open(view)
        app.run()


def _open(app: App, listing: "GamesView", kept: Kept, opening: Opening) -> None:
    """Show a kept game: it can be reviewed and, if it has not ended, goes on."""
    record = kept.record
    if record is None or not isinstance(record.match.rules, BoardRules):
        listing.message = kept.problem or "This game is your own code: ttt4-play resume --game MODULE:NAME."
        return
    names = [record.tags.setdefault(side, "human") for side in record.match.rules.sides]
    if not all(map(may_resume, names)):
        listing.message = "A player of this game is your own code: ttt4-play resume with --x or --o continues it."
        return
    sitting = Sitting(opening.roster(record.match.rules), record, new_files(kept.path), opening.seed, lambda text: None)
    app.open(GameView(app, opening, sitting, Evening()))
