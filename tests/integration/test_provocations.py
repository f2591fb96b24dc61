"""Odd input and kills at random moments (tools/provoke.py), as continuous integration tries them: the stored corpus, 50
random cases, and six kills of two targets."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.needs import needs

ROOT = Path(__file__).resolve().parents[2]
NEEDS_ROOT = needs("root")


def provoke(*words: str, timeout_s: float) -> None:
    done = subprocess.run(
        [sys.executable, "tools/provoke.py", *words], cwd=ROOT, capture_output=True, text=True, timeout=timeout_s
    )
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2000:]
    assert ", 0 failed, " in done.stdout


@NEEDS_ROOT
@pytest.mark.timeout(600)  # 30 s on a quiet machine; the others' load may be ten times as much
def test_the_corpus_and_random_cases_end_as_they_have_to():
    provoke("--count", "50", "--seed", "1", timeout_s=580)


@NEEDS_ROOT
@pytest.mark.timeout(600)  # 30 s on a quiet machine; the others' load may be ten times as much
def test_six_kills_lose_and_leave_nothing(only_cleaner):
    provoke("kills", "--count", "6", "--seed", "1", "--targets", "null,postgres", "--jobs", "3", timeout_s=580)
