"""Hosts in namespaces (tools/hosts) for tests, and what runs on them."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/hosts"
STATE = Path("/var/lib/scale-hosts")
NETWORK = "10.87.0"
# A load that leaves the CPUs of this machine to others: what is tested is not a rate.
LIGHT = "--rate 4000 --tables 10 --warmup 1s --window-max 0 --connections-check off".split()
SWEEP = "sweep cpu --cores 1 --target postgres --replicates 1 --no-metrics -y".split()


@contextlib.contextmanager
def hosts(folder, *words):
    """Makes hosts, and yields the path of their inventory."""
    down()
    made = subprocess.run([TOOL, "up", *words], capture_output=True, text=True, timeout=90)
    assert made.returncode == 0, made.stderr
    path = folder / "hosts.ini"
    path.write_text(made.stdout)
    yield path
    down()


def down():
    subprocess.run([TOOL, "down"], check=True, timeout=60)
    assert not STATE.exists()


def argv(*words):
    return [sys.executable, "-m", "scale_sweep", *map(str, words)]


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT / "runner")}


def scale(*words, seconds=300, **changes):
    """The command as a user types it."""
    env = {**environment(), **changes}
    return subprocess.run(argv(*words), capture_output=True, text=True, timeout=seconds, env=env)


def started(*words):
    """The command as it runs; its output is read by the test."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(argv(*words), env=environment(), **streams)


def refused(*words, results=None, codes=(2,), **more):
    """What it says before anything starts."""
    done = scale(*words, *(("--results", results) if results else ()), **more)
    assert done.returncode in codes, done.stderr
    assert results is None or not results.exists()
    return done.stderr


def on(host, line):
    """What a line of the shell prints on a host, also while its network is cut."""
    words = [TOOL, "in", f"host{host}", "sh", "-c", f"PATH=$PATH:/usr/sbin; {line}"]
    return subprocess.run(words, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL).stdout


def left_on(host, also=""):
    """Processes of a sweep and data directories on a host, as they are now."""
    looked = f"postgres|scale-loadgen|scale_sweep.agent{also}"
    processes = on(host, f"ps -eo comm=,args= | grep -E '{looked}' | grep -v grep")
    return (processes + on(host, "ls /var/lib/scale/data /var/lib/scale/records 2>/dev/null | grep cores")).strip()


def await_gone(hosts, seconds, also=""):
    """Waits until nothing of a sweep is left."""
    deadline = time.monotonic() + seconds
    while (left := {n: words for n in hosts if (words := left_on(n, also))}) and time.monotonic() < deadline:
        time.sleep(0.5)
    assert left == {}


def await_measuring(process, results, seconds=180):
    """Waits until one of the runs below measures."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        if any('"measure"' in path.read_text() for path in results.glob("trials/*/journal.jsonl")):
            return process
        time.sleep(0.2)
    process.kill()
    raise AssertionError(process.communicate()[0])


def trials_of(run):
    """In the order of the plan."""
    trials = [json.loads(path.read_text()) for path in run.glob("trials/*/trial.json")]
    return sorted(trials, key=lambda trial: trial["trial"]["order"])


def manifest_of(run):
    return json.loads((run / "manifest.json").read_text())
