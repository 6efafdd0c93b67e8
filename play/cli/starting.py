"""Start a match on a screen or at the prompt, and offer to build the store that is missing."""

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import click

from play.opening import Opening
from play.records.text import Record
from play.terminal.talk import say
from solver.child import child_command
from solver.cli.console import CUT_OFF
from solver.folders import find_store, is_named, store_path
from solver.games.board_rules import BoardRules
from solver.games.cell_rules import CellRules
from solver.games.rules import Rules

plain_option = click.option("--plain", is_flag=True, help="A prompt, line by line, instead of the full screen.")


def takes_screen(rules: Rules[Any], plain: bool) -> bool:
    """Tell whether a match is played on a full screen: it has a board, and there is a screen."""
    return isinstance(rules, CellRules) and has_screen(plain)


def has_screen(plain: bool) -> bool:
    """Tell whether there is a terminal for a full screen, and nobody has asked for a prompt."""
    if plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        from play.screen.terminal import can_show  # only now: a prompt does without
    except ImportError:  # some Pythons are built without curses
        return False
    return can_show()


def play_record(
    record: Record, files: Iterator[str | None], opening: Opening, *, screen: bool, menu: bool = False
) -> None:
    """Let a record's match go on, between the players that its tags name; on a screen, perhaps with the menu first."""
    rules = record.match.rules
    with opening.roster(rules) as roster:
        if isinstance(rules, BoardRules) and not (opening.live or is_named(opening.store)):
            _offer_store(rules)
        note = opening.note(record, roster)
        try:
            if screen:
                from play.screen.start import play_on_screen  # only now: a prompt does without

                play_on_screen(roster, record, files, opening, note, menu=menu)
            else:
                from play.terminal.prompt import Prompt  # only now: a screen does without

                if note:
                    say(note)
                Prompt(roster, record, files, opening.seed).run()
        except BrokenPipeError:
            sys.exit(CUT_OFF)  # nobody sees how the match goes on


def opening_of(store: str | None, live: bool, seconds: float, seed: str | None) -> Opening:
    """Return what the options of a command say."""
    return Opening(store, live, seconds, seed if seed is not None else time.time_ns())


def _offer_store(rules: BoardRules[Any]) -> None:
    """Where there is no store, and a person to ask, offer to build it if that takes only seconds."""
    game, asking = rules.game, sys.stdin.isatty() and sys.stdout.isatty()
    if not asking or game.cells > game.quick_cells or os.path.exists(find_store(game)):
        return
    try:
        answer = input(f"There is no store for {game.name} yet. Build it now, in a few seconds? [Y/n] ")
    except EOFError:
        return
    if answer.strip().lower() in ("", "y", "yes"):
        import subprocess  # only now: this is done once

        building = "build", "--game", game.notation, "--store", store_path(game)
        command = child_command("from solver.start import solve; solve()", *building)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
