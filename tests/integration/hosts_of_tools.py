"""Hosts in namespaces (tools/hosts) for tests, and what runs on them."""

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
LIGHT = ("--rate", "4000", "--tables", "10", "--warmup", "1s", "--window-max", "0", "--connections-check", "off")


def up(path, *words):
    """Makes hosts and writes their inventory."""
    down()
    made = subprocess.run([TOOL, "up", *words], capture_output=True, text=True, timeout=90)
    assert made.returncode == 0, made.stderr
    path.write_text(made.stdout)


def down():
    subprocess.run([TOOL, "down"], check=True, timeout=60)
    assert not STATE.exists()


def argv(*words):
    return [sys.executable, "-m", "scale_sweep", *map(str, words)]


def environment():
    return {**os.environ, "PYTHONPATH": str(ROOT / "runner")}


def scale(*words, seconds=300):
    """The command as a user types it."""
    return subprocess.run(argv(*words), capture_output=True, text=True, timeout=seconds, env=environment())


def on(host, line):
    """What a line of the shell prints on a host."""
    options = ("-o", f"UserKnownHostsFile={STATE}/known_hosts", "-o", "BatchMode=yes", "-i", f"{STATE}/key")
    words = ["ssh", *options, f"root@{NETWORK}.{10 + host}", line]
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
