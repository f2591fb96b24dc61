"""`scale observe` as its user runs it: files, metrics while it runs, JSON; Ctrl-C ends it well."""

from __future__ import annotations

import json
import signal
import time
import urllib.request
from pathlib import Path

from scale_sweep.server.runtimes.local import free_port
from tests.integration import cli

DEADLINE_S = 120.0


def metrics(port: int) -> str:
    """The page, as soon as it has a sample."""
    deadline = time.monotonic() + DEADLINE_S
    page = ""
    while "scale_host_cpu_seconds_total" not in page:
        assert time.monotonic() < deadline, page
        time.sleep(0.1)
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
                page = answer.read().decode()
        except OSError:
            continue
    return page


def test_it_shows_and_keeps_what_it_sees_until_ctrl_c(tmp_path):
    port = free_port()
    words = ("observe", "--sample-hz", "5", "--metrics-port", str(port), "--pid", "1", "--json")
    process = cli.start(*words, cwd=tmp_path)
    page = metrics(port)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=DEADLINE_S)
    told = json.loads(out)
    folder = tmp_path / told["path"]
    assert process.returncode == 0, err
    assert 'trial="observe"' in page
    assert told["interrupted"]
    assert told["samples"] == len((folder / "trials/observe/samples.jsonl").read_text().splitlines()) > 1
    assert json.loads((folder / "manifest.json").read_text())["pids"] == [1]


def test_a_time_and_a_folder(tmp_path):
    done = cli.run("observe", "--duration", "1s", "--no-metrics", "--to", "seen", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (manifest,) = Path(tmp_path / "seen").glob("*/manifest.json")
    assert json.loads(manifest.read_text())["status"] == "done"


def test_bad_input_is_one_message(tmp_path):
    for words in (("--duration", "soon"), ("--pid", "4194305"), ("--port", "1"), ("--disk", "nowhere")):
        done = cli.run("observe", *words, cwd=tmp_path)
        assert (done.returncode, words[0] in done.stderr) == (2, True), done.stderr
    assert not list(tmp_path.iterdir())
