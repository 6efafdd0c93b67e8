"""Names of files and folders with escape sequences: a terminal gets none of them."""

from pathlib import Path

import pytest
from commands import run_command

from oracle.cli.main import main as query
from play.cli.main import main as play
from play.records.files import load_record
from solver.cli.main import main as solve
from solver.folders import games_folder

NAME = "a\x1b]0;owned\x07\x1b[2J\x9b31m\r\nb\udcff\u202e"

COMMANDS = {
    "build": (solve, "build --game 2,2,2 --store {name}"),
    "build again": (solve, "build --game 3,3,3 --store {store}"),
    "build of a link": (solve, "build --game 3,3,3 --store {link} --force"),
    "verify": (solve, "verify --game 3,3,3 --store {store}"),
    "verify damaged": (solve, "verify --game 3,3,3 --store {damaged}"),
    "info": (solve, "info --game 3,3,3 --store {store}"),
    "plan": (solve, "plan --game 3,3,3 --scratch {name}"),
    "scratch": (solve, "build --game 2,2,2 --store {name} --scratch {store}"),
    "dataset": (solve, "dataset --game 3,3,3 --store {store} --out {name}.npz"),
    "dataset again": (solve, "dataset --game 3,3,3 --store {store} --out {store}"),
    "prove": (solve, "prove --game 2,2,2 --out {name}"),
    "check": (solve, "check {store} {name}"),
    "games": (solve, "games {name}"),
    "query": (query, "--game 3,3,3 --store {name} ........."),
    "query of the damaged": (query, "--game 3,3,3 --store {damaged} ........."),
    "query as JSON": (query, "--game 3,3,3 --store {name} ......... --json"),
    "query of a game file": (query, "--game {name}.toml ........."),
    "query of a board": (query, "--game 3,3,3 {name}"),
    "kept games": (play, "games --plain"),
    "kept games as JSON": (play, "games --json"),
    "replay": (play, "replay {name}"),
    "replay the kept": (play, "replay {kept}"),
    "resume": (play, "resume --plain {kept}"),
    "review": (play, "review {store}"),
    "grade": (play, "grade run:{run} --game 2,2,2 --live"),
    "grade what is no run": (play, "grade run:{name}"),
    "train": (play, "train --game 2,2,2 --episodes 4 --every 2 --out {name}"),
    "train again": (play, "train --resume --out {run}"),
    "curve": (play, "curve {run}"),
    "curve of nothing": (play, "curve {name}"),
    "curve as SVG": (play, "curve {run} --svg {name}.svg"),
    "arena": (play, "arena --game 2,2,2 --x run:{run} --o random --games 2 --live"),
    "arena of code": (play, "arena --x {name}:f --o random --games 2"),
    "engine": (play, "arena --game 15,15,5 --x gomocup:{name} --o random --games 2"),
    "matches": (play, "matches import {store}"),
    "backup": (play, "matches export {store}"),
    "puzzle": (play, "puzzle --game 3,3,3 --store {name} --json"),
    "serve": (play, "serve --store {damaged} --port 0 --host {name}"),
}


@pytest.fixture
def named(tmp_path: Path, store3: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Files of each kind whose names are hostile."""
    paths = {kind: tmp_path / f"{kind}{NAME}" for kind in ("name", "store", "damaged", "link", "run")}
    paths["store"].write_bytes(store3.read_bytes())
    paths["damaged"].write_bytes(store3.read_bytes()[:-999])
    paths["link"].symlink_to(paths["store"])
    kept = Path(games_folder()) / f"kept{NAME}.txt"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text('[Game "3,3,3"]\n[X "human"]\n[O "human"]\n[Date "\x1b[31m"]\n1. a1 *\n')
    assert load_record(str(kept)).match.moves
    (kept.parent / f"unread{NAME}.txt").write_text("nothing")
    return {**paths, "kept": kept}


@pytest.mark.parametrize("command", COMMANDS)
def test_no_escape_sequence_of_a_name_is_written(command: str, named: dict[str, Path]) -> None:
    program, words = COMMANDS[command]
    if "{run}" in words:
        train = ["train", "--game", "2,2,2", "--episodes", "4", "--every", "2", "--out"]
        assert run_command(play, *train, named["run"]).returncode == 0
    ran = run_command(program, *(word.format(**named) for word in words.split()), typed="quit\n")
    said = ran.stdout + ran.stderr
    assert said
    for line in said.split("\n"):
        controls = [letter for letter in line if not letter.isprintable()]
        assert controls in ([], ["\r"]), line  # a prompt's own \r
