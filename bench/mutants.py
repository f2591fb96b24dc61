"""How many faults in judge, analysis and results do the unit tests find? Seeded mutants: a changed operator or number.

    python bench/mutants.py [--count 200] [--seed 46] [--tests FILE...] [--out FILE.csv]

One run of tests/unit notes which tests reach a mutated line. Then each mutant runs with at most 60 of them, in a copy
of the tracked files. Compare two sets of tests by the same seed on the same sources. About 30 minutes on one core.
"""

from __future__ import annotations

import argparse
import ast
import csv
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("judge", "analysis", "results")
TESTS_MAX = 60
# Limits of CPU time: a busy machine kills no mutant. The deadline is LONGER times as long.
MUTANT_CPU_S, ALL_CPU_S, LONGER = 120, 3600, 10
SWAPPED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
}  # fmt: skip
SITES, REACHED = "SCALE_MUTANT_SITES", "SCALE_MUTANT_REACHED"  # files between this program and its plugin of pytest


@dataclass(frozen=True)
class Mutant:
    """The text of one line from start to end becomes `text`. path: from the root."""

    path: str
    line: int
    start: int
    end: int
    text: str


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Each that a file can have: one for a comparison, an operation, a condition and a number."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        changed = _changed(node)
        if changed is not None and node.lineno == node.end_lineno:
            name = str(path.relative_to(ROOT))
            yield Mutant(name, node.lineno, node.col_offset, node.end_col_offset, f"({ast.unparse(changed)})")


def _changed(node: ast.AST) -> ast.expr | None:
    match node:
        case ast.Compare(left, [op], right) if type(op) in SWAPPED:
            return ast.Compare(left, [SWAPPED[type(op)]()], right)
        case ast.BinOp(left, op, right) if type(op) in SWAPPED:
            return ast.BinOp(left, SWAPPED[type(op)](), right)
        case ast.BoolOp(op, values):
            return ast.BoolOp(SWAPPED[type(op)](), values)
        case ast.UnaryOp(ast.Not(), operand):
            return operand
        case ast.IfExp(test, body, orelse):
            return ast.IfExp(test, orelse, body)
        case ast.Constant(value) if type(value) in (int, float):
            return ast.Constant(value * 2 or 1)
    return None


class Reached:
    """A plugin of pytest: which test runs which of the lines in the file that SITES names."""

    def __init__(self) -> None:
        sites = json.loads(Path(os.environ[SITES]).read_text())
        self.sites = {str(ROOT / path): set(lines) for path, lines in sites.items()}
        self.tests: dict[str, set[str]] = defaultdict(set)
        self.test = ""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item):
        self.test = item.nodeid
        sys.settrace(self.called)
        try:
            return (yield)
        finally:
            sys.settrace(None)

    def called(self, frame, event, argument):
        return self.executed if frame.f_code.co_filename in self.sites else None

    def executed(self, frame, event, argument):
        if frame.f_lineno in self.sites[frame.f_code.co_filename]:
            self.tests[f"{frame.f_code.co_filename}:{frame.f_lineno}"].add(self.test)
        return self.executed

    def pytest_sessionfinish(self):
        reached = {site.removeprefix(f"{ROOT}/"): sorted(tests) for site, tests in self.tests.items()}
        Path(os.environ[REACHED]).write_text(json.dumps(reached))


def pytest_configure(config):
    if SITES in os.environ:
        config.pluginmanager.register(Reached())


def tested(root: Path, *words: str, cpu_s: int, **environment: str) -> int:
    """The exit code of pytest; negative if it used its CPU time up, which is a found fault too."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'runner'}{os.pathsep}{root}", **environment}
    command = ["prlimit", f"--cpu={cpu_s}", sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(
            [*command, *words], cwd=root, env=environment, stdout=subprocess.DEVNULL, timeout=cpu_s * LONGER
        )
        return done.returncode
    except subprocess.TimeoutExpired:
        return -1


def copied(folder: Path) -> Path:
    """The tracked files."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def reached_by(root: Path, tests: list[str], mutants: list[Mutant], folder: Path) -> dict[str, list[str]]:
    """Tests by `path:line`."""
    lines: dict[str, set[int]] = defaultdict(set)
    for mutant in mutants:
        lines[mutant.path].add(mutant.line)
    sites, reached = folder / "sites.json", folder / "reached.json"
    sites.write_text(json.dumps({path: sorted(found) for path, found in lines.items()}))
    names = {SITES: str(sites), REACHED: str(reached)}
    chosen = (*tests, "-m", "not alone and not monte_carlo", "-p", "bench.mutants")
    tested(root, *chosen, cpu_s=ALL_CPU_S, **names)
    return json.loads(reached.read_text())


def killed(root: Path, mutant: Mutant, tests: list[str]) -> bool:
    """Whether one of the tests fails with the mutant."""
    path = root / mutant.path
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines(keepends=True)
    line = lines[mutant.line - 1].encode()
    lines[mutant.line - 1] = (line[: mutant.start] + mutant.text.encode() + line[mutant.end :]).decode()
    path.write_text("".join(lines), encoding="utf-8")
    try:
        return tested(root, "-x", *tests, cpu_s=MUTANT_CPU_S) != 0
    finally:
        path.write_text(text, encoding="utf-8")


def drawn(mutant: Mutant, seed: int) -> str:
    """Its place among all mutants: the same as long as its line is the same, wherever that stands in the file."""
    line = (ROOT / mutant.path).read_text(encoding="utf-8").splitlines()[mutant.line - 1]
    return hashlib.sha256(f"{seed} {mutant.path} {line} {mutant.start} {mutant.text}".encode()).hexdigest()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=46)
    parser.add_argument("--tests", nargs="+", default=["tests/unit"])
    parser.add_argument("--out", type=Path, help="a CSV file with a row for each mutant")
    given = parser.parse_args()
    paths = sorted(path for room in ROOMS for path in (ROOT / "runner/scale_sweep" / room).rglob("*.py"))
    every = [mutant for path in paths for mutant in mutants_of(path)]
    chosen = sorted(every, key=lambda mutant: drawn(mutant, given.seed))[: given.count]
    rows = []
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        root = copied(Path(name) / "tree")
        reached = reached_by(root, given.tests, chosen, Path(name))
        for number, mutant in enumerate(chosen, 1):
            tests = reached.get(f"{mutant.path}:{mutant.line}", [])
            tests = random.Random(number).sample(tests, min(len(tests), TESTS_MAX))
            how = "not reached" if not tests else "killed" if killed(root, mutant, tests) else "survived"
            rows.append([how, mutant.path, mutant.line, mutant.text])
            print(f"{number} of {given.count}: {how} {mutant.path}:{mutant.line} {mutant.text}", flush=True)
    if given.out:
        with given.out.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["result", "file", "line", "mutant"], *rows])
    print(f"{given.count} mutants of {len(every)}, seed {given.seed}:", dict(Counter(row[0] for row in rows)))


if __name__ == "__main__":
    main()
