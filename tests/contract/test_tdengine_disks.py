"""A disk sweep on a real TDengine: vnodes where they were put, disks really shared, placement proved.

SCALE_TDENGINE_HOME=/path python -m pytest tests/contract/test_tdengine_disks.py      (as root: loop devices)
"""

import json

import pytest

from tests.contract.tdengine_contract import HOME, NEEDS_SERVER, ROOT
from tests.integration.cli import run
from tests.needs import needs

pytestmark = [*NEEDS_SERVER, needs("root")]


def swept(tmp_path, data_dir, words):
    common = ("--replicates", "1", "--data-dir", str(data_dir), "--json")
    file = str(ROOT / "sweeps" / "tdengine-disk.toml")
    return run("sweep", file, *common, *words.split(), cwd=tmp_path, timeout_s=400)


def test_vnodes_are_spread_over_the_disks_and_the_disks_are_used(tmp_path, where, data_dir):
    done = swept(tmp_path, data_dir, f"{where} --disks 1,3 --rows 2400")
    assert done.returncode in (0, 10), done.stderr
    document = json.loads(done.stdout)
    manifest = json.loads((tmp_path / document["path"] / "manifest.json").read_text())
    trials = sorted(document["trials"], key=disks_of)
    assert [t["effective"]["parts_per_disk"] for t in trials] == ["12", "4,4,4"]
    assert manifest["disk_placement"].startswith("spread: the server")
    for trial in trials:
        m = trial["measurement"]
        assert m["rows_counted"] == m["rows_acked"] == 2400
        assert trial["effective"]["wal_retention_period"] == "0"
        for disk in m["disks"].values():
            assert disk["share_percent"] == pytest.approx(100 / disks_of(trial), rel=0.05)
    rates = [t["measurement"]["durable_rows_per_s"] for t in trials]
    if all(t["measurement"]["other_cpu_cores"] < 0.1 for t in trials):  # other programs slow the levels unequally
        assert rates[1] > 2 * rates[0]


def disks_of(trial):
    return trial["trial"]["resources"]["amounts"]["disks"]["value"]


def test_tiers_asked_for_by_name_are_refused_by_the_proof(tmp_path, data_dir):
    words = f"--disks 2 --rows 240 --runtime process --home {HOME} --disk-placement tiers"
    done = swept(tmp_path, data_dir, words)
    assert done.returncode == 3
    for text in ("--disk-placement tiers: the server", "several data directories", "--disk-placement spread"):
        assert text in done.stderr
