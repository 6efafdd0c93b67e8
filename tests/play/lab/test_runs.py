"""The folder of a run: what its files hold, what its digest covers, and what is said of a damaged one."""

import errno
import io
import json
import os
import pickle
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lab import digest
from stores import files_in

from play.cli.lab import train as train_command
from play.lab.playing import RunPlayer
from play.lab.runs import CONFIG, GAMES, METRICS, STATE, Run
from play.lab.training import Training
from solver.errors import Ttt4Error
from solver.games.notation import parse_game

README = Path(__file__).parents[3] / "play" / "lab" / "README.md"
TIMES = {"seconds", "games_per_second"}
THREE, SMALL = parse_game("3,3,3"), parse_game("2,3,3")
READ = {METRICS: Run.metrics, GAMES: Run.games}

pytestmark = pytest.mark.usefixtures("home")


def lines(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def write(folder: Path, name: str, written: list[dict[str, Any]]) -> None:
    (folder / name).write_text("".join(f"{json.dumps(line)}\n" for line in written))


def arrays(folder: Path) -> dict[str, np.ndarray]:
    with np.load(folder / STATE) as file:
        return {name: file[name] for name in file.files}


def go_on(folder: Path) -> Run:
    run = Run.open(str(folder))
    with run.held(), Training(run) as training:
        training.train()
    return run


def error_of(call: Callable[..., object], *arguments: object) -> str:
    """What is said of the error that a call ends with, always in one line; nothing if it ends well."""
    said = ""
    try:
        call(*arguments)
    except Ttt4Error as error:
        said = str(error)
    assert "\n" not in said
    return said


# What the files hold


def documented(name: str) -> list[str]:
    """The fields of a line of one of the files, as the README names them."""
    row = next(line for line in README.read_text().splitlines() if line.startswith(f"| `{name}` |"))
    return re.findall(r"`(\w+)`", row.partition("| `")[2].partition(" | ")[2].rpartition("`random`: ")[2])


def test_a_run_has_four_files_and_its_config_is_what_was_asked_for(tiny: Path) -> None:
    assert json.loads((tiny / CONFIG).read_text()) == {
        "format": 1, "player": "q", "game": "3,3,3", "seed": 1, "episodes": 2_000, "until": None, "every": 500,
        "v": "self", "epsilon": None, "step": 1.0, "unmasked": False,
    }  # fmt: skip
    assert sorted(os.listdir(tiny)) == sorted([CONFIG, METRICS, GAMES, STATE])
    games, found = Run.open(str(tiny)).state()
    assert (games, sorted(found), found["visits"][0]) == (2_000, ["taken", "value", "visits"], 2_000)


@pytest.mark.parametrize(
    ("name", "number", "more"), [(METRICS, 1, {"games", "positions", *TIMES}), (GAMES, 4, {"games"})]
)
def test_each_checkpoint_has_its_lines_with_every_field_documented(
    name: str, number: int, more: set[str], tiny: Path
) -> None:
    found, fields = lines(tiny, name), documented(name)
    assert [line["games"] for line in found] == [games for games in (500, 1_000, 1_500, 2_000) for _ in range(number)]
    assert len(fields) > 8
    for line in found:
        assert set(line) == {*fields, *more}
        assert list(line) == list(found[0])
        assert more.isdisjoint(fields)


def test_a_run_without_a_checkpoint_has_no_state_no_metrics_and_no_games(tmp_path: Path, tiny: Path) -> None:
    shutil.copy(tiny / CONFIG, tmp_path)
    run = Run.open(str(tmp_path))
    assert (run.state(), run.metrics(), run.games()) == ((0, {}), [], [])


# The digest


@pytest.fixture
def told(begun: Path) -> Callable[..., str]:
    """The digest of the run, were something of it different."""
    run = Run.open(str(begun))
    read = {"metrics": run.metrics(), "games": run.games(), "state": run.state()}

    def digest(config: dict[str, Any] = run.config, **changes: Any) -> str:
        changed = Run(run.folder, config)
        for name, value in {**read, **changes}.items():
            setattr(changed, name, lambda value=value: value)
        return changed.digest()

    return digest


def test_the_digest_ignores_times_and_how_arrays_are_packed(copied: Path) -> None:
    before = digest(copied)
    for name in (METRICS, GAMES):
        write(copied, name, [{**line, **dict.fromkeys(TIMES & set(line), 99.0)} for line in lines(copied, name)])
    np.savez(copied / STATE, **dict(reversed(arrays(copied).items())))
    assert digest(copied) == before


@pytest.mark.parametrize(("name", "what"), [(METRICS, "metrics"), (GAMES, "games")])
def test_the_digest_covers_all_other_fields(name: str, what: str, begun: Path, told: Callable[..., str]) -> None:
    found = lines(begun, name)
    changes = [[{**line, "games": line["games"] - 1} for line in found], found[1:], found[:-1], found[::-1]]
    for number in (0, len(found) - 1):
        for field in set(found[number]) - TIMES - {"games"}:
            changes.append([{**line, field: "else"} if at == number else line for at, line in enumerate(found)])
    assert told() == digest(begun)
    assert len(changes) > 20
    assert len({told(), *(told(**{what: change}) for change in changes)}) == 1 + len(changes)


def test_the_digest_covers_every_field_of_the_config(begun: Path, told: Callable[..., str]) -> None:
    config = json.loads((begun / CONFIG).read_text())
    changes = [{**config, field: f"else {number}"} for number, field in enumerate(config)]
    assert len({told(), *(told(config=change) for change in changes)}) == 1 + len(config)


def test_the_digest_covers_every_entry_of_every_array(begun: Path, told: Callable[..., str]) -> None:
    games, kept = Run.open(str(begun)).state()
    changes = [
        (games - 1, kept),
        (games, {**kept, "value": kept["value"].astype(np.float64)}),
        (games, {**kept, "value": kept["value"].view(np.int32)}),
        (games, {**kept, "value": kept["value"].reshape(1, -1)}),
        (games, {**kept, "more": kept["taken"]}),
        (games, {name: kept[name] for name in kept if name != "taken"}),
        (games, {**kept, "value": kept["visits"], "visits": kept["value"]}),
    ]
    for name in ("value", "visits"):
        for entry in range(kept[name].size):
            changed = {**kept, name: kept[name].copy()}
            changed[name][entry] += 1
            changes.append((games, changed))
    digests = {told(metrics=[], games=[], state=state) for state in [(games, kept), *changes]}
    assert len(digests) == 1 + len(changes)


# What a kill leaves


def test_lines_after_the_saved_state_are_forgotten_and_no_others(copied: Path) -> None:
    run = Run.open(str(copied))
    before = {name: (copied / name).read_bytes().splitlines(keepends=True) for name in (METRICS, GAMES)}
    run.forget_after(1_000)
    assert (copied / METRICS).read_bytes() == b"".join(before[METRICS][:2])
    assert (copied / GAMES).read_bytes() == b"".join(before[GAMES][:8])
    run.forget_after(0)
    assert (run.metrics(), run.games()) == ([], [])


@pytest.mark.parametrize("name", [METRICS, GAMES])
def test_a_last_line_that_was_cut_off_is_no_line(name: str, copied: Path) -> None:
    whole, found = (copied / name).read_bytes(), READ[name](Run.open(str(copied)))
    last = len(whole.splitlines()[-1])
    for cut in (1, 2, last // 2, last, last + 1):
        (copied / name).write_bytes(whole[:-cut])
        assert READ[name](Run.open(str(copied))) == found[:-1]


@pytest.mark.parametrize("name", [METRICS, GAMES])
def test_a_torn_line_of_a_lost_checkpoint_changes_nothing(name: str, cut_short: Path, tmp_path: Path) -> None:
    untouched = go_on(Path(shutil.copytree(cut_short, tmp_path / "untouched")))
    with (cut_short / name).open("ab") as file:
        file.write(b'{"games": 30, "ke')
    assert go_on(cut_short).digest() == untouched.digest()


@pytest.mark.parametrize("torn", [False, True])
def test_lines_without_a_saved_state_are_forgotten(torn: bool, copied: Path, tiny: Path) -> None:
    (copied / STATE).unlink()
    for name, kept in ((METRICS, 1), (GAMES, 4)):
        write(copied, name, lines(copied, name)[:kept])
    if torn:
        (copied / GAMES).write_bytes((copied / GAMES).read_bytes()[:-30])
    assert go_on(copied).digest() == digest(tiny)


# Damage


def test_a_state_cut_short_or_with_a_flipped_bit_is_named_unless_it_says_the_same(cut_short: Path) -> None:
    whole, kept = (cut_short / STATE).read_bytes(), arrays(cut_short)
    for size in range(0, len(whole), 37):
        (cut_short / STATE).write_bytes(whole[:size])
        assert "state.npz' is damaged (" in error_of(Run.open(str(cut_short)).state)
    named = 0
    for at in range(0, len(whole), 5):
        changed = bytearray(whole)
        changed[at] ^= 1 << at % 8
        (cut_short / STATE).write_bytes(changed)
        said = error_of(RunPlayer, SMALL, str(cut_short))
        if said:
            assert said.startswith(f"{str(cut_short / STATE)!r} is damaged (")
            assert said.endswith(f"): delete {cut_short} and train again")
            named += 1
        else:
            assert all((array == kept[name]).all() for name, array in arrays(cut_short).items())
    assert named > len(whole) / 5 / 2


class Opened:
    def __reduce__(self) -> Any:
        return os.mkdir, ("opened",)


def test_a_pickle_in_a_state_is_not_executed(copied: Path, home: Path) -> None:
    kept = arrays(copied)
    np.savez(copied / STATE, **{**kept, "value": np.array([Opened()], object)})
    harmful = (copied / STATE).read_bytes()
    for content in (harmful, pickle.dumps(Opened())):
        (copied / STATE).write_bytes(content)
        for call in (lambda: Run.open(str(copied)).state(), lambda: RunPlayer(THREE, str(copied))):
            assert "state.npz' is damaged (" in error_of(call)
    assert not os.path.exists("opened")
    pickle.loads(pickle.dumps(Opened()))
    assert os.path.exists("opened")  # so it would have been seen


@pytest.mark.parametrize("dtype", ["U3", "S3", "M8[s]", "c16", "?", [("a", "i4")]])
@pytest.mark.parametrize("name", ["games", "value", "added"])
def test_a_state_with_arrays_of_no_numbers_is_named(name: str, dtype: Any, copied: Path) -> None:
    np.savez(copied / STATE, **{**arrays(copied), name: np.zeros(2, dtype)})
    for call in (Run.open(str(copied)).state, lambda: RunPlayer(THREE, str(copied))):
        assert "state.npz' is damaged (" in error_of(call)


def test_a_state_that_claims_more_than_memory_holds_is_named(copied: Path) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f4", "fortran_order": False, "shape": (1 << 45,)})
    with zipfile.ZipFile(copied / STATE, "w") as file:
        file.writestr("games.npy", header.getvalue())
    assert "state.npz' is damaged (" in error_of(Run.open(str(copied)).state)


def test_a_state_whose_arrays_are_larger_than_any_run_s_is_named(
    cut_short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.savez_compressed(cut_short / STATE, **arrays(cut_short), more=np.zeros(100_000))
    with zipfile.ZipFile(cut_short / STATE) as file:
        size = sum(info.file_size for info in file.infolist())
    state = Run.open(str(cut_short)).state
    monkeypatch.setattr("play.lab.runs._LARGEST", size)
    assert state()[0] == 20
    monkeypatch.setattr("play.lab.runs._LARGEST", size - 1)
    assert f"state.npz' is damaged (its arrays take more than {size - 1:,} bytes)" in error_of(state)


@pytest.mark.parametrize("other", [{"game": "fano"}, {"unmasked": True}, {"player": "ntuple"}])
def test_a_state_of_another_run_is_named(other: dict[str, Any], copied: Path, train: Any, tmp_path: Path) -> None:
    train(tmp_path / "other", episodes=100, **other)
    shutil.copy(tmp_path / "other" / STATE, copied)
    for call in (lambda: RunPlayer(THREE, str(copied)), lambda: go_on(copied)):
        assert re.fullmatch(f"'{copied}/state.npz' is damaged .*: delete {copied} and train again", error_of(call))


def test_a_state_without_a_number_in_every_entry_is_refused(copied: Path) -> None:
    kept = arrays(copied)
    np.savez(copied / STATE, **{**kept, "value": np.full_like(kept["value"], np.nan)})
    assert error_of(RunPlayer, THREE, str(copied))


@pytest.mark.parametrize("name", [METRICS, GAMES])
def test_a_line_that_is_none_is_named(name: str, copied: Path) -> None:
    first, *rest = (copied / name).read_bytes().splitlines(keepends=True)
    wrong = [first[:-9] + b"\n", b"\xff\xfe\n", b"[1]\n", b"null\n", b'{"kept": 1}\n', b'{"games": "1"}\n', b"\n"]
    for line in [*wrong, b"[" * 100_000 + b"\n"]:
        (copied / name).write_bytes(b"".join([line, *rest]))
        assert f"{name}' is damaged (" in error_of(READ[name], Run.open(str(copied))), line[:20]


NO_CONFIG = [b"", b"{", b"[]", b"null", b"\xff", b'{"format": 2}', b'{"format": 1}', b"[" * 100_000]


@pytest.mark.parametrize("content", NO_CONFIG)
def test_a_config_that_is_none_is_named(content: bytes, copied: Path) -> None:
    (copied / CONFIG).write_bytes(content)
    assert str(copied) in error_of(Run.open, str(copied))


@pytest.mark.parametrize(
    "field", ["format", "player", "game", "seed", "episodes", "until", "every", "v", "epsilon", "step", "unmasked"]
)
def test_a_wrong_config_never_ends_in_a_traceback(field: str, cut_short: Path, tmp_path: Path) -> None:
    config = json.loads((cut_short / CONFIG).read_text())
    lacking = {name: config[name] for name in config if name != field}
    for number, changed in enumerate((lacking, *({**config, field: value} for value in (None, "x", [], {}, -1, 0)))):
        folder = Path(shutil.copytree(cut_short, tmp_path / str(number)))
        (folder / CONFIG).write_text(json.dumps(changed))
        error_of(RunPlayer, SMALL, str(folder))
        error_of(go_on, folder)


def test_a_run_that_lost_its_metrics_never_ends_in_anything_but_one_line(run: Any, copied: Path) -> None:
    (copied / METRICS).unlink()
    ran = run(train_command, "--out", copied, "--resume")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


# The folder


def test_a_folder_can_be_trained_by_one_at_a_time(run: Any, cut_short: Path, train: Any, tmp_path: Path) -> None:
    with Run.open(str(cut_short)).held():
        assert RunPlayer(SMALL, str(cut_short)).name == f"run:{cut_short}", "but it can be played meanwhile"
        ran = run(train_command, "--out", cut_short, "--resume")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == f"Error: run {str(cut_short)!r} is being trained by another process: wait until it ends\n"
    assert run(train_command, "--out", cut_short, "--resume").code == 0


def test_a_run_is_not_begun_where_one_is(run: Any, copied: Path) -> None:
    before = files_in(copied)
    ran = run(train_command, "--out", copied, "--game", "3,3,3", "--episodes", "10")
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(rf"Error: '{copied}' .*holds a run.*: add --resume, .*or name another folder\n", ran.err)
    assert files_in(copied) == before


def test_a_state_without_its_config_is_not_taken_for_a_new_runs_own(run: Any, copied: Path) -> None:
    (copied / CONFIG).unlink()
    ran = run(train_command, "--out", copied, "--game", "3,3,3", "--episodes", "100", "--every", "50")
    assert (ran.code, ran.err.count("\n")) == (2, 1)


def test_a_folder_that_cannot_be_used_is_named(run: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, why in (
        (tmp_path / "file" / "below", "cannot use '{}' as a run's folder: "), ("/proc/ttt4", "cannot use '{}' as "),
        (tmp_path / "file", "Invalid value for '--out': Directory '{}' is a file."),
    ):  # fmt: skip
        ran = run(train_command, "--out", folder, "--game", "3,3,3", "--episodes", "10")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.splitlines()[-1].startswith(f"Error: {why.format(folder)}")


def test_a_folder_that_was_there_stays_though_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    for name in ("theirs", "ours"):
        with Run(str(tmp_path / name), {}).held():
            assert (tmp_path / name).is_dir()
    assert (tmp_path / "theirs").is_dir()
    assert not (tmp_path / "ours").exists()


def test_after_a_full_disk_it_goes_on(run: Any, cut_short: Path, train: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(file: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        ran = run(train_command, "--out", cut_short, "--resume")
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
        assert re.fullmatch(rf"Error: cannot write '{cut_short}/\w+\.\w+': No space left on device\n", ran.err)
    ran = run(train_command, "--out", cut_short, "--resume", "--json")
    assert json.loads(ran.out)["digest"] == train(cut_short.parent / "whole", "2,3,3", episodes=40, every=10).digest()
