"""`ttt4-play serve`: the web server."""

import math
import os
import sys
from ipaddress import ip_address
from typing import Any

import click

from oracle.cli.options import live_option, time_option
from play.cli.options import RulesType
from play.server.retention import MOST_MATCHES, MOST_OF_ONE
from solver.cli.console import command_errors, store_option
from solver.errors import Ttt4Error
from solver.folders import find_store, matches_path
from solver.games.board import DEFAULT_GAME
from solver.games.notation import parse_game
from solver.games.rules import Rules
from solver.store.store import missing

PORT = 4444


def _limit_given(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse `nan` and `inf`, which FloatRange lets pass."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter("write a number of units, 1 or more", context, parameter)
    return value


def _proxy_given(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Refuse what is no address."""
    try:
        return value and str(ip_address(value))
    except ValueError:
        raise click.BadParameter(f"{value!r} is no address: write 127.0.0.1", context, parameter) from None


@click.command(short_help="Serve the web page and the HTTP API.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on; 0.0.0.0 for all.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 for any that is free.")
@click.option("--open", "opening", is_flag=True, help="Open the page in the browser.")
@click.option("--allow-host", "hosts", multiple=True, metavar="NAME", help="Another name of this server; repeatable.")
@click.option("--proxy", metavar="ADDRESS", callback=_proxy_given,
              help="A reverse proxy whose header X-Forwarded-For says which address asks.")  # fmt: skip
@click.option(
    "--limit", type=click.FloatRange(1), metavar="UNITS", callback=_limit_given,
    help="Units of work a second for every address, this machine included.  [default: 50, this machine unlimited]",
)  # fmt: skip
@click.option(
    "--matches",
    "most_of_one",
    type=click.IntRange(1, MOST_MATCHES),
    default=MOST_OF_ONE,
    show_default=True,
    help="The most kept matches begun by one address, this machine included.",
)
@click.option("--game", "own", type=RulesType(), multiple=True, metavar="MODULE:NAME", help="Serve a game of your own.")
@click.option("--run", "runs", multiple=True, metavar="FOLDER", help="Let people play a trained run; repeatable.")
@store_option
@live_option
@time_option
@command_errors
def serve(
    host: str, port: int, opening: bool, hosts: tuple[str, ...], proxy: str | None, limit: float | None,
    most_of_one: int, own: tuple[Rules[Any], ...], runs: tuple[str, ...], store: str | None, live: bool, seconds: float,
) -> None:  # fmt: skip
    """Serve a web page to play, explore and solve puzzles, and an HTTP API, until Ctrl-C.

    Games are kept in the user's state folder, each move before anybody sees it.
    """
    path = matches_path()
    if path is None:
        raise Ttt4Error("there is no folder to keep games in: set HOME or XDG_STATE_HOME")
    named = store or os.environ.get("TTT4_STORE")
    if named and not live and not os.path.exists(named) and not named.endswith(os.sep):
        raise missing(named, parse_game(DEFAULT_GAME))
    from play.server.app import App  # only now: other commands load nothing of the web
    from play.server.desk import Desk
    from play.server.serving import listen, run

    listening, address = listen(host, port)
    desk = Desk(store, live=live, seconds=seconds, own=own, runs=runs)
    app = App(desk, path, limit=limit, hosts=(host, *hosts), most_of_one=most_of_one)
    opened = address if opening else None
    run(app, listening, ready=lambda: _announce(address, store, live), open_at=opened, proxy=proxy)


def _announce(address: str, store: str | None, live: bool) -> None:
    game = parse_game(DEFAULT_GAME)
    if not live and not os.path.exists(find_store(game, store)):
        click.echo(f"No store of {game.name}: searching live. For answers at once: ttt4-solve build", err=True)
    click.echo(f"ttt4 is at {address} (Ctrl-C ends it)")
    sys.stdout.flush()
