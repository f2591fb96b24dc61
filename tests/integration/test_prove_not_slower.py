"""The script of the GitHub Action and of the GitLab template: its exit codes, its page, and how both call it."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/prove_not_slower.py"
ACTION = ROOT / ".github/actions/prove-not-slower/action.yml"
TEMPLATE = ROOT / ".gitlab/prove-not-slower.yml"
TIMEOUT_S = 120
STAND_IN = """#!/bin/sh
# ab cpu --cores 1 --b FLAGS --prove-not-slower MARGIN --results DIR ...
echo progress >&2
echo "gate: $8, b: $6"
mkdir -p "${{10}}/run"
echo "the whole report" > "${{10}}/run/report.md"
exit {code}
"""


def run(folder: Path, margin: str, arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    words = ("--margin", margin, "--arguments", arguments)
    return subprocess.run(
        [sys.executable, SCRIPT, *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.mark.parametrize(("code", "answer"), [(0, "is not slower"), (11, "is slower"), (13, "not shown that B is not")])
def test_the_code_and_the_report_of_scale_ab_are_those_of_the_script(tmp_path, code, answer):
    """The command beside the script's Python is a stand-in: a busy machine gives no answer of a gate that one can rely
    on."""
    programs, page = tmp_path / "bin", tmp_path / "summary.md"
    programs.mkdir()
    (programs / "python").symlink_to(sys.executable)
    (programs / "scale").write_text(STAND_IN.format(code=code))
    (programs / "scale").chmod(0o755)
    page.write_text("what another step wrote\n")
    words = ("--margin", "7%", "--arguments", "cpu --cores 1 --b '--knob a=b c'", "--summary", page)
    done = subprocess.run(
        [programs / "python", SCRIPT, *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == code, done.stderr
    text = page.read_text()
    assert text.startswith("what another step wrote\n## scale ab: ")
    assert answer in text.splitlines()[1]
    assert "gate: 7%, b: --knob a=b c" in done.stdout and "gate: 7%, b: --knob a=b c" in text
    assert "progress" in done.stderr
    assert "<summary>Report</summary>" in text and "the whole report" in text


def test_what_cannot_be_measured_is_said_on_the_page(tmp_path):
    done = run(
        tmp_path,
        "5%",
        "cpu --cores 1 --target nosuch --b '--tables 2'",
        GITHUB_STEP_SUMMARY=str(tmp_path / "summary.md"),
    )
    assert done.returncode == 2
    text = (tmp_path / "summary.md").read_text()
    assert text.startswith("## scale ab: not judged\n\nExit code 2 of `scale ab cpu --cores 1 --target nosuch")
    assert "'nosuch' is not one of" in text


def test_open_quotes_are_refused(tmp_path):
    done = run(tmp_path, "5%", "cpu --b '--knob a=b")
    assert done.returncode == 2
    assert "--arguments: No closing quotation" in done.stderr


def commands_of(text: str) -> list[list[str]]:
    """The calls of the script in lines of a shell."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line) for line in lines if SCRIPT.name in line]


def test_both_call_the_script_with_flags_that_it_has():
    action = yaml.safe_load(ACTION.read_text())
    template = yaml.safe_load(TEMPLATE.read_text())[".prove-not-slower"]
    of_action = [call for step in action["runs"]["steps"] for call in commands_of(step["run"])]
    of_template = [call for line in template["script"] for call in commands_of(line)]
    known = subprocess.run([sys.executable, SCRIPT, "--help"], capture_output=True, text=True, check=True).stdout
    for calls in (of_action, of_template):
        (call,) = calls
        flags = [word for word in call if word.startswith("--")]
        assert {"--margin", "--arguments", "--results"} <= set(flags)
        assert all(flag in known for flag in flags)
    assert (ACTION.parent / "../../..").resolve() == ROOT, "where the action looks for the project"


def test_no_input_is_a_part_of_a_script():
    for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]:
        assert "${{" not in step["run"]
