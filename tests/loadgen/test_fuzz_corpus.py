"""The stored corpus of the fuzzers, replayed under ASan and UBSan: each answer that was once read wrongly is in it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "loadgen" / "fuzz" / "corpus"
BYTES_MAX = 300_000
WITHOUT_ANSWERS = {
    "clickhouse",  # posts.c reads its answers, as those of lines
    "null",  # no server answers it
    "mariadb",  # libmariadb reads the bytes of the server, and hands over values with their lengths
}


def folders() -> list[Path]:
    return [path for path in CORPUS.iterdir() if path.is_dir()]


@needs("cc", "libmariadb.so.3")
def test_the_corpus_is_read_without_a_finding(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "fuzz.py", "--replay", "--build", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    ran = dict(line.split(": ") for line in done.stdout.splitlines())
    assert ran == {folder.name: str(len(list(folder.iterdir()))) for folder in folders()}


def test_every_driver_has_a_harness_and_every_harness_a_corpus(program):
    known = set(re.findall(r'^    \{"([\w-]+)"', (CORPUS.parent / "fuzz.c").read_text(), re.M))
    assert known == {folder.name for folder in folders()}
    drivers = {driver["driver"] for driver in json.loads(subprocess.check_output([program, "drivers"]))}
    assert all(any(name.startswith(driver) for name in known) for driver in drivers - WITHOUT_ANSWERS)
    assert all(any(folder.iterdir()) for folder in folders())


def test_the_corpus_stays_small():
    assert sum(path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()) < BYTES_MAX
