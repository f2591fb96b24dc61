"""What the kernel counts: memory bandwidth from hardware counters; threads that wait for a lock, told from idle ones by
the futex that they sleep in; and energy, over the wraps of its counters, with the figure of a trial."""

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.analysis.sizing.levels import level_need
from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.measurement import measurement
from scale_sweep.judge.figures.trial_facts import TrialFacts
from scale_sweep.judge.figures.window import measure_window, per
from scale_sweep.judge.verdict.bottleneck import bottleneck_of
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence
from scale_sweep.machine.sampling.counters import CpuCounters, events
from scale_sweep.machine.sampling.machine import POWERCAP, EnergyReader
from scale_sweep.machine.sampling.processes import ThreadReader
from scale_sweep.machine.sampling.sampler import Sampler
from scale_sweep.machine.sampling.waits import lock_waits
from scale_sweep.model.measured import Bottleneck, BottleneckKind
from scale_sweep.report.bottlenecks import bottleneck_notes
from scale_sweep.report.sizing import levels_table
from scale_sweep.results.store.reader import read_run
from scale_sweep.results.store.texts import point_columns, point_row
from tests.unit.factories import make_trial
from tests.unit.raw_run import WATTS
from tests.unit.stored_runs import unpacked
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_attribution import CORES, GIVEN, IDLE
from tests.unit.test_diagnosis import GOOD
from tests.unit.test_more_eyes import sample
from tests.unit.test_unanswered import SENT

# Of a real machine, see bench/counters.py: an AMD EPYC (Zen 3) under programs whose need of memory is known.
REAL = json.loads((Path(__file__).parent / "recorded/counters.json").read_text())["series"]
# Synthetic, since no machine of that size gave one: twelve cores at 3 GHz, which share 120 GB/s.
SYNTHETIC = [{"t_s": float(t), "cycles": 36e9 * t, "instructions": 18e9 * t, "llc_misses": 1.9e9 * t} for t in range(6)]
SOFTWARE_CLOCK = (1, 0)  # PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK: counts nanoseconds on every machine


def used(series):
    """The use of a server whose full cores counted so."""
    names = [name for name in series[0] if name != "t_s"]
    idle = [sample(one["t_s"], {0: 0.0}, 0.0) for one in series]
    totals = [{name: one[name] for name in names} for one in series]
    samples = [replace(one, cpu_counters_total=total) for one, total in zip(idle, totals, strict=True)]
    rates = measure_window(samples, samples[0].monotonic_ns, samples[-1].monotonic_ns).counters_per_s
    figures = {"instructions_per_cycle": per(rates, "instructions", "cycles")}
    return replace(IDLE, server_cpu_cores=3.9, server_cycles_per_miss=per(rates, "cycles", "llc_misses"), **figures)


@pytest.mark.parametrize("name", ["stream", "gather", "chase", "cache", "compute", "synthetic"])
def test_full_cores_that_always_have_several_misses_under_way_wait_for_memory(name):
    use = used({**REAL, "synthetic": SYNTHETIC}[name])
    waits = name in ("stream", "gather", "synthetic")
    kind = BottleneckKind.MEMORY_BANDWIDTH if waits else BottleneckKind.SERVER_CPU
    assert bottleneck_of(use, GIVEN, CORES).kind is kind
    assert bottleneck_of(use, replace(GIVEN, shared_cpus=(0,)), CORES).kind is BottleneckKind.SERVER_CPU
    assert bottleneck_of(replace(use, server_cpu_cores=2.0), GIVEN, CORES).kind is BottleneckKind.UNKNOWN


def test_a_rule_reads_any_counter_of_the_samples_by_its_name():
    samples = [replace(sample(t, {0: 0.0}, 0.0), cpu_counters_total={"swapped_pages": 10.0 * t}) for t in (0.0, 5.0)]
    use = measure_window(samples, samples[0].monotonic_ns, samples[-1].monotonic_ns)
    assert use.counters_per_s == {"swapped_pages": pytest.approx(10.0)}
    assert use.instructions_per_cycle is None


def test_its_number_is_valid_and_says_why_more_cores_do_not_help(wording):
    verdict = diagnose(Evidence(resources=GIVEN, measurement=GOOD, window=used(SYNTHETIC)), CORES)
    assert (verdict.kind, verdict.bottleneck.kind) == ("VALID", "MEMORY_BANDWIDTH")
    wording(verdict.reasons[0], verdict.bottleneck.remedy)
    of_disks, given = replace(used(SYNTHETIC), load_disks={}), replace(GIVEN, prepared_disks=1)
    assert bottleneck_of(of_disks, given, load_axis("clients")).kind is BottleneckKind.MEMORY_BANDWIDTH


def test_without_counters_nothing_is_said_and_the_report_says_that(wording):
    without = used([{"t_s": one["t_s"]} for one in SYNTHETIC])
    assert without.server_cycles_per_miss is None
    assert bottleneck_of(without, GIVEN, CORES).kind is BottleneckKind.SERVER_CPU
    busy = Bottleneck(kind=BottleneckKind.SERVER_CPU, sentence="the server used 0.99 of 1 core (99 %)")
    run = synthetic_run()
    assert bottleneck_notes(run) == ()
    run = replace(run, results=tuple(replace(r, verdict=replace(r.verdict, bottleneck=busy)) for r in run.results))
    wording(*bottleneck_notes(run))
    counted = [replace(r, measurement=replace(r.measurement, server_cycles_per_miss=500.0)) for r in run.results]
    assert bottleneck_notes(replace(run, results=tuple(counted))) == ()


def test_real_counters_grow_and_are_closed():
    """With an event that the kernel counts itself: hardware events are not on every machine."""
    assert CpuCounters((), {"clock": SOFTWARE_CLOCK}).read() == {}
    with CpuCounters((0,), {"clock": SOFTWARE_CLOCK, "refused": (1, 999)}) as counters:
        assert counters.read() == {}
    with CpuCounters((0,), {"clock": SOFTWARE_CLOCK, "again": SOFTWARE_CLOCK}) as counters:
        if not counters.read():
            pytest.skip("perf_event_open is not permitted here")
        began = time.monotonic()
        before = counters.read()["clock"]
        time.sleep(0.1)
        grown, passed = counters.read()["clock"] - before, time.monotonic() - began
    assert 0.05e9 < grown < 2e9 * passed
    assert counters.read() == {}
    counters.close()


@pytest.mark.parametrize(
    ("vendor", "family", "misses"),
    [("AuthenticAMD", 25, (4, 0x4844)), ("AuthenticAMD", 21, (0, 3)), ("GenuineIntel", 6, (0, 3)), ("", 0, (0, 3))],
)
def test_which_event_counts_misses_of_the_last_level(vendor, family, misses, tmp_path):
    about = f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\n" if vendor else ""
    (tmp_path / "cpuinfo").write_text(about)
    assert events(tmp_path)["llc_misses"] == misses
    assert events(tmp_path / "none")["cycles"] == (0, 0)


END = """
time.sleep(0.3)  # the threads reach their waits on a busy machine too
print(flush=True)
time.sleep(60)
"""
CONVOY = f"""
import ctypes, threading, time
libc = ctypes.CDLL(None)
mutex = ctypes.create_string_buffer(64)
libc.pthread_mutex_init(mutex, None)
def work():
    while True:
        libc.pthread_mutex_lock(mutex)
        libc.usleep(2000)
        libc.pthread_mutex_unlock(mutex)
[threading.Thread(target=work, daemon=True).start() for _ in range(6)]
{END}"""
IDLE_POOL = f"""
import threading, time
[threading.Thread(target=threading.Event().wait, daemon=True).start() for _ in range(6)]
{END}"""


def readable() -> bool:
    try:
        with open("/proc/self/syscall") as file:
            return bool(file.read())
    except OSError:
        return False


@pytest.fixture(params=[CONVOY, IDLE_POOL], ids=["convoy", "idle"])
def pool(request):
    with subprocess.Popen([sys.executable, "-c", request.param], stdout=subprocess.PIPE) as process:
        assert process.stdout and process.stdout.readline()
        yield request.param, process.pid
        process.kill()


@pytest.mark.skipif(not readable(), reason="the kernel does not tell this user the system calls of threads")
def test_a_real_convoy_waits_for_its_mutex_and_an_idle_pool_for_nothing(pool):
    program, pid = pool
    waited, looks, deadline = 0, 0, time.monotonic() + 50
    while looks < 10 or (program == CONVOY and waited <= 30 and time.monotonic() < deadline):
        waited += sum(n for name, n in lock_waits((pid,)).items() if name.startswith("mutex: python"))
        looks += 1
        time.sleep(0.02)
    assert waited > 30 if program == CONVOY else waited == 0, waited


def test_threads_switch_more_often_in_a_convoy_than_in_an_idle_pool(pool):
    program, pid = pool
    reader = ThreadReader()
    assert set(reader.read((pid,)).switches_total.values()) == {0}
    before, is_seen, deadline = 0.0, False, time.monotonic() + 50
    while not is_seen and time.monotonic() < deadline:
        time.sleep(0.3)
        slept = reader.read((pid,)).switches_total["voluntary"]
        is_seen = slept > 20 if program == CONVOY else slept - before <= 2
        before = slept
    assert is_seen, slept


WAITS = "0x7f00 {} 0x0 0x0 {} 0x7ffd 0x7fff"
LOCKS = {
    "running": None,
    f"202 {WAITS.format('0x80 0x2', '0x0')}": True,
    f"202 {WAITS.format('0x189 0x2', '0xffffffff')}": True,
    f"202 {WAITS.format('0x189 0x3', '0xffffffff')}": True,
    f"202 {WAITS.format('0x8d 0x0', '0x0')}": True,
    f"202 {WAITS.format('0x189 0x0', '0xffffffff')}": False,
    f"202 {WAITS.format('0x80 0x0', '0x0')}": False,
    f"98 {WAITS.format('0x80 0x2', '0x0')}": False,
    "74 0x9 0x0 0x0 0x0 0x0 0x0 0x7ffd 0x7fff": False,
    "-1 0x7ffd 0x7fff": False,
    "": False,
}


def test_a_sleep_for_a_lock_is_one_where_the_database_tells_nothing(tmp_path, wording):
    folder = tmp_path / "7/task/8"
    folder.mkdir(parents=True)
    (folder / "comm").write_text("vnode-write_3\n")
    (tmp_path / "7/task/9").mkdir()  # a thread that has just ended
    for call, is_lock in LOCKS.items():
        (folder / "syscall").write_text(call + "\n")
        runs, waits = {"": 1} if is_lock is None else {}, {"mutex: vnode-write": 1} if is_lock else {}
        assert lock_waits((7, 5), tmp_path, "x86_64") == runs | waits, call
        assert lock_waits((7,), tmp_path, "sparc") == runs, call
    waiting = {"in_flight": 0.95, "waits": {"mutex: vnode-write": 0.6, "": 0.4}, "switches_per_s": {"voluntary": 52e3}}
    for axis in (CORES, load_axis("clients")):
        found = bottleneck_of(replace(IDLE, **waiting), GIVEN, axis)
        assert found.kind is BottleneckKind.LOCKS
    wording(found.sentence)
    few = replace(IDLE, in_flight=0.95, waits={"mutex: vnode-write": 0.3, "": 0.7})
    assert bottleneck_of(few, GIVEN, CORES).kind is BottleneckKind.CONNECTIONS
    before = replace(sample(0, {0: 0.0}, 0.0), thread_switches_total={"voluntary": 100.0, "nonvoluntary": 5.0})
    after = replace(sample(10, {0: 0.0}, 0.0), thread_switches_total={"voluntary": 1100.0, "nonvoluntary": 15.0})
    use = measure_window((before, after), 0, 10**10)
    assert use.switches_per_s == {"voluntary": pytest.approx(100.0), "nonvoluntary": pytest.approx(1.0)}


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
