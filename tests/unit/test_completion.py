"""Shell completion, asked as bash asks: runs, databases, workloads, sweeps and flags. And words that mean the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from scale_sweep.cli.commands import with_help
from scale_sweep.sweep.find import bundled_sweeps
from tests.unit.stored_runs import unpacked

SCRIPT = "import sys; sys.argv[0] = 'scale'; from scale_sweep.cli import main; main()"


def scale(words: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def candidates(line: str, folder: Path) -> list[str]:
    words = line.split(" ")
    done = scale([], folder, _SCALE_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
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
    name = next((folder / "results").iterdir()).name
    assert candidates("scale show ", folder) == ["last", name]
    assert candidates(f"scale report {name[:10]}", folder) == [name]
    other = next((folder / "other").iterdir()).name
    assert candidates("scale show --results other ", folder) == ["last", other]


def test_databases_workloads_and_sweeps(folder):
    assert candidates("scale sweep cpu --target post", folder) == ["postgres"]
    assert "postgres,questdb" in candidates("scale sweep cpu --target postgres,q", folder)
    assert "iot-queries" in candidates("scale sweep cpu --workload iot", folder)
    bundled = list(bundled_sweeps())
    assert candidates("scale sweep ", folder) == ["cpu", "disk", "clients", *bundled, "mine.toml", "other/", "results/"]
    assert candidates("scale sweep article-cpu-", folder) == ["article-cpu-stmt"]
    assert "tdengine-disk" in candidates("scale sweep cpu --reference td", folder)
    assert candidates("scale sweep mi", folder) == ["mine.toml"]


def test_price_lists(folder):
    assert candidates("scale size --prices ", folder) == ["prices-example", "mine.toml", "other/", "results/"]
    assert candidates("scale size --run l", folder) == ["last"]


def test_commands_and_flags(folder):
    assert "sweep" in candidates("scale sw", folder)
    assert "--replicates" in candidates("scale sweep cpu --repl", folder)


def test_help_and_version_as_words(folder):
    assert with_help(["help"]) == ["--help"]
    assert with_help(["help", "sweep"]) == ["sweep", "--help"]
    assert with_help(["show", "help"]) == ["show", "help"]
    assert scale(["-V"], folder).stdout.startswith("scale ")
    done = scale(["help", "list"], folder)
    assert done.returncode == 0
    assert "Usage: scale list" in done.stdout


def test_the_name_of_an_axis_is_its_command_too(folder):
    by_name, by_command = (
        scale(["plan", word, "--cores", "1", "--target", "null", "--order-seed", "3", "--json"], folder)
        for word in ("cores", "cpu")
    )
    assert by_name.returncode in (0, 3), by_name.stderr
    first, second = (json.loads(done.stdout)["plan"] for done in (by_name, by_command))
    assert first == second  # the findings may differ: the load of the machine changes
