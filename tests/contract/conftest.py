"""What several contract suites stand on: a TDengine of their own, with its adapter."""

from __future__ import annotations

import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.tdengine_contract import HOME, TdengineServer


@pytest.fixture(scope="module")
def server() -> Iterator[TdengineServer]:
    """Running, without a database; its folder is removed afterwards."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(tempfile.mkdtemp(prefix="scale-tdengine-", dir="/var/tmp"))
    one = TdengineServer(folder, HOME, adapter=True)
    try:
        one.start()
        yield one
    finally:
        one.stop()
        shutil.rmtree(folder)
