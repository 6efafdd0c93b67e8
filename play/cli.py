"""`ttt4-play`: play in the terminal."""

import sys

import click

from solver import __version__
from solver.console import command_errors


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ttt4-play")
@command_errors
def main() -> None:
    """Play against the oracle in the terminal. This command does not play yet.

    Until it does, ttt4-query tells the outcome of any position.
    """
    click.echo("Error: ttt4-play cannot play yet; ttt4-query BOARD tells the outcome of any position", err=True)
    sys.exit(1)
