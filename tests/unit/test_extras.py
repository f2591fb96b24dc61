"""Optional parts of the installation: each option that needs one refuses with its name and the command, before it works."""

import importlib.util
import shlex
import sys
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scale_sweep.base import registry
from scale_sweep.base.errors import UsageError
from scale_sweep.cli import app
from tests.needs import module
from tests.unit.stored_runs import unpacked

ROOT = Path(__file__).resolve().parents[2]
TABLE = "cores,rate\n1,10\n2,19\n3,28\n4,36\n"


def test_the_extras_are_those_of_the_project_and_the_tests_have_all():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for extra, modules in registry.MODULES.items():
        assert sorted(one.partition(">=")[0] for one in declared[extra]) == sorted(modules)
    (own,) = (one for one in declared["test-all"] if one.startswith("scale-sweep["))
    assert set(registry.MODULES) <= set(own.removeprefix("scale-sweep[").removesuffix("]").split(","))
    for extra, modules in registry.MODULES.items():
        for name in modules:
            module(name)
        registry.require_extra(extra, "--x")


NEEDED = [("pyarrow", "--parquet", "parquet"), ("pyarrow", "--trace", "parquet"), ("matplotlib", "--png", "png")]


@pytest.mark.parametrize(
    ("module", "flag", "extra"), [*NEEDED, ("sqlalchemy", "--sql", "sql"), ("pymysql", "--sql", "sql")]
)
def test_an_option_whose_extra_is_missing_names_it_and_writes_nothing(monkeypatch, tmp_path, module, flag, extra):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == module else found(name))
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TABLE)
    run, made = unpacked("killed", tmp_path), tmp_path / "made"
    words = {
        "--parquet": ["export", run, "--csv", made, "--parquet", tmp_path / "x.parquet"],
        "--sql": ["export", run, "--csv", made, "--sql", f"sqlite:///{tmp_path}/x.db"],
        "--png": ["fit", "t.csv", "--n", "cores", "--x", "rate", "--png", made],
        "--trace": ["plan", "cpu", "--cores", "1", "--target", "null", "--trace", "1"],
    }[flag]
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert isinstance(done.exception, UsageError) and done.exception.exit_code == 2
    assert all(word in done.exception.message for word in (flag, module, f"[{extra}]"))
    assert shlex.split(done.exception.remedy) == [sys.executable, "-m", "pip", "install", module]
    assert not made.exists()


def test_an_installation_of_pipx_is_extended_by_pipx(monkeypatch):
    monkeypatch.setattr(sys, "prefix", "/home/ada/.local/share/pipx/venvs/scale-sweep")
    assert shlex.split(registry.install_command(["pyarrow"])) == ["pipx", "inject", "scale-sweep", "pyarrow"]
