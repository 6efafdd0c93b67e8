"""The brain: every command of the Gomocup protocol is answered as the protocol says, and nothing upsets it."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from brains import FirstEmpty
from hypothesis import given
from hypothesis import strategies as st

from play.gomocup.brain import Brain
from play.gomocup.clock import LEAST, UNLIMITED, USUAL, Clock
from play.gomocup.lines import LONGEST, LineCutter
from play.gomocup.places import cell_at, read_place, write_place
from play.gomocup.swap import colours, most_even, openings
from play.gomocup.thinking import message
from solver.errors import GameError
from solver.games.lines import Game, grid
from solver.games.notation import parse_game

COMMANDS = ["START", "RECTSTART", "RESTART", "BEGIN", "TURN", "BOARD", "DONE", "TAKEBACK", "INFO", "PLAY",
            "SWAP2BOARD", "ABOUT", "END", "SUGGEST", "start", ""]  # fmt: skip
RESTS = ["15", "5", "7,7", "7,7,1", "1,1,2", "0,0", "rule 0", "timeout_turn 0", "99,99", "1e9", "-1"]


class Talk:
    """A brain with an engine that plays the first empty cell, and what they say to each other."""

    def __init__(self, game: str | None = None, share: Callable[[int, int], float] = lambda own, other: 0.5) -> None:
        self.engine = FirstEmpty(share)
        self.made: list[tuple[Game, int]] = []
        self.now = 0.0
        named = parse_game(game) if game else None
        assert named is None or isinstance(named, Game)
        self.brain = Brain(self._make, named, clock=lambda: self.now)

    def _make(self, game: Game, bits: int) -> FirstEmpty:
        self.made.append((game, bits))
        return self.engine

    def __call__(self, *lines: str) -> list[str]:
        """Say some lines, and return the answers to the last, without messages."""
        for line in lines[:-1]:
            self.brain.answers(line)
        return [answer for answer in self.brain.answers(lines[-1]) if not answer.startswith("MESSAGE")]


@pytest.mark.parametrize(
    ("lines", "answer"),
    [(["START 15"], "OK"), (["START 20"], "OK"), (["RECTSTART 20,10"], "OK"), (["START 15", "RESTART"], "OK"),
     (["START 15", "BEGIN"], "0,0"), (["START 15", "TURN 0,0"], "1,0"), (["start 15", "turn 0 , 0"], "1,0"),
     (["START 15", "BEGIN", "TURN 1,0"], "2,0"), (["START 15", "BOARD", "DONE"], "0,0"),
     (["START 15", "BOARD", "0,0,1", "1,0,2", "DONE"], "2,0"),
     (["START 15", "BOARD", "0,0,2", "1,0,2", "2,0,2", "DONE"], "3,0"),
     (["START 15", "BOARD", "0,0,1", "INFO time_left 9", "1,0,2", "DONE"], "2,0"),
     (["START 15", "BEGIN", "BOARD", "1,0,2", "DONE"], "0,0"), (["START 15", "BEGIN", "TAKEBACK 0,0"], "OK"),
     (["START 15", "BEGIN", "TAKEBACK 0,0", "BEGIN"], "0,0"), (["START 15", "BEGIN", "RESTART", "BEGIN"], "0,0"),
     (["START 15", "PLAY 3,4"], "3,4"), (["START 15", "PLAY 0,0", "TURN 5,5"], "1,0"),
     (["RECTSTART 9,6", "BEGIN", "TURN 8,5"], "1,0"), (["START 15", "INFO rule 1", "INFO rule 0", "BEGIN"], "0,0")],
)  # fmt: skip
def test_a_command_has_its_answer(lines: list[str], answer: str) -> None:
    assert Talk()(*lines) == [answer]


@pytest.mark.parametrize(
    ("lines", "why"),
    [(["START 21"], "at most 400"), (["START 4"], "do not fit"), (["START 0"], ""), (["START"], "write a number"),
     (["START -5"], "write a number"), (["START 99999999999999999999"], "write a number"),
     (["START 999999999"], "at most 400"), (["RECTSTART 15"], "width,height"), (["RECTSTART 400,2"], "at most 400"),
     (["BEGIN"], "send START first"), (["TURN 1,1"], "send START first"), (["RESTART"], "send START first"),
     (["BOARD", "DONE"], "send START first"), (["SWAP2BOARD", "DONE"], "send START first"),
     (["TAKEBACK 1,1"], "send START first"), (["PLAY 1,1"], "send START first"),
     (["START 15", "BEGIN", "BEGIN"], "not empty"), (["START 15", "BEGIN", "TURN 0,0"], "a stone already"),
     (["START 15", "TURN 15,0"], "no cell '15,0'"), (["START 15", "TURN -1,0"], "no cell '-1,0'"),
     (["START 15", "TURN 7"], "no cell '7'"), (["START 15", "TURN"], "no cell ''"),
     (["START 15", "TURN 99999999999999999999,0"], "no cell"), (["START 15", "TAKEBACK 0,0"], "no stone"),
     (["START 15", "BEGIN", "PLAY 0,0"], "a stone already"),
     (["START 15", "BOARD", "0,0,1", "0,0,2", "DONE"], "a stone"),
     (["START 15", "BOARD", "0,0,3", "DONE"], "no stone '0,0,3'"), (["START 15", "BOARD", "0,0", "DONE"], "no stone"),
     (["START 15", "BOARD", "what?", "DONE"], "no stone 'what?'"),
     (["START 15", "BOARD", "15,0,1", "DONE"], "no cell"),
     (["START 15", "BOARD", *(f"{x},0,1" for x in range(5)), "DONE"], "the game is over"),
     (["START 15", "SWAP2BOARD", "1,1", "DONE"], "0, 3 or 5"),
     (["START 15", "SWAP2BOARD", "1,1", "1,1", "2,2", "DONE"], "twice"),
     (["START 15", "INFO rule 1", "BEGIN"], "rule 1 (exactly five)"),
     (["START 15", "INFO rule 4", "TURN 1,1"], "(renju)"),
     (["START 15", "INFO rule 9", "BOARD", "DONE"], "(exactly five, caro)"),
     (["START 15", "INFO rule -64", "BEGIN"], "unknown")],
)  # fmt: skip
def test_what_cannot_be_done_is_an_error_with_the_reason(lines: list[str], why: str) -> None:
    (answer,) = Talk()(*lines)
    assert answer.startswith("ERROR ")
    assert why in answer


def test_an_error_leaves_the_board_as_it_was() -> None:
    talk = Talk()
    talk("START 15", "BEGIN", "TURN 0,0", "TURN 99,0", "BOARD", "5,5,1", "5,5,2", "DONE", "TAKEBACK 9,9", "START 99")
    talk("START 15", "BEGIN", "TURN 99,0", "BOARD", "5,5,1", "5,5,2", "DONE", "TAKEBACK 9,9")
    assert talk("TURN 1,0") == ["2,0"]


def test_a_move_that_ends_the_game_is_made_and_can_be_taken_back() -> None:
    talk = Talk()
    talk("START 15", "BOARD", "9,9,1", *(f"{x},5,2" for x in range(4)), "DONE")
    assert talk("TURN 4,5") == ["ERROR the game is over: there is a line"]
    assert talk("TAKEBACK 4,5") == ["OK"]
    assert talk("TURN 6,6") == ["1,0"]


def test_a_full_board_has_no_move() -> None:
    talk = Talk("2,2,2,misere")
    assert talk("START 2", "BOARD", "0,0,1", "1,1,2", "1,0,2", "DONE") == ["ERROR the game is over: there is a line"]
    talk = Talk("3,3,3")
    stones = ["0,0,1", "1,0,2", "2,0,1", "0,1,1", "1,1,2", "2,1,2", "0,2,2", "1,2,1"]
    assert talk("START 3", "BOARD", *stones, "DONE") == ["2,2"]
    assert talk("TURN 0,0") == ["ERROR the board is full"]


@pytest.mark.parametrize("line", ["FOO", "SUGGEST 1,1", "DONE", "7,7", "YXSHOWINFO", "??", "MESSAGE hello"])
def test_what_is_no_command_is_unknown(line: str) -> None:
    (answer,) = Talk()("START 15", line)
    assert answer.startswith("UNKNOWN ")


@pytest.mark.parametrize(
    "info",
    ["timeout_turn 9", "timeout_match 0", "time_left -77", "max_memory 99", "rule 4", "game_type 2", "folder /tmp",
     "evaluate 7,7", "new_key x", "timeout_turn x", "rule", "", "timeout_turn 99999999999999999999999"],
)  # fmt: skip
def test_information_is_never_answered(info: str) -> None:
    assert Talk()("START 15", f"INFO {info}") == []


def test_a_board_that_is_not_ended_gives_way_to_the_next_command_with_one_error() -> None:
    talk = Talk()
    said = talk("START 15", "BOARD", "1,1,1", "TURN 0,0")
    assert said == ["ERROR the stones did not end with DONE", "1,0"]


def test_stones_without_end_are_one_error_in_bounded_memory() -> None:
    talk = Talk()
    talk("START 15", "BOARD")
    for number in range(2_000):
        assert talk(f"{number % 15},{number // 15 % 15},1") == []
    (answer,) = talk("DONE")
    assert answer == "ERROR there is a stone already"


@pytest.mark.parametrize(
    ("game", "start", "answer"),
    [("6,6,4", "START 6", "OK"), ("6,6,4", "START 15", "ERROR this brain plays 6,6,4 only, on 6 by 6 cells"),
     ("4,7,4", "RECTSTART 7,4", "OK"),
     ("4,7,4", "RECTSTART 4,7", "ERROR this brain plays 4,7,4 only, on 7 by 4 cells")],
)  # fmt: skip
def test_a_game_that_was_named_is_played_on_its_own_board_only(game: str, start: str, answer: str) -> None:
    talk = Talk(game)
    assert talk(start) == [answer]
    assert [made.name for made, _ in talk.made] == ([game] if answer == "OK" else [])


def test_a_refusal_of_the_engine_is_an_error() -> None:
    def make(game: Game, bits: int) -> FirstEmpty:
        raise GameError("too large for the engine")

    assert Brain(make).answers("START 15") == ["ERROR too large for the engine"]


def test_a_named_board_is_measured_by_its_cells_and_not_by_its_holes(tmp_path: Path) -> None:
    rows = [".".ljust(29) + "." if row in (0, 29) else "" for row in range(30)]
    file = tmp_path / "corners.toml"
    file.write_text(f'about = "x"\nboard = {json.dumps(rows)}\nlines = ["a1 ad1 a30"]\n')
    assert Talk(str(file))("START 30") == ["OK"]
    assert Talk()("START 30") == ["ERROR the board is too large: at most 400 cells"]


def test_a_failure_of_the_engine_is_an_error_in_one_line() -> None:
    talk = Talk(share=lambda own, other: 1 // 0)
    assert talk("START 15", "BEGIN") == ["ERROR ZeroDivisionError: integer division or modulo by zero"]


def test_an_engine_is_made_once_a_board_and_forgets_between_matches() -> None:
    talk = Talk()
    talk("START 15", "BEGIN", "RESTART", "START 15", "START 20", "START 15")
    assert [game.name for game, _ in talk.made] == ["15,15,5", "20,20,5", "15,15,5"]
    assert talk.engine.forgot == 2


@pytest.mark.parametrize(("memory", "bits"), [(0, 20), (367001600, 20), (83886080, 20), (1 << 20, 14), (1, 12)])
@pytest.mark.parametrize("before", [True, False])
def test_the_engine_takes_a_quarter_of_the_memory_for_its_table_at_the_most(
    memory: int, bits: int, before: bool
) -> None:
    talk, info = Talk(), f"INFO max_memory {memory}"
    talk(*([info, "START 15"] if before else ["START 15", info]))
    assert talk.made[-1][1] == bits


def test_too_small_a_memory_is_told_once_with_the_next_move() -> None:
    talk = Talk()
    talk("START 15", "INFO max_memory 1000000")
    first, second = talk.brain.answers("BEGIN"), talk.brain.answers("TURN 5,5")
    assert "more than max_memory allows" in first[0]
    assert not any("memory" in line for line in second)


def test_a_message_tells_depth_estimate_and_line() -> None:
    told = Talk().brain
    told.answers("START 15")
    assert told.answers("BEGIN") == ["MESSAGE depth 3, expects 50% of the points, 7 nodes, line 0,0", "0,0"]
    thought = FirstEmpty().think(0, 0)._replace(win=-4, line=(16, 0))
    assert message(grid(15, 15, 5), thought).endswith("points, believes to lose in 4 plies, 7 nodes, line 1,1 0,0")


def clocked(**limits: int) -> Clock:
    clock = Clock()
    for key, value in limits.items():
        clock.set(key, value)
    return clock


@given(st.integers(1, 100_000), st.integers(0, 200))
def test_a_move_takes_less_than_the_limit_of_a_turn_and_most_of_a_long_one(turn: int, moves: int) -> None:
    seconds = clocked(timeout_turn=turn).seconds(moves)
    assert seconds <= max(LEAST, turn / 1000 / 2) or seconds <= turn / 1000 - 0.05
    assert turn < 1000 or seconds > 0.9 * turn / 1000


@pytest.mark.parametrize(
    ("limits", "seconds"),
    [({}, USUAL), ({"timeout_turn": 0}, LEAST), ({"timeout_turn": -5}, LEAST), ({"time_left": 0}, LEAST),
     ({"timeout_turn": 5000, "time_left": -1000}, LEAST), ({"timeout_turn": 1000, "time_left": UNLIMITED}, 1.0),
     ({"timeout_turn": 1000, "timeout_match": 0}, 1.0), ({"time_left": 300_000}, 10.0),
     ({"timeout_turn": 30_000, "timeout_match": 180_000}, 6.0),
     ({"timeout_match": 180_000, "time_left": 90_000}, 3.0)],
)  # fmt: skip
def test_a_first_move_takes_about_so_long(limits: dict[str, int], seconds: float) -> None:
    assert seconds * 0.9 <= clocked(**limits).seconds(0) <= seconds


@given(st.integers(1, 600_000))
def test_the_time_of_a_match_lasts_for_a_long_game(left: int) -> None:
    clock, rest = Clock(), float(left)
    for move in range(150):
        clock.set("time_left", int(rest))
        rest -= 1000 * clock.seconds(move)
    assert rest > -2 * 150 * 1000 * LEAST


def test_a_match_limit_alone_is_counted_by_the_brain_itself() -> None:
    clock = clocked(timeout_match=60_000)
    clock.spent = 59.0
    assert clock.seconds(0) < 0.05


def test_time_spent_before_a_command_is_heard_is_taken_off_its_thought() -> None:
    talk = Talk()
    talk("START 15", "INFO timeout_turn 1000")
    talk.now = 10.4
    talk.brain.answers("BEGIN", 10.0)
    assert talk.engine.seconds == [pytest.approx(0.52)]


@pytest.mark.parametrize("size", [5, 8, 10, 15, 20])
def test_the_three_stones_of_swap2_are_those_that_promise_both_sides_as_much(size: int) -> None:
    game = grid(size, size, 5)
    favoured = openings(game)[-1]
    talk = Talk(share=lambda own, other: 0.52 if (own, other) == colours(favoured) else 0.7)
    (answer,) = talk(f"START {size}", "SWAP2BOARD", "DONE")
    assert answer == " ".join(write_place(game, cell) for cell in favoured)
    assert most_even(game, lambda own, other: 0.5) == openings(game)[0]
    x, y = divmod(favoured[0], size)
    (reply,) = talk("TURN 3,2" if (3, 2) not in {(y, x)} else "TURN 2,2")
    assert read_place(reply), "whoever placed them has the first colour, if the other side stays"


@pytest.mark.parametrize("stones", [["7,7", "8,7", "9,9"], ["7,7", "8,7", "9,9", "8,8", "8,6"]])
@pytest.mark.parametrize(("share", "answer"), [(0.9, "0,0"), (0.5, "0,0"), (0.49, "SWAP"), (0.1, "SWAP")])
def test_the_colour_that_promises_more_is_taken(stones: list[str], share: float, answer: str) -> None:
    talk = Talk(share=lambda own, other: share)
    assert talk("START 15", "SWAP2BOARD", *stones, "DONE") == [answer]
    own, other = talk.engine.asked[-1]
    assert (own.bit_count(), other.bit_count()) == (len(stones) // 2, len(stones) // 2 + 1)


@given(st.lists(st.tuples(st.sampled_from(COMMANDS), st.text(max_size=12) | st.sampled_from(RESTS)), max_size=30))
def test_whatever_a_manager_says_the_answers_are_few_short_lines(said: list[tuple[str, str]]) -> None:
    # Feature: large boards, Property: a hostile manager gets at most a move, an error and a message
    talk = Talk()
    for word, rest in said:
        answers = talk.brain.answers(f"{word} {rest}")
        assert len(answers) <= 4
        assert all(answer.isprintable() and 0 < len(answer) < 300 for answer in answers)
        assert word.upper() != "INFO" or answers == []


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=9))
def test_lines_are_the_same_however_the_bytes_arrive(data: bytes, cuts: list[int]) -> None:
    whole, parts = LineCutter(), LineCutter()
    places = [0, *sorted(cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(places)]
    joined = b"".join(pieces)
    assert [line for piece in pieces for line in parts.cut(piece)] == whole.cut(joined)
    assert whole.rest == parts.rest
    assert all(line.isascii() and line.isprintable() for line in LineCutter().cut(data + b"\n"))


def test_a_line_without_end_is_cut_off() -> None:
    cutter = LineCutter()
    for _ in range(1000):
        assert cutter.cut(b"x" * 65536) == []
    assert cutter.cut(b"\r\nBEGIN\r\nEND\n") == ["x" * LONGEST, "BEGIN", "END"]


@pytest.mark.parametrize(
    ("text", "place"),
    [("7,8", (7, 8)), (" 7 , 8 ", (7, 8)), ("7,8,1", None), ("a,b", None), ("7", None), ("", None), ("-1,2", None),
     ("1" * 10 + ",2", None)],
)  # fmt: skip
def test_a_place_is_two_numbers(text: str, place: tuple[int, int] | None) -> None:
    assert read_place(text) == place


def test_a_place_is_column_and_row() -> None:
    game = grid(6, 9, 5)
    assert cell_at(game, (8, 1)) == 17
    assert write_place(game, 17) == "8,1"
    assert cell_at(game, (9, 1)) is cell_at(game, (0, 6)) is None
    assert all(cell_at(game, read_place(write_place(game, cell)) or (99, 99)) == cell for cell in range(game.cells))
