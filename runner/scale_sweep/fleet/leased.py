"""Runs `scale sweep` for a task of a cluster, and ends it when nobody holds its lease any more."""

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
    limit_s, words = float(sys.argv[1]), sys.argv[2:]
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGTERM))
    if _held(process, limit_s):
        return process.wait(timeout=END_S)
    return _ended(process)


def _held(process: subprocess.Popen[bytes], limit_s: float) -> bool:
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
