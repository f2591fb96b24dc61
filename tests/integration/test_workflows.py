"""The steps of the GitHub Action, of the GitLab template and of the release workflow, taken from their files and run.

A step is what a runner gives to its shell, with the environment that the file states; expressions are replaced as the
runner replaces them. The checkout is a clone with the tag of a release. Not run here: the runners themselves, the images
that the files name, `uses:` of other actions, and the upload to PyPI.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from tests.integration.leftovers import assert_nothing_left

ROOT = Path(__file__).resolve().parents[2]
TAG = "v0.2.0"
STEP_S = 600
ARGUMENTS = "cpu --cores 1 --target null --blocks 1 --duration 2s --warmup 1s --window-max 0 --b '--connections 2'"
ANSWERS = (0, 2, 11, 13)  # of the gate; a busy machine has trials that do not count
EXPRESSION = re.compile(r"\$\{\{ *([\w.]+) *\}\}")

pytestmark = pytest.mark.timeout(3 * STEP_S)


def git(*words: object, cwd: Path) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    subprocess.run(["git", *identity, *map(str, words)], cwd=cwd, check=True, capture_output=True)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A clone whose last commit has the tag of a release, as docs/install.md says how to make one."""
    folder = tmp_path_factory.mktemp("checkout") / "scale"
    git("clone", "--quiet", "--no-hardlinks", ROOT, folder, cwd=ROOT)
    log = folder / "CHANGELOG.md"
    log.write_text(log.read_text().replace("## Unreleased", f"## {TAG[1:]}", 1))
    git("commit", "--quiet", "--all", "--message", "Release", cwd=folder)
    git("tag", TAG, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def cache(tmp_path_factory) -> Path:
    """What pip downloads, for all installations of this module."""
    return tmp_path_factory.mktemp("cache")


def evaluated(text: str, values: Mapping[str, str]) -> str:
    return EXPRESSION.sub(lambda found: values[found[1]], text)


def shell(script: str, folder: Path, cache: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A step in the shell of both runners, which ends at the first command that fails."""
    folder.mkdir(exist_ok=True)
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PIP_CACHE_DIR": str(cache),
            "PIP_NO_COMPILE": "1",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=STEP_S,
        check=False,
    )


def test_the_action_installs_measures_and_writes_the_summary(checkout, cache, tmp_path):
    where = checkout / ".github/actions/prove-not-slower"
    action = yaml.safe_load((where / "action.yml").read_text())
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | {"arguments": ARGUMENTS}
    values = {f"inputs.{name}": value for name, value in inputs.items()}
    values |= {"github.action_path": str(where), "runner.temp": str(tmp_path / "temp")}
    summary, done = tmp_path / "summary.md", None
    for step in action["runs"]["steps"]:
        assert step["shell"] == "bash"
        environment = {name: evaluated(text, values) for name, text in step["env"].items()}
        done = shell(step["run"], tmp_path / "work", cache, GITHUB_STEP_SUMMARY=str(summary), **environment)
        assert done.returncode in (ANSWERS if step is action["runs"]["steps"][-1] else (0,)), done.stderr[-3000:]
    assert f"Exit code {done.returncode} of `scale ab cpu --cores 1" in summary.read_text()
    assert list((tmp_path / "work" / inputs["results"]).glob("ab-*/*/report.html")), done.stderr[-3000:]
    assert_nothing_left(tmp_path)


def test_the_template_clones_installs_measures_and_keeps_the_page(checkout, cache, tmp_path):
    job = yaml.safe_load((checkout / ".gitlab/prove-not-slower.yml").read_text())[".prove-not-slower"]
    project = tmp_path / "project"
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


def test_the_release_builds_both_packages_of_the_tag(checkout, cache, tmp_path):
    workflow = yaml.safe_load((checkout / ".github/workflows/release.yml").read_text())
    (step,) = (one for one in workflow["jobs"]["build"]["steps"] if "run" in one)
    environment = {
        **step["env"],
        "PYTHON": sys.executable,  # the image of the job has another one
        "HOME": str(tmp_path),
        "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_WORKSPACE": str(checkout),
        "GITHUB_REF_NAME": TAG,
        "GITHUB_SERVER_URL": "https://git.example.org",
        "GITHUB_REPOSITORY": "owner/scale",
    }
    done = shell(step["run"], checkout, cache, **environment)
    assert done.returncode == 0, done.stderr[-3000:]
    names = sorted(path.name for path in (checkout / "dist").iterdir())
    assert len(names) == 2 and all(name.startswith(f"scale_sweep-{TAG[1:]}") for name in names), names
    refused = shell(step["run"], checkout, cache, **{**environment, "GITHUB_REF_NAME": "v0.3.0"})
    assert refused.returncode == 2 and "the tag is v0.3.0" in refused.stderr
