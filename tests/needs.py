"""What tests need of the machine, and the Debian package that has it: one table for all of them.

A test is skipped where that is missing, and the reason names the package. SCALE_REQUIRE_ALL=1, which `.ci/run` sets,
makes it a failure instead.

    @needs("git", "root")           before a test, among the marks of a parameter, or as pytestmark
    compiler = need("cc")           in a test or a fixture: the path of a program
    pyarrow = module("pyarrow")     an optional package of Python, instead of its import
"""

import ctypes
import importlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import NoReturn

import pytest

from scale_sweep.machine.host.block_devices import may_mount
from scale_sweep.machine.host.host_facts import read_host

VARIABLE = "SCALE_REQUIRE_ALL"
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"  # Debian's users have no sbin
PACKAGES = {
    "cc": "gcc libc6-dev",
    "fio": "fio",
    "git": "git",
    "libmariadb.so.3": "libmariadb3",
    "libsnappy.so.1": "libsnappy1v5",
    "mariadbd": "mariadb-server-core",
    "mkfs.xfs": "xfsprogs",
    "perf": "linux-perf",
    "pgbench": "postgresql",
    "prometheus": "prometheus",
    "promtool": "prometheus",
    "redis-benchmark": "redis-tools",
    "redis-server": "redis-server",
    "openssl": "openssl",
    "sshd": "openssh-server",
    "victoria-metrics": "victoria-metrics",
    "wrk": "wrk",
}
RIGHTS: dict[str, tuple[Callable[[], bool], str]] = {
    "root": (lambda: os.geteuid() == 0, "only root may do what this test does"),
    "mount": (may_mount, "only who may mount"),
    "control groups": (lambda: read_host().cgroup_writable, "control groups are not writable for this user"),
}
needs = pytest.mark.needs  # tests/conftest.py asks for each of its words


def need(name: str) -> str:
    """The path of a program, or the name. Skips or fails where it is missing."""
    reason = RIGHTS[name][1] if name in RIGHTS else f"{name} is missing: apt-get install {PACKAGES[name]}"
    return _found(name) or missing(reason)


def missing(reason: str) -> NoReturn:
    """Skips the test, or fails it where nothing may be missing."""
    if is_required():
        pytest.fail(f"{reason} ({VARIABLE} is set)", pytrace=False)
    pytest.skip(reason)


def module(name: str) -> ModuleType:
    """An optional package of Python: a file of tests is skipped without it."""
    if is_required():
        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"Python has no {name}: `make test-all` installs it")


def is_required() -> bool:
    return os.environ.get(VARIABLE) == "1"


@cache
def _found(name: str) -> str:
    if name in RIGHTS:
        return name if RIGHTS[name][0]() else ""
    if ".so." not in name:
        return shutil.which(name, path=PATH) or ""
    try:
        ctypes.CDLL(name)
    except OSError:
        return ""
    return name
