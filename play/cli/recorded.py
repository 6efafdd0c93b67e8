"""`ttt4-play resume`, `review`, `replay` and `games`: what can be done with recorded games."""

import json
import sys
from typing import Any

import click

from oracle.cli.options import live_option, time_option
from play.cli.options import SIDE_OPTIONS, further_sides, own_game_option, player_options, seed_option
from play.cli.starting import has_screen, opening_of, plain_option, play_record, takes_screen
from play.match import Match
from play.picture import picture
from play.players.player import may_resume
from play.players.roster import Roster, board_of
from play.records.files import load_record
from play.records.json_form import record_as_dict
from play.records.kept import Kept, kept_games, last_kept, new_files
from play.terminal.talk import review_lines, say
from solver.cli.console import command_errors, store_option
from solver.errors import Ttt4Error
from solver.games.board_rules import captured_by
from solver.games.rules import Rules
from solver.text import printable, shown


@click.command()
@click.argument("file", required=False, type=click.Path())
@own_game_option
@click.option("--x", metavar="PLAYER", help="Who plays X on, or the first side; needed for MODULE:NAME.")
@click.option("--o", metavar="PLAYER", help="Who plays O on, or the second side; needed for MODULE:NAME.")
@further_sides
@seed_option
@plain_option
@store_option
@live_option
@time_option
@command_errors
def resume(
    file: str | None, rules: Rules[Any] | None, x: str | None, o: str | None, z: str | None, t: str | None,
    seed: str | None, store: str | None, plain: bool, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Continue the game in FILE, or the last one that did not end.

    A file cannot make this program load code, so a game or a player of your own has to be named again.
    """
    path = file or _last(rules, to_resume=True)
    record = load_record(path, rules)
    given = player_options(record.match.rules, x, o, z, t)
    for side, option, named in zip(record.match.rules.sides, SIDE_OPTIONS, given, strict=False):
        name = record.tags.setdefault(side, "human")
        if named:
            record.tags[side] = named
        elif not may_resume(name):
            raise Ttt4Error(f"{path!r} was played by {shown(name)}, which a file cannot load; add {option} {name}")
    date = f" of {printable(record.tags['Date'])}" if "Date" in record.tags else ""
    screen = takes_screen(record.match.rules, plain)
    if not screen:
        say(f"Continuing the game{date} in {printable(path)}.")
    play_record(record, new_files(path), opening_of(store, live, seconds, seed), screen=screen)


@click.command()
@click.argument("file", required=False, type=click.Path())
@own_game_option
@store_option
@live_option
@time_option
@command_errors
def review(file: str | None, rules: Rules[Any] | None, store: str | None, live: bool, seconds: float) -> None:
    """Grade every move of the game in FILE, or of the last game, by exact scores, and name the turning point."""
    from play.review import review_match

    match = load_record(file or _last(rules), rules).match
    board_of(match.rules, "an oracle that could review it")
    with Roster(match.rules, store, live=live, seconds=seconds) as roster:
        say(f"{picture(match.rules, match.state)}\n")
        for line in review_lines(review_match(roster.oracle(), match), every=True):
            say(line)


@click.command()
@click.argument("file", required=False, type=click.Path())
@own_game_option
@click.option("--json", "as_json", is_flag=True, help="The record as one JSON object.")
@command_errors
def replay(file: str | None, rules: Rules[Any] | None, as_json: bool) -> None:
    """Step through the game in FILE, or the last game: Enter for the next ply, b for the previous, q to leave."""
    record = load_record(file or _last(rules), rules)
    if as_json:
        click.echo(json.dumps(record_as_dict(record)))
        return
    stepping = sys.stdin.isatty() and sys.stdout.isatty()
    at = 0
    while at <= len(record.match.moves):
        say(_step_of(record.match, at))
        if not stepping:
            at += 1
            continue
        try:
            word = input("Enter, b or q> ").strip().lower()
        except EOFError:
            return
        except KeyboardInterrupt:
            say("")
            raise
        if word.startswith("q"):
            return
        at = max(at - 1, 0) if word.startswith("b") else at + 1
    ending = f" ({record.match.outcome})" if record.match.given_up else ""
    say(f"Result {record.result}{ending}.")


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@plain_option
@store_option
@live_option
@time_option
@command_errors
def games(as_json: bool, plain: bool, store: str | None, live: bool, seconds: float) -> None:
    """List the games that were kept, the last one first; on a terminal, to resume, review or delete them."""
    if not as_json and has_screen(plain) and any(True for _ in kept_games()):
        from play.screen.start import list_on_screen  # only now: a list does without

        list_on_screen(opening_of(store, live, seconds, None))
        return
    found = False
    for kept in kept_games():
        found = True
        where = kept.path if kept.record or kept.own_game_tags else kept.problem
        click.echo(json.dumps(_kept_dict(kept)) if as_json else f"{kept.in_words}\n  {printable(where)}")
    if not found and not as_json:
        click.echo("No game is kept yet: ttt4-play begins one.", err=True)


def _last(rules: Rules[Any] | None, *, to_resume: bool = False) -> str:
    """Return the file of the last kept game; raise Ttt4Error, with what to do, if there is none."""
    path = last_kept(rules, to_resume=to_resume)
    if path is None:
        wanted = "that can go on" if to_resume else "to look at"
        raise Ttt4Error(f"no game {wanted} was kept; ttt4-play begins one, or name a FILE")
    return path


def _step_of(match: Match[Any], at: int) -> str:
    """Return the state after so many moves, drawn, and the move that led to it."""
    rules, who = match.rules, ""
    if at:
        captured = captured_by(match.states[at])
        who = f"{rules.to_move(match.states[at - 1])} plays {rules.write(match.moves[at - 1])}"
        who += f" and captures {captured}. " if captured else ". "
    return f"{picture(rules, match.states[at])}\n\nPly {at} of {len(match.moves)}. {who}\n"


def _kept_dict(kept: Kept) -> dict[str, Any]:
    fields: dict[str, Any] = {"file": kept.path, "played": int(kept.played)}
    if kept.own_game_tags:
        return fields | {"game": kept.own_game_tags["Game"], "result": kept.own_game_tags.get("Result")}
    if kept.record is None:
        return fields | {"error": kept.problem}
    match, tags = kept.record.match, kept.record.tags
    players = {side: tags.get(side, "human") for side in match.rules.sides}
    return fields | {
        "game": match.rules.name, "players": players, "moves": len(match.moves), "result": kept.record.result,
        "can_go_on": kept.can_go_on,
    }  # fmt: skip
