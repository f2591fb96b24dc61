"""tools/run_tests.py: what two processes claim is run once, failures are counted, and all parts have their tests."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tools import claimed_tests, run_tests
from tools.run_tests import Progress, noted, progress

ROOT = Path(__file__).resolve().parents[2]
FILES, TESTS = 6, 3
SUITE = """
import time
from pathlib import Path
import pytest

def test_bad():
    assert False

@pytest.fixture
def waiting():
    path = Path(__file__).with_name("waiting")
    path.touch()
    yield
    path.unlink()

def test_waits(waiting):
    time.sleep(600)
"""


def started(folder, claims, **names):
    """A process of pytest that runs the tests of a folder which no other one has claimed."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.claimed_tests", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(folder), "-c", "/dev/null", str(folder / "suite")]
    environment = {**os.environ, claimed_tests.CLAIMS: str(claims), "PYTHONPATH": str(ROOT / "runner"), **names}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def test_two_processes_run_each_test_once_and_note_how_it_ended(tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "claims").mkdir()
    assert progress(tmp_path) == Progress(ended=0, failed=(), total=0)  # before the tests are collected
    for number in range(FILES):
        body = f"open({str(tmp_path / 'log')!r}, 'a').write('{number} ' + request.node.name + '\\n')"
        names = "".join(
            f"def test_{n}(request):\n    {body}\n    assert ({number}, {n}) != (2, 1)\n"
            f"    if ({number}, {n}) == (3, 1):\n        __import__('pytest').skip('no fio')\n"
            for n in range(TESTS)
        )
        (tmp_path / f"suite/test_file_{number}.py").write_text(names)
    running = [started(tmp_path, tmp_path / "claims") for _ in range(2)]
    outputs = [process.communicate(timeout=60)[0] for process in running]
    assert sorted((tmp_path / "log").read_text().split("\n")[:-1]) == sorted(
        f"{number} test_{n}" for number in range(FILES) for n in range(TESTS)
    )
    assert sorted(process.returncode for process in running) in ([0, 1], [1, 5]), outputs
    assert noted(tmp_path, claimed_tests.SKIPPED) == ["no fio (claims)"]
    failed = ("suite/test_file_2.py::test_1 (claims)",)
    assert progress(tmp_path) == Progress(ended=FILES * TESTS, failed=failed, total=FILES * TESTS)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_failed_test_is_named_at_once_and_after_an_interrupt(tmp_path, number):
    (tmp_path / "test_suite.py").write_text(SUITE)
    run = f"import sys; from tools import run_tests as r; r.QUICK = ({str(tmp_path)!r},); sys.exit(r.main([]))"
    environment = {**os.environ, "PYTEST_ADDOPTS": f"-c /dev/null --rootdir={tmp_path}"}
    command = [sys.executable, "-c", run]
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        named = next(line for line in process.stdout if line.startswith("FAILED"))
        deadline = time.monotonic() + 60
        while not (tmp_path / "waiting").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        end = process.stdout.read()
    assert named == "FAILED test_suite.py::test_bad\n"
    assert end.endswith("until then: 1\n   test_suite.py::test_bad\n")
    assert "assert False" in end
    assert process.returncode == run_tests.INTERRUPTED
    assert not (tmp_path / "waiting").exists()  # the fixture was torn down


def test_files_of_a_group_are_claimed_together_and_before_others():
    names = ["test_other", "test_fleet_cluster", "test_verify", "test_hosts", "test_fleet_cluster"]
    items = [SimpleNamespace(path=Path(f"tests/any/{name}.py")) for name in names]
    found = [[item.path.stem for item in unit] for unit in claimed_tests.units(items)]
    first = [*claimed_tests.LONGEST, *(name for group in claimed_tests.TOGETHER for name in group)]
    assert len(first) == len(set(first))
    assert [name for name in first if not list(ROOT.glob(f"tests/*/{name}.py"))] == []
    assert found == [["test_fleet_cluster", "test_hosts", "test_fleet_cluster"], ["test_verify"], ["test_other"]]


def test_what_passed_before_is_left_out_and_nothing_else(tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/test_one.py").write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('x')\ndef test_c(): assert 0\n"
    )
    told = []
    for name in (claimed_tests.NOTE_PASSED, claimed_tests.PASSED_BEFORE):
        (claims := tmp_path / f"claims-{name}").mkdir()
        said = started(tmp_path, claims, **{name: str(tmp_path / "passed")}).communicate(timeout=60)[0]
        told.append(re.findall(r"(\d+) (\w+)", said.splitlines()[-1])[:3])
    assert (tmp_path / "passed").read_text() == "suite/test_one.py::test_a\n"
    assert told[0] == [("1", "failed"), ("1", "passed"), ("1", "skipped")]
    assert told[1] == [("1", "failed"), ("1", "skipped"), ("1", "deselected")]
