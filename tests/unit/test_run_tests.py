"""tools/run_tests.py: what two processes claim is run once, failures are counted, and all parts have their tests."""

import os
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


def test_two_processes_run_each_test_once_and_note_how_it_ended(tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "claims").mkdir()
    for number in range(FILES):
        body = f"open({str(tmp_path / 'log')!r}, 'a').write('{number} ' + request.node.name + '\\n')"
        names = "".join(
            f"def test_{n}(request):\n    {body}\n    assert ({number}, {n}) != (2, 1)\n"
            f"    if ({number}, {n}) == (3, 1):\n        __import__('pytest').skip('no fio')\n"
            for n in range(TESTS)
        )
        (tmp_path / f"suite/test_file_{number}.py").write_text(names)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.claimed_tests", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(tmp_path), "-c", "/dev/null", str(tmp_path / "suite")]
    environment = {**os.environ, claimed_tests.CLAIMS: str(tmp_path / "claims"), "PYTHONPATH": str(ROOT / "runner")}
    running = [
        subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
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
    run = (
        f"import sys; from tools import run_tests; run_tests.QUICK = ({str(tmp_path)!r},); sys.exit(run_tests.main([]))"
    )
    environment = {**os.environ, "PYTEST_ADDOPTS": f"-c /dev/null --rootdir={tmp_path}"}
    with subprocess.Popen(
        [sys.executable, "-c", run], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        named = next(line for line in process.stdout if line.startswith("FAILED"))
        deadline = time.monotonic() + 60
        while not (tmp_path / "waiting").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(number)
        end = process.stdout.read()
    assert named == "FAILED test_suite.py::test_bad\n"
    assert end.endswith("== interrupted; failed until then: 1\n   test_suite.py::test_bad\n")
    assert ">       assert False" in end, "what it wrote"
    assert process.returncode == run_tests.INTERRUPTED
    assert not (tmp_path / "waiting").exists(), "the fixture was torn down"


def test_files_of_a_group_are_claimed_together_and_before_others():
    names = ["test_other", "test_fleet_cluster", "test_verify", "test_hosts", "test_fleet_cluster"]
    items = [SimpleNamespace(path=Path(f"tests/any/{name}.py")) for name in names]
    found = [[item.path.stem for item in unit] for unit in claimed_tests.units(items)]
    assert found == [["test_fleet_cluster", "test_hosts", "test_fleet_cluster"], ["test_verify"], ["test_other"]]


def test_before_the_tests_are_collected_nothing_is_known(tmp_path):
    assert progress(tmp_path) == Progress(ended=0, failed=(), total=0)


def test_what_is_claimed_first_exists():
    first = [*claimed_tests.LONGEST, *(name for group in claimed_tests.TOGETHER for name in group)]
    assert len(first) == len(set(first))
    assert [name for name in first if not list(ROOT.glob(f"tests/*/{name}.py"))] == []


def test_what_passed_before_is_left_out_and_nothing_else(tmp_path):
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/test_one.py").write_text(
        "import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('x')\ndef test_c(): assert 0\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tools.claimed_tests", "-p", "no:cacheprovider", "--rootdir"]
    command += [str(tmp_path), "-c", "/dev/null", str(tmp_path / "suite")]
    first, second = {claimed_tests.NOTE_PASSED: "passed"}, {claimed_tests.PASSED_BEFORE: "passed"}
    ran = []
    for number, words in enumerate((first, second)):
        (claims := tmp_path / f"claims-{number}").mkdir()
        named = {name: str(tmp_path / file) for name, file in words.items()}
        environment = {**os.environ, claimed_tests.CLAIMS: str(claims), "PYTHONPATH": str(ROOT / "runner"), **named}
        ran.append(
            subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60).stdout
        )
    assert (tmp_path / "passed").read_text() == "suite/test_one.py::test_a\n"
    assert "1 failed, 1 passed, 1 skipped" in ran[0]
    assert "1 failed, 1 skipped, 1 deselected" in ran[1]
