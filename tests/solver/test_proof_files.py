"""Proof files: what is written is read and checked again, kept ones hold, and no file of any content does harm."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solver.certificates.draws import draw_certificate
from solver.certificates.files import (
    DRAW,
    FORMAT,
    Defence,
    Proof,
    as_file,
    check_file,
    check_proof,
    lines_digest,
    read_proof,
)
from solver.certificates.refusals import CheckTooLong, ProofDamaged, Refuted
from solver.certificates.strategy import WAIT, Strategy
from solver.cli.main import main as solve
from solver.engine.proving import prove
from solver.errors import Ttt4Error
from solver.games.lines import Game, grid
from solver.games.position import Position

PROOFS = Path(__file__).parents[2] / "data" / "proofs"
KEPT = sorted(PROOFS.glob("*.json"))
LARGEST_KEPT = 1 << 20
QUICK_BYTES = 5_000
"""Smaller proofs are checked every time."""

THREES = grid(3, 3, 2)
Run = Callable[..., Any]


@cache
def proved(game: Game) -> Proof:
    proof = prove(game, game.at(0, 0), monotonic() + 60)
    assert proof is not None
    return proof


@pytest.fixture(scope="module", autouse=True)
def _prove() -> None:
    """Find the defence that several tests share."""
    proved(grid(4, 5, 4))


def win() -> Proof:
    """Two in a row on 3x3: the middle, and then any cell beside it."""
    second = Strategy(0, {}, None)
    replies = {0: Strategy(1), 1: second}
    return Proof(THREES, 0, 0, "X wins", Strategy(4, replies, second), 3)


def fields_of(proof: Proof, path: Path) -> dict[str, Any]:
    path.write_bytes(as_file(proof))
    fields: dict[str, Any] = json.loads(path.read_text())
    return fields


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_a_kept_proof_is_of_the_game_in_its_name_and_small(path: Path) -> None:
    proof = read_proof(path)
    assert path.stem == proof.game.name.replace(",", "x")
    assert path.stat().st_size <= LARGEST_KEPT


@pytest.mark.parametrize(
    "path",
    [pytest.param(p, id=p.stem, marks=[] if p.stat().st_size < QUICK_BYTES else [pytest.mark.slow]) for p in KEPT],
)
def test_a_kept_proof_holds(path: Path) -> None:
    check_file(path)


@pytest.mark.parametrize("name", ["4,4,4", "7,7,6", "12,20,9", "4,5,4", pytest.param("6,6,5", marks=pytest.mark.slow)])
def test_a_proof_that_was_written_is_read_as_it_was(name: str, tmp_path: Path) -> None:
    proof = proved(grid(*map(int, name.split(","))))
    (tmp_path / "proof.json").write_bytes(as_file(proof))
    again = check_file(tmp_path / "proof.json")
    assert (again.game, again.claim, again.in_words()) == (proof.game, DRAW, proof.in_words())
    if isinstance(proof.evidence, Defence):
        assert again.evidence == proof.evidence


def test_a_strategy_is_written_with_equal_parts_once(tmp_path: Path) -> None:
    fields = fields_of(win(), tmp_path / "win.json")
    assert fields["proof"] == {"kind": "strategy", "nodes": [[0, -1], [1, -1], [4, 0, 0, 1, 1, 0]]}
    assert check_file(tmp_path / "win.json").plies == 3


def test_a_claim_that_says_more_than_its_strategy_is_refuted() -> None:
    good = win()
    for claim, evidence, plies in (
        ("X wins", good.evidence, 2), ("O wins", good.evidence, 3), (DRAW, good.evidence, None),
        ("O wins", Strategy(WAIT, {}, good.evidence.other), 9),
    ):  # fmt: skip
        with pytest.raises(Refuted):
            check_proof(Proof(good.game, 0, 0, claim, evidence, plies))


def test_a_win_of_the_side_that_waits_is_claimed_for_that_side(tmp_path: Path) -> None:
    game = grid(1, 3, 2, misere=True)  # X's second cell is beside the first
    proof = Proof(game, 0, 0, "O wins", Strategy(WAIT, {0: Strategy(2), 1: Strategy(0), 2: Strategy(0)}), 3)
    (tmp_path / "proof.json").write_bytes(as_file(proof))
    assert check_file(tmp_path / "proof.json").claim == "O wins"
    with pytest.raises(Refuted):
        check_proof(replace(proof, claim="X wins"))


def test_a_defence_of_o_shows_nothing_of_other_boards_or_in_misere() -> None:
    proof = proved(grid(4, 5, 4))
    assert isinstance(proof.evidence, Defence)
    for game, x, o in ((proof.game, 1, 2), (grid(4, 5, 4, misere=True), 0, 0)):
        with pytest.raises(Refuted):
            check_proof(Proof(game, x, o, DRAW, proof.evidence))


def test_a_certificate_of_another_position_is_refuted() -> None:
    game = grid(5, 5, 5)
    certificate = draw_certificate(game, 0, 0, monotonic() + 5)
    assert certificate is not None
    for x, o in ((0b11, 0), (1, 1), (0b11111, 0b1111 << 5)):
        with pytest.raises(Refuted):
            check_proof(Proof(game, x, o, DRAW, certificate))


@pytest.mark.parametrize(
    "change",
    [
        {"format": "ttt4 proof 0"},
        {"format": None},
        {"game": "/etc/passwd.toml"},
        {"game": "os:system"},
        {"game": "duel"},
        {"game": "9,9"},
        {"game": "4,4,4"},
        {"game": 7},
        {"lines_sha256": "0" * 64},
        {"x": [0, 900]},
        {"x": [True]},
        {"x": {}},
        {"x": [0] * 10_000},
        {"claim": "X loses"},
        {"claim": []},
        {"plies": "3"},
        {"plies": 10**30, "claim": "X wins", "proof": 1},
        {"proof": []},
        {"proof": {"kind": "word"}},
        {"proof": {"kind": "strategy", "nodes": []}},
        {"proof": {"kind": "strategy", "nodes": [[1, 0]]}},
        {"proof": {"kind": "strategy", "nodes": [[1, -1], [2, -1, 3]]}},
        {"proof": {"kind": "strategy", "nodes": [[1, -1], [2, -1, 3, 1]]}},
        {"proof": {"kind": "strategy", "nodes": [["1", -1]]}},
        {"proof": {"kind": "stops"}},
        {"proof": {"kind": "stops", "x": {"kind": "pairing"}, "o": {"kind": "dead"}}},
        {"proof": {"kind": "stops", "x": {"kind": "pairing", "pairs": [[1]]}, "o": {"kind": "dead"}}},
        {"proof": {"kind": "stops", "x": {"kind": "dead", "first": None}, "o": {"kind": "dead"}}},
        {"proof": {"kind": "defence", "symmetries": [[0, "1"]], "answers": ""}},
        {"proof": {"kind": "defence", "symmetries": [[0]] * 600, "answers": ""}},
        {"proof": {"kind": "defence", "symmetries": [], "answers": "+99999999 +99999999"}},
        {"proof": {"kind": "defence", "symmetries": [], "answers": "1 two"}},
        {"proof": {"kind": "defence", "symmetries": [], "answers": "+-3"}},
    ],
    ids=str,
)
def test_a_file_with_a_wrong_field_is_damaged_and_says_so_in_a_line(change: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    path.write_text(json.dumps(fields_of(win(), path) | change))
    with pytest.raises(ProofDamaged) as refusal:
        check_file(path)
    assert str(refusal.value).startswith(f"proof {str(path)!r}")
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 200_000, b"1" * 9_000, b'{"a":', b"null", b"\x00" * 100])
def test_a_file_that_is_no_proof_is_damaged(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "proof.json").write_bytes(content)
    with pytest.raises(ProofDamaged):
        check_file(tmp_path / "proof.json")
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(ProofDamaged):
            check_file(path)


def test_shared_parts_cannot_make_a_check_endless(tmp_path: Path) -> None:
    """Each node refers to the one before it in every way: a tree of 30 levels with more branches than can be walked."""
    game = grid(6, 6, 6)
    nodes = [[0, -1]]
    for level in range(1, 30):
        nodes.append([level, level - 1, *[part for cell in range(30, 36) for part in (cell, level - 1)]])
    fields = fields_of(win(), tmp_path / "proof.json")
    fields |= {"game": "6,6,6", "lines_sha256": lines_digest(game), "proof": {"kind": "strategy", "nodes": nodes}}
    (tmp_path / "proof.json").write_text(json.dumps(fields))
    with pytest.raises((Refuted, CheckTooLong)):
        check_file(tmp_path / "proof.json")


WORDS = st.sampled_from(["stops", "strategy", "dead"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 40) | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(["kind", "x", "o", "nodes"]), inner),
    max_leaves=12,
)


@given(st.sampled_from(["x", "o", "claim", "plies", "proof", "game", "lines_sha256"]), JSON)
@settings(max_examples=30)
def test_a_file_of_any_content_is_proved_or_refused(tmp_path_factory: Any, name: str, value: Any) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(fields_of(win(), path) | {name: value}))
    try:
        proof = check_file(path)
    except Ttt4Error:
        return
    assert proof.claim == "X wins"


def test_prove_writes_a_file_that_check_proves(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "proof.json"
    ran = run(solve, "prove", "--game", "7,7,6", "--out", path)
    assert ran.code == 0
    assert ran.out.startswith("7,7,6: the empty board is a draw, by a pairing\n")
    ran = run(solve, "check", path)
    assert (ran.code, ran.out) == (0, f"{path}: proved: 7,7,6: the empty board is a draw, by a pairing\n")
    facts = json.loads(run(solve, "check", "--json", path).out)
    assert facts == {"file": str(path), "holds": True, "game": "7,7,6", "claim": "draw", "plies": None}


def test_check_says_of_each_file_whether_it_holds(tmp_path: Path, run: Run) -> None:
    good, refuted, damaged = (tmp_path / f"{name}.json" for name in ("good", "refuted", "damaged"))
    good.write_bytes(as_file(win()))
    refuted.write_bytes(as_file(Proof(THREES, 0, 0, "X wins", win().evidence, 1)))
    damaged.write_text("{}")
    ran = run(solve, "check", good, refuted)
    assert ran.code == 1
    assert [line.split(": ")[1] for line in ran.out.splitlines()] == ["proved", "not proved"]
    assert run(solve, "check", good, refuted, damaged).code == 4
    facts = json.loads(run(solve, "check", "--json", damaged).out)
    assert (facts["holds"], facts["error"]) == (False, "proof-damaged")


def test_prove_says_when_it_finds_nothing(run: Run) -> None:
    ran = run(solve, "prove", "--game", "3,3,3,misere", "--time", "0.2")
    assert (ran.code, ran.out) == (1, "")
    assert "no proof for 3,3,3,misere was found" in ran.err


def test_prove_gives_up_when_its_time_is_over_whatever_the_search_is_at(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = Event()
    monkeypatch.setattr("solver.engine.proving.prove", lambda *asked: never.wait(60))
    ran = run(solve, "prove", "--game", "3,3,3", "--time", "0.1")
    assert not never.is_set()
    never.set()
    assert (ran.code, ran.out) == (1, "")
    assert "no proof for 3,3,3 was found in 0." in ran.err


def test_the_time_to_compile_the_provers_is_no_time_to_search(monkeypatch: pytest.MonkeyPatch) -> None:
    deadlines, now = list[float](), monotonic()

    def prover(game: Game, position: Position, deadline: float) -> None:
        deadlines.append(deadline - now)

    monkeypatch.setattr("solver.engine.proving.import_compiled", lambda *modules: 300.0)
    monkeypatch.setattr("solver.engine.proving.by_certificate", prover)
    monkeypatch.setattr("solver.engine.proving.by_strategy", prover)
    monkeypatch.setattr("solver.engine.proving.by_defence", prover)
    assert prove(THREES, THREES.at(0, 0), now + 1) is None
    assert deadlines[0] < 2
    assert min(deadlines[1:]) > 299


def test_prove_takes_games_of_lines_only(run: Run) -> None:
    assert run(solve, "prove", "--game", "duel").code == 2


def test_the_format_is_named_in_the_first_field(tmp_path: Path) -> None:
    assert next(iter(fields_of(win(), tmp_path / "proof.json").items())) == ("format", FORMAT)


@pytest.mark.parametrize("name", ["3,3,3", "3,3,3,misere", "6,6,1,misere", "2,2,2"])
def test_prove_ends_on_small_boards_with_a_proof_or_one_line(name: str, run: Callable[..., Any]) -> None:
    ran = run(solve, "prove", "--game", name, "--time", "3")
    assert ran.code in (0, 1)
    assert "Traceback" not in ran.err


def test_a_defence_with_answers_left_over_is_refused() -> None:
    proof = read_proof(PROOFS / "6x4x4.json")
    assert isinstance(proof.evidence, Defence)
    longer = Defence(proof.evidence.group, (*proof.evidence.answers, None))
    with pytest.raises(Refuted, match="too many answers"):
        check_proof(replace(proof, evidence=longer))
