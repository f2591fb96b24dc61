"""A plugin of pytest: several processes collect the same tests, and the one that claims a file of tests runs it.

So the processes end at about the same time, whatever a file takes. Each is a plain pytest, because some tests interrupt
their own process. Refuses to run a file twice: a claim is a file that is created exclusively. Files that need a
thing that the machine has only once are claimed together (TOGETHER).

    SCALE_CLAIMS=FOLDER python -m pytest -p tools.claimed_tests ...

The folder gets `total`, the number of tests, and for each process three files: the names of the tests that ended, of
those that failed, and why tests were skipped.

`.ci/run` runs tests on two machines: SCALE_NOTE_PASSED names a file that gets the names of the tests that passed, and
SCALE_PASSED_BEFORE one whose tests are left out. A test that was skipped or left out before is not in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

CLAIMS = "SCALE_CLAIMS"
DATABASES = (
    "test_database_contract",
    "test_databases",
    "test_running_servers",
    "test_sql_databases",
    "test_iot_benchmark",
)
SEVERAL_DATABASES = ("test_containers_of_databases", "test_named_workloads")  # in one trial, or beside a container
DISKS = ("test_disks", "test_disk_sweep", "test_striped_disks")
HOSTS = ("test_hosts", "test_fleet_cluster")  # of tools/hosts, which the machine has once
DOCKER = ("test_runtimes", "test_packages", "test_data_sets_on_postgres", "test_dashboard_room")
TOGETHER = (DATABASES, SEVERAL_DATABASES, DISKS, HOSTS, DOCKER)
# Files of tests that take longest, the longest first. They are claimed first: what is claimed last decides when the
# last process ends.
LONGEST = (
    "test_reads_on_databases", "test_searches_on_databases", "test_workflows", "test_changed_rows_of_series",
    "test_interrupted", "test_server_stands_still", "test_provocations", "test_other_users", "test_clients_sweep",
    "test_order_on_postgres", "test_terminals", "test_odd_mounts", "test_another_package", "test_load_of_postgres",
    "test_commands", "test_loadgen_bounds", "test_verify", "test_load_processes",
    "test_fuzz_corpus", "test_tdengine_faults", "test_trial_order", "test_bounds", "test_cli_help",
    "test_compat_output", "test_diagnosis", "test_fit_models",
)  # fmt: skip
TOTAL, CLAIM, ENDED, FAILED, SKIPPED = "total", ".claimed", ".ended", ".failed", ".skipped"

NOTE_PASSED, PASSED_BEFORE = "SCALE_NOTE_PASSED", "SCALE_PASSED_BEFORE"


def folder() -> Path:
    """Where the processes meet. Raises KeyError if the variable is not set."""
    return Path(os.environ[CLAIMS])


def claimed(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests of the files that this process claims, one file after the other."""
    for number, tests in enumerate(units(items)):
        try:
            (folder() / f"{number}{CLAIM}").touch(exist_ok=False)
        except FileExistsError:
            continue
        yield from tests


def units(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    """What is claimed at once: tests of a file, or of several. In the order of the claims."""
    found: dict[Path | int, list[pytest.Item]] = {}
    for item in items:
        group = next((n for n, group in enumerate(TOGETHER) if item.path.stem in group), item.path)
        found.setdefault(group, []).append(item)

    def rank(unit: Path | int) -> tuple[int, int]:
        if isinstance(unit, int):
            return 0, unit
        return (1, LONGEST.index(unit.stem)) if unit.stem in LONGEST else (2, 0)

    return [found[unit] for unit in sorted(found, key=rank)]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what passed before."""
    if before := os.environ.get(PASSED_BEFORE):
        names = set(Path(before).read_text(encoding="utf-8").splitlines())
        config.hook.pytest_deselected(items=[item for item in items if item.nodeid in names])
        items[:] = [item for item in items if item.nodeid not in names]


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Runs what is claimed. The next file is claimed before the last test of one, so that fixtures are kept."""
    if session.testsfailed:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    (folder() / TOTAL).write_text(str(len(session.items)), encoding="utf-8")
    tests = claimed(session.items)
    item = next(tests, None)
    while item is not None:
        following = next(tests, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Notes a test that ended."""
    _note(ENDED, nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes a failure, of the test, its fixtures, or both; why a test is skipped; and a test that passed."""
    if report.failed:
        _note(FAILED, report.nodeid)
    elif report.skipped and isinstance(report.longrepr, tuple):
        _note(SKIPPED, report.longrepr[2].removeprefix("Skipped: ").replace("\n", " "))
    elif report.passed and report.when == "call" and (path := os.environ.get(NOTE_PASSED)):
        _append(Path(path), report.nodeid)


def _note(name: str, text: str) -> None:
    _append(folder() / f"{os.getpid()}{name}", text)


def _append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{text}\n")
