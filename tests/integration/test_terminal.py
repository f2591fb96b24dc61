"""The live view of a real sweep in a pseudo-terminal, and `scale watch` in a second one."""

import json
import shutil
from pathlib import Path

import pytest

from tests.integration.cli import run

pytestmark = pytest.mark.alone


def results(folder: Path) -> list[dict]:
    return [json.loads(p.read_text()) for p in sorted(folder.glob("r/*/trials/*/trial.json"))]


@pytest.mark.parametrize("which", ["sweep", "watch"])
def test_the_view_shows_plan_rate_cpu_disk_time_left_and_verdicts(observed, which):
    text = getattr(observed, which).seen
    assert observed.codes in ((0, 0, 0), (0, 10, 0)), text[-2000:]  # 10: no trial is VALID
    for words in (
        "of 3 trials, about",
        " left",
        "rows/s",
        "of 15 k offered",
        "the load generator alone makes",
        "response",
        "p50 ",
        "CPU",
        "server 0",
        " of 0.3 cores",
        "generator ",
        "disk d1",
        "MB/s",
        "% busy",
        "measure",
    ):
        assert words in text, words
    for result in results(observed.folder):
        assert result["trial"]["trial_id"] in text
        assert result["verdict"]["kind"] in text


def test_the_view_leaves_the_terminal_as_it_was(observed):
    for terminal in (observed.sweep, observed.watch, observed.other):
        assert terminal.raw.rfind("\x1b[?25h") > terminal.raw.rfind("\x1b[?25l") >= 0


def test_ctrl_c_ends_only_the_watching(observed):
    assert "the sweep continues" in observed.other.seen
    assert len(results(observed.folder)) == 3
    assert json.loads((observed.path / "manifest.json").read_text())["status"] == "complete"


def test_watching_a_run_that_has_ended_shows_it(observed):
    done = run("watch", "last", "--results", "r", cwd=observed.folder)
    assert done.returncode == 0
    assert done.stderr.count("trial ") == 3
    assert "report: " in done.stdout
    assert "\x1b[" not in done.stdout + done.stderr


def test_watching_an_interrupted_run_says_how_to_go_on(observed, tmp_path):
    shutil.copytree(observed.folder / "r", tmp_path / "r")
    manifest = next(tmp_path.glob("r/*/manifest.json"))
    manifest.write_text(manifest.read_text().replace('"complete"', '"interrupted"'))
    done = run("watch", "last", "--results", "r", cwd=tmp_path)
    assert done.returncode == 0
    assert "scale resume" in done.stderr
