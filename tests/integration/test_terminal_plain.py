"""The view of a sweep in a small terminal without colours, ended by Ctrl-C; and no terminal at all: plain lines."""

import os
import re
import signal

from tests.integration.cli import run
from tests.integration.pseudo_terminal import Terminal

# Nothing is stored, so nothing here measures a server.
NULL = "sweep cpu --target null --warmup 0s --window-max 0 --results r --no-metrics".split()
LEVELS = "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"


def test_a_small_terminal_without_colours_until_ctrl_c(tmp_path):
    terminal = Terminal(
        *NULL,
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
        *NULL, *"--cores 1 --duration 1s --replicates 1 --drift-check off".split(), cwd=tmp_path, TERM="xterm-256color"
    )
    assert "\x1b[" not in done.stdout + done.stderr
    assert re.search(r"^trial 1 of 1: cores-1-r1 +\d.* rows/s quick  server .* of 1 core ", done.stderr, re.MULTILINE)
    assert "metrics at" not in done.stderr
    assert "metrics_url" not in next(tmp_path.glob("r/*/manifest.json")).read_text()
