"""A plugin of pytest: several processes collect the same tests, and the one that claims a file of tests runs it.

So the processes end at about the same time, whatever a file takes. Each is a plain pytest, because some tests interrupt
their own process. Refuses to run a file twice: a claim is a file that is created exclusively.

    SCALE_CLAIMS=FOLDER python -m pytest -p tools.claimed_tests ...

The folder gets `total`, the number of tests, and for each process a file with a character for each test that ended:
`.`, or `F` for a failed one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

CLAIMS = "SCALE_CLAIMS"
# Files of tests that take longest. They are claimed first: what is claimed last decides when the last process ends.
LONGEST = (
    "test_loadgen_bounds", "test_verify", "test_load_processes", "test_fuzz_corpus", "test_tdengine_faults",
    "test_trial_order", "test_bounds", "test_cli_help", "test_compat_run", "test_diagnosis", "test_fit_models",
)  # fmt: skip
TOTAL, CLAIM, ENDED = "total", ".claimed", ".ended"


def folder() -> Path:
    """Where the processes meet. Raises KeyError if the variable is not set."""
    return Path(os.environ[CLAIMS])


def claimed(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests of the files that this process claims, one file after the other."""
    files = [(path, list(tests)) for path, tests in groupby(items, key=lambda item: item.path)]
    files.sort(key=lambda file: file[0].stem not in LONGEST)
    for number, (_, tests) in enumerate(files):
        try:
            (folder() / f"{number}{CLAIM}").touch(exist_ok=False)
        except FileExistsError:
            continue
        yield from tests


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
    """Counts the test."""
    _add(".")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Counts a failure."""
    if report.failed:
        _add("F")


def _add(mark: str) -> None:
    with (folder() / f"{os.getpid()}{ENDED}").open("a", encoding="utf-8") as file:
        file.write(mark)
