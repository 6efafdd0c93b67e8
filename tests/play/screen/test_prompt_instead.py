"""Where no screen can be drawn, or none is wanted: the prompt, as it was."""

from pathlib import Path

import pytest
from screens import MOVES_CURSOR, ShowOnTerminal
from sessions import HUMANS, KEPT, THREE, Start, piped


def begun(command: str, store: Path) -> list[object]:
    """What begins a game of two people, or goes on with one that has a move."""
    if command:
        piped("b2\n", *THREE, *HUMANS, "--store", store)
    return [*([command] if command else [*THREE, *HUMANS]), "--store", store]


@pytest.mark.parametrize(("command", "kind"), [("", "dumb"), ("resume", "no-such-terminal")])
def test_poor_terminals_have_a_prompt(command: str, kind: str, show_on_terminal: ShowOnTerminal, store3: Path) -> None:
    screen = show_on_terminal(*begun(command, store3), TERM=kind)
    screen.wait(lambda: screen.text.rstrip().endswith(">"))
    screen.press("a1\n").until("[O]" if command else "[X]")
    assert screen.press("\x04").ended() == 0
    assert not MOVES_CURSOR.search(screen.written)
    assert screen.written.decode().replace("\r\n", "\n").endswith(KEPT)


@pytest.fixture
def able(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("play.screen.terminal.can_show", lambda: True)


@pytest.mark.usefixtures("able")
@pytest.mark.parametrize("command", ["", "resume"])
def test_a_terminal_has_the_prompt_if_it_is_asked_for(command: str, start: Start, store3: Path) -> None:
    session = start(*begun(command, store3), "--plain", plain=False)
    assert session.prompted().endswith("O> " if command else "X> ")
    assert f"[{'O' if command else 'X'}]" in session.type("a1")
    assert session.ended() == 0
    assert not MOVES_CURSOR.search(session.written.encode())
    assert session.written.endswith(KEPT)


@pytest.mark.usefixtures("able")
def test_a_game_without_a_board_is_played_at_the_prompt(start: Start) -> None:
    source = Path(__file__).parents[1] / "nim.py"
    Path("nim.py").write_text(source.read_text())
    session = start("--game", "nim:Nim", *HUMANS, plain=False)
    assert session.prompted().endswith("X> ")
    assert session.ended() == 0
    assert not MOVES_CURSOR.search(session.written.encode())
