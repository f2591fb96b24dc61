"""A mistake on the command line: one line that names the flag, one hint, exit code 2, whoever finds the mistake."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from scale_sweep.base.errors import UsageError
from scale_sweep.cli import app

TIMEOUT_S = 60
MISTAKES = [
    ("sweep cpu --coers 1", "--coers is not a flag of {} sweep; did you mean --cores?", "{} sweep --help"),
    ("verify last --jsn", "--jsn is not a flag of {} verify; did you mean --json?", "{} verify --help"),
    ("sweep cpu -x", "-x is not a flag of {} sweep", "{} sweep --help"),
    ("swep", "'swep' is not a command of {}; did you mean sweep?", "{} --help"),
    ("dashboards upp", "'upp' is not a command of {} dashboards; did you mean up?", "{} dashboards --help"),
    ("sweep", "{} sweep needs cpu|disk|clients|NAME|FILE.toml", "Example: scale sweep cpu --cores"),
    ("site results", "{} site needs --out", "Example: scale site"),
    ("sweep cpu --cores", "--cores: a value is missing", "--help explains every flag"),
    ("sweep cpu --quick=3", "--quick: takes no value", "--help explains every flag"),
    ("list more", "{} list: one argument too many: more", "Example: scale list"),
    ("ab cpu --blocks x", "--blocks: 'x' is no number of blocks", "--help explains every flag"),
    ("ab cpu --blocks 0", "--blocks: '0' is no number of blocks", "--help explains every flag"),
    ("observe --sample-hz x", "--sample-hz: not a number", "{} observe --help"),
    ("sweep cpu --metrics-port 65536", "--metrics-port: must be at most 65535", "{} sweep --help"),
    ("sweep cpu --cores 1 --target nosuch", "--target: 'nosuch' is not one of", "--help explains every flag"),
]


@pytest.mark.parametrize(("line", "message", "hint"), MISTAKES)
def test_a_mistake_names_what_is_wrong_and_what_to_do(line, message, hint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, line.split(), prog_name="scale")
    assert isinstance(done.exception, UsageError) and done.exception.exit_code == 2
    assert done.exception.message.startswith(message.format("scale"))
    assert hint.format("scale") in (done.exception.remedy or done.exception.usual_remedy)
    assert not done.stdout and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words", [("sweep", "--coers", "1", "cpu"), ("sweep", "--target", "nosuch", "cpu", "--cores", "1")]
)
def test_the_command_shows_both_kinds_alike(words, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "scale_sweep", *words],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
        cwd=tmp_path,
    )
    message, hint = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert message.startswith(f"scale: {words[1]}") and hint.startswith("  → ")


@pytest.mark.parametrize("words", [(), ("dashboards",)])
def test_a_group_without_a_command_shows_its_help_and_ends_with_2(words):
    done = CliRunner().invoke(app, list(words), prog_name="scale")
    assert done.exit_code == 2
    assert done.stderr.startswith("Usage: scale") and "Example" in done.stderr
