"""A duel from its first tile to its count: at the prompt, in records, kept and resumed, reviewed, and in the arena."""

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import naive
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kinds import duel_twin
from matches import DUELS, records, seen
from sessions import KEPT, Start, piped, printed

from oracle.grading import BEST, DRAW_LOST, GAVE_WIN, LARGER, SMALLER, WIN_LOST
from oracle.oracle import Oracle
from play.cli.main import main
from play.match import Match
from play.records.json_form import record_as_dict, record_from_json
from play.records.text import Record, RecordError, read_record
from play.review import review_match
from solver.games.duel import Duel
from solver.games.duel_rules import DuelRules
from solver.proof.build import build_store

pytestmark = pytest.mark.usefixtures("home")

GAME = ["--game", "duel,3,3"]
HUMANS = [*GAME, "--x", "human", "--o", "human"]
LIVE = [*HUMANS, "--live"]
RULES = DuelRules(Duel(3, 3))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(build_store(Duel(3, 3), tmp_path_factory.mktemp("duel") / "3x3", jobs=2).path)


def drawn(said: str) -> list[str]:
    """Every board that was drawn, as its rows joined."""
    rows = re.findall(r"^ +\d+ (.*)$", click.unstyle(said), re.M)
    marks = ["".join(re.findall(r"[RG.]", row)) for row in rows]
    return ["/".join(marks[at : at + 3]) for at in range(0, len(marks) - 2, 3)]


def counted(said: str) -> list[tuple[int, int]]:
    return [(int(red), int(green)) for red, green in re.findall(r"^Tiles: R (\d+), G (\d+)$", said, re.M)]


def boards_of(moves: list[str], begun: str = ".........") -> list[str]:
    """The boards of a game of 3x3 by the twin."""
    duel, boards = naive.Duel(3, 3), [begun]
    for move in moves:
        boards.append(naive.placed(duel, boards[-1], RULES.read(move), naive.turn(boards[-1])))
    return ["/".join((board[:3], board[3:6], board[6:])) for board in boards]


@given(records(DUELS))
# Feature: infinity-grid-duel, Property 31: Records Read Back As Text
def test_a_record_that_is_written_as_text_is_read_back(record: Record) -> None:
    text = str(record)
    assert seen(read_record(text)) == seen(record)
    assert str(read_record(text)) == text


@given(records(DUELS))
# Feature: infinity-grid-duel, Property 32: Records Read Back As JSON
def test_a_record_that_is_written_as_json_is_read_back(record: Record) -> None:
    fields = record_as_dict(record)
    again = record_from_json(json.dumps(fields))
    assert seen(again) == seen(record)
    assert record_as_dict(again) == fields
    rules: Any = record.match.rules
    duel = naive.Duel(rules.game.rows, rules.game.columns)
    boards = [rules.encode(state).replace("/", "") for state in record.match.states]
    assert fields["captured"] == [
        len(naive.captures(duel, board, move, naive.turn(board)))
        for board, move in zip(boards, record.match.moves, strict=False)
    ]


@given(records(DUELS))
# Feature: infinity-grid-duel, Property 33: The Result Follows From The Count
def test_the_result_in_a_record_is_1_0_if_red_has_won(record: Record) -> None:
    outcome = record.match.outcome
    winner = outcome.winner if outcome else "nobody yet"
    assert record.result == {"R": "1-0", "G": "0-1", None: "1/2-1/2", "nobody yet": "*"}[winner]
    assert str(record).split()[-1] == record.result


def test_a_record_names_the_players_of_red_and_green_and_what_was_captured() -> None:
    match = Match(RULES)
    for side, move in (("R", "b2"), ("G", "a2"), ("R", "c2")):
        match.play(side, RULES.read(move))
    text = str(Record(match, {"R": "human", "G": "oracle"}))
    assert re.sub(r"\[Times .*\n", "", text) == (
        '[Game "duel,3,3"]\n[R "human"]\n[G "oracle"]\n[Result "*"]\n\n1. b2 a2x1\n2. c2x1 *\n'
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\n1. b2 a2x2 *", "line 3: 'a2x2': it captures 1, not 2"),
        ("\n1. b2x1 *", "line 3: 'b2x1': it captures 0, not 1"),
        ("\n1. b2 b2 *", "line 3: 'b2': cell 'b2' is taken"),
        ("\n1. a1 c3\n2. c2 *", "line 4: 'c2': cell 'c2' is not next to a tile of R: b1, a2 are"),
        ("\n1. b2 d4 *", "line 3: 'd4': no cell 'd4'"),
        ("\n1. b2 X-resigns", "'X-resigns': no side 'X': there are R, G"),
        ("\n1. b2 a2 1/2-1/2", "the result is 1/2-1/2, but the board shows *"),
        ('[First "G"]\n\n*', "has rules that say who begins"),
    ],
)
def test_a_record_of_no_possible_game_is_refused_with_its_line(text: str, why: str) -> None:
    with pytest.raises(RecordError) as refusal:
        read_record(f'[Game "duel,3,3"]\n{text}\n')
    assert why in str(refusal.value)
    assert len(str(refusal.value).splitlines()) == 1


@pytest.mark.parametrize("moves", ["1. b2 a2 *", "1. b2 a2x1 *", "1. b2x0 a2x1 *"])
def test_a_record_may_say_what_was_captured_or_not(moves: str) -> None:
    record = read_record(f'[Game "duel,3,3"]\n\n{moves}\n')
    assert [RULES.write(move) for move in record.match.moves] == ["b2", "a2"]


@pytest.mark.parametrize("seed", range(5))
def test_two_machines_play_a_game_to_its_end(seed: int, run: Callable[..., Any]) -> None:
    ran = run(main, *GAME, "--x", "random", "--o", "random", "--seed", seed, "--live")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("duel,3,3: R random, G random.\n")
    plays = re.findall(r"^([RG]) plays ([abc][123])(?: and captures (\d))?\.$", ran.out, re.M)
    assert [side for side, _, _ in plays] == list("RGRGRGRGR")
    boards = boards_of([move for _, move, _ in plays])
    assert drawn(ran.out) == boards
    assert counted(ran.out) == [(board.count("R"), board.count("G")) for board in boards]
    for (side, move, captured), before in zip(plays, boards, strict=False):
        expected = naive.captures(naive.Duel(3, 3), before.replace("/", ""), RULES.read(move), side)
        assert int(captured or 0) == len(expected)
    red, green = counted(ran.out)[-1]
    winner = "R" if red > green else "G"
    assert re.search(rf"^{winner} has won: {max(red, green)} tiles? to {min(red, green)}\.$", ran.out, re.M)
    assert "R made 5 moves: " in ran.out


def test_a_person_s_captures_are_told_too() -> None:
    out = printed("b2\na2\nc2\nquit\n", *LIVE)
    said = re.split(r"[RG]> ", out)
    assert "captures" not in said[1]
    assert said[2].startswith("G plays a2 and captures 1.\n")
    assert said[3].startswith("R plays c2 and captures 1.\n")
    assert counted(out) == [(0, 0), (1, 0), (0, 2), (2, 1)]
    assert out.endswith(KEPT)


def test_a_game_is_replayed_step_by_step_as_json_and_listed(games: Path) -> None:
    piped("b2\na2\nc2\n", *LIVE)
    (path,) = games.iterdir()
    out = printed("", "replay")
    assert drawn(out) == boards_of(["b2", "a2", "c2"])
    assert counted(out) == [(0, 0), (1, 0), (0, 2), (2, 1)]
    assert re.findall(r"([RG]) plays (\w\d)( and captures \d)?\.", out) == [
        ("R", "b2", ""), ("G", "a2", " and captures 1"), ("R", "c2", " and captures 1"),
    ]  # fmt: skip
    record = json.loads(piped("", "replay", path, "--json").stdout)
    assert (record["game"], record["moves"], record["captured"]) == ("duel,3,3", ["b2", "a2", "c2"], [0, 1, 1])
    assert (record["state"], record["to_move"], record["tags"]["R"]) == (".../GRR/...", "G", "human")
    assert json.loads(printed("", "games", "--json"))["players"] == {"R": "human", "G": "human"}


def words(score: int, side: str) -> str:
    winner = side if score > 0 else naive.rival(side)
    return f"{winner} wins by {abs(score)}" if score else "a draw"


@pytest.mark.parametrize("given_as", ["live", "store"])
@pytest.mark.parametrize("moves", [[], ["b2"], ["b2", "a2"], ["a1", "c3", "b1", "b3"]])
def test_hint_and_show_tell_the_margins(moves: list[str], given_as: str, store: Path) -> None:
    given = ["--live"] if given_as == "live" else ["--store", store]
    out = printed("\n".join([*moves, "hint", "show", "quit\n"]), *HUMANS, *given)
    board = boards_of(moves)[-1]
    moves_scored = duel_twin("duel,3,3").move_scores(board.replace("/", ""))
    side, scores = naive.turn(board), {RULES.write(cell): score for cell, score in moves_scored}
    best = max(scores.values())
    said = re.split(r"[RG]> ", out)
    hint = re.fullmatch(r"The oracle would play (\w\d): (.*)\.\n", said[len(moves) + 1])
    assert scores[hint[1]] == best
    assert hint[2] == words(best, side)
    show = said[len(moves) + 2]
    rows = re.findall(r"^ +\d+ (.*)$", show, re.M)
    notes = [note for row in rows for note in re.sub(r"[][*]", " ", row).split()]
    for name, note in zip(map(RULES.write, range(9)), notes, strict=True):
        assert note == (f"{scores[name]:+}" if scores[name] else "=") if name in scores else note in "RG."
    assert f"{side} to move: {words(best, side)}. +n wins by n, = draws, -n loses by n." in " ".join(show.split())


def grade(best: int, score: int) -> str:
    if best == score:
        return BEST
    if (best > 0) == (score > 0) and (best < 0) == (score < 0):
        return SMALLER if best > 0 else LARGER
    return GAVE_WIN if score == 0 else DRAW_LOST if best == 0 else WIN_LOST


@cache
def live_oracle(name: str) -> Oracle:
    return Oracle(name, live=True, seconds=60)


@pytest.mark.parametrize("size", [(3, 3), (2, 3), (2, 4)])
@given(data=st.data())
# Feature: infinity-grid-duel, Property 34: Reviews Grade By Exact Margins
def test_every_move_of_a_match_is_graded_by_its_exact_margin(size: tuple[int, int], data: st.DataObject) -> None:
    duel, rules = naive.Duel(*size), DuelRules(Duel(*size))
    match = Match(rules)
    for choice in data.draw(st.binary(max_size=duel.cells)):
        legal = rules.legal(match.state)
        if legal:
            match.play(match.to_move or "", legal[choice % len(legal)])
    review = review_match(live_oracle(rules.name), match)
    assert (review.exact, len(review.moves)) == (True, len(match.moves))
    turning = None
    for graded, (before, after), move in zip(review.moves, pairwise(match.states), match.moves, strict=False):
        board, child = (rules.encode(state).replace("/", "") for state in (before, after))
        side = naive.turn(board)
        best, score = naive.margin(duel, board, side), -naive.margin(duel, child, naive.rival(side))
        assert (graded.side, graded.move, graded.before, graded.after) == (side, rules.write(move), best, score)
        assert graded.grade == grade(best, score)
        assert graded.outcome == words(score, side)
        if (best > 0) != (score > 0) or (best < 0) != (score < 0):
            turning = graded
        better = [rules.write(cell) for cell, each in duel_twin(rules.name).move_scores(board) if each == best]
        assert graded.better == (tuple(better) if score < best else ())
    assert review.turning_point == turning


def test_review_and_why_list_the_moves_with_their_margins(store: Path) -> None:
    out = printed("b2\na2\nwhy\nreview\nquit\n", *HUMANS, "--store", store)
    why, review = re.split(r"[RG]> ", out)[3:5]
    assert "1. R b2: smaller win, R wins by 1. " in why
    assert "1. G a2: larger loss, R wins by 3. " in why
    assert review.startswith(why)
    assert "R made 1 move: 0 best, 0 that changed the outcome." in review
    assert printed("", "review", "--store", store).endswith(review)


def test_help_lists_what_a_duel_has_and_no_lines() -> None:
    said = re.split(r"[RG]> ", printed("help\nlines\nresign\nresign\nquit\n", *LIVE))
    named = re.findall(r"^  (\w+) ", said[1], re.M)
    assert {"undo", "redo", "hint", "show", "why", "review", "save", "resign", "help", "quit"} <= set(named)
    assert "lines" not in named
    assert said[1].startswith("A move is b2 or 2 2. Besides:\n")
    assert said[2] == "Duel,3,3 has no lines.\n"
    assert said[4].startswith("G has won: R resigned.\n")


def test_the_arena_has_a_table_of_a_duel_by_its_own_sides(store: Path) -> None:
    table = printed("", "arena", *GAME, "--x", "oracle", "--o", "random", "--games", 5, "--store", store)
    assert re.search(r"^oracle R +100\.0 ", table, re.M)


def test_sides_are_told_apart_without_colour_and_with_it_not_by_colour_alone(start: Start) -> None:
    written = []
    for env in ({}, {"NO_COLOR": "1"}, {"TERM": "dumb"}):
        session = start(*LIVE, **env)
        for line in ("a1", "c3", "quit"):
            session.type(line)
        assert session.ended() == 0
        written.append(session.written)
    coloured, plain, dumb = written
    assert "\x1b[" not in plain
    assert "\x1b[" not in dumb
    for said in written:
        assert drawn(said)[-1] == "R../.../..G"
    looks = {mark: re.findall(rf"\x1b\[([\d;]+)m(?:\x1b\[([\d;]+)m)?(?:\x1b\[([\d;]+)m)?{mark}\x1b", coloured)
             for mark in "RG"}  # fmt: skip
    assert looks["R"]
    assert looks["G"]
    codes = {mark: {code for look in looks[mark] for each in look for code in each.split(";") if code} for mark in "RG"}
    assert codes["R"] & {"1", "4", "7"} != codes["G"] & {"1", "4", "7"}
