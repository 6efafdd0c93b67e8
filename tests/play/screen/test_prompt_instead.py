"""Where no screen can be drawn, or none is wanted: the prompt, as it was."""

from pathlib import Path

import pytest
from screens import MOVES_CURSOR, ShowOnTerminal
from sessions import HUMANS, KEPT, THREE, Start, piped


@pytest.mark.parametrize(
    ("command", "kind"),
    [("", "dumb"), ("resume", "no-such-terminal"), pytest.param("", "no-such-terminal", marks=pytest.mark.slow)],
)
def test_a_terminal_has_the_prompt_if_it_can_no_better(
    command: str, kind: str, show_on_terminal: ShowOnTerminal, store3: Path
) -> None:
    if command:
        piped("b2\n", *THREE, *HUMANS, "--store", store3)
    given = [command] if command else [*THREE, *HUMANS]
    screen = show_on_terminal(*given, "--store", store3, TERM=kind)
    screen.wait(lambda: screen.text.rstrip().endswith(">"))
    screen.press("a1\n")
    screen.until("[O]" if command else "[X]")
    screen.press("\x04")
    assert screen.ended() == 0
    assert not MOVES_CURSOR.search(screen.written)
    assert screen.written.decode().replace("\r\n", "\n").endswith(KEPT)


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every terminal be able to show a screen."""
    monkeypatch.setattr("play.screen.terminal.can_show", lambda: True)


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("command", ["", "resume"])
def test_a_terminal_has_the_prompt_if_it_is_asked_for(command: str, start: Start, store3: Path) -> None:
    if command:
        piped("b2\n", *THREE, *HUMANS, "--store", store3)
    session = start(*([command] if command else [*THREE, *HUMANS]), "--store", store3, "--plain", plain=False)
    assert session.prompted().endswith("O> " if command else "X> ")
    assert f"[{'O' if command else 'X'}]" in session.type("a1")
    assert session.ended() == 0
    assert not MOVES_CURSOR.search(session.written.encode())
    assert session.written.endswith(KEPT)


@pytest.mark.parametrize("env", [{}, {"TERM": "xterm-256color"}, {"TERM": "dumb"}])
def test_through_a_pipe_no_escape_is_written(env: dict[str, str], store3: Path) -> None:
    ran = piped("b2\nhint\nshow\nwhy\nquit\n", *THREE, "--store", store3, **env)
    assert (ran.returncode, ran.stderr, "\x1b" in ran.stdout) == (0, "", False)
    assert ran.stdout.endswith(KEPT)
    plain = piped("b2\nhint\nshow\nwhy\nquit\n", *THREE, "--store", store3, "--plain", **env)
    assert plain.stdout.splitlines()[:3] == ran.stdout.splitlines()[:3]


@pytest.mark.usefixtures("able")
def test_a_game_without_a_board_is_played_at_the_prompt(start: Start) -> None:
    source = Path(__file__).parents[1] / "nim.py"
    Path("nim.py").write_text(source.read_text())
    session = start("--game", "nim:Nim", *HUMANS, plain=False)
    assert session.prompted().endswith("X> ")
    assert session.ended() == 0
    assert not MOVES_CURSOR.search(session.written.encode())
