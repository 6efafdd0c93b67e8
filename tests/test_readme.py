"""README's examples: what it shows is what one gets."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from oracle.cli.main import main as query
from play.cli import main as play
from solver.cli.main import main as solve

README = Path(__file__).parents[1] / "README.md"
SHELL = re.findall(r"^    \$ (.+)\n((?:    .*\n|\n(?=    ))*)", README.read_text(), re.MULTILINE)


@pytest.fixture
def checkout(tmp_path: Path, store4: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that passes for a checkout, with the store of 4x4 where it belongs."""
    for room in ("solver", "oracle", "play", "data"):
        (tmp_path / room).mkdir()
    shutil.copy(store4, tmp_path / "data" / "4x4x4.ttt4")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TTT4_STORE", raising=False)
    return tmp_path


def test_the_python_examples_print_what_readme_says(checkout: Path) -> None:
    results = doctest.testfile(str(README), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.attempted > 10
    assert results.failed == 0


def test_there_are_shell_examples() -> None:
    assert SHELL


@pytest.mark.parametrize(("command", "shown"), SHELL, ids=[command for command, _ in SHELL])
def test_a_shell_example_prints_what_readme_says(checkout: Path, command: str, shown: str) -> None:
    program, *arguments = shlex.split(command)
    ran = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments], cwd=checkout, capture_output=True, text=True, check=True
    )
    expected = [line[4:] for line in shown.rstrip("\n").split("\n")]
    assert ran.stdout.rstrip("\n").split("\n") == expected


USAGES = re.sub(r"\n {8,}", " ", README.read_text()).split("\n")
COMMANDS = {
    "ttt4-query": query,
    "ttt4-play": play,
    **{f"ttt4-solve {name}": command for name, command in solve.commands.items()},
    **{f"ttt4-play {name}": command for name, command in play.commands.items()},
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_every_command_is_in_readme(command: str) -> None:
    options = {name for option in COMMANDS[command].params for name in option.opts if name.startswith("--")}
    usage = next(line for line in USAGES if f"{line} ".startswith(f"    {command} "))
    assert options - {"--version"} == set(re.findall(r"--[a-z]+", usage))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help(command: str) -> None:
    assert COMMANDS[command].help
    assert all(option.help for option in COMMANDS[command].params if isinstance(option, click.Option))
