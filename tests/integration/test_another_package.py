"""A target, a runtime and an axis of another package, by the recipes of docs/architecture.md, word by word."""

import csv
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.integration.cli import assert_measured, assert_nothing_left, run

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "architecture.md").read_text(encoding="utf-8")
RECIPE = PAGE[PAGE.index("## Adding a target") :]
FILE = re.compile(r"^ *`([\w./]+)`:\n *```(?:toml|python)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^ *```sh\n *scale (.*)\n *```$", re.MULTILINE)


def files_of_the_recipe() -> dict[str, str]:
    """Each file with its text; one that is named twice goes on where it ended."""
    found: dict[str, str] = {}
    for name, text in FILE.findall(RECIPE):
        found[name] = found.get(name, "") + textwrap.dedent(text) + "\n"
    return found


def beside(*folders: Path) -> str:
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The package, installed into a directory of its own."""
    source, site = tmp_path_factory.mktemp("scale-example"), tmp_path_factory.mktemp("site")
    for name, text in files_of_the_recipe().items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text)
    offline = ["--no-build-isolation", "--no-index"] if importlib.util.find_spec("setuptools") else []
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *offline, "--target", str(site), str(source)]
    subprocess.run(pip, check=True, timeout=120, stdout=subprocess.DEVNULL)
    return site


@pytest.fixture(scope="module")
def swept(installed, data_dir, tmp_path_factory):
    folder = tmp_path_factory.mktemp("swept")
    command, _ = COMMAND.findall(RECIPE)
    done = run(
        *shlex.split(command),
        *"--window-max 0 --json --data-dir".split(),
        str(data_dir),
        cwd=folder,
        PYTHONPATH=beside(installed),
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout), done.stderr


def test_the_recipe_has_the_files_that_it_names():
    assert set(files_of_the_recipe()) == {
        "pyproject.toml",
        "scale_example/example_facts.py",
        "scale_example/example_target.py",
        "scale_example/runtime.py",
        "scale_example/axis.py",
    }


def test_a_target_and_a_runtime_of_another_package_are_swept_with(swept, data_dir):
    _, document, said = swept
    assert "of example (nice, " in said
    (trial,) = document["trials"]
    assert (trial["trial"]["subject"]["target"], trial["trial"]["subject"]["runtime"]) == ("example", "nice")
    assert trial["effective"]["server_version"] == "example 1.0"
    assert trial["measurement"]["rows_acked"] > 0
    assert trial["verdict"]["kind"] != "ABORTED", trial["verdict"]
    assert_nothing_left(data_dir)


def test_its_knob_is_a_role_with_a_flag_a_column_and_a_heading(swept, installed):
    folder, document, _ = swept
    run_dir = folder / document["path"]
    (row,) = csv.DictReader((run_dir / "points.csv").open())
    assert row["shards"] == "3"
    assert document["trials"][0]["trial"]["load"]["partitions"] == 3
    assert "Shards" in (run_dir / "report.md").read_text()
    both = run(*"plan cpu --cores 1 --target example --partitions 5".split(), cwd=folder, PYTHONPATH=beside(installed))
    assert both.returncode == 0 and re.search(r"knobs\.shards +5 +flag", both.stdout)
    helped = run("sweep", "--help-all", cwd=folder, PYTHONPATH=beside(installed))
    assert "--shards" in helped.stdout and "shards (Example)" in " ".join(helped.stdout.replace("│", "").split())
    words = "plan cpu --cores 1 --target postgres --runtime nice".split()
    planned = run(*words, cwd=folder, PYTHONPATH=beside(installed))
    assert planned.returncode == 0, planned.stderr
    assert re.search(r"postgres \S+ as a process of lower priority", planned.stdout)


def test_its_run_is_shown_and_verified_where_the_package_is_not(swept):
    shown = run("show", "last", cwd=swept[0])
    verified = run("verify", "last", cwd=swept[0])
    assert shown.returncode == 0 and verified.returncode == 0, shown.stderr + verified.stdout
    finished = run("resume", "last", cwd=swept[0])
    assert finished.returncode == 0 and "all trials are done" in finished.stderr
    shutil.rmtree(next(swept[0].glob("results/*/trials/*")))
    resumed = run("resume", "last", cwd=swept[0])
    assert resumed.returncode == 2 and "'example' is not one of" in resumed.stderr


def test_an_axis_of_another_package_is_swept_along(installed, data_dir, tmp_path):
    _, command = COMMAND.findall(RECIPE)
    done = run(
        *shlex.split(command),
        *"--window-max 0 --connections-check off --json --data-dir".split(),
        str(data_dir),
        cwd=tmp_path,
        PYTHONPATH=beside(installed),
    )
    assert_measured(done)
    trials = json.loads(done.stdout)["trials"]
    assert {t["trial"]["level"]: t["trial"]["knobs"]["shards"] for t in trials} == {1.0: "1", 2.0: "2", 4.0: "4"}
    assert {t["trial"]["trial_id"] for t in trials} == {"shards-1-r1", "shards-2-r1", "shards-4-r1"}
    assert {t["trial"]["resources"]["amounts"]["cores"]["value"] for t in trials} == {1.0}
    report = next(tmp_path.glob("results/*/report.md")).read_text()
    assert "| Shards |" in report and "How does the write rate grow with shards?" in report
    refused = run(
        *"plan shards --shard-levels 1..2 --shards 3 --target example".split(),
        cwd=tmp_path,
        PYTHONPATH=beside(installed),
    )
    assert refused.returncode == 2 and "--shards: --shard-levels sets how many at each level" in refused.stderr
    assert_nothing_left(data_dir)


def test_a_package_that_cannot_be_imported_is_named(swept, tmp_path):
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[scale_sweep.targets]\nbroken = no_such_module:FACTS\n")
    done = run("plan", "cpu", "--cores", "1", "--target", "null", cwd=swept[0], PYTHONPATH=beside(tmp_path))
    assert done.returncode == 2
    assert "target broken" in done.stderr and "no_such_module" in done.stderr
