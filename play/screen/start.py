"""Begin on a screen: a match, or the list of kept games. What is said when the screen is gone is printed then."""

import io
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TYPE_CHECKING

from play.opening import Opening
from play.players.player import may_resume
from play.players.roster import Roster
from play.records.kept import Kept, kept_games, new_files
from play.records.text import Record
from play.screen.app import App
from play.screen.evening import Evening
from play.screen.game import GameView
from play.screen.terminal import Terminal
from play.sitting import Sitting
from play.terminal.talk import say
from solver.games.cell_rules import CellRules

if TYPE_CHECKING:
    from play.screen.games import GamesView


def play_on_screen(
    roster: Roster, record: Record, files: Iterator[str | None], opening: Opening, note: str, *, menu: bool
) -> None:  # fmt: skip
    """Let a record's match go on, and others after it, until the person leaves."""
    told = [note] if note else []
    sitting = Sitting(roster, record, files, opening.seed, told.append)
    with _on_screen() as (app, games):
        view = GameView(app, opening, sitting, Evening())
        games.append(view)
        view.listen(told)
        app.open(view)
        if menu:
            view.heed("do m")
        app.run()


def list_on_screen(opening: Opening) -> None:
    """List the kept games, and let the person resume, review or delete them."""
    from play.screen.games import GamesView  # only now: a game does not wait for it

    with _on_screen() as (app, games):
        listing = GamesView(app, kept_games, lambda kept: _open(app, listing, games, kept, opening))
        app.open(listing)
        app.run()


@contextmanager
def _on_screen() -> Iterator[tuple[App, list[GameView]]]:
    """Give a screen, and afterwards say whether the last of the games is kept.

    What players of the user's own print meanwhile is printed on standard error then.
    """
    games: list[GameView] = []
    printed = io.StringIO()
    try:
        with Terminal() as terminal, warnings.catch_warnings(), redirect_stdout(printed), redirect_stderr(printed):
            yield App(terminal), games
    finally:
        with suppress(OSError):  # the terminal may be gone, and what has ended the game counts
            sys.stderr.write(printed.getvalue())
            if games and (farewell := games[-1].sitting.farewell):
                say(farewell)


def _open(app: App, listing: "GamesView", games: list[GameView], kept: Kept, opening: Opening) -> None:
    """Show a kept game: it can be reviewed and, if it has not ended, goes on."""
    record = kept.record
    if record is None or not isinstance(record.match.rules, CellRules):
        listing.message = kept.problem or "This game is your own code: ttt4-play resume --game MODULE:NAME."
        return
    names = [record.tags.setdefault(side, "human") for side in record.match.rules.sides]
    if not all(map(may_resume, names)):
        listing.message = "A player of this game is your own code: ttt4-play resume with --x or --o continues it."
        return
    told: list[str] = []
    sitting, note = opening.resumed(record, new_files(kept.path), told.append)
    app.left.callback(sitting.roster.close)
    games.append(GameView(app, opening, sitting, Evening()))
    games[-1].listen([*told, note])
    app.open(games[-1], listing.read_again)
