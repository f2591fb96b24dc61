"""What several contract suites stand on: a TDengine of their own, with its adapter."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.tdengine_contract import HOME, TdengineServer, running


@pytest.fixture(scope="module")
def server() -> Iterator[TdengineServer]:
    """Running, without a database; its folder is removed afterwards."""
    if HOME and not (HOME / "bin" / "taosadapter").exists():
        pytest.skip(f"no taosadapter in {HOME}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with running(lambda folder: TdengineServer(folder, HOME, adapter=True), "scale-tdengine-") as one:
        yield one


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A directory that the server's user may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="scale-test-contract-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)
