"""The READMEs: every example prints what they show, every option and every file is in them."""

import doctest
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import click
import picture
import pytest
from commands import run_command
from sessions import subcommands

from oracle.cli.main import main as query
from play.cli.main import main as play
from solver.cli.main import main as solve

ROOT = Path(__file__).parents[1]
ROOMS = ("solver", "oracle", "play")
READMES = [ROOT / "README.md", *(ROOT / room / "README.md" for room in (*ROOMS, "data", "play/lab"))]
TEXT = "\n".join(readme.read_text() for readme in READMES)
SHELL = re.findall(r"^    \$ (.+)\n((?:    .*\n|\n(?=    ))*)", TEXT, re.MULTILINE)
USAGES = re.sub(r"\n {8,}", " ", TEXT).split("\n")


def leaves(program: str, commands: Mapping[str, click.Command]) -> Iterator[tuple[str, click.Command]]:
    """Yield commands with their whole names, those of a group instead of the group."""
    for name, command in commands.items():
        if isinstance(command, click.Group):
            yield from leaves(f"{program} {name}", command.commands)
        else:
            yield f"{program} {name}", command


COMMANDS: dict[str, click.Command] = {
    "ttt4-query": query,
    "ttt4-play": play,
    **{f"ttt4-solve {name}": command for name, command in solve.commands.items()},
    **dict(leaves("ttt4-play", subcommands())),
}


@pytest.fixture
def checkout(tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that passes for a checkout, with the store of 4x4 where it belongs."""
    for room in (*ROOMS, "data"):
        (tmp_path / room).mkdir()
    shutil.copy(store4, tmp_path / "data" / "4x4x4.ttt4")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT4_STORE", raising=False)
    return tmp_path


@pytest.mark.parametrize("room", [*ROOMS, "play/lab"])
def test_python_examples_print_what_the_readme_shows(room: str, checkout: Path) -> None:
    results = doctest.testfile(
        str(ROOT / room / "README.md"), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert results.attempted >= 3
    assert results.failed == 0


@pytest.mark.parametrize(
    ("command", "shown"),
    [pytest.param(*each, id=each[0], marks=pytest.mark.slow if " grade " in each[0] else []) for each in SHELL],
)
def test_shell_examples_print_what_the_readme_shows(checkout: Path, command: str, shown: str) -> None:
    program, *arguments = shlex.split(command)
    ran = run_command({"ttt4-query": query, "ttt4-play": play}[program], *arguments)
    assert (ran.returncode, ran.stderr) == (0, "")
    expected = [line[4:] for line in shown.rstrip("\n").split("\n")]
    assert ran.stdout.rstrip("\n").split("\n") == expected


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_every_command_is_in_a_readme(command: str) -> None:
    options = {name for option in COMMANDS[command].params for name in option.opts if name.startswith("--")}
    usage = next(line for line in USAGES if line.startswith(f"    {command} ") and ("[" in line or not options))
    assert options - {"--version"} == set(re.findall(r"--[a-z]+(?:-[a-z]+)*", usage))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help(command: str) -> None:
    assert COMMANDS[command].help
    if " " in command:
        assert not COMMANDS[command].get_short_help_str(65).endswith("..."), "cut off in the list, on 80 columns"
    assert all(option.help for option in COMMANDS[command].params if isinstance(option, click.Option))


@pytest.mark.parametrize("room", ROOMS)
def test_every_file_of_a_room_is_in_its_readme(room: str) -> None:
    files = {path.name for path in (ROOT / room).rglob("*.py")} - {"__init__.py"}
    readmes = "\n".join(readme.read_text() for readme in (ROOT / room).rglob("README.md"))
    listed = set(re.findall(r"(?:\w+/)*(\w+\.py)", readmes))
    assert files <= listed


@pytest.mark.parametrize("readme", READMES, ids=lambda readme: str(readme.relative_to(ROOT)))
def test_every_link_leads_to_a_file(readme: Path) -> None:
    for link in re.findall(r"\]\((?!https://)([^)]+)\)", readme.read_text()):
        path, _, heading = link.partition("#")
        target = readme.parent / path
        assert target.exists(), link
        if heading:
            headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in headings], link


def test_the_picture_is_what_the_program_prints(checkout: Path, store4: Path) -> None:
    assert picture.PICTURE.read_text() == picture.draw(str(store4))
