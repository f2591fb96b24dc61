"""What several integration tests stand on, made once."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration import cli
from tests.integration.cli import assert_nothing_left
from tests.integration.watching import Observed, dashboards_room, observe
from tests.needs import need
from tests.unit.trial_orders import RUN

pytest.register_assert_rewrite("tests.integration.loaded_server", "tests.integration.short_trial")  # say their values


@pytest.fixture(scope="session")
def data_dir():
    """On a disk, and open to the user that the server runs as, which pytest's own directories are not."""
    path = Path(f"/var/tmp/scale-test-e2e-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def room() -> Iterator[Path]:
    """For a server that is not a trial's: open to the user that it runs as."""
    path = Path(tempfile.mkdtemp(prefix="scale-test-room-", dir="/var/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def only_cleaner() -> Iterator[None]:
    """`scale clean` is for the whole machine: a test whose leftovers are counted has no other test clean them away."""
    with open(Path(tempfile.gettempdir()) / "scale-test-clean.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def dashboards() -> Iterator[Path]:
    """The room of `scale dashboards`."""
    need("prometheus")
    with dashboards_room() as room:
        yield room


@pytest.fixture(scope="session")
def observed(tmp_path_factory: pytest.TempPathFactory, dashboards: Path, data_dir: Path) -> Observed:
    """A sweep that ended, and what every way of looking at it saw."""
    to_nobody = {"http_proxy": "http://127.0.0.1:9", "SCALE_DASHBOARDS_DIR": str(dashboards)}
    up = cli.run("dashboards", "up", "--runtime", "process", cwd=data_dir, no_proxy="", NO_PROXY="", **to_nobody)
    assert up.returncode in (0, 3), up.stderr  # 3: without Grafana
    return observe(tmp_path_factory.mktemp("observed"), dashboards, data_dir)


@pytest.fixture
def folder():
    """The data directory, open to the user that the server runs as; nothing of the trials is left in it."""
    path = Path(f"/var/tmp/scale-test-order-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    try:
        assert [p for p in path.iterdir() if p.name != "programs"] == []
        assert_nothing_left(path)
        assert not list(Path("/sys/fs/cgroup").glob(f"*/scale-{RUN}-*"))
    finally:
        shutil.rmtree(path)
