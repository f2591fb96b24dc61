"""A client library that is missing, incomplete or of another version is found before anything starts.

The library is the tests' stub of libtaos; the server's program only says a version. The real ones are in tests/contract.
"""

import shutil
import sys
from pathlib import Path

import pytest

from tests.integration.cli import run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "loadgen"))
from stub_taos.stub_library import library, remove_libraries


@pytest.fixture(scope="module", autouse=True)
def _clean():
    yield
    remove_libraries()


def planned(folder, version, stub=None):
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    taosd = folder / "bin" / "taosd"
    taosd.write_text(f"#!/bin/sh\necho version: {version}\n")
    taosd.chmod(0o755)
    if stub:
        shutil.copy(stub, folder / "lib" / "libtaos.so")
    return ("cpu", "--cores", "1", "--target", "tdengine", "--runtime", "process", "--home", str(folder))


def test_one_that_fits_is_no_finding(tmp_path):
    done = run("plan", *planned(tmp_path / "home", "3.3.0.0", library()), cwd=tmp_path)
    assert done.returncode == 0
    assert "libtaos" not in done.stderr


@pytest.mark.parametrize(
    ("version", "without", "text"),
    [("3.3.0.0", "taos_stmt_execute", "lacks taos_stmt_execute"), ("3.2.3.0", "", "the server 3.2.3.0")],
)
def test_an_incomplete_or_other_one_is_named_and_nothing_starts(tmp_path, version, without, text):
    done = run("sweep", *planned(tmp_path / "home", version, library(without)), cwd=tmp_path)
    assert done.returncode == 3
    assert text in done.stderr and "--home DIR" in done.stderr
    assert not (tmp_path / "results").exists()


def test_a_missing_one_is_named(tmp_path):
    done = run("sweep", *planned(tmp_path / "home", "3.3.0.0"), cwd=tmp_path)
    assert done.returncode == 3
    assert "libtaos.so" in done.stderr
