"""Every example of a help and of a page runs as printed on a machine with two CPUs: a sweep as its plan, `scale ab` with
--dry-run, what reads a stored run on one."""

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from scale_sweep.cli.commands import COMMANDS, load_command
from scale_sweep.experiment.axes import all_axes
from scale_sweep.sweep.file import bundled_sweeps
from tests.needs import need
from tests.unit.stored_runs import unpacked
from tests.unit.test_tls import make_authority
from tests.unit.whole_commands import run
from tools.walkthrough.pages import command_lines
from tools.walkthrough.unshown import PLACEHOLDER, READ, codes_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted(p for p in (ROOT / "docs").glob("*.md") if p.name != "architecture.md")]
PLANNED = re.compile(r"scale (?:sweep|plan|ab) (?:cpu|disk|clients|" + "|".join(bundled_sweeps()) + r") .*-")
READS = re.compile(rf"{READ.pattern}|scale export last(?= )")
# Of the reader's: another server, disks, the memory of a larger machine. Such a plan may say that it cannot start.
OWN_THINGS = re.compile(r"--(?:endpoint|dir|device|loop|data-dir ram:)")
ELSEWHERE = re.compile(r"--(?:hosts|cluster)\b")
NOT_PLANNED = {"-y", "--no-metrics", "--dashboards"}  # flags of a sweep


def helps() -> list[str]:
    """The examples of all commands, below groups too, and of the axes."""
    found, commands = [axis.facts.example for axis in all_axes()], [load_command(name) for name in COMMANDS]
    while commands:
        command = commands.pop()
        commands += getattr(command, "commands", {}).values()
        block = (command.epilog or "").rpartition("Example: ")[2]
        found += command_lines(f"```sh\n{block}\n```")
    return found


def examples() -> list[str]:
    lines = dict.fromkeys(helps())
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        lines |= dict.fromkeys(" ".join(line.split()) for line in command_lines(text))
    return [line for line in lines if not PLACEHOLDER.search(line) and "…" not in line and not ELSEWHERE.search(line)]


MISSING_PROGRAM = re.compile(r"there is no program (\S+)")
EXAMPLES = examples()


@pytest.fixture(scope="module", autouse=True)
def two_cpus():
    before = os.sched_getaffinity(0)
    if len(before) < 2:
        pytest.skip("a machine with one CPU")
    os.sched_setaffinity(0, sorted(before)[:2])
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("examples")
    unpacked("cpu", made / "results")
    (made / "sweeps").symlink_to(ROOT / "sweeps")
    make_authority(made / "ca.pem")
    return made


def planned(line: str) -> list[str]:
    _, command, *words = shlex.split(line)
    if command == "sweep":
        return ["plan", *(word for word in words if word not in NOT_PLANNED)]
    return [command, *words, *(["--dry-run"] if command == "ab" and "--dry-run" not in words else [])]


@pytest.mark.parametrize("line", [line for line in EXAMPLES if PLANNED.match(line)])
def test_a_sweep_can_be_planned(line, folder):
    ended = run(*planned(line), cwd=folder)
    missing = MISSING_PROGRAM.search(ended.stderr) if ended.code == 2 else None
    if missing is not None and shutil.which(missing[1]) is None:
        need(missing[1])  # skips or fails
    assert ended.code == 0 or (ended.code == 3 and OWN_THINGS.search(line)), ended.stderr


@pytest.mark.parametrize("line", [line for line in EXAMPLES if READS.match(line)])
def test_what_reads_a_stored_run_ends_well(line, folder):
    ended = run(*shlex.split(line)[1:], cwd=folder)
    assert ended.code in codes_of(line), ended.stderr


def test_there_are_examples_of_both_kinds():
    assert len([line for line in EXAMPLES if PLANNED.match(line)]) > 30
    assert len([line for line in EXAMPLES if READS.match(line)]) > 10
