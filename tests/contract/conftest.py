"""What several contract suites stand on: a TDengine of their own, with its adapter."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from scale_sweep.server.runtimes.docker_engine import image_state
from tests.contract.tdengine_contract import HOME, IMAGE, TdengineServer, running


@pytest.fixture(scope="module")
def server() -> Iterator[TdengineServer]:
    """Running, without a database; its folder is removed afterwards."""
    if HOME and not (HOME / "bin" / "taosadapter").exists():
        pytest.skip(f"no taosadapter in {HOME}")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with running(lambda folder: TdengineServer(folder, HOME, adapter=True), "scale-tdengine-") as one:
        yield one


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A data directory of the test's own, of which at the end only the client library's copy may be left, and nothing
    that runs or is mounted."""
    path = Path(f"/var/tmp/scale-test-tdengine-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    left = {p.name for p in path.iterdir()}
    running = subprocess.run(["pgrep", "-f", str(path)], capture_output=True, text=True, check=False).stdout.split()
    shutil.rmtree(path)
    assert left <= {"clients"}
    assert running == []
    assert str(path) not in Path("/proc/mounts").read_text()


@pytest.fixture(params=["process", "docker"])
def where(request: pytest.FixtureRequest) -> str:
    """The flags of a runtime."""
    if request.param == "docker":
        if image_state(IMAGE) != "local":
            pytest.skip(f"image {IMAGE} is not here")
        return "--runtime docker"
    return f"--runtime process --home {HOME}"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A directory that the server's user may enter, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="scale-test-contract-", dir="/var/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)
