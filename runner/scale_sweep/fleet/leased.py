"""Runs `scale sweep` for a task of a cluster, and ends it when nobody holds its lease any more.

`python -m scale_sweep.fleet.leased SECONDS WORD...`, in a folder made for the sweep: a line on standard input renews
the lease. When standard input ends, or no line comes for so long, the sweep gets SIGTERM: it removes its server and
its data, and ends. So a sweep survives neither `kill -9` of the worker nor that of the client. The folder is removed
too. Refuses to kill it before it had time for that.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

LOOK_S = 0.5
END_S = 90.0  # a server's clean stop, and the removal of its data
CHUNK = 4096


def main() -> int:
    """Runs the words to their end. Returns their exit code."""
    limit_s, words = float(sys.argv[1]), sys.argv[2:]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGTERM))
    if _held(process, limit_s):
        return process.wait(timeout=END_S)
    return _ended(process)


def _held(process: subprocess.Popen[bytes], limit_s: float) -> bool:
    """Waits for the end of the sweep or of its lease. Whether the sweep ended by itself."""
    heard = time.monotonic()
    while process.poll() is None:
        readable, _, _ = select.select([sys.stdin], [], [], LOOK_S)
        if readable:
            if not os.read(sys.stdin.fileno(), CHUNK):
                return False
            heard = time.monotonic()
        if time.monotonic() - heard > limit_s:
            return False
    return True


def _ended(process: subprocess.Popen[bytes]) -> int:
    """Asks the sweep to end, kills it only after END_S, and removes its folder: nobody fetches the run any more."""
    process.send_signal(signal.SIGTERM)
    try:
        return process.wait(timeout=END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return -signal.SIGKILL
    finally:
        shutil.rmtree(Path.cwd(), ignore_errors=True)


if __name__ == "__main__":
    raise SystemExit(main())
