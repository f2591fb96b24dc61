"""A mistake on the command line: one line that names the flag, one hint if the line does not say what to do, exit code 2, whoever finds the mistake."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from scale_sweep.base.errors import UsageError
from scale_sweep.cli import app

MISTAKES = [
    "sweep cpu --coers 1",
    "verify last --jsn",
    "sweep cpu -x",
    "swep",
    "dashboards upp",
    "sweep",
    "site results",
    "sweep cpu --cores",
    "sweep cpu --quick=3",
    "list more",
    "ab cpu --blocks x",
    "ab cpu --blocks 0",
    "observe --sample-hz x",
    "sweep cpu --metrics-port 65536",
]


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_names_what_is_wrong_and_what_to_do(line, tmp_path, monkeypatch, wording):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, line.split(), prog_name="scale")
    assert isinstance(done.exception, UsageError) and done.exception.exit_code == 2
    wording(done.exception.message)
    hint = done.exception.remedy or done.exception.usual_remedy
    assert "--help" in hint or hint.startswith(("Example: scale", "write --")) or not hint
    assert not done.stdout and not list(tmp_path.iterdir())


@pytest.mark.parametrize("line", ["sweep --coers 1 cpu", "sweep --target nosuch cpu --cores 1"])
def test_the_command_shows_both_kinds_alike(line, tmp_path):
    command = [sys.executable, "-m", "scale_sweep", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, cwd=tmp_path)
    message, *hint = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "") and len(hint) < 2
    assert message.startswith(f"scale: {line.split()[1]}") and all(one.startswith("  → ") for one in hint)


@pytest.mark.parametrize("words", [(), ("dashboards",)])
def test_a_group_without_a_command_shows_its_help_and_ends_with_2(words):
    done = CliRunner().invoke(app, list(words), prog_name="scale")
    assert done.exit_code == 2
    assert done.stderr.startswith("Usage: scale") and "Example" in done.stderr
