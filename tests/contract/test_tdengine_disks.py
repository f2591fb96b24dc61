"""A disk sweep on a real TDengine: vnodes where they were put, disks really shared, placement proved.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_disks.py      (as root: loop devices)
"""

import json
import os
import shutil
from pathlib import Path

import pytest

from scale_sweep.server.runtimes.docker_facts import image_state
from tests.integration.cli import run
from tests.needs import needs

HOME = os.environ.get("SCALE_TDENGINE_HOME", "")
IMAGE = "tdengine/tdengine:3.3.0.0"
ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.tdengine,
    pytest.mark.skipif(not HOME, reason="no TDengine: set SCALE_TDENGINE_HOME to a directory with bin/ and lib/"),
    needs("root"),
]


@pytest.fixture
def data_dir():
    """Must be empty at the end but for the client library's copy."""
    path = Path(f"/var/tmp/scale-test-tddisks-{os.getpid()}")
    path.mkdir(mode=0o755)
    yield path
    left = [p.name for p in path.iterdir()]
    shutil.rmtree(path)
    assert set(left) <= {"clients"}
    assert str(path) not in Path("/proc/mounts").read_text()


@pytest.fixture(params=["process", "docker"])
def where(request):
    """The flags of a runtime."""
    if request.param == "docker":
        if image_state(IMAGE) != "local":
            pytest.skip(f"image {IMAGE} is not here")
        return ("--runtime", "docker")
    return ("--runtime", "process", "--home", HOME)


def swept(tmp_path, data_dir, *words):
    done = run(
        "sweep",
        str(ROOT / "sweeps" / "tdengine-disk.toml"),
        "--replicates",
        "1",
        "--data-dir",
        str(data_dir),
        "--json",
        *words,
        cwd=tmp_path,
        timeout_s=400,
    )
    assert done.returncode in (0, 10), done.stderr
    document = json.loads(done.stdout)
    manifest = json.loads((tmp_path / document["path"] / "manifest.json").read_text())
    return sorted(document["trials"], key=lambda t: t["trial"]["resources"]["amounts"]["disks"]["value"]), manifest


def test_vnodes_are_spread_over_the_disks_and_the_disks_are_used(tmp_path, where, data_dir):
    trials, manifest = swept(tmp_path, data_dir, *where, "--disks", "1,3", "--rows", "2400")
    assert [t["effective"]["parts_per_disk"] for t in trials] == ["12", "4,4,4"]
    assert manifest["disk_placement"].startswith("spread: the server")
    for trial in trials:
        m = trial["measurement"]
        assert m["rows_counted"] == m["rows_acked"] == 2400
        assert trial["effective"]["wal_retention_period"] == "0"
        for disk in m["disks"].values():
            assert disk["share_percent"] == pytest.approx(
                100 / trial["trial"]["resources"]["amounts"]["disks"]["value"], rel=0.05
            )
    rates = [t["measurement"]["durable_rows_per_s"] for t in trials]
    if all(t["measurement"]["other_cpu_cores"] < 0.1 for t in trials):  # other programs slow the levels unequally
        assert rates[1] > 2 * rates[0]


def test_tiers_asked_for_by_name_are_refused_by_the_proof(tmp_path, data_dir):
    done = run(
        "sweep",
        str(ROOT / "sweeps" / "tdengine-disk.toml"),
        "--replicates",
        "1",
        "--disks",
        "2",
        "--rows",
        "240",
        "--runtime",
        "process",
        "--home",
        HOME,
        "--disk-placement",
        "tiers",
        "--data-dir",
        str(data_dir),
        "--json",
        cwd=tmp_path,
        timeout_s=200,
    )
    assert done.returncode == 3
    assert "--disk-placement tiers: the server" in done.stderr
    assert "several data directories" in done.stderr
    assert "--disk-placement spread" in done.stderr
