"""The words of tools that take long: one that they do not know runs nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


def said(tool, word):
    """The end of a tool with this word."""
    return subprocess.run(
        [sys.executable, str(TOOLS / tool), word], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("-h", 0), ("--fi", 2), ("types", 2)])
def test_help_and_unknown_words_run_no_check(word, code):
    done = said("check.py", word)
    assert done.returncode == code
    assert "--fix" in (done.stderr if code else done.stdout)
    assert not [line for line in done.stdout.splitlines() if line.startswith(("ok", "FAILED"))]


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("--hlp", 2)])
def test_help_and_unknown_words_ask_no_registry(word, code):
    done = said("versions.py", word)
    assert done.returncode == code
    assert "usage:" in (done.stderr if code else done.stdout)
    assert "| pin |" not in done.stdout
