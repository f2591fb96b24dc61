"""The steps of the GitHub Action and of the GitLab template, taken from their files and run, and the script of both."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.integration.cli import assert_nothing_left
from tests.integration.workflow_steps import STEP_S, TAG, evaluated, shell, tagged_clone

ARGUMENTS = "cpu --cores 1 --target null --blocks 1 --duration 2s --warmup 1s --window-max 0 --b '--connections 2'"
ANSWERS = (0, 11, 13, 14)  # of the gate; a busy machine has trials that do not count

pytestmark = pytest.mark.timeout(3 * STEP_S)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    return tagged_clone(tmp_path_factory.mktemp("checkout") / "scale")


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """What pip downloads, for all installations of this module."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def temporary(tmp_path_factory) -> Path:
    """The runner's folder for what a job makes."""
    return tmp_path_factory.mktemp("temp")


def test_the_action_installs_measures_and_writes_the_summary(checkout, cache, temporary, tmp_path):
    where = checkout / ".github/actions/prove-not-slower"
    action = yaml.safe_load((where / "action.yml").read_text())
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | {"arguments": ARGUMENTS}
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    values |= {"github.action_path": str(where), "runner.temp": str(temporary)}
    summary, done = tmp_path / "summary.md", None
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        environment = {name: evaluated(text, values) for name, text in step["env"].items()}
        done = shell(step["run"], tmp_path / "work", cache, GITHUB_STEP_SUMMARY=str(summary), **environment)
        assert done.returncode in (ANSWERS if step is action["runs"]["steps"][-1] else (0,)), done.stderr[-3000:]
    assert f"Exit code {done.returncode} of `scale ab cpu --cores 1" in summary.read_text()
    assert list((tmp_path / "work" / inputs["results"]).glob("ab-*/*/report.html")), done.stderr[-3000:]
    assert_nothing_left(tmp_path)


def test_the_template_clones_installs_measures_and_keeps_the_page(checkout, cache, temporary, tmp_path):
    """Its environment begins with the packages that the action's has, but `scale`: it installs that, and no other."""
    job = yaml.safe_load((checkout / ".gitlab/prove-not-slower.yml").read_text())[".prove-not-slower"]
    project = tmp_path / "project"
    if (temporary / "scale").exists():
        shutil.copytree(temporary / "scale", project / ".scale-venv", symlinks=True)
        ours = (*project.glob(".scale-venv/lib/*/site-packages/scale_sweep*"), *project.glob(".scale-venv/bin/scale*"))
        for path in ours:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    environment = {
        **job["variables"],
        "CI_PROJECT_DIR": str(project),
        "SCALE_REPOSITORY": checkout.as_uri(),
        "SCALE_REF": TAG,
        "SCALE_ARGUMENTS": ARGUMENTS,
    }
    done = shell("\n".join(job["script"]), project, cache, **environment)
    assert done.returncode in ANSWERS, done.stderr[-3000:]
    page, results = (project / path for path in job["artifacts"]["paths"])
    assert f"Exit code {done.returncode} of `scale ab cpu --cores 1" in page.read_text()
    assert list(results.glob("ab-*/*/report.html")), done.stderr[-3000:]
    assert_nothing_left(tmp_path)


ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools/prove_not_slower.py"
ACTION = ROOT / ".github/actions/prove-not-slower/action.yml"
TIMEOUT_S = 120
STAND_IN = """#!/bin/sh
# ab cpu --cores 1 --b FLAGS --prove-not-slower MARGIN --results DIR ...
echo progress >&2
echo "gate: $8, b: $6"
mkdir -p "${{10}}/run"
echo "the whole report" > "${{10}}/run/report.md"
exit {code}
"""


def run(
    folder: Path, margin: str, arguments: str, *more: object, python: object = sys.executable, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python, SCRIPT, "--margin", margin, "--arguments", arguments, *more],
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
    done = run(tmp_path, "7%", "cpu --cores 1 --b '--knob a=b c'", "--summary", page, python=programs / "python")
    assert done.returncode == code, done.stderr
    text = page.read_text()
    assert text.startswith("what another step wrote\n## scale ab: ")
    assert answer in text.splitlines()[1]
    assert "gate: 7%, b: --knob a=b c" in done.stdout and "gate: 7%, b: --knob a=b c" in text
    assert "progress" in done.stderr
    assert "<summary>Report</summary>" in text and "the whole report" in text


def test_what_cannot_be_measured_is_said_on_the_page_and_open_quotes_are_refused(tmp_path):
    page = tmp_path / "summary.md"
    done = run(tmp_path, "5%", "cpu --cores 1 --target nosuch --b '--tables 2'", GITHUB_STEP_SUMMARY=str(page))
    assert done.returncode == 2
    text = page.read_text()
    assert text.startswith("## scale ab: not judged\n\nExit code 2 of `scale ab cpu --cores 1 --target nosuch")
    assert "'nosuch' is not one of" in text
    done = run(tmp_path, "5%", "cpu --b '--knob a=b")
    assert done.returncode == 2 and "--arguments: No closing quotation" in done.stderr
    for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]:
        assert "${{" not in step["run"], "no input is a part of a script"
