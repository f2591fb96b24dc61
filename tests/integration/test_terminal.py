"""The live view of a real sweep in a pseudo-terminal, and `scale watch` in a second one."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.integration.cli import run
from tests.integration.pseudo_terminal import Terminal

pytestmark = pytest.mark.alone
SWEEP = ("sweep", "cpu", "--cores", "1", "--target", "postgres", "--runtime", "process", "--duration", "5s", "--warmup",
         "1s", "--tables", "20", "--replicates", "2", "--results", "r", "--metrics-port", "0")  # fmt: skip


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """A sweep in one terminal, watched from a second to the end, and from a third until Ctrl-C."""
    folder, data_dir = tmp_path_factory.mktemp("terminal"), Path(f"/var/tmp/scale-test-terminal-{os.getpid()}")
    data_dir.mkdir(mode=0o755)
    try:
        sweep = Terminal(*SWEEP, "--data-dir", str(data_dir), cwd=folder)
        sweep.until(lambda: "cores-1-r" in sweep.seen)
        watch, other = (Terminal("watch", "last", "--results", "r", cwd=folder) for _ in range(2))
        other.until(lambda: "trials, about" in other.seen)
        other.process.send_signal(signal.SIGINT)
        assert other.end() == 0, other.seen
        codes = sweep.end(), watch.end()
        yield folder, sweep, watch, other, codes
    finally:
        shutil.rmtree(data_dir)


def results(folder: Path) -> list[dict]:
    return [json.loads(p.read_text()) for p in sorted(folder.glob("r/*/trials/*/trial.json"))]


@pytest.mark.parametrize("which", [1, 2], ids=["sweep", "watch"])
def test_the_view_shows_plan_rate_cpu_disk_time_left_and_verdicts(watched, which):
    folder, text = watched[0], watched[which].seen
    assert watched[4] == (0, 0), text[-2000:]
    for words in ("of 2 trials, about", " left", "rows/s", "the generator alone makes", "response", "p50 ",
                  "CPU", "server 0", " of 1 cores", "generator ", "disk d1", "MB/s", "% busy", "measure"):  # fmt: skip
        assert words in text, words
    for result in results(folder):
        assert result["trial"]["trial_id"] in text
        assert result["verdict"]["kind"] in text


def test_the_view_leaves_the_terminal_as_it_was(watched):
    for terminal in watched[1:4]:
        assert terminal.raw.rfind("\x1b[?25h") > terminal.raw.rfind("\x1b[?25l") >= 0


def test_ctrl_c_ends_only_the_watching(watched):
    folder, _, _, other, _ = watched
    assert "the sweep goes on" in other.seen
    assert len(results(folder)) == 2
    assert json.loads(next(folder.glob("r/*/manifest.json")).read_text())["status"] == "complete"


def test_watching_a_run_that_has_ended_shows_it(watched):
    done = run("watch", "last", "--results", "r", cwd=watched[0])
    assert done.returncode == 0
    assert done.stderr.count("begins") == 2
    assert "verdicts:" in done.stdout
    assert "\x1b[" not in done.stdout + done.stderr


def test_watching_an_interrupted_run_says_how_to_go_on(watched, tmp_path):
    shutil.copytree(watched[0] / "r", tmp_path / "r")
    manifest = next(tmp_path.glob("r/*/manifest.json"))
    manifest.write_text(manifest.read_text().replace('"complete"', '"interrupted"'))
    done = run("watch", "last", "--results", "r", cwd=tmp_path)
    assert done.returncode == 0
    assert "scale resume" in done.stderr
