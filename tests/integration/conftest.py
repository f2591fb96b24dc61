"""What several integration tests stand on."""

import os
import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_dir():
    """On a disk, and open to the user that the server runs as, which pytest's own directories are not."""
    path = Path(f"/var/tmp/scale-test-e2e-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    shutil.rmtree(path)
