"""Energy: the kernel's counters as files in a folder, over their wraps; and the figure of a trial."""

import shutil
from dataclasses import replace

import pytest

from scale_sweep.analysis.sizing.levels import level_need
from scale_sweep.judge.figures.measurement import measurement
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.machine.sampling.machine import POWERCAP, EnergyReader
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.report.sizing import levels_table
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.texts import point_columns, point_row
from tests.unit.factories import make_trial
from tests.unit.raw_run import WATTS
from tests.unit.stored_runs import unpacked
from tests.unit.test_unanswered import SENT

RANGE = 262_143_328_850


def zone(powercap, path, name, count=0):
    folder = powercap / path
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{name}\n")
    (folder / "energy_uj").write_text(f"{count}\n")
    (folder / "max_energy_range_uj").write_text(f"{RANGE}\n")
    return folder / "energy_uj"


@pytest.fixture
def powercap(tmp_path):
    """Two packages with cores and memory, as a server with two sockets shows them; the first package twice."""
    path = tmp_path / "powercap"
    names = {"0": "package-0", "0:0": "core", "0:1": "dram", "1": "package-1", "1:0": "dram", "2": "psys"}
    for at, name in names.items():
        zone(path, f"intel-rapl:{at}", name, 5_000_000 if at == "0" else 0)
    zone(path, "intel-rapl-mmio:0", "package-0", 5_000_000)
    (path / "intel-rapl").mkdir()
    return path


def count(powercap, **counts):
    for name, microjoules in counts.items():
        (powercap / name.replace("_", ":").replace("rapl", "intel-rapl") / "energy_uj").write_text(f"{microjoules}\n")


def test_packages_and_memory_count_once_and_their_parts_not(powercap):
    reader = EnergyReader(powercap)
    assert reader.read() == 0
    cores_and_all = {"rapl_0_0": 900_000_000, "rapl_2": 10**9}
    count(powercap, rapl_0=7_000_000, rapl_0_1=500_000, rapl_1=1_000_000, rapl_1_0=250_000, **cores_and_all)
    assert reader.read() == pytest.approx(2 + 0.5 + 1 + 0.25)
    count(powercap, rapl_1=3_000_000)
    assert reader.read() == pytest.approx(5.75)
    count(powercap, rapl_0=RANGE - 1_000_000)
    reader = EnergyReader(powercap)
    count(powercap, rapl_0=2_000_000)
    assert reader.read() == pytest.approx(3.0), "it wrapped"


def test_a_counter_that_cannot_be_read_leaves_no_energy(powercap, tmp_path):
    assert EnergyReader(tmp_path / "none").read() is None
    reader = EnergyReader(powercap)
    (powercap / "intel-rapl:1" / "energy_uj").unlink()
    assert reader.read() is None
    assert EnergyReader(powercap).read() is None
    count(powercap, rapl_1=0)
    assert reader.read() == 0
    count(powercap, rapl_0="lots")
    assert reader.read() is None
    shutil.rmtree(powercap)
    assert reader.read() is None


def test_the_sampler_reads_this_machine():
    samples = []
    with Sampler(server=None, generator=None, disks=(), hz=20, on_sample=samples.append):
        pass
    counts = EnergyReader(POWERCAP).read() is not None
    assert all((s.energy_j_total is not None) == counts for s in samples)


def test_joules_for_each_million_rows_are_a_column(tmp_path):
    run = read_run(unpacked("cpu", tmp_path))
    assert "joules_per_million_rows" in point_columns(run.plan)
    for result in run.results:
        expected = 1e6 * WATTS / result.measurement.rows_per_s
        assert point_row(run.plan, result)["joules_per_million_rows"] == pytest.approx(expected, rel=1e-3)
    unknown = replace(result, measurement=replace(result.measurement, joules_per_million_rows=None))
    assert point_row(run.plan, unknown)["joules_per_million_rows"] is None
    facts = TrialFacts(summary=SENT, samples=(), load_start_ns=0, measure_start_ns=0, flush_end_ns=12 * 10**9)
    assert measurement(make_trial(), facts).joules_per_million_rows is None


def test_the_size_of_a_run_shows_it(tmp_path):
    one = level_need(read_run(unpacked("cpu", tmp_path)), 30_000)
    assert [c.joules_per_million_rows for c in one.chances] == pytest.approx([1000, 500], rel=0.01)
    table = levels_table(one)
    assert any(header.startswith("J per") for header in table.headers)
    assert all(len(row) == len(table.headers) for row in table.rows)
