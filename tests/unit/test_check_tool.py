"""The words of `tools/check.py`: one that it does not know runs nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check.py"


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("-h", 0), ("--fi", 2), ("types", 2)])
def test_help_and_unknown_words_run_no_check(word, code):
    done = subprocess.run([sys.executable, str(TOOL), word], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert "--fix" in (done.stderr if code else done.stdout)
    assert not [line for line in done.stdout.splitlines() if line.startswith(("ok", "FAILED"))]
