"""Shell completion, asked as bash asks: runs, databases, workloads, sweeps and flags. And words that mean the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scale_sweep.cli.commands import with_help
from scale_sweep.sweep.file import bundled_sweeps
from tests.unit.stored_runs import unpacked

SCRIPT = "import sys; sys.argv[0] = 'scale'; from scale_sweep.cli import main; main()"


def scale(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    how = {"cwd": folder, "env": {**os.environ, **variables}, "capture_output": True, "text": True, "timeout": 60}
    return subprocess.run([sys.executable, "-c", SCRIPT, *words], check=False, **how)


def candidates(line: str, folder: Path) -> list[str]:
    """Of the words after `scale`."""
    line = f"scale {line}"
    done = scale([], folder, _SCALE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(line.count(" ")))
    assert not done.stderr, done.stderr
    return done.stdout.split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("work")
    unpacked("cpu", made / "results")
    unpacked("varied", made / "other")
    (made / "mine.toml").write_text("", encoding="utf-8")
    (made / "notes.txt").write_text("", encoding="utf-8")
    return made


def test_runs_are_completed_from_the_results_that_are_named(folder):
    name, other = (next((folder / results).iterdir()).name for results in ("results", "other"))
    assert candidates("show ", folder) == ["last", name]
    assert candidates(f"report {name[:10]}", folder) == [name]
    assert candidates("show --results other ", folder) == ["last", other]


FILES = ["mine.toml", "other/", "results/"]
WORDS = {  # a list: all that the word may become; a text: one of them
    "sweep cpu --target post": ["postgres"],
    "sweep cpu --target postgres,q": "postgres,questdb",
    "sweep cpu --workload iot": "iot-queries",
    "sweep cpu --reference td": "tdengine-disk",
    "sweep cpu --repl": "--replicates",
    "sw": "sweep",
    "sweep ": ["cpu", "disk", "clients", *bundled_sweeps(), *FILES],
    "sweep article-cpu-": ["article-cpu-stmt"],
    "sweep mi": ["mine.toml"],
    "size --prices ": ["prices-example", *FILES],
    "size --run l": ["last"],
}


@pytest.mark.parametrize(("line", "found"), WORDS.items())
def test_what_a_word_may_become(folder, line, found):
    told = candidates(line, folder)
    assert told == found if isinstance(found, list) else found in told


def test_help_and_version_as_words(folder):
    assert with_help(["help"]) == ["--help"]
    assert with_help(["help", "sweep"]) == ["sweep", "--help"]
    assert with_help(["show", "help"]) == ["show", "help"]
    assert scale(["-V"], folder).stdout.startswith("scale ")
    done = scale(["help", "list"], folder)
    assert done.returncode == 0 and "scale list" in done.stdout


def test_the_name_of_an_axis_is_its_command_too(folder):
    asked = "--cores 1 --target null --order-seed 3 --json".split()
    by_name, by_command = (scale(["plan", word, *asked], folder) for word in ("cores", "cpu"))
    assert by_name.returncode in (0, 3), by_name.stderr
    first, second = (json.loads(done.stdout)["plan"] for done in (by_name, by_command))
    assert first == second  # the findings may differ: the load of the machine changes
