"""How many one-line faults the default tests notice.

    python tests/bench/bench_faults.py --count 100 --seed 1

First the default tests run once with coverage, which tells what each test executes. Then faults are drawn at random
from the lines that some test executes: a comparison, an operator, a constant or a condition is changed, or a call left
out. For each fault the tests that execute its line run on a copy of the tree, the quickest first, until one fails.
Faults that no test notices are listed: each is a missing test, or changes nothing that can be seen.

`--tree` draws the same faults but runs the tests of another checkout, to compare two sets of tests.
Needs pytest-cov.
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parents[2]
ROOMS = ("solver", "oracle", "play")
PLUGIN = """
import json, os, time
import pytest

CHOSEN = {name: at for at, name in enumerate(json.load(open(os.environ["CHOSEN"])))} if "CHOSEN" in os.environ else None

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    if CHOSEN is not None:
        items[:] = sorted((item for item in items if item.nodeid in CHOSEN), key=lambda item: CHOSEN[item.nodeid])

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item, nextitem):
    began = time.monotonic()
    yield
    if "TIMES" in os.environ:
        with open(f"{os.environ['TIMES']}/{os.getpid()}", "a") as file:
            file.write(json.dumps([item.nodeid, time.monotonic() - began]) + "\\n")
"""
SETTINGS = """
[run]
source = solver,oracle,play
concurrency = thread,greenlet
parallel = true
sigterm = true
patch = subprocess,_exit
data_file = {data}
"""
OPERATORS: dict[type, tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"), ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="), ast.Is: ("is", "is not"), ast.IsNot: ("is not", "is"), ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"), ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "//"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip


class Fault(NamedTuple):
    """A line of a file, and what it is changed to."""

    file: str
    line: int
    before: str
    after: str


def faults_in(file: str, text: str) -> Iterator[Fault]:
    lines = text.split("\n")

    def changed(line: int, start: int, stop: int, new: str) -> Fault:
        old = lines[line - 1]
        return Fault(file, line, old, old.encode()[:start].decode() + new + old.encode()[stop:].decode())

    for node in ast.walk(ast.parse(text)):
        if not hasattr(node, "lineno") or node.lineno != node.end_lineno:
            continue
        source = lines[node.lineno - 1].encode()
        if operands := _operands(node):
            left, right, operator = operands
            old, new = OPERATORS.get(type(operator), ("", ""))
            at = source.find(old.encode(), left.end_col_offset, right.col_offset) if old else -1
            if at >= 0:
                yield changed(node.lineno, at, at + len(old), new)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, bool):
            new = str(not node.value if isinstance(node.value, bool) else node.value + 1)
            yield changed(node.lineno, node.col_offset, node.end_col_offset, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield changed(node.lineno, node.col_offset, node.operand.col_offset, "")
        elif isinstance(node, ast.IfExp | ast.If | ast.While) and node.test.lineno == node.test.end_lineno:
            condition = source[node.test.col_offset : node.test.end_col_offset].decode()
            yield changed(node.test.lineno, node.test.col_offset, node.test.end_col_offset, f"not ({condition})")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield changed(node.lineno, node.col_offset, node.end_col_offset, "pass")


def _operands(node: ast.AST) -> tuple[Any, Any, ast.AST] | None:
    """Return the first two operands of an operator, and the operator."""
    if isinstance(node, ast.Compare):
        return node.left, node.comparators[0], node.ops[0]
    if isinstance(node, ast.BinOp):
        return node.left, node.right, node.op
    return (node.values[0], node.values[1], node.op) if isinstance(node, ast.BoolOp) else None


class Tests:
    """The default tests of a checkout: which lines each executes, and how long it takes."""

    def __init__(self, tree: Path, python: str, kept: Path) -> None:
        """Run them with coverage, unless that has been kept."""
        self.tree, self.python = tree, python
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "faults_plugin.py").write_text(PLUGIN)
        self.plugin = kept
        if not (kept / "data").exists():
            self._run_all(kept)
        self.of_line = self._read(kept)
        said = [json.loads(line) for file in (kept / "times").iterdir() for line in file.open()]
        self.seconds = {str(test): float(seconds) for test, seconds in said}

    def _run_all(self, kept: Path) -> None:
        (kept / "settings").write_text(SETTINGS.format(data=kept / "data"))
        (kept / "times").mkdir(exist_ok=True)
        options = ["-q", "-p", "faults_plugin", "--cov", f"--cov-config={kept / 'settings'}", "--cov-context=test"]
        env = os.environ | {"PYTHONPATH": str(kept), "TIMES": str(kept / "times")}
        subprocess.run([self.python, "-m", "pytest", *options, "--cov-report="], cwd=self.tree, env=env, check=False)

    def _read(self, kept: Path) -> dict[tuple[str, int], set[str]]:
        from coverage import CoverageData

        data, found = CoverageData(str(kept / "data")), {}
        data.read()
        for path in data.measured_files():
            name = str(Path(path).relative_to(self.tree))
            for line, contexts in data.contexts_by_lineno(path).items():
                tests = {context.split("|")[0] for context in contexts} - {""}
                if tests:
                    found[name, line] = tests
        return found

    def notice(self, fault: Fault, copy: Path) -> str:
        """Return `noticed`, `missed`, or `gone` if the checkout has no such line that a test executes."""
        file = copy / fault.file
        lines = (self.tree / fault.file).read_text().split("\n") if file.exists() else []
        same = [at for at, line in enumerate(lines, 1) if line == fault.before and (fault.file, at) in self.of_line]
        if not same:
            return "gone"
        at = min(same, key=lambda at: abs(at - fault.line))
        tests = sorted(self._tests_of(fault.file, at), key=lambda test: self.seconds.get(test, 9.0))
        original = file.read_bytes()
        with tempfile.NamedTemporaryFile("w", suffix=".json") as chosen:
            json.dump(tests, chosen)
            chosen.flush()
            try:
                file.write_text("\n".join([*lines[: at - 1], fault.after, *lines[at:]]))
                return "noticed" if self._fail(tests, copy, chosen.name) else "missed"
            finally:
                file.write_bytes(original)

    def _tests_of(self, file: str, line: int) -> set[str]:
        """Return the tests that execute a line; those of the whole file for a line that runs when it is imported."""
        functions = (ast.FunctionDef, ast.AsyncFunctionDef)
        nodes = [node for node in ast.walk(ast.parse((self.tree / file).read_text())) if isinstance(node, functions)]
        if any(node.body[0].lineno <= line <= (node.end_lineno or 0) for node in nodes):
            return self.of_line[file, line]
        return set().union(*(tests for (name, _), tests in self.of_line.items() if name == file))

    def _fail(self, tests: list[str], copy: Path, chosen: str) -> bool:
        files = sorted({test.split("::")[0] for test in tests})
        env = os.environ | {"PYTHONPATH": f"{copy}{os.pathsep}{self.plugin}", "CHOSEN": chosen}
        command = [self.python, "-m", "pytest", "-n", "0", "-x", "-q", "-p", "faults_plugin", "-p", "no:cacheprovider"]
        try:
            ran = subprocess.run([*command, *files], cwd=copy, env=env, capture_output=True, timeout=600, check=False)
        except subprocess.TimeoutExpired:
            return True
        return ran.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tree", type=Path, default=HERE, help="the checkout whose tests run")
    parser.add_argument("--python", default=sys.executable, help="the Python of that checkout")
    parser.add_argument("--lines", type=Path, help="the --keep of an earlier run, whose faults are taken")
    parser.add_argument("--keep", type=Path, required=True, help="a folder for the coverage, which later runs reuse")
    options = parser.parse_args()
    tests = Tests(options.tree.resolve(), options.python, options.keep.resolve())
    drawn = options.keep / f"faults-{options.seed}-{options.count}.json"
    if options.lines:
        drawn = options.lines / drawn.name
    if not drawn.exists():
        files = sorted({name for name, _ in tests.of_line})
        possible = [
            fault
            for name in files
            for fault in faults_in(name, (tests.tree / name).read_text())
            if (name, fault.line) in tests.of_line
        ]
        drawn.write_text(json.dumps(random.Random(options.seed).sample(possible, options.count)))
    faults = [Fault(*fault) for fault in json.loads(drawn.read_text())]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(tests.tree, copy, ignore=shutil.ignore_patterns(".git", ".venv", "*_cache", "__pycache__"))
        results: dict[str, int] = {}
        for fault in faults:
            began = time.monotonic()
            result = tests.notice(fault, copy)
            results[result] = results.get(result, 0) + 1
            print(
                f"{result} {fault.file}:{fault.line} {fault.after.strip()} ({time.monotonic() - began:.0f} s)",
                flush=True,
            )
    print(", ".join(f"{count} {result}" for result, count in sorted(results.items())))


if __name__ == "__main__":
    main()
