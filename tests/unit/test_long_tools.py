"""The words of tools that take long: one that they do not know runs nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.mark.parametrize(
    ("tool", "word", "code"),
    [
        ("check.py", "--help", 0),
        ("check.py", "-h", 0),
        ("check.py", "--fi", 2),
        ("check.py", "types", 2),
        ("versions.py", "--help", 0),
        ("versions.py", "--hlp", 2),
    ],
)
def test_help_and_unknown_words_run_no_check_and_ask_no_registry(tool, word, code):
    command = [sys.executable, str(TOOLS / tool), word]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == code
    assert {"check.py": "--fix", "versions.py": "usage:"}[tool] in (done.stderr if code else done.stdout)
    assert not [line for line in done.stdout.splitlines() if line.startswith(("ok", "FAILED", "| pin"))]
