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
from sessions import KEPT, Start, piped, printed, refused

from oracle.grading import BEST, DRAW_LOST, GAVE_WIN, LARGER, SMALLER, WIN_LOST
from oracle.oracle import Oracle
from play.arena import Roster, find_game, meet
from play.cli.main import main
from play.match import Match, MatchError
from play.records.json_form import record_as_dict, record_from_json
from play.records.text import Record, RecordError, read_record
from play.review import review_match
from solver.games.duel import Duel
from solver.games.duel_rules import DuelRules, DuelState
from solver.games.rules import set_up
from solver.proof.build import build_store

pytestmark = pytest.mark.usefixtures("home")

GAME = ["--game", "duel,3,3"]
HUMANS = [*GAME, "--x", "human", "--o", "human"]
LIVE = [*HUMANS, "--live"]
RULES = DuelRules(Duel(3, 3))
WHOLE = ["b2", "a2", "c2", "a3", "b3", "a1", "b1", "c1", "c3"]
"""A whole game of 3x3, with captures."""


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


def match_of(moves: list[str], board: str | None = None) -> Match[DuelState]:
    match = Match(RULES, None if board is None else set_up(RULES, board))
    for move in moves:
        match.play(match.to_move or "", RULES.read(move))
    return match


@st.composite
def records(draw: st.DrawFn) -> Record:
    """A record of a duel of any small size, with events of every kind."""
    rules = DuelRules(Duel(draw(st.integers(1, 4)), draw(st.integers(1, 5))))
    begun = Match(rules)
    for step in draw(st.lists(st.integers(0, 99), max_size=3)):
        if rules.legal(begun.state):
            begun.play(begun.to_move or "", rules.legal(begun.state)[step % len(rules.legal(begun.state))])
    while begun.outcome:
        begun.undo()
    match = Match(rules, set_up(rules, rules.encode(begun.state)), clock=lambda: None)
    kinds = st.one_of(st.integers(0, 99), st.sampled_from(["undo", "redo", "over", "R", "G", "forfeit"]))
    steps: list[Any] = draw(st.lists(kinds, max_size=30))
    for step in steps:
        legal = rules.legal(match.state)
        try:
            if isinstance(step, int):
                match.play(match.to_move or "", legal[step % len(legal)] if legal else 0)
            elif step in ("R", "G"):
                match.resign(step)
            elif step == "forfeit":
                match.forfeit("G", "too slow")
            else:
                {"undo": match.undo, "redo": match.redo, "over": match.start_over}[step]()
        except MatchError:
            continue
    return Record(match, draw(st.sampled_from([{}, {"R": "human", "G": "oracle"}])))


def seen(record: Record) -> tuple[object, ...]:
    match = record.match
    return match.rules, match.states, match.moves, match.events, match.outcome, record.tags, record.remarks


@given(records())
# Feature: infinity-grid-duel, Property 31: Records Read Back As Text
def test_a_record_that_is_written_as_text_is_read_back(record: Record) -> None:
    text = str(record)
    assert seen(read_record(text)) == seen(record)
    assert str(read_record(text)) == text


@given(records())
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


@given(records())
# Feature: infinity-grid-duel, Property 33: The Result Follows From The Count
def test_the_result_in_a_record_is_1_0_if_red_has_won(record: Record) -> None:
    outcome = record.match.outcome
    winner = outcome.winner if outcome else "nobody yet"
    assert record.result == {"R": "1-0", "G": "0-1", None: "1/2-1/2", "nobody yet": "*"}[winner]
    assert str(record).split()[-1] == record.result


def test_a_record_names_the_players_of_red_and_green_and_what_was_captured() -> None:
    text = str(Record(match_of(["b2", "a2", "c2"]), {"R": "human", "G": "oracle"}))
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


def test_a_game_is_played_at_the_prompt_to_its_end_and_counted() -> None:
    out = printed("\n".join([*WHOLE, "b3", "undo\n"]), *LIVE)
    boards = boards_of(WHOLE)
    assert drawn(out) == [*boards, boards[-2]]
    red, green = boards[-1].count("R"), boards[-1].count("G")
    winner = "R" if red > green else "G"
    before, after = out.split(f"\n{winner} has won: {max(red, green)} tiles to {min(red, green)}.\n")
    assert "R made 5 moves: " in after
    assert "G made 4 moves: " in after
    assert "> Nothing to play: the game is over; undo takes a move back, new begins another." in after
    assert re.search(r"\nR> \nThe game is kept", after)
    assert not re.search("has won|can be completed", before)


def test_a_person_s_captures_are_told_too() -> None:
    ran = piped("b2\na2\nc2\nquit\n", *LIVE)
    said = re.split(r"[RG]> ", ran.stdout)
    assert "captures" not in said[1]
    assert said[2].startswith("G plays a2 and captures 1.\n")
    assert said[3].startswith("R plays c2 and captures 1.\n")
    assert counted(ran.stdout) == [(0, 0), (1, 0), (0, 2), (2, 1)]
    assert ran.stdout.endswith(KEPT)


def test_several_captures_at_once_are_counted() -> None:
    duel = naive.Duel(3, 3)
    board, cell = next(
        (board, cell)
        for board in sorted(naive.duel_reachable(duel))
        if board.count(".") > 2
        for cell in naive.placings(duel, board, naive.turn(board))
        if len(naive.captures(duel, board, cell, naive.turn(board))) == 3
    )
    text = "/".join((board[:3], board[3:6], board[6:]))
    ran = piped(f"{RULES.write(cell)}\nquit\n", *LIVE, "--board", text)
    assert f"{naive.turn(board)} plays {RULES.write(cell)} and captures 3.\n" in ran.stdout


@pytest.mark.parametrize(
    ("typed", "word", "why"),
    [
        ([], "d1", "No cell 'd1' on a duel,3,3 board: cells run from 'a1' to 'c3'."),
        ([], "4 1", "No cell in row 4, column 1: rows go from 1 to 3, columns from 1 to 3."),
        (["b2"], "b2", "Cell 'b2' is taken: choose an empty one."),
        (["a1", "c3"], "c1", "Cell 'c1' is not next to a tile of R: b1, a2 are."),
        (["a1", "c3", "b1"], "a3", "Cell 'a3' is not next to a tile of G: c2, b3 are."),
    ],
)
def test_a_wrong_move_is_refused_in_the_game_s_own_words(typed: list[str], word: str, why: str) -> None:
    ran = piped("\n".join([*typed, word, "quit\n"]), *LIVE)
    said = " ".join(re.split(r"[RG]> ", ran.stdout)[len(typed) + 1].split())
    assert said.startswith(why)
    assert len(drawn(ran.stdout)) == len(typed) + 1


@pytest.mark.parametrize("typed", ["2 2", "2,2", "B2", " b2 "])
def test_a_move_is_typed_as_a_name_or_a_row_and_a_column(typed: str) -> None:
    assert drawn(piped(f"{typed}\nquit\n", *LIVE).stdout)[-1] == ".../.R./..."


def test_moves_are_taken_back_made_again_and_begun_anew() -> None:
    ran = piped("b2\na2\nc2\nundo\nundo\nredo\nredo\nrestart\na1\nnew\nresign\n", *LIVE)
    one, two, three, four = boards_of(["b2", "a2", "c2"])
    expected = [one, two, three, four, three, two, three, four, one, "R../.../...", one]
    assert drawn(ran.stdout)[: len(expected)] == expected
    assert "\nR> G has won: R resigned.\n" in ran.stdout


@pytest.mark.parametrize("count", [1, 3, 6])
def test_an_abandoned_game_is_resumed_with_its_moves(count: int, abandon: Callable[..., None], games: Path) -> None:
    abandon(WHOLE[:count], *LIVE)
    out = printed("undo\nredo\nquit\n", "resume", "--live")
    assert out.startswith("Continuing the game of ")
    boards = boards_of(WHOLE[:count])
    assert drawn(out) == [boards[-1], boards[-2], boards[-1]]
    (path,) = games.iterdir()
    assert [RULES.write(move) for move in read_record(path.read_text()).match.moves] == WHOLE[:count]


def test_a_game_is_replayed_step_by_step_as_json_and_listed(games: Path) -> None:
    piped("b2\na2\nc2\n", *LIVE)
    (path,) = games.iterdir()
    ran = piped("", "replay")
    assert (ran.returncode, ran.stderr, drawn(ran.stdout)) == (0, "", boards_of(["b2", "a2", "c2"]))
    assert counted(ran.stdout) == [(0, 0), (1, 0), (0, 2), (2, 1)]
    assert re.findall(r"([RG]) plays (\w\d)( and captures \d)?\.", ran.stdout) == [
        ("R", "b2", ""), ("G", "a2", " and captures 1"), ("R", "c2", " and captures 1"),
    ]  # fmt: skip
    record = json.loads(piped("", "replay", path, "--json").stdout)
    assert (record["game"], record["moves"], record["captured"]) == ("duel,3,3", ["b2", "a2", "c2"], [0, 1, 1])
    assert (record["state"], record["to_move"], record["tags"]["R"]) == (".../GRR/...", "G", "human")
    listed = json.loads(piped("", "games", "--json").stdout)
    assert (listed["game"], listed["players"]) == ("duel,3,3", {"R": "human", "G": "human"})
    assert (listed["moves"], listed["result"], listed["can_go_on"]) == (3, "*", True)


BEGUN = "R../.../..G"


def test_a_game_can_start_from_a_board(games: Path) -> None:
    ran = piped("a2\nundo\nb1\nrestart\nnew\n", *LIVE, "--board", BEGUN.lower())
    assert drawn(ran.stdout) == [BEGUN, "R../R../..G", BEGUN, "RR./.../..G", BEGUN, BEGUN]
    path = next(iter(sorted(games.iterdir())))
    assert f'[Board "{BEGUN}"]' in path.read_text()


@pytest.mark.parametrize(
    ("board", "why"),
    [("RRR/RGR/RGG", "is a finished game: 6 tiles to 3"), ("G../.../...", "has no tile of R, which moved last"),
     ("X../.../...", "'X'"), ("R../...", "3 rows of 3"), ("RG./.../...", "no tile of G that can be the last"),
     ("", "0 cells")],
)  # fmt: skip
def test_a_board_on_which_nobody_can_move_is_refused(board: str, why: str) -> None:
    assert refused(piped("", *LIVE, "--board", board), 2, repr(board), why)


def test_the_duel_is_named_in_any_case_and_its_board_is_6_by_6_by_default() -> None:
    out = printed("f6\nquit\n", "--game", "DUEL, 6, 6", "--x", "human", "--o", "human", "--live")
    assert out.startswith("duel: R human, G human.")
    assert re.findall(r"\[(R)\]$", out, re.M) == ["R"]


def naive_scores(board: str) -> dict[str, int]:
    """The margin of each move, for the side that makes it."""
    duel, board = naive.Duel(3, 3), board.replace("/", "")
    side = naive.turn(board)
    return {
        RULES.write(cell): -naive.margin(duel, naive.placed(duel, board, cell, side), naive.rival(side))
        for cell in naive.placings(duel, board, side)
    }


def words(score: int, side: str) -> str:
    winner = side if score > 0 else naive.rival(side)
    return f"{winner} wins by {abs(score)}" if score else "a draw"


@pytest.mark.parametrize("given_as", ["live", "store"])
@pytest.mark.parametrize("moves", [[], ["b2"], ["b2", "a2"], ["a1", "c3", "b1", "b3"]])
def test_hint_and_show_tell_the_margins(moves: list[str], given_as: str, store: Path) -> None:
    given = ["--live"] if given_as == "live" else ["--store", store]
    out = printed("\n".join([*moves, "hint", "show", "quit\n"]), *HUMANS, *given)
    board = boards_of(moves)[-1]
    side, scores = naive.turn(board), naive_scores(board)
    best = max(scores.values())
    said = re.split(r"[RG]> ", out)
    hint = re.fullmatch(r"The oracle would play (\w\d): (.*)\.\n", said[len(moves) + 1])
    assert scores[hint[1]] == best
    assert hint[2] == words(best, side)
    show = said[len(moves) + 2]
    rows = re.findall(r"^ +\d+ (.*)$", show, re.M)
    notes = [note for row in rows for note in re.sub(r"[][*]", " ", row).split()]
    for cell, note in enumerate(notes):
        name = RULES.write(cell)
        if name in scores:
            assert note == (f"{scores[name]:+}" if scores[name] else "=")
        else:
            assert note in "RG."
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
        better = [
            rules.write(cell)
            for cell in naive.placings(duel, board, side)
            if -naive.margin(duel, naive.placed(duel, board, cell, side), naive.rival(side)) == best
        ]
        assert graded.better == (tuple(better) if score < best else ())
    assert review.turning_point == turning


def test_review_and_why_list_the_moves_with_their_margins(store: Path) -> None:
    out = printed("b2\na2\nwhy\nreview\nquit\n", *HUMANS, "--store", store)
    why, review = re.split(r"[RG]> ", out)[3:5]
    assert "1. R b2: smaller win, R wins by 1. " in why
    assert "1. G a2: larger loss, R wins by 3. " in why
    assert review.startswith(why)
    assert "R made 1 move: 0 best, 0 that changed the outcome." in review
    command = piped("", "review", "--store", store)
    assert (command.returncode, command.stderr) == (0, "")
    assert command.stdout.endswith(review)


def test_help_lists_what_a_duel_has_and_no_lines() -> None:
    said = re.split(r"[RG]> ", piped("help\nlines\nquit\n", *LIVE).stdout)
    named = re.findall(r"^  (\w+) ", said[1], re.M)
    assert {"undo", "redo", "hint", "show", "why", "review", "save", "resign", "help", "quit"} <= set(named)
    assert "lines" not in named
    assert said[1].startswith("A move is b2 or 2 2. Besides:\n")
    assert said[2] == "Only games of lines have lines to list, and duel,3,3 is not one.\n"


@pytest.mark.parametrize("words", [["--first", "O"], ["--o", "rules"], ["--x", "rules"]])
def test_what_is_for_games_of_lines_says_so_in_one_line(words: list[str]) -> None:
    ran = piped("", *GAME, "--live", *words)
    assert refused(ran, 2, "rules that say who begins" if "--first" in words else "games of lines")


@pytest.mark.parametrize(("name", "side"), [("duel,3,3", "R"), ("duel,2,4", "G"), ("duel,2,3", "G")])
def test_the_oracle_never_loses_from_a_won_side(name: str, side: str) -> None:
    names = ("oracle", "random") if side == "R" else ("random", "oracle")
    with Roster(find_game(name), live=True, seconds=60) as roster:
        met = meet(roster, names, 60, swap=False, seed=3)
    oracle = met.first if side == "R" else met.second
    assert (oracle.name, oracle.games, oracle.wins) == ("oracle", 60, 60)
    assert oracle.moves == oracle.graded == oracle.kept
    assert set(met.lengths) == {naive.Duel.named(name).cells}


def test_two_oracles_end_a_game_by_its_margin(store: Path) -> None:
    out = printed("", *GAME, "--x", "oracle", "--o", "oracle", "--store", store, "--seed", 5)
    assert "\nR has won: 6 tiles to 3.\n" in out
    assert "R made 5 moves: 5 best, 0 that changed the outcome." in out
    assert "G made 4 moves: 4 best, 0 that changed the outcome." in out


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
