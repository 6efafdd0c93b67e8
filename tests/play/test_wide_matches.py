"""Matches on wide boards: played at the prompt, kept, replayed, and written down in a text that follows the stones."""

import json
import random
from pathlib import Path
from typing import Any

import click
import pytest
from sessions import HUMANS, Start, piped, printed, refused

from play.match import Match
from play.picture import picture
from play.records.files import load_record
from play.records.json_form import record_as_dict, record_from_json
from play.records.text import Record, read_record
from solver.games.registry import find_game
from solver.games.wide import Stones

pytestmark = pytest.mark.usefixtures("home")

HUGE: Any = find_game("1000,1000,5")
MILLION = ["--game", "1000,1000,5"]
RECORDED = Path(__file__).with_name("wide_game.txt")
"""A whole game on 1000 by 1000 cells, as the prompt has kept it: `ttt4-play --game 1000,1000,5 --seed 2 --plain`
between oracle:4 and oracle:4."""


def test_a_whole_game_is_played_at_the_prompt_as_it_was_recorded(home: Path) -> None:
    out = printed("", *MILLION, "--x", "oracle:4", "--o", "oracle:4", "--seed", "2")
    kept = next((home / "state" / "ttt4" / "games").iterdir())
    again, recorded = load_record(str(kept)), load_record(str(RECORDED))
    assert again.match.moves == recorded.match.moves
    assert (again.result, len(again.match.moves)) == (recorded.result, 37)
    assert out.endswith("X has won: X completed a line.\n")


def test_a_recorded_game_is_replayed_move_by_move() -> None:
    out = printed("", "replay", RECORDED)
    recorded = load_record(str(RECORDED))
    steps = out.split("Ply ")
    assert len(steps) == len(recorded.match.states) + 1
    assert max(map(len, out.splitlines())) <= 80
    for move, step in zip(recorded.match.moves, steps[2:], strict=True):
        assert f"plays {HUGE.write(move)}. " in step
    assert steps[-2].count("*") == 5
    fields = json.loads(printed("", "replay", RECORDED, "--json"))
    assert (fields["result"], len(fields["state"])) == ("1-0", len(HUGE.encode(recorded.match.state)))
    assert len(fields["state"]) < 8 * len(fields["moves"])


def rows_of(said: str) -> list[str]:
    """The rows of the boards in a text, without their numbers."""
    return [line.split(maxsplit=1)[1] for line in said.splitlines() if line.strip()[:1].isdigit() and "  ." in line]


def test_at_the_prompt_a_part_of_the_board_is_shown_around_the_latest_moves_or_a_cell(start: Start) -> None:
    session = start(*MILLION, *HUMANS)
    begun = click.unstyle(session.prompted())
    assert "A move is sg501 or 501 501; help lists the commands." in " ".join(begun.split())
    assert "Rows 494 to 508 of 1000, columns rx to so (492 to 509) of 1000." in begun
    assert len(rows_of(begun)) == 15
    far = session.type("all1000")
    assert "[X]" in far
    assert "Rows 986 to 1000 of 1000, columns aku to all (983 to 1000) of 1000." in far
    near = session.type("alk999")
    assert (near.count("X"), near.count("[O]")) == (2, 1)  # one of them is the prompt's
    assert "Rows 986 to 1000" in near
    both = session.type("5 3")
    assert "Rows 1 to 15 of 1000, columns a to r (1 to 18) of 1000." in both
    assert "[X]" in both
    asked = session.type("look alk999")
    assert ("[X]" in asked, "  O" in asked, "Rows 986 to 1000 of 1000" in asked) == (False, True, True)
    assert "Rows 1 to 15" in session.type("look")
    assert "No cell 'alm1' on a 1000,1000,5 board: cells run from 'a1' to 'all1000'." in session.type("look alm1")
    assert max(map(len, click.unstyle(session.written).splitlines())) <= 80


def test_every_command_works_at_the_prompt_or_says_who_plays_on_such_a_board(start: Start) -> None:
    session = start(*MILLION, "--x", "human", "--o", "rules", "--seed", "1")
    for line in ("hint", "show", "why", "review", "lines"):
        said = " ".join(session.type(line).split())
        assert "Only boards of up to 400 cells have" in said
        assert "its players are human, random, rules, oracle:0 to oracle:4 and MODULE:NAME." in said
    assert "O plays" in session.type("a1")
    assert "Rows" in session.type("undo")
    assert "Rows" in session.type("redo")
    assert "Saved to g.txt." in session.type("save g.txt")
    assert load_record("g.txt").match.moves[0] == 0
    assert "resign again" in session.type("resign")
    assert "O has won: X resigned." in session.type("resign")
    assert "Rows" in session.type("restart")
    listed = session.type("help")
    assert "  look " in listed
    assert not any(f"\n  {name} " in listed for name in ("hint", "show", "why", "review", "lines"))


def test_look_is_for_boards_of_which_a_part_is_shown(start: Start) -> None:
    session = start("--game", "3,3,3", *HUMANS, "--live")
    assert "All of 3,3,3 is seen at once" in session.type("look b2")
    assert "\n  look " not in session.type("help")


@pytest.mark.parametrize(
    ("options", "players"),
    [((), "X human, O oracle:4"), (("--level", "2"), "X human, O oracle:2"), (("--o", "rules"), "X human, O rules"),
     (("--o", "oracle", "--level", "0"), "X human, O oracle:0")],
)  # fmt: skip
def test_the_usual_opponent_glances(options: tuple[str, ...], players: str) -> None:
    assert f"1000,1000,5: {players}. A move is" in printed("quit\n", *MILLION, *options)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(("--level", "5"), "the player 'oracle:5'"), (("--o", "mcts"), "the player 'mcts'"),
     (("--o", "oracle"), "the player 'oracle'"), (("--o", "gomocup:x"), "the player 'gomocup:x'")],
)  # fmt: skip
def test_a_player_that_needs_more_is_refused_in_one_line(arguments: tuple[str, ...], why: str) -> None:
    assert refused(
        piped("", *MILLION, *arguments), 2, why, "its players are human, random, rules, oracle:0 to oracle:4"
    )


@pytest.mark.parametrize("command", [["puzzle"], ["grade", "random"], ["train", "--out", "q"], ["review", RECORDED]])
def test_what_needs_an_oracle_is_refused_in_one_line(command: list[Any]) -> None:
    game = [] if command[0] == "review" else MILLION
    assert refused(piped("", *command, *game), 2, "only boards of up to 400 cells have", "its players are human")


def test_a_game_goes_on_from_a_board_and_with_o_first_and_is_resumed(home: Path) -> None:
    board = "500500O1X499497"
    out = printed("sg502\nquit\n", *MILLION, *HUMANS, "--board", board, "--first", "o")
    assert "O> " in out
    kept = next((home / "state" / "ttt4" / "games").iterdir())
    text = kept.read_text()
    assert f'[Board "{board}"]' in text
    assert '[First "O"]' in text
    record = load_record(str(kept))
    assert record.match.rules.encode(record.match.state) == "500500O1X997O498499"
    assert "X> " in printed("quit\n", "resume")


def played(seed: int) -> Record:
    """A match of random moves near each other, some of them taken back and made again, to its end."""
    rng = random.Random(seed)
    match = Match(HUGE, clock=iter(range(1_800_000_000, 1_900_000_000)).__next__)
    while not match.outcome:
        cell = (500 + rng.randrange(9)) * 1000 + 500 + rng.randrange(9)
        if HUGE.refusal(match.state, cell) is None:
            match.play(match.to_move or "", cell)
        chance = rng.random()
        if chance < 0.3 and match.moves:
            match.undo()
            if chance < 0.15:
                match.redo()
        elif chance > 0.97 and not match.outcome:
            match.resign(rng.choice(HUGE.sides))
    return Record(match, dict.fromkeys(HUGE.sides, "human"))


def test_a_record_that_is_written_is_read_back_as_text_and_as_json() -> None:
    for seed in range(15):
        record = played(seed)
        for other in (read_record(str(record)), record_from_json(json.dumps(record_as_dict(record)))):
            assert other.match.events == record.match.events
            assert other.match.states == record.match.states
            assert (other.match.outcome, other.result, other.tags) == (record.match.outcome, record.result, record.tags)


def test_reading_or_copying_a_match_copies_no_stones(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    build = Stones.__init__
    monkeypatch.setattr(Stones, "__init__", lambda stones, cells: made.append(len(cells)) or build(stones, cells))
    match = Match(HUGE)
    *cells, last = random.Random(1).sample(range(1_000_000), 1001)
    for cell in cells:
        match.play(match.to_move or "", cell)
    other = match.copy()
    other.play(other.to_move or "", last)
    match.play(match.to_move or "", last)
    str(Record(match))
    assert made == [0, 0]  # the second is an empty board that the record compares the first state with


def test_of_a_small_side_all_is_drawn() -> None:
    rules: Any = find_game("2,300,3")
    drawn = picture(rules, rules.start())
    assert "Rows 1 to 2 of 2, columns el to fd (142 to 160) of 300." in drawn
    rules = find_game("401,1,3")
    assert "Rows 194 to 208 of 401, columns a to a (1 to 1) of 1." in picture(rules, rules.start())
