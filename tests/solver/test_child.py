"""Processes that ttt4 starts, and which code they import."""

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import solver
from solver.child import child_command
from solver.own_code import load_own

TREE = Path(solver.__file__).parents[1]

STARTERS = {
    "solver/kernels/loading.py": "compiles in the background",
    "solver/proof/compile.py": "compiles half of the kernels of a build",
    "play/cli/starting.py": "builds the store that is missing",
    "play/server/worker.py": "the worker of the server",
    "play/gomocup/process.py": "a Gomocup engine that the user names",
}


STARTING = re.compile(
    r"\bsubprocess\.(run|Popen|call|check_|getoutput)|create_subprocess_|multiprocessing|ProcessPool|os\.(exec|spawn|posix_spawn|system|popen)"
)


def test_every_place_that_starts_a_process_is_known_and_one_alone_names_the_interpreter() -> None:
    starters, interpreters = set(), set()
    for room in ("solver", "oracle", "play"):
        for file in (TREE / room).rglob("*.py"):
            text, name = file.read_text(), str(file.relative_to(TREE))
            if STARTING.search(text):
                starters.add(name)
            if "sys.executable" in text.replace("os.path.dirname(sys.executable)", ""):
                interpreters.add(name)
    assert starters == set(STARTERS)
    assert interpreters == {"solver/child.py"}


@pytest.mark.parametrize("name", ["solver", "play", "json"])
def test_a_child_imports_nothing_from_the_current_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / f"{name}.py").write_text("raise SystemExit('foreign code ran')")
    ran = subprocess.run(
        child_command(f"import {name}, sys; print(*sys.argv[1:])", "a", "b"),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "a b\n", "")


def test_code_that_the_user_names_is_found_in_the_current_folder_which_hides_nothing_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_own_player.py").write_text("import my_own_helper\nPLAYER = my_own_helper.PLAYER")
    (tmp_path / "my_own_helper.py").write_text("PLAYER = 'mine'")
    (tmp_path / "this.py").write_text("raise SystemExit('foreign code ran')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert load_own("my_own_player:PLAYER") == "mine"
    found = find_spec("this")
    assert found is not None
    assert Path(str(found.origin)).parent != tmp_path
