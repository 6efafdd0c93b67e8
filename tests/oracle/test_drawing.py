"""Drawing: every cell is there, under its column's letter, readable with colour and without."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import naive
import pytest
from commands import run_command
from hypothesis import example, given
from hypothesis import strategies as st

import oracle.cli.drawing
from oracle import Oracle
from oracle.cli.drawing import draw, draw_verdicts, verdict
from oracle.cli.main import main
from solver.games.lines import Game
from solver.games.notation import parse_game
from solver.games.position import Position

GAMES = ["3,3,3", "3,3,3,misere", "2,4,2", "4,4,3", "1,8,3", "8,1,3", "4,4,4,misere", "5,5,4"]
WIDE = ["1,30,5", "12,30,5", "12,3,3", "3,60,3", "100,2,3", "2,703,2"]
OPEN = ".XX./O.O./O..O/.X.X"


def at(name: str, board: str) -> Position:
    return Position(parse_game(name), *naive.masks(board))


@st.composite
def plays(draw: st.DrawFn, *names: str) -> tuple[str, str]:
    """A game and a board that it reaches, oftener finished than not."""
    name = draw(st.sampled_from(names))
    rules = naive.Game.named(name)
    order = draw(st.permutations(range(rules.cells)))
    return name, naive.played(rules, order[: draw(st.sampled_from([rules.cells, draw(st.integers(0, rules.cells))]))])


def cells_in(drawn: str, columns: int) -> Iterator[tuple[str, str]]:
    """The name and text of every cell, as an eye finds them: in its row, from where its column's letters begin."""
    header, *rows = drawn.split("\n")
    starts = [match.start() for match in re.finditer(r"\S+", header)]
    assert len(starts) == columns
    assert len({len(row) - len(row[: starts[0]].rstrip()) - len(row[starts[0] :]) for row in rows}) == 1
    for row in rows:
        for start, end in zip(starts, [*starts[1:], len(row) + 1], strict=True):
            assert row[start - 2 : start] == "  "
            yield header[start:].split()[0] + row[: starts[0]].strip(), row[start:end].strip()


def seen(drawn: str, position: Position) -> list[str]:
    """Every cell's text in order, once each is found under its own name."""
    names, notes = zip(*cells_in(click.unstyle(drawn), position.game.columns), strict=True)
    assert list(names) == [position.game.cell_name(cell) for cell in range(position.game.cells)]
    return list(notes)


@pytest.mark.parametrize("games", [GAMES, pytest.param(WIDE, marks=pytest.mark.slow)], ids=["small", "wide"])
@given(st.data())
def test_every_cell_stands_in_its_column_with_its_mark_or_note(games: list[str], data: st.DataObject) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a drawing shows every cell where its name says
    # Feature: 4x4-tic-tac-toe-ai, Property: notes of any width keep the columns apart
    name, board = data.draw(plays(*games))
    position = at(name, board)
    free = [cell for cell, mark in enumerate(board) if mark == "."] or [0]
    note = st.sampled_from(["=", "?", "+1", "-12", "+128"])
    notes = data.draw(st.dictionaries(st.sampled_from(free), note, max_size=20))
    starred = data.draw(st.sets(st.integers(0, len(board) - 1), max_size=20))
    expected = [mark if mark != "." else notes.get(cell, ".") for cell, mark in enumerate(board)]
    assert seen(draw(position, notes, starred), position) == [
        text + "*" * (cell in starred) for cell, text in enumerate(expected)
    ]


def test_a_hole_is_blank_and_so_is_the_name_of_a_row_or_a_column_of_holes() -> None:
    game = Game("pair", 3, 5, (0b111,), holes=0b01100_11111_00110)
    drawn = draw(Position(game, x=0b000010, o=0b100000), {0: "+1", 2: "-2"}, starred=[0], bracketed=2)
    assert click.unstyle(drawn) == (
        "    a    b         d    e\n"
        " 1  +1*            X   [-2]\n"
        "\n"
        " 3  .    .              O"
    )  # fmt: skip


@given(plays("3,3,3", "3,3,3,misere", "2,4,2"))
def test_every_empty_cell_has_minimax_s_verdict(play: tuple[str, str]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: verdicts are minimax's, and the best are starred
    name, board = play
    rules = naive.Game.named(name)
    with Oracle(name, live=True, seconds=99) as asked:
        notes = seen(draw_verdicts(at(name, board), asked.analysis(board)), at(name, board))
    if naive.over(rules, board):
        return
    best = naive.score(rules, board)
    for cell, mark in enumerate(board):
        score = -naive.score(rules, naive.claim(board, cell)) if mark == "." else 0
        plies = rules.cells + 1 - abs(score) - naive.stones(board)
        shown = f"{score and '+-'[score < 0]}{plies}" if score else "="
        assert notes[cell] == (mark if mark != "." else shown + "*" * (score == best))


@given(plays("4,4,4"))
def test_a_4x4_board_shows_16_marks_and_verdicts_of_its_analysis(store4: Path, play: tuple[str, str]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a drawing and the analysis say the same
    with Oracle(store=store4) as asked:
        analysis = asked.analysis(play[1])
    notes = seen(draw_verdicts(at(*play), analysis), at(*play))
    assert len(notes) == 16
    for move in analysis.moves:
        said = "=" if move.outcome == "draw" else f"{'+' if move.outcome == 'win' else '-'}{move.plies}"
        assert notes[4 * move.row + move.col] == said + "*" * (move.move in analysis.best)
    if not analysis.over:
        assert [note for note in notes if note in "XO"] == [mark for mark in play[1] if mark in "XO"]


@given(plays("3,3,3", "4,4,3", "4,4,3,misere", "2,4,2"))
@example(("4,4,4", "XXXXXOO.XOO.XOO."))  # by two lines at once
def test_exactly_the_lines_that_ended_the_game_are_starred(play: tuple[str, str]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: a finished game shows why it is over
    name, board = play
    rules = naive.Game.named(name)
    if naive.over(rules, board):
        with Oracle(name, live=True) as asked:
            notes = seen(draw_verdicts(at(name, board), asked.analysis(board)), at(name, board))
        ended = {cell for line in naive.lines(rules) if len({board[c] for c in line} - {"."}) == 1
                 for cell in line if all(board[c] != "." for c in line)}  # fmt: skip
        assert notes == [mark + "*" * (cell in ended) for cell, mark in enumerate(board)]
        assert bool(ended) == (naive.completer(rules, board) is not None)


def test_what_no_search_has_settled_is_a_question_mark() -> None:
    with Oracle("5,5,4", live=True, seconds=0) as asked:
        analysis = asked.analysis("25")
        notes = seen(draw_verdicts(at("5,5,4", "." * 25), analysis), at("5,5,4", "." * 25))
    assert notes == ["?"] * 25
    assert {verdict(move._replace(outcome="draw", score=0), "plies") for move in analysis.moves} == {"="}


@given(plays("4,4,4", "3,4,3"))
def test_colour_changes_nothing_but_colour(play: tuple[str, str]) -> None:
    # Feature: 4x4-tic-tac-toe-ai, Property: marks keep their letters, and each has one look of its own
    name, board = play
    drawn = draw(at(name, board), {})
    looks = re.findall(r"((?:\x1b\[[\d;]*m)+)([XO.])\x1b\[0m", drawn)
    assert [mark for _, mark in looks] == list(board)
    assert len({look for look, _ in looks}) == len(set(looks)) == len(set(board))


@pytest.mark.usefixtures("home")
def test_colour_goes_to_a_terminal_that_has_it_and_nowhere_else(store4: Path) -> None:
    def printed(*, terminal: bool, **env: str) -> str:
        ran = run_command(main, OPEN, "--store", store4, terminal=terminal, **env)
        assert (ran.returncode, ran.stderr) == (0, "")
        return ran.stdout

    plain, coloured = printed(terminal=False, TERM="xterm"), printed(terminal=True, TERM="xterm")
    assert "\x1b" not in plain
    assert "\x1b[" in coloured
    assert click.unstyle(coloured) == plain
    assert printed(terminal=True, TERM="dumb") == plain
    assert printed(terminal=True, TERM="xterm", NO_COLOR="1") == plain


def test_the_example_in_the_docstring_is_a_drawing(store3: Path) -> None:
    with Oracle("3,3,3", store3) as asked:
        drawn = draw_verdicts(at("3,3,3", "XX.OO...."), asked.analysis("XX./OO./..."))
    assert click.unstyle(drawn) == "\n".join(
        line.removeprefix("    ") for line in str(oracle.cli.drawing.__doc__).split("\n\n")[1].split("\n")
    )
