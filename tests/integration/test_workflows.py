"""The steps of the GitHub Action and of the GitLab template, taken from their files and run.

A step is what a runner gives to its shell, with the environment that the file states; expressions are replaced as the
runner replaces them. The checkout is a clone with the tag of a release. Not run here: the runners themselves, the images
that the files name, and `uses:` of other actions. The release workflow is in test_packages.py.
"""

import shutil
from pathlib import Path

import pytest
import yaml

from tests.integration.leftovers import assert_nothing_left
from tests.integration.workflow_steps import STEP_S, TAG, evaluated, shell, tagged_clone

ARGUMENTS = "cpu --cores 1 --target null --blocks 1 --duration 2s --warmup 1s --window-max 0 --b '--connections 2'"
ANSWERS = (0, 2, 11, 13)  # of the gate; a busy machine has trials that do not count

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
