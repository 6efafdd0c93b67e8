"""Where no screen can be drawn, or none is wanted: the prompt, as it was."""

from pathlib import Path

import pytest
from screens import MOVES_CURSOR, Show
from sessions import HUMANS, KEPT, THREE, piped


@pytest.mark.parametrize(
    ("arguments", "env"), [(["--plain"], {}), ([], {"TERM": "dumb"}), ([], {"TERM": "no-such-terminal"})]
)
@pytest.mark.parametrize("command", ["", "resume"])
def test_a_terminal_has_the_prompt_if_it_is_asked_for_or_no_better(
    command: str, arguments: list[str], env: dict[str, str], show: Show, store3: Path
) -> None:
    if command:
        piped("b2\n", *THREE, *HUMANS, "--store", store3)
    given = [command] if command else [*THREE, *HUMANS]
    screen = show(*given, "--store", store3, *arguments, **env)
    screen.wait(lambda: screen.text.rstrip().endswith(">"))
    screen.press("a1\n")
    screen.until("[O]" if command else "[X]")
    screen.press("\x04")
    assert screen.ended() == 0
    assert not MOVES_CURSOR.search(screen.written)
    assert screen.written.decode().replace("\r\n", "\n").endswith(KEPT)


@pytest.mark.parametrize("env", [{}, {"TERM": "xterm-256color"}, {"TERM": "dumb"}])
def test_through_a_pipe_no_escape_is_written(env: dict[str, str], store3: Path) -> None:
    ran = piped("b2\nhint\nshow\nwhy\nquit\n", *THREE, "--store", store3, **env)
    assert (ran.returncode, ran.stderr, "\x1b" in ran.stdout) == (0, "", False)
    assert ran.stdout.endswith(KEPT)
    plain = piped("b2\nhint\nshow\nwhy\nquit\n", *THREE, "--store", store3, "--plain", **env)
    assert plain.stdout.splitlines()[:3] == ran.stdout.splitlines()[:3]


def test_a_game_without_a_board_is_played_at_the_prompt(show: Show, home: Path) -> None:
    source = Path(__file__).parents[1] / "nim.py"
    Path("nim.py").write_text(source.read_text())
    screen = show("--game", "nim:Nim", *HUMANS)
    screen.wait(lambda: screen.text.rstrip().endswith(">"))
    screen.press("\x04")
    assert screen.ended() == 0
    assert not MOVES_CURSOR.search(screen.written)
