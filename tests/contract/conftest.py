"""What several contract suites stand on: a TDengine of their own, with its adapter."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from tests.contract.tdengine_contract import HOME, TdengineServer, running


@pytest.fixture(scope="module")
def server() -> Iterator[TdengineServer]:
    """Running, without a database; its folder is removed afterwards."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with running(lambda folder: TdengineServer(folder, HOME, adapter=True), "scale-tdengine-") as one:
        yield one
