"""Memory bandwidth from hardware counters: the rule on recorded series, and the reading of the kernel's counters."""

import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from scale_sweep.experiment.axes import load_axis
from scale_sweep.judge.figures.window import measure_window, per
from scale_sweep.judge.verdict.bottleneck import bottleneck_of
from scale_sweep.judge.verdict.diagnose import diagnose
from scale_sweep.judge.verdict.evidence import Evidence
from scale_sweep.machine.sampling.counters import CpuCounters, events
from scale_sweep.model import Bottleneck, BottleneckKind
from scale_sweep.report.bottlenecks import bottleneck_notes
from tests.unit.synthetic_run import synthetic_run
from tests.unit.test_attribution import CORES, GIVEN, IDLE
from tests.unit.test_diagnosis import GOOD
from tests.unit.test_more_eyes import sample

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
