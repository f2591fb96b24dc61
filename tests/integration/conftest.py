"""What several integration tests stand on, made once."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration import cli
from tests.integration.observed_sweep import Observed, dashboards_room, observe
from tests.integration.prometheus_server import required


@pytest.fixture(scope="session")
def data_dir():
    """On a disk, and open to the user that the server runs as, which pytest's own directories are not."""
    path = Path(f"/var/tmp/scale-test-e2e-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def dashboards() -> Iterator[Path]:
    """The room of `scale dashboards`."""
    required("prometheus")
    with dashboards_room() as room:
        yield room


@pytest.fixture(scope="session")
def observed(tmp_path_factory: pytest.TempPathFactory, dashboards: Path, data_dir: Path) -> Observed:
    """A sweep that ended, and what every way of looking at it saw."""
    up = cli.run("dashboards", "up", "--runtime", "process", cwd=data_dir, SCALE_DASHBOARDS_DIR=str(dashboards))
    assert up.returncode == 0, up.stderr
    return observe(tmp_path_factory.mktemp("observed"), dashboards, data_dir)
