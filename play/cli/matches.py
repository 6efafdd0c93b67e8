"""`ttt4-play matches`: check, back up and restore the matches that the server keeps."""

import json
from shlex import join

import click

from play.server.backup import export_matches, import_matches
from play.server.log_check import Checked, check
from play.server.log_file import LogFile
from solver.cli.console import command_errors
from solver.cli.output import OutputFile, force_option
from solver.errors import StoreDamaged, Ttt4Error
from solver.folders import matches_path
from solver.text import printable


@click.group()
def matches() -> None:
    """Check, back up and restore the matches of ttt4-play serve, also while it runs."""


@matches.command("check")
@click.option("--json", "as_json", is_flag=True, help="The findings as one JSON object.")
@command_errors
def check_command(as_json: bool) -> None:
    """Check every match, and name the damaged ones.

    The exit code is 4 if something is damaged.
    """
    file = _opened(create=False)
    found = check(file)
    file.close()
    if as_json:
        click.echo(json.dumps(_as_dict(found, file.path)))
    else:
        for error in found.damaged:
            click.echo(error)
        for problem in found.structure:
            click.echo(f"the file is damaged: {problem}")
        total = f"{len(found.matches):,} {_noun(len(found.matches))}, {found.events:,} events in {printable(file.path)}"
        click.echo(f"{total}: {'all sound' if found.sound else f'{len(found.damaged):,} damaged'}.")
    if not found.sound:
        raise StoreDamaged(_repair(file.path))


@matches.command("export")
@click.argument("target", metavar="FILE", type=click.Path())
@force_option
@command_errors
def export_command(target: str, force: bool) -> None:
    """Write all matches to FILE, a backup.

    Keep it as secret as the log: it has every move, the addresses that began the matches, and the keys from which the
    players' links follow, so that these work after an import. Damaged matches are named and left out, and then the
    exit code is 4.
    """
    backup, file = OutputFile(target, force), _opened(create=False)
    with backup.writing_secret() as out:
        written, damaged = export_matches(file, out)
    file.close()
    click.echo(f"Exported {written:,} {_noun(written)} to {printable(target)}. Keep it secret.")
    if damaged:
        for error in damaged:
            click.echo(error)
        raise StoreDamaged(f"{len(damaged):,} damaged {_noun(len(damaged))} left out")


@matches.command("import")
@click.argument("source", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@command_errors
def import_command(source: str) -> None:
    """Add the matches of FILE that the log does not have.

    Matches that are there stay as they are. Damaged ones of the backup are named and left out, and then the exit code
    is 4.
    """
    file = _opened(create=True)
    with open(source, encoding="ascii", errors="replace") as lines:
        found = import_matches(file, lines)
    file.close()
    click.echo(f"Added {found.added:,} {_noun(found.added)}; {found.known:,} already there.")
    if found.problems:
        for problem in found.problems:
            click.echo(problem)
        raise StoreDamaged(f"{printable(source)!r} is damaged")


def _opened(*, create: bool) -> LogFile:
    path = matches_path()
    if path is None:
        raise Ttt4Error("there is no folder of matches: set HOME or XDG_STATE_HOME")
    return LogFile(path, create=create)


def _repair(path: str) -> str:
    aside = join(["mv", path, f"{path}.damaged"])
    return (
        f"the log is damaged: end the server, then ttt4-play matches export sound.jsonl; {aside}; "
        "ttt4-play matches import sound.jsonl; and import the last backup likewise"
    )


def _as_dict(found: Checked, path: str) -> dict[str, object]:
    return {
        "file": path, "matches": len(found.matches), "events": found.events, "sound": found.sound,
        "damaged": [{"match": error.match.hex(), "message": str(error)} for error in found.damaged],
        "structure": found.structure,
    }  # fmt: skip


def _noun(count: int) -> str:
    return "match" if count == 1 else "matches"
