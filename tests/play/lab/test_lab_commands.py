"""`ttt4-play grade`, `train` and `curve`: what they print, refuse, and exit with. Nothing ends in a traceback."""

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from commands import run_command
from stores import files_in

from play.cli.main import main
from play.lab import grade
from play.lab.runs import Run
from solver.kernels import loading

THREE = ["--game", "3,3,3"]
SHORT = [*THREE, "--episodes", "60", "--every", "20"]
pytestmark = pytest.mark.usefixtures("home")


@pytest.fixture
def play(run: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: run(main, *arguments)


@pytest.fixture
def beside(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Stand in the folder of the run, and return its name, as a person would type it."""
    monkeypatch.chdir(tiny.parent)
    return tiny.name


def fits(text: str) -> bool:
    """Tell whether a text is for 80 columns; fail where it is not."""
    assert max(map(len, text.splitlines())) <= 79, max(text.splitlines(), key=len)
    assert all(line == line.rstrip() for line in text.splitlines())
    return True


def refused(ran: Any, *words: str, code: int = 2) -> bool:
    """Tell whether a refusal has all the words; fail unless it is one line, or the usage and one."""
    assert (ran.code, ran.out) == (code, ""), ran
    *usage, said = ran.err.splitlines()
    assert said.startswith("Error: ")
    assert not usage or usage[0].startswith("Usage: ")
    return all(word in said for word in words)


@pytest.mark.parametrize("command", [("grade", "rules", *THREE, "--live"), ("train", *SHORT, "--out", "run")])
def test_compiled_code_is_waited_for_in_patience(
    command: tuple[str, ...], play: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    waited: list[bool] = []
    monkeypatch.setattr("play.cli.lab.import_compiled", lambda *modules: waited.append(loading._patience is not None))
    assert play(*command).code == 0
    assert waited == [True]


# grade


@pytest.mark.parametrize(
    ("player", "positions"),
    [("rules", []), ("run:tiny", []), ("search", []), ("oracle:5", ["--positions", "300"]),
     ("lab:FirstFreeMany", ["--positions", "300"]), ("lab:FirstCell", ["--positions", "canonical"]),
     ("lab:Wavering", ["--positions", "300"])],
)  # fmt: skip
def test_a_grade_fits_80_columns(
    player: str, positions: list[str], beside: str, play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("play.lab.grading.GAMES", 20)
    ran = play("grade", player, *THREE, "--live", *positions)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{player} on 3,3,3\n\n")
    assert fits(ran.out)


@pytest.mark.parametrize("player", ["rules", "run:tiny"])
def test_the_json_of_a_grade_says_what_the_text_and_python_say(player: str, beside: str, play: Any) -> None:
    text = play("grade", player, *THREE, "--live").out
    ran = play("grade", player, *THREE, "--live", "--json")
    said = json.loads(ran.out)
    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", 1)
    assert said == json.loads(json.dumps(grade("3,3,3", player, live=True).as_dict()))
    for side in "XO":
        assert f"{said['given_away'][side]:.4g}" in text
        assert f"{said['v_random'][side]:.4g}" in text
    assert f"{said['nash_conv']:.4g} in all (NashConv)" in text
    for name, label in (("decisive", "decisive"), ("kept", "all"), ("optimal", "best move")):
        (shown,) = re.findall(rf"^  {label} +(\d+\.\d+) %", text, re.M)
        assert 0 <= 100 * said[name] - float(shown) < 0.001 + 1e-9, name
    for moves in said["refutations"].values():
        assert " ".join(moves) in " ".join(text.split())
    for ply in said["by_ply"]:
        if ply["decisive"]["positions"] and said["decisive"] < 1:
            assert re.search(rf"^  {ply['ply']:2} +{ply['decisive']['positions']:,.0f} ", text, re.M)


def test_progress_is_said_through_a_pipe(play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("solver.cli.progress_line._SAID_AGAIN", -1.0)
    said = play("grade", "lab:FirstCell", *THREE, "--live").err.splitlines()
    assert "value as X..." in said
    assert any(re.fullmatch(r"value as O\.\.\. ply \d(, \d+%)?", line) for line in said)


@pytest.mark.parametrize(("asked", "count"), [("all", 4_520), ("canonical", 627), ("300", 300), ("5", 5)])
def test_positions_says_which_are_graded(asked: str, count: int, play: Any) -> None:
    said = json.loads(play("grade", "rules", *THREE, "--live", "--positions", asked, "--json").out)
    assert said["positions"] == (int(asked) if asked.isdigit() else asked)
    assert sum(ply["positions"] for ply in said["by_ply"]) == count
    assert (said["intervals"] != {}) == asked.isdigit()


def test_the_seed_draws_the_positions(play: Any) -> None:
    asked = ["grade", "rules", *THREE, "--live", "--positions", "300", "--json"]
    found = [play(*asked, "--seed", seed).out for seed in ("0", "0", "1")]
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("nobody", "no player 'nobody': choose human, random, "),
        ("human", "a human cannot be graded here"),
        ("priority", "only games of capture have the player 'priority'"),
        ("run:missing", "no run in 'missing': ttt4-play train --out missing begins one"),
        ("run:", "no player 'run:'"),
        ("lab:Nobody", "cannot load 'lab:Nobody'"),
        ("lab:Failing", "lab:Failing: RuntimeError: no idea"),
        ("lab:NEAR", "no player 'lab:NEAR': TypeError: 'float' object is not callable"),
        ("random --game duel", "only games of lines have exact grades, and duel is not"),
        ("rules --game 6,7,4", "game '6,7,4' has 42 cells"),
        *((f"rules --positions={wrong}", f"'{wrong}' is neither all, canonical, nor")
          for wrong in ("0", "-5", "some", "", "1e3", "²", "5.5")),
    ],
)  # fmt: skip
def test_what_cannot_be_graded_is_refused(asked: str, words: str, play: Any) -> None:
    assert refused(play("grade", *THREE, "--live", *asked.split()), words)


def test_a_store_that_was_named_and_is_not_there_is_refused_unless_live(play: Any) -> None:
    asked = ["grade", "rules", *THREE, "--store", "missing.ttt4"]
    assert refused(play(*asked), "missing.ttt4", code=3)
    assert play(*asked, "--live").code == 0


@pytest.mark.parametrize("arguments", [["grade", "rules", *THREE, "--live"], ["train", "--out", "run", *SHORT]])
def test_on_a_terminal_a_line_shows_progress_and_is_erased(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("solver.cli.progress_line.monotonic", count().__next__)  # a second passes at each look
    ran = run_command(main, *arguments, terminal=True)
    assert ran.returncode == 0
    shown = ran.stderr.split("\r")
    assert any(re.match(r"asking\.\.\.|value as X\.\.\.|games \[#+ *\] +\d+%", each) for each in shown), shown
    assert shown[-2].strip() == shown[-1] == ""
    assert "\x1b[?25" not in ran.stderr, "the cursor stays as it is"


# train


def test_train_says_how_good_the_run_is_its_digest_and_what_to_type_next(play: Any) -> None:
    ran = play("train", "--out", "run", *SHORT)
    assert (ran.code, ran.err) == (0, "")
    assert fits(ran.out)
    assert ran.out.startswith("q on 3,3,3, 60 games: kept ")
    digest = Run.open("run").digest()
    assert ran.out.endswith(f"run, digest {digest[:12]}: ttt4-play grade run:run, ttt4-play curve run\n")
    for command in re.findall("ttt4-play ([^,\n]*)", ran.out):
        assert play(*command.split(), *(THREE if "grade" in command else [])).code == 0


def test_train_json_is_the_last_checkpoint_with_its_run_and_digest(play: Any) -> None:
    ran = play("train", "--out", "run", *SHORT, "--json")
    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", 1)
    run = Run.open("run")
    assert json.loads(ran.out) == {**run.metrics()[-1], "run": "run", "digest": run.digest()}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--player nobody", "Invalid value for '--player'"), ("--episodes 0", "Invalid value for '--episodes'"),
        ("--every 0", "Invalid value for '--every'"), ("--seed -1", "Invalid value for '--seed'"),
        ("--until 99", "'99' is no share: write 99.5%"), ("--until 101%", "'101%' is no share"),
        ("--until nan%", "'nan%' is no share"), ("--epsilon nan", "--epsilon"), ("--step nan", "--step"),
        ("--epsilon 1.5", "Invalid value for '--epsilon'"), ("--step 0", "Invalid value for '--step'"),
        ("--v nobody", "no player 'nobody'"), ("--v priority", "'priority'"),
        ("--v human", "cannot train against 'human': choose self, random, rules, or oracle:0 to oracle:10"),
        *((f"--v {name}", f"cannot train against '{name}'") for name in ("mcts", "nim:Nim", "run:run")),
        ("--player ntuple --unmasked", "only q has --v, --epsilon, --step and --unmasked"),
        ("--player ntuple --v rules", "only q has --v, --epsilon, --step and --unmasked"),
        ("--game duel", "only games of lines have learners, and duel is not one"),
        ("--game 4,5,4", "4,5,4 has too many positions for a table: train --player ntuple"),
        ("--game 6,7,4 --player ntuple", "game '6,7,4' has 42 cells"),
        ("--game board.toml", "runs are of games that a name says"),
        ("--resume", "no run in 'run': ttt4-play train --out run begins one"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_refused_and_leaves_no_folder(options: str, words: str, play: Any) -> None:
    Path("board.toml").write_text('about = "x"\nboard = ["...", "...", "..."]\nin_a_row = 3\n')
    given = [*([] if options == "--resume" else SHORT), *options.split()]
    assert refused(play("train", "--out", "run", *given), words)
    assert not Path("run").exists()


@pytest.mark.parametrize(
    "option",
    [["--player", "ntuple"], ["--game", "4,4,4"], ["--episodes", "9"], ["--until", "9%"], ["--v", "random"],
     ["--epsilon", "0.1"], ["--step", "0.5"], ["--unmasked"], ["--every", "9"], ["--seed", "2"]],
)  # fmt: skip
def test_a_run_that_goes_on_cannot_be_asked_for_anything_else(option: list[str], copied: Path, play: Any) -> None:
    ran = play("train", "--out", copied, "--resume", *option)
    assert refused(ran, f"{option[0]} cannot be changed: the run has ")


def test_a_run_that_goes_on_may_be_asked_for_what_it_was_asked_for(copied: Path, store3: Path, play: Any) -> None:
    before = files_in(copied)
    same = ["--player", "q", "--game", "3,3,3", "--episodes", "2000", "--every", "500", "--seed", "1", "--step", "1"]
    ran = play("train", "--out", copied, "--resume", *same, "--json", "--store", store3)
    assert ran.code == 0
    assert "is finished: nothing is left to train" in ran.err
    assert files_in(copied) == before


# curve


def test_the_curve_of_one_run_fits_80_columns_and_ends_with_its_last_checkpoint(beside: str, play: Any) -> None:
    ran = play("curve", beside)
    assert (ran.code, ran.err) == (0, "")
    assert fits(ran.out)
    assert "a  tiny: 2,000 games, kept 100.00 %, gives away 0\n" in ran.out
    assert "     none |" in ran.out
    assert re.search(r"^ +2,000 +100.000 % +100.000 % +100.000 % +0, 0$", ran.out, re.M)


def test_the_curves_of_several_runs_fit_80_columns_and_each_has_its_letter(
    train: Any, beside: str, tmp_path: Path, play: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = ["weak", "misère"]
    train(Path("weak"), episodes=60, every=20, epsilon=0.1)
    train(Path("misère"), game="3,3,3,misere", episodes=80, every=20)
    ran = play("curve", *runs)
    assert (ran.code, ran.err) == (0, "")
    assert fits(ran.out)
    for letter, name in zip("ab", runs, strict=True):
        assert f"\n{letter}  {name}: " in ran.out
        assert f"\n{letter}  Given away by cell" in ran.out
        assert re.search(rf"^ {{9}}.\|.*{letter}|%.\|.*{letter}", ran.out, re.M)


@pytest.mark.parametrize("runs", [1, 2, 8])
def test_the_picture_is_xml(runs: int, tiny: Path, tmp_path: Path, play: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"<b>&\"'{number}" for number in range(runs)]
    for name in names:
        Path(name).symlink_to(tiny)
    ran = play("curve", *names, "--svg", "drawn.svg")
    assert (ran.code, ran.out, ran.err) == (0, f"drawn.svg: {runs} {'run' if runs == 1 else 'runs'}\n", "")
    picture = ElementTree.parse("drawn.svg").getroot()
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    texts = ["".join(each.itertext()) for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    for name in names:
        assert any(text.startswith(f"{name}: 2,000 games, ") for text in texts)
        assert f"{name}: by cell, %" in texts
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))) == 2 * runs
    _, _, width, height = map(float, picture.get("viewBox", "").split())
    for each in picture.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 <= float(each.get("x", "")) <= width
        assert 0 <= float(each.get("y", "")) <= height


def test_curve_json_has_the_config_and_all_checkpoints_of_every_run(beside: str, copied: Path, play: Any) -> None:
    ran = play("curve", beside, copied, "--json")
    assert (ran.code, ran.err, ran.out.count("\n")) == (0, "", 1)
    said = json.loads(ran.out)
    assert list(said) == [beside, str(copied)]
    for folder in said:
        assert said[folder] == {"config": Run.open(folder).config, "checkpoints": Run.open(folder).metrics()}


def test_a_run_without_a_checkpoint_has_no_curve(copied: Path, play: Any) -> None:
    (copied / "metrics.jsonl").unlink()
    for options in ([], ["--svg", "drawn.svg"]):
        ran = play("curve", copied, *options)
        assert refused(ran, f"run {str(copied)!r} has no checkpoint yet: ttt4-play train --out {copied} --resume")
    assert not Path("drawn.svg").exists()


def test_a_run_that_is_not_there_has_no_curve(beside: str, play: Any) -> None:
    assert refused(play("curve"), "Missing argument 'RUN...'")
    assert refused(play("curve", beside, "missing"), "no run in 'missing'")
    assert refused(play("curve", f"{beside}/config.json"), f"no run in '{beside}/config.json'")
    assert refused(play("curve", beside, "--svg", "/proc/drawn.svg"), "cannot write '/proc/drawn.svg'", code=1)


def test_metrics_that_make_no_sense_end_in_one_line(copied: Path, play: Any) -> None:
    found = Run.open(str(copied)).metrics()
    for change in (
        {"decisive": "x"}, {"by_ply": {"x": 1}}, {"by_ply": [1]}, {"by_cell": [1]}, {"by_cell": "x"}, {"kept": []},
        {"given_away": {"X": "x"}}, {"nash_conv": "x"}, {"decisive": 2.0}, {"decisive": float("nan")},
    ):  # fmt: skip
        (copied / "metrics.jsonl").write_text("".join(f"{json.dumps({**line, **change})}\n" for line in found))
        for options in ([], ["--svg", "drawn.svg"]):
            ran = play("curve", copied, *options)
            assert (ran.code, ran.err.count("\n")) in ((0, 0), (2, 1)), change
