"""The view of a sweep in a small terminal and in none, and streams and locales that lack characters."""

import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from tests.integration.cli import SCALE, as_installed, run
from tests.integration.pseudo_terminal import Terminal

# Nothing is stored, so nothing here measures a server.
SMALL = "sweep cpu --target null --warmup 0s --window-max 0 --results r --no-metrics".split()
LEVELS = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"


def test_a_small_terminal_without_colours_until_ctrl_c(tmp_path):
    terminal = Terminal(
        *SMALL,
        "--cores",
        LEVELS,
        *"--duration 4s --replicates 3".split(),
        cwd=tmp_path,
        rows=16,
        columns=80,
        environment={"NO_COLOR": "1"},
    )
    terminal.until(lambda: "disk d1" in terminal.seen)
    os.killpg(terminal.process.pid, signal.SIGINT)
    assert terminal.end() == 130, terminal.seen
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|9[0-7]|38)[0-9;]*m", terminal.raw), "no colours"
    assert terminal.raw.rfind("\x1b[?25h") > terminal.raw.rfind("\x1b[?25l") >= 0
    assert re.search(r"0 of \d+ trials, about [^\r\n]+ left", terminal.seen), "on one line"
    assert re.search(r"and \d points more", terminal.seen), "the plan gave way to the running trial"
    assert max(len(line.rstrip()) for line in terminal.seen.splitlines() if "/" not in line) <= 80
    assert "scale resume" in terminal.seen


def test_no_terminal_gets_plain_lines_and_no_metrics_means_no_port(tmp_path):
    done = run(
        *SMALL, *"--cores 1 --duration 1s --replicates 1 --drift-check off".split(), cwd=tmp_path, TERM="xterm-256color"
    )
    assert "\x1b[" not in done.stdout + done.stderr
    assert re.search(r"^trial 1 of 1: cores-1-r1 +\d.* rows/s quick  server .* of 1 core ", done.stderr, re.MULTILINE)
    assert "metrics at" not in done.stderr
    assert "metrics_url" not in next(tmp_path.glob("r/*/manifest.json")).read_text()


NULL = "cpu --target null --cores 1 --replicates 1 --warmup 0s --window-max 0 --rate 20k --results r".split()
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
FIT = "n,x\n" + "".join(f"{n},{1000 * n / (1 + 0.1 * (n - 1)):.0f}\n" for n in range(1, 9))


@pytest.fixture
def latin(tmp_path):
    """The environment of a locale with ISO-8859-1, as `localedef` makes it."""
    if shutil.which("localedef") is None or not os.path.isdir("/usr/share/i18n/locales"):
        pytest.skip("no localedef, or no sources of locales: apt-get install locales")
    made = tmp_path / "locales"
    made.mkdir()
    name = "de_DE.ISO-8859-1"
    subprocess.run(["localedef", "--no-archive", "-i", "de_DE", "-f", "ISO-8859-1", str(made / name)], check=False)
    return {"LOCPATH": str(made), "LC_ALL": name}


@pytest.fixture(params=["C", "ISO-8859-1"])
def narrow(request):
    """The environment of a locale with fewer characters than are printed."""
    return ASCII if request.param == "C" else request.getfixturevalue("latin")


def said(cwd, environment, *words):
    """Exit code, standard output and standard error, in bytes."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHONUTF8"))}
    environment = as_installed({**inherited, "COLUMNS": "160", **environment})
    done = subprocess.run([SCALE, *words], cwd=cwd, env=environment, capture_output=True, timeout=120, check=False)
    assert b"Traceback" not in done.stderr and b"UnicodeEncodeError" not in done.stderr, done.stderr.decode("latin-1")
    return done.returncode, done.stdout, done.stderr


def test_every_kind_of_output(narrow, tmp_path):
    (tmp_path / "data.csv").write_text(FIT)
    (tmp_path / "wide.toml").write_text('name = "größer 大"\n[axis]\ncores = "1"\n[load]\nduration = "1s"\n', "utf-8")
    code, out, _ = said(tmp_path, narrow, "fit", "data.csv", "--n", "n", "--x", "x")
    assert code == 0 and b"alpha" in out, out
    code, out, err = said(tmp_path, narrow, "sweep", "wide.toml", *NULL[1:], "--no-metrics")
    assert code in (0, 10), err
    assert b"core x " in err or "core × ".encode("latin-1") in err
    code, out, _ = said(tmp_path, narrow, "show", "last", "--results", "r", "--json")
    assert code == 0 and json.loads(out)["status"] == "complete"
    report = next(tmp_path.glob("r/*/report.md")).read_text(encoding="utf-8")
    assert "größer 大" in report
    for words in (("show", "last", "--results", "r"), ("sweep", "--help")):
        assert said(tmp_path, narrow, *words)[0] == 0, words


def test_an_error_on_a_stream_of_fewer_characters(tmp_path):
    code, _, err = said(tmp_path, {"PYTHONIOENCODING": "latin-1"}, "show", "last", "--results", "大")
    assert code == 2 and b"--results ?: does not exist" in err and b"\n  -> " in err, err


def test_a_name_in_a_file_that_the_locale_lacks_is_one_message(tmp_path):
    (tmp_path / "wide.toml").write_text(
        '[axis]\ncores = "1"\n[target]\nname = "null"\ndata_dir = "/var/tmp/大"\n', "utf-8"
    )
    code, _, err = said(tmp_path, ASCII, "plan", "wide.toml")
    assert code == 2 and rb"'\u5927' is no name of a file in this locale (ascii)" in err, err


def test_the_view_of_a_sweep(latin, tmp_path):
    words = ("sweep", *NULL, "--duration", "1s", "--no-metrics")
    terminal = Terminal(*words, cwd=tmp_path, rows=24, columns=100, environment=latin)
    assert terminal.end() in (0, 10), terminal.seen
    assert re.search(r"report: r/", terminal.seen), terminal.seen
    assert "UnicodeEncodeError" not in terminal.seen
