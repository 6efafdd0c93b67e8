"""Start a match at the prompt, and offer to build the store that is missing."""

import os
import sys
import time
from collections.abc import Iterator
from typing import Any

from play.players.player import read_player
from play.players.roster import Roster
from play.records.text import Record
from play.terminal.prompt import Prompt
from play.terminal.talk import say
from solver.cli.console import CUT_OFF
from solver.folders import find_store, is_named, store_path
from solver.games.board_rules import BoardRules


def play_record(
    record: Record, files: Iterator[str | None], seed: str | None, store: str | None, live: bool, seconds: float
) -> None:
    """Let a record's match go on at the prompt, between the players that its tags name."""
    rules = record.match.rules
    with Roster(rules, store, live=live, seconds=seconds) as roster:
        if isinstance(rules, BoardRules):
            searching = live or rules.game.cells > rules.game.solvable_cells
            if not searching:
                if not is_named(store):
                    _offer_store(rules)
                searching = roster.oracle().source == "search"  # a missing store is reported at once
            if searching and rules.game.cells > rules.game.quick_cells and _oracle_plays(record):
                say("Without a store, the oracle may err on a board of this size.")
        try:
            Prompt(roster, record, files, seed if seed is not None else time.time_ns()).run()
        except BrokenPipeError:
            sys.exit(CUT_OFF)  # nobody sees how the match goes on


def _oracle_plays(record: Record) -> bool:
    """Tell whether a player of a record is the oracle, and so is said never to err."""
    sides = record.match.rules.sides
    return any(read_player(record.tags.get(side, "human")).kind in ("oracle", "first") for side in sides)


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

        command = [sys.executable, "-c", "from solver.start import solve; solve()", "build", "--game", game.notation]
        subprocess.run([*command, "--store", store_path(game)], stdout=subprocess.DEVNULL, check=False)
